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
    """Lines shown below the message, such as the last output of a tool."""

    def __reduce__(self) -> tuple[object, ...]:
        """Return how it is made anew, as in another process; Exception's own way takes all arguments for messages."""
        return _again, (type(self), self.args), self.__dict__


def _again(kind: type[SteelyardError], args: tuple[object, ...]) -> SteelyardError:
    return kind.__new__(kind, *args)


class UsageError(SteelyardError):
    """Wrong usage or configuration: a value out of range, a file that cannot be read as a weighing."""

    exit_status = 2


class NotMeasuredError(UsageError):
    """The file is an import, where a record that Steelyard measured is needed."""

    def __init__(self, message: str, record: ForeignResults) -> None:
        super().__init__(message)
        self.record = record


class NothingChosenError(UsageError):
    """A program has none of the requested benchmarks; another program may have them."""


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
    """Some values are 0 and others are not: they are known, but a relative change is not defined."""


class UnwrittenError(MeasurementError):
    """A measurement cannot be written to disk, so nothing more is measured; what was written before is kept."""


class LaunchError(MeasurementError):
    """One launch failed because of its target; other benchmarks may still be measured."""


class SelectionError(LaunchError):
    """A launch in which a harness did not run the requested benchmark, or not that one alone."""


class SkippedError(LaunchError):
    """A launch whose benchmark skipped itself: there is nothing to measure, for the `reason` that it gives."""

    def __init__(self, sentence: str, reason: str) -> None:
        super().__init__(sentence)
        self.reason = reason


class VanishedError(LaunchError):
    """A launch whose benchmark took no measurable time: most likely the compiler removed its body."""


class LineError(ValueError):
    """A damaged line of a journal, counted from 1."""

    def __init__(self, number: int) -> None:
        super().__init__(f"line {number} is damaged")
        self.number = number
