"""The errors that belong to the user: one sentence that names the thing and the way out.

They live on the lowest floor so that every package can raise them and `cli` can turn them into an exit status.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.model.foreign import ForeignResults


# The way out where the system, or a container's filter, refuses a system call.
ALLOW_CALLS = "allow it (of a container: --security-opt seccomp=unconfined)"


class SteelyardError(Exception):
    """A user's mistake or a failed measurement; the message is shown as it is, without a traceback."""

    exit_status = 3
    lines: tuple[str, ...] = ()
    """What stands below the sentence: the last words of a tool, say."""


class UsageError(SteelyardError):
    """Wrong usage or configuration: a value out of range, a file that cannot be read as a weighing."""

    exit_status = 2


class NotMeasuredError(UsageError):
    """What was read is an import, where a record was wanted that Steelyard measured."""

    def __init__(self, message: str, record: ForeignResults) -> None:
        super().__init__(message)
        self.record = record


class NothingChosenError(UsageError):
    """A program has none of the benchmarks that were asked for; another one beside it may."""


class InterruptedBeforeStart(SteelyardError):  # noqa: N818 - it is no error
    """The user stopped before the first launch had ended: there is nothing to keep or to show."""

    exit_status = 130

    def __init__(self, message: str = "interrupted before anything was measured") -> None:
        super().__init__(message)


class InterruptedBeforeEnd(SteelyardError):  # noqa: N818 - it is no error
    """The user stopped before there was anything to show; what was measured is kept, and the message says where."""

    exit_status = 130


class MeasurementError(SteelyardError):
    """A measurement that failed: never a number, never a verdict."""

    exit_status = 3


class NoRatioError(MeasurementError):
    """Values of which some are nothing and others are not: they are known, but no change is relative to them."""


class UnwrittenError(MeasurementError):
    """What was measured cannot be put on disk, so that nothing more is; what is there already stands."""


class LaunchError(MeasurementError):
    """One launch that failed, by what its target did; other benchmarks may still be measured."""


class SelectionError(LaunchError):
    """A launch in which a harness did not run the benchmark that was asked for by its name, or not that one alone."""


class VanishedError(LaunchError):
    """A launch whose benchmark took no time that could be told: most likely the compiler removed its body."""


class LineError(ValueError):
    """A line of a journal, counted from 1, that is damaged."""

    def __init__(self, number: int) -> None:
        super().__init__(f"line {number} is damaged")
        self.number = number
