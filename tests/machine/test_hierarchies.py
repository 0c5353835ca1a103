"""Where control groups are, and which one this process is in, on machines with and without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.machine.hierarchies import first_version, limiting_groups, memory_limits, second_version
from steelyard.machine.readings import Tree
from tests.machine.trees import FIRST, HYBRID, NONE, SECOND, TOP, made


@pytest.mark.parametrize(
    ("mounted", "membership", "own"),
    [
        (SECOND, "0::/a/b\n", f"{TOP}/a/b"),
        (SECOND, "0::/\n", TOP),
        (SECOND, "0::/../other\n", None),  # a group outside what the container sees
        (SECOND.replace(" / ", " /docker/1 "), "0::/docker/1/a\n", f"{TOP}/a"),
        (SECOND.replace(" / ", " /docker/1 "), "0::/docker/2\n", None),
        (SECOND.replace(f"/{TOP}", r"/sys\040fs/cgroup"), "0::/a\n", "sys fs/cgroup/a"),
        (SECOND, "2:cpu,cpuacct:/a\n", None),
        ("", "0::/a\n", None),
        ("nonsense\n- cgroup2\n", "nonsense\n", None),
    ],
)
def test_where_we_are_in_the_second_version(tmp_path: Path, mounted: str, membership: str, own: str | None) -> None:
    tree = made(tmp_path, {"proc/self/mountinfo": mounted, "proc/self/cgroup": membership})
    found = second_version(tree)
    assert (str(found.own) if found else None) == own


def test_where_we_are_in_the_first_version(tmp_path: Path) -> None:
    tree = made(tmp_path, {"proc/self/mountinfo": HYBRID, "proc/self/cgroup": "3:cpu,cpuset:/a/b\n0::/\n"})
    found = first_version(tree, "cpuset")
    assert found is not None
    assert [str(path) for path in found.upwards()] == [f"{TOP}/cpuset/a/b", f"{TOP}/cpuset/a", f"{TOP}/cpuset"]
    assert first_version(tree, "memory") is None
    assert second_version(Tree(tmp_path / "empty")) is None


_CPU = f"{TOP}/cpu,cpuacct"


@pytest.mark.parametrize(
    ("mounted", "membership", "folders"),
    [
        (SECOND, "0::/a\n", [f"{TOP}/a", TOP]),
        (FIRST, "4:cpu,cpuacct:/a\n3:cpuset:/b\n", [f"{_CPU}/a", _CPU]),
        (HYBRID, "4:cpu,cpuacct:/a\n0::/b\n", [f"{TOP}/unified/b", f"{TOP}/unified", f"{_CPU}/a", _CPU]),
        # A container sees its own group as the top, and reads where that is on the host.
        (FIRST.replace(f" / /{_CPU}", f" /docker/1 /{_CPU}"), "4:cpu,cpuacct:/docker/1\n", [_CPU]),
        (NONE, "4:cpu,cpuacct:/docker/1\n0::/\n", []),
        (NONE, "", []),
    ],
)
def test_which_groups_limit_us(tmp_path: Path, mounted: str, membership: str, folders: list[str]) -> None:
    tree = made(tmp_path, {"proc/self/mountinfo": mounted, "proc/self/cgroup": membership})
    assert [str(path) for path in limiting_groups(tree, "cpu")] == folders


def test_a_group_without_a_limit_has_none(tmp_path: Path) -> None:
    files = {
        "proc/self/mountinfo": f"35 31 0:32 / /{TOP}/memory rw,relatime - cgroup cgroup rw,memory\n",
        "proc/self/cgroup": "4:memory:/inner\n",
        f"{TOP}/memory/memory.limit_in_bytes": "9223372036854771712\n",
        f"{TOP}/memory/inner/memory.limit_in_bytes": "4096\n",
    }
    assert memory_limits(made(tmp_path, files)) == [(Path(TOP) / "memory/inner", 4096)]
