"""What is recorded: each scenario puts programs into a world and runs command lines on it."""

from __future__ import annotations

from tests.golden.scenarios import counts, ends, heap, timing
from tests.golden.scenarios.scenario import SCENARIOS

__all__ = ["SCENARIOS", "counts", "ends", "heap", "timing"]
