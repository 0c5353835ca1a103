"""Counting: one launch under Valgrind, with everything fixed that would change counts."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from steelyard.measure.count.pins import is_program, padded
from steelyard.measure.count.profile import FunctionCost, Profile, Profiles
from steelyard.measure.count.valgrind import Valgrind
from steelyard.measure.instrument import Attachment
from steelyard.measure.scratch import room_for, scratch_folder
from steelyard.model.counting import CountedProcess, CountSettings
from steelyard.model.errors import MeasurementError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured

# From Valgrind's model of the processor, with the bytes; its core says little more than that the target gets SIGILL.
_UNKNOWN_INSTRUCTION = re.compile(r"unhandled instruction(?: bytes)?:?([^\n]*)")
# The x86 instruction that is defined as undefined (ud2): a target executes it on purpose.
_UD2 = "0xF 0xB "
_KILLED_BY_SIGILL = "default action of signal 4 (SIGILL)"
_INSTRUCTION_PLACE = re.compile(r"nrecognised instruction at address[^\n]*\n==\d+==\s+at 0x[0-9A-F]+: ([^\n]+)")
# The first byte of an AVX-512 instruction in a 64-bit program (Intel's manual, volume 2, "EVEX").
_EVEX = "0x62"
_AVX512 = "AVX-512"
_COMMAND = re.compile(r"^==\d+== Command: (.+)$", re.MULTILINE)
_PARENT = re.compile(r"Parent PID: (\d+)")
# Valgrind reads the symbols of its own tool when it starts a program, but not when a program forks.
_READ_TOOL_SYMBOLS = re.compile(r"Reading syms from \S*/(?:cachegrind|callgrind)-")
# Unknown instructions are recognised by the patterns above.
_VALGRIND_ERROR = re.compile(r"^(?:==\d+== )?valgrind: (?!Unrecognised instruction)(.+)$", re.MULTILINE)
# Valgrind gives up on debug information that it does not know, such as clang's DWARF 5 in 3.19, and names the file.
_UNREADABLE = re.compile(r'Valgrind: debuginfo reader: .+?^==\d+== Valgrind: +"([^\n]+)"$', re.DOTALL | re.MULTILINE)
# Valgrind warns of each program with rights of its own that the target tries to execute, and refuses to execute it.
_NOT_EXECUTED = re.compile(r"^==\d+== Warning: Can't execute setuid/setgid/setcap executable: ([^\n]+)$", re.MULTILINE)
_SETUID_REMEDY = "a setuid program cannot be counted: count a copy without that bit"
_REMEDIES = (
    ("setuid", _SETUID_REMEDY),
    ("bad interpreter", "the interpreter that its first line names is not there: install it, or correct that line"),
    ("No such file", "it was there before: if the command removes it, put it back with --prepare"),
    (
        "failed in UME",
        "a program that executes /proc/self/exe executes valgrind there: have it start itself by its path",
    ),
    ("Can't create client", "it needs room for files of its own: set TMPDIR to a folder that can be written"),
    ("for platform", "a 32-bit program needs a valgrind with support for those"),
)
_WHEN_LATE = (
    "under valgrind a program takes 5 to 200 times as long as alone; raise --timeout, unless it waits for something"
)
# Where a target's output goes first if it is meant for a file.
_OUTPUT_NAME = "output"
_ANY_REMEDY = "check that the program is one for this machine, and that there is memory for it"


@dataclass(frozen=True)
class Counted:
    """The counts of one launch: the target and the programs that it executed, added up."""

    events: dict[str, int]
    functions: list[FunctionCost]
    processes: list[CountedProcess]
    """Each process, the target first; only the target if it executed no other program."""
    forked: int
    """Processes that were forked and executed no program; no count includes them."""
    measured: Measured
    seconds: float
    lost: int = 0
    """Processes that were killed before their counts were written, including those that outlived the target."""
    replaced_by: str | None = None
    """The command that the target executed in its own place; no count includes what it did before."""
    went_around: str | None = None
    """An instruction that Valgrind does not know, where a process met one and went on."""
    not_executed: str | None = None
    """The program with rights of its own that Valgrind did not let the target execute, which went on without it."""


@dataclass(frozen=True)
class _UnderValgrind:
    """One launch while it is counted, and the folder for its output files."""

    asked: LaunchSpec
    padded: LaunchSpec
    spec: LaunchSpec
    folder: Path
    counter: Counter
    begun: float

    def without_instrument(self, measured: Measured) -> Measured:
        """Return what the target did by itself; raises MeasurementError if Valgrind failed or wrote no counts."""
        logs = self._logs()
        measured = _without_valgrind_names(measured, self.asked.program, self.padded.program, logs)
        if not (measured.cancelled or measured.timed_out):
            _copy_output(self.folder / _OUTPUT_NAME, self.padded)
            counts = self._counts()
            _raise_for_valgrind(self.padded, measured, logs, killed=len(logs.keys() - counts.keys()))
            if not counts:
                raise MeasurementError(
                    f"valgrind wrote no counts of {_name(self.padded)}: was it killed from outside or for want of "
                    "memory, or is the folder for temporary files full (TMPDIR names another)?"
                )
        return measured

    def read(self, measured: Measured) -> Counted:
        """Return the counts; raises MeasurementError if they cannot be read."""
        profiles = {
            pid: _combined_parts([*map(self.counter.profiles.read, paths)]) for pid, paths in self._counts().items()
        }
        logs, seconds = self._logs(), self.counter.clock() - self.begun
        programs = _program_profiles(profiles, logs)
        first = programs[0]
        replaced = not first.command.startswith(self.padded.program.decode(errors="backslashreplace"))
        instructions = (_unknown_instruction(logs.get(pid, "")) for pid in profiles)
        not_executed = filter(None, map(_NOT_EXECUTED.search, logs.values()))
        return Counted(
            events=_sum(profile.events for profile in programs),
            functions=_merged_functions(programs),
            processes=[CountedProcess(command=_without_padding(one.command), events=one.events) for one in programs],
            forked=len(profiles) - len(programs),
            measured=measured,
            seconds=seconds,
            lost=len((logs.keys() | _left_behind_pids(measured)) - profiles.keys()),
            replaced_by=_without_padding(first.command) if replaced else None,
            went_around=next(filter(None, instructions), None),
            not_executed=next((_without_padding(match[1]) for match in not_executed), None),
        )

    def _logs(self) -> dict[int, str]:
        return {_pid(path): path.read_text(errors="replace") for path in self.folder.glob("log.*")}

    def _counts(self) -> dict[int, list[Path]]:
        """Return the files of each process: one, unless the target itself asks Callgrind to write its counts so far."""
        files_by_pid: dict[int, list[Path]] = {}
        for path in sorted(self.folder.glob("out.*")):
            files_by_pid.setdefault(_pid(path), []).append(path)
        return files_by_pid


@dataclass(frozen=True)
class Counter:
    """Counts launches by Valgrind, several at once if need be; their environment has to be pinned already."""

    valgrind: Valgrind
    settings: CountSettings
    clock: Callable[[], float] = time.monotonic
    profiles: Profiles = field(default_factory=Profiles)
    when_late = _WHEN_LATE

    @contextmanager
    def attached(self, spec: LaunchSpec) -> Iterator[Attachment[Counted]]:
        """Put the launch under Valgrind; raises MeasurementError if Valgrind could not run it."""
        begun = self.clock()
        _require_program(spec)
        with room_for("counts need"), scratch_folder("count") as folder:
            long = padded(spec)
            yield _UnderValgrind(spec, long, self._under_valgrind(long, folder), folder, self, begun)

    def _under_valgrind(self, spec: LaunchSpec, folder: Path) -> LaunchSpec:
        place = str(folder).replace("%", "%%")
        outputs = [f"--{self.settings.tool}-out-file={place}/out.%p", f"--log-file={place}/log.%p"]
        flags = [*self.valgrind.flags(self.settings), *outputs, "--"]
        program = str(self.valgrind.program).encode()
        argv = (program, *(flag.encode() for flag in flags), *spec.argv)
        return replace(spec, program=program, argv=argv, stdout=_own_output(spec, folder), fixed_layout=True)


def _require_program(spec: LaunchSpec) -> None:
    """Refuse a file that the kernel would not execute: Valgrind takes it for a shell script and counts the shell."""
    program = os.path.join(spec.cwd or b"", spec.program)  # noqa: PTH118 - bytes
    if not is_program(Path(os.fsdecode(program))):
        raise MeasurementError(
            f"cannot execute {_name(spec)}: Exec format error; if it is a script, its first line has to name the "
            "interpreter, as #!/bin/sh does; any other program has to be built for this machine"
        )


def _own_output(spec: LaunchSpec, folder: Path) -> bytes | int | None:
    """Return a launch's output, a file replaced by one of its own: several may write at once, each from its start."""
    if isinstance(spec.stdout, bytes) and not Path(os.fsdecode(spec.stdout)).is_char_device():
        return os.fsencode(folder / _OUTPUT_NAME)
    return spec.stdout


