"""Several weighings that give one answer: as few as possible, which share the chance of a wrong verdict, and the time.

Commands that are launched alike are benchmarks of one weighing, so that rounds in random order and Holm's correction
cover all of them. A harness's benchmarks are a weighing of their own. Each weighing has the share of alpha that its
targets are of all: by Bonferroni's inequality the chance of any wrong `slower` in the whole then stays below alpha (and
under `fdr` the expected share of wrong ones, as each weighing's stays below its share).

A weighing in which everything was found changed passes its share on to those after it, as Holm's correction does among
the benchmarks of one (Bretz, Maurer, Brannath and Posch 2009: a graph whose nodes are the weighings). Had any of these
findings been wrong, the error would have been made already, with a chance of no more than that share; otherwise all of
its hypotheses are false, and none of them needs alpha. A weighing that was not found changed keeps its share, even what
it did not spend because it was decided early: how early depends on the same data, so what is left is no unused chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from glob import escape
from typing import Any

from steelyard.design.identical import is_unmeasured
from steelyard.design.keeping import unstarted_outcome
from steelyard.design.outcome import Outcome
from steelyard.design.request import Request
from steelyard.design.runner.running_clock import RunningClock
from steelyard.design.session import attempt
from steelyard.design.world import World
from steelyard.model.errors import NothingChosenError, SteelyardError, UsageError
from steelyard.model.metrics import is_counted
from steelyard.model.patterns import split_key
from steelyard.model.placeholders import describe_values
from steelyard.model.progress import Watch
from steelyard.model.subject import Benchmark, Subject
from steelyard.stats.signed_rank import fewest_differences
from steelyard.stats.verdict import CHANGED
from steelyard.subjects.suite import CONTROL_NAME

# The least time of a weighing: one whose turn comes when the time is up then says so by itself.
_SHORTEST_WEIGHING_S = 1.0


@dataclass(frozen=True)
class Part:
    """One weighing: of the benchmarks inside one program, or of some commands."""

    names: Sequence[str]
    """The names of its targets."""
    request: Request
    margin: float | None = None
    """The margin of this target, if it has one of its own."""
    shares_time: bool = False
    """Whether its time is part of the time that all share."""
    error: SteelyardError | None = None
    """Why it cannot be measured at all."""

    @property
    def is_measured(self) -> bool:
        """Whether anything in it is measured, so that a verdict can be wrong."""
        return self.error is None and not is_unmeasured(self.request)

    @property
    def name(self) -> str:
        """The names of its targets, as one."""
        return ", ".join(self.names)


def join_parts(parts: Sequence[Part], alpha: float) -> list[Part]:
    """Return the same targets in as few weighings as possible, in the order of their first targets, sharing alpha.

    Raises UsageError where a share of alpha is so small that the number of pairs can show nothing.
    """
    groups: list[list[Part]] = []
    for part in parts:
        group = next((group for group in groups if _can_join(group[0], part)), None)
        if group is None:
            groups.append([part])
        else:
            group.append(part)
    number_judged = sum(part.is_measured for part in parts)
    return [
        _with_alpha(_joint_weighing(group), alpha * len(group) / number_judged)
        if number_judged
        else _joint_weighing(group)
        for group in groups
    ]


def _can_join(one: Part, other: Part) -> bool:
    requests = one.request, other.request
    if any(request.settings.harness is not None for request in requests) or one.error or other.error:
        return False
    mine, theirs = ((request.settings, request.jobs, is_unmeasured(request)) for request in requests)
    return mine == theirs and one.shares_time == other.shares_time


def _joint_weighing(group: Sequence[Part]) -> Part:
    """Return the weighing of a group of commands, or of a harness, which is alone in its group."""
    settings, margins = group[0].request.settings, dict[str, float]()
    if settings.harness is not None:
        own_margin = {} if group[0].margin is None else {"margin": group[0].margin}
        return _with_request(group[0], settings=settings.model_copy(update=own_margin))
    subjects, benchmarks = list[Subject](), list[Benchmark]()
    for part in group:
        offset = len(subjects)
        subjects += part.request.subjects
        benchmarks += [_shifted_benchmark(benchmark, part.names[0], offset) for benchmark in part.request.benchmarks]
        if part.margin is not None:
            has_values = any(one.params for one in part.request.benchmarks)
            margins[f"{escape(part.names[0])}, *" if has_values else _exact_pattern(part.names[0])] = part.margin
    controls = [one for one in benchmarks if one.control]
    benchmarks = [one for one in benchmarks if not one.control] + controls[:1]
    other_margins = {of: margin for of, margin in settings.margins.items() if of not in margins}  # the last one holds
    joint = _with_request(
        group[0],
        subjects=subjects,
        benchmarks=benchmarks,
        settings=settings.model_copy(update={"margins": {**other_margins, **margins}}),
        findings=[*dict.fromkeys(one for part in group for one in part.request.findings)],
    )
    # Parts of a suite are dealt out by the names that its benchmarks have here, of those that were asked for.
    return replace(joint, request=joint.request.own_part(), names=[name for part in group for name in part.names])


def _exact_pattern(name: str) -> str:
    """Return the pattern that only benchmarks of this name match, even if it reads like a metric's."""
    pattern = escape(name)
    return pattern if split_key(pattern) == (pattern, None) else f"{pattern[:-1]}[{pattern[-1]}]"


