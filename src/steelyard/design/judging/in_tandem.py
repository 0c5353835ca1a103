"""What running the launches of a pair at the same time does to the times shown, and where it may be worth a try."""

from __future__ import annotations

from math import expm1

import numpy as np
import numpy.typing as npt

from steelyard.design.judging.pairs import MetricPairs
from steelyard.design.runner.tandem import (
    LEAST_CPU_NS,
    MOST_SLOWDOWN_IN_TANDEM,
    MOST_WAITING,
    gains_beside,
    gains_from_ns,
    takes_samples_in_turn,
    tandem_obstacle,
)
from steelyard.model.findings import NOISY_ALONE, WRITING_ALONE, Finding
from steelyard.model.launches import FloatArray, Launches
from steelyard.model.metrics import METRICS
from steelyard.model.records import Weighing
from steelyard.model.rows import USED, has_order
from steelyard.report.figures import count, percent, whole_percent
from steelyard.stats.paired import Judgement
from steelyard.stats.summary import centre

# If two differ by more than this factor, the longer one is alone for a good part of its time.
_ALIKE_FACTOR = 1.5
# Of most programs, pairs that vary by more than this vary by less in tandem, whatever its turns (docs/tandem.md).
_NOISY_SPREAD = 0.01


def tandem_finding(launches: Launches, benchmark: int, metric: str) -> Finding | None:
    """Return a finding if pairs ran in tandem, with what that did to the times, as pairs that ran alone tell."""
    tandem, judged = launches.in_tandem(), launches.of(benchmark, USED)
    used = judged & tandem
    if not used.any():
        return None
    tandem_pairs, all_pairs = used.sum() // 2, judged.sum() // 2
    which = "a pair" if tandem_pairs == all_pairs else f"{tandem_pairs} of {all_pairs} pairs"
    by_themselves = launches.of(benchmark) & ~tandem
    alone, beside = (_side_medians(launches, chosen, metric) for chosen in (by_themselves, used))
    manner = "each beside a neighbour like itself" if _are_alike(beside) else "each beside the other while both ran"
    if launches.samples and has_order(launches.samples[np.flatnonzero(used)[0]]):
        manner = "samples in turn, each behind one of the other side"
    message = f"the launches of {which} ran at the same time on one processor: {manner}"
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


def try_tandem_finding(record: Weighing, pairs: MetricPairs, metric: str, judgement: Judgement) -> Finding | None:
    """Return a finding that names the option to try tandem, if the pairs are noisy and the benchmark could run so."""
    settings, writes = record.settings, _writes_files(pairs)
    if judgement.verdict != "undecided" or metric not in ("active", "cpu") or pairs.launches.in_tandem().any():
        return None
    if settings.pairing == "auto" and not writes:
        return None  # it gains nothing by it, or is unfit for it
    if tandem_obstacle(settings) or not (takes_samples_in_turn(settings) or _suits_tandem(record, pairs)):
        return None
    baseline, candidate = pairs.first(judgement.look.pairs)
    spread = centre(candidate / baseline).spread
    if spread <= _NOISY_SPREAD and not _gains_for_sure(record, pairs):
        return None
    message = f"pairs vary by {percent(spread)}: other work on the machine may hit one launch of a pair alone"
    if writes:
        remedy = "it writes to files: unless two at once would use the same ones, --pairing tandem runs both at once"
        return Finding(code=WRITING_ALONE, message=message, remedy=remedy)
    remedy = "--pairing auto runs both at once where that takes less time; they must not get in each other's way"
    return Finding(code=NOISY_ALONE, message=message, remedy=remedy)


def _writes_files(pairs: MetricPairs) -> bool:
    """Whether any launch of a command wrote to files, which keeps it from being run beside its like unasked.

    What only the warm-up writes is a cache.
    """
    written = pairs.launches.column("written_blocks")[pairs.launches.complete_pairs(pairs.benchmark)]
    return not pairs.launches.samples and bool((written > 0).any())


def _gains_for_sure(record: Weighing, pairs: MetricPairs) -> bool:
    """Whether pairs that vary by little would vary by even less in tandem."""
    used = pairs.launches.complete_pairs(pairs.benchmark)
    is_long = np.median(pairs.launches.column("cpu_ns")[used]) >= gains_from_ns(record.settings)
    return bool(is_long) and gains_beside(record.settings, record.machine.offers)


def _suits_tandem(record: Weighing, pairs: MetricPairs) -> bool:
    """Whether its launches are long, and of a single thread that computes."""
    launches, used = pairs.launches, pairs.launches.complete_pairs(pairs.benchmark)
    cpu_ns = launches.column("cpu_ns")[used]
    if record.settings.harness is not None or not launches.worked_alone()[used].all():
        return False
    if np.median(cpu_ns) < LEAST_CPU_NS:
        return False
    own_ns = launches.column("wall_ns")[used] - launches.column("delay_ns")[used]
    return bool(np.median(cpu_ns - (1 - MOST_WAITING) * own_ns) >= 0)
