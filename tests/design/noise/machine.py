"""A machine on which probes take what is said, with noise that is known."""

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
    """Its noise is that of one launch: absolute at its start, and relative."""

    start_ms: float = 0.0
    relative: float = 0.005
    generator: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))

    def __call__(self, spec: LaunchSpec, number: int) -> Measured:  # noqa: ARG002
        """What a launch measures: without iterations it is shortest, as tries of it take the least."""
        iterations = int(os.fsdecode(spec.argv[-1]))
        noise = np.exp(self.relative * self.generator.standard_normal())
        late_ms = self.start_ms * abs(self.generator.standard_normal())
        return measured((START_MS + iterations * EACH_MS) * noise + late_ms)


def is_loop(spec: LaunchSpec) -> bool:
    """Whether it is the probe that needs no memory."""
    return spec.argv[1] == b"linear-i32"
