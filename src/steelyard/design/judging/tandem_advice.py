"""Whether an undecided benchmark may need less time with both launches of a pair at once, which nobody asked for."""

from __future__ import annotations

import numpy as np

from steelyard.design.judging.pairs import MetricPairs
from steelyard.design.runner.tandem import (
    LEAST_CPU_NS,
    MOST_WAITING,
    gains_beside,
    gains_from_ns,
    takes_samples_in_turn,
    tandem_obstacle,
)
from steelyard.model.findings import NOISY_ALONE, WRITING_ALONE, Finding
from steelyard.model.records import Weighing
from steelyard.report.figures import percent
from steelyard.stats.paired import Judgement
from steelyard.stats.summary import centre

# Of most programs, pairs that vary by more than this vary by less in tandem, whatever its turns (docs/tandem.md).
_NOISY_SPREAD = 0.01


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
