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

from steelyard.model.errors import ALLOW_CALLS, MeasurementError, SteelyardError, UsageError
from steelyard.model.launches import Frame, LaunchSpec, Measured
from steelyard.native import FOLDER

SERVER = FOLDER / "steelyard-launch"

_LONGEST_DEAF_MS = 500
# Its guard wakes a server that is stopped at once, unless that is stopped too.
_MOST_LOOKS_STOPPED = 3_000 // _LONGEST_DEAF_MS
# Beyond the time that its launches have: it kills them, and whatever they leave behind.
_MOST_LOOKS_LATE = 30_000 // _LONGEST_DEAF_MS
# What makes a processor slower comes and goes within some ms: turns of two that share one are short against that, and
# long against the some us of a switch. Of the kernel's ticks (every 1, 3.3, 4 or 10 ms) both meet as many: no small
# number of them is one of pairs of turns, as with 0.2 or 0.4 ms, where all of 4 ms would meet the same of the two.
TURN_NS = 309_000
# What runs behind another of its kind gains by what caches and branch predictors keep of that one, and catches up with
# it: so much of a difference between the two would be hidden. Some ms later little of that is left (docs/tandem.md).
LEAD_NS = 5_000_000
# In characters. What the server has in memory is the least that any target is reported to have used.
_LONGEST_SERIES = 128 << 10
_CANCEL = b'{"cancel":true}\n'
_JOURNAL = b'{"journal":true}\n'
# By the number of the error that a program could not be started for.
REMEDIES = {
    errno.ENOSYS: f"where a filter refuses a system call, {ALLOW_CALLS}",
    errno.ENOEXEC: "if it is a script, its first line has to name the interpreter, as #!/bin/sh does; "
    "any other program has to be built for this machine",
    errno.EMFILE: "allow more open files (ulimit -n)",
    errno.EAGAIN: "allow more processes (ulimit -u, pids.max of a container)",
    errno.ENOMEM: "the system has no memory left",
    errno.E2BIG: "its arguments and its environment are more than the system takes",
}
# What the machine has no more of: nothing that was asked for is wrong.
_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM})


class ServerLostError(MeasurementError):
    """The launch server has ended, or does not answer; another one may."""


class Launcher:
    """The launch server, started once; `launch` may be called any number of times. Not for several threads at once."""

    def __init__(self, server: Path = SERVER) -> None:
        """Start the server; raises MeasurementError where it cannot run here."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                self._process = subprocess.Popen(
                    [server], stdin=theirs.fileno(), stdout=subprocess.DEVNULL, start_new_session=True
                )
        except OSError as error:
            ours.close()
            if error.filename == os.devnull:
                raise MeasurementError(
                    f"{os.devnull} cannot be opened ({error.strerror}): have a /dev mounted"
                ) from error
            remedy = REMEDIES.get(error.errno or 0, "reinstall steelyard")
            raise MeasurementError(f"the launch server {server} does not start ({error.strerror}); {remedy}") from error
        self._socket = ours
        self._arrivals = select.poll()
        self._arrivals.register(ours, select.POLLIN)
        self._replies = ours.makefile("rb")
        self._in_flight = self._cancel_wanted = False
        self.waiting: Callable[[float], None] | None = None
        """Is told as that of `launch`, where a request has none."""
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
        with suppress(OSError):  # one that is stopped would not see that
            os.killpg(self._process.pid, signal.SIGCONT)
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def launch(self, spec: LaunchSpec, waiting: Callable[[float], None] | None = None) -> Measured:
        """Run one launch to its end and return what it measured; `waiting` is told now and then for how long, in s.

        Raises UsageError for a launch that cannot be set up (input, directory, processor) and MeasurementError for a
        program that cannot be executed. A non-zero exit, a signal or a time-out is returned, not raised.
        """
        try:
            measured = self._launch_once(spec, spec.timeout_ns, waiting)
            for _ in range(1, spec.repeat):
                if measured.cancelled or measured.timed_out or measured.stopped:
                    break
                # The cancel of one that had just ended is that of the launch: the server has dropped it.
                if self._cancel_wanted:
                    return replace(measured, cancelled=True)
                measured = self._followed(measured, spec)
            return measured
        finally:
            self._cancel_wanted = False

    def _followed(self, measured: Measured, spec: LaunchSpec) -> Measured:
        """With one more process, for which there is what those before it have left of the time."""
        if spec.timeout_ns is None:
            return measured.followed_by(self._launch_once(spec, None))
        left_ns = spec.timeout_ns - (time.monotonic_ns() - measured.start_ns)
        if left_ns <= 0:
            return replace(measured, timed_out=True)
        return measured.followed_by(self._launch_once(spec, left_ns))

    def keep_rows_in(self, journal: int) -> None:
        """Give the server the descriptor of the journal, where it keeps those of `launch_series`."""
        try:
            socket.send_fds(self._socket, [_JOURNAL], [journal])
        except OSError as error:
            raise _server_ended() from error

    def launch_series(
        self, specs: Sequence[LaunchSpec], frames: Sequence[Frame | None]
    ) -> list[Measured | UsageError | MeasurementError]:
        """Run launches, none of which repeats, one after the other without being woken in between.

        The server writes the numbers of all but the last into the journal, each within its frame, before it starts the
        next. One without a frame is neither there nor in the list. The list ends early behind a launch that did not end
        well, could not be kept or could not be: that one is not in the journal, and none after it was begun. It is
        empty where they are too much for one request, or where one without a frame did not end well.
        """
        request = _fields(specs[-1], specs[-1].timeout_ns)
        for spec, frame in zip(specs[-2::-1], frames[::-1], strict=True):
            around = "null" if frame is None else json.dumps(frame._asdict())
            request = f'{_fields(spec, spec.timeout_ns)},"then":{{"frame":{around},"request":{{{request}}}}}'
        if len(request) > _LONGEST_SERIES:
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
        """Run two launches, neither of which repeats, at the same time on one processor, to the ends of both.

        The process of `first` is made first; when both stand ready, `second_begins` says which is let go first, and has
        the processor to itself for `lead_ns`, but not in `lockstep`. That is the one of `cpus`, the same for both, or
        the server's choice; in lockstep there may be more. It changes hands after `turn_ns`, where the kernel can do
        that, or when the scheduler sees fit (None); in lockstep when a sample ends. Each may take as long as both
        together, as it has half of a processor. Their `wall_ns` holds the wait for the partner, which `delay_ns` tells.
        Where they are `followed`, and that can be told, so does `lost_ns` of each with all its threads and processes.
        Raises as `launch`, and then nothing of either is left.
        """
        longest_ns = _sum_or_none((first.timeout_ns, second.timeout_ns))
        requests = [f"{{{_fields(spec, longest_ns)}}}" for spec in (first, second)]
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
        result = _result(self._ask(_fields(spec, timeout_ns), timeout_ns, waiting))
        if isinstance(result, SteelyardError):
            raise result
        return result

    def _ask(self, fields: str, longest_ns: int | None, waiting: Callable[[float], None] | None = None) -> Any:
        """What the server replies to a request, which its launches delay by no more than so long."""
        try:
            self._send(f"{{{fields}}}\n".encode())
            return self._receive(longest_ns, waiting or self.waiting)
        except BaseException:
            # What it may reply yet would be taken for the reply to the next request: there is none.
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            raise
        finally:
            self._in_flight = False

    def forget_cancel(self) -> None:
        """What is launched from here on was not meant by any cancel before."""
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
        # A cancel until here was only noted: within the request's line it would have torn that apart.
        if self._cancel_wanted:
            self._send_cancel()

    def _send_cancel(self) -> None:
        with suppress(OSError):  # a server that has ended is told of by `_receive`
            self._socket.sendall(_CANCEL)

    def _receive(self, longest_ns: int | None = None, waiting: Callable[[float], None] | None = None) -> Any:
        late = stopped = 0
        # A signal that comes just before a call that blocks is heard only when that returns; so it does now and then.
        while not self._arrivals.poll(_LONGEST_DEAF_MS):
            # Looks and not seconds are counted: we may have been stopped as well.
            late += 1
            if waiting is not None:
                waiting(late * _LONGEST_DEAF_MS / 1000)
            stopped = stopped + 1 if _is_stopped(self.server_pid) else 0
            if stopped > _MOST_LOOKS_STOPPED:
                raise ServerLostError(
                    f"the launch server (process {self.server_pid}) was stopped by a signal and does not go on: "
                    "look what stops it, and begin anew"
                )
            if longest_ns is not None and (late - _MOST_LOOKS_LATE) * _LONGEST_DEAF_MS * 1_000_000 > longest_ns:
                raise ServerLostError(
                    f"the launch server (process {self.server_pid}) does not answer: is this machine out of memory, "
                    "or a command waiting for a disk that is gone?"
                )
        try:
            # ValueError for the empty line of a server that has ended, and for one that is no launch server.
            return json.loads(self._replies.readline().decode())
        except (OSError, ValueError) as error:
            raise _server_ended() from error


def _is_stopped(pid: int) -> bool:
    """Whether a signal, or a debugger, has stopped a process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    # The name before it stands in parentheses, and may itself hold some.
    return stat.rpartition(b") ")[2][:1] in (b"T", b"t")


