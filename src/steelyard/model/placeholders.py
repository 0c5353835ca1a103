"""Placeholders for values in the user's commands: the `{name}` of each parameter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Final

PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
LAYOUT: Final = "layout"
"""The parameter for the number of a build, if a side has several."""
LAYOUT_PLACE: Final = f"{{{LAYOUT}}}"
LOOPS: Final = "loops"
"""The parameter for how often a command loops, if counts are those of its loops alone."""
LOOPS_PLACE: Final = f"{{{LOOPS}}}"


def placeholders(argv: Sequence[str]) -> list[str]:
    """The names of each {name} in these arguments, once."""
    found = (name for argument in argv for name in PLACEHOLDER.findall(argument))
    return [name for name in dict.fromkeys(found) if name.isidentifier()]


def combinations(parameters: Iterable[tuple[str, Sequence[str]]]) -> Iterator[dict[str, str]]:
    """Yield each combination of the parameters' values; a single empty one without parameters."""
    given = list(parameters)
    for values in product(*(of_one for _, of_one in given)):
        yield {name: value for (name, _), value in zip(given, values, strict=True)}


def describe_values(params: Mapping[str, str]) -> str:
    """The values of parameters, as they appear in the name of a benchmark; empty for none."""
    return ", ".join(f"{name}={value}" for name, value in params.items())


def with_values(text: str, params: Mapping[str, str]) -> str:
    """Replace each `{name}` of a parameter in the text; braces within a value stay."""
    return PLACEHOLDER.sub(lambda found: params.get(found[1], found[0]), text)
