from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.preloaded import STEELYARD, installed
from tests.tool import environment_in

FACTS = """
import os, signal
mask = os.umask(0)
print(os.getcwd(), sorted(os.environ), os.environ["HOME"], os.listdir("/proc/self/fd"), oct(mask))
print(os.nice(0), os.getpgid(0), os.getsid(0))
print(signal.pthread_sigmask(signal.SIG_BLOCK, ()), [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGPIPE)])
print(input(), os.getppid() == int(os.environ["PARENT"]))
"""


@pytest.mark.real
def test_what_is_forked_is_as_what_is_started(tmp_path: Path) -> None:
    words = ["still", "sh", "-c", 'PARENT=$PPID exec "$0" -c "$1"', sys.executable, FACTS]
    options: dict[str, Any] = {
        "cwd": tmp_path,
        "env": environment_in(tmp_path),
        "stdout": -1,
        "stderr": -1,
        "stdin": -1,
    }
    forked = installed(words, **options)
    started = subprocess.Popen([STEELYARD, *words], **options)
    assert type(forked) is not type(started)
    outputs = [process.communicate(b"something\n", 60)[0] for process in (forked, started)]
    assert outputs[0] == outputs[1]
    assert b"something True" in outputs[0]
    assert (forked.returncode, started.returncode) == (0, 0)


@pytest.mark.real
def test_how_it_ended(tmp_path: Path) -> None:
    options: dict[str, Any] = {"cwd": tmp_path, "env": environment_in(tmp_path), "stderr": subprocess.PIPE}
    with installed(["show", "a\udc80"], **options) as process:
        assert b"a\\x80:" in process.communicate(timeout=60)[1]
    assert process.returncode == 2


@pytest.mark.real
@pytest.mark.parametrize("unusual", [{"env": {"NO_COLOR": "1"}}, {"start_new_session": True}])
def test_what_is_read_before_main_is_left_to_a_start(tmp_path: Path, unusual: dict[str, Any]) -> None:
    environment = environment_in(tmp_path) | unusual.get("env", {})
    with installed(
        ["--help"], cwd=tmp_path, **{"stdout": subprocess.DEVNULL, **unusual, "env": environment}
    ) as process:
        assert type(process) is subprocess.Popen
    assert process.returncode == 0
