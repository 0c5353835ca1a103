"""The recorded scenarios: each puts programs into a world and runs command lines on it."""

from __future__ import annotations

from tests.golden.scenarios import alone, counts, ends, harness, heap, others, suites, timing
from tests.golden.scenarios.scenario import SCENARIOS

__all__ = ["SCENARIOS", "alone", "counts", "ends", "harness", "heap", "others", "suites", "timing"]
