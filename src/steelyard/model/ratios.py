"""Figures that follow from verdicts and summaries: the ratio beside the change, and the throughput."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from steelyard.model.throughput import Processed, per_second

if TYPE_CHECKING:
    from steelyard.model.derived import Derived, Side, Summary, Verdict
    from steelyard.model.subject import Benchmark


def with_ratios(benchmarks: Sequence[Benchmark], derived: Derived) -> Derived:
    """Add the ratio to each verdict, and the throughput to each side whose benchmark says how much it processes."""
    return derived.model_copy(
        update={
            "verdicts": [_with_ratio(one, benchmarks[one.index].processed) for one in derived.verdicts],
            "summaries": [_with_throughput(one, benchmarks[one.index].processed) for one in derived.summaries],
        }
    )


def with_rate(side: Side, processed: Sequence[Processed], metric: str, place: int) -> Side:
    """Add the throughput to a side: the baseline's at `place` 0, the candidate's at 1."""
    return side.model_copy(update={"per_second": per_second(processed, metric, side.median, place)})


def _with_ratio(verdict: Verdict, processed: Sequence[Processed]) -> Verdict:
    update: dict[str, object] = {"ratio": None if verdict.change is None else 1 + verdict.change}
    if processed:
        for place, (name, side) in enumerate((("baseline", verdict.baseline), ("candidate", verdict.candidate))):
            if side is not None:
                update[name] = with_rate(side, processed, verdict.metric, place)
    return verdict.model_copy(update=update)


def _with_throughput(summary: Summary, processed: Sequence[Processed]) -> Summary:
    if not processed:
        return summary
    return summary.model_copy(update={"per_second": per_second(processed, summary.metric, summary.median)})
