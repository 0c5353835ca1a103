"""A gate's answer in sentences, for every format for human readers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.model.derived import Verdict
from steelyard.model.findings import CONTROL_ALARM, NEW_SUITE, Finding
from steelyard.model.gate import GateReport, Judged, worst_first
from steelyard.model.grouping import grouped
from steelyard.model.machine import MachineFacts
from steelyard.model.metrics import is_counted
from steelyard.model.records import Weighing
from steelyard.model.rows import USED
from steelyard.report import budgets, disturbances, figures, printable, sentences, suite_mean
from steelyard.stats.verdict import excludes_no_change

_CODES_WITHOUT_VERDICT = ("added", "removed", "failed", NEW_SUITE)
_LONGEST_PROBLEM, _LONGEST_NAME = 400, 60
MOST_WEIGHINGS_ADVISED = 10
"""For at most this many weighings, say what would decide them."""


def headline(report: GateReport) -> str:
    """Return the answer in a few words, to follow the verdict: `2 of 40 verdicts are above their limits ...`."""
    if report.problems:
        number_of_others = len(report.problems) - 1
        return shortened(report.problems[0], _LONGEST_PROBLEM) + (
            f" (and {figures.count(number_of_others, 'more problem')})" if number_of_others else ""
        )
    if reasons := report.nothing_compared:
        return shortened("; ".join(reason.message for reason in reasons), _LONGEST_PROBLEM)
    number_of_verdicts = figures.count(len(report.deciding), "verdict")
    if report.slower:
        are_above = "is above its limit" if len(report.slower) == 1 else "are above their limits"
        worst = report.slower[0]
        name = printable.shown(worst.verdict.benchmark, _LONGEST_NAME)
        worst_hint = "; the worst" if len(report.slower) > 1 else ""
        accepted_hint = f"; {accepted_count(report)}" if report.accepted else ""
        return (
            f"{len(report.slower):,} of {number_of_verdicts} {are_above}{worst_hint}: {name}, "
            f"{estimate(worst)}{accepted_hint}"
        )
    nothing = f"{accepted_count(report)}, and {nothing_above(report)}" if report.accepted else nothing_above(report)
    if report.undecided:
        stayed_open = f"{len(report.undecided):,} of {number_of_verdicts} stayed open"
        if report.is_too_open:
            return f"{nothing}, but {stayed_open}, which fails a strict gate"
        return f"{nothing}, and {stayed_open}"
    return f"{nothing}, {number_of_verdicts}"


def nothing_above(report: GateReport) -> str:
    """Say that nothing that is not accepted was found above its limit."""
    return f"nothing {'else ' if report.accepted else ''}was found above its limit"


def accepted_count(report: GateReport) -> str:
    """Count what is above its limit and accepted: `1 slower and accepted`."""
    return f"{len(report.accepted):,} slower and accepted"


def accepted(judged: Judged) -> str:
    """Say what is accepted of a slowdown above its limit, and why; empty if nothing is."""
    if (entry := judged.accepted) is None:
        return ""
    what = "more than the accepted" if judged.standing == "above" else "accepted up to"
    return f"{what} {figures.threshold(entry.above)} ({entry.reason})"


def above_limit(judged: Judged) -> str:
    """Say of what is above its limit by how much, which limit that is, and what is accepted."""
    said = f"{estimate(judged)} is above the limit of {limit(judged)}"
    return ", ".join(filter(None, (said, accepted(judged))))


def findings_without_verdict(report: GateReport) -> list[Finding]:
    """Return the findings about benchmarks without a verdict: those that only one side has, or that failed."""
    found = (finding for weighing in report.weighings for finding in weighing.findings)
    return list({finding.message: finding for finding in found if finding.code in _CODES_WITHOUT_VERDICT}.values())


def unstated_findings(report: GateReport) -> list[Finding]:
    """Return those of the `findings_without_verdict` that neither a problem nor the headline states already."""
    stated = "\n".join([*report.problems, headline(report)])
    return [finding for finding in findings_without_verdict(report) if finding.message not in stated]


def shortened(text: str, most_characters: int) -> str:
    """Return a text, cut to at most this many characters."""
    return text if len(text) <= most_characters else f"{text[: most_characters - 1]}…"


def tally(report: GateReport) -> str:
    """Count the verdicts that decide the answer, by margins and not by limits: `weighed as 1 slower`."""
    counts = figures.tally(one.verdict.verdict for one in report.deciding)
    return f"weighed as {counts}" if counts else ""


def estimate(judged: Judged) -> str:
    """Write one benchmark's change and interval so that each number shows on which side of the limit it is."""
    return sentences.estimate(judged.verdict, judged.decided_by)


