"""Run tools that are not measured, such as git and build commands, to their end.

Each has a process group of its own, which is killed as a whole when its time is up or when the user interrupts.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import current_thread, main_thread
from types import FrameType
from typing import IO, TYPE_CHECKING

from steelyard.measure.launch import REMEDIES
from steelyard.model.errors import InterruptedBeforeStart, MeasurementError

if TYPE_CHECKING:
    import psutil

_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PR_SET_CHILD_SUBREAPER = 36
# Runs its arguments as a command, beside a guard that is no child of it. The guard kills the group once our end of the
# pipe is closed, which also happens when we are killed.
_GUARDED = 'exec 3<&0 </dev/null; ( (cat >/dev/null; kill -9 0) <&3 & ); exec 3<&-; exec "$@"'
# Seconds between two checks for an interrupt, and seconds to wait for killed processes to end.
_POLL_S, _LONGEST_KILL_S = 0.05, 5.0


@dataclass(frozen=True)
class Command:
    """A command to run without a shell, in a folder, with exactly this environment."""

    argv: Sequence[str]
    folder: Path
    environment: Mapping[str, str]
    log: Path | None = None
    """The file that stdout and stderr are appended to; None returns them in `Ended`."""
    timeout_s: float | None = None


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it printed unless that went to its log."""

    status: int | None
    """Negative for a signal; None if it was killed because its time was up or another command had failed."""
    out: str = ""
    err: str = ""
    is_late: bool = False
    """Whether its time was up."""


def run(command: Command) -> Ended:
    """Run one command to its end; raises as `run_all` does."""
    return run_all([command])[0]


def run_all(commands: Sequence[Command], *, is_tidied: bool = False, are_independent: bool = False) -> list[Ended]:
    """Run commands side by side until all have ended; the first that fails ends the others.

    If they `are_independent`, only one whose time is up does. None of their process groups is left at the end. With
    `is_tidied` no other process that they started is left either, not even a daemon, and no group outlives this
    process, however that ends.
    Raises InterruptedBeforeStart if the user interrupts, MeasurementError if a command cannot be started.
    """
    has_to_end = _Running.is_late if are_independent else _Running.has_failed
    with ExitStack() as leaving:
        is_interrupted = leaving.enter_context(_interruptible())
        if is_tidied:
            leaving.enter_context(_killing_orphans())
        running: list[_Running] = []
        for command in commands:  # those before one that does not start have to be killed
            running.append(_Running(command, leaving, is_guarded=is_tidied))
            leaving.callback(running[-1].kill)
        while [one for one in running if not one.has_ended()]:  # a list, so that every one is asked
            if is_interrupted() or any(map(has_to_end, running)):
                break
        if is_interrupted():  # perhaps just as the last one ended
            raise InterruptedBeforeStart
        return [one.ended() for one in running]


class _Running:
    """A command while it runs."""

    def __init__(self, command: Command, leaving: ExitStack, *, is_guarded: bool) -> None:
        self._begun, self._timeout_s = time.monotonic(), command.timeout_s
        self._out, self._err = leaving.enter_context(_scratch_file()), leaving.enter_context(_scratch_file())
        self._is_late = False
        try:
            log = None if command.log is None else leaving.enter_context(command.log.open("ab"))
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _GUARDED, "sh", *command.argv] if is_guarded else command.argv,
                cwd=command.folder,
                env=dict(command.environment),
                stdin=_pipe_to_self(leaving) if is_guarded else subprocess.DEVNULL,
                stdout=log or self._out,
                stderr=log or self._err,
                start_new_session=True,
            )
        except OSError as error:
            if error.filename == command.folder:
                what, usual_remedy = f" in {command.folder}", "check that this folder is there and can be entered"
            else:
                what, usual_remedy = "", "check that it is there and can be executed"
            remedy = REMEDIES.get(error.errno or 0, usual_remedy)
            raise MeasurementError(f"{command.argv[0]} does not start{what} ({error.strerror}): {remedy}") from error

    def has_ended(self) -> bool:
        """Wait a moment for it; return whether it has ended or its time is up."""
        if self._process.returncode is None:
            _wait_a_moment(self._process)
        self._is_late = self._is_late or (
            self._process.returncode is None
            and self._timeout_s is not None
            and time.monotonic() - self._begun > self._timeout_s
        )
        return self._process.returncode is not None or self._is_late

    def is_late(self) -> bool:
        """Return whether its time was up."""
        return self._is_late

    def has_failed(self) -> bool:
        """Return whether it ended with an error or its time is up."""
        return self._is_late or self._process.returncode not in (None, 0)

    def kill(self) -> None:
        """End whatever is left of it and of its group."""
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_LONGEST_KILL_S)

    def ended(self) -> Ended:
        """Return how it ended, and what it printed."""
        out, err = map(_read, (self._out, self._err))
        return Ended(None if self._is_late else self._process.returncode, out, err, self._is_late)


