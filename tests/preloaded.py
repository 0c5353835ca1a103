"""The installed command, forked from a Python that has imported everything already.

These imports, 0.3 s for each start, are half of the processor time that tests of the installed command take. All else
is as in a real start: a process of its own, the child of the one that starts it, with its own streams, folder,
environment and arguments, from `main` to its exit status. What a start reads before `main`, or inherits from its
parent, needs a real one: `installed` makes one if anything unusual is asked for.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import pkgutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

STEELYARD = Path(sys.executable).parent / "steelyard"
# But for LANG, neither Python nor a library reads these before `main`.
_USUAL_VARIABLES = {"PATH", "HOME", "XDG_STATE_HOME", "TMPDIR", "COLUMNS", "LANG", "TERM"}
_USUAL_OPTIONS = {"stdin", "stdout", "stderr", "cwd", "env"}
_LANG = "C.UTF-8"
_PATIENCE_S = 120  # the imports take 1 s of processor time
_LONGEST_REQUEST = 200_000
_PR_SET_CHILD_SUBREAPER = 36  # sys/prctl.h


def installed(words: Sequence[str | Path], **options: Any) -> subprocess.Popen[bytes]:
    """Start the installed command; the options are those of Popen."""
    environment: dict[str, str] = options["env"]
    usual = options.keys() <= _USUAL_OPTIONS and environment.keys() <= _USUAL_VARIABLES
    if usual and environment.get("LANG") == _LANG and sys.platform == "linux":
        return _Forked(words, **options)
    return subprocess.Popen([STEELYARD, *words], **options)


class _Forked(subprocess.Popen[bytes]):
    """A Popen whose child is forked from a process that has imported everything."""

    def _execute_child(self, words: Sequence[str | Path], *details: Any) -> None:
        # By position, as Popen passes them from Python 3.11 on. Its other arguments matter in unusual cases only.
        cwd, env = details[4:6]
        for_stdin, to_stdin, from_stdout, for_stdout, from_stderr, for_stderr = details[9:15]
        sys.audit("subprocess.Popen", str(STEELYARD), [str(STEELYARD), *map(os.fsdecode, words)], cwd, env)
        given = enumerate((for_stdin, for_stdout, for_stderr))
        streams = [stream if stream != -1 else ours for ours, stream in given]
        os.umask(mask := os.umask(0))
        request = json.dumps([[*map(os.fsdecode, words)], os.fspath(cwd), env, mask]).encode()
        assert len(request) < _LONGEST_REQUEST
        self.pid = _forked(request, streams)
        self._child_created = True
        for ours, theirs in ((to_stdin, for_stdin), (from_stdout, for_stdout), (from_stderr, for_stderr)):
            if ours != -1:
                os.close(theirs)
        if hasattr(self, "_devnull"):
            os.close(self._devnull)
        self._closed_child_pipe_fds = True


def _forked(request: bytes, streams: Sequence[int]) -> int:
    """Fork a process for the request; return its pid. It becomes a child of this process when its parent ends."""
    at, _ = _forking()
    control = ctypes.CDLL(None).prctl
    assert control(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    try:
        socket.send_fds(at, [request], streams)
        return int(at.recv(20))
    finally:
        control(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


@cache
def _forking() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """Start the process that forks; return the socket to it, which ends it when closed, and the process."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(_PATIENCE_S)
    environment = {"PATH": os.environ["PATH"], "LANG": _LANG, "OPENBLAS_NUM_THREADS": "1"}
    words = [sys.executable, __file__, str(theirs.fileno())]
    with theirs:
        return ours, subprocess.Popen(
            words,
            pass_fds=[theirs.fileno()],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # no terminal, to which Python would write line by line
        )


def _serve(at: socket.socket) -> NoReturn:
    _import_all()
    while True:
        request, streams, _, _ = socket.recv_fds(at, _LONGEST_REQUEST, 3)
        if not request:
            os._exit(0)  # an ordinary exit would take long, to tear down all modules
        told, tell = os.pipe()
        between = os.fork()
        if not between:
            pid = os.fork()
            if not pid:
                _become(json.loads(request), streams)
            os.write(tell, str(pid).encode())
            os._exit(0)
        os.waitpid(between, 0)  # only once it has ended does the asking process adopt its child
        at.send(os.read(told, 20))
        for number in (told, tell, *streams):
            os.close(number)


def _import_all() -> None:
    import steelyard

    for part in pkgutil.walk_packages(steelyard.__path__, "steelyard."):
        if not part.name.startswith(("steelyard.harness", "steelyard.native", "steelyard.__main__")):
            import_module(part.name)
    gc.collect()
    gc.freeze()


def _become(request: tuple[list[str], str, dict[str, str], int], streams: Sequence[int]) -> None:
    """Turn this process into what the installed command is when it comes to `main`, and run that."""
    try:
        words, folder, environment, mask = request
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(3, 1000)
        os.umask(mask)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = [str(STEELYARD), *words]
        sys.path[0] = str(STEELYARD.parent)
        from steelyard.cli.main import main

        main()
    finally:
        os._exit(70)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
