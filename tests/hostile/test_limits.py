"""Limits on memory and processes under which the tool cannot work: status 1 would mean `slower`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from tests.hostile.tool import Tool


def limited(limit: str) -> list[str]:
    return ["bash", "-ec", f'ulimit {limit}; exec "$@"', "bash"]


# The limits at which these fail: Python's own modules, numpy's libraries, OpenBLAS.
@pytest.mark.parametrize("limit", ["-v 18000", "-v 80000", "-v 110000", "-d 30000"])
def test_too_little_memory(tool: Tool, limit: str) -> None:
    done = tool.run("true", within=limited(limit))
    assert done.status == 3
    assert done.sentence.startswith("there is not enough memory: ")
    assert f"(ulimit {limit.split()[0]})" in done.sentence


@pytest.mark.real
def test_who_ends_the_process_does_not_choose_its_status() -> None:
    program = (
        "import ctypes; from steelyard.cli import main; main._run_to_status = lambda: ctypes.CDLL(None).exit(1); "
        "main.main()"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 3


def without_root(limit: str) -> list[str]:
    """Return what runs a command under this limit as a user who is not root, but may read root's files.

    Limits on processes do not hold for root.
    """
    if os.geteuid() != 0:
        return limited(limit)
    if shutil.which("setpriv") is None:
        pytest.skip("not tested as root without setpriv (of util-linux): the limit on processes does not hold for root")
    kept = "-all,+dac_override"
    capabilities = [f"--inh-caps={kept}", f"--ambient-caps={kept[5:]}", f"--bounding-set={kept}"]
    return ["setpriv", "--reuid=54321", "--clear-groups", *capabilities, *limited(limit)]


@pytest.mark.parametrize(("processes", "words"), [(1, ["run", "true"]), (1, ["count", "true"]), (4, ["count", "true"])])
def test_few_processes(tool: Tool, processes: int, words: list[str]) -> None:
    done = tool(*words, within=without_root(f"-u {processes}"))
    assert done.status == 3
    assert done.out == ""
    assert (
        done.err.endswith("allow more processes (ulimit -u, pids.max of a container)\n")
        or "allow more (ulimit -u, pids.max" in done.err
    ), done


def test_a_server_that_may_start_no_thread_says_nothing_of_its_own(tool: Tool) -> None:
    done = tool("run", "true", within=["env", "-C", "/", *without_root("-u 3")])
    assert done.sentence.endswith("allow more processes (ulimit -u, pids.max of a container)")
    assert done.status == 3
