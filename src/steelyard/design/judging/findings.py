"""The findings that the launches of a judged metric call for, beside its verdict; `report` puts them on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from math import expm1

import numpy as np

from steelyard.design.findings import coarse_clock_finding, noisy_metric_finding
from steelyard.design.judging.failures import failures_finding
from steelyard.design.judging.fallbacks import fallback_finding
from steelyard.design.judging.first_launch import first_launch_finding
from steelyard.design.judging.growing import growing_finding
from steelyard.design.judging.in_tandem import tandem_finding
from steelyard.design.judging.left_out import asleep_finding, left_out_finding
from steelyard.design.judging.pairs import MetricPairs
from steelyard.design.judging.samples import short_samples_finding, uneven_loops_finding
from steelyard.design.judging.warming import warming_findings
from steelyard.model.counters import EVENTS, part
from steelyard.model.derived import Side
from steelyard.model.findings import Finding, VerdictName
from steelyard.model.launches import FloatArray, Launches
from steelyard.model.metrics import of_one_process, timed
from steelyard.model.records import Run, Weighing
from steelyard.model.rows import TRIED, USED
from steelyard.model.settings import Settings
from steelyard.report.figures import count, percent
from steelyard.stats.layouts import GROWTH
from steelyard.stats.paired import Judgement
from steelyard.stats.summary import median_distance
from steelyard.stats.verdict import CHANGED, log_margin

# Below this the start of a process, of half a millisecond or more, is at least a tenth of a launch: the program under
# test cannot change it, so that a change of its work shows as a smaller one.
SHORT_LAUNCH_NS = 5_000_000
# Below this it is a quarter.
MOSTLY_START_NS = 2_000_000
# Sides whose launches differ by no more than this factor are described by one figure.
_ALIKE_FACTOR = 1.1
# Fewer pairs have no spread to speak of.
FEWEST_PAIRS_FOR_SPREAD = 3
# How long `--repeat` should make a launch: long compared with what the tool itself does between two launches.
LONG_LAUNCH_NS = 30_000_000


def data_findings(
    record: Weighing | Run,
    benchmark: int,
    requested_metric: str,
    shown_metric: str,
    judgement: Judgement | None,
    members: int = 1,
) -> list[Finding]:
    """Return every finding that the launches of one benchmark call for in one metric.

    `members` is among how many benchmarks alpha is shared, which only a judgement needs.
    """
    found = [
        fallback_finding(record, benchmark, requested_metric, shown_metric),
        tandem_finding(record.launches, benchmark, shown_metric),
        _tried_pairing_finding(record, benchmark, requested_metric),
        asleep_finding(record, benchmark, shown_metric),
        left_out_finding(record, benchmark, shown_metric),
        noisy_metric_finding(shown_metric),
        None if judgement is None else coarse_clock_finding(judgement.quantisation, record.settings.margin),
        _shell_left_in_finding(record.launches, benchmark, shown_metric),
        _short_launch_finding(record.launches, benchmark, record.settings) if record.settings.harness is None else None,
        short_samples_finding(record, benchmark, shown_metric),
        uneven_loops_finding(record, benchmark, shown_metric),
        *warming_findings(record, benchmark, shown_metric),
        growing_finding(record, benchmark, shown_metric),
        first_launch_finding(record, benchmark),
        _pinned_threads_finding(record, shown_metric),
        _outside_kernel_finding(record, shown_metric),
        _counters_in_turns_finding(record, benchmark, shown_metric),
        _no_pressure_finding(record),
        _shared_alpha_finding(members, judgement),
        _went_on_finding(record, benchmark),
        failures_finding(record, benchmark),
    ]
    return [finding for finding in found if finding is not None]


def medians_finding(change: float, verdict: VerdictName, sides: tuple[Side, Side], margin: float) -> Finding | None:
    """Return why the medians of the sides point the other way than the pairs, if these show a change."""
    difference = sides[1].median - sides[0].median
    shows_change = verdict in CHANGED or (verdict == "undecided" and abs(change) >= margin)
    if not shows_change or difference * change >= 0:
        return None
    return Finding(
        code="medians-differ",
        message="the medians point the other way: each launch is compared with the one next to it, so that drift "
        "cancels, which it does not in the median of a side: trust the pairs",
    )


def order_finding(pairs: MetricPairs, pairs_shown: int, settings: Settings) -> Finding | None:
    """Return a finding if it surely makes a difference, and one that matters, which launch of a pair comes first."""
    longer = pairs.second_takes_longer(pairs_shown, settings.alpha)
    if longer is None or abs(longer) < log_margin(settings.margin):
        return None
    baseline = pairs.launches.complete_pairs(pairs.benchmark, pairs.role)[pairs_shown - 1, 0]
    in_tandem = bool(pairs.launches.in_tandem()[baseline])
    which = "of two launches at once the later one" if in_tandem else "the second launch of a pair"
    return Finding(
        code="order",
        message=f"{which} takes {percent(abs(expm1(longer)))} {'longer' if longer > 0 else 'less'} than the first: "
        "which side goes first is drawn at random for each pair, and the effect on the pair is taken out of it",
    )


def _shell_left_in_finding(launches: Launches, benchmark: int, shown_metric: str) -> Finding | None:
    """Return a finding if the start of a shell could not be taken out of elapsed time."""
    is_taken_out = launches.of_shell_ns() == launches.column("overhead_ns")
    if shown_metric not in ("active", "wall") or is_taken_out[launches.of(benchmark)].all():
        return None
    return Finding(
        code="shell-left-in",
        message="the shell's start is included in these figures after all: the command is so short beside it that "
        "nothing would be left of some launches",
        remedy="to see what the command itself takes, leave --shell out",
    )


def _tried_pairing_finding(record: Weighing | Run, benchmark: int, metric: str) -> Finding | None:
    """Return a finding on how the way of pairing was chosen: the spread of either way's pairs up to the last trial."""
    if not isinstance(record, Weighing) or record.settings.pairing != "auto":
        return None
    launches, pair = record.launches, np.asarray(record.launches.pair)
    tried, used = (launches.complete_pairs(benchmark, role)[:, 0] for role in (TRIED, USED))
    # Pairs before all judged ones were to be judged themselves, until that way turned out to be unfit.
    is_between = pair[tried] > pair[used].min(initial=pair.max(initial=0))
    tried = tried[is_between]
    if len(tried) < FEWEST_PAIRS_FOR_SPREAD or metric != timed(record.settings.metrics)[0]:  # the first metric chose
        return None
    tandem = launches.in_tandem()
    tried_beside = bool(tandem[tried[0]])
    before = (tandem[used] != tried_beside) & (pair[used] < pair[tried].max())
    judged = _log_ratio_sizes(launches, benchmark, metric, USED)[before]
    other_sizes = _log_ratio_sizes(launches, benchmark, metric, TRIED)[is_between]
    if len(judged) < FEWEST_PAIRS_FOR_SPREAD or not np.isfinite([*judged, *other_sizes]).all():
        return None
    way, other = ("in tandem", "one after the other") if tried_beside else ("one after the other", "in tandem")
    message = f"{len(tried)} pairs that were tried {way} spread by {percent(median_distance(other_sizes))}, "
    message += f"those {other} by {percent(median_distance(judged))}"
    went_on = tandem[used] == tried_beside
    if went_on[-1]:
        message += f", so it went on {way}"
        if 2 * went_on.sum() < len(went_on):
            message += f": {went_on.sum():,} of the {count(len(went_on), 'pair')} that are judged"
    elif went_on.any():
        message += f", but having gone on {way} it went back after {went_on.sum()}"
    return Finding(code="tried", message=message)


