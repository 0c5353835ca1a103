"""Fork a process for each benchmark once all are loaded, beside the processes of the other side.

The plugin for pytest-benchmark loads this too, in a Python that may be 3.9, so nothing of ours is imported here.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from resource import struct_rusage
    from typing import Any, NoReturn

# The field of /proc/self/stat, after the name, with the processor that the process ran on last.
_PROCESSOR = 36

# Configures pyarrow's allocator, which starts a thread of its own.
_PYARROW = "JE_ARROW_MALLOC_CONF"

_MOST_PAUSES = 300
_sleep = time.sleep  # as it is now, as a test may replace it


class Beside:
    """The other side's launch, at the other end of the socket `fd`; if it ends, this one goes on alone."""

    def __init__(self, fd: int) -> None:
        import socket

        self._fd, self._socket, self._pair = fd, socket.socket, socket.socketpair
        self._send, self._receive = socket.send_fds, socket.recv_fds

    def meet(self, turn: str) -> tuple[int, int | None]:
        """Return a socket to the other side's next process, -1 if there is none, and a processor for both processes.

        The side whose turn is 0 makes the socket.
        """
        other = self._socket(fileno=self._fd)
        try:
            if turn == "0":
                ours, theirs = self._pair()
                with theirs:
                    processor = _latest_processor()
                    self._send(other, [str(processor).encode()], [theirs.fileno()])
                return ours.detach(), processor
            said, fds, _, _ = self._receive(other, 16, 1)
            return fds[0], int(said)
        except (OSError, IndexError, ValueError):
            return -1, None
        finally:
            other.detach()  # a socket that nobody closes is a warning, which some tests make an error


def scheduled(path: str) -> tuple[int, int, int] | None:
    """Return ns on a processor, ns waiting for one, and how often put on one; None where the kernel does not tell."""
    try:
        with open(path, "rb") as file:
            worked, waited, timeslices = map(int, file.read().split()[:3])
    except (OSError, ValueError):
        return None
    return (worked, waited, timeslices) if timeslices else None


def _latest_processor() -> int:
    with open("/proc/self/stat", "rb") as file:
        return int(file.read().rpartition(b")")[2].split()[_PROCESSOR])


def threads() -> int:
    """Return how many threads run here: a forked process has only one, and what the others hold stays held there."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 1


def threads_that_run(loaded: str) -> str:
    """Return why no process is forked once something is `loaded`, such as "the tests are"; empty if one thread runs."""
    running = threads()
    if running <= 1:
        return ""
    said = f"{running} threads run when {loaded} loaded"
    # A library's threads run as soon as it is imported, whatever it is used for.
    if "numpy" in sys.modules and os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        said += "; if numpy's OpenBLAS began them, --env OPENBLAS_NUM_THREADS=1 has it begin none"
    if "pyarrow" in sys.modules and "background_thread:false" not in os.environ.get(_PYARROW, ""):
        said += f"; if pyarrow's allocator (of pandas) did, --env {_PYARROW}=background_thread:false has it begin none"
    return said


def let_threads_rest() -> None:
    """Wait until none of the other threads here is busy, for some 0.3 s at most.

    The threads of numpy's OpenBLAS spin for 20 to 40 ms before they sleep, on a busy machine several times as long,
    which is not part of what is measured.
    """
    for _ in range(_MOST_PAUSES):
        if threads() <= 1 or not _others_are_busy():
            return
        _sleep(0.001)


def _others_are_busy() -> bool:
    own = os.path.basename(os.readlink("/proc/thread-self"))
    return any(_state(thread) == "R" for thread in os.listdir("/proc/self/task") if thread != own)


def _state(thread: str) -> str:
    """Return the kernel's letter for a thread's state; empty if it has ended."""
    try:
        with open(f"/proc/self/task/{thread}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0].decode()
    except OSError:
        return ""


def forked(run: Callable[[], bool], to: int, processor: int | None, ours: int) -> dict[str, Any]:
    """Run something in a forked process; return its numbers, and what it wrote to the descriptor `to`.

    `ours` is its socket to the other side's process, which ends with it. It runs on `processor`, if that is given.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    written = os.memfd_create("results")
    begun = time.monotonic_ns()
    child = os.fork()
    if child == 0:
        os.dup2(written, to, inheritable=False)
        if processor is not None:  # shared by both sides' processes, as processors differ in speed
            with suppress(OSError):
                os.sched_setaffinity(0, {processor})
        _end_with(run)
    spawned = time.monotonic_ns()
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    ended = time.monotonic_ns()
    if ours >= 0:
        _hang_up(ours)
    told = scheduled(f"/proc/{child}/schedstat")  # before wait4 removes it
    _, status, used = os.wait4(child, 0)
    times = {"start_ns": begun, "wall_ns": ended - begun, "spawn_ns": spawned - begun}
    with os.fdopen(written, "rb") as file:
        file.seek(0)
        results = file.read().decode(errors="replace")
    return {"numbers": {**times, **_numbers(told, status, used)}, "results": results}


def _hang_up(fd: int) -> None:
    """End a connection, also if a process that outlives the benchmark has inherited it."""
    import socket

    with socket.socket(fileno=fd) as ours, suppress(OSError):
        ours.shutdown(socket.SHUT_RDWR)


def _numbers(told: tuple[int, int, int] | None, status: int, used: struct_rusage) -> dict[str, int | None]:
    """Return what the scheduler and the kernel say of a process, by the names that records have for it."""
    cpu, delay, timeslices = told or (None, None, None)
    user, system = (round(1e9 * seconds) for seconds in (used.ru_utime, used.ru_stime))
    return {
        "cpu_ns": cpu,
        "delay_ns": delay,
        "timeslices": timeslices,
        "user_ns": user,
        "sys_ns": system,
        "max_rss_bytes": 1024 * used.ru_maxrss,
        "minor_faults": used.ru_minflt,
        "major_faults": used.ru_majflt,
        "voluntary_switches": used.ru_nvcsw,
        "involuntary_switches": used.ru_nivcsw,
        "written_blocks": used.ru_oublock,
        "others_ns": None if cpu is None else max(0, user + system - cpu),
        "exit_code": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
    }


def _end_with(run: Callable[[], bool]) -> NoReturn:
    """Run something and end this process as Python ends one, with the exit handlers that it has set itself.

    Those of the process that it was forked from are left to that one.
    """
    atexit._clear()
    status = 1
    try:
        status = 0 if run() else 1
    finally:
        with suppress(BaseException):
            if "threading" in sys.modules:  # first, as a handler may wait for what ends with a thread, as pools do
                sys.modules["threading"]._shutdown()
        with suppress(BaseException):  # as those that remove the folders of pytest's `tmp_path`
            atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):  # else what the benchmark printed would be lost with the process
            with suppress(Exception):
                stream.flush()
        os._exit(status)
