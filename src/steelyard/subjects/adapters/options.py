"""Options of a harness that only Steelyard may give."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import TYPE_CHECKING

from steelyard.model.errors import UsageError
from steelyard.subjects.responses import arguments_of

if TYPE_CHECKING:
    from steelyard.model.launch_spec import LaunchSpec


def check_options(
    launch: LaunchSpec, refused: Set[str], name_of: Callable[[str], str] = lambda word: word.partition("=")[0]
) -> None:
    """Raise UsageError if the command has an option that contradicts ours; the harness would not say whose.

    `name_of` returns the name of the option that a word is.
    """
    names_given = map(name_of, arguments_of(launch)[1:])
    if name := next((name for name in names_given if name in refused), None):
        raise UsageError(
            f"{name} contradicts the options that steelyard gives this harness: leave it out of the command, and "
            "choose benchmarks with --benchmark"
        )
