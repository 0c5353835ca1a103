"""Timing: one fresh process, measured from outside by the native launch server.

The server (`native/launch`) is a process of its own because a child that is spawned from a grown parent reports that
parent's memory as its own `max_rss` (a 300 MiB parent makes /bin/true a 320 MB program), and because a server that
sees its driver die can take the running target with it.
"""

from __future__ import annotations

import errno
import json
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any, Self

from steelyard.model.errors import ALLOW_CALLS, LaunchError, MeasurementError, SteelyardError, UsageError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import Frame
from steelyard.native import FOLDER

SERVER = FOLDER / "steelyard-launch"

_POLL_MS = 500
# The server's guard wakes a stopped server at once, unless the guard is stopped too.
_MOST_POLLS_STOPPED = 3_000 // _POLL_MS
# Beyond the time limit of its launches: the server then has to kill them and whatever they leave behind.
_MOST_POLLS_LATE = 30_000 // _POLL_MS
# What slows a processor comes and goes within a few ms: the turns of two launches that share one are short against
# that, and long against the few us of a switch. The kernel's ticks (every 1, 3.3, 4 or 10 ms) hit both equally often,
# as no small number of ticks spans a whole number of pairs of turns. With turns of 0.2 or 0.4 ms, ticks of 4 ms would
# all hit the same one.
TURN_NS = 309_000
# A program that runs right behind another of its kind gains by what that one left in caches and branch predictors, and
# catches up with it, which would hide part of their difference. A few ms later little of that is left (docs/tandem.md).
LEAD_NS = 5_000_000
# In characters. Bounded because no target is reported to have used less memory than the server has.
_LONGEST_SERIES_CHARACTERS = 128 << 10
_CANCEL = b'{"cancel":true}\n'
_JOURNAL = b'{"journal":true}\n'
# By the error number with which starting a program failed.
REMEDIES = {
    errno.ENOSYS: f"where a filter refuses a system call, {ALLOW_CALLS}",
    errno.ENOEXEC: "if it is a script, its first line has to name the interpreter, as #!/bin/sh does; "
    "any other program has to be built for this machine",
    errno.EMFILE: "allow more open files (ulimit -n)",
    errno.EAGAIN: "allow more processes (ulimit -u, pids.max of a container)",
    errno.ENOMEM: "the system has no memory left",
    errno.E2BIG: "its arguments and its environment are more than the system takes",
}
# The machine has run out of something; the request itself is not at fault.
_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM})


class ServerLostError(MeasurementError):
    """The launch server has ended or does not answer; a new one may work."""


