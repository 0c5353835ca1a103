"""False alarms of weighings that go on whenever they are undecided.

A budget ends after 8 to 60 pairs. If "no change" is not rejected by then, others follow until there are 300 pairs. For
comparison, each end, after 1.7 times as many pairs as the one before, is also judged as if it were the only one.

    python benchmarks/going_on.py [--weighings N] [--alpha P]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from benchmarks.simulation import SYNTHETIC, FloatArray, Noise, table, trace, window_of
from steelyard.stats import sequential
from steelyard.stats.looks import RESERVE, Budgets, plan_looks
from steelyard.stats.sequential import Hypothesis

PAIRS = 300


def is_rejected(d: FloatArray, levels: FloatArray, pairs: int, budgets: Budgets, *, ended: bool) -> bool:
    """Whether "no change" is rejected by so many pairs, in a plan with these budgets."""
    looks = plan_looks(pairs, ended=ended, budgets=budgets)
    asked = [Hypothesis(0.0, budgets.alpha)]
    return sequential.run_tests(d[:pairs], levels[:pairs], looks, asked, keep=True)[0].rejected


def is_alarm(sides: FloatArray, first: int, alpha: float) -> bool:
    """Whether a weighing that goes on through all of its pairs (n, 2) calls its sides different."""
    d, levels = differences(sides)
    if is_rejected(d, levels, first, Budgets(RESERVE, None, alpha), ended=True):
        return True
    return is_rejected(d, levels, len(d), Budgets(RESERVE, first, alpha), ended=True)


def is_alarm_if_forgotten(sides: FloatArray, first: int, alpha: float) -> bool:
    """The same for a weighing that spends all of alpha at each end."""
    d, levels = differences(sides)
    ends = [first]
    while ends[-1] < len(d):
        ends.append(min(len(d), int(1.7 * ends[-1])))
    return any(is_rejected(d, levels, end, Budgets(alpha=alpha), ended=True) for end in ends)


def differences(sides: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The differences of the pairs, and their levels."""
    logs = np.log(sides)
    return logs[:, 1] - logs[:, 0], logs.mean(axis=1)


def main(weighings: int, alpha: float) -> None:
    """Print one row per noise."""
    noises: dict[str, Noise] = {"bursts, active": window_of(trace("bursts", "active")), "quiet": SYNTHETIC["quiet"]}
    rows = []
    for name, noise in noises.items():
        generator = np.random.default_rng(1)
        drawn = [(noise(generator, PAIRS), int(generator.integers(8, 61))) for _ in range(weighings)]
        shares = [np.mean([alarms(*one, alpha) for one in drawn]) for alarms in (is_alarm, is_alarm_if_forgotten)]
        rows.append((name, weighings, *(f"{share:.2%}" for share in shares)))
    print(table(["noise", "weighings", f"false alarms at alpha {alpha:g}", "if each end spent all"], rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weighings", type=int, default=1000)
    parser.add_argument("--alpha", type=float, default=0.05)
    arguments = parser.parse_args()
    main(arguments.weighings, arguments.alpha)
