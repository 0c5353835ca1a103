"""The list of scenarios, by the names of their recordings."""

from __future__ import annotations

from collections.abc import Callable

from tests.golden.programs import Program
from tests.golden.world import World

Scenario = Callable[[World], None]
SCENARIOS: dict[str, Scenario] = {}


def scenario(function: Scenario) -> Scenario:
    """Have a scenario recorded, under its own name."""
    SCENARIOS[function.__name__.replace("_", "-")] = function
    return function


def pair(world: World, new_ns: float = 12e6, old: Program | None = None, of: str = "") -> None:
    """Two commands, `old` and `new`, with the end `of` their names; the first one takes 12 ms."""
    world.program(f"old{of}", old)
    world.program(f"new{of}", Program(wall_ns=lambda _: new_ns))
