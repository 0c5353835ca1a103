"""What running the launches of a pair at the same time does to the times shown."""

from __future__ import annotations

from math import expm1

import numpy as np
import numpy.typing as npt

from steelyard.design.runner.tandem import MOST_SLOWDOWN_IN_TANDEM
from steelyard.model.findings import Finding
from steelyard.model.launches import FloatArray, Launches
from steelyard.model.metrics import METRICS
from steelyard.model.rows import USED, has_order
from steelyard.report.figures import count, whole_percent

# If two differ by more than this factor, the longer one is alone for a good part of its time.
_ALIKE_FACTOR = 1.5


def tandem_finding(launches: Launches, benchmark: int, metric: str) -> Finding | None:
    """Return a finding if pairs ran in tandem, with what that did to the times, as pairs that ran alone tell."""
    tandem, judged = launches.in_tandem(), launches.of(benchmark, USED)
    used = judged & tandem
    if not used.any():
        return None
    tandem_pairs, all_pairs = used.sum() // 2, judged.sum() // 2
    which = (
        "the launches of a pair"
        if tandem_pairs == all_pairs
        else f"the launches of {tandem_pairs} of {all_pairs} pairs"
    )
    by_themselves = launches.of(benchmark) & ~tandem
    alone, beside = (_side_medians(launches, chosen, metric) for chosen in (by_themselves, used))
    manner = "each beside a neighbour like itself" if _are_alike(beside) else "each beside the other while both ran"
    if launches.samples and has_order(launches.samples[np.flatnonzero(used)[0]]):
        manner = "samples in turn, each behind one of the other side"
    message = f"{which} ran at the same time on one processor: {manner}"
    rise = _share_longer(alone, beside) if METRICS[metric].unit == "ns" else 0.0
    if rise <= MOST_SLOWDOWN_IN_TANDEM:
        return Finding(code="tandem", message=f"{message}, as the times shown reflect")
    return Finding(
        code="tandem",
        # Other work, by which so few may differ, is a cause as well as the caches that the two share.
        message=f"{message}, where it takes {whole_percent(rise)} longer than alone, as far as "
        f"{count(int(by_themselves.sum()), 'launch')} alone can tell: the two share the processor's caches",
        remedy="--pairing adjacent weighs it as it runs alone",
    )


def _side_medians(launches: Launches, chosen: npt.NDArray[np.bool_], metric: str) -> FloatArray:
    """Return the medians of the two sides; NaN for one of which nothing is known."""
    values, sides = launches.metric(metric), np.asarray(launches.side)
    known = chosen & ~np.isnan(values)  # launches after the last look may lack what the judged ones have
    side_values = [values[known & (sides == side)] for side in (0, 1)]
    return np.array([np.median(each) if len(each) else np.nan for each in side_values])


def _are_alike(medians: FloatArray) -> bool:
    shorter, longer = sorted(medians)
    return not longer > _ALIKE_FACTOR * shorter


def _share_longer(alone: FloatArray, beside: FloatArray) -> float:
    """Return by what share a time is longer beside a partner than alone, over both sides; 0 if that is not known."""
    known = (alone > 0) & (beside > 0)
    return expm1(float(np.log(beside[known] / alone[known]).mean())) if known.any() else 0.0
