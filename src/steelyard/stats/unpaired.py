"""Two unpaired runs: what their launches say of a change, and what they cannot know.

Drift between two runs does not cancel, and no number in either of them is that drift. A rank test sees only the noise
of single launches: it calls two runs of one program different 6 times out of 10. What can be seen is the
*between-block spread* of each run: the standard deviation of the medians of its contiguous blocks. It is taken,
undivided, for the standard deviation of the level from one run to another: on shared machines it falls only slowly
with the length of a block (from 2.3 % at 10 launches to 1.3 % at 800 on the trace `ambient`), so that blocks within a
run are a fair and slightly pessimistic picture of runs among each other.

The interval is Mann-Whitney's, and on either side of it

    max( t(k - 1) * sqrt(2) * the larger spread,  z * sqrt(2) * floor )

for k blocks: Student's quantile because the spread is itself estimated from few blocks, a floor because a calm run
says nothing of the step to the next one. benchmarks/diff_unpaired.py shows what it is worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

from steelyard.stats.arrays import FloatArray
from steelyard.stats.quantiles import normal_quantile, student_quantile
from steelyard.stats.rank_sum import Shift, shift
from steelyard.stats.summary import row_medians
from steelyard.stats.verdict import VerdictName, excludes_no_change, found_nine_times_in_ten, verdict_of

# Blocks of a run: few enough for a block to be long, enough for a quantile that is not absurd (t(7) is 3.5 at 0.01).
MOST_BLOCKS, FEWEST_BLOCKS, A_BLOCK = 12, 8, 5
FEWEST_LAUNCHES = 2 * FEWEST_BLOCKS
# Shorter runs decide nothing: with a drift of 5 % that takes 0.6 s to turn, runs of 0.3 s gave 10 % false alarms, of
# 0.7 s 3 % and of 1.3 s 1.5 %, with the floor below; of 2.6 s none in 200.
FEWEST_SECONDS = 2.0

# Standard deviation of the level from run to run that is assumed however calm both were: steps of 0.5 to 3 % between
# two runs of one program (another neighbour, another clock rate, another page placement) then stay undecided.
FLOOR = 0.01
# A run that was over sooner has not seen the level move at the pace at which machines drift: with a drift of 2 % that
# takes 6 s to turn, runs of 1 to 3 s gave 10-13 % false alarms on the floor above, and up to 1 % on this one.
SHORT_SECONDS, SHORT_FLOOR = 10.0, 0.02


@dataclass(frozen=True)
class RunValues:
    """One run's launches in the order in which they ran: logs of the metric, shape (n,), over so many seconds.

    `unwaited` are the logs of the same launches less the time that they waited for a processor, for a metric that
    contains it.
    """

    logs: FloatArray
    seconds: float
    unwaited: FloatArray | None = None


@dataclass(frozen=True)
class UnpairedJudgement:
    """What two runs say. All are log-ratios, ln(candidate / baseline); `block_spreads` are SDs of each run's level.

    `shift` has the plain Mann-Whitney interval; `allowance` is what it was widened by on either side for the drift
    between the runs, `quantisation` for what a clock's ticks can hide; `lower`/`upper` include both, and what waiting
    for a processor can explain. Infinite where a run is too short to show how its level moves.
    """

    verdict: VerdictName
    shift: Shift
    block_spreads: tuple[float, float]
    floor: float
    allowance: float
    quantisation: float
    lower: float
    upper: float
    waiting: bool


def judge_unpaired(
    baseline: RunValues, candidate: RunValues, margin: float, alpha: float, *, quantisation: float = 0.0
) -> UnpairedJudgement:
    """Judge the shift between two runs of at least one launch each; `margin` relative, `alpha` two-sided.

    `quantisation` is the largest change that a clock's ticks can hide (see `stats.clock`). A level that drifts a little
    may cross a tick, so that here it can also make one.
    """
    floor = floor_for(min(baseline.seconds, candidate.seconds))
    enough = min(baseline.seconds, candidate.seconds) >= FEWEST_SECONDS
    seen, block_spreads, allowance = _widening(baseline.logs, candidate.logs, floor if enough else inf, alpha)
    lower, upper, waiting = seen.lower - allowance, seen.upper + allowance, False
    if baseline.unwaited is not None and candidate.unwaited is not None:
        # Waits are the other programs' doing: what remains without them has to show the change as well.
        rest, _, rest_allowance = _widening(baseline.unwaited, candidate.unwaited, floor, alpha)
        rest_lower, rest_upper = rest.lower - rest_allowance, rest.upper + rest_allowance
        waiting = excludes_no_change((lower, upper)) and not excludes_no_change((rest_lower, rest_upper))
        lower, upper = min(lower, rest_lower), max(upper, rest_upper)
    lower, upper = lower - quantisation, upper + quantisation
    found = verdict_of(seen.centre, (lower, upper), margin)
    return UnpairedJudgement(found, seen, block_spreads, floor, allowance, quantisation, lower, upper, waiting)


def resolution(judgement: UnpairedJudgement, margin: float) -> float:
    """The smallest change (log-ratio) that two such runs would have found 9 times out of 10."""
    error = sqrt(2) * max(*judgement.block_spreads, judgement.floor)
    half_width = (judgement.upper - judgement.lower) / 2
    return found_nine_times_in_ten(error, half_width / error, margin)


def least_allowance(floor: float, alpha: float) -> float:
    """By how much an interval is widened at least, on either side, for a level whose SD between runs is `floor`."""
    return sqrt(2) * normal_quantile(alpha) * floor


def floor_for(seconds: float) -> float:
    """The least SD of the level between runs that is assumed when the shorter one took so many seconds."""
    return FLOOR if seconds >= SHORT_SECONDS else SHORT_FLOOR


def between_block_spread(logs: FloatArray, blocks: int) -> float:
    """The standard deviation of the medians of contiguous blocks of equal length; shape (n,), n >= blocks >= 2."""
    length = len(logs) // blocks
    medians = row_medians(logs[: blocks * length].reshape(blocks, length))
    return float(medians.std(ddof=1))


def _widening(
    baseline: FloatArray, candidate: FloatArray, floor: float, alpha: float
) -> tuple[Shift, tuple[float, float], float]:
    seen = shift(baseline, candidate, alpha)
    fewest = min(len(baseline), len(candidate))
    if fewest < FEWEST_LAUNCHES:
        return seen, (0.0, 0.0), inf
    blocks = min(MOST_BLOCKS, max(FEWEST_BLOCKS, fewest // A_BLOCK))
    block_spreads = between_block_spread(baseline, blocks), between_block_spread(candidate, blocks)
    estimated = sqrt(2) * student_quantile(blocks - 1, alpha) * max(block_spreads)
    return seen, block_spreads, max(estimated, least_allowance(floor, alpha))
