"""Paths in commands that are printed to be typed."""

from __future__ import annotations

import shlex
from pathlib import Path


def typed(path: Path) -> str:
    """A path as a shell takes it, whatever is in its name; one that begins like an option is none."""
    text = str(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)
