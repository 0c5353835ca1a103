"""What the user should know beside the numbers: findings as values, which `report` puts on the screen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.machine.pressure import STEP_S
from steelyard.model.findings import NEW_SUITE, SKIPPED, Finding
from steelyard.model.grouping import grouped
from steelyard.model.metrics import METRICS, NOISY_METRIC
from steelyard.report import figures

if TYPE_CHECKING:
    from steelyard.model.settings import Settings
    from steelyard.model.subject import Benchmark

COLD = "cold"
NOT_MEASURED = "not-measured"
_MOST_NAMES = 10
_OWN_STARTS_REMEDY = "it went on with starts of its own; --own-starts begins with them"
_TIME_FOR_STARTS_REMEDY = (
    "it went on with starts of its own, as it would with --resume; weigh anew with a longer --max-time"
)
COPIED_CONTROL, CONTROL_OF_ONE_FILE = CONTROLS = "control-copy", "control-one-file"


def new_suite_finding(baseline: str, candidate: str, names: Sequence[str], missing: str | None) -> Finding:
    """Return the finding that only the candidate has benchmarks; the baseline lists none, or lacks the `missing`."""
    lacks = "lists no benchmark" if missing is None else f"has no {missing}"
    return Finding(
        code=NEW_SUITE,
        message=f"{baseline} {lacks}, so nothing is compared yet; new in {candidate}: {some_names(names)}",
        remedy="they are compared once the baseline has them; steelyard run measures them alone",
    )


def skipped_findings(reasons: Mapping[str, str]) -> list[Finding]:
    """Return a finding for each reason for which benchmarks skip themselves, given by their names."""
    return [
        Finding(code=SKIPPED, message=f"not measured: {some_names(names)}: {reason}")
        for reason, names in grouped(reasons, reasons.__getitem__).items()
    ]


def control_finding(program: str, why_not: str | None) -> Finding:
    """Return the finding that a control's second side is a copy, or why not: `why_not`, a clause on the program."""
    if why_not is None:
        message = f"the control weighs {program} against a copy of its file, made for it among the temporary ones"
        return Finding(code=COPIED_CONTROL, message=message)
    return Finding(
        code=CONTROL_OF_ONE_FILE,
        message=f"both sides of the control are one file, {program}, {why_not}: it cannot see lasting differences "
        "between two equal files, such as their place in memory or the length of their paths",
    )


NOT_CLEANED_UP = Finding(
    code="not-cleaned-up",
    message="--cleanup was interrupted: what it should have cleaned up may still be there",
    remedy="run its command by hand, or check whether it waits for something",
)


def cold_finding(names: Sequence[str], number_of_benchmarks: int) -> Iterator[Finding]:
    """Yield a finding that names the benchmarks of which only the warm-up was measured, if there are any."""
    if not names:
        return
    what = "" if number_of_benchmarks == 1 else f" of {some_names(names)}"
    yield Finding(
        code=COLD,
        message=f"only the warm-up{what} was measured, so that is what is shown",
        remedy="first launches tend to be slower: let it run longer (--max-time)",
    )


def adjacent_finding(why: str, remedy: str | None) -> Finding:
    """Return the finding that says why pairs were not weighed in tandem, or no longer."""
    message = f"{why}, so the launches of a pair ran one after the other"
    return Finding(code="adjacent", message=message, remedy=remedy)


def findings_by_name(found: Sequence[tuple[str, Finding]], benchmarks: Sequence[Benchmark]) -> list[Finding]:
    """Return the findings on `benchmarks`; if these are several, each once, with the names of all that it is about."""
    if sum(not one.control for one in benchmarks) < 2:
        return [finding for _, finding in found]
    each = grouped(found, lambda one: one[1])
    return [replace(one, message=f"{some_names([name for name, _ in of])}: {one.message}") for one, of in each.items()]


def findings_not_repeated(earlier: Sequence[Finding], found: Sequence[tuple[str, Finding]]) -> list[Finding]:
    """Return the `earlier` findings but those that `found`, once merged, repeats of the same benchmarks, or of more."""
    names = {finding: {name for name, _ in of} for finding, of in grouped(found, lambda one: one[1]).items()}
    return [one for one in earlier if not any(_repeats(one, finding.message, of) for finding, of in names.items())]


def _repeats(finding: Finding, what: str, most: set[str]) -> bool:
    """Whether a finding says this by name of some of these benchmarks, and of no others."""
    told = re.fullmatch(rf"(.*?)(?: and (\d+) more)?: {re.escape(what)}", finding.message)
    if told is None:
        return False
    names = told[1].split(", ")
    return {*names} <= most and len(names) + int(told[2] or 0) <= len(most)


