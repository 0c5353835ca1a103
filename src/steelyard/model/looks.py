"""The looks behind a verdict, replayed: derived from a weighing whenever they are needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.model.launches import FloatArray, Launches


@dataclass(frozen=True)
class Look:
    """What one look at the first `pairs` pairs said: a relative change, +0.01 is 1 % slower."""

    pairs: int
    change: float


@dataclass(frozen=True)
class LookBack:
    """The values of the pairs of one benchmark in one metric, (n,) a side, and the looks at them."""

    launches: Launches
    """The launches of the benchmark alone."""
    baseline: FloatArray
    candidate: FloatArray
    looks: list[Look]
