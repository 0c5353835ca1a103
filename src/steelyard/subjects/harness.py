"""Programs with benchmarks inside: how to ask one for its list, and to run exactly one benchmark in a fresh process.

Each way of asking is a `Harness`, found by name among the entry points of the group `steelyard.harnesses`: our own
protocol, the adapters for other harnesses (`subjects/adapters`), and those that other packages provide.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Protocol

from steelyard.model.errors import UsageError
from steelyard.subjects.programs import behind_env

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from steelyard.model.launch_spec import LaunchSpec
    from steelyard.model.measured import Measured
    from steelyard.model.rows import Sample

GROUP = "steelyard.harnesses"
AUTO = "auto"


@dataclass(frozen=True)
class Listed:
    """One benchmark, as its harness lists it."""

    name: str
    tags: tuple[str, ...] = ()
    params: dict[str, str] = field(default_factory=dict)
    processed: dict[str, float] = field(default_factory=dict)
    """How much an iteration processes, by unit (`model.throughput.WorkUnit`), as far as the list tells."""
    no_amounts: dict[str, str] = field(default_factory=dict)
    """Values that cannot be amounts, as written, by unit; not 0, which is the amount of an empty input."""


@dataclass(frozen=True)
class Work:
    """What one launch is to run: one benchmark, in `samples` samples of `loops` iterations each.

    Random inputs are drawn from `seed`. `before` names benchmarks, each with its loops, that take a sample in the same
    process first; only for harnesses with `runs_before`.
    """

    name: str
    loops: int
    samples: int
    seed: int = 0
    before: tuple[tuple[str, int], ...] = ()
    orders: str = ""
    """For a launch beside another: one digit per sample, 0 if it begins a round, 1 if it follows the other's sample."""
    still: bool = False
    """Timed by a clock that stands still while it waits for a processor; only for harnesses with `stands_still`."""
    by_process: bool = False
    """Timed by the process's processor time, and run in one thread; only for harnesses with `times_processes`."""
    tries_process: bool = False
    """Run to find out whether it can be timed `by_process`: its answer is an error if it works in parallel."""


@dataclass(frozen=True)
class Starting:
    """A launch that starts as another one does, but runs only a part of its work: `loops` iterations a sample.

    Whatever a program does once in its first milliseconds is in this part as well.
    """

    spec: LaunchSpec
    loops: int
    first: LaunchSpec
    """Runs right before and does nearly nothing: the part then follows another start, as the whole does, and finds the
    same in the caches."""

    def changed(self, change: Callable[[LaunchSpec], LaunchSpec]) -> Starting:
        """Return the same with both launches changed alike."""
        return replace(self, spec=change(self.spec), first=change(self.first))


class Harness(Protocol):
    """A way of driving one kind of programs; `launch` is always the user's command, without our arguments.

    One instance runs one launch after the other, never two at once, so `samples` may read what `running` set up.
    """

    fixes_loops: bool = True
    """Whether a sample has as many iterations as asked for; else each tells how many it had, and is long enough."""

    most_amounts: int = 1
    """If it does not fix loops: the largest multiple of a sample's usual amount that may be asked for, as `loops`."""

    samples_a_launch: int | None = None
    """How many samples every launch takes, where that cannot or should not be asked for."""

    runs_before: bool = False
    """Whether other benchmarks can run before one in its process; known once the list was read."""

    lists_first: bool = False
    """Whether it can run a benchmark only once this process has read the program's list."""

    lists_by_running: bool = False
    """Whether listing runs an iteration of every benchmark, so that its time does not tell how soon one starts."""

    stands_still: bool = False
    """Whether it tells only elapsed time, by a clock that can stand still while it waits (`still_clock.StillHarness`).
    """

    tells_iterations: bool = True
    """Whether a sample took as long as it says; else only the time of an iteration is told, and kept as that of
    several."""

    tells: frozenset[str] = frozenset()
    """The times of a sample that it can tell without any wait for a processor: cpu, active. That may be by the
    processor time of its launch or by a clock that stands still. Launches that run beside each other without taking
    turns are weighed by these times."""

    keeps_step: bool = False
    """Whether samples can be taken in turn with those of the launch beside it; a program that cannot do that takes them
    alone, and says so."""

    out_of_step: str = "what it is built with is too old for that"
    """Why a program cannot do that, as far as it is known."""

    times_processes: bool = False
    """Whether a launch's processor time, less what `starting` takes, can be used as that of its samples."""

    counts: bool = False
    """Whether what its programs do in their samples can be counted, by requests that they make to Valgrind."""

    shares_starts: bool = False
    """Whether one start can serve several benchmarks, each in a process forked before any benchmark has run."""

    def recognises(self, launch: LaunchSpec) -> bool:
        """Return whether a command is one of its programs, as far as can be told without running it.

        For `--harness auto`.
        """
        return False

    def listing(self, launch: LaunchSpec) -> LaunchSpec:
        """Return the launch that lists the benchmarks; raises UsageError for a command that cannot be asked."""

    def listed(self, measured: Measured) -> list[Listed]:
        """Return the listed benchmarks, in their order.

        Raises LaunchError, without the subject's name, for anything else than a list.
        """

    def complaint(self, measured: Measured) -> str | None:
        """Return what a failed launch says about its failure, other than on stderr."""
        return None

    def skips(self, measured: Measured) -> bool:
        """Return whether a launch failed because the benchmark skips itself, as its complaint says."""
        return False

    def running(self, launch: LaunchSpec, work: Work) -> LaunchSpec:
        """Return the launch that does the work."""

    def starting(self, launch: LaunchSpec, work: Work) -> Starting | None:
        """Return a launch that starts alike and does part of the work; None if the command cannot be timed that way."""
        return None

    def running_each(self, launch: LaunchSpec, works: Sequence[Work]) -> LaunchSpec:
        """Return the launch that does each work in a process of its own, in this order; only with `shares_starts`.

        If the works have `orders`, the launch beside it has the same benchmarks of the other side.
        """
        raise AssertionError(f"{launch.program!r} runs {len(works)} benchmarks one by one")

    def apart(self, measured: Measured, works: Sequence[Work]) -> list[Measured]:
        """Return what each of these processes measured.

        Raises LaunchError, without the subject's name, for anything else.
        """
        raise AssertionError(f"{measured.results!r} is of one benchmark, not of {len(works)}")

    def threads(self, work: Work) -> int:
        """Return how many threads' times, side by side, may be added up in a sample."""
        return 1

    def samples(self, measured: Measured, work: Work) -> tuple[Sample, ...]:
        """Return all samples that the launch took.

        Raises LaunchError, without the subject's name, for anything else.
        """

    def processed(self, measured: Measured, work: Work) -> dict[str, float]:
        """Return how much an iteration processes, by unit, if the launch tells; `samples` was called before."""
        return {}

    def amount_error(self, measured: Measured) -> float:
        """Return by how much of itself each of these amounts may be off, where it is computed from rounded figures."""
        return 0.0