def _log_ratio_sizes(launches: Launches, benchmark: int, metric: str, role: str) -> FloatArray:
    """Return the sizes of the log-ratios of a benchmark's pairs in a role; not finite where there is no ratio."""
    with np.errstate(divide="ignore", invalid="ignore"):
        baseline, candidate = map(np.log, MetricPairs(launches, benchmark, metric, role).values)
        return np.asarray(np.abs(candidate - baseline))


def _short_launch_finding(launches: Launches, benchmark: int, settings: Settings) -> Finding | None:
    chosen = launches.of(benchmark, USED) & ~launches.in_tandem()
    if not chosen.any():
        return None
    waited = np.where(launches.knows_waits(), launches.waited_ns(), 0.0)
    alone = of_one_process(launches.metric("wall") - waited, "wall", settings.repeat)
    sides = np.asarray(launches.side)
    of_each = [float(np.median(alone[chosen & (sides == side)])) for side in np.unique(sides[chosen])]
    # With a shell's start, if there is one.
    level, length = max(of_each), float(np.median((launches.column("wall_ns") - waited)[chosen]))
    if not 0 < level < SHORT_LAUNCH_NS:
        return None
    takes = f"takes {_launch_length(of_each, float(np.median(alone[chosen])))} with"
    takes = f"a launch {takes} the start of its process" if settings.repeat == 1 else f"one process {takes} its start"
    if level >= MOSTLY_START_NS:
        return Finding(
            code="short-launch",
            message=f"{takes}: a change of the work inside is a little larger than the one shown",
            remedy="a larger input, or a loop inside, makes the start matter less",
        )
    way_out = "let one process do more work (a larger input, or a loop inside): the change of the work itself is "
    way_out += "larger than the one shown"
    # Not where that advice was followed: a session's launches last a little more or less than those of the one before.
    # Nor where something is prepared before each launch: the second process of one would not find it.
    times = _round_to_one_digit(settings.repeat * LONG_LAUNCH_NS / length)
    if times >= 2 * settings.repeat and not settings.prepare:
        way_out += f"; --repeat {times} would make a launch last {LONG_LAUNCH_NS / 1e6:.0f} ms or so, but repeats the "
        way_out += "start of the process as well"
    return Finding(code="short-launch", message=f"{takes}: too short to time the work inside", remedy=way_out)


