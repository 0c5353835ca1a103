"""The words that ask for the heap; `compare` and `run` share them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

Heap = Annotated[
    bool,
    typer.Option("--heap", help="Count allocations too, in launches apart from those that are timed (docs/heap.md)."),
]
HeapShuffle = Annotated[
    bool,
    typer.Option(
        "--heap-shuffle", help="Begin each pair's launches with a heap in a state drawn anew, to average over."
    ),
]

# A command's first launches may differ, by its hash seed for example, and three show that. A suite of a harness is
# long enough with one.
_LAUNCHES, _LAUNCHES_OF_HARNESS = 3, 1


def heap_launches(words: Mapping[str, Any]) -> int | None:
    """How many launches a side are watched; None for none."""
    if not words.get("heap"):
        return None
    return _LAUNCHES if words.get("harness") is None else _LAUNCHES_OF_HARNESS
