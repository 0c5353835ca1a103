"""Benchmarks in Python: `bench` declares one, `python -m steelyard.harness FILES` runs what is declared in files.

This package runs inside the measured program. It speaks the harness protocol (docs/protocol.md), needs nothing but the
standard library, and imports little of that: what is loaded beside a benchmark shares its memory and its start.
"""

from __future__ import annotations

from steelyard.harness.declare import bench

__all__ = ["bench"]