def _sum_or_none(numbers: Iterable[int | None]) -> int | None:
    known = [*numbers]
    return None if None in known else sum(number for number in known if number is not None)


def _server_ended() -> MeasurementError:
    return ServerLostError(
        "the launch server ended unexpectedly: does a command kill its parent, or did the system run out of memory?"
    )


def _output(target: bytes | int | None) -> str:
    if isinstance(target, int):
        return f'{{"tail":{target}}}'
    return "null" if target is None else f'{{"file":{_text(target)}}}'


# All but what is drawn for a pair is the same in every launch. Few, as what is drawn may be long.
@lru_cache(maxsize=256)
def _text(data: bytes | None) -> str:
    """As JSON, one char a byte: JSON has no bytes, and paths and arguments need not be UTF-8."""
    return json.dumps(None if data is None else data.decode("latin-1"))


# What is the same in every launch of a command, and how each is written.
_UNDRAWN: dict[str, Callable[[Any], str]] = {
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
_undrawn_of = attrgetter(*_UNDRAWN)


def _fields(spec: LaunchSpec, timeout_ns: int | None) -> str:
    env = ",".join(map(_text, spec.env))
    pages = json.dumps(spec.mapping_pages)
    return f'{_undrawn(*_undrawn_of(spec))},"timeout_ns":{json.dumps(timeout_ns)},"mapping_pages":{pages},"env":[{env}]'


@lru_cache(maxsize=64)
def _undrawn(*values: Any) -> str:
    return ",".join(f'"{name}":{write(value)}' for (name, write), value in zip(_UNDRAWN.items(), values, strict=True))


def _results(reply: Any) -> list[Measured | UsageError | MeasurementError]:
    """Of several launches; of all that was asked for there is one reply where that as a whole is refused."""
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
    if error["stage"] != "spawn":
        remedy = REMEDIES.get(error["errno"], "check the folder, the files and the processor that it is to have")
        kind = MeasurementError if error["errno"] in _EXHAUSTED else UsageError
        return kind(f"the launch could not be set up ({error['stage']}): {reason}; {remedy}")
    remedy = REMEDIES.get(error["errno"], "check that the file is a program this machine can run")
    return MeasurementError(f"{reason}; {remedy}")
