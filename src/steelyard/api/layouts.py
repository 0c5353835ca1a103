"""Checks of what is asked about layouts: several builds of each side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from steelyard.api.options import Plan
from steelyard.api.parameters import parameter_names
from steelyard.model.errors import UsageError
from steelyard.model.placeholders import LAYOUT, LAYOUT_PLACE
from steelyard.model.values import in_range

if TYPE_CHECKING:
    from steelyard.subjects.revisions.recipe import Recipe

_FEWEST_LAYOUTS = 2


def layouts_checked(options: Plan, commands: Sequence[str], recipe: Recipe | None) -> int:
    """Return how many layouts each side has, 0 if only one; raise UsageError if nothing tells them apart.

    Either the commands tell them apart, or the recipe that builds both sides.
    """
    has_builds = recipe is not None and recipe.has_layouts
    if LAYOUT in parameter_names(options) and (has_builds or options.layouts is not None):
        setter = "--layouts" if options.layouts is not None else "the build"
        raise UsageError(f"{setter} sets {LAYOUT_PLACE} in the commands: give the parameter another name")
    if options.layouts is None:
        return 0
    from steelyard.model.layouts import MOST_LAYOUTS

    in_range("--layouts", options.layouts, _FEWEST_LAYOUTS, MOST_LAYOUTS)
    if has_builds:
        return options.layouts
    for command in commands:
        if LAYOUT_PLACE not in command:
            raise UsageError(
                f"--layouts {options.layouts}: {command!r} has no {LAYOUT_PLACE}, so that one layout alone would be "
                "weighed: " + (_COMMAND_ADVICE if recipe is None else _BUILD_ADVICE)
            )
    return options.layouts


_COMMAND_ADVICE = "write it where each build has its number, as in ./old-{layout}"
_BUILD_ADVICE = "write it in the command that builds, where each build gets its number (steelyard docs layouts)"


def layouts_to_build(options: Plan, recipe: Recipe) -> int:
    """Return how many layouts of each side are built, 0 for one."""
    return (options.layouts or 0) if recipe.has_layouts else 0
