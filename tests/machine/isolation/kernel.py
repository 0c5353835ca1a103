"""Control groups in a folder, which are made, written to and removed by the kernel's rules for version 2."""

from __future__ import annotations

import errno
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.machine.isolation.groups import Reach
from steelyard.machine.readings import Tree
from steelyard.machine.tuning.hand import Hand
from tests.machine.trees import CPUS, SECOND, TOP, made

PRESSURE = "some avg10=0.00 avg60=0.00 avg300=0.00 total=250000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1000\n"


def failed(number: int) -> OSError:
    """Return the error by which the system refuses."""
    return OSError(number, os.strerror(number))


@dataclass
class Groups:
    """A machine whose control groups are below a folder. This process is in one of them, by default alone."""

    root: Path
    own: str = "user.slice/app.scope"
    controllers: str = "cpuset cpu memory"
    top: str = TOP
    denied: list[str] = field(default_factory=list)
    """Groups that this user may not write to."""
    refuses: int | None = None
    """The error number with which every folder that we make fails."""
    writes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Make the groups that lead to our own; only our own holds a process, this one."""
        self.machine(SECOND, f"0::/{self.own}\n")
        folder = self.root / self.top
        self.fill(folder, self.controllers)
        for name in Path(self.own).parts:
            folder /= name
            self.make(folder)
        (folder / "cgroup.procs").write_text("1\n")

    def machine(self, mounted: str, membership: str) -> None:
        made(
            self.root,
            {
                "proc/self/mountinfo": mounted,
                "proc/self/cgroup": membership,
                f"{CPUS}/online": "0-3\n",
                **{f"{CPUS}/cpu{n}/topology/thread_siblings_list": f"{n % 2},{n % 2 + 2}\n" for n in range(4)},
            },
        )

    @property
    def reach(self) -> Reach:
        hand = Hand(Tree(self.root), write=self.write)
        return Reach(hand, self.make, self.remove, self.check_writable, sleep=lambda _: None)

    def ours(self) -> list[Path]:
        """Return the folders that we have made and not removed."""
        return sorted(self.root.rglob("steelyard-isolated-*"))

    def make(self, path: Path) -> None:
        if self.refuses is not None and "steelyard" in path.name:
            raise failed(self.refuses)
        path.mkdir()
        self.fill(path, (path.parent / "cgroup.subtree_control").read_text())

    def fill(self, path: Path, controllers: str) -> None:
        """Write the files of a group that may use these controllers."""
        path.mkdir(parents=True, exist_ok=True)
        for name, text in {
            "cgroup.procs": "",
            "cgroup.controllers": controllers,
            "cgroup.subtree_control": "cpuset cpu" if path.name == "user.slice" else "cpu",
            "cpu.pressure": PRESSURE,
            **(dict.fromkeys(("cpuset.cpus", "cpuset.mems"), "") if "cpuset" in controllers else {}),
            **({"cpuset.cpus.partition": "member"} if "cpuset" in controllers else {}),
        }.items():
            (path / name).write_text(text)

    def remove(self, path: Path) -> None:
        if not path.exists():
            raise FileNotFoundError(path)
        if (path / "cgroup.procs").read_text():
            raise failed(errno.EBUSY)
        shutil.rmtree(path)

    def check_writable(self, path: Path) -> None:
        if str(path.parent.relative_to(self.root)) in self.denied:
            raise failed(errno.EACCES)

    def write(self, path: Path, text: str) -> None:
        group, name = path.parent, path.name
        self.writes.append(f"{name} {text}")
        self.check_writable(path)
        if not path.exists():
            raise failed(errno.ENOENT)
        if name == "cgroup.subtree_control":
            text = self._controlled(group, text)
        elif name == "cpuset.cpus.partition" and group.parent != self.root / self.top:
            text += " invalid (Parent is not a partition root)"
        path.write_text(text)

    def _controlled(self, group: Path, text: str) -> str:
        """Return the controllers that new groups below this one get; only the top may have them beside processes."""
        if group != self.root / self.top and (group / "cgroup.procs").read_text():
            raise failed(errno.EBUSY)
        words = {*(group / "cgroup.subtree_control").read_text().split()}
        words = words | {text[1:]} if text.startswith("+") else words - {text[1:]}
        return " ".join(sorted(words))
