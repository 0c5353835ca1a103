"""What is measured in a launch beside its time: an instrument dresses the launch, and reads what came of it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol, TypeVar

from steelyard.model.launches import LaunchSpec, Measured

Value = TypeVar("Value")
Value_co = TypeVar("Value_co", covariant=True)

_NEEDS_SO_LONG = "If it needs longer, raise --timeout, or --max-time, which no launch of a weighing may use up alone."


class Attachment(Protocol[Value_co]):
    """One launch with an instrument on it."""

    @property
    def spec(self) -> LaunchSpec:
        """What to launch."""

    def without_instrument(self, measured: Measured) -> Measured:
        """What the target did by itself; raises MeasurementError for trouble of the instrument's own."""

    def read(self, measured: Measured) -> Value_co:
        """What the instrument saw of a target that ended well; raises MeasurementError."""


class Instrument(Protocol[Value_co]):
    """Dresses launches, one at a time."""

    @property
    def when_late(self) -> str:
        """What to ask, and to do, about a launch that did not end in its time."""

    def attached(self, spec: LaunchSpec) -> AbstractContextManager[Attachment[Value_co]]:
        """The launch under the instrument, for as long as the context lasts; raises MeasurementError."""


@dataclass(frozen=True, slots=True)
class _Bare:
    spec: LaunchSpec

    def without_instrument(self, measured: Measured) -> Measured:
        return measured

    def read(self, measured: Measured) -> None:  # noqa: ARG002 - the time is in every launch's numbers
        return None


def on_processor_ns(measured: Measured) -> int:
    """What a launch took on a processor: by the scheduler, or by the kernel's own account where that does not tell."""
    return measured.user_ns + measured.sys_ns if measured.cpu_ns is None else measured.cpu_ns


class Timer:
    """The launch as it is: the launch server times each one anyway."""

    when_late = f"does it wait for something? {_NEEDS_SO_LONG}"

    def attached(self, spec: LaunchSpec) -> AbstractContextManager[Attachment[None]]:
        """The launch itself."""
        return nullcontext(_Bare(spec))
