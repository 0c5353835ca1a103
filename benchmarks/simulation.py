"""Simulated weighings: the procedure of `steelyard.stats` on recorded and synthetic noise, with a known truth."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from math import log1p
from pathlib import Path
from typing import get_args

import numpy as np
import numpy.typing as npt

from steelyard.model.findings import VerdictName
from steelyard.stats.family import judge_family, step_down
from steelyard.stats.looks import RESERVE, Budgets, plan_looks
from steelyard.stats.paired import Judgement, judge
from steelyard.stats.sequential import Hypothesis, run_tests
from steelyard.stats.verdict import CHANGED

FloatArray = npt.NDArray[np.float64]
# noise(generator, pairs) -> values of shape (pairs, 2), equal in distribution on both sides
Noise = Callable[[np.random.Generator, int], FloatArray]

VERDICTS: tuple[VerdictName, ...] = get_args(VerdictName)

TRACES = Path(__file__).resolve().parent.parent / "tests" / "data" / "traces"
TRACE_NAMES = ("ambient", "bursts")
TRACE_METRICS = ("cpu", "active", "wall")


@cache
def trace(name: str, metric: str) -> FloatArray:
    """One metric of a recorded trace in seconds, shape (pairs, 2), with the recorded sides; read-only."""
    rows = _rows(name)
    values = np.empty((len(rows) // 2, 2))
    for row in rows:
        wall, delay = float(row["wall_s"]), float(row["run_delay_s"])
        value = {"cpu": float(row["cpu_s"]), "wall": wall, "active": wall - delay}[metric]
        values[int(row["pair"]), int(row["side"])] = value
    values.flags.writeable = False
    return values


def trace_order(name: str) -> npt.NDArray[np.int64]:
    """The order in which the two launches of each pair of a trace ran, (pairs,): 0 where side 0 was the first."""
    order = {int(row["pair"]): int(row["order"]) for row in _rows(name) if row["side"] == "0"}
    return np.array([order[pair] for pair in sorted(order)], dtype=np.int64)


@cache
def _rows(name: str) -> list[dict[str, str]]:
    with gzip.open(TRACES / f"{name}.csv.gz", "rt", newline="") as file:
        return list(csv.DictReader(file))


def window_of(values: FloatArray) -> Noise:
    """Recorded noise: a stretch from a random start, with the two labels of each pair swapped by a fair coin."""

    def noise(generator: np.random.Generator, pairs: int) -> FloatArray:
        start = generator.integers(0, len(values) - pairs + 1)
        stretch = values[start : start + pairs]
        swap = generator.random(pairs) < 0.5
        return np.where(swap[:, None], stretch[:, ::-1], stretch)

    return noise


def _paired(generator: np.random.Generator, launches: FloatArray) -> FloatArray:
    """Deal launches, in the order in which they ran, to the two sides, like a weighing."""
    pairs = launches.reshape(-1, 2)
    swap = generator.random(len(pairs)) < 0.5
    return np.where(swap[:, None], pairs[:, ::-1], pairs)


def quiet(generator: np.random.Generator, pairs: int) -> FloatArray:
    """Independent normal noise of 1 %."""
    return np.exp(0.01 * generator.standard_normal((pairs, 2)))


def heavy(generator: np.random.Generator, pairs: int) -> FloatArray:
    """Student's t with 2 degrees of freedom: no variance at all."""
    return np.exp(0.005 * generator.standard_t(2, (pairs, 2)))


def drift(generator: np.random.Generator, pairs: int) -> FloatArray:
    """Autocorrelated: a slowly mean-reverting random walk, 5 % wide, under 1 % of independent noise."""
    steps = 0.01 * generator.standard_normal(2 * pairs)
    level, levels = 0.0, np.empty(2 * pairs)
    for launch, step in enumerate(steps):
        level = 0.98 * level + step
        levels[launch] = level
    return _paired(generator, np.exp(levels + 0.01 * generator.standard_normal(2 * pairs)))


