"""Verdicts in sentences; every format for human readers takes its wording from here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.model.metrics import METRICS, is_counted
from steelyard.model.patterns import fits, split_key
from steelyard.report import budgets, figures, levels, words
from steelyard.report.plain import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.model.derived import Side, Summary, Verdict
    from steelyard.model.machine import MachineFacts
    from steelyard.model.records import Run, StopReason, Weighing
    from steelyard.model.settings import Settings
    from steelyard.model.unpaired import UnpairedVerdict

NO_LAUNCH = "no launch was measured to its end"
RUNNING = "it is being measured right now: this is what there is so far"
# What these metrics mean when a harness measures them itself, in its samples.
_SAMPLE_METRICS = {
    "active": "elapsed time, as the harness tells it, less the time spent waiting for a processor",
    "wall": "elapsed time, as the harness tells it",
    "cpu": "time on a processor, as the harness tells it",
}
_BY_STILL_CLOCK = "elapsed time, as the harness tells it by a clock that stands still while it waits for a processor"


def capitalised(text: str) -> str:
    """Return a text with a capital at its beginning, and the rest as it is."""
    return f"{text[:1].upper()}{text[1:]}"


def without_alarm(verdict: Verdict) -> str | None:
    """Return what stands in place of a control's verdict without an alarm; reports then say nothing else about it."""
    if not verdict.control or verdict.verdict not in ("same", "undecided"):
        return None
    return "no alarm" if verdict.pairs else "not measured"


def stopped(reasons: list[StopReason], *, running: bool = False) -> str | None:
    """Say that measuring ended early, or is still going on; None if it ran its course."""
    if text := cut_off(reasons, running=running):
        return text
    if failed := partly_failed(reasons):
        return f"{failed}: this is what the others gave"
    return "a launch failed: this is what was measured before it" if "failed" in reasons else None


def cut_off(reasons: list[StopReason], *, running: bool) -> str | None:
    """Say that the user interrupted it, or that it is still going on; None otherwise."""
    if running:
        return RUNNING
    return "interrupted: this is what was measured until then" if "interrupted" in reasons else None


def partly_failed(reasons: list[StopReason]) -> str | None:
    """Say how many benchmarks failed; None if none or all did, or if the user interrupted."""
    failed = reasons.count("failed")
    if not 0 < failed < len(reasons) or "interrupted" in reasons:
        return None
    return f"{failed:,} of {figures.count(len(reasons), 'benchmark')} failed"


def failed(reasons: list[StopReason]) -> str | None:
    """Say what failed, for a place that shows no earlier measurements; None if nothing failed."""
    return partly_failed(reasons) or ("a launch failed" if "failed" in reasons else None)


def without_verdict(reasons: list[StopReason]) -> str:
    """Say why there is no verdict at all."""
    failure = failed(reasons)
    return f"{failure}, so there is no verdict" if failure else budgets.NO_PAIR


def has_benchmark_name(record: Weighing | Run) -> bool:
    """Return whether a report says which benchmark its numbers belong to: one of several, or chosen by name."""
    if len(record.benchmarks) > 1:
        return True
    has_name = any(one.entry or one.params for one in record.benchmarks)
    return has_name and not any(subject.is_statement() for subject in record.subjects)


def built(record: Weighing | Run) -> str | None:
    """Say which command runs in the measured revisions and how they were built; None if no revisions are measured."""
    subject = record.subjects[0]
    if subject.revision is None:
        return None
    is_run = record.kind == "run"
    checked_out = "as it is checked out" if is_run else "as they are checked out"
    how = checked_out if subject.revision.build is None else f"built by {one_line(subject.revision.build)}"
    if len({one.revision and one.revision.build for one in record.subjects}) > 1:
        how = "with a build of its own"
    commands = {one.command for one in record.subjects}
    where = "in this revision" if is_run else "in each revision"
    return f"{subject.command if len(commands) == 1 else 'each command'}, {where}, {how}"


def processor(machine: MachineFacts) -> str:
    """Name a machine's processor, with the number of its cores."""
    return f"{machine.cpu_model or 'an unknown processor'}, {figures.count(machine.cores_logical, 'core')}"


def part(record: Weighing) -> str | None:
    """Say that the record is one part of a suite, and how to join all parts; None for a complete suite."""
    shard = record.settings.shard
    if shard is None or shard.of == 1:
        return None
    suite = figures.count(len(shard.suite), "benchmark")
    return f"{shard.number} of {shard.of} of a suite of {suite}; steelyard merge joins the records of all parts"


def metric(name: str, settings: Settings) -> str:
    """Say what a metric measures: `active: wall time less ...`."""
    if settings.clock == "still" and name == "active":
        return f"{name}, of one iteration: {_BY_STILL_CLOCK}"
    if settings.harness is not None and name in _SAMPLE_METRICS:
        return f"{name}, of one iteration: {_SAMPLE_METRICS[name]}"
    return f"{name}: {METRICS[name].meaning}" if name in METRICS else name


