"""How much of each series a page can hold: the more rows it has, the fewer points each chart draws."""

from __future__ import annotations

from dataclasses import dataclass

# For all rows together; for one row, as much as a screen can show; and as little as still has a shape.
_POINTS, _MOST, _FEWEST = 17_000, 1200, 32
_FUNCTIONS, _MOST_FUNCTIONS, _FEWEST_FUNCTIONS = 1500, 40, 5
_LAUNCHES, _MOST_LAUNCHES, _FEWEST_LAUNCHES = 6000, 200, 8


@dataclass(frozen=True)
class Budget:
    """How much one row may draw."""

    points: int = _MOST
    functions: int = _MOST_FUNCTIONS
    launches: int = _MOST_LAUNCHES
    """Launches whose samples are read."""


def of_rows(rows: int) -> Budget:
    """Return the budget of each row on a page with `rows` rows."""

    def share(whole: int, most: int, fewest: int) -> int:
        return max(fewest, min(most, whole // max(1, rows)))

    return Budget(
        share(_POINTS, _MOST, _FEWEST),
        share(_FUNCTIONS, _MOST_FUNCTIONS, _FEWEST_FUNCTIONS),
        share(_LAUNCHES, _MOST_LAUNCHES, _FEWEST_LAUNCHES),
    )
