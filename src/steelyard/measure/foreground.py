"""A command in the foreground: with our own input and output, and with the signals that come for it.

The launch server has nothing to do with it: nothing is measured.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

from steelyard.measure.launch import REMEDIES
from steelyard.model.errors import MeasurementError

if TYPE_CHECKING:
    from steelyard.model.launches import LaunchSpec

_MEANT_FOR_IT = {signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2}
# Python ignores them, and what it starts would as well.
_IGNORED_BY_PYTHON = {signal.SIGPIPE, signal.SIGXFSZ}
# `si_code` of what no process has sent: from the terminal, which sends it to all processes that are in its foreground.
_OF_THE_KERNEL = 0x80
_KILLED = 128
# A signal may be taken by another thread, if this process has some.
_LONGEST_DEAF_S = 0.5


class NotFoundError(MeasurementError):
    """A command that is not there, with the status that a shell has for that."""

    exit_status = 127


class NotExecutableError(MeasurementError):
    """One that is there and cannot be executed, likewise."""

    exit_status = 126


def found(name: str, search_path: str | None) -> str:
    """The path of a command; raises NotFoundError."""
    path = name if "/" in name else shutil.which(name, path=search_path)
    if path is None:
        way_out = "write its words apart, without quotes" if " " in name else "check the spelling, or give its path"
        raise NotFoundError(f"the command {name!r} was not found on PATH: {way_out}")
    return path


def run_in_foreground(spec: LaunchSpec) -> int:
    """Run a command to its end and return its exit status, as a shell has it: 128 and the signal that killed it.

    Of the spec only program, arguments and environment are used. Signals that a process sends to us are passed on.
    Raises NotFoundError and NotExecutableError.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _MEANT_FOR_IT | {signal.SIGCHLD})
    ignored = signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN
    if ignored:  # as whoever started us may have it: then the kernel keeps no status of what ends
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        return _ended(_started(spec, before))
    finally:
        if ignored:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        # What came for it as it ended is not for us to die of.
        while signal.sigtimedwait(_MEANT_FOR_IT, 0) is not None:
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _started(spec: LaunchSpec, mask: set[int | signal.Signals]) -> int:
    # Some have variables without a name (`=C:=...`): Python refuses to pass them on.
    environment = dict(entry.partition(b"=")[::2] for entry in spec.env if not entry.startswith(b"="))
    try:
        return os.posix_spawn(spec.program, list(spec.argv), environment, setsigmask=mask, setsigdef=_IGNORED_BY_PYTHON)
    except OSError as error:
        name = os.fsdecode(spec.program)
        why = f"the command {name!r} cannot be run: {error.strerror}"
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            raise NotFoundError(f"{why}; check the path, and that of its interpreter if it is a script") from error
        remedy = REMEDIES.get(error.errno or 0, "check that it is a program this machine can run")
        raise NotExecutableError(f"{why}; {remedy}") from error


def _ended(pid: int) -> int:
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else _KILLED - code
        came = signal.sigtimedwait(_MEANT_FOR_IT | {signal.SIGCHLD}, _LONGEST_DEAF_S)
        if came is not None and came.si_signo != signal.SIGCHLD and came.si_code != _OF_THE_KERNEL:
            with suppress(ProcessLookupError):
                os.kill(pid, came.si_signo)
