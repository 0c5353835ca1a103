"""Programs that do everything that a program can do to the tool."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import sys
from pathlib import Path

import pytest

from steelyard.model.files import load
from tests.hostile.tool import Tool, kill, python
from tests.tool import SOME_TIME, sh, wait_until

# A launch ends by itself long before this, or never.
LIMIT = ("--timeout", "0.2")


def says_timeout(sentence: str) -> bool:
    return "did not end within" in sentence and "--timeout" in sentence


# --- output


def test_a_flood_of_output_leaves_memory_flat(tool: Tool) -> None:
    before = tool.run("true", "--launches", "1").peak_bytes
    flood = sh("head -c 128M /dev/zero; yes | head -c 64M >&2; yes error | head -c 64M | tee /dev/stderr")
    done = tool.run(flood, "--launches", "1", "--warmup", "0")
    assert done.status == 0
    assert done.peak_bytes < before + (32 << 20)


def test_last_words_without_end_are_cut(tool: Tool) -> None:
    for flood in ("head -c 16M /dev/zero >&2; exit 7", "yes | tr -d \\\\n | head -c 16M >&2; exit 7"):
        sentence = tool.fails(sh(flood))
        assert "failed with exit status 7 (its last words: " in sentence
        assert len(sentence) < 1500


def test_a_flood_until_the_time_is_over(tool: Tool) -> None:
    assert says_timeout(tool.fails("yes", *LIMIT))
    assert says_timeout(tool.fails(sh("exec yes >&2"), *LIMIT))


def test_every_descriptor_closed(tool: Tool) -> None:
    assert tool.run(python("import os; os.closerange(0, 1000)")).status == 0
    assert says_timeout(tool.fails(sh("exec <&- >&- 2>&-; sleep 600"), *LIMIT))


def test_every_descriptor_used(tool: Tool) -> None:
    script = """
import os
try:
    while True: os.dup(0)
except OSError: pass
"""
    assert tool.run(python(script)).status == 0


# --- processes


def test_what_a_target_leaves_is_killed_and_named(tool: Tool) -> None:
    daemon = """
import os, time
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0: time.sleep(600)
        os._exit(0)
for _ in range(5): os.wait()
"""
    done = tool.run(f"{python(daemon)}", "--json", "record.json", "--launches", "1", "--warmup", "0")
    assert done.status == 0
    assert "left 5 processes behind" in done.words
    assert Path(sys.executable).resolve().name[:6] in done.words
    assert [finding.code for finding in load(tool.folder / "record.json").findings] == ["left-behind"]


def test_many_left_behind_at_once(tool: Tool) -> None:
    crowd = sh("for i in $(seq 200); do sleep 600 & done; setsid sleep 600 & :")
    done = tool.run(crowd, "--launches", "1", "--warmup", "0")
    assert done.status == 0
    assert "left 201 processes behind" in done.words
    assert "sleep" in done.words


def test_what_a_hook_leaves_is_named_too(tool: Tool) -> None:
    done = tool.run("true", "--prepare", sh("sleep 600 & :"), "--launches", "1", "--warmup", "0")
    assert done.status == 0
    assert "left 1 process behind" in done.words


def test_a_target_that_forks_and_forks(tool: Tool) -> None:
    # Each generation leaves the next one behind, which starts another: the killing has to be faster.
    chain = """
import os, time
for _ in range(200):
    if os.fork(): os._exit(0)
    os.setsid()
