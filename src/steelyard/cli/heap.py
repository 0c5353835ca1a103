"""The options that ask for the heap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from steelyard.api.asked import HeapWatch
from steelyard.cli.command import Options


@dataclass(frozen=True, kw_only=True)
class HeapOptions(Options, HeapWatch):
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
