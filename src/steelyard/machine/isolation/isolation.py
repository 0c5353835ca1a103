"""A control group for the launches of one weighing, isolated as far as the system allows.

With rights at the top of the second version's tree the group is a partition: nothing else may use its processors.
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

# Killed processes take a while to leave a group.
_MOST_REMOVAL_TRIES, _REMOVAL_RETRY_S = 20, 0.05
# Within the first kind of partition the scheduler still balances; a kernel that was booted with isolcpus makes only the
# second kind of those processors.
_PARTITIONS = ("root", "isolated")
_ROOT_REMEDY = "as root it can"
_USER_REMEDY = "as root it can; of systemd any user has one by systemd-run --user --scope -p Delegate=yes steelyard ..."


@dataclass
class Isolated:
    """The control groups that isolate the launches, as far as the system allows."""

    reach: Reach
    clock: Callable[[], float]
    folders: list[Folder] = field(default_factory=list)
    """The second version's, which tells how long its tasks waited, then any of the first, which has the processors."""
    processors: set[int] = field(default_factory=set)
    """Those of the group."""
    alone: bool = False
    missing: list[str] = field(default_factory=list)
    begun: float = 0.0

    def admit(self, process: int) -> None:
        """Move a process into the group, and with that all that it starts from then on."""
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
        """Return what the isolation was so far."""
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
        """Remove the group once its processes have left; what cannot be removed now is swept by a later command."""
        for folder in self.folders:
            for _ in range(_MOST_REMOVAL_TRIES):
                if folder.remove():
                    break
                self.reach.sleep(_REMOVAL_RETRY_S)


@contextmanager
def isolated(
    processor: int | None, *, reach: Reach | None = None, clock: Callable[[], float] = time.monotonic
) -> Iterator[Isolated]:
    """Yield a control group for launches on one processor, or on all (None), for as long as the context lasts.

    What the system does not allow is told in the facts and is no error. Raises UsageError if another isolated weighing
    has the processor.
    """
    reach = reach or Reach()
    processors = _processors_of_core(reach, processor)
    _check_free(reach, processors)
    with ExitStack() as undo:
        isolation = _make_groups(Isolated(reach, clock), processors, undo)
        isolation.begun = clock()
        undo.callback(isolation.remove)
        yield isolation


def _processors_of_core(reach: Reach, processor: int | None) -> set[int]:
    """Return the processor and those that share its core, which are to be idle."""
    if processor is None:
        return set()
    return {processor, *(reach.tree.siblings(processor) & reach.tree.processor_list(f"{CPUS}/online"))}


def _check_free(reach: Reach, wanted: set[int]) -> None:
    for path, processors in in_use(reach).items():
        if shared := processors & wanted:
            raise UsageError(
                f"--isolate: another weighing that runs right now has {named(shared)} (/{path}): wait for its end, or "
                "choose another by --cpu"
            )


def _make_groups(isolated: Isolated, processors: set[int], undo: ExitStack) -> Isolated:
    """Make the best groups that the system allows."""
    tree = isolated.reach.tree
    second, cpusets = second_version(tree), first_version(tree, "cpuset")
    if second is None and cpusets is None:
        isolated.missing.append("this system shows no control groups below /sys/fs/cgroup")
    elif second is None and not processors:
        isolated.missing.append(
            "the control groups here are of the first version alone, which does not tell how long tasks wait: "
            "with --cpu there is one that is confined to a processor"
        )
    elif second is not None:
        _make_second(isolated, second, set() if cpusets else processors, undo)
    if cpusets is not None and processors:
        _make_first(isolated, cpusets, processors)
    return isolated


