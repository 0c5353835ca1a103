"""Describes imports one by one, and judges two of them: as two kept runs, as far as that applies.

A process counts as one launch does, by the median of its samples, since samples of one process are not independent.
Only the order of the processes is told, not when each began, nor how long it waited for a processor. In runs, knowing
that wait keeps a burst of other work from looking like a change: without it, 20 processes a side of one program were
called different 6.6 % of the time on the trace `bursts`, 30 1.2 %, and 40 or more never in 500 tries
(benchmarks/diff_imports.py). So there can be verdicts from 40 on, with as much drift assumed as for short runs. With
fewer there is none, whatever the change: it is shown with an interval that includes the drift that could be seen. A
machine that changed between two imports shows in neither: 47 of 780 pairs of live ones were called different under a
changing load. So whoever wants a verdict has to vouch for the same conditions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import expm1, isfinite
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from steelyard.design.findings import coarse_clock_finding, some_names
from steelyard.design.unpaired.differences import OTHER_MACHINE, difference_finding, left_out_findings
from steelyard.design.unpaired.terms import Terms
from steelyard.model.errors import UsageError
from steelyard.model.findings import Finding
from steelyard.model.foreign import (
    ForeignBenchmark,
    ForeignReport,
    ForeignResults,
    ForeignVerdict,
    Level,
    other_machine,
)
from steelyard.model.grouping import grouped
from steelyard.model.samples import concatenated
from steelyard.report.figures import count
from steelyard.stats.clock import clock_quantisation
from steelyard.stats.summary import centres, row_medians
from steelyard.stats.unpaired import FEWEST_SECONDS, RunValues, UnpairedJudgement, judge_unpaired, least_allowance

if TYPE_CHECKING:
    from steelyard.model.derived import SuiteMean
    from steelyard.model.launches import FloatArray

FEWEST_PROCESSES = 40
# Values in one of these units, alone or per something, come from a clock.
_TIME_UNITS = ("ns", "us", "µs", "ms", "s", "min")
# No number can hold the ratio of a larger log-ratio.
_MOST_LOG_RATIO = 700.0


def describe_levels(benchmarks: Sequence[ForeignBenchmark]) -> list[Level]:
    """Return a description of each of some benchmarks of an import."""
    return [described.level for described in _describe(benchmarks)]


class _DescribedBenchmark(NamedTuple):
    """A benchmark, with the medians of its processes."""

    benchmark: ForeignBenchmark
    level: Level
    medians: FloatArray


def _describe(benchmarks: Sequence[ForeignBenchmark]) -> list[_DescribedBenchmark]:
    processes = [values for benchmark in benchmarks for values in benchmark.values]
    samples = np.array([len(values) for values in processes])
    counts = np.array([len(benchmark.values) for benchmark in benchmarks])
    medians, spreads = centres(np.frombuffer(concatenated(processes)), samples)
    over = zip(*centres(medians, counts), strict=True)
    apart = (np.split(each, np.cumsum(counts)[:-1]) for each in (medians, spreads, samples))
    return [
        _DescribedBenchmark(benchmark, _level(middle, spreads[samples > 1], samples), medians)
        for benchmark, middle, medians, spreads, samples in zip(benchmarks, over, *apart, strict=True)
    ]


def _level(over: tuple[float, float], within: FloatArray, samples: npt.NDArray[np.intp]) -> Level:
    """Return the level of a benchmark, from the median and spread `over` its processes and the spreads within them."""
    return Level(
        median=float(over[0]),
        between=float(over[1]) if len(samples) > 1 else None,
        within=float(row_medians(within[None])[0]) if len(within) else None,
        processes=len(samples),
        samples=int(samples.sum()),
    )


def compare_foreign(baseline: ForeignResults, candidate: ForeignResults, terms: Terms) -> ForeignReport:
    """Judge the candidate against the baseline, in each benchmark that both have; those that tell enough share alpha.

    Unless somebody vouches that both were measured under the same conditions, every verdict is `undecided`.

    Raises UsageError for results that cannot be compared: of different tools, machines (unless forced), units.
    """
    _check_comparable(baseline, candidate, force=terms.force)
    shared = _shared_benchmarks(baseline, candidate)
    level = terms.alpha / (sum(_shortage(*pair) is None for pair in shared) or len(shared))
    own_terms = replace(terms, alpha=level)
    findings = [*_differences(baseline, candidate), *_unshared_findings(baseline, candidate, shared)]
    shared = terms.chosen(shared, lambda pair: pair[1].name)
    sides = (_describe([pair[side] for pair in shared]) for side in (0, 1))
    verdicts = [_verdict(one, other, own_terms) for one, other in zip(*sides, strict=True)]
    return ForeignReport(baseline, candidate, terms.margin, level, verdicts, findings, _means(verdicts))


def _means(verdicts: Sequence[ForeignVerdict]) -> list[SuiteMean]:
    """Return the means of the changes that can be averaged: those in one unit, with the same direction."""
    kinds = grouped(verdicts, lambda one: (one.unit, one.higher_is_better))
    if all(len(members) == 1 for members in kinds.values()):
        return []
    # Imported here, as what weighings need takes as long to load as all else in this module.
    from steelyard.design.judging.suite_means import mean_of
    from steelyard.report.foreign import direction

    of_units = Counter(unit for unit, _ in kinds)
    return [
        mean
        for (unit, higher), members in kinds.items()
        for mean in mean_of(unit if of_units[unit] == 1 else f"{unit}, {direction(higher)}", members, independent=False)
    ]


def _check_comparable(baseline: ForeignResults, candidate: ForeignResults, *, force: bool) -> None:
    if baseline.provenance.format != candidate.provenance.format:
        raise UsageError(
            f"A was measured by {baseline.provenance.tool} and B by {candidate.provenance.tool}, which do not measure "
            "the same: take one tool for both"
        )
    if not force and (difference := other_machine(baseline.machine, candidate.machine)):
        raise UsageError(
            f"A and B were measured on different machines ({difference}), which differ by more than most changes: "
            "measure both on one, or give --force"
        )


def _shared_benchmarks(
    baseline: ForeignResults, candidate: ForeignResults
) -> list[tuple[ForeignBenchmark, ForeignBenchmark]]:
    """Return the benchmarks of both, by name; but a single command with a single one, whatever their names."""
    theirs = {benchmark.name: benchmark for benchmark in candidate.benchmarks}
    shared = [(one, theirs[one.name]) for one in baseline.benchmarks if one.name in theirs]
    # Its benchmarks are called by their commands, which differ where two builds are compared.
    is_of_hyperfine = baseline.provenance.format == "hyperfine"
    if is_of_hyperfine and len(baseline.benchmarks) == len(candidate.benchmarks) == 1:
        shared = [(baseline.benchmarks[0], candidate.benchmarks[0])]
    if not shared:
        raise UsageError(
            f"A and B have no benchmark in common: A has {some_names([one.name for one in baseline.benchmarks])}, and "
            f"B {some_names([one.name for one in candidate.benchmarks])}"
        )
    files = {one.sha256 for one in candidate.provenance.files}
    files_in_both = [one.name for one in baseline.provenance.files if one.sha256 in files]
    for one, other in shared:
        if files_in_both and one.name == other.name:
            has_several_commands = is_of_hyperfine and len(baseline.benchmarks) > 1
            hint = ", or import its commands apart, each by --benchmark" if has_several_commands else ""
            raise UsageError(
                f"{files_in_both[0]} is in both A and B: give two that were measured one after the other{hint}"
            )
        _check_unit(one, other)
    return shared


def _check_unit(one: ForeignBenchmark, other: ForeignBenchmark) -> None:
    if one.unit != other.unit:
        raise UsageError(f"{one.name} is in {one.unit} in A and in {other.unit} in B: measure both in one unit")
    if one.higher_is_better != other.higher_is_better:
        better = ("lower", "higher")
        raise UsageError(
            f"of {one.name}, {better[one.higher_is_better]} is better in A and {better[other.higher_is_better]} in B: "
            "measure the same in both"
        )


def _differences(baseline: ForeignResults, candidate: ForeignResults) -> Iterator[Finding]:
    if other_machine(baseline.machine, candidate.machine):
        yield OTHER_MACHINE
    sources = {f"{baseline.provenance.tool} version": (baseline.provenance.version, candidate.provenance.version)}
    names = dict.fromkeys([*baseline.machine, *candidate.machine])
    sources |= {name: (baseline.machine.get(name), candidate.machine.get(name)) for name in names}
    for name, (one, other) in sources.items():
        if one != other:
            yield difference_finding(name, one or "not told", other or "not told")


def _unshared_findings(
    baseline: ForeignResults, candidate: ForeignResults, shared: list[tuple[ForeignBenchmark, ForeignBenchmark]]
) -> Iterator[Finding]:
    unshared = []
    for side, record in enumerate((baseline, candidate)):
        shared_names = {pair[side].name for pair in shared}
        unshared.append([one.name for one in record.benchmarks if one.name not in shared_names])
    yield from left_out_findings(unshared)


# --- the verdict


def _verdict(baseline: _DescribedBenchmark, candidate: _DescribedBenchmark, terms: Terms) -> ForeignVerdict:
    one, other = baseline.benchmark, candidate.benchmark
    sign = -1 if one.higher_is_better else 1  # the cost is judged: what takes more of it is slower
    sides = _values_of(baseline, sign), _values_of(candidate, sign)
    hidden = clock_quantisation(baseline.medians, candidate.medians) if one.unit.split("/")[0] in _TIME_UNITS else 0.0
    judgement = judge_unpaired(*sides, terms.margin, terms.alpha, quantisation=hidden)
    findings = list(_findings(one, other, judgement, terms))
    is_drift_known = isfinite(judgement.allowance)
    lower, upper = (
        (judgement.lower, judgement.upper) if is_drift_known else _interval_with_least_drift(judgement, terms.alpha)
    )
    is_bounded = max(-lower, upper) < _MOST_LOG_RATIO
    ends = sorted((expm1(sign * lower), expm1(sign * upper))) if is_bounded else None
    return ForeignVerdict(
        benchmark=other.name,
        unit=one.unit,
        higher_is_better=one.higher_is_better,
        verdict="undecided" if findings else judgement.verdict,
        change=expm1(sign * judgement.shift.centre),
        interval=(ends[0], ends[1]) if ends else None,
        block_spreads=(expm1(judgement.block_spreads[0]), expm1(judgement.block_spreads[1]))
        if is_drift_known
        else None,
        assumed=judgement.floor,
        baseline=baseline.level,
        candidate=candidate.level,
        findings=findings,
    )


def _values_of(described: _DescribedBenchmark, sign: int) -> RunValues:
    """Return its processes as a run that took no longer than it has to: the time between them is not told."""
    return RunValues(sign * np.log(described.medians), min(described.benchmark.seconds or 0.0, FEWEST_SECONDS))


def _interval_with_least_drift(judgement: UnpairedJudgement, alpha: float) -> tuple[float, float]:
    """Return the interval with the least drift in it, where more cannot be ruled out: shown, but never judged."""
    allowance = least_allowance(judgement.floor, alpha) + judgement.quantisation
    return judgement.shift.lower - allowance, judgement.shift.upper + allowance


def _findings(
    one: ForeignBenchmark, other: ForeignBenchmark, judgement: UnpairedJudgement, terms: Terms
) -> Iterator[Finding]:
    """Yield why there can be no verdict, if there can be none."""
    if shortage := _shortage(one, other):
        yield shortage
    elif not isfinite(judgement.allowance + judgement.shift.upper):
        yield Finding(code="cannot-tell", message="too few processes can never show anything at so small an --alpha")
    elif judgement.verdict == "undecided" and (coarse := coarse_clock_finding(judgement.quantisation, terms.margin)):
        yield coarse
    elif judgement.verdict != "undecided" and not terms.same_conditions:
        yield Finding(
            code="cannot-tell",
            message="what changed on the machine between A and B shows in neither of them, so no verdict can be given",
            remedy=f"--same-conditions, if nothing did: then it is {judgement.verdict}; else use steelyard compare",
        )


def _shortage(one: ForeignBenchmark, other: ForeignBenchmark) -> Finding | None:
    """Return why two benchmarks can have no verdict, whatever their values are; None if they can."""
    if min(len(one.values), len(other.values)) < FEWEST_PROCESSES:
        return Finding(
            code="cannot-tell",
            message=f"{count(len(one.values), 'process')} in A and {len(other.values)} in B: fewer than "
            f"{FEWEST_PROCESSES} do not show how the level wanders from one to the next, so no verdict can be given",
            remedy="import more processes (several files at once are so many), or weigh both with steelyard compare",
        )
    if min(one.seconds or 0.0, other.seconds or 0.0) < FEWEST_SECONDS:
        return Finding(
            code="cannot-tell",
            message=f"the processes of one side took less than {FEWEST_SECONDS:g} s in all, or do not tell: that does "
            "not show how a machine drifts, so no verdict can be given",
            remedy="measure for longer, or weigh both with steelyard compare",
        )
    return None
