"""`steelyard count`: what one command executes, counted under Valgrind."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import Thread
from typing import Annotated

import typer

from steelyard.cli import counting, options, suite
from steelyard.model.errors import UsageError


def count(
    context: typer.Context,
    command: Annotated[str, typer.Argument(metavar="COMMAND", help="The command to count, in quotes.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[,NAME]", help="instructions, cost, l1_hits, ll_hits, ram_hits.  [default: instructions]"
        ),
    ] = None,
    caches: counting.Caches = "article",
    weights: counting.WeightsWord = "default",
    jobs: counting.Jobs = None,
    loops: counting.Loops = None,
    call_graph: counting.CallGraph = False,
    body: counting.Body = False,
    after_start: counting.AfterStart = False,
    functions: counting.ShownFunctions = 10,
    harness: suite.HarnessName = None,
    benchmark: suite.BenchmarkPatterns = None,
    tag: suite.TagPatterns = None,
    alpha: options.Alpha = 0.01,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="A name for it.  [default: the command]")] = None,
    prepare: options.Prepare = None,
    cleanup: options.Cleanup = None,
    stdin: options.Stdin = None,
    shell: options.Shell = False,
    ignore_failure: options.IgnoreFailure = False,
    timeout: options.Timeout = None,
    env: options.Env = None,
    inherit_env: options.InheritEnv = False,
    json: options.Json = None,
    markdown: options.Markdown = None,
    csv: options.Csv = None,
) -> None:
    """Count what a command executes: instructions, or the cost of its memory accesses, under Valgrind.

    Counts do not depend on what else the machine does. To compare two versions: steelyard compare --metric
    instructions.

    Exit status: 0 counted, 2 wrong usage, 3 a launch failed or valgrind is missing, 130 interrupted.
    """
    words = {**locals(), "metric": metric or ["instructions"], "max_time": None}

    from steelyard.design.request import Request
    from steelyard.design.session import measure
    from steelyard.design.world import World
    from steelyard.model.metrics import timed
    from steelyard.report.live import LiveLine
    from steelyard.subjects.command import command_subject
    from steelyard.subjects.suite import benchmarks_of

    metrics = options.metric_names(words["metric"])
    if times := timed(metrics):
        raise UsageError(f"count does not time: leave {', '.join(times)} out, or use steelyard run")
    options.check_writable(json, markdown, csv)
    settings = options.plain_settings(**words)
    subject = command_subject(command, name or command, "command", shell=shell)
    with (
        LiveLine(sys.stderr) as watch,
        _imported_meanwhile("steelyard.cli.outcome", "steelyard.design.judging.judgement"),
    ):
        benchmarks = [] if harness is not None else benchmarks_of([subject], [], control=False)
        selection = suite.selection_from(words)
        request = Request([subject], settings, benchmarks, selection, counting.jobs_of(words))
        outcome = measure(request, watch, World())

    from steelyard.cli.outcome import exit_status, show_outcome

    show_outcome(outcome, json=json, markdown=markdown, csv=csv, functions=functions)
    raise typer.Exit(exit_status(outcome, strict=False))


@contextmanager
def _imported_meanwhile(*modules: str) -> Iterator[None]:
    """Import what judges and prints while Valgrind counts: this process does nothing else then."""
    importing = Thread(target=lambda: [import_module(module) for module in modules])
    importing.start()
    try:
        yield
    finally:
        importing.join()
