"""`steelyard merge`: the parts of a suite as one weighing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.command import CommandOptions, command
from steelyard.cli.inputs import record_paths
from steelyard.cli.options import SHOWN_FUNCTIONS, FileOptions, ShownFunctions, Strict
from steelyard.cli.outputs import check_apart, check_writable

if TYPE_CHECKING:
    from steelyard.design.world import World


@dataclass(frozen=True, kw_only=True)
class MergeOptions(CommandOptions):
    """The options of `merge`."""

    records: Annotated[
        list[Path],
        typer.Argument(metavar="RECORD...", help="What was measured with --shard 1/N, 2/N, ... N/N; all of them."),
    ]
    functions: ShownFunctions = SHOWN_FUNCTIONS
    strict: Strict = False
    files: FileOptions = FileOptions()


@command(
    MergeOptions,
    examples=(
        "steelyard merge one.json two.json",
        "steelyard merge one.json two.json -o all.json --markdown -",
    ),
)
def merge(options: MergeOptions, world: World) -> int:
    """Join the parts of a suite that several machines have weighed, and judge them as one: all share alpha.

    Exit status: as that of compare.
    """
    from steelyard.cli.outcome import report_outcome
    from steelyard.design.merging import merge_parts
    from steelyard.design.outcome import judge_outcome
    from steelyard.model.files import load

    check_writable(*options.files.paths())
    paths = record_paths(world, *options.records)
    check_apart(options.files.paths(), paths)
    outcome = judge_outcome(merge_parts([(path, load(path)) for path in paths]), None)
    return report_outcome(outcome, options.files, world, functions=options.functions, strict=options.strict)
