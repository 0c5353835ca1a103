"""`steelyard.compare`, `run`, `diff` and `load`: what the command line does, for programs. Nothing is printed."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import TypeVar, Unpack

from pydantic import ValidationError

from steelyard.api.diffs import Terms, difference
from steelyard.api.kept import kept_by_name
from steelyard.api.keywords import Comparing, PathName, Running, asked_of, percentage, texts
from steelyard.api.names import names_of, usual_names
from steelyard.api.record import Diff, IncompleteError, Record
from steelyard.api.settings import run_of_command, weighing_of_commands
from steelyard.design.outcome import Outcome, recalled
from steelyard.design.request import Request
from steelyard.design.session import measure
from steelyard.design.world import World
from steelyard.model.documents import Document, load_document
from steelyard.model.errors import MeasurementError, SteelyardError, UsageError
from steelyard.model.files import described
from steelyard.model.foreign import ForeignResults
from steelyard.model.progress import Progress
from steelyard.model.records import Run, Weighing
from steelyard.model.values import alpha_checked, metric_names, relative_margin

Watch = Callable[[Progress], None]
_Kind = TypeVar("_Kind", Weighing, Run)

_INTERRUPTED = 130


def compare(
    commands: Sequence[str],
    *,
    names: Sequence[str] | None = None,
    progress: Watch | None = None,
    world: World | None = None,
    **asked: Unpack[Comparing],
) -> Record[Weighing]:
    """Weigh commands against the first of them, in adjacent pairs in random order, until the verdict stands.

    `commands` are two or more command lines, each one text, and `names` what they are called in the record; what may
    be asked beside is in `Comparing`, by the names that a project's file has (docs/api.md). `progress` is called
    between two launches. The record is kept in the user's store, too.

    Raises UsageError for what cannot be weighed, MeasurementError where a launch fails, and IncompleteError, which
    has the `record`, after Ctrl-C or where some benchmarks of a suite fail. The `world` is what it takes from outside:
    the launcher, the clock, the store.
    """
    world = world or World()
    if isinstance(commands, str) or len(commands) < 2:
        raise UsageError("compare needs two commands or more, in a list: steelyard.compare(['./old', './new'])")
    wanted = asked_of(asked, Comparing)
    called = names_of(names, None, usual_names(list(commands)))
    with _sentences():
        request = weighing_of_commands(commands, called, wanted, world)
    return _whole(Weighing, request, progress, world)


def run(
    command: str,
    *,
    name: str | None = None,
    progress: Watch | None = None,
    world: World | None = None,
    **asked: Unpack[Running],
) -> Record[Run]:
    """Measure one command alone: no verdict, but medians, spreads and all samples.

    Numbers of two runs, taken one after the other, are apart by more than most changes: `compare` weighs both at once.
    What may be asked is in `Running`; it raises what `compare` does.
    """
    world = world or World()
    wanted = asked_of(asked, Running)
    with _sentences():
        request = run_of_command(command, name, wanted, world)
    return _whole(Run, request, progress, world)


def diff(
    baseline: Record[Document] | PathName,
    candidate: Record[Document] | PathName,
    *,
    margin: float | str = "0.5%",
    alpha: float = 0.01,
    metrics: str | Sequence[str] | None = None,
    force: bool = False,
    same_conditions: bool = False,
    world: World | None = None,
) -> Diff:
    """Say whether one run or import is slower or faster than another, as far as two that were measured apart can tell.

    `margin` is a part of 1, or a text in percent. Without `metrics` those of the baseline are compared. `force`
    compares what two machines measured; `same_conditions` vouches that nothing changed between two imports, without
    which they have no verdict. Raises UsageError for what cannot be compared, MeasurementError where the metric is
    undefined.
    """
    world = world or World()
    records = [one if isinstance(one, Record) else load(one, world=world) for one in (baseline, candidate)]
    terms = Terms(
        margin=relative_margin(percentage(margin)),
        alpha=alpha_checked(alpha),
        metrics=None if metrics is None else metric_names(texts(metrics)),
        force=force,
        same_conditions=same_conditions,
    )
    measured = [_measured_record(one) for one in records]
    found = difference(measured[0], measured[1], (_called(baseline, "A"), _called(candidate, "B")), terms)
    return Diff(found)


def load(path: PathName, *, world: World | None = None) -> Record[Document]:
    """Read what was kept: a weighing or run, also one that is still measured, an import, a check or a calibration.

    `path` is a file, or the name that a run was kept by (`--save-baseline`). Verdicts are derived anew. Of a
    measurement that failed, the record's `error` says why. Raises UsageError for what cannot be read, or is none of
    these.
    """
    (file,) = kept_by_name(world or World(), Path(fspath(path)))
    with _collector_as_before():
        data = load_document(file)
    if not isinstance(data, Weighing | Run):
        return Record(data, file)
    outcome = recalled(data)
    return Record(outcome.record, file, outcome.error)


@contextmanager
def _sentences() -> Iterator[None]:
    """What is of no type that the settings take is told as all other wrong usage is: a command line has none such."""
    try:
        yield
    except ValidationError as error:
        raise UsageError(f"this cannot be asked: {described(error)}") from error


@contextmanager
def _collector_as_before() -> Iterator[None]:
    """A command ends soon, and has the garbage collector leave alone what was read; a program goes on for long."""
    frozen = gc.get_freeze_count()
    try:
        yield
    finally:
        if not frozen:
            gc.unfreeze()


def _whole(kind: type[_Kind], request: Request, progress: Watch | None, world: World) -> Record[_Kind]:
    """What was measured, a record of this kind; raises what kept it from being whole."""
    outcome = measure(request, progress or _unseen, world)
    if isinstance(outcome.record, kind) and outcome.error is None and "interrupted" not in outcome.record.stop:
        return Record(outcome.record, outcome.kept)
    raise _incomplete(outcome)


def _unseen(progress: Progress) -> None:
    """Nobody watches."""


def _incomplete(outcome: Outcome) -> SteelyardError:
    """What kept a record from being whole, with what came of it."""
    record = Record(outcome.record, outcome.kept, outcome.error)
    if "interrupted" in outcome.record.stop and not outcome.record.is_empty():
        where = f"what was measured is kept in {outcome.kept}" if outcome.kept else "what was measured is in its record"
        return IncompleteError(f"interrupted; {where}", record, _INTERRUPTED)
    error = outcome.error or MeasurementError("nothing was measured")
    if outcome.record.derived is None:
        return error
    incomplete = IncompleteError(str(error), record, error.exit_status)
    incomplete.__cause__ = error
    return incomplete


def _measured_record(record: Record[Document]) -> Weighing | Run | ForeignResults:
    if isinstance(record.data, Weighing | Run | ForeignResults):
        return record.data
    raise UsageError(f"a {record.kind} has nothing to compare: give two runs, or two imports")


def _called(told: Record[Document] | str | PathLike[str], otherwise: str) -> Path:
    if isinstance(told, Record):
        return told.path or Path(otherwise)
    return Path(fspath(told))
