"""Programs that hold benchmarks: how one is asked for its list, and to run exactly one benchmark in a fresh process.

Each way of asking is one `Harness`, found by its name among the entry points of the group `steelyard.harnesses`: that
of our protocol, those for harnesses that others wrote (`subjects/adapters`), and those that other packages bring.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Protocol

from steelyard.model.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from steelyard.model.launches import LaunchSpec, Measured, Sample

GROUP = "steelyard.harnesses"
AUTO = "auto"


@dataclass(frozen=True)
class Listed:
    """One benchmark of a harness, as it listed it."""

    name: str
    tags: tuple[str, ...] = ()
    params: dict[str, str] = field(default_factory=dict)
    processed: dict[str, float] = field(default_factory=dict)
    """What an iteration processes, by the unit (`model.throughput.WorkUnit`), as far as the list tells."""
    no_amounts: dict[str, str] = field(default_factory=dict)
    """What it told instead, as it was written, where that can be no amount; 0 is that of an input that is empty."""


@dataclass(frozen=True)
class Work:
    """What one launch is to run: one benchmark, in `samples` samples of `loops` iterations each.

    Inputs that are drawn at random are drawn from `seed`. `before` names benchmarks, each with its loops, that take a
    sample in the same process before it: for harnesses that `runs_before`.
    """

    name: str
    loops: int
    samples: int
    seed: int = 0
    before: tuple[tuple[str, int], ...] = ()
    orders: str = ""
    """Of a launch beside another: for each sample 0 if it begins a round, 1 if it follows the other's."""
    still: bool = False
    """By a clock that stands still while it waits for a processor: for harnesses of which that is known."""
    by_process: bool = False
    """By the processor time of the process, which computes in one thread then: for harnesses that `times_processes`."""


@dataclass(frozen=True)
class Starting:
    """A launch that starts as another one does, and runs a part of it: so many iterations a sample.

    What a program does once in its first milliseconds, whenever that is, is in this part of it as well.
    """

    spec: LaunchSpec
    loops: int
    first: LaunchSpec
    """Runs right before, and nearly nothing: then the part comes behind a start, as the whole does, and finds the same
    in the caches."""

    def changed(self, change: Callable[[LaunchSpec], LaunchSpec]) -> Starting:
        """The same with both launches changed alike."""
        return replace(self, spec=change(self.spec), first=change(self.first))


