"""The options that ask for the heap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from steelyard.cli.command import Options

# A command's first launches may differ, by its hash seed for example, and three show that. A suite of a harness is
# long enough with one.
_LAUNCHES, _LAUNCHES_OF_HARNESS = 3, 1


@dataclass(frozen=True, kw_only=True)
class HeapOptions(Options):
    """Whether it is watched, and whether its state is drawn."""

    panel: ClassVar[str] = "The heap"

    watched: Annotated[
        bool,
        typer.Option(
            "--heap", help="Count allocations too, in launches apart from those that are timed (steelyard docs heap)."
        ),
    ] = False
    shuffled: Annotated[
        bool,
        typer.Option(
            "--heap-shuffle", help="Begin each pair's launches with a heap in a state drawn anew, to average over."
        ),
    ] = False


def heap_launches(options: HeapOptions, *, harness: str | None) -> int | None:
    """How many launches a side are watched; None for none."""
    if not options.watched:
        return None
    return _LAUNCHES if harness is None else _LAUNCHES_OF_HARNESS
