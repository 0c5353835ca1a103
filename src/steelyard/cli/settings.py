"""The options that settings are made of (`api.settings`): those of `options`, and those of what is measured how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from steelyard.api.options import Counting, HeapWatch, Options, Suite, Throughput
from steelyard.cli.command import CommandOptions, ReadBy
from steelyard.cli.options import WHAT_IS_RUN, JudgingOptions, LaunchOptions, WeighingOptions
from steelyard.model.values import shard


class SuiteOptions(Suite, CommandOptions):
    """Who drives the benchmarks, and which of them are chosen."""

    panel: ClassVar[str] = "Benchmarks inside programs"

    harness: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Measure the benchmarks inside the programs: of protocol (all SDKs), google-benchmark, criterion, go "
            "and others (steelyard docs adapters), or auto to recognise them.",
        ),
    ]
    benchmark: Annotated[
        list[str] | None,
        typer.Option(
            "--benchmark",
            "-b",
            metavar="PATTERN",
            help="Only those of a harness; * and ? as in a shell, '!PATTERN': all but those.",
        ),
    ]
    tag: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Only those benchmarks of a harness that have such a tag."),
    ]
    shard: Annotated[
        tuple[int, int] | None,
        typer.Option(
            metavar="I/N",
            help="Only part I of N of the benchmarks, for N machines; steelyard merge joins what they measured.",
        ),
        ReadBy(shard),
    ]


class HeapOptions(HeapWatch, CommandOptions):
    """Whether the heap is watched, and whether its state is drawn at random."""

    panel: ClassVar[str] = "The heap"

    watched: Annotated[
        bool,
        typer.Option(
            "--heap", help="Count allocations too, in launches apart from those that are timed (steelyard docs heap)."
        ),
    ]
    heap_shuffle: Annotated[
        bool,
        typer.Option(
            "--heap-shuffle",
            help="Begin launches with a heap in a state drawn anew, to average over; those of a pair with the same.",
        ),
    ]


class ThroughputOptions(Throughput, CommandOptions):
    """What a launch, or an iteration of a harness, processes."""

    panel: ClassVar[str] = WHAT_IS_RUN

    processed_bytes: Annotated[
        str | None,
        typer.Option(
            "--bytes",
            metavar="N",
            help="Each run of the command (with --harness, each iteration) processes N bytes, as in 64M or {size}: "
            "bytes a second are shown.",
        ),
    ]
    processed_items: Annotated[
        str | None,
        typer.Option("--items", metavar="N", help="The same of items of any kind: items a second are shown."),
    ]


class CountingOptions(Counting, CommandOptions):
    """How launches are counted, if a counted metric is chosen."""

    panel: ClassVar[str] = "Counting under Valgrind"

    caches: Annotated[
        str,
        typer.Option(
            metavar="NAME|SIZES",
            help="Simulated caches: article (32K L1, 8M last level), haswell, small, host, or "
            "I1=32K,8,64:D1=32K,8,64:LL=8M,16,64.",
        ),
    ]
    weights: Annotated[
        str,
        typer.Option(
            "--weights",
            metavar="NAME|L1,LL,RAM",
            help="What a hit of each level costs: default (1,5,35), article (1,5,30), calibrated (see steelyard "
            "calibrate; with the caches of the calibration), or three numbers.",
        ),
    ]
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Launches counted at once.  [default: one for each processor]")
    ]
    loops: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Count with {loops} = N and 2N in the command and take the difference: N loops alone."
        ),
    ]
    call_graph: Annotated[
        bool, typer.Option("--call-graph", help="Count what each function calls too (Callgrind, slower).")
    ]
    body: Annotated[
        bool,
        typer.Option("--body", help="Count only between the target's own Callgrind start and stop requests."),
    ]
    after_start: Annotated[
        bool,
        typer.Option("--after-start", help="Count only once the program is loaded (Callgrind; not static programs)."),
    ]


@dataclass(frozen=True, kw_only=True)
class MeasuringOptions(CommandOptions, Options):
    """All that settings are made of; each command that measures has some of these options."""

    judging: JudgingOptions = JudgingOptions()
    weighing: WeighingOptions = WeighingOptions()
    suite: SuiteOptions = SuiteOptions()
    heap: HeapOptions = HeapOptions()
    launch: LaunchOptions = LaunchOptions()
    throughput: ThroughputOptions = ThroughputOptions()
    counting: CountingOptions = CountingOptions()
