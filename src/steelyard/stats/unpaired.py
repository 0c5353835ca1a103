"""Two unpaired runs: what their launches say about a change, and what they cannot show.

Drift between two runs does not cancel, and no number in either run shows it. A rank test sees only the noise of single
launches: it calls two runs of one program different 6 times out of 10. What can be seen is the *between-block spread*
of each run: the standard deviation of the medians of its contiguous blocks. It is used, undivided, as the standard
deviation of the level from one run to another. On shared machines it falls only slowly with the length of a block
(from 2.3 % at 10 launches to 1.3 % at 800 on the trace `ambient`), so blocks within a run are a fair and slightly
pessimistic model of how runs differ.

The interval is Mann-Whitney's, and on either side of it

    max( t(k - 1) * sqrt(2) * the larger spread,  z * sqrt(2) * floor )

for k blocks: Student's quantile because the spread is itself estimated from few blocks, a floor because a calm run
says nothing about the step to the next one. benchmarks/diff_unpaired.py measures how well this works.
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
_MOST_BLOCKS, _FEWEST_BLOCKS, _LAUNCHES_PER_BLOCK = 12, 8, 5
FEWEST_LAUNCHES = 2 * _FEWEST_BLOCKS
# Shorter runs decide nothing: with a drift of 5 % that turns in 0.6 s and the floor below, runs of 0.3 s gave 10 %
# false alarms, of 0.7 s 3 %, of 1.3 s 1.5 %, and of 2.6 s none in 200.
FEWEST_SECONDS = 2.0

# The standard deviation of the level from run to run that is assumed however calm both were: steps of 0.5 to 3 %
# between two runs of one program (another neighbour, another clock rate, another page placement) then stay undecided.
FLOOR = 0.01
# A shorter run has not seen the level move at the pace at which machines drift: with a drift of 2 % that turns in 6 s,
# runs of 1 to 3 s gave 10-13 % false alarms with the floor above, and up to 1 % with this one.
SHORT_SECONDS, SHORT_FLOOR = 10.0, 0.02


@dataclass(frozen=True)
class RunValues:
    """One run's launches in the order in which they ran: logs of the metric, shape (n,), and the seconds they took.

    `unwaited` are the logs without the time that the launches waited for a processor, for a metric that contains it.
    """

    logs: FloatArray
    seconds: float
    unwaited: FloatArray | None = None


@dataclass(frozen=True)
class UnpairedJudgement:
    """What two runs say. All are log-ratios, ln(candidate / baseline); `block_spreads` are SDs of each run's level.

    `shift` has the plain Mann-Whitney interval; `allowance` is how much it is widened on either side for the drift
    between the runs, `quantisation` for what a clock's ticks can hide; `lower`/`upper` include both, and what waiting
    for a processor can explain. They are infinite where a run is too short to show how its level moves.
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

    `quantisation` is the largest change that a clock's ticks can hide (see `stats.clock`). As a level that drifts a
    little may cross a tick, here they can also create a change of that size.
    """
    shorter_s = min(baseline.seconds, candidate.seconds)
    floor = FLOOR if shorter_s >= SHORT_SECONDS else SHORT_FLOOR
    plain_shift, block_spreads, allowance = _shift_with_allowance(
        baseline.logs, candidate.logs, floor if shorter_s >= FEWEST_SECONDS else inf, alpha
    )
    lower, upper, waiting = plain_shift.lower - allowance, plain_shift.upper + allowance, False
    if baseline.unwaited is not None and candidate.unwaited is not None:
        # Waits are caused by other programs: the rest, without them, has to show the change as well.
        rest, _, rest_allowance = _shift_with_allowance(baseline.unwaited, candidate.unwaited, floor, alpha)
        rest_lower, rest_upper = rest.lower - rest_allowance, rest.upper + rest_allowance
        waiting = excludes_no_change((lower, upper)) and not excludes_no_change((rest_lower, rest_upper))
        lower, upper = min(lower, rest_lower), max(upper, rest_upper)
    lower, upper = lower - quantisation, upper + quantisation
    verdict = verdict_of(plain_shift.centre, (lower, upper), margin)
    return UnpairedJudgement(verdict, plain_shift, block_spreads, floor, allowance, quantisation, lower, upper, waiting)


def resolution(judgement: UnpairedJudgement, margin: float) -> float:
    """The smallest change (log-ratio) that two such runs would have found 9 times out of 10."""
    error = sqrt(2) * max(*judgement.block_spreads, judgement.floor)
    half_width = (judgement.upper - judgement.lower) / 2
    return found_nine_times_in_ten(error, half_width / error, margin)


def least_allowance(floor: float, alpha: float) -> float:
    """The least by which an interval is widened on either side, for a level whose SD between runs is `floor`."""
    return sqrt(2) * normal_quantile(alpha) * floor


def between_block_spread(logs: FloatArray, blocks: int) -> float:
    """The standard deviation of the medians of contiguous blocks of equal length; shape (n,), n >= blocks >= 2."""
    return float(block_medians(logs, blocks).std(ddof=1))


def block_medians(values: FloatArray, blocks: int) -> FloatArray:
    """The medians of contiguous blocks of equal length, (blocks,), of values (n,), n >= blocks."""
    length = len(values) // blocks
    return row_medians(values[: blocks * length].reshape(blocks, length))


def block_count(launches: int) -> int:
    """How many blocks a run of so many launches is divided into."""
    return min(_MOST_BLOCKS, max(_FEWEST_BLOCKS, launches // _LAUNCHES_PER_BLOCK))


def _shift_with_allowance(
    baseline: FloatArray, candidate: FloatArray, floor: float, alpha: float
) -> tuple[Shift, tuple[float, float], float]:
    plain_shift = shift(baseline, candidate, alpha)
    fewest = min(len(baseline), len(candidate))
    if fewest < FEWEST_LAUNCHES:
        return plain_shift, (0.0, 0.0), inf
    blocks = block_count(fewest)
    block_spreads = between_block_spread(baseline, blocks), between_block_spread(candidate, blocks)
    estimated = sqrt(2) * student_quantile(blocks - 1, alpha) * max(block_spreads)
    return plain_shift, block_spreads, max(estimated, least_allowance(floor, alpha))