def _make_first(isolated: Isolated, hierarchy: Hierarchy, processors: set[int]) -> None:
    """Make a cpuset of the first version, which cannot keep others off its processors."""
    reach, parent = isolated.reach, hierarchy.own
    with ExitStack() as undo:
        try:
            folder = Folder.made(reach, parent)
            undo.callback(folder.remove)
            memory = reach.tree.text(parent / "cpuset.effective_mems") or reach.tree.text(parent / "cpuset.mems")
            reach.set(folder.path / "cpuset.mems", memory or "0")
            reach.set(folder.path / "cpuset.cpus", ranges(processors))
        except OSError as error:
            # systemd gives users no part of this tree, so the way out is root.
            isolated.missing.append(f"no processors of its own: {_reason(error, _ROOT_REMEDY)}")
            return
        undo.pop_all()
    isolated.folders.append(folder)
    isolated.processors = processors
    isolated.missing.append(
        f"others may run on {named(processors)} too: the cpuset controller is one of the first version here, "
        "which takes no processor away from them"
    )


def _make_second(isolated: Isolated, hierarchy: Hierarchy, processors: set[int], undo: ExitStack) -> None:
    """Make a group of the second version: a partition, else one confined to its processors, else just a group."""
    reach, parents = isolated.reach, _possible_parents(isolated.reach, hierarchy)
    for is_alone, is_confined, lack in (
        (True, True, f"others may run on {named(processors)} too"),
        (False, True, "no processors of its own"),
        (False, False, "no control group of its own"),
    ):
        if is_confined and not processors:
            continue
        error = OSError()
        for parent in parents:
            with ExitStack() as steps:
                try:
                    folder = _make_group(reach, parent, processors if is_confined else set(), steps, alone=is_alone)
                except OSError as refused:
                    error = refused
                    continue
                undo.push(steps.pop_all())
            isolated.folders.append(folder)
            isolated.alone, isolated.processors = is_alone, processors if is_confined else set()
            return
        isolated.missing = [f"{lack}: {_reason(error, _ROOT_REMEDY if is_alone else _USER_REMEDY)}"]


def _make_group(reach: Reach, parent: Path, processors: set[int], undo: ExitStack, *, alone: bool) -> Folder:
    """Make such a group in `parent`, and register in `undo` how to undo that; raises OSError."""
    if processors:
        _enable_cpusets(reach, parent, undo)
    folder = Folder.made(reach, parent)
    undo.callback(folder.remove)
    if processors:
        reach.set(folder.path / "cpuset.cpus", ranges(processors))
    if alone:
        _make_partition(reach, folder.path)
    return folder


def _enable_cpusets(reach: Reach, parent: Path, undo: ExitStack) -> None:
    """Let groups in `parent` have processors of their own; undone later unless others need it by then."""
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
            except OSError:  # leaving it enabled affects nobody
                return

    undo.callback(disable)


def _make_partition(reach: Reach, path: Path) -> None:
    """Make a group a partition; the kernel writes into the same file whether it is one. Raises OSError."""
    state = ""
    for kind in _PARTITIONS:
        reach.set(path / "cpuset.cpus.partition", kind)
        state = reach.tree.text(path / "cpuset.cpus.partition") or ""
        if state == kind:
            return
    why = state.partition("(")[2].rstrip(")") or "the kernel gives none away"
    raise OSError(errno.EBUSY, f"the kernel says: {why}", f"/{path.parent}")


def _possible_parents(reach: Reach, hierarchy: Hierarchy) -> Sequence[Path]:
    """Return the groups in which ours may be made: our own and those above, up to the first with a limit.

    That limit has to hold for the launches as well.
    """
    parents = []
    for folder in hierarchy.upwards():
        parents.append(folder)
        limits = [reach.words(folder / name) for name in ("cpu.max", "memory.max", "memory.high")]
        if any(words and words[0] != "max" for words in limits):
            break
    return parents


def _reason(error: OSError, way_out: str = _USER_REMEDY) -> str:
    """Return why the system refuses, and the way out, as a clause for a sentence."""
    where = error.filename or "the control groups"
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"this user may not change {where}; {way_out}"
    if error.errno == errno.EROFS:
        return f"{where} can only be read here, as in most containers"
    if error.errno == errno.EBUSY and not (error.strerror or "").startswith("the kernel"):
        return f"other processes are in {where}; {way_out}"
    return f"{error.strerror or error} ({where})"
