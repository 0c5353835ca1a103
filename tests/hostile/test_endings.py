"""However a session ends, it does end, cleans up, and leaves nothing running."""

from __future__ import annotations

import shlex
import signal
import sys
import time

import psutil
import pytest

from tests.hostile.tool import Tool
from tests.tool import name_of, sh, wait_until

MANY = ("--repeat", "1000000")


def test_a_target_that_stops_itself_is_an_error_within_seconds(tool: Tool) -> None:
    begun = time.monotonic()
    sentence = tool.fails(sh("kill -TTIN $$"))
    assert "stopped itself (SIGTTIN), did not go on and was killed" in sentence
    assert time.monotonic() - begun < 20


def test_one_that_goes_on_after_a_stop_is_measured(tool: Tool) -> None:
    target = sh("(sleep 0.2; kill -CONT $$) & kill -STOP $$; wait")
    assert tool.run(target, "--launches", "1", "--warmup", "0").status == 0


def test_an_interrupt_among_many_short_processes_is_heard(tool: Tool) -> None:
    for moment in (0.0, 0.01, 0.1):
        (tool.folder / "log").unlink(missing_ok=True)
        process = tool.start("run", sh("echo x >> log"), *MANY, "--cleanup", sh("echo swept >> log"))
        wait_until((tool.folder / "log").exists, "the processes run")
        time.sleep(moment)
        process.send_signal(signal.SIGINT)
        done = tool.end(process)
        assert (done.status, done.sentence) == (130, "interrupted before anything was measured")
        assert (tool.folder / "log").read_text().endswith("x\nswept\n")


@pytest.mark.parametrize("limit", [("--timeout", "0.5"), ("--max-time", "0.25")])
def test_many_short_processes_keep_the_time_of_their_launch(tool: Tool, limit: tuple[str, str]) -> None:
    sentence = tool.fails("true", *MANY, *limit, "--launches", "2")
    assert "did not end 1,000,000 times within 0.5 s" in sentence
    assert "--repeat" in sentence


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_cleans_up_once(tool: Tool, number: signal.Signals) -> None:
    process = tool.start("run", sh("touch started; exec sleep 600"), "--cleanup", sh("echo swept >> log"))
    wait_until((tool.folder / "started").exists, "the target runs")
    process.send_signal(number)
    assert tool.end(process).status == 130
    assert (tool.folder / "log").read_text() == "swept\n"


SERVER = """
import os, socket, sys
served = socket.create_server(("127.0.0.1", 0))
if os.fork():
    os._exit(0)
print(os.getpid(), file=open("pid", "w"))
print(served.getsockname()[1], file=open("port", "w"), flush=True)
while True:
    print("asked", file=sys.stderr, flush=True)
    served.accept()[0].close()
"""
ASK = "import socket; socket.create_connection(('127.0.0.1', int(open('port').read())))"


@pytest.mark.parametrize("clean_up", [(), ("--cleanup", sh("kill $(cat pid)"))])
def test_what_the_set_up_starts_serves_all_launches_and_is_gone_then(tool: Tool, clean_up: tuple[str, ...]) -> None:
    (tool.folder / "server.py").write_text(SERVER)
    start = sh(f"{sys.executable} server.py; until [ -s port ]; do sleep 0.01; done")
    asking = shlex.join([sys.executable, "-c", ASK])
    done = tool.run(asking, "--launches", "5", "--setup", start, *clean_up)
    assert done.status == 0, done.err
    assert "what --setup has left running goes on until all is measured: python" in " ".join(done.out.split())
    assert not psutil.pid_exists(int((tool.folder / "pid").read_text()))


def test_a_lost_server_does_not_keep_it_from_being_cleaned_up(tool: Tool) -> None:
    sentence = tool.fails(sh("kill -KILL $PPID; sleep 600"), "--cleanup", sh("echo swept >> log"))
    assert "the launch server ended unexpectedly" in sentence
    assert (tool.folder / "log").read_text() == "swept\n"


def test_a_target_ends_with_all_above_it(tool: Tool) -> None:
    process = tool.start("run", sh("touch started; exec sleep 600"))
    wait_until((tool.folder / "started").exists, "the target runs")
    above = [one for one in psutil.Process(process.pid).children(recursive=True) if "launch" in name_of(one)]
    # Stopped first, so that none has the time to clean up after another.
    for one in above:
        one.suspend()
    for one in [*above, psutil.Process(process.pid)]:
        one.kill()
    process.wait()
    wait_until(lambda: not tool.processes(), "nothing is left")


def test_what_a_killed_session_left_is_swept_by_the_next(tool: Tool) -> None:
    process = tool.start("run", sh("touch started; exec sleep 600"), "--heap")
    wait_until((tool.folder / "started").exists, "the target runs")
    process.kill()
    process.wait()
    (left,) = tool.folder.glob("steelyard-heap-scratch-*")
    wait_until(lambda: time.time() - left.stat().st_ctime > 1.1, "it is old enough")
    assert tool.run("true").status == 0
    assert not left.exists()
