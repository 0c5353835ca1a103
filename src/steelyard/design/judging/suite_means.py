"""What the benchmarks of a suite say together: the geometric mean of their changes, in each metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import expm1
from typing import TYPE_CHECKING

import numpy as np

from steelyard.model.derived import SuiteMean, Verdict
from steelyard.model.metrics import is_counted
from steelyard.model.records import Weighing
from steelyard.report.budgets import is_withheld
from steelyard.stats.geometric_mean import geometric_mean

if TYPE_CHECKING:
    from steelyard.model.foreign import ForeignVerdict
    from steelyard.model.unpaired import UnpairedVerdict


def suite_means(record: Weighing, verdicts: Sequence[Verdict]) -> list[SuiteMean]:
    """Return the means of a suite in its metrics.

    There is none for what is no suite, for several candidates, for counts, or where a verdict is withheld.
    """
    members = [one for one in verdicts if not one.control]
    sides = {(record.benchmarks[one.index].baseline, record.benchmarks[one.index].candidate) for one in members}
    if record.settings.harness is None or len(sides) != 1:
        return []
    means: list[SuiteMean] = []
    for metric in dict.fromkeys(one.metric for one in members if not is_counted(one.metric)):
        chosen = [one for one in members if one.metric == metric]
        if not any(map(is_withheld, chosen)):
            means += mean_of(metric, chosen, independent=record.settings.starts != "shared")
    return means


def mean_of(
    metric: str, judged: Sequence[Verdict | UnpairedVerdict | ForeignVerdict], *, independent: bool
) -> Iterator[SuiteMean]:
    """Yield the mean of the changes that have an interval, if there are two or more; as `geometric_mean`."""
    known = [(one.change, *one.interval) for one in judged if one.change is not None and one.interval is not None]
    known = [(change, lower, upper) for change, lower, upper in known if lower > -1]
    if len(known) < 2:
        return
    mean, lower, upper = geometric_mean(*np.log1p(np.array(known)).T, independent=independent)
    yield SuiteMean(
        metric=metric,
        change=expm1(mean),
        interval=(expm1(lower), expm1(upper)),
        benchmarks=len(known),
        left_out=len(judged) - len(known),
    )
