"""Records for programs: verdicts and figures, a data frame of the samples, and the files of other tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from steelyard.api.arguments import read_argument, read_optional_argument
from steelyard.api.exports import check_not_compressed, exported, format_named, kind_of, table_of
from steelyard.api.keywords import PathName
from steelyard.api.streams import file_for
from steelyard.api.wording import reword_errors
from steelyard.design.unpaired.foreign import describe_levels
from steelyard.model.bisection import Bisection
from steelyard.model.calibration import Calibration, InterruptedCalibration
from steelyard.model.derived import SuiteMean, Summary, Verdict
from steelyard.model.errors import SteelyardError, UsageError
from steelyard.model.files import plain_json, save
from steelyard.model.findings import Finding, VerdictName
from steelyard.model.foreign import ForeignReport, ForeignResults, ForeignVerdict, Level
from steelyard.model.records import Run, Weighing
from steelyard.model.soundness import Soundness
from steelyard.model.unpaired import UnpairedReport, UnpairedVerdict
from steelyard.model.writing import write_file

if TYPE_CHECKING:
    from steelyard.model.documents import Document
    from steelyard.report.data.table import Table

Data = TypeVar("Data", bound="Document", covariant=True)


class _FirstVerdict:
    """The first verdict's values, for classes with verdicts."""

    @property
    def verdicts(self) -> Sequence[Verdict] | Sequence[UnpairedVerdict] | Sequence[ForeignVerdict]:
        """All verdicts."""
        raise NotImplementedError

    @property
    def verdict(self) -> VerdictName | None:
        """The verdict of its first benchmark in the first metric; None where nothing was judged."""
        return self.verdicts[0].verdict if self.verdicts else None

    @property
    def change(self) -> float | None:
        """The relative change of that benchmark: +0.01 is 1 % more, so slower for times; None if it is not known."""
        return self.verdicts[0].change if self.verdicts else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of that change, at the confidence 1 - alpha; None if there are too few launches for one."""
        return self.verdicts[0].interval if self.verdicts else None


class _Figures:
    """A record's numbers: the verdicts of a weighing, the summaries of a run, the levels of an import; else empty.

    A summary has `median`, `spread`, `interval`, `lowest`, `highest` and `modes`, in the metric's unit. A level has
    `median` in its benchmark's unit, and the relative spreads `between` and `within` processes.
    """

    @overload
    def __get__(self, record: None, of: object) -> _Figures: ...
    @overload
    def __get__(self, record: Record[Weighing], of: object) -> list[Verdict]: ...
    @overload
    def __get__(self, record: Record[Run], of: object) -> list[Summary]: ...
    @overload
    def __get__(self, record: Record[ForeignResults], of: object) -> list[Level]: ...
    @overload
    def __get__(self, record: Record[Document], of: object) -> list[Verdict] | list[Summary] | list[Level]: ...

    def __get__(self, record: Record[Any] | None, of: object) -> Any:
        if record is None:
            return self  # so that the class shows its documentation
        data = record.data
        if isinstance(data, ForeignResults):
            return describe_levels(data.benchmarks)
        if isinstance(data, Run):
            return list(data.summaries)
        return record.verdicts


@dataclass(frozen=True, eq=False, repr=False)
class Record(_FirstVerdict, Generic[Data]):
    """What was measured, imported, checked or calibrated, as one file keeps it.

    `data` holds everything, with the names of the file format (`steelyard docs records`). All other attributes are
    derived from it.
    """

    data: Data
    path: Path | None = None
    """The file that keeps it; None if it could not be kept."""
    error: SteelyardError | None = None
    """For a weighing or run that failed: why all of it (then it has no figures) or some of its benchmarks did."""
    is_running: bool = False
    """Whether it was still being measured when its journal was read."""

    @property
    def kind(self) -> str:
        """The kind of record: weighing, run, import, check, calibration or bisection."""
        return kind_of(self.data)

    @property
    def benchmarks(self) -> list[str]:
        """The names of its benchmarks, in order; empty for a calibration or a bisection."""
        if isinstance(self.data, Calibration | InterruptedCalibration | Bisection):
            return []
        return [one if isinstance(one, str) else one.name for one in self.data.benchmarks]

    @property
    def verdicts(self) -> list[Verdict]:
        """A weighing's verdicts, by benchmark and, within each, by metric; empty for other records.

        Each has `benchmark`, `metric`, `verdict` (slower, faster, same, undecided), `change` and `interval` (relative:
        +0.01 is 1 % slower), `pairs`, `baseline` and `candidate` (with `median` in the metric's unit and `spread`).
        """
        return list(self.data.verdicts) if isinstance(self.data, Weighing) else []

    figures = _Figures()

    @property
    def means(self) -> list[SuiteMean]:
        """For a weighing of a suite, the geometric mean of the changes in each timed metric."""
        derived = self.data.derived if isinstance(self.data, Weighing) else None
        return list(derived.means) if derived else []

    @property
    def findings(self) -> list[Finding]:
        """What was seen while measuring or importing, each with a `code`, a `message` and perhaps a `remedy`."""
        return [] if isinstance(self.data, Calibration | InterruptedCalibration) else list(self.data.findings)

    @reword_errors()
    def frame(self, library: str | None = None) -> Any:
        """Return a pandas or polars data frame, a row per sample and metric (`steelyard docs export` has the columns).

        `library` chooses one of them; the default is pandas, or polars if pandas is not installed. In pandas, texts are
        categories. Raises UsageError if neither is installed.
        """
        from steelyard.report.data.arrays import frame

        return frame(self._table, read_optional_argument("library", library))

    @cached_property
    def _table(self) -> Table:
        return table_of(self.data)

    @reword_errors({})  # `metric` chooses one; `metrics` elsewhere are several
    def export(
        self,
        format: str,  # noqa: A002 - as the command line has it
        path: PathName | None = None,
        *,
        side: str | None = None,
        metric: str | None = None,
    ) -> bytes:
        """Return the record in a format for other tools, as `steelyard export`; written to `path`, too, if given.

        `format` is csv, json-lines, parquet, pyperf, hyperfine, google-benchmark or junit. Raises UsageError if the
        format does not hold such a record, MeasurementError if the file cannot be written.
        """
        name = str(self.path or self.kind)
        side, metric = read_optional_argument("side", side), read_optional_argument("metric", metric)
        format_, file = read_argument("format", format), None
        if path is not None:
            file = file_for(read_argument("path", path), self.path)
            check_not_compressed(format_named(format_), file)
        written = exported(self.data, format_, name=name, side=side, metric=metric)
        data = written if isinstance(written, bytes) else b"".join(written)
        if file is not None:
            write_file(file, data)
        return data

    def save(self, path: PathName) -> None:
        """Keep the record in a file, compressed if its name ends in .gz; raise MeasurementError if that fails."""
        file = Path(read_argument("path", path))
        if isinstance(self.data, Weighing | Run | ForeignResults):
            save(self.data, file)
        else:
            write_file(file, plain_json(self.data))

    def markdown(self) -> str:
        """Return the tables of `--markdown` for a weighing, run or import; raise UsageError for anything else."""
        from steelyard.report import foreign
        from steelyard.report import markdown as as_markdown

        if isinstance(self.data, Weighing):
            return as_markdown.weighing(self.data, self.verdicts, running=self.is_running)
        if isinstance(self.data, Run):
            return as_markdown.run(self.data, self.data.summaries, running=self.is_running)
        if isinstance(self.data, ForeignResults):
            return foreign.markdown(self.data, describe_levels(self.data.benchmarks))
        raise UsageError(f"there is no Markdown of a {self.kind}: make a page of it by steelyard.page")

    def _repr_markdown_(self) -> str | None:
        """Return what a notebook shows."""
        return self.markdown() if isinstance(self.data, Weighing | Run | ForeignResults) else None

    def __repr__(self) -> str:
        benchmarks = f" of {_benchmark_count(self.benchmarks)}" if self.benchmarks else ""
        return f"<{', '.join([self.kind + benchmarks, *self._result_text()])}>"

    def _result_text(self) -> list[str]:
        """What its first benchmark showed in the first metric, or how many troubles a check found."""
        from steelyard.report import figures

        if self.verdict:
            return [_verdict_text(self.verdict, self.change, self.interval)]
        if isinstance(self.data, Run):
            return [f"median {figures.quantity(one.median, one.metric)}" for one in self.data.summaries[:1]]
        if isinstance(self.data, Soundness):
            return [figures.count(len(self.data.troubles()), "trouble")]
        return []


@dataclass(frozen=True, eq=False, repr=False)
class Diff(_FirstVerdict):
    """What two records that were measured apart say about each other.

    `data` is the report: verdicts of runs, or of imports. Drift between the two does not cancel, so changes of a few
    percent stay undecided.
    """

    data: UnpairedReport | ForeignReport | Weighing

    @property
    def verdicts(self) -> Sequence[UnpairedVerdict] | Sequence[ForeignVerdict] | Sequence[Verdict]:
        """The verdicts by benchmark (and metric), each with `benchmark`, `verdict`, `change` and `interval`."""
        return self.data.verdicts

    @property
    def means(self) -> list[SuiteMean]:
        """The geometric mean of the changes in each metric or unit, if both records have several benchmarks."""
        if isinstance(self.data, Weighing):
            return []  # counts have no means
        return list(self.data.means)

    @property
    def findings(self) -> list[Finding]:
        """What else differs between the two, apart from what was measured."""
        return list(self.data.findings)

    def markdown(self) -> str:
        """Return the table of `steelyard diff --markdown`."""
        from steelyard.report import foreign, unpaired
        from steelyard.report import markdown as as_markdown

        if isinstance(self.data, Weighing):
            return as_markdown.weighing(self.data, self.data.verdicts)
        return (
            unpaired.markdown(self.data) if isinstance(self.data, UnpairedReport) else foreign.diff_markdown(self.data)
        )

    _repr_markdown_ = markdown  # what a notebook shows

    def __repr__(self) -> str:
        return f"<diff of {_benchmark_count(self.verdicts)}, {_verdict_text(self.verdict, self.change, self.interval)}>"


@dataclass(frozen=True, eq=False, repr=False)
class ProjectRecord:
    """The records of a project's targets; those launched alike share a weighing."""

    records: list[Record[Weighing]]
    targets: list[str]
    """Of each record the name of its target, or those that share it, with commas."""
    notes: list[str]
    """What the user should know: targets that the baseline lacks, and margins that match no benchmark."""

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdicts of all records."""
        return [verdict for record in self.records for verdict in record.verdicts]

    def markdown(self) -> str:
        """Return the page of `--markdown`: the tables of each record, of several under the names of their targets."""
        from steelyard.report.markup import code, document

        tables = [record.markdown() for record in self.records]
        if len(tables) == 1:
            return tables[0]
        headings = [document([f"### {code(name)}"]) for name in self.targets]
        return "\n".join(text for part in zip(headings, tables, strict=True) for text in part)

    _repr_markdown_ = markdown  # what a notebook shows

    def __repr__(self) -> str:
        return f"<{', '.join(map(repr, self.records))}>"


class IncompleteError(SteelyardError):
    """A measurement that was interrupted, or in which some benchmarks failed; its records hold what was measured."""

    def __init__(
        self, message: str, records: Sequence[Record[Any]], exit_status: int, project: ProjectRecord | None = None
    ) -> None:
        super().__init__(message)
        self.records = records
        """One record, or for a project those of its weighings."""
        self.exit_status = exit_status
        self.project = project
        """Of a project these records with the names of their targets, and its notes."""

    @property
    def record(self) -> Record[Any]:
        """The last record."""
        return self.records[-1]


def _verdict_text(verdict: str | None, change: float | None, interval: tuple[float, float] | None) -> str:
    from steelyard.report import figures

    parts = [verdict or "nothing", *([figures.change(change)] if change is not None else [])]
    return " ".join([*parts, *([figures.interval(interval)] if interval is not None else [])])


def _benchmark_count(items: Sequence[object]) -> str:
    from steelyard.report import figures

    return figures.count(len(items), "benchmark")
