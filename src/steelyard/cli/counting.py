"""The options that say how launches are counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from steelyard.api.asked import Counting
from steelyard.cli.command import Options


@dataclass(frozen=True, kw_only=True)
class CountingOptions(Options, Counting):
    """How launches are counted, where a metric is chosen that is."""

    panel: ClassVar[str] = "Counting under Valgrind"

    caches: Annotated[
        str,
        typer.Option(
            metavar="NAME|SIZES",
            help="Simulated caches: article (32K L1, 8M last level), haswell, small, host, or "
            "I1=32K,8,64:D1=32K,8,64:LL=8M,16,64.",
        ),
    ] = Counting.caches
    weights: Annotated[
        str,
        typer.Option(
            "--weights",
            metavar="NAME|L1,LL,RAM",
            help="What a hit of each level costs: default (1,5,35), article (1,5,30), calibrated (see steelyard "
            "calibrate; with the caches of the calibration), or three numbers.",
        ),
    ] = Counting.weights
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Launches counted at once.  [default: one for each processor]")
    ] = None
    loops: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Count with {loops} = N and 2N in the command and take the difference: N loops alone."
        ),
    ] = None
    call_graph: Annotated[
        bool, typer.Option("--call-graph", help="Count what each function calls too (Callgrind, slower).")
    ] = False
    body: Annotated[
        bool,
        typer.Option("--body", help="Count only between the target's own Callgrind start and stop requests."),
    ] = False
    after_start: Annotated[
        bool,
        typer.Option("--after-start", help="Count only once the program is loaded (Callgrind; not static programs)."),
    ] = False
