"""The outcome of a weighing or run: its record, judged, and why it failed if it did."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from steelyard.model.derived import Derived, deciding_of
from steelyard.model.errors import (
    InterruptedBeforeStart,
    LaunchError,
    MeasurementError,
    SteelyardError,
    UnwrittenError,
    UsageError,
)
from steelyard.model.files import load, with_derived, without_derived
from steelyard.model.journal import is_being_measured
from steelyard.model.metrics import METRICS, is_counted
from steelyard.model.records import Run, Weighing
from steelyard.model.typed import typed
from steelyard.report import budgets
from steelyard.report.sentences import partly_failed
from steelyard.subjects.suite import MOST_BENCHMARKS


@dataclass(frozen=True)
class Outcome:
    """A record with what was derived from it, and why it failed if it did."""

    record: Weighing | Run
    error: SteelyardError | None = None
    kept: Path | None = None
    """Where its record is in the store, or its journal if there was no room for a record."""
    resumed_by: str | None = None
    """What --resume takes to carry it on, if that is known."""
    unkept: str | None = None
    """What went wrong when it was stored, or that the store is not the user's own.

    It changes nothing of what was measured.
    """
    is_running: bool = False
    """Whether it is being measured right now, and this is what there is so far."""
    stop_came_late: bool = False
    """Whether the user asked to stop only when all was measured: it is whole, and nothing else is to begin."""

    @property
    def is_whole(self) -> bool:
        """Whether all of it was measured."""
        return self.error is None and "interrupted" not in self.record.stop

    def way_on(self) -> str | None:
        """Return the command that carries on what is undecided: another budget adds to what was measured.

        In each benchmark only its first timed metric is open again (`with_extra_budget`). What was interrupted has the
        rest of its own budget.
        """
        record = self.record
        if self.resumed_by is None or not isinstance(record, Weighing) or record.derived is None:
            return None
        if "interrupted" in record.stop:
            return f"steelyard compare --resume {typed(Path(self.resumed_by))}"
        measured = [one for one in record.derived.verdicts if not is_counted(one.metric)]
        option = budgets.option_to_continue(deciding_of(measured), record)
        return None if option is None else f"steelyard compare --resume {typed(Path(self.resumed_by))} {option}"


def recall(path: Path, largest_bytes: int | None = None) -> Outcome:
    """Return the outcome of a kept record, with its verdicts derived anew.

    With `largest_bytes`, a stranger may have made it: raises UsageError if it is larger, or would take far longer to
    judge than to write.
    """
    record = load(path, largest_bytes)
    if largest_bytes is not None:
        _check_extent(path, record)
    return replace(recall_record(record), is_running=is_running(record, path))


def is_running(record: Weighing | Run, path: Path) -> bool:
    """Whether a record that was read from this path is being measured right now."""
    return "interrupted" in record.stop and is_being_measured(path)


def recall_record(record: Weighing | Run) -> Outcome:
    """Return the outcome of a record that was read, with its verdicts derived anew."""
    record, error = without_derived(record), failure(record)
    if not record.benchmarks and record.unmeasured is None:
        return Outcome(record, error or MeasurementError("the record has no benchmarks, so nothing was measured"))
    return Outcome(derive(record) if error is None or _is_partial(record) else record, error)


def _check_extent(path: Path, record: Weighing | Run) -> None:
    for many, most, what in (
        (len(record.benchmarks), MOST_BENCHMARKS, "benchmarks"),
        (len(record.settings.metrics), len(METRICS), "metrics"),
    ):
        if many > most:
            raise UsageError(f"{path} has {many:,} {what}, more than a weighing has: is it the right file?")


def derive(record: Weighing | Run) -> Weighing | Run:
    """Return the record with verdicts or summaries derived anew; raises MeasurementError if its metric is undefined."""
    from steelyard.design.judging.judgement import verdicts
    from steelyard.design.judging.suite_means import suite_means
    from steelyard.design.judging.summaries import summaries

    if isinstance(record, Weighing):
        found = verdicts(record)
        return with_derived(record, Derived(verdicts=found, means=suite_means(record, found)))
    return with_derived(record, Derived(summaries=summaries(record)))


def judge_outcome(record: Weighing | Run, error: SteelyardError | None) -> Outcome:
    """Return the outcome of a measured record, with the `error` that ended the measurement, if one did."""
    failed = failure(record)
    if error is None or (record.fails_one_by_one and isinstance(error, LaunchError)):
        error = failed
    # In a weighing, benchmarks that ran out of time are told beside one that failed, as they are when it is read again.
    is_told = isinstance(record, Weighing) and failed is not None and _is_partial(record)
    if record.is_empty() and not is_told:
        return Outcome(record, error or InterruptedBeforeStart())
    try:
        is_partial = _is_partial(record) or isinstance(error, UnwrittenError)
        return Outcome(record if error and not is_partial else derive(record), error)
    except SteelyardError as undefined:
        return Outcome(record, undefined)


def failure(record: Weighing | Run) -> MeasurementError | None:
    """Return why benchmarks of a record failed, as far as it says; None if none did."""
    failed = [finding.message for finding in record.findings if finding.code == "failed"]
    if not record.benchmarks and failed:
        return MeasurementError(failed[0])  # before a harness was asked for them
    if "failed" not in record.stop or ("interrupted" in record.stop and _is_partial(record)):
        return None  # that it was interrupted says more; earlier failures are among its findings
    if not record.fails_one_by_one or len(record.stop) == 1:
        return MeasurementError(failed[0] if failed else "a launch failed")
    some_failed = partly_failed(record.stop)
    told = some_failed or f"all {len(record.stop):,} benchmarks failed"
    # What others measured is shown, with a note of each that failed.
    shown = failed[:1] if some_failed else _different_failures(failed)
    return MeasurementError(f"{told}, the first: {'; another: '.join(shown)}" if shown else told)


def _different_failures(failed: list[str]) -> list[str]:
    """Return the first message about a failed benchmark, and the first that gives another reason."""
    reasons = {message: message.partition(") ")[2] for message in failed}  # after the benchmark's name
    return failed[:1] + [message for message, reason in reasons.items() if reason != reasons[failed[0]]][:1]


def _is_partial(record: Weighing | Run) -> bool:
    """Whether some benchmarks of several failed, and the others have their verdicts all the same."""
    members = [
        reason for benchmark, reason in zip(record.benchmarks, record.stop, strict=True) if not benchmark.control
    ]
    return record.fails_one_by_one and any(reason != "failed" for reason in members)
