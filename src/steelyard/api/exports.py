"""Records in the formats of other tools: which format holds which records, and how it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.design.counting.plan import are_judged
from steelyard.design.gate.gate import gate_outcome
from steelyard.design.outcome import recall_record
from steelyard.model.bisection import Bisection
from steelyard.model.calibration import Calibration, InterruptedCalibration
from steelyard.model.documents import Document
from steelyard.model.errors import UsageError
from steelyard.model.foreign import ForeignResults
from steelyard.model.limits import Limits
from steelyard.model.records import Run, Weighing
from steelyard.model.sides import SIDES, SideName
from steelyard.model.soundness import Soundness
from steelyard.model.values import one_of
from steelyard.report import junit
from steelyard.report.data import arrays, google_benchmark, hyperfine, lines, others, pyperf, samples
from steelyard.report.data import series as side_series
from steelyard.report.data.series import Series
from steelyard.report.data.table import Table

Data = bytes | Iterable[bytes]


@dataclass(frozen=True)
class Export:
    """What to write: a record, the `name` it goes by in messages, and the side or metric chosen from it."""

    record: Document
    name: str
    side: str | None
    metric: str | None


@dataclass(frozen=True)
class ExportFormat:
    """One format: the kinds of records that it holds, and how it writes one.

    Some hold the samples in one metric alone, most of them those of one side of a weighing: both can be chosen.
    """

    name: str
    holds: tuple[str, ...]
    write: Callable[[Export], Data]
    is_binary: bool = False
    holds_samples: bool = False


_KIND_NAMES: dict[type, str] = {
    Weighing: "weighing",
    Run: "run",
    ForeignResults: "import",
    Soundness: "check",
    Calibration: "calibration",
    InterruptedCalibration: "calibration",
    Bisection: "bisection",
}
_MEASURED_KINDS = ("weighing", "run", "import")
_ALL_KINDS = tuple(dict.fromkeys(_KIND_NAMES.values()))


def kind_of(record: Document) -> str:
    """Return a record's kind: weighing, run, import, check, calibration or bisection."""
    return _KIND_NAMES[type(record)]


def table_of(record: Document) -> Table:
    """Return the record as one long table; of what was measured, a row per sample and metric."""
    if isinstance(record, Weighing | Run):
        return samples.of_measured(record, are_judged(record))
    if isinstance(record, ForeignResults):
        return samples.of_foreign(record)
    if isinstance(record, Bisection):
        return others.of_bisection(record)
    return others.of_check(record) if isinstance(record, Soundness) else others.of_calibration(record)


def exported(
    record: Document, format_: str, *, name: str = "record", side: str | None = None, metric: str | None = None
) -> Data:
    """Return the contents of a file in a format for a record.

    Raises UsageError for a format that is unknown or does not hold the record, and for a `side` or `metric` that the
    format has no use for, or that it needs and lacks.
    """
    export_format = format_named(format_)
    if kind_of(record) not in export_format.holds:
        able_formats = [one.name for one in FORMATS.values() if kind_of(record) in one.holds]
        raise UsageError(f"{export_format.name} holds no {kind_of(record)}: {_joined_with_and(able_formats)} do")
    of_samples = _joined_with_and([one.name for one in FORMATS.values() if one.holds_samples])
    if side is not None and not (export_format.holds_samples and isinstance(record, Weighing)):
        raise UsageError(f"--side {side} chooses from a weighing for {of_samples}: leave it out")
    if side is not None:
        one_of("--side", side, SIDES)
    if metric is not None and not (export_format.holds_samples and isinstance(record, Weighing | Run)):
        raise UsageError(f"--metric {metric} chooses what {of_samples} hold of a weighing or run: leave it out")
    return export_format.write(Export(record, name, side, metric))


def format_named(name: str) -> ExportFormat:
    """Return the format of this name; raise UsageError, which lists all names, if there is none."""
    if name not in FORMATS:
        gate_hint = "; OpenMetrics is written by steelyard gate --metrics" if "metrics" in name else ""
        raise UsageError(f"--format {name!r} is not known: choose from {', '.join(FORMATS)}{gate_hint}")
    return FORMATS[name]


def check_not_compressed(export_format: ExportFormat, output: Path) -> None:
    """Raise UsageError for a file's name that would have it compressed once more."""
    if export_format.is_binary and output.suffix == ".gz":
        raise UsageError(
            f"{export_format.name} is compressed inside, and no reader opens it as .gz: leave that out of {output}"
        )