def _shifted_benchmark(benchmark: Benchmark, target: str, offset: int) -> Benchmark:
    """Return a target's benchmark among those of others: with the target's name, and its sides moved by `offset`."""
    name = CONTROL_NAME if benchmark.control else ", ".join(filter(None, (target, describe_values(benchmark.params))))
    sides = {"baseline": benchmark.baseline + offset, "candidate": benchmark.candidate + offset}
    return benchmark.model_copy(update={"name": name, **sides})


def _with_request(part: Part, **update: Any) -> Part:
    return replace(part, request=replace(part.request, **update))


def _with_alpha(part: Part, alpha: float) -> Part:
    if not part.is_measured:
        return part  # it has nothing to be wrong in
    settings = part.request.settings
    fewest = fewest_differences(alpha)
    if settings.pairs is not None and settings.pairs < fewest:
        raise UsageError(
            f"--pairs {settings.pairs} can never show anything where several weighings share alpha, {alpha:.3g} for "
            f"{part.name}: at least {fewest}"
        )
    return _with_request(part, settings=settings.model_copy(update={"alpha": alpha}))


def measure_all(
    parts: Sequence[Part], total_s: float | None, watch: Watch, world: World, begin: Callable[[Part], None]
) -> Iterator[tuple[Part, Outcome | SteelyardError]]:
    """Weigh one part after the other, and call `begin` with each; one interrupted before its start yields that error.

    `total_s` is split among those that share their time: each has its part of what those before it left. So is alpha.
    """
    targets_waiting = sum(len(part.names) for part in parts if _takes_shared_time(part))
    alphas = [part.request.settings.alpha if part.is_measured else 0.0 for part in parts]
    for place, part in enumerate(parts):
        begin(part)
        clock = RunningClock(world.clock)
        started_s = clock()
        settings = part.request.settings.model_copy(update={"alpha": alphas[place] or part.request.settings.alpha})
        if _takes_shared_time(part) and total_s is not None:
            share_s = max(_SHORTEST_WEIGHING_S, total_s * len(part.names) / targets_waiting)
            settings = settings.model_copy(update={"max_time_s": share_s})
            targets_waiting -= len(part.names)
        request = replace(part.request, settings=settings)
        with clock:
            outcome = _attempted(part, request, watch, replace(world, clock=clock), beside_others=len(parts) > 1)
        if part.shares_time and total_s is not None:
            total_s = max(0.0, total_s - (clock() - started_s))
        if isinstance(outcome, Outcome) and _found_all_changed(outcome):
            alphas = pass_on_alpha(alphas, place)
        yield part, outcome


def _attempted(
    part: Part, request: Request, watch: Watch, world: World, *, beside_others: bool
) -> Outcome | SteelyardError:
    """Weigh a part; a failure of its own is an outcome like any other where there are others."""
    try:
        if part.error is not None:
            raise part.error
        return attempt(request, watch, world)
    except NothingChosenError as error:  # which is no failure of this target
        return error
    except SteelyardError as error:
        is_its_own = isinstance(error, UsageError) or error is part.error
        return unstarted_outcome(request, error, world) if is_its_own and beside_others else error


def _takes_shared_time(part: Part) -> bool:
    return part.shares_time and part.is_measured


def pass_on_alpha(alphas: Sequence[float], place: int) -> list[float]:
    """Return the shares of alpha once all was found changed at `place`: those after it take over its share."""
    later = sum(alphas[place + 1 :])
    if not later:
        return list(alphas)
    return [*alphas[:place], 0.0, *(alpha * (1 + alphas[place] / later) for alpha in alphas[place + 1 :])]


def _found_all_changed(outcome: Outcome) -> bool:
    """Whether no hypothesis of a weighing is left: each benchmark was found changed, in each timed metric."""
    record = outcome.record
    if record.settings.family != "holm" or record.derived is None or outcome.error is not None:
        return False
    timed = [one for one in record.derived.verdicts if not one.control and not is_counted(one.metric)]
    members = {number for number, one in enumerate(record.benchmarks) if not one.control}
    return {one.index for one in timed} == members and all(one.verdict in CHANGED for one in timed)
