"""How much of each series a page can hold: the more rows it has, the fewer points each chart draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import nlargest

# For all rows together; for one row, as much as a screen can show; and as little as still has a shape.
_POINTS, _MOST, _FEWEST = 17_000, 1200, 32
_FUNCTIONS, _MOST_FUNCTIONS, _FEWEST_FUNCTIONS = 1500, 40, 5
_LAUNCHES, _MOST_LAUNCHES, _FEWEST_LAUNCHES = 6000, 200, 8
# Charts of more rows than this take minutes and tens of megabytes, and nobody looks at them.
_DRAWN_ROWS = 1000


@dataclass(frozen=True)
class Budget:
    """How much one row may draw."""

    points: int = _MOST
    functions: int = _MOST_FUNCTIONS
    launches: int = _MOST_LAUNCHES
    """Launches whose samples are read."""
    drawn: float = 1.0
    """The share of all rows that have charts."""

    def of_each(self, changes: Sequence[float | None]) -> list[Budget]:
        """Return the budget of each row of a table, by its change; where they are too many, some may draw no points.

        Those that changed most have charts, and where none is known to have changed the first.
        """
        most = self._drawn_of(len(changes))
        chosen = {*nlargest(most, range(len(changes)), key=lambda place: abs(changes[place] or 0.0))}
        return [self if place in chosen else replace(self, points=0) for place in range(len(changes))]

    def left_out(self, rows: int) -> list[str]:
        """Say of a table that not all of its rows have charts; empty if all have."""
        if (drawn := self._drawn_of(rows)) == rows:
            return []
        which = "those that changed most, or where nothing is compared the first"
        return [f"{drawn:,} of {rows:,} rows have charts: {which}."]

    def _drawn_of(self, rows: int) -> int:
        return round(self.drawn * rows)


def of_rows(rows: int) -> Budget:
    """Return the budget of each row on a page with `rows` rows."""

    def share(whole: int, most: int, fewest: int) -> int:
        return max(fewest, min(most, whole // max(1, rows)))

    return Budget(
        share(_POINTS, _MOST, _FEWEST),
        share(_FUNCTIONS, _MOST_FUNCTIONS, _FEWEST_FUNCTIONS),
        share(_LAUNCHES, _MOST_LAUNCHES, _FEWEST_LAUNCHES),
        min(1.0, _DRAWN_ROWS / max(1, rows)),
    )
