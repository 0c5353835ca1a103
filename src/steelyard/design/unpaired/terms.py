"""On which terms two records that were measured apart are compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from steelyard.design.suite.selection import Selection
from steelyard.subjects.harness import Listed

if TYPE_CHECKING:
    from steelyard.model.records import Run

_Shared = TypeVar("_Shared")


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How records are compared: the margin is a part of 1; without `metrics`, those of the first run are compared."""

    margin: float
    alpha: float
    metrics: Sequence[str] | None = None
    force: bool = False
    """Compare even runs of two machines."""
    same_conditions: bool = False
    """For imports: nothing else changed on the machine between them."""
    benchmarks: Sequence[str] = ()
    """Patterns of those that are shown; if empty, all. They share alpha with the others: both records were there to be
    looked at before these were chosen."""

    def metrics_of(self, baseline: Run) -> Sequence[str]:
        """Return the metrics in which runs are compared with this one."""
        return self.metrics or baseline.settings.metrics

    def chosen(self, shared: Sequence[_Shared], name_of: Callable[[_Shared], str]) -> list[_Shared]:
        """Return those of the benchmarks in both records that were asked for; raise UsageError if there are none."""
        by_name = {name_of(one): one for one in shared}
        listed = Selection(only=self.benchmarks).choose([*map(Listed, by_name)], "the common")
        return [by_name[one.name] for one in listed]
