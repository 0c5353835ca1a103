"""Where the native artefacts are, but for the launch server."""

from __future__ import annotations

from pathlib import Path

import steelyard.native

_FOLDER = Path(steelyard.native.__file__).parent


def _library(name: str, folder: Path) -> Path:
    """The path of a shared library, whatever the build has put between its name and its ending.

    A missing one has the plain name, for whoever needs it to say that it is missing.
    """
    return min(folder.glob(f"{name}*.so"), default=folder / f"{name}.so")


PRELOAD: Path = _library("steelyard-preload", _FOLDER)
"""To be preloaded into programs: makes their randomness the same in each run, and starts Callgrind's counting."""

PROBES: Path = _FOLDER / "steelyard-probes"
"""The programs whose use of the caches is known: `steelyard-probes PATTERN ELEMENTS ITERATIONS`."""

READER: Path = _FOLDER / "steelyard-read"
"""The program that reads large files of JSON: `steelyard-read VALUES LISTS TEXTS < FILE`."""

HEAP: Path = _library("steelyard-heap", _FOLDER)
"""To be preloaded into programs: counts what they ask of their allocator."""

SCATTER: Path = _library("steelyard-scatter", _FOLDER)
"""To be preloaded into programs: begins them with a heap in a drawn state."""

CLOCK: Path = _library("steelyard-clock", _FOLDER)
"""To be preloaded into programs: their clock stands still while they wait for a processor."""
