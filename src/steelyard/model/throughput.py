"""How much a benchmark processes each time, and hence per second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor
from typing import Annotated, Final, Literal, get_args

from steelyard.model.numbers import LEAST_VALUE, MOST_VALUE
from steelyard.model.structs import Kept, Within, struct_field, validated

WorkUnit = Literal["bytes", "items", "chars", "cycles"]
WORK_UNITS: Final[tuple[str, ...]] = get_args(WorkUnit)
_WHOLE_TIME_METRICS: Final = ("active", "wall", "cpu")
"""The metrics that measure the whole time of a launch or an iteration: other times are parts of these."""

_Amount = Annotated[float, Within(ge=LEAST_VALUE, le=MOST_VALUE)]


@dataclass(frozen=True, kw_only=True)
class Processed(Kept):
    """How much one execution processes: an iteration with a harness, otherwise the command, run once."""

    unit: WorkUnit
    amount: _Amount = struct_field("how much the baseline, or the only side, processes")
    candidate: _Amount | None = struct_field(
        "how much the candidate processes; null if as much as the baseline", default=None
    )

    def of(self, side: int) -> float:
        """The amount of a side: 0 is the baseline, 1 the candidate."""
        return self.candidate if side and self.candidate is not None else self.amount


def per_second(processed: Sequence[Processed], metric: str, median_ns: float, side: int = 0) -> dict[str, float]:
    """How much of each unit a side processes per second at its median time; empty if the metric is no such time."""
    if metric not in _WHOLE_TIME_METRICS or not median_ns > 0:
        return {}
    return {one.unit: one.of(side) / (median_ns / 1e9) for one in processed}


def processed_of(
    amounts: Mapping[str, float], candidate: Mapping[str, float] | None = None, *, error: float = 0.0
) -> list[Processed]:
    """What both sides process, by unit; a candidate without an amount is assumed to process as much.

    So is one whose amount differs by no more than `error`, relative: by what rounding leaves open of both together.
    """
    other = candidate or {}
    return [
        validated(
            Processed,
            {"unit": unit, "amount": amount, "candidate": _if_different(amount, other.get(unit), error)},
        )
        for unit, amount in amounts.items()
    ]


def _if_different(amount: float, candidate: float | None, error: float) -> float | None:
    """The candidate's amount if it is surely another one; an error below half a unit leaves a whole number exact."""
    is_different = candidate is not None and abs(candidate - amount) > floor(error * amount + 0.5)
    return candidate if is_different else None
