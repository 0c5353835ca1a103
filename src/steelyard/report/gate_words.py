"""A gate's answer in sentences, for every format for human readers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.model.derived import Verdict
from steelyard.model.gate import GateReport, Judged
from steelyard.model.kept import CONTROL_ALARM, NEW_SUITE, Finding
from steelyard.model.metrics import METRICS, is_counted
from steelyard.model.records import Weighing
from steelyard.model.rows import ROLES, USED
from steelyard.report import budgets, disturbances, figures, printable, sentences, suite_mean
from steelyard.stats.verdict import excludes_no_change

_WITHOUT_VERDICT = ("added", "removed", "failed", NEW_SUITE)
_LONGEST_PROBLEM, _LONGEST_NAME = 400, 60
MOST_SAID = 10
"""For at most this many weighings, say what would decide them."""


def headline(report: GateReport) -> str:
    """Return the answer in a few words, to follow the verdict: `2 of 40 verdicts are above their limits ...`."""
    if report.problems:
        more = len(report.problems) - 1
        return cut(report.problems[0], _LONGEST_PROBLEM) + (
            f" (and {figures.count(more, 'more problem')})" if more else ""
        )
    if report.is_all_new:
        return cut(report.new_suites[0].message, _LONGEST_PROBLEM)
    many = figures.count(len(report.deciding), "verdict")
    if report.slower:
        above = "is above its limit" if len(report.slower) == 1 else "are above their limits"
        worst = report.slower[0]
        name = printable.shorten(printable.plain(worst.verdict.benchmark), _LONGEST_NAME)
        which = "; the worst" if len(report.slower) > 1 else ""
        return f"{len(report.slower):,} of {many} {above}{which}: {name}, {estimate(worst)}"
    if report.undecided:
        stayed = f"{len(report.undecided):,} of {many} stayed open"
        if report.is_too_open:
            return f"nothing was found above its limit, but {stayed}, which fails a strict gate"
        return f"nothing was found above its limit, and {stayed}"
    return f"nothing was found above its limit, {many}"


def uncompared(report: GateReport) -> list[Finding]:
    """Return the findings about benchmarks without a verdict: those that only one side has, or that failed."""
    found = (finding for weighing in report.weighings for finding in weighing.findings)
    return list({finding.message: finding for finding in found if finding.code in _WITHOUT_VERDICT}.values())


def not_compared(report: GateReport) -> list[Finding]:
    """Return those of the `uncompared` findings that neither a problem nor the headline states already."""
    said = "\n".join([*report.problems, headline(report)])
    return [finding for finding in uncompared(report) if finding.message not in said]


def cut(text: str, most: int) -> str:
    """Return a text, cut to at most `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def tally(report: GateReport) -> str:
    """Count the verdicts that decide the answer, by margins and not by limits: `weighed as 1 slower`."""
    counted = figures.tally(one.verdict.verdict for one in report.deciding)
    return f"weighed as {counted}" if counted else ""


def estimate(judged: Judged) -> str:
    """Write one benchmark's change and interval so that each number shows on which side of the limit it is."""
    return sentences.estimate(judged.verdict, judged.above)


def limit(judged: Judged) -> str:
    """Write one benchmark's limit."""
    above = judged.above
    return "none" if above is None else figures.threshold(above)


def why_open(judged: Judged, *, alone: bool = True) -> str:
    """Say why it is not known whether a benchmark keeps to its limit.

    If it is the only open one (`alone`), also say what would decide it; of several, `what_would_decide` says so once.
    """
    verdict, settings = judged.verdict, judged.weighing.settings
    if verdict.change is None:
        undefined = [finding.message for finding in verdict.findings if finding.code == "undefined"]
        return undefined[0] if undefined else "no pair was measured to its end"
    said = [finding.message for finding in verdict.findings if finding.code == CONTROL_ALARM]
    if judged.limit is not None and verdict.interval is not None and not said:
        but = _not_above(verdict, verdict.interval)
        said.append(f"the interval reaches above the limit of {limit(judged)}, but {but}")
    if verdict.verdict == "undecided" and not said:
        said = sentences.explanation(verdict, settings, judged.reason)
        said = said if alone else said[:1]
    if alone and (smallest := sentences.resolution(verdict)):
        said.append(smallest)
    if alone and _ended_by_another_margin(judged):
        said.append(_with_its_limit([judged]))
    return "; ".join(said)


def why_open_by_itself(judged: Judged) -> str:
    """Do as `why_open` for a place that shows no notes, such as an annotation."""
    return why_open(judged).replace(budgets.SEE_NOTE, "")


def _not_above(verdict: Verdict, interval: tuple[float, float]) -> str:
    """Say which half of the rule fails: chance must be excluded, and the estimate must be above the limit."""
    if verdict.is_change:
        return "the estimate does not"
    surely = " surely enough for one of several benchmarks" if excludes_no_change(interval) else ""
    return f"chance is not excluded{surely}"


def _ended_by_another_margin(judged: Judged) -> bool:
    """Return whether its weighing ended by a margin other than its limit, and would go on with that one."""
    verdict, settings = judged.verdict, judged.weighing.settings
    margin = settings.margin if verdict.margin is None else verdict.margin
    is_other = judged.limit is not None and bool(judged.above) and judged.above != margin
    is_known = verdict.interval is not None and not budgets.is_withheld(verdict) and not is_counted(verdict.metric)
    # Only the first metric ends a weighing; a metric that it fell back to is not among those asked for.
    is_first = verdict.metric == settings.metrics[0] or verdict.metric not in settings.metrics
    return is_other and is_known and is_first and judged.reason in ("decided", "futile")


def _with_its_limit(opened: Sequence[Judged]) -> str:
    limits = {one.above for one in opened if one.above is not None}
    which = f"--margin {100 * limits.pop():.6g}%" if len(limits) == 1 else "its limit for a margin"
    if len(opened) == 1:
        return f"its weighing ended by another margin: a new one with {which} goes on until that is decided"
    new = f"a new one of each with {which} goes on until that is decided"
    return f"{len(opened):,} of them ended by another margin: {new}"


def what_would_decide(opened: Sequence[Judged]) -> list[str]:
    """Say what would decide several open benchmarks, once per weighing; for a single one, `why_open` says it."""
    if len(opened) < 2:
        return []
    said: list[str] = []
    by_record = {id(one.weighing): one for one in opened}
    for first in [*by_record.values()][:MOST_SAID]:
        mine = [one for one in opened if one.weighing is first.weighing and one.verdict.verdict == "undecided"]
        # An interval that crosses the gate's own limit is not what its weighing was to decide.
        lacking = [one.verdict for one in mine if one.limit is None or one.verdict.interval is None]
        ways = budgets.budget_of_all(lacking, first.weighing) if lacking else []
        by_others = [one for one in opened if one.weighing is first.weighing and _ended_by_another_margin(one)]
        ways += [_with_its_limit(by_others)] if by_others else []
        said += ways if len(by_record) == 1 else [f"{first.source}: {way}" for way in ways]
    return said


def methods(report: GateReport) -> list[str]:
    """Say how everything was measured, judged and held to limits; what several weighings share is said once."""
    measured = [one for one in report.weighings if one.new_suite is None and one.identical is None]
    said = dict.fromkeys(map(_method, measured))
    strict = "; what stays undecided fails too" if report.limits.strict else ""
    return [*said, f"the gate fails {_where_it_fails(report)}{strict}"]


def _where_it_fails(report: GateReport) -> str:
    """Name the limits; add the verdict if some benchmarks have no limit and go by that."""
    limits = ", ".join(map(str, report.limits.limits))
    by_verdict = "where the verdict is slower"
    if not limits:
        return by_verdict
    has_others = any(one.limit is None for one in report.deciding)
    return f"above {limits}" + (f", and without such a limit {by_verdict}" if has_others else "")


def _method(weighing: Weighing) -> str:
    settings = weighing.settings
    margins = sentences.margins(weighing) or figures.threshold(settings.margin)
    judged = f"alpha {settings.alpha:g} ({settings.family}), margin {margins}"
    metrics = ", ".join(sentences.metric(name, settings) for name in settings.metrics)
    if all(METRICS[name].counted for name in settings.metrics):
        return f"counted under Valgrind; {judged}; {metrics}"
    return f"{_pairs(weighing)} in an order drawn at random, seed {settings.seed}; {judged}; {metrics}"


def _pairs(weighing: Weighing) -> str:
    """Say how the judged pairs actually ran, which may differ from what was asked for."""
    judged = np.asarray(weighing.launches.role, dtype=int) == ROLES.index(USED)
    tandem = weighing.launches.in_tandem()[judged]
    if not len(tandem):
        return "pairs"
    if not tandem.any():
        return "adjacent pairs"
    return "pairs in tandem" if tandem.all() else "pairs, some of them in tandem,"


def machines(report: GateReport) -> list[str]:
    """Say on which machines the weighings were measured."""
    return list(dict.fromkeys(_machine(weighing) for weighing in report.weighings))


def _machine(weighing: Weighing) -> str:
    machine = weighing.machine
    facts = [machine.cpu_model or "an unknown processor", figures.count(machine.cores_logical, "core")]
    return ", ".join([*facts, *(fact for fact in (machine.virtualization, machine.kernel) if fact)])


def means(report: GateReport) -> list[str]:
    """Write the geometric mean of each suite; with several weighings, after the record's name."""
    of_each = zip(report.sources, map(suite_mean.of_each_metric, report.weighings), strict=True)
    several = len(report.weighings) > 1
    return [f"{source}: {line}" if several else line for source, lines in of_each for line in lines]


def resolution(report: GateReport) -> str | None:
    """Say how small a change would have been found, over all benchmarks; None if no verdict tells."""
    known = sorted(one.resolution or 0.0 for one in _first_with(report, "resolution"))
    if not known:
        return None
    if len(known) == 1:
        return f"a change of {figures.extent(known[0])} would have been found 9 times out of 10"
    middle = known[(len(known) - 1) // 2]
    return (
        f"of half the benchmarks a change of {figures.extent(middle)} would have been found 9 times out of 10, of the "
        f"noisiest one of {figures.extent(known[-1])}"
    )


def noise(report: GateReport) -> str | None:
    """Say how many launches other work on the machine disturbed; None if it disturbed none."""
    return disturbances.of_several(_first_with(report, "worst_delay"))


def _first_with(report: GateReport, known: str) -> list[Verdict]:
    """Return each benchmark's first deciding verdict in which this field is known.

    Its verdicts in other metrics rest on the same launches.
    """
    some = [one for one in report.deciding if getattr(one.verdict, known) is not None]
    found = {(id(one.weighing), one.verdict.index): one.verdict for one in reversed(some)}
    return [*reversed(found.values())]
