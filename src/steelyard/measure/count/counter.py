"""Counting: one launch under Valgrind, with everything fixed that moves counts."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from steelyard.measure.count.pins import padded
from steelyard.measure.count.profile import FunctionCost, Profile, read_profile
from steelyard.measure.count.valgrind import Valgrind
from steelyard.model.counting import CountedProcess, CountSettings
from steelyard.model.errors import MeasurementError
from steelyard.model.launches import LaunchSpec, Measured

_NO_INSTRUCTION = re.compile(r"(?:unhandled instruction bytes|[Uu]nrecognised instruction)[^\n]*")
_OWN_TROUBLE = re.compile(r"^(?:==\d+== )?valgrind: (.+)$", re.MULTILINE)


class Launching(Protocol):
    """Whatever can run a launch."""

    def launch(self, spec: LaunchSpec) -> Measured:
        """Run one launch to its end."""


@dataclass(frozen=True)
class Counted:
    """What one launch counted: the target and the programs that it executed, added up."""

    events: dict[str, int]
    functions: list[FunctionCost]
    processes: list[CountedProcess]
    """Each process, the target first; just one if it executed no other."""
    forked: int
    """Processes that forked and executed nothing; they are in no count."""
    measured: Measured
    seconds: float


@dataclass(frozen=True)
class Counter:
    """Counts launches, one after the other."""

    launcher: Launching
    valgrind: Valgrind
    settings: CountSettings

    def count(self, spec: LaunchSpec) -> Counted:
        """Run a launch under Valgrind; its environment has to be pinned already.

        Raises MeasurementError where Valgrind could not run it, or says nothing. A target that failed by itself is
        returned as such, in `measured`.
        """
        begun = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="steelyard-count-") as name:
            folder = Path(name)
            measured = self.launcher.launch(self._under_valgrind(padded(spec), folder))
            if measured.cancelled or measured.timed_out:
                return Counted({}, [], [], 0, measured, time.monotonic() - begun)
            logs = {_pid(path): path.read_text(errors="replace") for path in folder.glob("log.*")}
            _refuse_trouble(spec, measured, logs)
            profiles = {_pid(path): read_profile(path) for path in folder.glob("out.*")}
        return _added(spec, profiles, logs, measured, time.monotonic() - begun)

    def _under_valgrind(self, spec: LaunchSpec, folder: Path) -> LaunchSpec:
        place = str(folder).replace("%", "%%")
        outputs = [f"--{self.settings.tool}-out-file={place}/out.%p", f"--log-file={place}/log.%p"]
        flags = [*self.valgrind.flags(self.settings), *outputs, "--"]
        program = str(self.valgrind.program).encode()
        argv = (program, *(flag.encode() for flag in flags), *spec.argv)
        return replace(spec, program=program, argv=argv, fixed_layout=True)


def _pid(path: Path) -> int:
    return int(path.suffix[1:].partition(".")[0])


def _refuse_trouble(spec: LaunchSpec, measured: Measured, logs: dict[int, str]) -> None:
    """Tell what Valgrind could not do from what the target did."""
    said = "\n".join([*logs.values(), (measured.stderr or b"").decode(errors="replace")])
    name = spec.program.decode(errors="replace")
    if match := _NO_INSTRUCTION.search(said):
        raise MeasurementError(
            f"valgrind does not know an instruction of {name} ({match[0].strip()}): build it without -march=native, "
            "or for an older processor (-march=x86-64-v3), and leave AVX-512 out"
        )
    if match := _OWN_TROUBLE.search(said):
        hint = (
            "a setuid program cannot be counted: count a copy without that bit"
            if "setuid" in said
            else "check that the program is one for this machine, and that there is memory for it"
        )
        raise MeasurementError(f"valgrind cannot run {name}: {match[1].strip()}; {hint}")


def _added(
    spec: LaunchSpec, profiles: dict[int, Profile], logs: dict[int, str], measured: Measured, seconds: float
) -> Counted:
    if not profiles:
        raise MeasurementError(
            f"valgrind wrote no counts of {spec.program.decode(errors='replace')}: was it killed from outside, "
            "or is the folder for temporary files full?"
        )
    parents = {pid: profiles.get(_parent(logs.get(pid, ""))) for pid in profiles}
    # A process that forked and executed nothing has its parent's command, and its counts until then in its own.
    started = {
        pid: profile
        for pid, profile in profiles.items()
        if (parent := parents[pid]) is None or parent.command != profile.command
    }
    in_order = [started[pid] for pid in sorted(started, key=lambda pid: (parents[pid] is not None, pid))]
    return Counted(
        events=_sum(profile.events for profile in in_order),
        functions=_merged(in_order),
        processes=[CountedProcess(command=profile.command, events=profile.events) for profile in in_order],
        forked=len(profiles) - len(started),
        measured=measured,
        seconds=seconds,
    )


def _parent(log: str) -> int:
    match = re.search(r"Parent PID: (\d+)", log)
    return int(match[1]) if match else -1


def _sum(parts: Iterable[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for events in parts:
        for event, count in events.items():
            total[event] = total.get(event, 0) + count
    return total


def _merged(profiles: list[Profile]) -> list[FunctionCost]:
    """The functions of several processes, those of one name and object added up."""
    if len(profiles) == 1:
        return profiles[0].functions
    merged: dict[tuple[str, str], FunctionCost] = {}
    for profile in profiles:
        for function in profile.functions:
            place = (function.name, function.object)
            merged[place] = _joined(merged[place], function) if place in merged else function
    return list(merged.values())


def _joined(one: FunctionCost, other: FunctionCost) -> FunctionCost:
    both = one.inclusive is not None and other.inclusive is not None
    return replace(
        one,
        events=_sum((one.events, other.events)),
        inclusive=(one.inclusive or 0) + (other.inclusive or 0) if both else None,
    )