def bimodal(generator: np.random.Generator, pairs: int) -> FloatArray:
    """Two modes 4 % apart, drawn for each launch, as by two layouts of the heap."""
    modes = 0.04 * (generator.random((pairs, 2)) < 0.4)
    return np.exp(modes + 0.005 * generator.standard_normal((pairs, 2)))


def stalls(generator: np.random.Generator, pairs: int) -> FloatArray:
    """1 % of noise, and every twentieth launch stalls for up to its own length again."""
    stalled = generator.random((pairs, 2)) < 0.05
    return np.exp(0.01 * generator.standard_normal((pairs, 2))) * (1 + stalled * generator.random((pairs, 2)))


def skewed(generator: np.random.Generator, pairs: int) -> FloatArray:
    """Never faster than the work, often slower: exponential delays of 2 %, whose size changes every 40 launches."""
    size = np.repeat(generator.choice([0.005, 0.02, 0.08], size=2 * pairs // 40 + 1), 40)[: 2 * pairs]
    return _paired(generator, 1 + generator.exponential(1.0, 2 * pairs) * size)


SYNTHETIC: dict[str, Noise] = {noise.__name__: noise for noise in (quiet, heavy, drift, bimodal, stalls, skewed)}


@dataclass(frozen=True)
class Tally:
    """The outcomes of many weighings of one kind."""

    verdicts: Counter[str]
    pairs: tuple[int, ...]
    covered: int | None
    """How many intervals covered the true change; None if that was not requested."""

    def __add__(self, other: Tally) -> Tally:
        known = self.covered is not None and other.covered is not None
        covered = (self.covered or 0) + (other.covered or 0) if known else None
        return Tally(self.verdicts + other.verdicts, self.pairs + other.pairs, covered)

    @property
    def weighings(self) -> int:
        """The number of weighings."""
        return len(self.pairs)

    @property
    def median_pairs(self) -> float:
        """The number of pairs after which half of the weighings had stopped."""
        return float(np.median(self.pairs))

    @property
    def coverage(self) -> float:
        """The share of the intervals, at the looks where the weighings stopped, that held the true change."""
        return float("nan") if self.covered is None else self.covered / self.weighings

    def share(self, *verdicts: str) -> float:
        """The share of weighings that ended with one of the verdicts."""
        return sum(self.verdicts[verdict] for verdict in verdicts) / self.weighings


def simulate(
    noise: Noise,
    change: float,
    *,
    margin: float = 0.005,
    alpha: float = 0.01,
    pairs: int = 252,
    weighings: int = 1000,
    seed: int = 1,
    tick: float | None = None,
    roughly: bool = False,
) -> Tally:
    """Weigh many times with a true relative `change`; `tick` is the clock's, relative to a launch of 1.

    With `roughly` the coverage is not worked out, which takes half the time.
    """
    generator = np.random.default_rng(seed)
    truth = log1p(change)
    judgements: list[Judgement] = []
    for _ in range(weighings):
        sides = _ticking(generator, noise(generator, pairs) * np.array([1.0, 1.0 + change]), tick)
        judgements.append(weigh_once(sides, margin=margin, alpha=alpha, roughly=roughly))
    covered = sum(judgement.lower <= truth <= judgement.upper for judgement in judgements)
    return Tally(
        verdicts=Counter(judgement.verdict for judgement in judgements),
        pairs=tuple(judgement.look.pairs for judgement in judgements),
        covered=None if roughly else covered,
    )


def false_alarms(noise: Noise, *, alpha: float, pairs: int, weighings: int, tick: float | None = None) -> float:
    """The share of weighings without a change in which any look rejects "no change", as every wrong verdict must.

    It takes a third of the time of `simulate`, which tests the margins as well.
    """
    generator = np.random.default_rng(1)
    looks, rejected = plan_looks(pairs, ended=True), 0
    for _ in range(weighings):
        logs = np.log(_ticking(generator, noise(generator, pairs), tick))
        d, levels = logs[:, 1] - logs[:, 0], logs.mean(axis=1)
        rejected += run_tests(d, levels, looks, [Hypothesis(0.0, alpha)], keep=False)[0].rejected
    return rejected / weighings


def _ticking(generator: np.random.Generator, sides: FloatArray, tick: float | None) -> FloatArray:
    """What a clock shows for times, shape (pairs, 2), that begin anywhere between two of its ticks."""
    if tick is None:
        return sides
    begin = generator.random(sides.shape) * tick
    return np.asarray((np.floor((begin + sides) / tick) - np.floor(begin / tick)) * tick)


@dataclass(frozen=True)
class SuiteTally:
    """How many suites of identical programs had any `slower` or `faster`, and how many of their benchmarks had."""

    suites: int
    with_false_alarm: int
    alarms: int


def simulate_suite(
    noise: Noise,
    *,
    benchmarks: int,
    suites: int,
    pairs: int = 252,
    alpha: float = 0.01,
    shared: bool = True,
) -> SuiteTally:
    """Weigh suites of unchanged benchmarks; `shared` is whether they share alpha, as they have to."""
    generator = np.random.default_rng(1)
    alarms = []
    for _ in range(suites):
        values = [noise(generator, pairs) for _ in range(benchmarks)]
        found = step_down(benchmarks, _judge_member(values, pairs, alpha, shared=shared))
        alarms.append(sum(one is not None and one.verdict in CHANGED for one in found))
    return SuiteTally(suites, sum(count > 0 for count in alarms), sum(alarms))


@dataclass(frozen=True)
class DiscoveryTally:
    """What was found in suites of which some benchmarks had changed."""

    wrong_share: float
    """The share of a suite's findings that are wrong, on average over the suites."""
    found: float
    """The share of the changed benchmarks that was found."""


def simulate_discoveries(
    noise: Noise,
    *,
    changed: int,
    unchanged: int,
    change: float,
    suites: int,
    pairs: int = 45,
    alpha: float = 0.01,
) -> dict[str, DiscoveryTally]:
    """Weigh suites in which some benchmarks changed: one tally for each family, and one without any."""
    generator = np.random.default_rng(1)
    shares: dict[str, list[float]] = {"holm": [], "fdr": [], "none": []}
    found: dict[str, list[float]] = {"holm": [], "fdr": [], "none": []}
    members = changed + unchanged
    for _ in range(suites):
        values = [noise(generator, pairs) for _ in range(members)]
        values[:changed] = [one * np.array([1.0, 1.0 + change]) for one in values[:changed]]
        for family in shares:
            judge_member = _judge_member(values, pairs, alpha, shared=family != "none")
            judged = judge_family(family, members, judge_member)
            named = [one is not None and one.verdict in CHANGED for one in judged]
            shares[family].append(sum(named[changed:]) / max(1, sum(named)))
            found[family].append(sum(named[:changed]) / max(1, changed))
    return {family: DiscoveryTally(float(np.mean(shares[family])), float(np.mean(found[family]))) for family in shares}


def _judge_member(
    values: list[FloatArray], pairs: int, alpha: float, *, shared: bool
) -> Callable[[int, float], Judgement | None]:
    def judge_member(member: int, sharing: float) -> Judgement | None:
        one, other = values[member].T
        members = sharing if shared else 1.0
        return judge(lambda n: (one[:n], other[:n]), pairs, 0.005, alpha, ended=True, roughly=True, members=members)

    return judge_member


def one_budget(alpha: float) -> Budgets:
    """The budget of a weighing as in the tool: its end keeps a part of alpha."""
    return Budgets(RESERVE, None, alpha)


def weigh_once(
    sides: FloatArray, *, margin: float, alpha: float, roughly: bool = False, members: float = 1
) -> Judgement:
    """Judge one simulated weighing, values of shape (pairs, 2), whose budget ends with its pairs, but may be extended.

    In a suite it is one of `members` that share alpha.
    """
    judgement = judge(
        lambda n: (sides[:n, 0], sides[:n, 1]),
        len(sides),
        margin,
        alpha,
        ended=True,
        roughly=roughly,
        members=members,
        budgets=one_budget(alpha),
    )
    if judgement is None:
        raise ValueError("a simulation needs pairs")
    return judgement


def table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table of rows whose cells are shown as they are."""
    lines = [list(header), *([str(cell) for cell in row] for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
