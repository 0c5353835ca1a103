"""Comparing two records that were measured apart: runs by their launches or counts, imports by their processes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.model.errors import UsageError
from steelyard.model.metrics import counted, is_counted, timed

if TYPE_CHECKING:
    from steelyard.design.unpaired.terms import Terms
    from steelyard.model.foreign import ForeignReport, ForeignResults
    from steelyard.model.records import Run, Weighing
    from steelyard.model.unpaired import UnpairedReport

    Difference = ForeignReport | UnpairedReport | Weighing


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
        from steelyard.design.unpaired.foreign import compare_foreign

        if terms.metrics:
            raise UsageError("--metric chooses from what steelyard measures; imports have one value a benchmark")
        return compare_foreign(baseline, candidate, terms)
    if terms.same_conditions:
        raise UsageError("--same-conditions is for imports: what runs tell of their conditions is judged; leave it out")
    from steelyard.design.unpaired.comparable import require_run

    runs = require_run(baseline, names[0]), require_run(candidate, names[1])
    for run, name in zip(runs, names, strict=True):
        check_kind(run, name, terms.metrics_of(runs[0]))
    return difference_of_runs(*runs, terms)


def check_kind(run: Run, name: Path, metrics: Sequence[str]) -> None:
    """Raise UsageError for a run that was only timed if counts are compared, and the other way round."""
    are_counts = is_counted(metrics[0])
    if are_counts and run.counting is None:
        raise UsageError(
            f"{name} was timed, and not counted: steelyard count COMMAND -o FILE counts it{_instead(timed(metrics))}"
        )
    if not are_counts and run.counting is not None and not len(run.launches):
        raise UsageError(
            f"{name} was counted, and not timed: steelyard run COMMAND -o FILE times it{_instead(counted(metrics))}"
        )


def _instead(others: Sequence[str]) -> str:
    """Return the way out where the other run has metrics of both kinds, and is to be compared in all of them."""
    return f"; or leave the other metrics out, by --metric {','.join(others)}" if others else ""


def difference_of_runs(baseline: Run, candidate: Run, terms: Terms) -> UnpairedReport | Weighing:
    """Return what two runs say about each other; raise as `difference` does."""
    if is_counted(terms.metrics_of(baseline)[0]):
        from steelyard.design.unpaired.counts import compare_counts

        return compare_counts(baseline, candidate, terms)
    from steelyard.design.unpaired.runs import compare_runs

    return compare_runs(baseline, candidate, terms)