def harness_names() -> list[str]:
    """Return the names of all harnesses that can be driven here."""
    return sorted(_known())


def harness_named(name: str) -> Harness:
    """Return a new harness of that name; raises UsageError for one that is not known, or cannot be loaded."""
    known = _known()
    if name not in known:
        raise UsageError(f"--harness {name!r} is not known: choose from {AUTO}, {', '.join(sorted(known))}")
    try:
        harness: Harness = known[name].load()()
    except Exception as error:  # importing another's package may raise anything
        raise UsageError(f"--harness {name} cannot be loaded ({error}): repair the package that brings it") from error
    return harness


def check_counts(name: str, metrics: Sequence[str]) -> None:
    """Raise UsageError if counted `metrics` are asked for, and the harness's programs cannot be counted."""
    if metrics and not harness_named(name).counts:
        raise UsageError(
            f"--harness {name} cannot count {' and '.join(metrics)}: only suites of steelyard's SDKs ask Valgrind to "
            "count their samples. Time it alone, by another metric, or count a whole command, without --harness"
        )


# What builds benchmarks and starts them, and how it only builds them.
_BUILDING = {"cargo": "cargo bench --no-run", "go": "go test -c"}


def recognised_harness(launches: Sequence[LaunchSpec]) -> str:
    """Return the name of the harness that recognises all of these programs; raises UsageError unless one alone does."""
    launches = [*map(_behind_env, launches)]
    found = [name for name in harness_names() if _recognises(name, launches)]
    if len(found) == 1:
        return found[0]
    several = f"more than one harness drives such programs ({', '.join(found)})"
    nothing = f"no harness recognises these programs (there are {', '.join(harness_names())})"
    way_out = (
        "say which with --harness NAME" if found else "say which with --harness NAME, or time whole programs without"
    )
    names = [os.path.basename(os.fsdecode(one.program)) for one in launches]  # noqa: PTH119 - it may be any bytes
    if (tool := next(filter(_BUILDING.get, names), None)) and not found:
        way_out = f"`{tool}` would build again in each launch: give the executable that {_BUILDING[tool]} makes"
    raise UsageError(f"--harness {AUTO}: {several if found else nothing}: {way_out}")


def _behind_env(launch: LaunchSpec) -> LaunchSpec:
    """Return the launch of what `env -C FOLDER COMMAND` starts; any other launch as it is."""
    folder, words = behind_env([*map(os.fsdecode, launch.argv)])
    if not folder:
        return launch
    cwd = os.path.join(os.fsdecode(launch.cwd or b""), folder)  # noqa: PTH118 - it may be any bytes
    program = os.path.join(cwd, words[0]) if "/" in words[0] else words[0]  # noqa: PTH118
    return replace(launch, program=os.fsencode(program), argv=(*map(os.fsencode, words),), cwd=os.fsencode(cwd))


def _recognises(name: str, launches: Sequence[LaunchSpec]) -> bool:
    try:
        harness = harness_named(name)
    except UsageError:
        return False  # a broken package drives nothing
    return all(map(harness.recognises, launches))


@cache  # every call would look through all installed packages
def _known() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # not needed by those who only import results

    return {point.name: point for point in entry_points(group=GROUP)}