class Launcher:
    """A running launch server; `launch` may be called any number of times, but not by several threads at once."""

    def __init__(self, server: Path = SERVER) -> None:
        """Start the server; raises MeasurementError where it cannot run here."""
        own_end, server_end = socket.socketpair()
        try:
            with server_end:
                self._process = subprocess.Popen(
                    [server], stdin=server_end.fileno(), stdout=subprocess.DEVNULL, start_new_session=True
                )
        except OSError as error:
            own_end.close()
            if error.filename == os.devnull:
                raise MeasurementError(
                    f"{os.devnull} cannot be opened ({error.strerror}): have a /dev mounted"
                ) from error
            remedy = REMEDIES.get(error.errno or 0, "reinstall steelyard")
            raise MeasurementError(f"the launch server {server} does not start ({error.strerror}); {remedy}") from error
        self._socket = own_end
        self._arrivals = select.poll()
        self._arrivals.register(own_end, select.POLLIN)
        self._replies = own_end.makefile("rb")
        self._in_flight = self._cancel_wanted = False
        self.waiting: Callable[[float], None] | None = None
        """Is called as the `waiting` of `launch` is, for every request."""
        self.server_pid = 0
        try:
            hello = self._receive()
        except ServerLostError as error:
            self.close()
            raise MeasurementError(
                "the launch server does not start, for the reason above: where no more files can be opened, "
                "allow more open files (ulimit -n); where no more processes can be started, "
                "allow more (ulimit -u, pids.max of a container); where a system call is refused, "
                f"{ALLOW_CALLS}"
            ) from error
        except BaseException:
            self.close()
            raise
        self.server_pid = int(hello.get("pid", 0))
        self.version = str(hello.get("version"))
        self.missing_counters: Mapping[str, int] = hello.get("missing_counters", {})
        self.offers: dict[str, bool] = {name: value for name, value in hello.items() if isinstance(value, bool)}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the server and whatever it still runs."""
        self._replies.close()
        self._socket.close()
        with suppress(OSError):  # a stopped server would not see its socket close
            os.killpg(self._process.pid, signal.SIGCONT)
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def launch(self, spec: LaunchSpec, waiting: Callable[[float], None] | None = None) -> Measured:
        """Run one launch to its end and return what was measured; `waiting` is called now and then with the s so far.

        Raises UsageError for a launch that cannot be set up (input, directory, processor) and MeasurementError for a
        program that cannot be executed. A non-zero exit, a signal or a time-out is returned, not raised.
        """
        try:
            measured = self._launch_once(spec, spec.timeout_ns, waiting)
            for _ in range(1, spec.repeat):
                if measured.cancelled or measured.timed_out or measured.stopped:
                    break
                # The server drops a cancel for a process that has just ended, but it was meant for the whole launch.
                if self._cancel_wanted:
                    return replace(measured, cancelled=True)
                measured = self._run_another(measured, spec)
            return measured
        finally:
            self._cancel_wanted = False

    def _run_another(self, measured: Measured, spec: LaunchSpec) -> Measured:
        """Add one more process, within what the earlier ones have left of the time limit."""
        if spec.timeout_ns is None:
            return measured.followed_by(self._launch_once(spec, None))
        left_ns = spec.timeout_ns - (time.monotonic_ns() - measured.start_ns)
        if left_ns <= 0:
            return replace(measured, timed_out=True)
        return measured.followed_by(self._launch_once(spec, left_ns))

    def keep_rows_in(self, journal: int) -> None:
        """Give the server the descriptor of the journal, into which it writes the rows of `launch_series`."""
        try:
            socket.send_fds(self._socket, [_JOURNAL], [journal])
        except OSError as error:
            raise _server_ended() from error

    def launch_series(
        self, specs: Sequence[LaunchSpec], frames: Sequence[Frame | None]
    ) -> list[Measured | UsageError | MeasurementError]:
        """Run launches, none of which repeats, one after the other, without waking this process in between.

        The server writes the numbers of all but the last into the journal, each within its frame, before it starts the
        next. A launch without a frame is neither in the journal nor in the returned list. The list ends early after a
        launch that did not end well, could not be written, or could not be started: that one is not in the journal, and
        none after it was begun. The list is empty if the launches are too many for one request, or if one without a
        frame did not end well.
        """
        request = _spec_fields(specs[-1], specs[-1].timeout_ns)
        for spec, frame in zip(specs[-2::-1], frames[::-1], strict=True):
            frame_json = "null" if frame is None else json.dumps(frame._asdict())
            request = f'{_spec_fields(spec, spec.timeout_ns)},"then":{{"frame":{frame_json},"request":{{{request}}}}}'
        if len(request) > _LONGEST_SERIES_CHARACTERS:
            return []
        try:
            return _results(self._ask(request, _sum_or_none(spec.timeout_ns for spec in specs)))
        finally:
            self._cancel_wanted = False

    def launch_together(
        self,
        first: LaunchSpec,
        second: LaunchSpec,
        *,
        second_begins: bool,
        followed: bool = False,
        turn_ns: int | None = TURN_NS,
        lead_ns: int = LEAD_NS,
    ) -> tuple[Measured, Measured]:
        """Run two launches, neither of which repeats, at the same time on one processor, until both have ended.

        The process of `first` is created first. Once both are ready, `second_begins` says which one is let go first; it
        has the processor to itself for `lead_ns`, except in `lockstep`. The processor is that of `cpus`, the same for
        both, or else the server's choice; in lockstep there may be several. It changes hands every `turn_ns` where the
        kernel can do that, or with None when the scheduler sees fit; in lockstep at the end of each sample. Each launch
        may take as long as the limits of both together, as it has half a processor. Its `wall_ns` includes the wait for
        its partner, which `delay_ns` tells. With `followed`, and where it can be told, `lost_ns` tells what all threads
        and processes of the launch as a whole lost by waiting. Raises as `launch` does; nothing of either is left then.
        """
        longest_ns = _sum_or_none((first.timeout_ns, second.timeout_ns))
        requests = [f"{{{_spec_fields(spec, longest_ns)}}}" for spec in (first, second)]
        pair = f'"first":{requests[0]},"second":{requests[1]},"second_begins":{json.dumps(second_begins)}'
        lockstep = first.lockstep and second.lockstep
        turns, lead = (None, 0) if lockstep else (turn_ns, lead_ns)
        pair += f',"lockstep":{json.dumps(lockstep)},"turn_ns":{json.dumps(turns)},"lead_ns":{lead}'
        pair += f',"followed":{json.dumps(followed)}'
        try:
            reply = self._ask(f'"together":{{{pair}}}', longest_ns)
        finally:
            self._cancel_wanted = False
        results = _results(reply)
        for result in results:
            if isinstance(result, SteelyardError):
                raise result
        one, other = (result for result in results if isinstance(result, Measured))
        return one, other

    def _launch_once(
        self, spec: LaunchSpec, timeout_ns: int | None, waiting: Callable[[float], None] | None = None
    ) -> Measured:
        result = _result(self._ask(_spec_fields(spec, timeout_ns), timeout_ns, waiting))
        if isinstance(result, SteelyardError):
            raise result
        return result

    def _ask(self, fields: str, longest_ns: int | None, waiting: Callable[[float], None] | None = None) -> Any:
        """Return the server's reply to a request, whose launches may take up to `longest_ns`."""
        try:
            self._send(f"{{{fields}}}\n".encode())
            return self._receive(longest_ns, waiting)
        except BaseException:
            # A late reply would be taken for that to the next request, so this server takes no more requests.
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            raise
        finally:
            self._in_flight = False

    def forget_cancel(self) -> None:
        """Drop an earlier cancel, which was not meant for the launches to come."""
        self._cancel_wanted = False

    def cancel(self) -> None:
        """Kill the launch in flight, or the next one if none is; for a signal handler while `launch` runs."""
        self._cancel_wanted = True
        if self._in_flight:
            self._send_cancel()

    def _send(self, line: bytes) -> None:
        try:
            self._socket.sendall(line)
        except OSError as error:
            raise _server_ended() from error
        self._in_flight = True
        # Until here a cancel was only noted: sent at once, it could have ended up inside the request's line.
        if self._cancel_wanted:
            self._send_cancel()

    def _send_cancel(self) -> None:
        with suppress(OSError):  # `_receive` reports a server that has ended
            self._socket.sendall(_CANCEL)

    def _receive(self, longest_ns: int | None = None, waiting: Callable[[float], None] | None = None) -> Any:
        late = stopped = 0
        # A signal that arrives just before a blocking call is handled only when that returns, so it does now and then.
        while not self._arrivals.poll(_POLL_MS):
            # Polls are counted, not seconds: this process may have been stopped as well.
            late += 1
            for tell in filter(None, (self.waiting, waiting)):
                tell(late * _POLL_MS / 1000)
            stopped = stopped + 1 if _is_stopped(self.server_pid) else 0
            if stopped > _MOST_POLLS_STOPPED:
                raise ServerLostError(
                    f"the launch server (process {self.server_pid}) was stopped by a signal and does not go on: "
                    "find out what stops it, and start again"
                )
            if longest_ns is not None and (late - _MOST_POLLS_LATE) * _POLL_MS * 1_000_000 > longest_ns:
                raise ServerLostError(
                    f"the launch server (process {self.server_pid}) does not answer: is this machine out of memory, "
                    "or a command waiting for a disk that is gone?"
                )
        try:
            # ValueError: an empty line, as the server has ended, or the answer of something that is no launch server.
            return json.loads(self._replies.readline().decode())
        except (OSError, ValueError) as error:
            raise _server_ended() from error