def _copy_output(output: Path, spec: LaunchSpec) -> None:
    """Copy the output of a launch to the file it was meant for, which then holds one launch's output, not a mixture."""
    if not output.exists() or not isinstance(spec.stdout, bytes):
        return
    destination = os.fsdecode(spec.stdout)
    try:
        with output.open("rb") as source, open(destination, "ab") as target:  # noqa: PTH123 - bytes of any kind
            fcntl.flock(target, fcntl.LOCK_EX)
            target.truncate(0)
            shutil.copyfileobj(source, target)
    except OSError as error:
        raise MeasurementError(
            f"cannot write {destination}: {error.strerror or error}; give another --output"
        ) from error


def _without_valgrind_names(measured: Measured, program: bytes, path: bytes, logs: dict[int, str]) -> Measured:
    """Return a launch's stderr and its left-behind processes with the names that the user knows.

    In stderr the padded `path` becomes `program` again; processes get the names of what Valgrind executed for them.
    """
    stderr = measured.stderr
    if stderr is not None:
        stderr = stderr.replace(path, program)
        # Only the end of the output is kept, which may begin within the slashes of the padding.
        stderr = re.sub(rb"\A/{2,}", b"/", stderr)
    left_behind = tuple(_left_behind_name(process, program, logs) for process in measured.left_behind)
    return replace(measured, stderr=stderr, left_behind=left_behind)