def _launch_length(of_each: Sequence[float], of_all: float) -> str:
    """Say how long a launch takes: one figure if that holds for all sides, else the least and the most of a side."""
    least, most = min(of_each), max(of_each)
    if most <= _ALIKE_FACTOR * least:
        return f"{of_all / 1e6:.2f} ms"
    return f"{least / 1e6:.2f} to {most / 1e6:.2f} ms"


def _round_to_one_digit(number: float) -> int:
    """Round to one digit, which is enough for an approximate number."""
    return int(float(f"{number:.0e}"))


def _shared_alpha_finding(members: int, judgement: Judgement | None) -> Finding | None:
    if judgement is None or judgement.verdict != "undecided":
        return None
    is_sure_alone = judgement.estimate.lower > 0 or judgement.estimate.upper < 0
    if not is_sure_alone or judgement.is_change:
        return None
    if judgement.averaged is not None and members == 1:
        which = f"the end of a budget, and looks at {GROWTH} times the pairs of the one before"
        message = f"the interval does not contain 0, but over layouts only some looks may decide: {which}"
        return Finding(code="between-looks", message=message, remedy="let it go on")
    return Finding(
        code="shared-alpha",
        message=f"the interval does not contain 0, but that is not sure enough for one of {members:,} benchmarks",
        remedy="more of them make chance findings likelier, so each needs stronger evidence: allow more time",
    )


def _went_on_finding(record: Weighing | Run, benchmark: int) -> Finding | None:
    """Return a finding if a benchmark had more than one budget; the look at the end of the first has its cost."""
    ended = record.benchmarks[benchmark].ended
    if not ended:
        return None
    return Finding(
        code="went-on",
        message=f"it was carried on after {count(ended, 'pair')}, where it was undecided; the part of alpha that this "
        "look spent is accounted for",
    )


def _pinned_threads_finding(record: Weighing | Run, shown_metric: str) -> Finding | None:
    of_all = shown_metric == "active" and record.settings.harness is None
    fallen_back = shown_metric == "wall" and "active" in record.settings.metrics
    is_pinned, has_one = record.settings.cpu is not None, not record.machine.offers.get("several_processors", True)
    if not (is_pinned or has_one) or not (of_all or fallen_back) or record.launches.worked_alone().all():
        return None
    # In a merged record each part has a processor of its own.
    which = "one processor" if isinstance(record, Weighing) and record.parts else f"processor {record.settings.cpu}"
    remedy = "leave --cpu out for programs with several threads"
    if has_one:
        which = "the one processor that launches may have here"
        remedy = "programs with several threads need more: another machine, or a wider taskset or cpuset"
    return Finding(code="pinned-threads", message=f"all threads and children shared {which}", remedy=remedy)


def _outside_kernel_finding(record: Weighing | Run, shown_metric: str) -> Finding | None:
    if shown_metric not in EVENTS or shown_metric == "task_clock" or record.machine.offers.get("kernel_counters", True):
        return None
    return Finding(
        code="outside-kernel",
        message=f"{shown_metric} leaves out what the kernel did, which this user is not allowed to count",
        remedy="as root: sysctl kernel.perf_event_paranoid=1",
    )


def _counters_in_turns_finding(record: Weighing | Run, benchmark: int, shown_metric: str) -> Finding | None:
    """Return a finding if a processor has too few counters for what was asked, so that counts were scaled up."""
    if shown_metric not in EVENTS:
        return None
    parts = record.launches.of_counters(shown_metric, part)[record.launches.of(benchmark)]
    parts = parts[~np.isnan(parts)]
    if not len(parts) or (least := float(parts.min())) >= 1:
        return None
    return Finding(
        code="counters-in-turns",
        message=f"the processor's counters took turns: {shown_metric} is scaled up from {percent(least)} or more of "
        "the time of each launch",
        remedy="ask for fewer of them at once; of big and small cores one kind alone has them: pin launches by --cpu",
    )


def _no_pressure_finding(record: Weighing | Run) -> Finding | None:
    if record.settings.wait_quiet_s == 0 or record.machine.offers.get("pressure", True):
        return None
    return Finding(
        code="no-pressure",
        message="this machine does not tell how busy it is (/proc/pressure/cpu), so --wait-quiet waited for nothing",
        remedy="leave --wait-quiet out, and rely on the pairs",
    )
