"""Two kept runs that were counted: counts do not drift, so they may be compared as if counted together."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from steelyard.design.findings import some_names
from steelyard.design.outcome import derive
from steelyard.design.unpaired.comparable import (
    check_two,
    counting_conditions_findings,
    shared_benchmarks,
    unshared_findings,
)
from steelyard.design.unpaired.differences import apart_findings
from steelyard.design.unpaired.terms import Terms
from steelyard.model.counting import Count, Counting, CountSettings, Functions, Weights
from steelyard.model.errors import UsageError
from steelyard.model.findings import Finding
from steelyard.model.launches import Launches
from steelyard.model.metrics import counted, timed
from steelyard.model.records import Run, Weighing

_CACHE_FLAGS = ("--cache-sim=", "--I1=", "--D1=", "--LL=")


def compare_counts(baseline: Run, candidate: Run, terms: Terms) -> Weighing:
    """Return a weighing made of two runs' counts, with its verdicts.

    Raises UsageError, naming what differs, for counts of different tools, versions, flags or libraries (unless forced),
    and for runs with no benchmark in common.
    """
    check_two(baseline, candidate)
    metrics = terms.metrics_of(baseline)
    compared = counted(metrics)
    differences = list(_counting_differences(baseline, candidate, compared))
    if differences and not terms.force:
        raise UsageError(
            f"A and B were counted differently: {'; '.join(differences)}. Such counts differ by more than most "
            "changes: count both in one place and with the same options, or give --force"
        )
    in_both = shared_benchmarks(baseline, candidate)
    shared = terms.chosen(in_both, lambda pair: candidate.benchmarks[pair[1]].name)
    record = Weighing(
        tool=candidate.tool,
        created=candidate.created,
        machine=candidate.machine,
        settings=candidate.settings.model_copy(
            update={"margin": terms.margin, "alpha": terms.alpha, "metrics": compared}
        ),
        subjects=[*baseline.subjects, *candidate.subjects],
        benchmarks=[candidate.benchmarks[place].model_copy(update={"candidate": 1}) for _, place in shared],
        stop=["decided"] * len(shared),
        seconds=baseline.seconds + candidate.seconds,
        findings=[
            *(Finding(code="mixture", message=f"counted differently: {what}") for what in differences),
            *_iterations_findings(baseline, candidate, shared),
            *counting_conditions_findings(baseline, candidate),
            *unshared_findings(baseline, candidate, in_both),
            *apart_findings(timed(metrics)),
        ],
        launches=Launches(),
        counting=_joint_counting(baseline, candidate, shared),
    )
    return derive(record)  # type: ignore[return-value] # as it was given


def _counting_differences(baseline: Run, candidate: Run, metrics: list[str]) -> Iterator[str]:
    one, other = _counting(baseline), _counting(candidate)
    flags = _relevant_flags(one, metrics), _relevant_flags(other, metrics)
    for what, mine, theirs in (
        ("tool", one.tool.tool, other.tool.tool),
        ("Valgrind's version", one.tool.version, other.tool.version),
        ("flags", _flags_of_one_alone(*flags), _flags_of_one_alone(*reversed(flags))),
        ("what begins to count", *(_counting_start(run) for run in (baseline, candidate))),
        ("loops", *(run.settings.counting and run.settings.counting.loops for run in (baseline, candidate))),
        ("weights", *(_weights(run, metrics) for run in (baseline, candidate))),
    ):
        if mine != theirs:
            yield f"{what} {mine} in A, {theirs} in B"
    for name in sorted(one.tool.fingerprint.keys() & other.tool.fingerprint.keys()):
        if one.tool.fingerprint[name] != other.tool.fingerprint[name]:
            yield f"another {name}"


def _counting_start(run: Run) -> str:
    """Return where counting begins, as an option: Valgrind has one flag for both."""
    settings = run.settings.counting or CountSettings()
    return "--body" if settings.body else "--after-start" if settings.after_start else "the launch"


def _weights(run: Run, metrics: list[str]) -> Weights | None:
    return run.settings.counting.weights if run.settings.counting and "cost" in metrics else None


def _counting(run: Run) -> Counting:
    if run.counting is None:
        raise UsageError("one of the runs was not counted: count it with steelyard count COMMAND -o FILE")
    return run.counting


def _relevant_flags(counting: Counting, metrics: list[str]) -> list[str]:
    """Return the flags that matter: Cachegrind counts as many instructions whether caches are simulated or not."""
    if counting.tool.tool != "cachegrind" or metrics != ["instructions"]:
        return counting.tool.flags
    return [flag for flag in counting.tool.flags if not flag.startswith(_CACHE_FLAGS)]


def _flags_of_one_alone(mine: list[str], theirs: list[str]) -> str:
    if sorted(mine) == sorted(theirs):
        return ""
    return " ".join(flag for flag in mine if flag not in theirs) or "none of these"


def _iterations(baseline: Run, candidate: Run, pair: tuple[int, int]) -> tuple[int, int]:
    """Return how many iterations the counts of a benchmark are of; 1 each if they are of launches."""
    loops = [run.benchmarks[place].loops for run, place in zip((baseline, candidate), pair, strict=True)]
    if candidate.settings.harness is None or None in loops:
        return 1, 1
    return loops[0] or 1, loops[1] or 1


def _iterations_findings(baseline: Run, candidate: Run, shared: list[tuple[int, int]]) -> Iterator[Finding]:
    """Yield a finding on benchmarks of which A and B counted different numbers of iterations."""
    differ = [
        candidate.benchmarks[pair[1]].name for pair in shared if len({*_iterations(baseline, candidate, pair)}) > 1
    ]
    if differ:
        yield Finding(
            code="iterations",
            message=f"A and B counted other numbers of iterations of {some_names(differ)}: one of each is compared",
        )


def _joint_counting(baseline: Run, candidate: Run, shared: list[tuple[int, int]]) -> Counting:
    counts: list[Count] = []
    functions: list[Functions] = []
    for side, run in enumerate((baseline, candidate)):
        counting = _counting(run)
        places = {pair[side]: number for number, pair in enumerate(shared)}
        # They become counts of the iterations that the record tells, which are the candidate's.
        ratios = [Fraction(*reversed(_iterations(baseline, candidate, pair))) if side == 0 else 1 for pair in shared]
        counts += [
            _scale_count(count, ratios[place]).model_copy(update={"benchmark": place, "side": side})
            for count in counting.counts
            if (place := places.get(count.benchmark)) is not None
        ]
        functions += [
            _scale_functions(part, ratios[place]).model_copy(update={"benchmark": place, "side": side})
            for part in counting.functions
            if (place := places.get(part.benchmark)) is not None
        ]
    return Counting(tool=_counting(candidate).tool, counts=counts, functions=functions)


def _scale_count(count: Count, ratio: Fraction | int) -> Count:
    """Return what a count would be for `ratio` times the iterations."""
    if ratio == 1:
        return count
    processes = [one.model_copy(update={"events": _scale_events(one.events, ratio)}) for one in count.processes]
    return count.model_copy(update={"events": _scale_events(count.events, ratio), "processes": processes})


def _scale_events(events: dict[str, int], ratio: Fraction | int) -> dict[str, int]:
    return {event: round(number * ratio) for event, number in events.items()}


def _scale_functions(part: Functions, ratio: Fraction | int) -> Functions:
    if ratio == 1:
        return part
    events = {event: [round(number * ratio) for number in numbers] for event, numbers in part.events.items()}
    inclusive = None if part.inclusive is None else [round(number * ratio) for number in part.inclusive]
    return part.model_copy(update={"events": events, "inclusive": inclusive})
