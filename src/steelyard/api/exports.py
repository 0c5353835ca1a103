"""Records in the formats of other tools: which format holds which records, and how it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
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
from steelyard.report import junit
from steelyard.report.data import arrays, google_benchmark, hyperfine, lines, others, pyperf, samples
from steelyard.report.data import series as of_sides
from steelyard.report.data.series import Series
from steelyard.report.data.table import Table

Data = bytes | Iterable[bytes]


@dataclass(frozen=True)
class Export:
    """What to write: a record, the `name` it goes by in messages, and the side or metric chosen from it."""

    record: Document
    name: str
    side: str | None = None
    metric: str | None = None


@dataclass(frozen=True)
class ExportFormat:
    """One format: the kinds of records that it holds, and how it writes one.

    Some formats hold only one side of a weighing, which must be given (`has_side`), and some only one metric
    (`has_metric`).
    """

    name: str
    holds: tuple[str, ...]
    write: Callable[[Export], Data]
    is_binary: bool = False
    has_side: bool = False
    has_metric: bool = False


_KINDS: dict[type, str] = {
    Weighing: "weighing",
    Run: "run",
    ForeignResults: "import",
    Soundness: "check",
    Calibration: "calibration",
    InterruptedCalibration: "calibration",
    Bisection: "bisection",
}
_MEASURED = ("weighing", "run", "import")
_ALL = tuple(dict.fromkeys(_KINDS.values()))


def kind_of(record: Document) -> str:
    """Return a record's kind: weighing, run, import, check, calibration or bisection."""
    return _KINDS[type(record)]


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
    wanted = format_named(format_)
    if kind_of(record) not in wanted.holds:
        holding = [one.name for one in FORMATS.values() if kind_of(record) in one.holds]
        raise UsageError(f"{wanted.name} holds no {kind_of(record)}: {_listed(holding)} do")
    if side is not None and not (wanted.has_side and isinstance(record, Weighing)):
        raise UsageError(f"--side {side} chooses from a weighing for {_listed(_names('has_side'))}: leave it out")
    if side is not None and side not in SIDES:
        raise UsageError(f"--side {side!r} is not known: choose from {', '.join(SIDES)}")
    if metric is not None and not (wanted.has_metric and isinstance(record, Weighing | Run)):
        raise UsageError(
            f"--metric {metric} chooses what {_listed(_names('has_metric'))} hold of a weighing or run: leave it out"
        )
    return wanted.write(Export(record, name, side, metric))


def format_named(name: str) -> ExportFormat:
    """Return the format of this name; raise UsageError, which lists all names, if there is none."""
    if name not in FORMATS:
        of_a_gate = "; OpenMetrics is written by steelyard gate --metrics" if "metrics" in name else ""
        raise UsageError(f"--format {name!r} is not known: choose from {', '.join(FORMATS)}{of_a_gate}")
    return FORMATS[name]


def _names(attribute: str) -> list[str]:
    return [one.name for one in FORMATS.values() if getattr(one, attribute)]


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


# --- each format


def _pyperf(asked: Export) -> Data:
    if isinstance(asked.record, ForeignResults):
        if (as_it_was := pyperf.of_import(asked.record)) is not None:
            return as_it_was
        about: dict[str, Any] = {f"imported_from_{name}": value for name, value in asked.record.machine.items()}
        return pyperf.of_series(list(of_sides.of_foreign(asked.record, "pyperf")), about)
    series, metric = _one_side(asked, "pyperf")
    return pyperf.of_series(series, pyperf.about(_measured(asked), metric))


def _google_benchmark(asked: Export) -> Data:
    if isinstance(asked.record, ForeignResults):
        context: dict[str, Any] = {"library_version": asked.record.provenance.version, **asked.record.machine}
        return google_benchmark.of_series(list(of_sides.of_foreign(asked.record, "google-benchmark")), context)
    series, metric = _one_side(asked, "google-benchmark")
    record = _measured(asked)
    context = {
        "date": record.created,
        "executable": record.subjects[0].program,
        "num_cpus": record.machine.cores_logical,
        "steelyard_version": record.tool,
        "steelyard_metric": metric,
    }
    return google_benchmark.of_series(_times(series, "google-benchmark", metric), context)


def _hyperfine(asked: Export) -> Data:
    if isinstance(asked.record, ForeignResults):
        return hyperfine.of_series(list(of_sides.of_foreign(asked.record, "hyperfine")))
    record = _measured(asked)
    metric = of_sides.metric_of(record, asked.metric, "hyperfine")
    sides = SIDES if asked.side is None else (_side(asked.side),)
    return hyperfine.of_series(_times(_series(record, metric, sides, "hyperfine"), "hyperfine", metric))


def _junit(asked: Export) -> Data:
    if isinstance(asked.record, Soundness):
        return junit.of_check(asked.record).encode(errors="backslashreplace")
    report = gate_outcome(asked.name, recall_record(_measured(asked)), Limits())
    return junit.xml(report).encode(errors="backslashreplace")


def _one_side(asked: Export, format_: str) -> tuple[list[Series], str]:
    record = _measured(asked)
    metric = of_sides.metric_of(record, asked.metric, format_)
    if isinstance(record, Weighing) and asked.side is None:
        raise UsageError(f"--side has to say which one a file of {format_} holds: baseline or candidate")
    return _series(record, metric, [_side(asked.side)], format_), metric


def _series(record: Weighing | Run, metric: str, sides: Sequence[SideName], format_: str) -> list[Series]:
    if not (series := list(of_sides.of_measured(record, metric, sides))):
        raise UsageError(
            f"{format_} would hold nothing, as no launch of that side was measured to its end: csv, json-lines and "
            "parquet hold every launch"
        )
    return series


def _side(told: str | None) -> SideName:
    return "candidate" if told == "candidate" else "baseline"


def _times(series: list[Series], format_: str, metric: str) -> list[Series]:
    if any(one.unit != "s" for one in series):
        raise UsageError(f"{format_} holds times, and {metric} is none: csv, json-lines, parquet and pyperf hold it")
    return series


def _measured(asked: Export) -> Weighing | Run:
    assert isinstance(asked.record, Weighing | Run)  # noqa: S101 - `exported` has looked
    return asked.record


FORMATS: dict[str, ExportFormat] = {
    one.name: one
    for one in (
        ExportFormat("csv", _ALL, lambda asked: lines.csv(table_of(asked.record))),
        ExportFormat("json-lines", _ALL, lambda asked: lines.json_lines(table_of(asked.record))),
        ExportFormat("parquet", _ALL, lambda asked: arrays.parquet(table_of(asked.record)), is_binary=True),
        ExportFormat("pyperf", _MEASURED, _pyperf, has_side=True, has_metric=True),
        ExportFormat("hyperfine", _MEASURED, _hyperfine, has_side=True, has_metric=True),
        ExportFormat("google-benchmark", _MEASURED, _google_benchmark, has_side=True, has_metric=True),
        ExportFormat("junit", ("weighing", "check"), _junit),
    )
}