time.sleep(600)
"""
    assert tool.run(python(chain)).status == 0


@pytest.mark.parametrize(
    "script", ['trap "" INT TERM HUP; while :; do sleep 600; done', "kill -STOP $$", "kill -STOP 0"], ids=str
)
def test_what_neither_ends_nor_listens_is_killed_in_time(tool: Tool, script: str) -> None:
    assert says_timeout(tool.fails(sh(script), *LIMIT))


@pytest.mark.parametrize("script", ["kill -KILL $PPID", "kill -TERM $PPID", "kill -INT $PPID"])
def test_a_target_that_ends_its_parent_is_an_error_and_leaves_nothing(tool: Tool, script: str) -> None:
    sentence = tool.fails(sh(f"setsid sleep 600 & {script}; sleep 600"))
    assert "the launch server ended unexpectedly" in sentence


def test_what_was_measured_before_the_server_was_killed_is_kept(tool: Tool) -> None:
    # A warm-up pair and two pairs end well; the seventh launch kills the server.
    late = sh(f"{SOME_TIME}; echo x >> log; test $(wc -l < log) -lt 7 || kill -KILL $PPID")
    sentence = tool.refuses("compare", late, late, "--json", "record.json", status=3)
    (kept,) = tool.kept(".json.gz")
    assert "the launch server ended unexpectedly" in sentence
    assert str(kept) in sentence
    for file in (kept, tool.folder / "record.json"):
        assert load(file).stop == ["failed"]
        assert len(load(file).launches) == 6


def test_a_target_that_stops_its_parent_stops_nothing(tool: Tool) -> None:
    assert tool.run(sh("kill -STOP $PPID")).status == 0
    assert says_timeout(tool.fails(sh("kill -STOP $PPID; sleep 600"), *LIMIT))


def test_a_killed_tool_takes_everything_along(tool: Tool) -> None:
    process = tool.start("run", sh("setsid sleep 600 & touch started; sleep 600"))
    wait_until((tool.folder / "started").exists, "the target runs")
    kill(process)
    wait_until(lambda: not tool.processes(), "nothing is left")


def test_an_interrupt_while_a_target_does_not_listen(tool: Tool) -> None:
    stubborn = sh('trap "" INT TERM HUP; touch started; while :; do sleep 600; done')
    for words in ((), ("--shell",), ("--prepare", stubborn)):
        (tool.folder / "started").unlink(missing_ok=True)
        process = tool.start("run", "true" if "--prepare" in words else stubborn, *words)
        wait_until((tool.folder / "started").exists, "the target runs")
        process.send_signal(signal.SIGINT)
        done = tool.end(process)
        assert (done.status, done.sentence) == (130, "interrupted before anything was measured")


# --- the terminal and the surroundings


def test_a_target_cannot_read_the_terminal(tool: Tool) -> None:
    tool.write("reader.py", "open('/dev/tty', 'rb').read(1)")
    ours, theirs = pty.openpty()
    try:
        done = tool.run(
            *(f"{sys.executable} reader.py", "--timeout", "60"),
            within=["setsid", "--ctty", "--wait"],
            stdin=theirs,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.status == 3
    assert "No such device or address: '/dev/tty'" in done.sentence


def test_another_directory_and_another_priority(tool: Tool) -> None:
    script = "import os; print(os.getcwd(), os.nice(15), file=open('log', 'a')); os.chdir('/')"
    tool.write("leaver.py", script)
    assert tool.run(f"{sys.executable} leaver.py").status == 0
    lines = (tool.folder / "log").read_text().splitlines()
    assert len(lines) == 3
    assert set(lines) == {f"{tool.folder} {min(os.nice(0) + 15, 19)}"}


# --- the program's file


def test_a_program_that_removes_itself(tool: Tool) -> None:
    program = tool.write("program", '#!/bin/sh\nrm "$0"\n')
    sentence = tool.fails(program)
    assert "./program is gone" in sentence


def test_a_program_that_replaces_itself(tool: Tool) -> None:
    program = tool.write("program", '#!/bin/sh\necho "# $$" > new; cat "$0" >> new; chmod +x new; mv new "$0"\n')
    assert "./program was replaced while it was measured" in tool.fails(program)


def test_a_program_that_is_replaced_by_its_equal(tool: Tool) -> None:
    program = tool.write("program", '#!/bin/sh\ncp -p "$0" new; mv new "$0"; touch -d "now + $$ sec" "$0"\n')
    assert tool.run(program).status == 0


def test_a_program_that_becomes_no_program(tool: Tool) -> None:
    program = tool.write("program", '#!/bin/sh\nchmod -x "$0"\n')
    assert "cannot execute ./program: Permission denied" in tool.fails(program)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("echo no interpreter line\n", "its first line has to name the interpreter"),
        ("#!/no/such/interpreter\n", "its interpreter or loader does not"),
        ("#!\n", "its first line has to name the interpreter"),
        ("", "its first line has to name the interpreter"),
    ],
)
def test_a_file_that_is_no_program(tool: Tool, content: str, says: str) -> None:
    sentence = tool.fails(tool.write("program", content))
    assert "cannot execute ./program" in sentence
    assert says in sentence


def test_a_program_for_another_machine(tool: Tool) -> None:
    shutil.copy("/bin/true", tool.folder / "program")
    with (tool.folder / "program").open("r+b") as file:
        if file.read(4) != b"\x7fELF":
            pytest.skip("not tested: /bin/true is no ELF file")
        file.seek(18)  # e_machine; 0xfffe is no machine's
        file.write(b"\xfe\xff")
    sentence = tool.fails("./program")
    assert "cannot execute ./program: Exec format error" in sentence
    assert "built for this machine" in sentence