def estimate(verdict: Verdict | UnpairedVerdict, limit: float | None = None) -> str:
    """Write a change and its interval, as far as they are known: `+1.02 % [+0.61 %, +1.40 %]`, or `+1 % exactly`.

    With a `limit`, the digits suffice to show on which side of it each number lies.
    """
    change = figures.change(verdict.change, limit)
    if verdict.interval is None:
        return change
    is_exact = is_counted(verdict.metric) and len(set(verdict.interval)) == 1
    return f"{change} {'exactly' if is_exact else figures.interval(verdict.interval, limit)}"


def evidence(verdict: Verdict, settings: Settings) -> str:
    """Write the change with its evidence: interval, confidence, pairs and seconds."""
    counted, change = is_counted(verdict.metric), figures.change(verdict.change)
    seconds = figures.seconds(verdict.seconds)
    effort = f"{pairs_text(verdict)} in {seconds}"
    if verdict.change is None:
        return f"the change is not known, {effort}"
    if not verdict.pairs and not counted:
        return f"{change} in the warm-up alone, no pair was measured, {seconds}"
    if verdict.interval is None:
        shortage = "too coarse for an interval" if budgets.is_too_coarse(verdict) else "too few for an interval yet"
        return f"{change}, {shortage}, {effort}"
    if counted:
        return f"{estimate(verdict)}, {effort}"
    # With enough digits to show whether an end lies just inside the margin.
    bounds = figures.interval(verdict.interval, settings.margin_of(verdict))
    return f"{change} {bounds} {figures.at_confidence(settings.alpha)}, {effort}"


def pairs_text(verdict: Verdict) -> str:
    """Write on how many pairs, or counts a side, a verdict is based."""
    is_count = is_counted(verdict.metric)
    return f"{figures.count(verdict.pairs, 'count')} a side" if is_count else figures.count(verdict.pairs, "pair")


def title_of_pairs(metrics: Iterable[str]) -> str:
    """Return the title of a column of such numbers."""
    return "counts" if all(map(is_counted, metrics)) else "pairs"


def side(summary: Side, metric_name: str) -> list[str]:
    """Write one side's median, spread and number of launches, as parts that can be aligned in columns."""
    if is_counted(metric_name):
        count = figures.count(summary.launches, "count")
        return [figures.quantity(summary.median, metric_name), _repeats_text(summary), count]
    return [
        f"median {figures.quantity(summary.median, metric_name)}",
        *rates(summary),
        levels.variation_sentence(summary),
        figures.count(summary.launches, "launch"),
    ]


def _repeats_text(counts: Side | Summary) -> str:
    if counts.launches < 2:
        return "not known whether it repeats"
    return f"varies by {figures.percent(counts.spread)}" if counts.spread else "repeats exactly"


def level(side: Side, metric_name: str) -> str:
    """Write one side's median with its spread and throughput, for a table cell."""
    return ", ".join([levels.level(side, metric_name), *rates(side)])


def rates(summary: Side | Summary) -> list[str]:
    """Write the throughput at the median in each known unit: `512.3 MiB/s`."""
    return [figures.rate(per_second, unit) for unit, per_second in summary.per_second.items()]


def spread(summary: Summary) -> str:
    """Write how much the launches or counts of a run vary, and how many there are."""
    duration = figures.seconds(summary.seconds)
    span = f"{figures.quantity(summary.lowest, summary.metric)} to {figures.quantity(summary.highest, summary.metric)}"
    if is_counted(summary.metric):
        range_text = f"from {span}" if summary.spread else _repeats_text(summary)
        return f"{range_text}, {figures.count(summary.launches, 'count')} in {duration}"
    effort = f"{figures.count(summary.launches, 'launch')} in {duration}"
    if summary.launches == 1:
        return f"{levels.SEEN_ONCE}, {effort}"
    return f"{levels.variation_sentence(summary)}, from {span}, over {effort}"


def explanation(verdict: Verdict, record: Weighing) -> list[str]:
    """Explain what the verdict's name and numbers leave open: how the sides compare, what `same` means."""
    if verdict.verdict == "same":
        return [_same_text(verdict, record.settings)]
    if verdict.verdict == "undecided":
        budget = budgets.budget(verdict, record)
        return [text for text in (what_is_ruled_out(verdict, record.settings), budget) if text]
    return [_needs_text(verdict, verdict.change)] if verdict.change is not None else []


def _needs_text(verdict: Verdict, change: float) -> str:
    """Say how much more or less the candidate needs and, unless that is how long it takes, which verdict that is."""
    needs = f"the candidate {words.needs_text(change, verdict.interval, verdict.metric, 'the baseline')}"
    return needs if words.is_duration(verdict.metric) else f"{needs}, which counts as {verdict.verdict}"


