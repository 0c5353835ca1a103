"""`steelyard bisect`: find the commit that made a benchmark slower, or faster."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from steelyard.api.options import Revisions
from steelyard.api.streams import named_files
from steelyard.cli.command import Only, ReadBy, Without, command
from steelyard.cli.inputs import project_instead_of_command, warn_of_unread_input
from steelyard.cli.options import WHAT_IS_RUN, JudgingOptions, LaunchOptionsOfOne, WeighingOptions, json_option
from steelyard.cli.outputs import absolute, as_json, check_apart, check_writable, writing_files
from steelyard.cli.say import say
from steelyard.cli.settings import CountingOptions, MeasuringOptions, SuiteOptions
from steelyard.cli.status import FOUND, INTERRUPTED, UNDECIDED
from steelyard.model.errors import UsageError
from steelyard.model.values import seconds

if TYPE_CHECKING:
    from steelyard.design.bisection.weighing import SearchRequest
    from steelyard.design.world import World
    from steelyard.model.bisection import Commit, Sought, Step
    from steelyard.report.live import LiveLine


class SearchingOptions(JudgingOptions):
    """What is judged, how surely, and how long each weighing may go on."""

    pairs: Annotated[
        int | None,
        typer.Option(
            "--pairs", "-M", metavar="N", help="Most pairs of each weighing.  [default: as many as the time allows]"
        ),
    ]
    max_time: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Longest time of each weighing, also as 2m or 1h.  [default: 2m, or none with a number of pairs; "
            "slow commands up to 10m]",
        ),
        ReadBy(seconds),
    ]


@dataclass(frozen=True, kw_only=True)
class BisectOptions(MeasuringOptions):
    """The options of `bisect`."""

    panel: ClassVar[str] = WHAT_IS_RUN

    command: Annotated[
        str | None,
        typer.Argument(
            metavar="[COMMAND]",
            help="What is weighed, in quotes; it runs in the folder of each commit.  [default: a target of "
            "steelyard.toml]",
        ),
    ] = None
    good: Annotated[
        str, typer.Option("--good", "--old", metavar="REV", help="A commit from before the change: still fast.")
    ]
    bad: Annotated[
        str, typer.Option("--bad", "--new", metavar="REV", help="A later one, from after the change: slow.")
    ] = "HEAD"
    faster: Annotated[
        bool, typer.Option("--faster", help="Find the commit that made it faster, between --old and --new.")
    ] = False
    build: Annotated[
        str | None,
        typer.Option(
            "--build",
            metavar="CMD",
            help="Build a commit by this shell command, in a folder of its own; kept.  [default: nothing, or what "
            "steelyard.toml says]",
        ),
    ] = None
    build_timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="Longest time that a build may take."), ReadBy(seconds)
    ] = Revisions.build_timeout
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target", metavar="PATTERN", help="Which target of the project's file to follow (steelyard docs config)."
        ),
    ] = None
    judging: Annotated[SearchingOptions, Without("family")] = SearchingOptions()
    weighing: Annotated[WeighingOptions, Only("pairing")] = WeighingOptions()
    suite: Annotated[SuiteOptions, Without("shard")] = SuiteOptions()
    launch: LaunchOptionsOfOne = LaunchOptionsOfOne()
    counting: CountingOptions = CountingOptions()
    json: Annotated[Path | None, json_option("Write what was found, with every decision, as JSON; - is stdout.")] = None


@command(
    BisectOptions,
    examples=(
        "steelyard bisect --good v1.2 --build 'make -j2' './prog input.txt'",
        "steelyard bisect --faster --old HEAD~20 --metric instructions 'python3 bench.py'",
    ),
)
def bisect(options: BisectOptions, world: World) -> int:
    """Find the commit that made a command slower, between a good one and a bad one; or faster.

    Without a command it follows a target of the project's file, steelyard.toml (see steelyard init).

    Each step weighs a commit in the middle against both ends of what is left. What cannot be told stays a range of
    commits: the chance that a wrong one is named is at most --alpha (steelyard docs bisect).

    Exit status: 0 there is nothing to find, 1 found, 2 wrong usage, 3 a measurement failed, 4 undecided: a range of
    commits, 130 interrupted.
    """
    from steelyard.cli.screen import watching
    from steelyard.design.bisection.search import SearchListener
    from steelyard.design.bisection.session import bisect
    from steelyard.report.bisection import show_bisection

    check_writable(options.json, options.launch.output)
    path = absolute(options.json)
    with ExitStack() as meanwhile:
        request = _request(options, meanwhile, world)
        warn_of_unread_input(options.launch)
        with watching(world) as line:
            report = _SearchReport(line, request.sought)
            record, error = bisect(request, SearchListener(line, report.report_start, report.report_step), world)
    with writing_files(world, (path, partial(as_json, record))) as console:
        show_bisection(console, record)
    if error is not None:
        raise error
    return {"found": FOUND, "nothing": 0, "interrupted": INTERRUPTED}.get(record.end, UNDECIDED)


@dataclass
class _SearchReport:
    """What is said on the way, below the live line."""

    line: LiveLine
    sought: Sought
    steps_done: int = 0
    total_steps: int = 0

    def report_start(self, commits: list[Commit], steps: int) -> None:
        from steelyard.report.bisection import search_sentence

        self.total_steps = steps
        self._say(search_sentence(commits, steps, self.sought))

    def report_step(self, step: Step) -> None:
        from steelyard.report.bisection import decision_sentence

        self.steps_done += step.kind == "step"
        self._say(decision_sentence(step, self.steps_done, self.total_steps, self.sought))

    def _say(self, sentence: str) -> None:
        self.line.wipe()
        say(sentence)


def _request(options: BisectOptions, meanwhile: ExitStack, world: World) -> SearchRequest:
    """Return what is searched for; of a project, this process is `meanwhile` in its folder."""
    from steelyard.api.searches import Ends, search_for_command, search_for_target

    ends = Ends(options.good, options.bad, "faster" if options.faster else "slower")
    build = Revisions(build=options.build, build_timeout=options.build_timeout, given=options.given)
    asked, written = replace(options, revisions=build), (options.json, options.launch.output)
    if options.command is None:
        from steelyard.cli.several import announce_commands
        from steelyard.design.folders import enter_folder

        project = project_instead_of_command("bisect", "bisect --good REV './program'")
        check_apart(written, [project.folder / project.file.name, *filter(None, [options.launch.stdin])])
        request, targets = search_for_target(project, options.target or [], ends, asked, world)
        announce_commands(project, targets, is_built_so=options.build is None)
        meanwhile.enter_context(enter_folder(project.folder))
        return request
    if options.target:
        raise UsageError("--target chooses from those of a project's file: leave it out, or the command")
    if not options.command.strip():
        raise UsageError("the command is empty: give the command to run, in quotes")
    # Each commit's folder has its own copy, which is what runs; this file is the user's.
    words = options.command.split()
    check_apart(written, filter(None, [options.launch.stdin, Path(words[0]), *map(Path, named_files(words))]))
    return search_for_command(options.command, ends, asked, world)
