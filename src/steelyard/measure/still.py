"""A clock that stands still while a program waits for a processor, by a preloaded library (`native/clock`)."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.measure.native import CLOCK
from steelyard.measure.preloading import can_be_named, is_of_musl, preloaded, refusal
from steelyard.measure.scratch import opened, room_for, scratch_folder
from steelyard.model.errors import MeasurementError

if TYPE_CHECKING:
    from steelyard.model.launch_spec import LaunchSpec

FILE_NAME = b"STEELYARD_CLOCK"
# The file, as `native/clock/src/account.rs` lays it out: 64-bit numbers.
_MAGIC = b"STEELYC1"
_NUMBERS = struct.Struct("=8s7Q")
_SCHEDSTAT = Path("/proc/self/schedstat")


@dataclass(frozen=True, slots=True)
class StillUse:
    """What the clocks of all processes of a launch did, added up."""

    programs: int
    """Programs that the library was loaded into."""
    clocks: int
    """Processes that asked for the time and whose clock stood still."""
    left_out_ns: int
    """The waiting time that those clocks left out."""
    several: int
    """Processes in which several threads asked; from there on their clock went on as usual."""
    unknown: int
    """Processes whose wait the kernel did not tell; their clock went on as usual."""
    deadlines: int
    """Absolute deadlines that were moved, as the kernel's own clock had gone on."""
    slow: int
    """Processes in which every reading of the clock had to ask the kernel as well (some 0.5 µs)."""


def check_kernel(schedstat: Path = _SCHEDSTAT) -> None:
    """Raise MeasurementError where the kernel does not tell how long a process waited for a processor."""
    try:
        ran_ns = int(schedstat.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        ran_ns = 0
    # This process has run, so 0 means that the kernel keeps no account.
    if not ran_ns:
        raise MeasurementError(
            f"this kernel does not tell how long a process waits for a processor ({schedstat}), so no clock can leave "
            "that out: run the command by itself, or on a kernel with CONFIG_SCHED_INFO"
        )


def can_stand_still(program: Path) -> bool:
    """Return whether a program's clock can stand still, as far as that is known before it runs."""
    try:
        check_clock()
    except MeasurementError:
        return False
    return can_be_named(CLOCK) and refusal(program, CLOCK) is None


def check_clock() -> None:
    """Raise MeasurementError if the library is missing, or the kernel does not tell how long a process waited."""
    check_kernel()
    if not CLOCK.exists():
        raise MeasurementError(f"{CLOCK} is missing, by which a clock stands still: reinstall steelyard")


def begin_account(file: Path) -> None:
    """Write an empty account, in place of that of any launch before."""
    file.unlink(missing_ok=True)  # processes left behind by that launch may still write to the old file
    file.write_bytes(_NUMBERS.pack(_MAGIC, *[0] * 7))


def preload_still_clock(spec: LaunchSpec, account: Path) -> LaunchSpec:
    """Return the launch with the library preloaded; raises MeasurementError if the library's path rules that out."""
    return preloaded(spec, CLOCK, {FILE_NAME: os.fsencode(account)})


def use_in(account: Path) -> StillUse | None:
    """Return what the account says so far; None if a process of the launch has removed or spoilt the file."""
    try:
        with opened(account) as file:
            magic, *numbers = _NUMBERS.unpack(file.read(_NUMBERS.size + 1))
    except (OSError, struct.error):
        return None
    return StillUse(*numbers) if magic == _MAGIC else None


@contextmanager
def standing_still(spec: LaunchSpec) -> Iterator[tuple[LaunchSpec, Path]]:
    """Yield the launch under a clock that stands still, and the path of its account.

    The library has no effect in a static program, but may have one in programs that it starts. Raises MeasurementError
    if no clock can stand still here.
    """
    check_clock()
    with ExitStack() as lasting:
        with room_for("a clock that stands still needs"):  # does not cover what the caller does in the context
            account = lasting.enter_context(scratch_folder("clock")) / "account"
            begin_account(account)
        is_harmful = is_of_musl(Path(os.fsdecode(spec.program)))
        yield (spec if is_harmful else preload_still_clock(spec, account)), account
