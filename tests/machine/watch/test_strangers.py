from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from steelyard.machine.moments import Process, Processes
from steelyard.machine.readings import Tree
from steelyard.machine.watch.names import Names
from steelyard.machine.watch.strangers import Time, own_processes, strangers, ticks_between
from steelyard.model.watch import Beside
from tests.machine.trees import made

ABSENT = Tree(Path("/absent"))
SECOND = Time(ticks=100, tick_ns=10_000_000)


def process(name: str = "x", parent: int = 1, ticks: int = 0, ended: int = 0, processor: int = 0) -> Process:
    return Process(name, parent, ticks, ended, processor)


def told(before: Processes, after: Processes, own: Collection[int] = (), tree: Tree = ABSENT) -> list[Beside]:
    return strangers({**before, **after}, ticks_between(before, after), own, SECOND, Names.among(tree, after))


def test_ours_is_what_measures_and_all_that_it_starts() -> None:
    processes = {
        (1, 0): process(parent=0),
        (10, 0): process("shell"),
        (20, 0): process("steelyard", parent=10),
        (21, 0): process("the user's own child", parent=20),
        (30, 0): process("launch server", parent=20),
        (31, 0): process("target", parent=30),
        (32, 0): process("its child", parent=31),
        (40, 0): process("make", parent=10),
        (50, 0): process("launch server of what sets up", parent=20),
        (51, 0): process("what it has left running", parent=50),
    }
    assert own_processes(processes, {30, 50}, 20) == {20, 30, 31, 32, 50, 51}


def test_processes_of_one_name_are_told_of_together_and_the_busiest_first() -> None:
    before = {(5, 1): process("make", ticks=100), (6, 1): process("idle", ticks=7)}
    after = {
        (5, 1): process("make", ticks=103),
        (6, 1): process("idle", ticks=8),
        (7, 9): process("cc1plus", ticks=30, processor=2),
        (8, 9): process("cc1plus", ticks=50, processor=3),
        (9, 9): process("target", ticks=90),
    }
    assert told(before, after, {9}) == [
        Beside(name="cc1plus", processes=2, ran_ns=800_000_000, cpu=3),
        Beside(name="make", processes=1, ran_ns=30_000_000, cpu=0),
    ]


def test_a_number_that_is_used_again_is_another_process() -> None:
    ran = ticks_between({(5, 1): process(ticks=1000)}, {(5, 2): process(ticks=40)})
    assert ran == {(5, 2): 40}


def test_children_that_nobody_saw_are_their_parent_s() -> None:
    before = {(5, 1): process("make", ended=100)}
    after = {(5, 1): process("make", ended=170)}
    assert ticks_between(before, after) == {(5, 1): 70}


def test_of_children_that_were_seen_the_rest_is_that_of_the_busiest() -> None:
    before = {
        (5, 1): process("make", ended=100),
        (6, 2): process("sh", parent=5, ticks=1, ended=4),
        (7, 3): process("cc1plus", parent=6, ticks=60),
    }
    # The ticks that `sh` and `cc1plus` had by their end: 1 + 4 + 60 that were seen, and 5 more.
    after = {(5, 1): process("make", ended=170)}
    assert ticks_between(before, after) == {(5, 1): 0, (7, 3): 5}
    assert [(one.name, one.ran_ns) for one in told(before, after)] == [("cc1plus", 50_000_000)]


def test_what_has_ended_under_a_launch_is_no_stranger() -> None:
    before = {(5, 1): process("steelyard"), (6, 2): process("launch", parent=5), (7, 3): process("cat", 6, ticks=60)}
    after = {(5, 1): process("steelyard"), (6, 2): process("launch", parent=5, ended=90)}
    assert told(before, after, own_processes({**before, **after}, {6}, 5)) == []


def test_children_that_had_not_begun_to_run_when_they_were_seen_are_their_parent_s() -> None:
    before = {(5, 1): process("make", ended=100), (6, 2): process("true", parent=5)}
    assert told(before, {(5, 1): process("make", ended=150)})[0].name == "make"


def test_parents_in_a_circle_end_too() -> None:
    circle = {(6, 1): process(parent=7, ticks=5), (7, 1): process(parent=6, ticks=5)}
    assert ticks_between(circle, {(5, 1): process(ticks=1)}) == {(5, 1): 1}


@pytest.mark.parametrize(
    ("name", "cmdline", "shown"),
    [
        ("python3", "/usr/bin/python3\0-S\0/home/a/train.py\0--token\0secret\0", "python3 train.py"),
        ("python3.11", "python3.11\0-m\0http.server\0", "python3.11 -m http.server"),
        ("python3", "python3\0-c\0secret\0", "python3"),
        ("python3", "python3\0-W\0ignore\0app.py\0", "python3 app.py"),
        ("bash", "bash\0-lc\0./secret.sh\0", "bash"),
        ("bash", "bash\0a secret/token\0", "bash"),
        ("perl", "perl\0-ne\0secret\0/etc/file.txt\0", "perl"),
        ("node", "node\0--eval=secret.js\0", "node"),
        ("python3", "python3\0-m\0", "python3"),
        ("node", "node\0server.js\0", "node server.js"),
        ("node", "/bin/sh\0/opt/node\0", "node"),
        ("bash", "-bash\0", "bash"),
        ("bash", "bash\0/dev/fd/3\0", "bash"),
        ("python3", "", "python3"),
        ("cc1plus", "cc1plus\0secret.cc\0", "cc1plus"),
        ("a\x1b[31m\n", "", "a?[31m?"),
        ("steelyard-launc", "/opt/steelyard-launch\0secret\0", "steelyard-launch"),
        ("a-long-service-", "a-long-service-with a secret\0", "a-long-service-"),
        ("a-long-service-", "/bin/other\0", "a-long-service-"),
        ("a-long-service-", "", "a-long-service-"),
    ],
)
def test_a_program_is_told_whole_and_with_an_interpreter_s_script_and_no_other_argument(
    tmp_path: Path, name: str, cmdline: str, shown: str
) -> None:
    tree = made(tmp_path, {"proc/5/cmdline": cmdline})
    (one,) = told({}, {(5, 1): process(name, ticks=50)}, tree=tree)
    assert one.name == shown


def test_threads_of_the_kernel_stand_in_brackets() -> None:
    after = {
        (2, 0): process("kthreadd", parent=0),
        (8, 0): process("kworker/3:1-events", parent=2, ticks=10),
        (9, 0): process("kworker/0:2", parent=2, ticks=5),
    }
    assert [(one.name, one.processes) for one in told({}, after)] == [("[kworker]", 2)]
    in_container = {key: value for key, value in after.items() if key[0] != 2} | {(2, 0): process("nginx", parent=1)}
    assert {one.name for one in told({}, in_container)} == {"kworker/3:1-events", "kworker/0:2"}
