"""Comparing two records that were measured apart: runs by their launches or counts, imports by their processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.model.errors import UsageError
from steelyard.model.metrics import is_counted

if TYPE_CHECKING:
    from steelyard.model.foreign import ForeignReport, ForeignResults
    from steelyard.model.records import Run, Weighing
    from steelyard.model.unpaired import UnpairedReport

    Difference = ForeignReport | UnpairedReport | Weighing


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How records are compared: the margin is a part of 1; without `metrics`, those of the first run are compared."""

    margin: float
    alpha: float
    metrics: Sequence[str] | None
    force: bool
    """Compare even runs of two machines."""
    same_conditions: bool
    """For imports: nothing else changed on the machine between them."""


def difference(
    baseline: Weighing | Run | ForeignResults,
    candidate: Weighing | Run | ForeignResults,
    names: tuple[Path, Path],
    terms: Terms,
) -> Difference:
    """Return what two records say about each other; `names` are used in messages about what cannot be compared.

    Two counted runs make a weighing, as counts do not drift. Raises UsageError for what cannot be compared,
    MeasurementError if the first metric is undefined.
    """
    from steelyard.model.foreign import ForeignResults

    if isinstance(baseline, ForeignResults) and isinstance(candidate, ForeignResults):
        return _difference_of_imports(baseline, candidate, terms)
    if terms.same_conditions:
        raise UsageError("--same-conditions is for imports: what runs tell of their conditions is judged; leave it out")
    from steelyard.design.unpaired.comparable import require_run

    runs = require_run(baseline, names[0]), require_run(candidate, names[1])
    for run, name in zip(runs, names, strict=True):
        check_kind(run, name, terms.metrics or runs[0].settings.metrics)
    return difference_of_runs(*runs, terms)


def check_kind(run: Run, name: Path, metrics: Sequence[str]) -> None:
    """Raise UsageError for a run that was only timed if counts are compared, and the other way round."""
    are_counts = is_counted(metrics[0])
    if are_counts and run.counting is None:
        raise UsageError(f"{name} was timed, and not counted: steelyard count COMMAND -o FILE counts it")
    if not are_counts and run.counting is not None and not len(run.launches):
        raise UsageError(f"{name} was counted, and not timed: steelyard run COMMAND -o FILE times it")


def difference_of_runs(baseline: Run, candidate: Run, terms: Terms) -> UnpairedReport | Weighing:
    """Return what two runs say about each other; raise as `difference` does."""
    metrics = terms.metrics or baseline.settings.metrics
    if is_counted(metrics[0]):
        from steelyard.design.unpaired.counts import compare_counts

        return compare_counts(
            baseline, candidate, margin=terms.margin, alpha=terms.alpha, metrics=metrics, force=terms.force
        )
    from steelyard.design.unpaired.runs import compare_runs

    return compare_runs(baseline, candidate, margin=terms.margin, alpha=terms.alpha, metrics=metrics, force=terms.force)


def _difference_of_imports(baseline: ForeignResults, candidate: ForeignResults, terms: Terms) -> ForeignReport:
    from steelyard.design.unpaired.foreign import compare_foreign

    if terms.metrics:
        raise UsageError("--metric chooses from what steelyard measures; imports have one value a benchmark")
    return compare_foreign(
        baseline,
        candidate,
        margin=terms.margin,
        alpha=terms.alpha,
        same_conditions=terms.same_conditions,
        force=terms.force,
    )
