"""Output to terminals, pipes, closed streams and full disks."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest

from tests.foreign import hyperfine
from tests.in_process import InProcess
from tests.preloaded import installed
from tests.tool import PATIENCE_S, STEELYARD, TWICE_THE_WORK, WORK, Tool, ended, sh, status_of, wait_until

ESCAPE = b"\x1b"
# A weighing whose verdict is `slower`.
SLOWER = Path(__file__).resolve().parent.parent / "data/records/version-1-weighing.json.gz"
COMMANDS = ("compare", "run", "show")


# --- help


@pytest.mark.parametrize("words", [[], *([command] for command in COMMANDS)], ids=str)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help(asked: InProcess, words: list[str], option: str) -> None:
    done = asked(*words, option)
    assert (done.status, done.err) == (0, b"")
    done.check_is_tidy()
    assert done.text.startswith(f"Usage: steelyard{''.join(f' {word}' for word in words)} ")
    expected = COMMANDS if not words else ("--json", "--help")
    assert all(word in done.text for word in expected)
    assert max(map(len, done.text.splitlines())) <= 100


def test_the_version(here: InProcess) -> None:
    done = here("--version")
    assert (done.status, done.err) == (0, b"")
    assert re.match(r"steelyard \d+\.\d+\.\d+\n", done.text)


# --- colours


def on_terminal(tool: Tool, *words: str | Path, stream: str = "stdout", **environment: str) -> bytes:
    """Return what arrives at a terminal that is one of the tool's streams; the other stream is discarded."""
    mine, its = pty.openpty()
    other = {"stdout": "stderr", "stderr": "stdout"}[stream]
    tool.environment |= {"TERM": "xterm-256color", **environment}
    streams: dict[str, Any] = {stream: its, other: subprocess.DEVNULL}
    process = installed(words, stdin=subprocess.DEVNULL, **streams, **tool.surroundings)
    os.close(its)
    arrived = b""
    try:
        while chunk := os.read(mine, 1 << 16):
            arrived += chunk
    except OSError:
        pass  # on Linux: nobody has the other end open any more
    os.close(mine)
    assert process.wait(PATIENCE_S) == 0
    return arrived


def test_a_terminal_gets_colours(tool: Tool) -> None:
    arrived = on_terminal(tool, "show", SLOWER)
    assert re.search(rb"\x1b\[[0-9;]*31m[^\n]*slower", arrived)  # red
    colours = re.findall(rb"\x1b\[([0-9;]*)m", arrived)
    assert (colours[-1], colours.count(b"0")) == (b"0", len(colours) / 2), "each is switched off again"


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_a_terminal_that_wants_no_colours_gets_none(tool: Tool, environment: dict[str, str]) -> None:
    arrived = on_terminal(tool, "show", SLOWER, **environment)
    assert b"slower" in arrived
    assert ESCAPE not in arrived


def test_a_pipe_gets_no_colours(tool: Tool) -> None:
    tool.environment |= {"TERM": "xterm-256color"}
    done = tool("show", SLOWER)
    assert "slower" in done.text
    assert ESCAPE not in done.out + done.err


def test_a_terminal_sees_the_progress_and_nothing_of_it_in_the_end(tool: Tool) -> None:
    arrived = on_terminal(tool, "run", "sleep 0.1", "--launches", "4", stream="stderr")
    assert b"4" in arrived
    assert arrived.endswith(b"\r\x1b[J")
    assert b"\n" not in arrived


@pytest.mark.parametrize("terminal", ["dumb", "unknown"])
def test_a_dumb_terminal_sees_no_progress(tool: Tool, terminal: str) -> None:
    assert on_terminal(tool, "run", "sleep 0.1", "--launches", "6", stream="stderr", TERM=terminal) == b""


def test_what_is_printed_fits_the_terminal(here: InProcess) -> None:
    here.compare("true", f"true {'x' * 300}")
    widths = []
    for columns in (20, 60, 200):
        here.environment |= {"COLUMNS": str(columns)}
        widths.append(max(map(len, here("show").text.splitlines())))
        assert columns / 2 < widths[-1] <= columns


