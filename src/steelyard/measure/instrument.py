"""What is measured in a launch besides its time: an instrument changes the launch's spec and reads the result."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol, TypeVar

from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured

Value = TypeVar("Value")
Value_co = TypeVar("Value_co", covariant=True)

_LONGER_HINT = "If it needs longer, raise --timeout, or where none is set --max-time, which no launch may use up alone."


class Attachment(Protocol[Value_co]):
    """One launch with an instrument on it."""

    @property
    def spec(self) -> LaunchSpec:
        """What to launch."""

    def without_instrument(self, measured: Measured) -> Measured:
        """Return what the target did by itself; raises MeasurementError if the instrument itself failed."""

    def read(self, measured: Measured) -> Value_co:
        """Return what the instrument saw of a target that ended well; raises MeasurementError."""


class Instrument(Protocol[Value_co]):
    """What attaches itself to launches, one at a time."""

    @property
    def when_late(self) -> str:
        """The question and the advice for a launch that exceeded its time limit."""

    def attached(self, spec: LaunchSpec) -> AbstractContextManager[Attachment[Value_co]]:
        """Attach the instrument to the launch for as long as the context lasts; raises MeasurementError."""


@dataclass(frozen=True, slots=True)
class _Bare:
    spec: LaunchSpec

    def without_instrument(self, measured: Measured) -> Measured:
        return measured

    def read(self, measured: Measured) -> None:  # noqa: ARG002 - the time is in every launch's numbers
        return None


def on_processor_ns(measured: Measured) -> int:
    """Return the time of a launch on a processor: the scheduler's, or user plus system time where that is unknown."""
    return measured.all_cpu_ns if measured.cpu_ns is None else measured.cpu_ns


class Timer:
    """Leaves the launch as it is: the launch server times every launch anyway."""

    when_late = f"does it wait for something? {_LONGER_HINT}"

    def attached(self, spec: LaunchSpec) -> AbstractContextManager[Attachment[None]]:
        """Return the launch unchanged."""
        return nullcontext(_Bare(spec))
