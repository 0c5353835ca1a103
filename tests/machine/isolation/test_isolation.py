"""Control groups of weighings: as good as possible, with what is missing said, and nothing left behind."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from steelyard.machine.isolation import groups
from steelyard.machine.isolation.groups import Folder, in_use, sweep
from steelyard.machine.isolation.isolation import isolated
from steelyard.model.errors import UsageError
from steelyard.model.isolation import Isolation
from steelyard.model.locks import lock
from tests.machine.isolation.kernel import Groups
from tests.machine.trees import FIRST, HYBRID, NONE, TOP, made

SERVER = 4711


@contextmanager
def running(kernel: Groups, processor: int | None) -> Iterator[Isolation]:
    """Yield the facts of a weighing whose launch server is in its group; an hour passes with each look at the clock."""
    hours = iter(range(0, 36000, 3600))
    with isolated(processor, reach=kernel.reach, clock=lambda: next(hours)) as made_for:
        made_for.admit(SERVER)
        yield made_for.facts()
        for path in kernel.ours():
            (path / "cgroup.procs").write_text("")


def test_root_takes_the_core_from_all_others(tmp_path: Path) -> None:
    kernel = Groups(tmp_path)
    with running(kernel, 1) as told:
        (path,) = kernel.ours()
        assert path.parent == tmp_path / TOP
        assert (path / "cpuset.cpus").read_text() == "1,3"  # the other processor of the core is kept idle
        assert (path / "cpuset.cpus.partition").read_text() == "root"
        assert (path / "cgroup.procs").read_text() == str(SERVER)
        assert (tmp_path / TOP / "cgroup.subtree_control").read_text() == "cpu cpuset"
        assert told == Isolation(
            group=f"/{TOP}/{path.name}",
            processors=[1, 3],
            alone=True,
            seconds=3600,
            waited_us=250_000,
            stalled_us=1000,
        )
    assert kernel.ours() == []
    assert (tmp_path / TOP / "cgroup.subtree_control").read_text() == "cpu"


def test_a_user_with_a_part_of_the_tree_is_confined_but_not_alone(tmp_path: Path) -> None:
    kernel = Groups(tmp_path, denied=[TOP])
    with running(kernel, 1) as told:
        (path,) = kernel.ours()
        assert path.parent == tmp_path / TOP / "user.slice"
        assert (told.processors, told.alone) == ([1, 3], False)
        assert (path / "cpuset.cpus.partition").read_text() == "member"
        assert told.missing == (
            f"others may run on processors 1,3 too: this user may not change /{TOP}; as root it can"
        )
    assert kernel.ours() == []


def test_without_a_processor_the_group_is_beside_us(tmp_path: Path) -> None:
    kernel = Groups(tmp_path)
    with running(kernel, None) as told:
        (path,) = kernel.ours()
        assert path.parent == tmp_path / TOP / kernel.own
        assert (told.processors, told.missing, told.waited_us) == ([], None, 250_000)
        assert kernel.writes == [f"cgroup.procs {SERVER}"]
    assert kernel.ours() == []


def test_a_kernel_without_cpusets_gives_a_group_all_the_same(tmp_path: Path) -> None:
    with running(Groups(tmp_path, controllers="cpu memory", own=""), 1) as told:
        assert (told.processors, told.waited_us) == ([], 250_000)
        assert told.missing == f"no processors of its own: the cpuset controller is not to be had there (/{TOP})"


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (errno.EROFS, "can only be read here, as in most containers"),
        (errno.EACCES, "this user may not change"),
        (errno.EAGAIN, "Resource temporarily unavailable"),  # more groups than allowed
    ],
)
def test_nothing_can_be_made(tmp_path: Path, number: int, why: str) -> None:
    kernel = Groups(tmp_path, refuses=number)
    for processor in (None, 1):
        with running(kernel, processor) as told:
            assert told.group is None
            assert told.missing is not None
            assert told.missing.startswith("no control group of its own: ")
            assert why in told.missing
        # Controllers that were enabled in vain are disabled again.
        assert (tmp_path / TOP / "cgroup.subtree_control").read_text() in ("cpu", "")


def test_no_control_groups_at_all(tmp_path: Path) -> None:
    kernel = Groups(tmp_path)
    (tmp_path / "proc/self/mountinfo").write_text(NONE)
    with running(kernel, 1) as told:
        assert told == Isolation(group=None, missing="this system shows no control groups below /sys/fs/cgroup")


@pytest.mark.parametrize("limit", [{"cpu.max": "50000 100000\n"}, {"memory.max": "max\n", "memory.high": "9000000\n"}])
def test_one_is_not_left_that_has_a_limit(tmp_path: Path, limit: dict[str, str]) -> None:
    kernel = Groups(tmp_path)
    made(tmp_path, {f"{TOP}/{kernel.own}/{name}": text for name, text in limit.items()})
    with running(kernel, 1) as told:
        assert [path.parent for path in kernel.ours()] == [tmp_path / TOP / kernel.own]
        assert told.missing is not None
        assert told.missing.startswith("no processors of its own: other processes are in")


def hybrid(root: Path) -> Groups:
    kernel = Groups(root, own="", controllers="", top=f"{TOP}/unified")
    kernel.machine(HYBRID, "3:cpuset:/\n2:cpu:/\n0::/\n")
    made(root, {f"{TOP}/cpuset/{name}": "" for name in ("cgroup.procs", "cgroup.subtree_control")})
    made(root, {f"{TOP}/cpuset/cpuset.effective_mems": "0-1\n", f"{TOP}/cpuset/cgroup.controllers": "cpuset"})
    kernel.fill(root / TOP / "cpuset", "cpuset")
    (root / TOP / "cpuset/cgroup.subtree_control").write_text("cpuset")
    return kernel


def test_of_two_versions_each_gives_what_it_has(tmp_path: Path) -> None:
    kernel = hybrid(tmp_path)
    with running(kernel, 1) as told:
        cpuset, unified = kernel.ours()
        assert (cpuset / "cpuset.cpus").read_text() == "1,3"
        assert (cpuset / "cpuset.mems").read_text() == "0-1"
        assert (cpuset / "cgroup.procs").read_text() == (unified / "cgroup.procs").read_text() == str(SERVER)
        assert told.group == f"/{TOP}/unified/{unified.name}"
        assert (told.processors, told.alone, told.waited_us) == ([1, 3], False, 250_000)
        assert "one of the first version here" in (told.missing or "")
    assert kernel.ours() == []


def test_a_cpuset_of_the_first_version_is_root_s_alone(tmp_path: Path) -> None:
    kernel = hybrid(tmp_path)
    kernel.denied.append(f"{TOP}/cpuset")
    with running(kernel, 1) as told:
        assert told.missing == f"no processors of its own: this user may not change /{TOP}/cpuset; as root it can"


def test_of_the_first_version_alone_there_is_a_cpuset_or_nothing(tmp_path: Path) -> None:
    kernel = hybrid(tmp_path)
    kernel.machine(FIRST, "3:cpuset:/\n2:cpu:/\n")
    with running(kernel, 1) as told:
        (cpuset,) = kernel.ours()
        assert cpuset.parent == tmp_path / TOP / "cpuset"
        assert (told.group, told.processors, told.alone) == (f"/{TOP}/cpuset/{cpuset.name}", [1, 3], False)
    assert kernel.ours() == []
    with running(kernel, None) as told:
        assert told.group is None
        assert "of the first version alone, which does not tell how long tasks wait" in (told.missing or "")


def test_a_server_that_cannot_be_put_there_runs_where_it_was(tmp_path: Path) -> None:
    kernel = Groups(tmp_path)
    with isolated(1, reach=kernel.reach) as made_for:
        kernel.denied.append(str(kernel.ours()[0].relative_to(tmp_path)))
        made_for.admit(SERVER)
        told = made_for.facts()
    assert told.group is None
    assert told.missing is not None
    assert told.missing.startswith("the launch server could not be put into it: this user may not change")
    assert kernel.ours() == []


def test_a_processor_of_another_weighing_is_refused(tmp_path: Path) -> None:
    kernel = Groups(tmp_path)
    with running(kernel, 1):
        assert {3} < next(iter(in_use(kernel.reach).values()))
        with pytest.raises(UsageError, match="another weighing that runs right now has processors 1,3"):
            isolated(3, reach=kernel.reach).__enter__()
        with isolated(0, reach=kernel.reach) as other:
            assert other.facts().alone
        # The end of one weighing takes nothing from the other, which goes on.
        assert (tmp_path / TOP / "cgroup.subtree_control").read_text() == "cpu cpuset"


def test_what_a_killed_one_has_left_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Groups(tmp_path)
    left = Folder.made(kernel.reach, Path(TOP))
    held = Folder.made(kernel.reach, Path(TOP) / kernel.own)
    assert left._lock is not None
    os.close(left._lock)  # as the kernel does when its owner ends
    sweep(kernel.reach)  # spares it, as it may only just have been made
    assert len(kernel.ours()) == 2
    monkeypatch.setattr(groups, "_UNLOCKED_S", -60.0)
    (tmp_path / left.path / "cgroup.procs").write_text("5\n")  # something still runs in it
    sweep(kernel.reach)
    assert len(kernel.ours()) == 2
    (tmp_path / left.path / "cgroup.procs").write_text("")
    sweep(kernel.reach)
    assert kernel.ours() == [tmp_path / held.path]
    assert held.remove()


def test_one_that_another_looks_at_when_it_is_made_is_held_all_the_same(tmp_path: Path) -> None:
    kernel = Groups(tmp_path)
    looking: list[int] = []

    def make(path: Path) -> None:
        kernel.make(path)
        looking.append(os.open(path, os.O_RDONLY))
        assert lock(looking[0])

    reach = replace(kernel.reach, make=make, sleep=lambda _: os.close(looking.pop()))
    made_now = Folder.made(reach, Path(TOP))
    assert not looking
    assert list(in_use(kernel.reach)) == [made_now.path]


def test_one_that_still_holds_something_is_left_to_a_later_command(tmp_path: Path) -> None:
    kernel = Groups(tmp_path)
    slept: list[float] = []
    with isolated(None, reach=replace(kernel.reach, sleep=slept.append)) as made_for:
        made_for.admit(SERVER)
    assert len(kernel.ours()) == 1
    assert slept
    assert in_use(kernel.reach) == {}


def test_a_processor_that_goes_away_meanwhile_changes_nothing_of_the_end(tmp_path: Path) -> None:
    kernel = Groups(tmp_path)
    with running(kernel, 1):
        (path,) = kernel.ours()
        for name in ("cpuset.cpus", "cpuset.cpus.partition"):
            (path / name).unlink()
    assert kernel.ours() == []
