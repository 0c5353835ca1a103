"""Where the native artefacts are, but for the launch server."""

from __future__ import annotations

from pathlib import Path

from steelyard.model.errors import MeasurementError
from steelyard.native import FOLDER, library

PRELOAD: Path = library("steelyard-preload")
"""To be preloaded into programs: makes their randomness the same in each run, and starts Callgrind's counting."""

PROBES: Path = FOLDER / "steelyard-probes"
"""The programs whose use of the caches is known: `steelyard-probes PATTERN ELEMENTS ITERATIONS`."""

READER: Path = FOLDER / "steelyard-read"
"""The program that reads large files of JSON: `steelyard-read VALUES LISTS TEXTS < FILE`."""

HEAP: Path = library("steelyard-heap")
"""To be preloaded into programs: counts what they ask of their allocator."""

SCATTER: Path = library("steelyard-scatter")
"""To be preloaded into programs: begins them with a heap in a drawn state."""

CLOCK: Path = library("steelyard-clock")
"""To be preloaded into programs: their clock stands still while they wait for a processor."""


def probes() -> Path:
    """The probes; raises MeasurementError where they are missing."""
    if not PROBES.is_file():
        raise MeasurementError(f"the probes are missing, {PROBES}: reinstall steelyard")
    return PROBES
