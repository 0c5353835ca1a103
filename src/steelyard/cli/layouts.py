"""The option that has each side be several builds."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.cli.arity import SEPARATOR
from steelyard.cli.options import WeighingOptions
from steelyard.model.errors import UsageError
from steelyard.model.values import in_range

LEAST = 2
_PLACE = "{layout}"


def layouts_checked(options: WeighingOptions, commands: Sequence[str]) -> int:
    """How many builds each side has, 0 for one; raises UsageError where the commands do not tell them apart."""
    if options.layouts is None:
        return 0
    from steelyard.model.layouts import MOST_LAYOUTS

    in_range("--layouts", options.layouts, LEAST, MOST_LAYOUTS)
    parameters = [*(options.parameter_list or []), *(options.parameter_scan or [])]
    if any(given.split(SEPARATOR)[0] == _PLACE.strip("{}") for given in parameters):
        raise UsageError(f"--layouts sets {_PLACE} in the commands: give the parameter another name")
    for command in commands:
        if _PLACE not in command:
            raise UsageError(
                f"--layouts {options.layouts}: {command!r} has no {_PLACE}, so that one layout alone would be weighed: "
                "write it where each build has its number, as in ./old-{layout}"
            )
    return options.layouts
