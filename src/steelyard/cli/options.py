"""The options that several commands share. Imports nothing heavy: `--help` reads it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from steelyard.cli.command import Options

Margin = Annotated[
    str, typer.Option(metavar="PERCENT", help="Smallest change that matters; less is `same`. 0.001% to 50%.")
]
Alpha = Annotated[float, typer.Option(metavar="P", help="Chance of a wrong verdict that you accept, 0.00001 to 0.2.")]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with status 4 if it stays undecided.")]
Name = Annotated[str | None, typer.Option(metavar="NAME", help="A name for it.  [default: the command]")]
Markdown = Annotated[Path | None, typer.Option("--markdown", metavar="FILE", help="Write a Markdown table.")]
ShownFunctions = Annotated[
    int, typer.Option("--functions", metavar="N", min=0, help="Functions shown, the largest first.")
]
SHOWN_FUNCTIONS = 10


@dataclass(frozen=True, kw_only=True)
class JudgingOptions(Options):
    """What is judged, how surely, and for how long it is measured."""

    limit: ClassVar[str] = "--pairs"
    """The option that says how many launches."""

    margin: Margin = "0.5%"
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME[,NAME]",
            help="What is measured: active, wall, cpu, user, sys, delay, max_rss, minor_faults, major_faults, "
            "voluntary_switches, involuntary_switches, timeslices; counted under Valgrind: instructions, cost, "
            "l1_hits, ll_hits, ram_hits. Several may be given; the first decides.  "
            "[default: active]",
        ),
    ] = None
    pairs: Annotated[
        int | None, typer.Option(metavar="N", help="Most pairs to measure.  [default: as many as the time allows]")
    ] = None
    max_time: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="Longest time to measure.  [default: 30, or none with a number of launches]"
        ),
    ] = None
    alpha: Alpha = 0.01
    family: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What --alpha limits among several benchmarks: holm, the chance of any wrong verdict; fdr, the share "
            "of wrong ones among those found changed (finds more in large suites).",
        ),
    ] = "holm"


@dataclass(frozen=True, kw_only=True)
class WeighingOptions(Options):
    """What is weighed beside one command against another."""

    parameter_list: Annotated[
        list[str] | None,
        typer.Option("--parameter-list", "-L", metavar="NAME A,B,C", help="Weigh with {NAME} set to each value."),
    ] = None
    parameter_scan: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter-scan", "-P", metavar="NAME FROM TO STEP", help="The same with numbers evenly spaced."
        ),
    ] = None
    control: Annotated[
        bool, typer.Option("--control", help="Weigh the baseline against itself too; no verdict if that alarms.")
    ] = False
    reference_output: Annotated[
        bool, typer.Option("--reference-output", help="First check that both sides print the same.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class LaunchOptions(Options):
    """What a launch is, what it finds, and what goes before and after it."""

    repeat: Annotated[
        int, typer.Option(metavar="N", help="Run the command N times in one launch, for commands too short to time.")
    ] = 1
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where the commands' standard output goes.  [default: nowhere]"),
    ] = None
    wait_quiet: Annotated[
        float, typer.Option(metavar="SECONDS", help="Wait up to so long in all for other work to calm down.")
    ] = 0
    warm_up: Annotated[
        int, typer.Option("--warmup", metavar="N", help="Warm-up launches of each command, not judged.")
    ] = 1
    prepare: Annotated[
        list[str] | None,
        typer.Option(metavar="CMD", help="Run before each launch, untimed; given twice, once for each command."),
    ] = None
    cleanup: Annotated[
        list[str] | None,
        typer.Option(metavar="CMD", help="Run when all is measured; given twice, once for each command."),
    ] = None
    stdin: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Standard input of each launch.  [default: empty]")
    ] = None
    shell: Annotated[
        bool, typer.Option("--shell", help="Run the commands by /bin/sh -c; its start is measured and said.")
    ] = False
    ignore_failure: Annotated[bool, typer.Option("--ignore-failure", "-i", help="Accept launches that fail.")] = False
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Kill a launch that takes longer; an error.")
    ] = None
    cpu: Annotated[
        int | None,
        typer.Option("--cpu", metavar="N", help="Pin every launch to processor N (one-threaded programs)."),
    ] = None
    env: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[=VALUE]", help="Pass on (or set) an environment variable; may be repeated."),
    ] = None
    inherit_env: Annotated[
        bool, typer.Option("--inherit-env", help="Pass on the whole environment instead of the small whitelist.")
    ] = False
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Repeat the plan of the weighing that showed this seed.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class FileOptions(Options):
    """The files that are written."""

    json: Annotated[
        Path | None,
        typer.Option(
            "--json", "-o", metavar="FILE", help="Keep the record: raw numbers and verdicts (.gz compresses)."
        ),
    ] = None
    markdown: Markdown = None
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write the raw launches, or counts, as CSV.")
    ] = None
