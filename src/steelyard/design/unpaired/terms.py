"""On which terms two records that were measured apart are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.model.records import Run


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

    def metrics_of(self, baseline: Run) -> Sequence[str]:
        """Return the metrics in which runs are compared with this one."""
        return self.metrics or baseline.settings.metrics
