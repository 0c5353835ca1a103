"""`steelyard bisect`: find the commit that made a benchmark slower, or faster."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from steelyard.api.counting import jobs_checked
from steelyard.api.options import Revisions
from steelyard.api.revisions import check_build
from steelyard.api.settings import settings_of
from steelyard.cli.command import Only, ReadBy, Without, command
from steelyard.cli.inputs import warn_of_unread_input
from steelyard.cli.options import WHAT_IS_RUN, JudgingOptions, LaunchOptionsOfOne, WeighingOptions, json_option
from steelyard.cli.outputs import as_json, check_apart, check_writable, writing_files
from steelyard.cli.say import say
from steelyard.cli.settings import CountingOptions, MeasuringOptions, SuiteOptions
from steelyard.cli.status import FOUND, INTERRUPTED, UNDECIDED
from steelyard.model.errors import UsageError
from steelyard.model.values import seconds

if TYPE_CHECKING:
    from steelyard.design.bisection.weighing import SearchRequest
    from steelyard.design.world import World
    from steelyard.model.bisection import Commit, Sought, Step
    from steelyard.model.settings import Settings
    from steelyard.report.live import LiveLine

_DEFAULT_WEIGHING_S = 120.0


class SearchingOptions(JudgingOptions):
    """What is judged, how surely, and how long each weighing may go on."""

    panel: ClassVar[str] = "What is judged"

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
        str, typer.Argument(metavar="COMMAND", help="What is weighed, in quotes; it runs in the folder of each commit.")
    ]
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
            help="Build a commit by this shell command, in a folder of its own; kept.  [default: nothing is built]",
        ),
    ] = None
    build_timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="Longest time that a build may take."), ReadBy(seconds)
    ] = Revisions.build_timeout
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
    check_build(Revisions(build=options.build, build_timeout=options.build_timeout, given=options.given))
    if not options.command.strip():
        raise UsageError("the command is empty: give the command to run, in quotes")
    # Each commit's folder has its own copy, which is what runs; this file is the user's.
    program = Path(options.command.split()[0])
    check_apart((options.json, options.launch.output), filter(None, [options.launch.stdin, program]))
    request = _request(options, world)
    warn_of_unread_input(options.launch)
    with watching(world) as line:
        report = _SearchReport(line, request.sought)
        record, error = bisect(request, SearchListener(line, report.report_start, report.report_step), world)
    with writing_files(world, (options.json, partial(as_json, record))) as console:
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


def _request(options: BisectOptions, world: World) -> SearchRequest:
    from steelyard.design.bisection.weighing import SearchRequest
    from steelyard.design.suite.selection import Selection

    return SearchRequest(
        options.command,
        options.good,
        options.bad,
        options.build,
        options.launch.shell,
        _settings(options, world),
        Selection(
            only=options.suite.benchmark or [],
            tags=options.suite.tag or [],
            any_pairing=options.weighing.pairing is None,
        ),
        jobs_checked(options.counting.jobs),
        build_timeout_s=options.build_timeout,
        sought="faster" if options.faster else "slower",
    )


def _settings(options: BisectOptions, world: World) -> Settings:
    launch = options.launch
    for name in ("set_up", "prepare", "conclude", "cleanup"):
        if len(getattr(launch, name) or []) > 1:
            raise UsageError(f"{launch.given[name]} was given twice: all commits have one command, so give it once")
    settings = settings_of(options, world, commands=[options.command], judged=True)
    update: dict[str, float] = {"reserve": 0.0}  # none of its weighings is continued with another budget
    if settings.longest_time_s is not None:
        update["max_time_s"] = _DEFAULT_WEIGHING_S
    return settings.model_copy(update=update)
