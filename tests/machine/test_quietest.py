"""Which processor is chosen on made-up machines, by what each processor did for half a second."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from steelyard.machine.conditions.processors import isolation
from steelyard.machine.quietest import Choice, kept_free, quietest
from steelyard.machine.readings import Tree
from tests.machine.trees import CPUS, FIRST, SECOND, TOP, made

SIBLINGS = {f"{CPUS}/cpu{n}/topology/thread_siblings_list": f"{n % 2},{n % 2 + 2}\n" for n in range(4)}
ALONE = {f"{CPUS}/cpu{n}/topology/thread_siblings_list": f"{n}\n" for n in range(4)}
INTERRUPTS = """           CPU0       CPU1       CPU2       CPU3
 24:          1          0          0       9000  PCI-MSIX  nvme0q1
 30:   99999999          0          0          0  GICv3  27 Level  arch_timer
LOC:   13193411   13668193          5          0  Local timer interrupts
ERR:          0
"""


def stat(busy: Mapping[int, int], ticks: int) -> str:
    """Return a /proc/stat: each processor has worked for so many of the ticks, and rested for the others."""
    lines = [f"cpu{n} {worked} 0 0 {ticks - worked} 0 0 0 0 0 0" for n, worked in busy.items()]
    return "\n".join(["cpu  1 0 1 1 0 0 0 0 0 0", *lines, "intr 5 0 0\n"])


def chosen(
    root: Path, files: Mapping[str, str], busy: Mapping[int, int], taken: tuple[int, ...] = (), allowed: int = 4
) -> Choice:
    """Return the choice among processors that have worked for so many of 50 ticks."""
    tree = made(root, {**files, f"{CPUS}/online": "0-3\n", "proc/stat": stat(dict.fromkeys(busy, 10), 100)})

    def go_by(_: float) -> None:
        made(root, {"proc/stat": stat({n: 10 + worked for n, worked in busy.items()}, 150)})

    return quietest(range(allowed), taken=taken, tree=tree, sleep=go_by)


@pytest.mark.parametrize(
    ("files", "busy", "wanted"),
    [
        ({**ALONE}, {0: 0, 1: 40, 2: 5, 3: 50}, 0),
        ({**ALONE}, {0: 0, 1: 0, 2: 1, 3: 2}, 1),  # a tick of fifty is nothing; processor 0 comes last among equals
        ({**ALONE}, {0: 0, 1: 0, 2: 0, 3: 0}, 3),
        ({**SIBLINGS}, {0: 0, 1: 0, 2: 40, 3: 0}, 3),  # 0 is idle, but not 2, which shares its core
        ({**SIBLINGS}, {0: 50, 1: 0, 2: 50, 3: 30}, 1),
        ({**ALONE, "proc/interrupts": INTERRUPTS}, {0: 0, 1: 0, 2: 0, 3: 0}, 2),
        ({**ALONE, "proc/interrupts": INTERRUPTS}, {0: 50, 1: 50, 2: 50, 3: 0}, 3),
        ({**ALONE, f"{CPUS}/isolated": "1\n"}, {0: 0, 1: 0, 2: 0, 3: 0}, 1),
        ({**ALONE, f"{CPUS}/isolated": "1\n"}, {0: 0, 1: 50, 2: 0, 3: 0}, 3),  # some program polls there
        ({**ALONE, f"{CPUS}/cpu2/cpu_capacity": "1024", f"{CPUS}/cpu3/cpu_capacity": "400"}, {2: 0, 3: 0}, 2),
        ({**ALONE, f"{CPUS}/cpu2/cpufreq/cpuinfo_max_freq": "56", f"{CPUS}/cpu3/cpufreq/cpuinfo_max_freq": "55",
          f"{CPUS}/cpu1/cpufreq/cpuinfo_max_freq": "30", f"{CPUS}/cpu0/cpufreq/cpuinfo_max_freq": "30"},
         {0: 0, 1: 0, 2: 0, 3: 0}, 3),
        ({**ALONE}, {0: 0, 2: 0}, 3),  # nothing is known about 3
    ],
)  # fmt: skip
def test_the_quietest(tmp_path: Path, files: dict[str, str], busy: dict[int, int], wanted: int) -> None:
    assert chosen(tmp_path, files, busy).processor == wanted


def test_why_it_was_chosen(tmp_path: Path) -> None:
    files = {**SIBLINGS, "proc/interrupts": INTERRUPTS, f"{CPUS}/isolated": "3\n"}
    why = chosen(tmp_path, files, {0: 50, 1: 5, 2: 50, 3: 1}).why
    assert why == "2 % busy over half a second, 10 % beside it on its core, kept free by isolcpus, " + (
        "though it takes the devices' interrupts"
    )


def test_those_of_other_weighings_are_left_to_them(tmp_path: Path) -> None:
    idle = dict.fromkeys(range(4), 0)
    assert chosen(tmp_path, ALONE, idle, taken=(3, 2)).processor == 1
    assert chosen(tmp_path, ALONE, idle, taken=(0, 1, 2, 3)).processor == 3
    assert chosen(tmp_path, ALONE, idle, taken=(0, 1, 2)) == Choice(3, "the only one that no other weighing has")


def test_there_is_nothing_to_choose_from(tmp_path: Path) -> None:
    assert chosen(tmp_path, ALONE, {0: 50}, allowed=1) == Choice(0, "the only one that may be used")
    assert chosen(tmp_path, ALONE, {0: 50}, allowed=1, taken=(0,)) == Choice(0, "the only one that may be used")
    assert quietest({4, 7}, tree=Tree(tmp_path / "empty"), sleep=lambda _: None).processor == 7


def test_one_that_is_switched_on_or_off_meanwhile_is_no_error(tmp_path: Path) -> None:
    tree = made(tmp_path, {**ALONE, "proc/stat": stat({0: 0, 1: 0}, 100)})

    def go_by(_: float) -> None:
        made(tmp_path, {"proc/stat": stat({0: 20, 3: 5}, 150)})

    assert quietest({0, 3}, tree=tree, sleep=go_by).processor == 3


def test_what_isolcpus_keeps_free(tmp_path: Path) -> None:
    assert kept_free(made(tmp_path, {f"{CPUS}/isolated": "2-5\n", f"{CPUS}/online": "0-3\n"})) == {2, 3}
    assert kept_free(Tree(tmp_path / "empty")) == set()


@pytest.mark.parametrize(
    ("mounted", "name"), [(SECOND, "cpuset.cpus.effective"), (FIRST, "cpuset/cpuset.effective_cpus")]
)
def test_what_a_cpuset_withholds_may_not_be_asked_for(tmp_path: Path, mounted: str, name: str) -> None:
    files = {
        f"{CPUS}/isolated": "2-3\n",
        f"{CPUS}/online": "0-3\n",
        "proc/self/mountinfo": mounted,
        "proc/self/cgroup": "4:cpuset:/\n0::/\n",
        f"{TOP}/{name}": "0-2\n",
    }
    tree = made(tmp_path, files)
    assert kept_free(tree) == {2}
    assert "--cpu 2 runs where nothing else does" in isolation(tree).evidence
    made(tmp_path, {f"{TOP}/{name}": "0-1\n"})
    assert kept_free(tree) == set()
    assert "--cpu" not in isolation(tree).evidence
