"""The list of scenarios, by the names of their recordings."""

from __future__ import annotations

from collections.abc import Callable

from tests.golden.programs import Program
from tests.golden.world import World

Scenario = Callable[[World], None]
SCENARIOS: dict[str, Scenario] = {}


def scenario(function: Scenario) -> Scenario:
    """Register a scenario, which is recorded under its own name."""
    SCENARIOS[function.__name__.replace("_", "-")] = function
    return function


def pair(world: World, new_ns: float = 12e6, old: Program | None = None, of: str = "") -> None:
    """Put two commands into the world, `old` (by default of 12 ms) and `new`; `of` is the end of their names."""
    world.program(f"old{of}", old)
    world.program(f"new{of}", Program(wall_ns=lambda _: new_ns))
