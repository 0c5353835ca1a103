"""Kept records and other tools' results for programs: read, compare, put on a page. Nothing is printed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.api.arguments import read_argument, read_optional_argument
from steelyard.api.diffs import difference
from steelyard.api.kept import kept_paths
from steelyard.api.keywords import PathName, fraction_of, margin_text
from steelyard.api.record import Diff, ProjectRecord, Record
from steelyard.api.streams import file_for
from steelyard.api.wording import reword_errors
from steelyard.design.conversion import convert_files
from steelyard.design.outcome import Outcome, is_running, recall_record
from steelyard.design.unpaired.terms import Terms
from steelyard.design.world import World
from steelyard.model.documents import Document, load_document
from steelyard.model.errors import UsageError
from steelyard.model.foreign import ForeignResults
from steelyard.model.records import Run, Weighing
from steelyard.model.values import alpha_checked, metric_names, relative_margin
from steelyard.model.writing import write_file

if TYPE_CHECKING:
    from steelyard.design.reporting import Reportable


_MARGIN, _ALPHA = "0.5%", 0.01


@reword_errors()
def diff(
    baseline: Record[Document] | PathName,
    candidate: Record[Document] | PathName,
    *,
    margin: float | str | None = _MARGIN,
    alpha: float | str | None = _ALPHA,
    metrics: str | Sequence[str] | None = None,
    force: bool | None = False,
    same_conditions: bool | None = False,
    benchmarks: str | Sequence[str] | None = None,
    world: World | None = None,
) -> Diff:
    """Say whether one run or import is slower or faster than another, as far as two measured apart can tell.

    `margin` and `alpha` are parts of 1, or texts in percent. The default `metrics` are those of the baseline. `force`
    compares what two machines measured. `same_conditions` vouches that nothing changed between two imports, which have
    no verdict otherwise. Only `benchmarks` that fit a pattern are compared; they share `alpha` with the others. Raises
    UsageError for what cannot be compared, MeasurementError if the metric is undefined.
    """
    world = world or World()
    records = [
        one if isinstance(one, Record) else _loaded(read_argument(name, one, like="path"), world)
        for name, one in (("baseline", baseline), ("candidate", candidate))
    ]
    terms = Terms(
        margin=relative_margin(margin_text(read_argument("margin", _MARGIN if margin is None else margin))),
        alpha=alpha_checked(fraction_of("--alpha", read_argument("alpha", _ALPHA if alpha is None else alpha))),
        metrics=None if metrics is None else metric_names(read_argument("metrics", metrics)),
        force=bool(read_optional_argument("force", force)),
        same_conditions=bool(read_optional_argument("same_conditions", same_conditions)),
        benchmarks=read_argument("benchmarks", benchmarks or ()),
    )
    measured = [_measured_record(one) for one in records]
    report = difference(measured[0], measured[1], (_display_path(baseline, "A"), _display_path(candidate, "B")), terms)
    return Diff(report)


@reword_errors()
def load(path: PathName, *, world: World | None = None) -> Record[Document]:
    """Read a kept record: a weighing or run, even while it is measured, an import, check, calibration or bisection.

    `path` is a file, or the name that a run was kept by (`--save-baseline`). Verdicts are derived anew. If a
    measurement failed, the record's `error` says why. Raises UsageError for what cannot be read, or is none of these.
    """
    return _loaded(read_argument("path", path), world or World())


def _loaded(path: str, world: World) -> Record[Document]:
    (file,) = kept_paths(world, Path(path))
    data = load_document(file)
    if not isinstance(data, Weighing | Run):
        return Record(data, file)
    outcome = recall_record(data)
    return Record(outcome.record, file, outcome.error, is_running(data, file))


@reword_errors()
def import_(
    files: PathName | Sequence[PathName],
    *,
    format: str | None = None,  # noqa: A002 - as the command line has it
    benchmarks: str | Sequence[str] | None = None,
    world: World | None = None,
) -> Record[ForeignResults]:
    """Import what another tool measured, in the formats that `steelyard import` reads.

    Several files are several processes of the same benchmarks; only `benchmarks` that fit a pattern are taken. Without
    a `format`, the contents tell it. Raises UsageError for a file that cannot be trusted completely.
    """
    paths = [Path(one) for one in read_argument("files", files)]
    name, patterns = read_optional_argument("format", format), read_argument("benchmarks", benchmarks or ())
    if not paths:
        raise UsageError("import_ needs a file, or several: steelyard.import_('theirs.json')")
    created = (world or World()).created()
    return Record(convert_files(paths, created=created, name=name, patterns=patterns))


@reword_errors()
def page(
    *shown: Record[Document] | ProjectRecord | Diff | PathName,
    path: PathName | None = None,
    world: World | None = None,
) -> str:
    """Return one page for a browser of records and files, like `steelyard report`; written to `path`, too, if given.

    Raises UsageError for a file that cannot be read, MeasurementError if the page cannot be written.
    """
    from steelyard.design.reporting import page_of_shown

    world = world or World()
    if not shown:
        raise UsageError("a page is of something: steelyard.page(record, path='report.html')")
    groups = [each.records if isinstance(each, ProjectRecord) else [each] for each in shown]
    parts = (_page_content(item, world) for group in groups for item in group)
    contents, names, files = zip(*parts, strict=True)
    html = page_of_shown(contents, world.now(), names)
    if path is not None:
        write_file(file_for(read_argument("path", path), *files), html)
    return html


def _page_content(item: Record[Document] | Diff | PathName, world: World) -> tuple[Reportable, str, Path | None]:
    """Return what a page shows of a record, a diff or a file, the name by which it calls the file, and the file."""
    if isinstance(item, list | tuple):
        raise UsageError("page takes records and files one by one: steelyard.page(*records)")
    if isinstance(item, Diff):
        return Outcome(item.data) if isinstance(item.data, Weighing) else item.data, "", None
    record, name = (item, _file_name(item, world)) if isinstance(item, Record) else (load(item, world=world), str(item))
    if not isinstance(record.data, Weighing | Run):
        return record.data, name, record.path
    resumed_by = name if record.path is not None and record.path.is_file() else None
    outcome = Outcome(record.data, record.error, resumed_by=resumed_by, is_running=record.is_running)
    return outcome, name, record.path


def _file_name(record: Record[Document], world: World) -> str:
    """Return the file of a record as a command takes it: in the store the name suffices, and says nothing of the user.

    Empty if there is no file.
    """
    if record.path is None:
        return ""
    return record.path.name if record.path.parent == world.store().folder else str(record.path)


def _measured_record(record: Record[Document]) -> Weighing | Run | ForeignResults:
    if isinstance(record.data, Weighing | Run | ForeignResults):
        return record.data
    raise UsageError(f"a {record.kind} has nothing to compare: give two runs, or two imports")


def _display_path(item: Record[Document] | PathName, fallback: str) -> Path:
    return item.path or Path(fallback) if isinstance(item, Record) else Path(item)