def limit(judged: Judged) -> str:
    """Write one benchmark's limit."""
    above = judged.above
    return "none" if above is None else figures.threshold(above)


def why_open(judged: Judged, *, is_alone: bool = True) -> str:
    """Say why it is not known whether a benchmark keeps to its limit.

    If it is the only one (`is_alone`), also say what would decide it; of several, `what_would_decide` says so once.
    """
    verdict = judged.verdict
    if verdict.change is None:
        undefined = [finding.message for finding in verdict.findings if finding.code == "undefined"]
        return undefined[0] if undefined else budgets.NO_PAIR
    reasons = [finding.message for finding in verdict.findings if finding.code == CONTROL_ALARM]
    if (judged.limit or judged.accepted) and verdict.interval is not None and not reasons:
        bound = _bound(judged)
        reasons.append(f"the interval reaches above the {bound}, but {_unmet_condition(verdict, verdict.interval)}")
    if verdict.verdict == "undecided" and not reasons:
        reasons = sentences.explanation(verdict, judged.weighing)
        reasons = reasons if is_alone else reasons[:1]
    if is_alone and (smallest := sentences.resolution(verdict)):
        reasons.append(smallest)
    if is_alone and _ended_by_another_margin(judged):
        reasons.append(_limit_advice([judged]))
    return "; ".join(reasons)


def open_reasons(report: GateReport) -> Iterator[tuple[Judged, str]]:
    """Return what is open and no problem already, the worst first, with why it is; a single one also with a way out."""
    is_alone = len(report.undecided) == 1
    return ((one, why_open(one, is_alone=is_alone)) for one in worst_first(report.undecided_with_data))


def _bound(judged: Judged) -> str:
    if (entry := judged.accepted) is None:
        return f"limit of {limit(judged)}"
    return f"{figures.threshold(entry.above)} that are accepted ({entry.reason})"


def why_open_by_itself(judged: Judged) -> str:
    """Do as `why_open` for a place that shows no notes, such as an annotation."""
    return why_open(judged).replace(budgets.SEE_NOTE, "")


def _unmet_condition(verdict: Verdict, interval: tuple[float, float]) -> str:
    """Say which half of the rule fails: chance must be excluded, and the estimate must be above the limit."""
    if verdict.is_change:
        return "the estimate does not"
    if is_counted(verdict.metric) and verdict.pairs_needed is not None:
        return f"{verdict.pairs_needed} counts a side are needed to exclude chance"
    enough = " surely enough for one of several benchmarks" if excludes_no_change(interval) else ""
    return f"chance is not excluded{enough}"


def _ended_by_another_margin(judged: Judged) -> bool:
    """Return whether its weighing ended by a margin other than its limit, and would go on with that one."""
    verdict, settings = judged.verdict, judged.weighing.settings
    bound = judged.decided_by
    is_other = bool(judged.limit or judged.accepted) and bool(bound) and bound != settings.margin_of(verdict)
    is_known = verdict.interval is not None and not budgets.is_withheld(verdict) and not is_counted(verdict.metric)
    # Only the first metric ends a weighing; a metric that it fell back to is not among those asked for.
    is_first = verdict.metric == settings.metrics[0] or verdict.metric not in settings.metrics
    return is_other and is_known and is_first and judged.reason in ("decided", "futile")


def _limit_advice(open_benchmarks: Sequence[Judged]) -> str:
    limits = {one.decided_by for one in open_benchmarks if one.decided_by is not None}
    margin_option = f"--margin {100 * limits.pop():.6g}%" if len(limits) == 1 else "its limit for a margin"
    if len(open_benchmarks) == 1:
        return f"its weighing ended by another margin: a new one with {margin_option} goes on until that is decided"
    number, new = f"{len(open_benchmarks):,} of them", f"a new one of each with {margin_option}"
    return f"{number} ended by another margin: {new} goes on until that is decided"


