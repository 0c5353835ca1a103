"""How much of each series a page has room for: the more rows it has, the fewer points each chart draws."""

from __future__ import annotations

from dataclasses import dataclass

# Of all rows together, and of one: what a screen can show of it, and what still has a shape.
_POINTS, _MOST, _FEWEST = 17_000, 1200, 32
_FUNCTIONS, _MOST_FUNCTIONS, _FEWEST_FUNCTIONS = 1500, 40, 5
_LAUNCHES, _MOST_LAUNCHES, _FEWEST_LAUNCHES = 6000, 200, 8


@dataclass(frozen=True)
class Budget:
    """What one row may take."""

    points: int = _MOST
    functions: int = _MOST_FUNCTIONS
    launches: int = _MOST_LAUNCHES
    """Of which the samples are looked through."""


def of_rows(rows: int) -> Budget:
    """What each of so many rows of a page may take."""

    def share(whole: int, most: int, fewest: int) -> int:
        return max(fewest, min(most, whole // max(1, rows)))

    return Budget(
        share(_POINTS, _MOST, _FEWEST),
        share(_FUNCTIONS, _MOST_FUNCTIONS, _FEWEST_FUNCTIONS),
        share(_LAUNCHES, _MOST_LAUNCHES, _FEWEST_LAUNCHES),
    )