def test_a_terminal_without_unicode_gets_ascii(tool: Tool) -> None:
    tool.environment |= {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = tool("compare", WORK, TWICE_THE_WORK, "--names", "ünï,\u4f60", "--pairs", "8", "--alpha", "0.1")
    assert (done.status, done.err) == (1, b"")
    assert done.out.isascii()
    assert r"\xc3\xbcn" in done.text
    assert r"\xc3\xbc" in tool.refuses("show", "ü")


# --- characters that would steer the terminal

AWKWARD = "\x1b[31mred\x07\x9b\r\u202e\udcff"


def test_names_and_commands_never_reach_the_terminal_raw(tool: Tool) -> None:
    files = ("--json", "record.json", "--markdown", "table.md", "--csv", "launches.csv")
    for words in (["--names", f"{AWKWARD}1,{AWKWARD}2"], []):
        done = tool.compare(f"true '{AWKWARD}'", f"true '{AWKWARD}' 2", *words, *files)
        assert (done.status, done.err) == (status_of(tool.json()), b"")
        shown = tool("show", "record.json", *files[2:])
        assert shown.out == done.report
        done.check_is_tidy()
        assert r"\x1b[31mred\x07\x9b" in done.text
        assert "\u202e" not in done.text
        for name in ("table.md", "launches.csv"):
            text = (tool.folder / name).read_text(encoding="utf-8")
            assert not any(character in text for character in "\x1b\x07\x9b\r\u202e")
    assert tool.json()["subjects"][0]["argv"] == ["true", AWKWARD]


def test_the_name_of_a_process_left_behind_never_reaches_the_terminal_raw(here: InProcess) -> None:
    shutil.copy(shutil.which("sleep") or "/bin/sleep", here.folder / "\x1b[31mred")
    waiting = "while grep -qx sh /proc/$!/comm; do :; done"
    done = here("run", sh(f"./*red 600 & {waiting}"), "--launches", "2")
    assert done.status == 0
    done.check_is_tidy()
    assert r"\x1b[31mred" in done.text


@pytest.mark.parametrize("words", [["show", AWKWARD], ["run", AWKWARD], ["run", "true", "--json", f"{AWKWARD}/x"]])
def test_what_was_typed_never_comes_back_raw(asked: InProcess, words: list[str]) -> None:
    assert r"\x1b[31mred" in asked.refuses(*words)


def test_a_record_of_somebody_else_never_reaches_the_terminal_raw(here: InProcess) -> None:
    here.compare("--json", "record.json")
    record, evil = here.json(), "\x1b]0;evil\x07\x9b31m"
    record |= {"tool": evil, "created": evil, "findings": [{"code": evil, "message": evil, "remedy": evil}]}
    record["machine"] |= dict.fromkeys(("key", "cpu_model", "architecture", "kernel", "virtualization"), evil)
    record["benchmarks"][0]["name"] = evil
    for subject in record["subjects"]:
        subject |= {"name": evil, "command": evil, "argv": [evil], "program": evil}
    (here.folder / "record.json").write_text(json.dumps(record))
    done = here("show", "record.json", "--markdown", "table.md", "--csv", "launches.csv")
    assert (done.status, done.err) == (0, b"")
    done.check_is_tidy()
    assert "evil" in done.text
    for name in ("table.md", "launches.csv"):
        text = (here.folder / name).read_text()
        assert "evil" in text
        assert not any(character in text for character in "\x1b\x07\x9b")


# --- streams that are closed, broken or full


@pytest.mark.parametrize("words", [["--help"], ["run", "true", "--launches", "3"]], ids=lambda words: words[0])
def test_a_reader_who_has_gone_is_no_traceback_and_no_verdict(tool: Tool, words: list[str]) -> None:
    with tool.started(*words) as process:
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        done = ended(process)
    assert (done.status, done.err) == (141, b"")
    assert len(tool.kept()) == (words != ["--help"])


def test_a_terminal_that_is_closed_interrupts(tool: Tool) -> None:
    mine, its = pty.openpty()
    words = ("compare", "sleep 0.3", "sleep 0.3", "--max-time", "50", "-o", "record.json")
    process = installed(words, stdin=subprocess.DEVNULL, stdout=its, stderr=subprocess.DEVNULL, **tool.surroundings)
    os.close(its)
    wait_until(lambda: any(len(path.read_bytes().splitlines()) > 2 for path in tool.kept()), "a pair was launched")
    os.close(mine)
    process.send_signal(signal.SIGHUP)
    assert process.wait(PATIENCE_S) == 130
    assert tool.json()["stop"] == ["interrupted"]


def test_a_disk_that_cannot_be_read_is_no_closed_terminal(tool: Tool) -> None:
    program = """
import os
from steelyard.cli import app, main
app.run = lambda words: os.read(os.open("/proc/self/mem", os.O_RDONLY), 1)  # EIO: nothing is at address 0
main.main()
"""
    mine, its = pty.openpty()
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, stdout=its, stderr=subprocess.PIPE, text=True, check=False, **tool.surroundings)
    os.close(mine)
    os.close(its)
    assert done.returncode == 3
    assert "Input/output error" in done.stderr


