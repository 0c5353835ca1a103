from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.machine.moments import Lines, Process, read_moment, read_processes
from tests.machine.trees import LAPTOP, made
from tests.machine.watch.processes import stat


def test_a_process_is_read_whatever_its_name(tmp_path: Path) -> None:
    made(tmp_path, {"proc/7/stat": stat("a) (b c", parent=3, ticks=12, ended=8, started=99, processor=2, number=7)})
    assert read_processes(tmp_path / "proc", {}) == {(7, 99): Process("a) (b c", 3, 12, 8, 2)}


def test_a_name_of_blanks_is_said_in_words(tmp_path: Path) -> None:
    made(tmp_path, {"proc/7/stat": stat("   ", number=7), "proc/8/stat": stat(" y ", number=8)})
    names = {number: process.name for (number, _), process in read_processes(tmp_path / "proc", {}).items()}
    assert names == {7: "a nameless program", 8: "y"}


@pytest.mark.parametrize(
    "text",
    ["", "7", "7 (x", "7 (x) S 1 2 3", "7 (x) S " + "a " * 40, "7 x S " + "1 " * 40],
)
def test_what_is_no_process_is_left_out(tmp_path: Path, text: str) -> None:
    made(tmp_path, {"proc/7/stat": text, "proc/8/stat": stat("y", number=8), "proc/self/stat": stat("z")})
    (tmp_path / "proc/9").mkdir()  # a process that has ended between the two calls
    assert [number for number, _ in read_processes(tmp_path / "proc", {})] == [8]


def test_only_lines_that_changed_are_read_again(tmp_path: Path) -> None:
    made(tmp_path, {"proc/7/stat": stat("x", number=7, ticks=1), "proc/8/stat": stat("y", number=8)})
    known: Lines = {}
    before = read_processes(tmp_path / "proc", known)
    made(tmp_path, {"proc/7/stat": stat("x", number=7, ticks=3)})
    (tmp_path / "proc/9").mkdir()
    after = read_processes(tmp_path / "proc", known)
    assert after[7, 1].ticks == 3
    assert after[8, 1] is before[8, 1]
    assert len(known) == 3  # what has ended is forgotten, unless it could not be read


def test_a_moment_has_what_the_kernel_counts(tmp_path: Path) -> None:
    moment = read_moment(made(tmp_path, {**LAPTOP, "proc/stat": "cpu  1 2 3 4 5 6 7 8 0 0\nintr 123 4 5\n"}), 2.5)
    assert (moment.ticks["user"], moment.ticks["steal"]) == (1, 8)
    assert (moment.seconds, moment.interrupts, moment.waiting_us) == (2.5, 123, 1000)
    assert [process.name for process in moment.processes.values()] == ["init"]


def test_where_nothing_can_be_read_nothing_is_told(tmp_path: Path) -> None:
    moment = read_moment(made(tmp_path, {}), 0.0)
    assert (moment.ticks, moment.interrupts, moment.waiting_us, moment.processes) == ({}, None, None, {})
