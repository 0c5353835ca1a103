"""A control group for what is launched, for as long as one weighing lasts: as good a one as the system allows.

With rights at the top of the second version's tree the group is a partition: its processors are taken from all others.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.machine.conditions.words import processors as named
from steelyard.machine.conditions.words import ranges
from steelyard.machine.hierarchies import Hierarchy, first_version, second_version
from steelyard.machine.isolation.groups import Folder, Reach, in_use
from steelyard.machine.readings import CPUS
from steelyard.model.errors import UsageError
from steelyard.model.isolation import Isolation

# What has been killed takes its time to leave.
_LOOKS, _LOOK_S = 20, 0.05
# Of a partition's kinds the one within which the scheduler still balances; a kernel that was booted with isolcpus
# makes only the other of those processors.
_PARTITIONS = ("root", "isolated")
_AS_ROOT = "as root it can"
_AS_USER = "as root it can; of systemd any user has one by systemd-run --user --scope -p Delegate=yes steelyard ..."


@dataclass
class Isolated:
    """What is launched apart from the others, as far as that can be had."""

    reach: Reach
    sleep: Callable[[float], None]
    clock: Callable[[], float]
    folders: list[Folder] = field(default_factory=list)
    """That of the second version tells how long its tasks waited; that of the first, behind it, has the processors."""
    processors: set[int] = field(default_factory=set)
    """Of the group."""
    alone: bool = False
    missing: list[str] = field(default_factory=list)
    begun: float = 0.0

    def admit(self, process: int) -> None:
        """Have a process, and all that it starts from then on, be in the group."""
        for folder in [*self.folders]:
            try:
                folder.admit(process)
            except OSError as error:
                self.missing.append(f"the launch server could not be put into it: {_reason(error)}")
                if folder is self.folders[-1]:
                    self.processors, self.alone = set(), False
                self.folders.remove(folder)
                folder.remove()

    def facts(self) -> Isolation:
        """What it was, up to now."""
        missing = "; ".join(self.missing) or None
        if not self.folders:
            return Isolation(group=None, missing=missing)
        group = self.folders[0].path
        some, full = (self.reach.tree.waited_us(group / "cpu.pressure", tasks) for tasks in ("some", "full"))
        return Isolation(
            group=f"/{group}",
            processors=sorted(self.processors),
            alone=self.alone,
            seconds=self.clock() - self.begun,
            waited_us=some,
            stalled_us=full,
            missing=missing,
        )

    def remove(self) -> None:
        """Remove the group, behind all that ran in it; what cannot be removed now is swept by a later command."""
        for folder in self.folders:
            for _ in range(_LOOKS):
                if folder.remove():
                    break
                self.sleep(_LOOK_S)


@contextmanager
def isolated(
    processor: int | None,
    *,
    reach: Reach | None = None,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Isolated]:
    """A control group for the launches on a processor, or on all if it is None, for as long as the context lasts.

    What cannot be had is said in the facts, and is no error. Raises UsageError where the processor is another such
    weighing's.
    """
    reach = reach or Reach()
    wanted = _core(reach, processor)
    _check_free(reach, wanted)
    with ExitStack() as undoing:
        made = _made(Isolated(reach, sleep, clock), wanted, undoing)
        made.begun = clock()
        undoing.callback(made.remove)
        yield made


def _core(reach: Reach, processor: int | None) -> set[int]:
    """The processor and those that share its core: these are to be idle."""
    if processor is None:
        return set()
    return {processor, *(reach.tree.siblings(processor) & reach.tree.processor_list(f"{CPUS}/online"))}


def _check_free(reach: Reach, wanted: set[int]) -> None:
    for path, processors in in_use(reach).items():
        if common := processors & wanted:
            raise UsageError(
                f"--isolate: another weighing that runs right now has {named(common)} (/{path}): wait for its end, or "
                "choose another by --cpu"
            )


def _made(isolated: Isolated, wanted: set[int], undoing: ExitStack) -> Isolated:
    """With the groups that there can be, the better the rather."""
    tree = isolated.reach.tree
    second, cpusets = second_version(tree), first_version(tree, "cpuset")
    if second is None and cpusets is None:
        isolated.missing.append("this system shows no control groups below /sys/fs/cgroup")
    elif second is None and not wanted:
        isolated.missing.append(
            "the control groups here are of the first version alone, which does not tell how long tasks wait: "
            "with --cpu there is one that is confined to a processor"
        )
    elif second is not None:
        _make_second(isolated, second, set() if cpusets else wanted, undoing)
    if cpusets is not None and wanted:
        _make_first(isolated, cpusets, wanted)
    return isolated


def _make_first(isolated: Isolated, hierarchy: Hierarchy, wanted: set[int]) -> None:
    """A cpuset of the first version, from whose processors others cannot be kept away."""
    reach, parent = isolated.reach, hierarchy.own
    with ExitStack() as undoing:
        try:
            folder = Folder.made(reach, parent)
            undoing.callback(folder.remove)
            memory = reach.tree.text(parent / "cpuset.effective_mems") or reach.tree.text(parent / "cpuset.mems")
            reach.set(folder.path / "cpuset.mems", memory or "0")
            reach.set(folder.path / "cpuset.cpus", ranges(wanted))
        except OSError as error:
            # Of this tree systemd gives no user a part.
            isolated.missing.append(f"no processors of its own: {_reason(error, _AS_ROOT)}")
            return
        undoing.pop_all()
    isolated.folders.append(folder)
    isolated.processors = wanted
    isolated.missing.append(
        f"others may run on {named(wanted)} too: the cpuset controller is one of the first version here, "
        "which takes no processor away from them"
    )


def _make_second(isolated: Isolated, hierarchy: Hierarchy, wanted: set[int], undoing: ExitStack) -> None:
    """A group of the second version: a partition, or one that is confined to its processors, or just a group."""
    reach, parents = isolated.reach, _parents(isolated.reach, hierarchy)
    for is_alone, is_confined, lacking in (
        (True, True, f"others may run on {named(wanted)} too"),
        (False, True, "no processors of its own"),
        (False, False, "no control group of its own"),
    ):
        if is_confined and not wanted:
            continue
        error = OSError()
        for parent in parents:
            with ExitStack() as steps:
                try:
                    folder = _group(reach, parent, wanted if is_confined else set(), steps, alone=is_alone)
                except OSError as refused:
                    error = refused
                    continue
                undoing.push(steps.pop_all())
            isolated.folders.append(folder)
            isolated.alone, isolated.processors = is_alone, wanted if is_confined else set()
            return
        isolated.missing = [f"{lacking}: {_reason(error, _AS_ROOT if is_alone else _AS_USER)}"]


def _group(reach: Reach, parent: Path, wanted: set[int], steps: ExitStack, *, alone: bool) -> Folder:
    """Such a group in another, whose making the `steps` undo; raises OSError."""
    if wanted:
        _enable(reach, parent, steps)
    folder = Folder.made(reach, parent)
    steps.callback(folder.remove)
    if wanted:
        reach.set(folder.path / "cpuset.cpus", ranges(wanted))
    if alone:
        _take(reach, folder.path)
    return folder


def _enable(reach: Reach, parent: Path, steps: ExitStack) -> None:
    """Let the groups in another one have processors of their own; that is undone, unless others need it by then."""
    control = parent / "cgroup.subtree_control"
    if "cpuset" in reach.words(control):
        return
    if "cpuset" not in reach.words(parent / "cgroup.controllers"):
        raise OSError(errno.ENOTSUP, "the cpuset controller is not to be had there", f"/{parent}")
    reach.set(control, "+cpuset")

    def disable() -> None:
        if not reach.tree.below(parent, "steelyard-isolated-*"):
            try:
                reach.set(control, "-cpuset")
            except OSError:  # it changes nothing for anybody
                return

    steps.callback(disable)


def _take(reach: Reach, path: Path) -> None:
    """Make a partition of a group; the kernel tells by what it writes there whether it is one."""
    said = ""
    for kind in _PARTITIONS:
        reach.set(path / "cpuset.cpus.partition", kind)
        said = reach.tree.text(path / "cpuset.cpus.partition") or ""
        if said == kind:
            return
    why = said.partition("(")[2].rstrip(")") or "the kernel gives none away"
    raise OSError(errno.EBUSY, f"the kernel says: {why}", f"/{path.parent}")


def _parents(reach: Reach, hierarchy: Hierarchy) -> Sequence[Path]:
    """The groups in which ours may be: that of this process, and those above it up to one with a limit, which holds."""
    found = []
    for folder in hierarchy.upwards():
        found.append(folder)
        limits = [reach.words(folder / name) for name in ("cpu.max", "memory.max")]
        if any(words and words[0] != "max" for words in limits):
            break
    return found


def _reason(error: OSError, way_out: str = _AS_USER) -> str:
    """Why the system refuses, and the way out: a clause for a sentence."""
    where = error.filename or "the control groups"
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"this user may not change {where}; {way_out}"
    if error.errno == errno.EROFS:
        return f"{where} can only be read here, as in most containers"
    if error.errno == errno.EBUSY and not (error.strerror or "").startswith("the kernel"):
        return f"other processes are in {where}; {way_out}"
    return f"{error.strerror or error} ({where})"
