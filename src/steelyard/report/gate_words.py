"""What a gate says, in sentences, for every format that speaks to people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.model.derived import Verdict
from steelyard.model.gate import GateReport, Judged
from steelyard.model.kept import CONTROL_ALARM, NEW_SUITE, Finding
from steelyard.model.launches import ROLES, USED
from steelyard.model.metrics import METRICS, is_counted
from steelyard.model.records import Weighing
from steelyard.report import budgets, disturbances, figures, printable, sentences, suite_mean
from steelyard.stats.verdict import excludes_no_change

_WITHOUT_VERDICT = ("added", "removed", "failed", NEW_SUITE)
_LONGEST_PROBLEM, _LONGEST_NAME = 400, 60
MOST_SAID = 10
"""Of so many weighings it is said what would decide them."""


def headline(report: GateReport) -> str:
    """The answer in a few words, without its first, which is the verdict's: `2 of 40 benchmarks are slower ...`."""
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
    """What was found of benchmarks that only one side has, or that failed: each has no verdict."""
    found = (finding for weighing in report.weighings for finding in weighing.findings)
    return list({finding.message: finding for finding in found if finding.code in _WITHOUT_VERDICT}.values())


def not_compared(report: GateReport) -> list[Finding]:
    """Those of them that no problem tells, with its record, nor the headline."""
    said = "\n".join([*report.problems, headline(report)])
    return [finding for finding in uncompared(report) if finding.message not in said]


def cut(text: str, most: int) -> str:
    """The beginning of a text that is longer than so many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def tally(report: GateReport) -> str:
    """Count the verdicts that the answer hangs on, which are by margins and not by limits: `weighed as 1 slower`."""
    counted = figures.tally(one.verdict.verdict for one in report.deciding)
    return f"weighed as {counted}" if counted else ""


def estimate(judged: Judged) -> str:
    """Write the change of one benchmark, with its interval, so that it is seen on which side of its limit each is."""
    return sentences.estimate(judged.verdict, judged.above)


def limit(judged: Judged) -> str:
    """Write the limit of one benchmark."""
    above = judged.above
    return "none" if above is None else figures.threshold(above)


def why_open(judged: Judged, *, alone: bool = True) -> str:
    """Say why it is not known whether a benchmark keeps to its limit.

    And what would tell, if it is `alone`: of several `what_would_decide` says it once.
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
    """The same where no notes are shown, as in an annotation."""
    return why_open(judged).replace(budgets.SEE_NOTE, "")


def _not_above(verdict: Verdict, interval: tuple[float, float]) -> str:
    """Say which half of the rule an open benchmark does not meet: chance is excluded, and the estimate is larger."""
    if verdict.is_change:
        return "the estimate does not"
    surely = " surely enough for one of several benchmarks" if excludes_no_change(interval) else ""
    return f"chance is not excluded{surely}"


def _ended_by_another_margin(judged: Judged) -> bool:
    """Whether its weighing ended by a margin that is not its limit, and would go on with that one."""
    verdict, settings = judged.verdict, judged.weighing.settings
    margin = settings.margin if verdict.margin is None else verdict.margin
    is_other = judged.limit is not None and bool(judged.above) and judged.above != margin
    is_known = verdict.interval is not None and not budgets.is_withheld(verdict) and not is_counted(verdict.metric)
    # What another metric shows ends no weighing; one that the first fell back to is not asked for.
    is_first = verdict.metric == settings.metrics[0] or verdict.metric not in settings.metrics
    return is_other and is_known and is_first and judged.reason in ("decided", "futile")


def _with_its_limit(opened: Sequence[Judged]) -> str:
    limits = {one.above for one in opened if one.above is not None}
    which = f"--margin {100 * limits.pop():.6g}%" if len(limits) == 1 else "its limit for a margin"
    if len(opened) == 1:
        return f"its weighing ended by another margin: with {which} it goes on until that is decided"
    return f"{len(opened):,} of them ended by another margin: with {which} each goes on until that is decided"


def what_would_decide(opened: Sequence[Judged]) -> list[str]:
    """Say of several open benchmarks what would decide them, once for each weighing; of one `why_open` says it."""
    if len(opened) < 2:
        return []
    said: list[str] = []
    by_record = {id(one.weighing): one for one in opened}
    for first in [*by_record.values()][:MOST_SAID]:
        mine = [one for one in opened if one.weighing is first.weighing and one.verdict.verdict == "undecided"]
        # What lies on both sides of a limit of the gate's own is not what its weighing was to decide.
        lacking = [one.verdict for one in mine if one.limit is None or one.verdict.interval is None]
        ways = budgets.budget_of_all(lacking, first.weighing) if lacking else []
        by_others = [one for one in opened if one.weighing is first.weighing and _ended_by_another_margin(one)]
        ways += [_with_its_limit(by_others)] if by_others else []
        said += ways if len(by_record) == 1 else [f"{first.source}: {way}" for way in ways]
    return said


def methods(report: GateReport) -> list[str]:
    """Say how it was measured, judged and held to limits: what holds of several weighings once."""
    measured = [one for one in report.weighings if one.new_suite is None and one.identical is None]
    said = dict.fromkeys(map(_method, measured))
    strict = "; what stays undecided fails too" if report.limits.strict else ""
    return [*said, f"the gate fails {_where_it_fails(report)}{strict}"]


def _where_it_fails(report: GateReport) -> str:
    """Name the limits, and the verdict where one decides without any."""
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
    """Name the pairs that were judged by how they ran: what was asked for may have been left."""
    judged = np.asarray(weighing.launches.role, dtype=int) == ROLES.index(USED)
    tandem = weighing.launches.in_tandem()[judged]
    if not len(tandem):
        return "pairs"
    if not tandem.any():
        return "adjacent pairs"
    return "pairs in tandem" if tandem.all() else "pairs, some of them in tandem,"


def machines(report: GateReport) -> list[str]:
    """Say on which machines it was measured."""
    return list(dict.fromkeys(_machine(weighing) for weighing in report.weighings))


def _machine(weighing: Weighing) -> str:
    machine = weighing.machine
    facts = [machine.cpu_model or "an unknown processor", figures.count(machine.cores_logical, "core")]
    return ", ".join([*facts, *(fact for fact in (machine.virtualization, machine.kernel) if fact)])


def means(report: GateReport) -> list[str]:
    """Write the geometric means of its suites, of several weighings with the name of the record."""
    of_each = zip(report.sources, map(suite_mean.of_each_metric, report.weighings), strict=True)
    several = len(report.weighings) > 1
    return [f"{source}: {line}" if several else line for source, lines in of_each for line in lines]


def resolution(report: GateReport) -> str | None:
    """Say how small a change would have been found, over all benchmarks."""
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
    """Say how many launches other work on the machine disturbed."""
    return disturbances.of_several(_first_with(report, "worst_delay"))


def _first_with(report: GateReport, known: str) -> list[Verdict]:
    """Of each benchmark the first verdict of which this is known; those in other metrics rest on the same launches."""
    some = [one for one in report.deciding if getattr(one.verdict, known) is not None]
    found = {(id(one.weighing), one.verdict.index): one.verdict for one in reversed(some)}
    return [*reversed(found.values())]