def what_would_decide(open_benchmarks: Sequence[Judged]) -> list[str]:
    """Say what would decide several open benchmarks, once per weighing; for a single one, `why_open` says it.

    Nothing asks `why_open` about those without data, as their problems say why.
    """
    if len(open_benchmarks) == 1 and not open_benchmarks[0].has_no_data:
        return []
    answers: list[str] = []
    by_weighing = grouped(open_benchmarks, lambda one: id(one.weighing))
    for group in [*by_weighing.values()][:MOST_WEIGHINGS_ADVISED]:
        undecided = [one for one in group if one.verdict.verdict == "undecided"]
        # An interval that crosses the gate's own limit is not what its weighing was to decide.
        unlimited = [one.verdict for one in undecided if one.limit is None or one.verdict.interval is None]
        deciders = budgets.budget_of_all(unlimited, group[0].weighing)
        if ended_otherwise := list(filter(_ended_by_another_margin, group)):
            deciders.append(_limit_advice(ended_otherwise))
        answers += deciders if len(by_weighing) == 1 else [f"{group[0].source}: {way}" for way in deciders]
    return answers


def methods(report: GateReport) -> list[str]:
    """Say how everything was measured, judged and held to limits; what several weighings share is said once."""
    measured = [one for one in report.weighings if one.unmeasured is None and not one.is_empty()]
    method_sentences = dict.fromkeys(map(_method, measured))
    exception = ", except for what is accepted" if report.accepted else ""
    strict = "; what stays undecided fails too" if report.limits.strict else ""
    return [*method_sentences, f"the gate fails {_failing_condition(report)}{exception}{strict}"]


def _failing_condition(report: GateReport) -> str:
    """Name the limits; add the verdict if some benchmarks have no limit and go by that."""
    limits = ", ".join(map(str, report.limits.limits))
    by_verdict = "where the verdict is slower"
    if not limits:
        return by_verdict
    has_others = any(one.limit is None for one in report.deciding)
    return f"above {limits}" + (f", and without such a limit {by_verdict}" if has_others else "")


def _method(weighing: Weighing) -> str:
    settings = weighing.settings
    judging_text = f"alpha {settings.alpha:g} ({settings.family}), margin {sentences.all_margins(weighing)}"
    metrics = ", ".join(sentences.metric(name, settings) for name in settings.metrics)
    if all(map(is_counted, settings.metrics)):
        return f"counted under Valgrind; {judging_text}; {metrics}"
    seed = "each part by its own seed" if weighing.parts else f"seed {settings.seed}"
    return f"{_pairing_text(weighing)} in an order drawn at random, {seed}; {judging_text}; {metrics}"


def _pairing_text(weighing: Weighing) -> str:
    """Say how the judged pairs actually ran, which may differ from what was asked for."""
    tandem = weighing.launches.in_tandem()[weighing.launches.in_role(USED)]
    if not len(tandem):
        return "pairs"
    if not tandem.any():
        return "adjacent pairs"
    return "pairs in tandem" if tandem.all() else "pairs, some of them in tandem,"


def machines(report: GateReport) -> list[str]:
    """Say on which machines the weighings were measured."""
    return list(dict.fromkeys(_machine(machine) for weighing in report.weighings for machine in weighing.machines))


def _machine(machine: MachineFacts) -> str:
    return ", ".join(filter(None, (sentences.processor(machine), machine.virtualization, machine.kernel)))


def means(report: GateReport) -> list[str]:
    """Write the geometric mean of each suite; with several weighings, after the record's name."""
    of_each = zip(report.sources, map(suite_mean.of_each_metric, report.weighings), strict=True)
    several = len(report.weighings) > 1
    return [f"{source}: {line}" if several else line for source, lines in of_each for line in lines]


def resolution(report: GateReport) -> str | None:
    """Say how small a change would have been found, over all benchmarks; None if no verdict tells."""
    verdicts = _first_verdicts_with(report, "resolution")
    if len(verdicts) < 2:
        return sentences.resolution(verdicts[0]) if verdicts else None
    resolutions = sorted(one.resolution or 0.0 for one in verdicts)
    median = resolutions[(len(resolutions) - 1) // 2]
    return (
        f"of half the benchmarks a change of {figures.extent(median)} would have been found 9 times out of 10, of the "
        f"noisiest one of {figures.extent(resolutions[-1])}"
    )


def noise(report: GateReport) -> str | None:
    """Say how many launches other work on the machine disturbed; None if it disturbed none."""
    return disturbances.of_several(_first_verdicts_with(report, "worst_delay"))


def _first_verdicts_with(report: GateReport, field: str) -> list[Verdict]:
    """Return each benchmark's first deciding verdict in which this field is known.

    Its verdicts in other metrics rest on the same launches.
    """
    having = [one for one in report.deciding if getattr(one.verdict, field) is not None]
    first_verdicts = {(id(one.weighing), one.verdict.index): one.verdict for one in reversed(having)}
    return [*reversed(first_verdicts.values())]
