"""The native artefacts that the wheel carries, and where they are; no other Python code lives here."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def library(name: str) -> Path:
    """The path of a shared library, whatever the build has put between its name and its ending.

    A missing one has the plain name, for whoever needs it to say that it is missing.
    """
    return min(FOLDER.glob(f"{name}*.so"), default=FOLDER / f"{name}.so")
