"""`steelyard run`: measure one command alone."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli import counting, heap_words, options, suite


def run(
    command: Annotated[str, typer.Argument(metavar="COMMAND", help="The command to measure, in quotes.")],
    metric: options.Metric = None,
    launches: Annotated[
        int | None, typer.Option(metavar="N", help="Most launches.  [default: as many as the time allows]")
    ] = None,
    max_time: options.MaxTime = None,
    alpha: options.Alpha = 0.01,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="A name for it.  [default: the command]")] = None,
    harness: suite.HarnessName = None,
    benchmark: suite.BenchmarkPatterns = None,
    tag: suite.TagPatterns = None,
    heap: heap_words.Heap = False,
    heap_shuffle: heap_words.HeapShuffle = False,
    repeat: options.Repeat = 1,
    output: options.Output = None,
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
    json: options.Json = None,
    markdown: options.Markdown = None,
    csv: options.Csv = None,
) -> None:
    """Measure one command alone: median, spread, where the values crowd, how quiet the machine was. No verdict.

    To compare two versions use `steelyard compare`: numbers of two runs, taken one after the other, are apart by more
    than most changes.
    """
    words = {**locals(), "wait_quiet": 0, **counting.NOT_ASKED}

    from steelyard.cli.outcome import exit_status, show_outcome
    from steelyard.cli.screen import watching
    from steelyard.design.request import Request
    from steelyard.design.session import measure
    from steelyard.design.world import World
    from steelyard.subjects.command import command_subject
    from steelyard.subjects.suite import benchmarks_of

    options.check_writable(json, markdown, csv, output)
    settings = options.settings_from(words, limit="--launches", launches=launches)
    subject = command_subject(command, name or command, "command", shell=shell)
    with watching() as watch:
        benchmarks = [] if harness is not None else benchmarks_of([subject], [], control=False)
        outcome = measure(Request([subject], settings, benchmarks, suite.selection_from(words)), watch, World())
    show_outcome(outcome, json=json, markdown=markdown, csv=csv)
    raise typer.Exit(exit_status(outcome, strict=False))
