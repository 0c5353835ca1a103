"""Findings on processes that go on after what has started them, or may do so unseen; each is given as "PID name"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from steelyard.design.findings import some_names
from steelyard.model.errors import ALLOW_CALLS
from steelyard.model.findings import Finding
from steelyard.report import figures


def set_up_left_running_finding(going_on: Sequence[str]) -> Iterator[Finding]:
    """Yield a finding that names what --setup has left running ("PID name" each) beside the launches, if anything."""
    if not going_on:
        return
    yield Finding(
        code="set-up-left-running",
        message=f"what --setup has left running goes on until all is measured: {some_processes(going_on)}",
    )


def unseen_orphans_finding(offers: Mapping[str, bool]) -> Iterator[Finding]:
    """Yield a finding if processes that outlive a launch may be missed, going by what the launch server `offers`."""
    if offers.get("orphans", True):
        return
    yield Finding(
        code="unseen-orphans",
        message="the system does not hand over orphans (PR_SET_CHILD_SUBREAPER is refused): what a launch leaves "
        "running in a session of its own is not found, and goes on beside the launches after it",
        remedy="does a command start a daemon? Under an emulator, measure on a machine of that kind instead; "
        f"where a filter refuses the call, {ALLOW_CALLS}",
    )


def survivor_findings(
    killed: Sequence[str], not_killed: Sequence[str], of_hooks: Sequence[str] = ()
) -> Iterator[Finding]:
    """Yield findings that name processes ("PID name" each) that outlived a launch, or a command around launches."""
    if killed:
        yield Finding(
            code="left-behind",
            message=f"launches left {_processes(killed)} behind, which were killed unless they ended by "
            f"themselves: {some_processes(killed)}",
            remedy="what goes on after the main process of a program has ended is not measured",
        )
    if of_hooks:
        yield Finding(
            code="left-by-hooks",
            message=f"commands around launches left {_processes(of_hooks)} behind, which were killed when these "
            f"ended: {some_processes(of_hooks)}",
            remedy="start what launches need, such as a server, by --setup, whose processes go on until all is "
            "measured",
        )
    if not_killed:
        yield Finding(
            code="not-killed",
            message=f"launches left {_processes(not_killed)} behind that could not be killed and may go on: "
            f"{some_names(not_killed)}",
            remedy="do they run as another user, as what sudo starts does? End them by hand",
        )


def some_processes(processes: Sequence[str]) -> str:
    """Return the names of processes ("PID name" each) for a sentence."""
    return some_names(sorted({process.partition(" ")[2] for process in processes}))


def _processes(names: Sequence[str]) -> str:
    return figures.count(len(names), "process")
