"""A machine on which probes take known times, with known noise."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import numpy as np

from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests.world import measured

START_MS, EACH_MS = 0.9, 4e-6


@dataclass
class Machine:
    """Adds noise to each launch: absolute noise at its start, and relative noise."""

    start_ms: float = 0.0
    relative: float = 0.005
    generator: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))

    def __call__(self, spec: LaunchSpec, number: int) -> Measured:  # noqa: ARG002
        """Return what a launch measures; the noise at its start only adds, as the tool takes the shortest of tries."""
        iterations = int(os.fsdecode(spec.argv[-1]))
        noise = np.exp(self.relative * self.generator.standard_normal())
        late_ms = self.start_ms * abs(self.generator.standard_normal())
        return measured((START_MS + iterations * EACH_MS) * noise + late_ms)


def is_loop(spec: LaunchSpec) -> bool:
    """Return whether a launch is that of the probe that needs no memory."""
    return spec.argv[1] == b"linear-i32"