@pytest.mark.parametrize("redirections", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_change_nothing_else(tool: Tool, redirections: str) -> None:
    script = f'exec "$0" "$@" {redirections}'
    done = tool.through(
        "/bin/sh", "-c", script, "run", sh("echo launched >> log"), "--launches", "2", "-o", "record.json"
    )
    assert (done.status, done.err) == (0, b"")
    assert bool(done.out) == (redirections == "2>&-")
    assert tool.lines() == ["launched"] * 3
    assert len(tool.json()["launches"]["pair"]) == 3


def test_what_is_refused_while_all_streams_are_closed_has_its_status(tool: Tool) -> None:
    assert tool.through("/bin/sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', "show", "missing").status == 2


def test_a_full_disk_behind_stdout_is_said(tool: Tool) -> None:
    for words in (["--help"], ["run", "true", "--launches", "3"]):
        with Path("/dev/full").open("wb") as full:
            done = tool(*words, stdout=full)
        assert done.status == 3
        assert "No space left on device" in done.sentence
    assert len(tool.kept()) == 1


def test_a_full_disk_behind_stderr_changes_nothing(tool: Tool) -> None:
    for words, status in ((["run", "true", "--launches", "3"], 0), (["show", "missing"], 2)):
        with Path("/dev/full").open("wb") as full:
            assert tool(*words, stderr=full).status == status


def test_what_python_would_not_buffer_is_written_whole_or_said_not_to_fit(tool: Tool) -> None:
    tool.environment |= {"PYTHONUNBUFFERED": "1"}
    done = tool.through("/bin/sh", "-c", 'ulimit -f 8; exec "$0" "$@" >page', "docs", "statistics")
    assert done.status == 3
    assert "File too large" in done.sentence


def test_a_pipe_that_is_set_not_to_wait_is_waited_for(tool: Tool) -> None:
    ours, its = os.pipe()
    os.set_blocking(its, False)
    room = fcntl.fcntl(its, fcntl.F_SETPIPE_SZ, 4096)
    process = installed(
        ["docs", "statistics"], stdin=subprocess.DEVNULL, stdout=its, stderr=subprocess.PIPE, **tool.surroundings
    )
    os.close(its)
    wait_until(lambda: _bytes_in(ours) == room, "the pipe is full")
    with os.fdopen(ours, "rb") as pipe:
        arrived = pipe.read()
    assert (ended(process).status, arrived) == (0, tool("docs", "statistics").out)


def _bytes_in(pipe: int) -> int:
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


# --- mistakes of our own


def test_a_mistake_of_our_own_is_not_taken_for_a_verdict(tool: Tool) -> None:
    program = "from steelyard.cli import app, main; app.run = lambda words: 1 / 0; main.main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, **tool.surroundings)
    assert done.returncode == 3
    assert b"ZeroDivisionError" in done.stderr
    assert done.stderr.endswith(b"please report it, with the lines above\n")


def test_an_interrupt_that_python_drops_is_heeded_all_the_same(tool: Tool) -> None:
    program = """
from steelyard.cli import app, main

class Dropping:
    def __del__(self):
        raise KeyboardInterrupt

def run(words):
    Dropping()
    while True:
        pass

app.run = run
main.main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=PATIENCE_S, **tool.surroundings)
    assert (done.returncode, done.stderr) == (130, b"steelyard: interrupted\n")


def test_the_module_is_the_command(tool: Tool) -> None:
    done = subprocess.run([sys.executable, "-m", "steelyard", "--help"], capture_output=True, **tool.surroundings)
    assert done.stdout == tool("--help").out


def test_the_command_is_installed() -> None:
    assert Path(STEELYARD).is_file()


# Modules that command lines which measure nothing must not import.
HELP = {
    "numpy",
    "psutil",
    "pydantic",
    "rich.console",
    "scipy",
    "steelyard.design",
    "steelyard.measure",
    "steelyard.model.records",
}
READING = {
    "asyncio",
    "numpy.ma",
    "numpy.random",
    "psutil",
    "rich.progress",
    "scipy",
    "steelyard.design.runner.runner",
    *(f"steelyard.cli.{name}" for name in ("compare", "count", "check", "calibrate", "timeit", "run")),
}
UNUSED = {
    "--help": HELP,
    "compare --help": HELP,
    "run --help": HELP,
    "show --help": HELP,
    "nonsense": HELP - {"rich.console"},
    "import other.json -o b.json": READING,
    "import theirs.json -o a.json": {
        *READING,
        "importlib.metadata",
        "pydantic",
        "steelyard.measure.launch",
        "steelyard.model.launches",
        "steelyard.model.records",
        "steelyard.subjects.formats.swift",
        "typer._adapters",
    },
    "show a.json": READING,
    "diff a.json b.json": {*READING, "pydantic", "steelyard.measure.launch", "steelyard.model.records"},
}
# Each command line gets a process that has imported nothing but what all of them need.
EACH_IMPORTS = """
import os, sys
from steelyard.cli.app import run

for words in sys.argv[1:]:
    if not os.fork():
        run(words.split())
        print(*sys.modules, flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
    print("ended", flush=True)
"""


@pytest.mark.real
def test_no_command_waits_for_what_it_does_not_use(tmp_path: Path) -> None:
    for name, last in (("theirs", 0.12), ("other", 0.13)):
        hyperfine(tmp_path / f"{name}.json", work=[0.1, 0.11, last])
    command = [sys.executable, "-c", EACH_IMPORTS, *UNUSED]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    *printed, _ = done.stdout.split("\nended\n")
    for (words, unused), each in zip(UNUSED.items(), printed, strict=True):
        imported = set(each.splitlines()[-1].split())
        assert not unused & imported, words
        if "--help" not in words and words != "nonsense":
            assert "steelyard.report.foreign" in imported
        if words == "compare --help":
            assert "steelyard.cli.compare" in imported
            assert {name for name in imported if name.startswith("steelyard.report.")} == {"steelyard.report.plain"}
