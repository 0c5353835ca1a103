"""Kept runs, by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.design.world import World


def kept_paths(world: World, *paths: Path) -> list[Path]:
    """Return the paths, replacing each name that is no file, but of a kept run, by the path of that run."""
    from steelyard.history.store import is_name

    return [
        # A folder may well be called like a run: `main`, beside work trees.
        world.store().by_name(path) if is_name(str(path)) and (path.is_dir() or not path.exists()) else path
        for path in paths
    ]
