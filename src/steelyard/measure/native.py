"""Where the native artefacts are, except the launch server."""

from __future__ import annotations

from pathlib import Path

from steelyard.model.errors import MeasurementError
from steelyard.native import FOLDER, library

PRELOAD: Path = library("steelyard-preload")
"""A library to preload: makes a program's randomness the same in each run, and starts Callgrind's counting."""

PROBES: Path = FOLDER / "steelyard-probes"
"""A program whose use of the caches is known: `steelyard-probes PATTERN ELEMENTS ITERATIONS`."""

READER: Path = FOLDER / "steelyard-read"
"""A program that reads large JSON files: `steelyard-read VALUES LISTS TEXTS < FILE`."""

HEAP: Path = library("steelyard-heap")
"""A library to preload: counts what a program asks of its allocator."""

SCATTER: Path = library("steelyard-scatter")
"""A library to preload: starts a program with its heap in a drawn state."""

CLOCK: Path = library("steelyard-clock")
"""A library to preload: a program's clock stands still while it waits for a processor."""


def probes() -> Path:
    """Return the path of the probes; raises MeasurementError if they are missing."""
    if not PROBES.is_file():
        raise MeasurementError(f"the probes are missing, {PROBES}: reinstall steelyard")
    return PROBES
