"""Whether following a hint leads to a verdict: an undecided weighing says what it needs, and is repeated with that.

    python benchmarks/hints_on_traces.py [WEIGHINGS [BENCHMARKS]]

The pairs that it needs, or the margin with as many pairs as before, are granted with something to spare, as in the
report's `--pairs`, `--max-time` and `--margin`; pairs said to be enough in half of all cases are granted as they are.
Each weighing is one of BENCHMARKS that share alpha. tests/design/judging/test_outlook.py holds a smaller table to its
bar.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from benchmarks.simulation import SYNTHETIC, TRACE_NAMES, FloatArray, Noise, one_budget, table, trace, weigh_once
from benchmarks.words import whole_numbers
from steelyard.design.judging.outlook import Needed, needed_after_few_pairs, needed_to_decide
from steelyard.model.settings import Settings
from steelyard.report.budgets import LARGEST_HINTED_MARGIN, RESERVE_FACTOR

ALPHA, MARGIN = 0.01, 0.005
SETTINGS = Settings(alpha=ALPHA, margin=MARGIN)
BUDGET = one_budget(ALPHA)
PAIRS = (4, 5, 7, 8, 12, 23, 45)
CHANGES = (0.0, 0.002, 0.01, 0.03)
# More pairs than this are not simulated; a hint that names more is not counted.
MOST_PAIRS = 20_000


@dataclass(frozen=True)
class Followed:
    """How many hints there were, and how many of them led to a verdict."""

    pairs: int = 0
    pairs_decided: int = 0
    margins: int = 0
    margins_decided: int = 0
    even: int = 0
    even_decided: int = 0

    def __add__(self, other: Followed) -> Followed:
        return Followed(*(mine + its for mine, its in zip(self.counts(), other.counts(), strict=True)))

    def counts(self) -> tuple[int, int, int, int, int, int]:
        """All of the counts."""
        return self.pairs, self.pairs_decided, self.margins, self.margins_decided, self.even, self.even_decided


def noises() -> dict[str, Noise]:
    """Endless noise: the pairs of a trace are drawn repeatedly, as a hint may need more than any trace has."""
    traces = {f"{name}, {metric}": _drawn(trace(name, metric)) for name in TRACE_NAMES for metric in ("active", "wall")}
    return {**traces, **{name: noise for name, noise in SYNTHETIC.items() if name != "drift"}}


def _drawn(values: FloatArray) -> Noise:
    def noise(generator: np.random.Generator, pairs: int) -> FloatArray:
        chosen = values[generator.integers(0, len(values), pairs)]
        return np.where(generator.random((pairs, 1)) < 0.5, chosen[:, ::-1], chosen)

    return noise


def follow(noise: Noise, change: float, pairs: int, generator: np.random.Generator, members: int = 1) -> Followed:
    """Weigh once with so many pairs, and if undecided again as hinted, as one of `members` that share alpha."""
    factors = np.array([1.0, 1.0 + change])
    hint = _hint(noise(generator, pairs) * factors, members)
    if hint is None:
        return Followed()

    def decides(more: int, margin: float) -> int:
        again = weigh_once(noise(generator, more) * factors, margin=margin, alpha=ALPHA, roughly=True, members=members)
        return again.verdict != "undecided"

    found = Followed()
    if hint.pairs is not None and hint.pairs <= MOST_PAIRS:
        found += Followed(pairs=1, pairs_decided=decides(int(RESERVE_FACTOR * hint.pairs), MARGIN))
    if hint.even is not None and hint.even <= MOST_PAIRS:
        found += Followed(even=1, even_decided=decides(hint.even, MARGIN))
    if hint.margin is not None and RESERVE_FACTOR * hint.margin <= LARGEST_HINTED_MARGIN:
        found += Followed(margins=1, margins_decided=decides(pairs, RESERVE_FACTOR * hint.margin))
    return found


def _hint(sides: FloatArray, members: int) -> Needed | None:
    judgement = weigh_once(sides, margin=MARGIN, alpha=ALPHA, members=members)
    if judgement.verdict != "undecided":
        return None
    if np.isfinite(judgement.estimate.lower):
        return needed_to_decide(judgement, SETTINGS, BUDGET, members)
    return needed_after_few_pairs(np.log(sides[:, 1] / sides[:, 0]), SETTINGS, BUDGET, members)


def main(weighings: int, members: int) -> None:
    """Print one row per noise and number of pairs, over all changes."""
    rows: list[tuple[object, ...]] = []
    total = Followed()
    for name, noise in noises().items():
        for pairs in PAIRS:
            generator = np.random.default_rng(1)
            row = Followed()
            for change in CHANGES:
                for _ in range(weighings):
                    row += follow(noise, change, pairs, generator, members)
            rows.append((name, pairs, *_cells(row)))
            total += row
    rows.append(("all", "", *_cells(total)))
    led = "led to a verdict"
    header = ("noise", "pairs", "hints of pairs", led, "of a margin", led, "enough in half of all cases", led)
    print(
        f"{weighings} weighings a change of {', '.join(f'{change:.1%}' for change in CHANGES)}\n\n{table(header, rows)}"
    )


def _cells(row: Followed) -> tuple[object, ...]:
    pairs, margins = _share(row.pairs_decided, row.pairs), _share(row.margins_decided, row.margins)
    return row.pairs, pairs, row.margins, margins, row.even, _share(row.even_decided, row.even)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else ""


if __name__ == "__main__":
    main(*whole_numbers(__doc__, weighings=50, benchmarks=1))
