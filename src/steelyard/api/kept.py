"""What was kept, by its name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.design.world import World


def kept_by_name(world: World, *paths: Path) -> list[Path]:
    """The paths; where there is no file of a name, but something was kept by it, where that is."""
    from steelyard.history.store import is_name

    return [world.store().by_name(path) if is_name(str(path)) and not path.exists() else path for path in paths]