def _wait_a_moment(process: subprocess.Popen[bytes]) -> None:
    """Wait for its end, for `_POLL_S` at most: Popen's own wait looks again after ms, which is as long as git takes."""
    try:
        handle = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # no Linux, or an old one
        with suppress(subprocess.TimeoutExpired):
            process.wait(_POLL_S)
        return
    try:
        end = select.poll()
        end.register(handle)
        end.poll(_POLL_S * 1000)
    finally:
        os.close(handle)
    process.poll()


def _pipe_to_self(leaving: ExitStack) -> int:
    """Return the reading end of a pipe that nobody writes to and whose writing end only this process has."""
    reading, writing = os.pipe()
    for end in (reading, writing):
        leaving.callback(os.close, end)
    return reading


def _scratch_file() -> IO[bytes]:
    return tempfile.TemporaryFile()


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return os.fsdecode(file.read())


@contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """Note the signals that would end this process; yield whether one came, and restore the handlers afterwards.

    On any thread but the main one Python allows no handlers, so nothing is noted.
    """
    signals_seen: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature is signal's
        signals_seen.append(number)

    handlers_before = {}
    for number in _ENDING_SIGNALS if current_thread() is main_thread() else ():
        if signal.getsignal(number) not in (signal.SIG_IGN, None):  # None: not set by Python, so not restorable
            handlers_before[number] = signal.signal(number, note)
    try:
        yield lambda: bool(signals_seen)
    finally:
        for number, handler in handlers_before.items():
            signal.signal(number, handler)


@contextmanager
def _killing_orphans() -> Iterator[None]:
    """Kill at the end whatever was started meanwhile and still runs, including daemons that have left their group.

    These become our children, on Linux only. Children in our own session are spared: another thread of this program
    started them, as commands that run here get a session of their own.
    """
    import psutil

    ourselves = psutil.Process()
    pids_before = {child.pid for child in ourselves.children()}
    _adopt_orphans(1)
    try:
        yield
    finally:
        deadline = time.monotonic() + _LONGEST_KILL_S
        while time.monotonic() < deadline:
            orphans = [
                child
                for child in ourselves.children()
                if child.pid not in pids_before and not _is_in_own_session(child)
            ]
            if not orphans:
                break
            for child in orphans:
                with suppress(psutil.Error):
                    for grandchild in child.children(recursive=True):
                        with suppress(psutil.Error):
                            grandchild.kill()
                    child.kill()
            for child in orphans:
                with suppress(OSError):
                    os.waitpid(child.pid, os.WNOHANG)
            time.sleep(0.001)
        _adopt_orphans(0)


def _is_in_own_session(process: psutil.Process) -> bool:
    try:
        return os.getsid(process.pid) == os.getsid(0)
    except OSError:  # it has ended
        return True


def _adopt_orphans(wanted: int) -> None:
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, wanted, 0, 0, 0)
