"""`show --hist | --pairs | --runs | --sort | --unit` on real records, and the live display on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.in_process import InProcess
from tests.tool import PATIENCE_S, STEELYARD, WORK, Tool

DATA = Path(__file__).resolve().parent.parent / "data"
RECORDS = DATA / "records"
WEIGHING, RUN, COUNTED = (
    RECORDS / name for name in ("version-1-weighing.json.gz", "version-1-run.json", "version-2-run.json")
)


def test_the_views_take_the_place_of_the_report_and_stand_below_each_other(asked: InProcess) -> None:
    text = asked("show", WEIGHING, "--hist", "--pairs", "--runs").text
    assert "resolution" not in text
    assert text.count("benchmark  n=1") == 3
    assert text.index("┬") < text.index("┊") < text.index("minor faults")
    assert "waited 81 % / -" in text or re.search(r"waited [\d.]+ % / [\d.]+ %", text)


def test_files_are_written_beside_a_view_as_ever(asked: InProcess) -> None:
    asked("show", WEIGHING, "--hist", "--csv", "launches.csv", "--markdown", "report.md")
    assert len((asked.folder / "launches.csv").read_text().splitlines()) > 70
    assert "2 slower" in (asked.folder / "report.md").read_text()


@pytest.mark.parametrize("view", ["--hist", "--pairs", "--runs"])
@pytest.mark.parametrize("columns", ["60", "80", "120", "200"])
def test_piped_output_is_as_wide_as_columns_says_and_plain(asked: InProcess, view: str, columns: str) -> None:
    asked.environment["COLUMNS"] = columns
    done = asked("show", WEIGHING, view)
    assert b"\x1b" not in done.out
    widths = [len(line) for line in done.text.splitlines()]
    assert max(widths) <= int(columns)
    assert max(widths) > int(columns) // 2


def test_where_columns_says_that_nobody_knows_the_width_80_are_taken(asked: InProcess) -> None:
    del asked.environment["COLUMNS"]
    usual = asked("show", WEIGHING).text
    asked.environment["COLUMNS"] = "0"
    assert asked("show", WEIGHING).text == usual


@pytest.mark.parametrize(("by", "order"), [("name", ["n=1", "n=2", "control"]), ("change", ["n=2", "n=1", "control"])])
def test_a_suite_is_sorted(asked: InProcess, by: str, order: list[str]) -> None:
    text = asked("show", WEIGHING, "--sort", by).text
    found = re.findall(r"^(n=\d|control) ", text, re.MULTILINE)
    assert found == order
    assert re.findall(r"^benchmark  (\S+)", asked("show", WEIGHING, "--hist", "--sort", by).text, re.MULTILINE) == order


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("show", RUN, "--pairs"),
            "--pairs shows the pairs of a weighing, and a run has none: choose --hist or --runs",
        ),
        (("show", RUN, "--sort", "change"), "--sort change sorts by verdicts, and a run has none: choose --sort name"),
        (("show", COUNTED, "--hist"), "--hist is drawn of timed launches, and here are none: this was counted"),
        (("show", WEIGHING, "--sort", "size"), "--sort 'size' is not known: choose from change, name, verdict"),
        (("show", WEIGHING, "--runs", "--benchmark", "x*"), "--benchmark x* fits none of the 3 benchmarks"),
        (("show", RUN, "--runs", "--benchmark", "x*"), "--benchmark x* fits not the one benchmark of this record"),
        (("show", WEIGHING, "--benchmark", "n=1"), "--benchmark chooses what is drawn"),
        (("show", WEIGHING, "--unit", "fortnights"), "--unit 'fortnights' is not known: choose from ns, us, ms, s"),
        (("show", WEIGHING, "--unit", "ms,s"), "--unit 'ms,s' names two units of one kind"),
        (("run", "true", "--bytes", "few"), "--bytes 'few' is not a size"),
        (("run", "true", "--items", "0"), "--items 0 leaves nothing to be processed"),
    ],
)
def test_what_does_not_apply_is_one_sentence(asked: InProcess, words: tuple[str, ...], sentence: str) -> None:
    assert sentence in asked.refuses(*words)


def test_imports_are_drawn_too(asked: InProcess) -> None:
    asked("import", DATA / "imports/go-1.26.txt", "-o", "go.json")
    assert "1.705 GiB/s" in asked("show", "go.json").text
    hist = asked("show", "go.json", "--hist", "-b", "*a=1*", "--unit", "us").text
    assert "median 0.05463 µs, 1.705 GiB/s" not in hist
    assert "4 samples" in hist
    assert "process  samples" in asked("show", "go.json", "--runs").text
    assert "an import has none" in asked.refuses("show", "go.json", "--pairs")
    assert "an import has none" in asked.refuses("show", "go.json", "--sort", "change")
    names = re.findall(r"^benchmark +(\S+)", asked("show", "go.json", "--sort", "name").text, re.MULTILINE)
    assert names == sorted(names)


def test_one_unit_for_all_values(asked: InProcess) -> None:
    text = asked("show", WEIGHING, "--unit", "ms").text
    table = text[: text.index("in all")]
    assert "0.5313 ms" in table
    assert "µs" not in table


@pytest.mark.parametrize(("units", "unused"), [("MiB", ["MiB"]), ("us,GiB,k", ["GiB", "k"]), ("us", [])])
def test_a_unit_of_nothing_that_is_shown_is_told(asked: InProcess, units: str, unused: list[str]) -> None:
    done = asked("show", WEIGHING, "--unit", units)
    told = [f"steelyard: --unit {unit} fits nothing that is shown here: choose from ns, us, ms, s" for unit in unused]
    assert (done.status, done.err.decode().splitlines()) == (0, told)


# --- on a terminal


@contextmanager
def on_a_terminal(
    tool: Tool, *words: str, columns: int = 80, rows: int = 24, term: str = "xterm"
) -> Iterator[tuple[int, int]]:
    """Run the installed command on a terminal of its own; yield its pid and the other end of the terminal."""
    environment = {name: value for name, value in tool.environment.items() if name != "COLUMNS"} | {"TERM": term}
    main, its_own = pty.openpty()
    fcntl.ioctl(its_own, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(
        [STEELYARD, *words],
        stdin=its_own,
        stdout=its_own,
        stderr=its_own,
        cwd=tool.folder,
        env=environment,
        start_new_session=True,
    )
    os.close(its_own)
    try:
        yield process.pid, main
    finally:
        os.close(main)
        process.kill()
        process.wait()


def read_until(main: int, text: bytes | None) -> bytes:
    """Return what is written to a terminal until a text appears, or to the end if the text is None."""
    found, limit = b"", time.monotonic() + PATIENCE_S
    while time.monotonic() < limit and not (text is not None and text in found):
        if select.select([main], [], [], 0.2)[0]:
            try:
                found += os.read(main, 1 << 16)
            except OSError:  # all processes have closed the other end
                break
    assert text is None or text in found, found
    return found


def test_a_dumb_terminal_is_as_wide_as_any_other_and_has_no_colours(tool: Tool) -> None:
    with on_a_terminal(tool, "show", str(WEIGHING), "--hist", columns=120, term="dumb") as (_, main):
        shown = read_until(main, None).decode()
    assert "\x1b" not in shown
    assert 100 < max(map(len, shown.splitlines())) <= 120


def test_a_suite_is_seen_on_a_terminal_and_ctrl_c_leaves_the_report_alone(tool: Tool) -> None:
    words = ("compare", f"{WORK} {{n}}", f"{WORK} {{n}}", "-L", "n", "1,2,3", "--max-time", "1000", "--margin", "0.01%")
    with on_a_terminal(tool, *words) as (process, main):
        seen = read_until(main, b"next ")
        assert b"0 of 3 done" in seen
        assert b"\x1b[?25l" not in seen  # a hidden cursor would stay hidden after a kill
        os.kill(process, signal.SIGINT)
        rest = read_until(main, None)
    shown = rest[rest.rindex(b"\x1b[J") :].decode()
    assert "stopped" in shown
    assert "of 3 done" not in shown
    assert "plan" in shown