def _left_behind_name(process: str, program: bytes, logs: dict[int, str]) -> str:
    """Return "PID name" with the name from the process's log; one killed right after its fork may not have a log."""
    pid = process.partition(" ")[0]
    log = logs.get(int(pid), "") if pid.isdecimal() else ""
    command = _COMMAND.search(log)
    words = _without_padding(command[1]).split() if command else []
    path = words[0] if words else program.decode(errors="replace")
    return f"{pid} {path.rpartition('/')[2]}"


def _pid(path: Path) -> int:
    """Return the PID of `out.PID`, or of counts written while it ran, `out.PID.1`."""
    return int(re.findall(r"\.(\d+)", path.name)[0])


def _combined_parts(parts: list[Profile]) -> Profile:
    """Return the profile of one process, whose counts may have been written in successive parts."""
    if len(parts) == 1:
        return parts[0]
    return replace(parts[0], events=_sum(part.events for part in parts), functions=_merged_functions(parts))


def _raise_for_valgrind(spec: LaunchSpec, measured: Measured, logs: dict[int, str], killed: int) -> None:
    """Raise MeasurementError for what Valgrind could not do, as distinct from what the target did or merely printed."""
    for log in logs.values():
        if _KILLED_BY_SIGILL in log and (instruction := _unknown_instruction(log)):
            command = _COMMAND.search(log)
            extra_flag = ", or add -mno-avx512f" if instruction.startswith(_AVX512) else ""
            raise MeasurementError(
                f"valgrind does not know an instruction of {_without_padding(command[1]) if command else _name(spec)} "
                f"({instruction}): build it without -march=native, as with -march=x86-64-v3{extra_flag}"
            )
        if killed and (unreadable := _UNREADABLE.search(log)):
            raise MeasurementError(
                f"valgrind cannot read the debug information of {_without_padding(unreadable[1])}: build it with "
                "-gdwarf-4, count a copy without (strip -g), or install a newer valgrind"
            )
    output = "\n".join([*logs.values(), (measured.stderr or b"").decode(errors="replace")])
    if (measured.has_failed() or killed) and (errors := _VALGRIND_ERROR.findall(output)):
        remedy = next((remedy for sign, remedy in _REMEDIES if sign in output), _ANY_REMEDY)
        # A line that ends in a colon only introduces the next.
        error = next((line for line in errors if not line.endswith(":")), errors[0])
        raise MeasurementError(f"valgrind cannot run {_name(spec)}: {_without_padding(error).rstrip('.')}; {remedy}")
    if measured.has_failed() and (program := _NOT_EXECUTED.search(output)):
        raise MeasurementError(
            f"valgrind cannot run {_without_padding(program[1])}, which the target executes: {_SETUID_REMEDY}"
        )


