"""Run a command in the foreground, with our own input and output, and pass signals on to it.

Nothing is measured, so the launch server takes no part.
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
    from steelyard.model.launch_spec import LaunchSpec

_FORWARDED_SIGNALS = {signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2}
# Python ignores these, and its children would inherit that.
_IGNORED_BY_PYTHON = {signal.SIGPIPE, signal.SIGXFSZ}
# `si_code` of a signal that no process sent: one from the terminal reaches all processes in its foreground anyway.
_SENT_BY_KERNEL = 0x80
_SIGNAL_STATUS_BASE = 128
# Another thread of this process, if there is one, may take a signal.
_POLL_S = 0.5


class NotFoundError(MeasurementError):
    """A command does not exist; the exit status is that of a shell."""

    exit_status = 127


class NotExecutableError(MeasurementError):
    """A command exists but cannot be executed; the exit status is that of a shell."""

    exit_status = 126


def find_command(name: str, search_path: str | None) -> str:
    """Return the path of a command; raises NotFoundError."""
    path = name if "/" in name else shutil.which(name, path=search_path)
    if path is None:
        way_out = "write its words apart, without quotes" if " " in name else "check the spelling, or give its path"
        raise NotFoundError(f"the command {name!r} was not found on PATH: {way_out}")
    return path


def run_in_foreground(spec: LaunchSpec) -> int:
    """Run a command to its end and return its exit status as a shell does: 128 plus the signal if one killed it.

    Of the spec only program, arguments and environment are used. Signals that a process sends to us are passed on.
    Raises NotFoundError and NotExecutableError.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _FORWARDED_SIGNALS | {signal.SIGCHLD})
    ignored = signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN
    if ignored:  # inherited from whoever started us; the kernel would keep no exit status then
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        return _wait_for_end(_spawn(spec, before))
    finally:
        if ignored:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        # A signal that arrived for the command as it ended must not end us.
        while signal.sigtimedwait(_FORWARDED_SIGNALS, 0) is not None:
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _spawn(spec: LaunchSpec, mask: set[int | signal.Signals]) -> int:
    # Some environments have variables without a name (`=C:=...`), which Python refuses to pass on.
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


def _wait_for_end(pid: int) -> int:
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else _SIGNAL_STATUS_BASE - code
        received = signal.sigtimedwait(_FORWARDED_SIGNALS | {signal.SIGCHLD}, _POLL_S)
        if received is not None and received.si_signo != signal.SIGCHLD and received.si_code != _SENT_BY_KERNEL:
            # A command that runs with another's rights, as by sudo, may not be told; it goes on, and so do we.
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, received.si_signo)
