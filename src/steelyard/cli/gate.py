"""`steelyard gate`: hold kept weighings to limits, and say so where code is reviewed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from steelyard.api.settings import current_folder
from steelyard.cli.command import CommandOptions, command
from steelyard.cli.forge_options import ForgeOptions
from steelyard.cli.inputs import record_paths
from steelyard.cli.options import WHAT_IS_JUDGED, file_option, json_option
from steelyard.cli.outputs import WriteErrors, check_apart, check_writable, is_printed, write
from steelyard.cli.status import FAILED, status_of_gate
from steelyard.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.design.world import World
    from steelyard.model.gate import GateReport
    from steelyard.model.limits import Limits

# The size of a weighing of 400,000 launches. A CI job reads untrusted files beside a token, and has to end.
_LARGEST_IN_CI = 64 << 20


@dataclass(frozen=True, kw_only=True)
class GateOptions(CommandOptions):
    """The options of `gate`."""

    records: Annotated[
        list[Path],
        typer.Argument(metavar="RECORD...", help="Kept weighings: files, or names of kept records; - is stdin."),
    ]
    fail_above: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-above",
            metavar="[PATTERN][:METRIC]=PERCENT",
            rich_help_panel=WHAT_IS_JUDGED,
            help="Fail where chance is excluded and the estimate is a larger slowdown: 5%, 'BM_sort*=2%', "
            "instructions=0.5%, 'BM_io*=never'; may be repeated, the one that names most counts.  [default: where the "
            "verdict is slower]",
        ),
    ] = None
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            rich_help_panel=WHAT_IS_JUDGED,
            help="Fail unless such a benchmark has a verdict; may be repeated.",
        ),
    ] = None
    strict: Annotated[
        bool,
        typer.Option("--strict", rich_help_panel=WHAT_IS_JUDGED, help="Exit with status 4 if any stays undecided."),
    ] = False
    part: Annotated[
        bool,
        typer.Option(
            "--part",
            rich_help_panel=WHAT_IS_JUDGED,
            help="Of a suite weighed with --shard these are some parts: the others have gates of their own.",
        ),
    ] = False
    json: Annotated[Path | None, json_option("Write the answer as JSON; - is stdout.")] = None
    markdown: Annotated[Path | None, file_option("Write the page as Markdown; - is stdout.", "--markdown")] = None
    junit: Annotated[Path | None, file_option("Write JUnit's XML; - is stdout.", "--junit")] = None
    metrics: Annotated[
        Path | None,
        file_option("Write OpenMetrics text, as GitLab's metrics reports read it; - is stdout.", "--metrics"),
    ] = None
    forge: ForgeOptions = ForgeOptions()


@command(
    GateOptions,
    examples=(
        "steelyard compare 'sleep .1' 'sleep .11' -o weighing.json; steelyard gate weighing.json",
        "steelyard gate weighing.json --fail-above 5% --fail-above 'sleep*=20%' --strict --markdown -",
    ),
)
def gate(options: GateOptions, world: World) -> int:
    """Hold kept weighings to limits: the page, and the exit status, of a CI job (steelyard docs ci).

    A gate without data, without a baseline or with benchmarks that failed has no answer, and fails.

    Exit status: 0 nothing is above its limit, 1 something is, 2 wrong usage, 3 there is no answer, 4 undecided
    (with --strict).
    """
    from steelyard.design.gate.gate import gate as held

    limits = _limits(options)
    if not options.forge.title.strip():
        raise UsageError("--title '' is empty: give the page a heading, or leave it out")
    outputs = (options.json, options.markdown, options.junit, options.metrics)
    check_writable(*outputs)
    forge = options.forge
    is_in_ci = forge.github or forge.gitlab or forge.comment
    paths = record_paths(world, *options.records)
    check_apart(outputs, paths)
    report = held(
        list(zip(map(str, options.records), paths, strict=True)),
        limits,
        largest_bytes=_LARGEST_IN_CI if is_in_ci else None,
        of_parts=options.part,
    )
    status = status_of_gate(report.verdict, strict=limits.strict)
    errors = _write(report, options, status)
    status = FAILED if errors else status
    is_log = forge.github or world.environment.get("GITHUB_ACTIONS") == "true"
    log = _show(report, world, beside_data=is_printed(*outputs), is_log=is_log)
    if is_in_ci:
        from steelyard.cli.gate_forge import report_to_forge

        report_to_forge(report, forge, world.environment, log, status)
    errors.raise_last()
    return status


def _limits(options: GateOptions) -> Limits:
    """Return the limits of the command line, and what it leaves open from the project's file, if there is one.

    Raises UsageError for what is no limit.
    """
    from steelyard.model.limits import Limits, limits_from
    from steelyard.model.project_file import load_project

    _check_not_blank(options.require or [], "--require")
    given = limits_from(options.fail_above or [], strict=options.strict, require=options.require or ())
    project = load_project(Path(current_folder()))
    if project is None:
        return given
    try:
        from_file = limits_from(project.gate.max_slower, strict=project.gate.strict, require=project.gate.require)
    except UsageError as error:
        raise UsageError(f"{project.at('gate', 'max-slower')}: [gate] max-slower {error}") from error
    _check_not_blank(project.gate.require, f"{project.at('gate', 'require')}: [gate] require")
    return Limits(
        limits=given.limits or from_file.limits,
        strict=given.strict or from_file.strict,
        require=given.require or from_file.require,
        accepted=[one.limit() for one in project.gate.accepted],
    )


def _check_not_blank(patterns: Sequence[str], option: str) -> None:
    if not all(pattern.strip() for pattern in patterns):
        raise UsageError(f"{option} '' names no benchmark: give a name or a pattern, or leave it out")


def _write(report: GateReport, options: GateOptions, status: int) -> WriteErrors:
    """Write the requested files; return the errors, which must not hide the verdict or stop the other files."""
    from steelyard.model.files import plain_json
    from steelyard.report import gate_json, gate_markdown, junit, openmetrics

    title, errors = options.forge.title, WriteErrors()
    for path, render in (
        (options.json, lambda told: plain_json(gate_json.answer(told, status))),
        (options.junit, junit.xml),
        (options.metrics, openmetrics.text),
        (options.markdown, partial(gate_markdown.page, title=title)),
    ):
        if path is not None:
            with errors.collected():
                write(path, render(report))
    return errors


def _show(report: GateReport, world: World, *, beside_data: bool, is_log: bool) -> IO[str]:
    """Print the answer, and return the stream. In a log, keep the runner from reading any name as a command."""
    from contextlib import ExitStack

    from steelyard.cli.screen import output
    from steelyard.report import gate_terminal

    console = output(world.environment, beside_data=beside_data)
    with ExitStack() as quoting:
        if is_log:
            from steelyard.forges.github import no_commands

            quoting.enter_context(no_commands(console.file))
        gate_terminal.show(console, report)
    return console.file
