"""Benchmarks in Python: `bench` declares one, `python -m steelyard.harness FILES` runs those declared in files.

This package runs inside the measured program. It speaks the harness protocol (docs/protocol.md), needs only the
standard library, and imports little of that: whatever is loaded adds to a benchmark's memory and start.
"""

from __future__ import annotations

from steelyard.harness.declare import bench

__all__ = ["bench"]
