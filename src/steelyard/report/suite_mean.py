"""What the benchmarks of a suite say together: the geometric mean of their changes."""

from __future__ import annotations

from collections.abc import Sequence
from math import expm1

import numpy as np

from steelyard.model.derived import Verdict
from steelyard.model.metrics import is_counted
from steelyard.model.records import Weighing
from steelyard.report import budgets, figures
from steelyard.stats.geometric_mean import geometric_mean


def suite_mean(record: Weighing, verdicts: Sequence[Verdict]) -> str:
    """Write that of the verdicts of one metric: `geometric mean of 12 benchmarks: +0.31 % [+0.12 %, +0.50 %] at ...`.

    Nothing where they are of no suite, of several candidates, of counts, or where a verdict is withheld.
    """
    members = [one for one in verdicts if not one.control]
    sides = {(record.benchmarks[one.index].baseline, record.benchmarks[one.index].candidate) for one in members}
    if record.settings.harness is None or len(sides) != 1 or is_counted(members[0].metric):
        return ""
    known = [(one.change, *one.interval) for one in members if one.change is not None and one.interval is not None]
    known = [(change, lower, upper) for change, lower, upper in known if lower > -1]
    if len(known) < 2 or any(map(budgets.is_withheld, members)):
        return ""
    changes, lower, upper = np.log1p(np.array(known)).T
    mean, *ends = geometric_mean(changes, lower, upper, independent=record.settings.starts != "shared")
    of_these = f"{len(known)} benchmarks" + (" that have an interval" if len(known) < len(members) else "")
    interval = figures.interval((expm1(ends[0]), expm1(ends[1])))
    confidence = figures.confidence(record.settings.alpha)
    return f"geometric mean of {of_these}: {figures.change(expm1(mean))} {interval} at {confidence} confidence"


def of_each_metric(record: Weighing, verdicts: Sequence[Verdict]) -> list[str]:
    """Write those of all metrics, named where there are several."""
    metrics = list(dict.fromkeys(verdict.metric for verdict in verdicts))
    means = {metric: suite_mean(record, [one for one in verdicts if one.metric == metric]) for metric in metrics}
    return [said if len(metrics) == 1 else f"{metric}: {said}" for metric, said in means.items() if said]