def _is_stopped(pid: int) -> bool:
    """Return whether a signal or a debugger has stopped a process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    # The state follows the name, which is in parentheses and may contain some.
    return stat.rpartition(b") ")[2][:1] in (b"T", b"t")


def _sum_or_none(limits: Iterable[int | None]) -> int | None:
    all_limits = [*limits]
    return None if None in all_limits else sum(limit for limit in all_limits if limit is not None)


def _server_ended() -> MeasurementError:
    return ServerLostError(
        "the launch server ended unexpectedly: does a command kill its parent, or did the system run out of memory?"
    )


def _output(target: bytes | int | None) -> str:
    if isinstance(target, int):
        return f'{{"tail":{target}}}'
    return "null" if target is None else f'{{"file":{_text(target)}}}'


# Apart from what is drawn for a pair, every launch has the same texts. The cache is small, as drawn ones may be long.
@lru_cache(maxsize=256)
def _text(data: bytes | None) -> str:
    """Return bytes as JSON, one character a byte: JSON has no bytes, and paths and arguments need not be UTF-8."""
    return json.dumps(None if data is None else data.decode("latin-1"))


# The fields that are the same in every launch of a command, and how each is written.
_UNDRAWN_WRITERS: dict[str, Callable[[Any], str]] = {
    "program": _text,
    "argv": lambda words: f"[{','.join(map(_text, words))}]",
    "cwd": _text,
    "stdin": _text,
    "stdout": _output,
    "stderr": _output,
    "cpus": json.dumps,
    "fixed_layout": json.dumps,
    "counters": json.dumps,
    "results": json.dumps,
    "leaves_running": json.dumps,
}
_undrawn_values = attrgetter(*_UNDRAWN_WRITERS)


def _spec_fields(spec: LaunchSpec, timeout_ns: int | None) -> str:
    env = ",".join(map(_text, spec.env))
    pages, undrawn = json.dumps(spec.mapping_pages), _undrawn_fields(*_undrawn_values(spec))
    return f'{undrawn},"timeout_ns":{json.dumps(timeout_ns)},"mapping_pages":{pages},"env":[{env}]'


@lru_cache(maxsize=64)
def _undrawn_fields(*values: Any) -> str:
    return ",".join(
        f'"{name}":{write(value)}' for (name, write), value in zip(_UNDRAWN_WRITERS.items(), values, strict=True)
    )


def _results(reply: Any) -> list[Measured | UsageError | MeasurementError]:
    """Return the results of several launches; one alone where the request as a whole was refused."""
    return [*map(_result, reply if isinstance(reply, list) else [reply])]


def _result(reply: dict[str, Any]) -> Measured | UsageError | MeasurementError:
    if "error" in reply:
        return _launch_error(reply["error"])
    for name in ("stdout", "stderr", "results"):
        if reply.get(name) is not None:
            reply[name] = reply[name].encode("latin-1")
    for name in ("left_behind", "not_killed"):
        reply[name] = tuple(reply.get(name) or ())
    reply["counters"] = tuple(one and tuple(one) for one in reply.get("counters") or ())
    return Measured(**reply)


def _launch_error(error: dict[str, Any]) -> UsageError | MeasurementError:
    reason = error["message"].partition(" (os error ")[0]
    if error["stage"] == "kill":
        why = "it runs with another's rights" if error["errno"] == errno.EPERM else "it waits for the system"
        return MeasurementError(f"{reason}: {why}, and goes on; end it by hand")
    if error["stage"] == "affinity" and error["errno"] == errno.EPERM:
        # Of the launch, as in tandem nobody may have asked for it: one after the other it can still be measured.
        return LaunchError(f"a launch {reason}: where a filter refuses sched_setaffinity, {ALLOW_CALLS}")
    if error["stage"] != "spawn":
        remedy = REMEDIES.get(error["errno"], "check the folder, the files and the processor that it is to have")
        kind = MeasurementError if error["errno"] in _EXHAUSTED else UsageError
        return kind(f"the launch could not be set up ({error['stage']}): {reason}; {remedy}")
    remedy = REMEDIES.get(error["errno"], "check that the file is a program this machine can run")
    return MeasurementError(f"{reason}; {remedy}")
