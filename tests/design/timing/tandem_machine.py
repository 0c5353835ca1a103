"""A scripted machine whose other work affects both launches of a pair in tandem alike, and readers of its records."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import numpy as np

from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.numbers import NUMBERS
from steelyard.model.rows import IN_TANDEM, ROLES, USED
from tests.world import ScriptedWorld, measured, program_of

ALONE, BESIDE = "adjacent", "tandem"
numbers = attrgetter(*NUMBERS)
SHELL = {"cpu_ns": 5_000_000, "others_ns": 40_000_000}
"""The times of a launch that starts other processes and waits for them."""


@dataclass
class Machine:
    """Takes `ms` per launch; the two launches of a pair differ by the noise of its way of pairing."""

    world: ScriptedWorld
    ms: float = 45.0
    change: float = 0.0
    noise: dict[str, float] = field(default_factory=lambda: {ALONE: 0.03, BESIDE: 0.003})
    crowded: float = 1.0
    others: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What else launches measure, by the way of pairing."""
    at: dict[int, dict[str, Any]] = field(default_factory=dict)
    """What some launches measure instead, by their number from 1."""

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(4)
        self.world.script = self

    def __call__(self, spec: LaunchSpec, number: int) -> Measured:
        way = BESIDE if self.world.is_paired else ALONE
        ms = self.ms * (1 + self.change if program_of(spec) == "new" else 1)
        ms *= (self.crowded if way == BESIDE else 1) * np.exp(self.random.normal(0, self.noise[way]))
        return measured(ms, **self.others.get(way, {}), **self.at.get(number, {}))

    def weighed(self, *options: str) -> dict[str, Any]:
        done = self.world("compare", "./old", "./new", "--json", "r.json", *options)
        assert done.status in (0, 1, 130), done
        return self.world.json("r.json")


def ways(record: dict[str, Any], role: str = USED) -> dict[str, int]:
    """Return how many launches of a role ran in each way of pairing."""
    columns = record["launches"]
    orders = [order for order, each in zip(columns["order"], columns["role"], strict=True) if ROLES[each] == role]
    tandem = sum(order >= IN_TANDEM for order in orders)
    return {ALONE: len(orders) - tandem, BESIDE: tandem}


def notes(record: dict[str, Any]) -> dict[str, str]:
    found = [*record["findings"], *record["derived"]["verdicts"][0]["findings"]]
    return {one["code"]: one["message"] for one in found}