class Harness(Protocol):
    """A way of driving the programs of one kind; `launch` is the user's command, without our arguments.

    One instance runs one launch after the other, never two at once: what `running` set up, `samples` may read.
    """

    fixes_loops: bool = True
    """Whether a sample has as many iterations as asked for; else each tells how many it had, and is long enough."""

    most_amounts: int = 1
    """Of one that does not fix loops: up to how many times its usual amount a sample may be asked for, as `loops`."""

    samples_a_launch: int | None = None
    """How many samples every launch takes, where that cannot be asked for, or should not."""

    runs_before: bool = False
    """Whether others can be run before a benchmark in its process; known when its list was read."""

    lists_first: bool = False
    """Whether it can run a benchmark only once this process has read the list of the program."""

    lists_by_running: bool = False
    """Whether its list takes an iteration of each of its benchmarks: so it is no measure of how soon one starts."""

    stands_still: bool = False
    """Whether it tells elapsed time alone, by a clock that can stand still while it waits (`still_clock.StillHarness`).
    """

    tells_iterations: bool = True
    """Whether a sample is as long as it says; else only the time of an iteration is told, and it is kept as that of
    more."""

    tells: frozenset[str] = frozenset()
    """Which times of a sample it can tell that hold no wait for a processor: cpu, active, also by the processor time of
    its launch or by a clock that stands still. By these launches are weighed that run beside each other without taking
    turns."""

    keeps_step: bool = False
    """Whether samples can be taken in turn with those of the launch beside it; a program that cannot takes them alone,
    and says so."""

    out_of_step: str = "what it is built with is too old for that"
    """Why a program cannot, as far as that is known."""

    times_processes: bool = False
    """Whether the processor time of a launch can be that of its samples, less what `starting` takes."""

    counts: bool = False
    """Whether what its programs do in their samples can be counted, by requests that they make to Valgrind."""

    shares_starts: bool = False
    """Whether one start can serve several benchmarks, each in a process that is forked where none has run yet."""

    def recognises(self, launch: LaunchSpec) -> bool:  # noqa: ARG002
        """Whether this is one of its programs, as far as can be told without running it (for `--harness auto`)."""
        return False

    def listing(self, launch: LaunchSpec) -> LaunchSpec:
        """The launch that lists the benchmarks; raises UsageError for a command that cannot be asked."""

    def listed(self, measured: Measured) -> list[Listed]:
        """What it listed, in its order; raises LaunchError, without the subject's name, if that is no list."""

    def complaint(self, measured: Measured) -> str | None:  # noqa: ARG002
        """What a launch that failed says of it by itself, beside its stderr."""
        return None

    def running(self, launch: LaunchSpec, work: Work) -> LaunchSpec:
        """The launch that does the work."""

    def starting(self, launch: LaunchSpec, work: Work) -> Starting | None:  # noqa: ARG002
        """A launch of a part of that work, which starts alike; None if the command keeps it from being timed so."""
        return None

    def running_each(self, launch: LaunchSpec, works: Sequence[Work]) -> LaunchSpec:
        """The launch that does each work in a process of its own, in this order: of one that `shares_starts`.

        Where works have `orders`, the launch beside it has the same benchmarks of the other side.
        """
        raise AssertionError(f"{launch.program!r} runs {len(works)} benchmarks one by one")

    def apart(self, measured: Measured, works: Sequence[Work]) -> list[Measured]:
        """What each of these processes measured; raises LaunchError, without the subject's name, for anything else."""
        raise AssertionError(f"{measured.results!r} is of one benchmark, not of {len(works)}")

    def threads(self, work: Work) -> int:  # noqa: ARG002
        """How many threads' times, side by side, may be added up in a sample."""
        return 1

    def samples(self, measured: Measured, work: Work) -> tuple[Sample, ...]:
        """The samples that it took, all of them; raises LaunchError, without the subject's name, for anything else."""

    def processed(self, measured: Measured, work: Work) -> dict[str, float]:  # noqa: ARG002
        """What an iteration processes, by the unit, where the launch tells it; its `samples` were read before."""
        return {}


def harness_names() -> list[str]:
    """The names of all harnesses that can be driven here."""
    return sorted(_known())


def harness_named(name: str) -> Harness:
    """A new harness of that name; raises UsageError for one that is not known, or cannot be loaded."""
    known = _known()
    if name not in known:
        raise UsageError(f"--harness {name!r} is not known: choose from {AUTO}, {', '.join(sorted(known))}")
    try:
        harness: Harness = known[name].load()()
    except Exception as error:  # whatever a package of others does when it is imported
        raise UsageError(f"--harness {name} cannot be loaded ({error}): repair the package that brings it") from error
    return harness


def check_counts(name: str, metrics: Sequence[str]) -> None:
    """Raise UsageError for one whose programs cannot be counted, where `metrics` that are counted are asked for."""
    if metrics and not harness_named(name).counts:
        raise UsageError(
            f"--harness {name} cannot count {' and '.join(metrics)}: only suites of steelyard's SDKs ask Valgrind to "
            "count their samples. Time it alone, by another metric, or count a whole command, without --harness"
        )


def recognised_harness(launches: Sequence[LaunchSpec]) -> str:
    """The name of the harness that all of these are programs of; raises UsageError unless it is exactly one."""
    found = [name for name in harness_names() if _recognises(name, launches)]
    if len(found) == 1:
        return found[0]
    several = f"more than one harness drives such programs ({', '.join(found)})"
    nothing = f"no harness recognises these programs (there are {', '.join(harness_names())})"
    way_out = (
        "say which with --harness NAME" if found else "say which with --harness NAME, or time whole programs without"
    )
    raise UsageError(f"--harness {AUTO}: {several if found else nothing}: {way_out}")


def _recognises(name: str, launches: Sequence[LaunchSpec]) -> bool:
    try:
        harness = harness_named(name)
    except UsageError:
        return False  # a package that is broken drives nothing
    return all(map(harness.recognises, launches))


@cache  # every call would look through all installed packages
def _known() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # whoever only imports results has no use for it

    return {point.name: point for point in entry_points(group=GROUP)}
