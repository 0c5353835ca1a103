"""The options of `steelyard compare`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from steelyard.cli.options import (
    SHOWN_FUNCTIONS,
    WHAT_IS_RUN,
    FileOptions,
    JudgingOptions,
    LaunchOptions,
    Names,
    OldNames,
    ShownFunctions,
    Strict,
    Targets,
    WeighingOptions,
)
from steelyard.cli.revisions import RevisionOptions
from steelyard.cli.settings import CountingOptions, HeapOptions, MeasuringOptions, SuiteOptions, ThroughputOptions
from steelyard.cli.views import ShownUnits

_TO_CARRY_ON = "To carry on"


@dataclass(frozen=True, kw_only=True)
class CompareOptions(MeasuringOptions):
    """The options of `compare`."""

    panel: ClassVar[str] = WHAT_IS_RUN

    commands: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[BASELINE CANDIDATE...]",
            help="Commands in quotes; each is compared with the first. With --base one, which runs in both revisions.  "
            "[default: what steelyard.toml says]",
        ),
    ] = None
    revisions: RevisionOptions = RevisionOptions()
    judging: JudgingOptions = JudgingOptions()
    name: Names = None
    names: OldNames = None
    weighing: WeighingOptions = WeighingOptions()
    suite: SuiteOptions = SuiteOptions()
    heap: HeapOptions = HeapOptions()
    launch: LaunchOptions = LaunchOptions()
    throughput: ThroughputOptions = ThroughputOptions()
    counting: CountingOptions = CountingOptions()
    functions: ShownFunctions = SHOWN_FUNCTIONS
    unit: ShownUnits = None
    target: Targets = None
    tuned: Annotated[
        bool,
        typer.Option(
            "--tuned",
            help="Calm the machine meanwhile, and put back what was (steelyard docs tune); needs root.",
        ),
    ] = False
    strict: Strict = False
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="RECORD",
            rich_help_panel=_TO_CARRY_ON,
            help="Carry on an interrupted weighing with the same plan; give no commands. With --max-time or --pairs: "
            "one that stayed undecided goes on for so much more.",
        ),
    ] = None
    trust_journal: Annotated[
        bool,
        typer.Option(
            "--trust-journal", rich_help_panel=_TO_CARRY_ON, help="Carry on even what another user may have written."
        ),
    ] = False
    files: FileOptions = FileOptions()