def _same_text(verdict: Verdict, settings: Settings) -> str:
    low, high = verdict.interval or (0.0, 0.0)
    margin = settings.margin_of(verdict)
    if verdict.change is not None and (low > 0 or high < 0):
        return f"there is a change, smaller than your margin of {figures.threshold(margin)}"
    return within_margin(margin)


def margins(record: Weighing | Run) -> str | None:
    """Say which margins apply, if verdicts have different ones; None otherwise.

    Margins for benchmarks that were not measured are left out.
    """
    settings, names = record.settings, [name for benchmark in record.benchmarks for name in benchmark.names()]
    patterns = ((split_key(key)[0], key) for key in settings.margins)
    matching = [key for pattern, key in patterns if not pattern or fits(names, [pattern])]
    if not matching:
        return None
    margin_texts = [f"{figures.threshold(settings.margins[key])} for {key}" for key in matching]
    return "; ".join([*margin_texts, f"else {figures.threshold(settings.margin)}"])


def plan(settings: Settings) -> str:
    """Say how to repeat what was drawn at random."""
    return f"--seed {settings.seed} draws the same plan again"


def all_margins(record: Weighing | Run) -> str:
    """Say which margin applies, or which ones."""
    return margins(record) or figures.threshold(record.settings.margin)


def within_margin(margin: float) -> str:
    """Say what `same` means."""
    return f"any change is smaller than your margin of {figures.threshold(margin)}"


# Ruling out only that it takes over ten times as long, or under a tenth of the time, tells nobody anything new.
_MEANINGLESS_BOUND = 9.0


def what_is_ruled_out(verdict: Verdict, settings: Settings) -> str | None:
    """Say what an undecided interval does rule out, and which way it leans."""
    if verdict.change is None:
        return None
    if budgets.is_withheld(verdict) or (verdict.interval is None and budgets.is_too_coarse(verdict)):
        return "nothing is ruled out"
    if verdict.interval is None:
        return f"nothing is ruled out; {leaning(verdict.change, (0.0, 0.0), settings.margin_of(verdict))}"
    low, high = verdict.interval
    margin = settings.margin_of(verdict)
    if low > 0 or high < 0:
        direction, smallest, largest = ("slower", low, high) if low > 0 else ("faster", -high, -low)
        at_least = f" by at least {figures.extent(smallest)}" if figures.extent(smallest) != figures.extent(0) else ""
        text = f"{direction}{at_least}, {_at_most(largest)}"
        if smallest < margin <= largest:
            text += f", which straddles your margin of {figures.threshold(margin)}"
    else:
        text = f"not slower{_by_more_than(high)}, not faster{_by_more_than(-low)}"
        if high > _MEANINGLESS_BOUND or low < -_MEANINGLESS_BOUND / (1 + _MEANINGLESS_BOUND):
            text = "nothing is ruled out yet"
    return f"{text}; {leaning(verdict.change, verdict.interval, margin)}"


def _at_most(bound: float) -> str:
    return f"at most {figures.extent(bound)}" if math.isfinite(bound) else "how much at most is open"


def _by_more_than(bound: float) -> str:
    return f" by more than {figures.extent(bound)}" if bound > 0 else ""


def leaning(change: float, interval: tuple[float, float], margin: float) -> str:
    """Say which verdict an undecided weighing leans towards: neither way if the interval reaches both margins."""
    if abs(change) >= margin:
        return f"leans towards {'slower' if change > 0 else 'faster'}"
    if interval[0] <= -margin and interval[1] >= margin:
        return "leans neither way"
    return "leans towards same"


def unjudged_pairs(verdict: Verdict, measured_pairs: int) -> str | None:
    """Say how many of the `measured_pairs` came after the last look; None if none did.

    Charts show these pairs, but the verdict does not rest on them.
    """
    unjudged = measured_pairs - verdict.pairs
    if not verdict.pairs or unjudged <= 0:
        return None
    return f"{figures.count(unjudged, 'pair')} behind the last look, not judged"


def resolution(verdict: Verdict | UnpairedVerdict) -> str | None:
    """Say how small a change would have been found."""
    if verdict.resolution is None:
        return None
    return f"a change of {figures.extent(verdict.resolution)} would have been found 9 times out of 10"


def status_sentence(why: str = "nothing was found slower") -> str:
    """Say what exit status an undecided weighing has when it need not be strict, and why."""
    return f"status 0, as {why}; with --strict it is 4, as the result is undecided"


def tally_in(record: Weighing, verdicts: list[Verdict]) -> str:
    """Count the verdicts; if benchmarks are missing among them, say of how many: `3 same of 4 benchmarks`.

    Missing are those that failed or fell back to another metric.
    """
    members = len(record.members)
    total_text = f" of {figures.count(members, 'benchmark')}" if len(verdicts) < members else ""
    return figures.tally(one.verdict for one in verdicts) + total_text
