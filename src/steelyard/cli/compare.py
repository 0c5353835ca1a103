"""`steelyard compare`: weigh commands against the first of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from steelyard.cli import counting, heap_words, options, suite
from steelyard.cli.arity import words_of
from steelyard.cli.checks import is_given
from steelyard.model.errors import UsageError

_WITH_RESUME = ("resume", "strict", "json", "markdown", "csv", "functions")


def compare(
    context: typer.Context,
    commands: Annotated[
        list[str] | None,
        typer.Argument(metavar="BASELINE CANDIDATE...", help="Commands in quotes; each is compared with the first."),
    ] = None,
    margin: options.Margin = "0.5%",
    metric: options.Metric = None,
    pairs: options.Pairs = None,
    max_time: options.MaxTime = None,
    alpha: options.Alpha = 0.01,
    family: options.Family = "holm",
    names: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Names for the commands.  [default: the commands]")
    ] = None,
    parameter_list: Annotated[
        list[str] | None,
        typer.Option("--parameter-list", "-L", metavar="NAME A,B,C", help="Weigh with {NAME} set to each value."),
    ] = None,
    parameter_scan: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter-scan", "-P", metavar="NAME FROM TO STEP", help="The same with numbers evenly spaced."
        ),
    ] = None,
    control: Annotated[
        bool, typer.Option("--control", help="Weigh the baseline against itself too; no verdict if that alarms.")
    ] = False,
    reference_output: Annotated[
        bool, typer.Option("--reference-output", help="First check that both sides print the same.")
    ] = False,
    harness: suite.HarnessName = None,
    benchmark: suite.BenchmarkPatterns = None,
    tag: suite.TagPatterns = None,
    heap: heap_words.Heap = False,
    heap_shuffle: heap_words.HeapShuffle = False,
    repeat: options.Repeat = 1,
    output: options.Output = None,
    wait_quiet: options.WaitQuiet = 0,
    warm_up: options.WarmUp = 1,
    prepare: options.Prepare = None,
    cleanup: options.Cleanup = None,
    stdin: options.Stdin = None,
    shell: options.Shell = False,
    ignore_failure: options.IgnoreFailure = False,
    timeout: options.Timeout = None,
    cpu: options.Cpu = None,
    env: options.Env = None,
    inherit_env: options.InheritEnv = False,
    seed: options.Seed = None,
    caches: counting.Caches = "article",
    weights: counting.WeightsWord = "default",
    jobs: counting.Jobs = None,
    loops: counting.Loops = None,
    call_graph: counting.CallGraph = False,
    body: counting.Body = False,
    after_start: counting.AfterStart = False,
    functions: counting.ShownFunctions = 10,
    strict: options.Strict = False,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="JOURNAL", help="Carry on an interrupted weighing with the same plan; give no commands."),
    ] = None,
    json: options.Json = None,
    markdown: options.Markdown = None,
    csv: options.Csv = None,
) -> None:
    """Weigh commands: say whether each CANDIDATE is slower or faster than BASELINE, or the same.

    They run in adjacent pairs, in random order, until the verdict stands or the budget ends.

    Exit status: 0 nothing is slower, 1 a candidate is slower, 2 wrong usage, 3 a measurement failed, 4 undecided
    (with --strict), 130 interrupted.
    """
    words = {**locals(), "margin": options.margin_percent(margin)}

    from steelyard.cli.outcome import exit_status, show_outcome
    from steelyard.cli.screen import watching
    from steelyard.design import session
    from steelyard.design.world import World

    options.check_writable(json, markdown, csv, output)
    if resume is not None:
        _refuse_other_words(context)
        with watching() as watch:
            outcome = session.resume(resume, watch, World())
    else:
        weighing = _weighing(words)
        with watching() as watch:
            outcome = session.measure(weighing, watch, World())
    show_outcome(outcome, json=json, markdown=markdown, csv=csv, functions=functions)
    raise typer.Exit(exit_status(outcome, strict=strict))


def _refuse_other_words(context: typer.Context) -> None:
    """A resumed weighing has its commands and options already; others would be ignored, or mix two plans."""
    for parameter in context.command.params:
        if is_given(context, parameter.name or "") and parameter.name not in _WITH_RESUME:
            word = parameter.opts[0] if parameter.param_type_name == "option" else "other commands"
            raise UsageError(f"--resume takes its commands and options from the journal: leave {word} out")


def _weighing(words: dict[str, Any]) -> Any:
    """What the command line asks for."""
    from steelyard.design.request import Request
    from steelyard.stats.signed_rank import fewest_differences
    from steelyard.subjects.command import command_subject
    from steelyard.subjects.suite import benchmarks_of, parameter_list, parameter_scan

    commands = words["commands"] or []
    if len(commands) < 2:
        raise UsageError("compare needs two commands or more, each in quotes: steelyard compare './old' './new'")
    settings = options.settings_from(words, limit="--pairs", launches=words["pairs"], least=fewest_differences)
    roles = ["baseline"] + ["candidate"] * (len(commands) - 1)
    subjects = [
        command_subject(command, name, role, shell=words["shell"])
        for command, name, role in zip(commands, _names(words["names"], commands), roles, strict=True)
    ]
    if words["harness"] is not None:
        return Request(subjects, settings, (), suite.selection_from(words), counting.jobs_of(words))
    parameters = [parameter_list(*words_of("--parameter-list", given)) for given in words["parameter_list"] or []]
    parameters += [parameter_scan(*words_of("--parameter-scan", given)) for given in words["parameter_scan"] or []]
    benchmarks = benchmarks_of(subjects, parameters, control=words["control"])
    return Request(subjects, settings, benchmarks, suite.selection_from(words), counting.jobs_of(words))


def _names(names: str | None, commands: list[str]) -> list[str]:
    if names is None:
        return [
            command if commands.count(command) == 1 else f"{command} ({place})"
            for place, command in enumerate(commands, start=1)
        ]
    parts = [name.strip() for name in names.split(",")]
    if len(parts) != len(commands) or not all(parts) or len(set(parts)) < len(parts):
        raise UsageError(
            f"--names {names!r} has to be {len(commands)} different names with commas between them: --names old,new"
        )
    return parts