def _unknown_instruction(log: str) -> str | None:
    """Return what the log says of an instruction that Valgrind does not know: its bytes and its place."""
    match = _UNKNOWN_INSTRUCTION.search(log)
    if match is None or match[1].strip(" :").startswith(_UD2):
        return None
    place = _INSTRUCTION_PLACE.search(log)
    code = match[1].strip(" :.")
    prefix = f"{_AVX512}, " if code.startswith(_EVEX) else ""
    return f"{prefix}{code}{f', in {place[1]}' if place else ''}"


def _name(spec: LaunchSpec) -> str:
    return _without_padding(spec.program.decode(errors="replace"))


def _without_padding(text: str) -> str:
    """Return a path or a command without the slashes that padded its length."""
    return re.sub(r"(?<!\S)/{2,}", "/", text.strip())


def _left_behind_pids(measured: Measured) -> set[int]:
    """Return the PIDs of processes that outlived the target; they may not have a log yet."""
    pids = (process.partition(" ")[0] for process in measured.left_behind)
    return {int(pid) for pid in pids if pid.isdecimal()}


def _program_profiles(profiles: dict[int, Profile], logs: dict[int, str]) -> list[Profile]:
    """Return the processes that executed a program of their own, the target first.

    One that was forked and executed nothing includes its parent's counts up to the fork, so it cannot be added.
    """
    pids = sorted(profiles)
    program_pids = [pid for pid in pids if _READ_TOOL_SYMBOLS.search(logs.get(pid, ""))] or pids
    parents = {pid: _parent(logs.get(pid, "")) for pid in program_pids}
    # PIDs may have wrapped around meanwhile, but the target's parent is never among the counted processes.
    program_pids.sort(key=lambda pid: parents[pid] in profiles)
    return [profiles[pid] for pid in program_pids]


def _parent(log: str) -> int:
    match = _PARENT.search(log)
    return int(match[1]) if match else -1


def _sum(parts: Iterable[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for events in parts:
        for event, count in events.items():
            total[event] = total.get(event, 0) + count
    return total


def _merged_functions(profiles: list[Profile]) -> list[FunctionCost]:
    """Return the functions of several processes, adding up those of the same name and object."""
    if len(profiles) == 1:
        return profiles[0].functions
    merged: dict[tuple[str, str], FunctionCost] = {}
    for profile in profiles:
        for function in profile.functions:
            key = (function.name, function.object)
            merged[key] = _merged_function(merged[key], function) if key in merged else function
    return list(merged.values())


def _merged_function(one: FunctionCost, other: FunctionCost) -> FunctionCost:
    has_inclusive = one.inclusive is not None and other.inclusive is not None
    return replace(
        one,
        events=_sum((one.events, other.events)),
        inclusive=(one.inclusive or 0) + (other.inclusive or 0) if has_inclusive else None,
    )