def own_starts_finding(why: str, *, for_lack_of_time: bool = False) -> Finding:
    """Return the finding that each launch has a start of its own, where one was to be shared."""
    return Finding(
        code="starts",
        message=f"benchmarks run in no processes forked from a common start, as {why}",
        remedy=_TIME_FOR_STARTS_REMEDY if for_lack_of_time else _OWN_STARTS_REMEDY,
    )


def own_start_finding(why: str) -> Finding:
    """Return the same finding on a single benchmark."""
    return Finding(code="starts", message=f"in a process forked from a common start {why}", remedy=_OWN_STARTS_REMEDY)


def chosen_processor_finding(settings: Settings) -> Iterator[Finding]:
    """Yield a finding that says which processor was chosen, if one was."""
    if settings.cpu_choice is None:
        return
    message = f"--cpu auto chose processor {settings.cpu}: {settings.cpu_choice}"
    yield Finding(code="chosen-processor", message=message)


def longer_budget_finding(settings: Settings) -> Finding:
    """Return the finding that the usual budget would have been too short for any verdict."""
    usual = figures.seconds(settings.max_time_s or 0.0)
    return Finding(
        code="longer",
        message=f"the usual {usual} would have been too short for any verdict, so that it took longer",
        remedy="--max-time sets a limit that holds; what is measured until then is shown",
    )


def process_time_finding(benchmarks: Sequence[Benchmark]) -> Iterator[Finding]:
    """Yield a finding that names the benchmarks that are not timed by their harness, if there are any."""
    names = [one.name for one in benchmarks if one.clock == "process"]
    if not names:
        return
    which = "" if len(names) == len(benchmarks) else f"{some_names(names)}: "
    yield Finding(
        code="process-time",
        message=f"{which}launches have one processor to compute on, and are timed by their time on it, as the "
        "harness's own times include the wait for one",
        remedy="--metric wall judges the harness's own times",
    )


def not_measured_finding(names: Sequence[str], *, of_harness: bool) -> Iterator[Finding]:
    """Yield a finding that names the benchmarks for which the time was too short, if there are any."""
    if not names:
        return
    fewer = "choose some of a suite with --benchmark" if of_harness else "give fewer commands, or values of a parameter"
    yield Finding(
        code=NOT_MEASURED,
        message=f"time ran out before these were measured: {some_names(names)}",
        remedy=f"raise --max-time, or {fewer}",
    )


def cut_short_finding(seconds: float) -> Finding:
    """Return the finding that the last launch of a run would have taken the whole time once more."""
    return Finding(
        code="cut-short",
        message=f"the last launch did not end within {seconds:.3g} s and was killed; it is not among these",
        remedy="raise --max-time if it needs longer",
    )


def not_quiet_findings(allowed_s: float, left_s: float) -> Iterator[Finding]:
    """Yield a finding if all of the time that may be waited for other work to calm down is used up."""
    if left_s >= min(STEP_S, allowed_s):
        return
    yield Finding(
        code="not-quiet",
        message=f"the {figures.seconds(allowed_s)} that --wait-quiet allows were used up while other work went "
        "on; after that no pair waited for it to end",
        remedy="allow more, or leave it out where the machine is never quiet, which takes more pairs",
    )


def some_names(names: Sequence[str]) -> str:
    """Return names for a sentence: the first of them, and how many more there are."""
    return figures.first_few(names, _MOST_NAMES)


def coarse_clock_finding(hidden: float, margin: float) -> Finding | None:
    """Return a finding if a clock's ticks may hide a change of `hidden`, a log-ratio, that matters."""
    if hidden < margin / 2:
        return None
    return Finding(
        code="coarse-clock",
        message="there are so few different values that a clock's ticks may hide changes of up to "
        f"{figures.percent(hidden)}",
        remedy="make a launch longer, or have it print more digits",
    )


def noisy_metric_finding(metric: str) -> Finding | None:
    """Return the caution that a metric calls for, if it does."""
    caution = METRICS[metric].caution
    return None if caution is None else Finding(code=NOISY_METRIC, message=caution)


def accepted_failures_finding(told: str, *, of_two: bool) -> Finding:
    """Return the finding on what failed; of two sides, one may have done less than the other."""
    return Finding(
        code="failures",
        message=f"{told}, which --ignore-failure accepts",
        remedy="a launch that fails may have done less work: make sure that both sides do the same" if of_two else None,
    )
