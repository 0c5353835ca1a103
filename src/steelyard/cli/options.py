"""The options that several commands share. Imports nothing heavy: `--help` reads it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import typer

from steelyard.api.options import Judging, Launching, Plan
from steelyard.api.streams import input_of_launches, output_of_launches
from steelyard.cli.command import CommandOptions, ReadBy
from steelyard.model.values import natural, processor, seconds, share

WHAT_IS_JUDGED, WHAT_IS_RUN, OUTPUT = "What is judged", "What is run", "Output"

Margin = Annotated[
    str,
    typer.Option(
        metavar="PERCENT",
        rich_help_panel=WHAT_IS_JUDGED,
        help="Smallest change that matters; less is `same`. 0.001% to 50%.",
    ),
]
Alpha = Annotated[
    float,
    typer.Option(
        metavar="P",
        rich_help_panel=WHAT_IS_JUDGED,
        help="Chance of a wrong verdict that you accept: 0.01 is 1%. 0.001% to 20%.",
    ),
    ReadBy(share),
]
AlphaOfInterval = Annotated[
    float,
    typer.Option(metavar="P", help="Chance that an interval misses what it is for: 0.01 is 1%. 0.001% to 20%."),
    ReadBy(share),
]
Strict = Annotated[
    bool, typer.Option("--strict", rich_help_panel=OUTPUT, help="Exit with status 4 if it stays undecided.")
]
Name = Annotated[
    str | None,
    typer.Option(
        "--name", "-n", metavar="NAME", rich_help_panel=WHAT_IS_RUN, help="A name for it.  [default: the command]"
    ),
]
Names = Annotated[
    list[str] | None,
    typer.Option(
        "--name",
        "-n",
        metavar="NAME",
        rich_help_panel=WHAT_IS_RUN,
        help="A name for each, given once for each.  [default: as they are written]",
    ),
]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--target", metavar="PATTERN", help="Only those targets of the project's file (steelyard docs config)."
    ),
]
OldNames = Annotated[str | None, typer.Option("--names", metavar="A,B,...", hidden=True)]


def file_option(help_: str, *spellings: str) -> Any:
    """Return the option for a file that is written."""
    return typer.Option(*spellings, metavar="FILE", rich_help_panel=OUTPUT, help=help_)


def json_option(help_: str) -> Any:
    """Return the option for a file of JSON."""
    return file_option(help_, "--json", "-o")


Markdown = Annotated[Path | None, file_option("Write a Markdown table; - is stdout.", "--markdown")]
Html = Annotated[
    Path | None, file_option("Write a page for a browser, as steelyard report does; - is stdout.", "--html")
]
ShownFunctions = Annotated[
    int,
    typer.Option(
        "--functions", metavar="N", rich_help_panel=OUTPUT, help="How many functions to show of what was counted."
    ),
    ReadBy(natural),
]
SHOWN_FUNCTIONS = 10


class JudgingOptions(Judging, CommandOptions):
    """What is judged, how surely, and how long it is measured."""

    panel: ClassVar[str] = WHAT_IS_JUDGED

    margin: Margin
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME[,NAME]",
            help="What is measured: active, wall, cpu, user, sys, delay, max_rss, minor_faults, major_faults, "
            "voluntary_switches, involuntary_switches, timeslices; counted by the kernel, and the processor where it "
            "can: task_clock, migrations, cycles, retired_instructions, branch_misses, cache_misses; counted under "
            "Valgrind: instructions, cost, l1_hits, ll_hits, ram_hits. Several may be given; the first decides.  "
            "[default: active]",
        ),
    ]
    pairs: Annotated[
        int | None,
        typer.Option(
            "--pairs", "-M", metavar="N", help="Most pairs to measure.  [default: as many as the time allows]"
        ),
    ]
    max_time: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Longest time to measure, also as 2m or 1h.  [default: 30, or none with a number of pairs; "
            "slow commands up to 10m, for the fewest pairs that can decide]",
        ),
        ReadBy(seconds),
    ]
    alpha: Alpha
    family: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What --alpha limits among several benchmarks: holm, the chance of any wrong verdict; fdr, the share "
            "of wrong ones among those found changed (finds more in large suites).",
        ),
    ]


class WeighingOptions(Plan, CommandOptions):
    """What a weighing runs beyond its commands, and how: parameters, control, layouts, pairing."""

    panel: ClassVar[str] = WHAT_IS_RUN

    parameter_list: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter-list",
            "-L",
            metavar="NAME A,B,C",
            help="Measure with {NAME} set to each value.",
        ),
    ]
    parameter_scan: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter-scan",
            "-P",
            metavar="NAME FROM TO [STEP]",
            help="The same with numbers evenly spaced, by 1 without a STEP.",
        ),
    ]
    control: Annotated[
        bool,
        typer.Option("--control", help="Weigh the baseline against a copy of itself too; no verdict if that alarms."),
    ]
    reference_output: Annotated[
        bool, typer.Option("--reference-output", help="First check that both sides print the same.")
    ]
    layouts: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Weigh this many builds of each side, with {layout} from 1 to N in the commands or in --build, and "
            "average over them (steelyard docs layouts).",
        ),
    ]
    pairing: Annotated[
        str | None,
        typer.Option(
            metavar="WAY",
            help="How the launches of a pair run: adjacent, one after the other; tandem, at the same time on one "
            "processor, so that other work hits both alike; auto, in tandem where that needs less time, and cannot "
            "harm: as is usual for commands (steelyard docs tandem).",
        ),
    ]
    own_addresses: Annotated[
        bool,
        typer.Option(
            "--own-addresses",
            help="Let the kernel draw the addresses of each launch anew, where those of a pair could be equal.",
        ),
    ]
    own_starts: Annotated[
        bool,
        typer.Option(
            "--own-starts",
            help="Start the program anew for each benchmark of a harness, where one start could serve several.",
        ),
    ]


class LaunchOptions(Launching, CommandOptions):
    """What a launch is, what it finds, and what goes before and after it."""

    panel: ClassVar[str] = "How it is launched"

    setup: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CMD",
            help="Run once before the first launch, and what it leaves running goes on; given twice, once for each of "
            "two commands.",
        ),
    ]
    prepare: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CMD",
            help="Run before each launch, untimed; given twice, once for each of two commands.",
        ),
    ]
    conclude: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CMD",
            help="Run after each launch, untimed; given twice, once for each of two commands.",
        ),
    ]
    cleanup: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CMD",
            help="Run once when all is measured; given twice, once for each of two commands.",
        ),
    ]
    warm_up: Annotated[
        int, typer.Option("--warmup", "-w", metavar="N", help="Warm-up launches of each command, not judged.")
    ]
    repeat: Annotated[
        int, typer.Option(metavar="N", help="Run the command N times in one launch, for commands too short to time.")
    ]
    stdin: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Standard input of each launch.  [default: empty]"),
        ReadBy(input_of_launches),
    ]
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where the commands' standard output goes.  [default: nowhere]"),
        ReadBy(output_of_launches),
    ]
    shell: Annotated[
        bool, typer.Option("--shell", help="Run the commands by /bin/sh -c; its start is measured and said.")
    ]
    ignore_failure: Annotated[bool, typer.Option("--ignore-failure", "-i", help="Accept launches that fail.")]
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Kill a launch that takes longer, which is an error."),
        ReadBy(seconds),
    ]
    cpu: Annotated[
        int | Literal["auto"] | None,
        typer.Option(
            "--cpu", metavar="N", help="Pin every launch to processor N, or auto: the quietest (one-threaded programs)."
        ),
        ReadBy(processor),
    ]
    isolate: Annotated[
        bool,
        typer.Option(
            "--isolate",
            help="Run the launches in a control group of their own, and with --cpu on a processor that is taken from "
            "all others, as far as you may (steelyard docs isolation).",
        ),
    ]
    env: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[=VALUE]", help="Pass on (or set) an environment variable; may be repeated."),
    ]
    inherit_env: Annotated[
        bool, typer.Option("--inherit-env", help="Pass on the whole environment instead of the small whitelist.")
    ]
    wait_quiet: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="Wait up to this long in all for other work to calm down."),
        ReadBy(seconds),
    ]
    watch: Annotated[
        bool,
        typer.Option(
            "--watch/--no-watch",
            help="Watch what else runs while launches do, which takes under 0.5% of one processor.",
        ),
    ]
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Draw orders, hash seeds and the like from this number: the same number, the same plan."
        ),
    ]


class LaunchOptionsOfOne(LaunchOptions):
    """The same for a single command, so that nothing can be given once for each of two."""

    setup: Annotated[
        list[str] | None,
        typer.Option(metavar="CMD", help="Run once before the first launch, and what it leaves running goes on."),
    ]
    prepare: Annotated[list[str] | None, typer.Option(metavar="CMD", help="Run before each launch, untimed.")]
    conclude: Annotated[list[str] | None, typer.Option(metavar="CMD", help="Run after each launch, untimed.")]
    cleanup: Annotated[list[str] | None, typer.Option(metavar="CMD", help="Run once when all is measured.")]


@dataclass(frozen=True, kw_only=True)
class FileOptions(CommandOptions):
    """The files that are written."""

    panel: ClassVar[str] = OUTPUT

    json: Annotated[
        Path | None, json_option("Keep the record: raw numbers and verdicts (.gz compresses; - is stdout).")
    ] = None
    markdown: Markdown = None
    csv: Annotated[Path | None, file_option("Write the raw launches, or counts, as CSV; - is stdout.", "--csv")] = None
    html: Html = None

    def paths(self) -> tuple[Path | None, ...]:
        """Return all files; None for those that are not asked for."""
        return self.json, self.markdown, self.csv, self.html