def _joined_with_and(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


# --- each format


def _pyperf(export: Export) -> Data:
    if isinstance(export.record, ForeignResults):
        if (original := pyperf.of_import(export.record)) is not None:
            return original
        about: dict[str, Any] = {f"imported_from_{name}": value for name, value in export.record.machine.items()}
        return pyperf.of_series(list(side_series.of_foreign(export.record, "pyperf")), about)
    series, metric = _series_of_one_side(export, "pyperf")
    return pyperf.of_series(series, pyperf.suite_metadata(_measured_record(export), metric))


def _google_benchmark(export: Export) -> Data:
    if isinstance(export.record, ForeignResults):
        context: dict[str, Any] = {"library_version": export.record.provenance.version, **export.record.machine}
        return google_benchmark.of_series(list(side_series.of_foreign(export.record, "google-benchmark")), context)
    series, metric = _series_of_one_side(export, "google-benchmark")
    record = _measured_record(export)
    place = int(export.side == "candidate")
    programs = dict.fromkeys(record.subjects[one.subject_of(place)].program for one in record.members)
    context = {
        "date": record.created,
        "executable": ", ".join(programs),
        **side_series.machine_facts(record, {"num_cpus": "cores_logical"}),
        "steelyard_version": record.tool,
        "steelyard_metric": metric,
    }
    return google_benchmark.of_series(_checked_times(series, "google-benchmark", metric), context)


def _hyperfine(export: Export) -> Data:
    if isinstance(export.record, ForeignResults):
        return hyperfine.of_series(list(side_series.of_foreign(export.record, "hyperfine")))
    record = _measured_record(export)
    metric = side_series.metric_of(record, export.metric, "hyperfine")
    sides = SIDES if export.side is None else (_side(export.side),)
    return hyperfine.of_series(
        _checked_times(_series_of_sides(record, metric, sides, "hyperfine"), "hyperfine", metric)
    )


def _junit(export: Export) -> Data:
    if isinstance(export.record, Soundness):
        return junit.of_check(export.record).encode(errors="backslashreplace")
    report = gate_outcome(export.name, recall_record(_measured_record(export)), Limits())
    return junit.xml(report).encode(errors="backslashreplace")


def _series_of_one_side(export: Export, format_: str) -> tuple[list[Series], str]:
    record = _measured_record(export)
    metric = side_series.metric_of(record, export.metric, format_)
    if isinstance(record, Weighing) and export.side is None:
        raise UsageError(f"--side has to say which one a file of {format_} holds: baseline or candidate")
    return _series_of_sides(record, metric, [_side(export.side)], format_), metric


def _series_of_sides(record: Weighing | Run, metric: str, sides: Sequence[SideName], format_: str) -> list[Series]:
    if not (series := list(side_series.of_measured(record, metric, sides))):
        raise UsageError(
            f"{format_} would hold nothing, as no launch of that side can be judged: csv, json-lines and parquet hold "
            "every launch"
        )
    return series


def _side(side: str | None) -> SideName:
    return "candidate" if side == "candidate" else "baseline"


def _checked_times(series: list[Series], format_: str, metric: str) -> list[Series]:
    if any(one.unit != "s" for one in series):
        raise UsageError(f"{format_} holds times, and {metric} is none: csv, json-lines, parquet and pyperf hold it")
    return series


def _measured_record(export: Export) -> Weighing | Run:
    assert isinstance(export.record, Weighing | Run)  # noqa: S101 - `exported` has looked
    return export.record


FORMATS: dict[str, ExportFormat] = {
    one.name: one
    for one in (
        ExportFormat("csv", _ALL_KINDS, lambda export: lines.csv(table_of(export.record))),
        ExportFormat("json-lines", _ALL_KINDS, lambda export: lines.json_lines(table_of(export.record))),
        ExportFormat("parquet", _ALL_KINDS, lambda export: arrays.parquet(table_of(export.record)), is_binary=True),
        ExportFormat("pyperf", _MEASURED_KINDS, _pyperf, holds_samples=True),
        ExportFormat("hyperfine", _MEASURED_KINDS, _hyperfine, holds_samples=True),
        ExportFormat("google-benchmark", _MEASURED_KINDS, _google_benchmark, holds_samples=True),
        ExportFormat("junit", ("weighing", "check"), _junit),
    )
}
