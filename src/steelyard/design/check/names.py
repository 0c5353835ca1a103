"""The rules about names: each listed benchmark can be asked for and runs, and nothing else answers to its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from steelyard.design.check.evidence import PLAIN, Amount, Evidence
from steelyard.design.check.gather import ANY_DRAW, CheckedBenchmark
from steelyard.design.check.judged import Judged, Rule, untried
from steelyard.model.errors import LaunchError, SelectionError, VanishedError
from steelyard.report.figures import count

_NEVER, _NOT_ALONE = "it does not run", "it does not run alone"


@dataclass(frozen=True)
class Answer:
    """The result of asking for a benchmark by its name: what the two rules say, and why nothing else can be tried."""

    runs: Judged
    name: Judged
    error: LaunchError | None


def ask_for(name: str, all_names: Sequence[str], checked: Callable[[str], CheckedBenchmark]) -> Answer:
    """Return whether a benchmark that is asked for by its name runs, and whether its name alone selects it."""
    error = _launch_error(checked(name))
    if isinstance(error, SelectionError):
        finding = f"asked for by its name, the program {str(error).removeprefix(f'{name} ')}"
        return Answer(untried(_NOT_ALONE), Judged("trouble", finding), LaunchError(_NOT_ALONE))
    if error is not None and not isinstance(error, VanishedError):
        return Answer(Judged("trouble", f"asked for alone, {error}"), untried(_NEVER), LaunchError(_NEVER))
    return Answer(Judged("sound", ""), _judge_name(name, all_names, checked), error)


def _judge_name(name: str, all_names: Sequence[str], checked: Callable[[str], CheckedBenchmark]) -> Judged:
    others_selected = [other for other in all_names if other != name and fnmatchcase(other, name)]
    if others_selected:
        return Judged(
            "trouble",
            f"--benchmark {name!r} is a pattern that also selects {others_selected[0]!r}",
            len(others_selected),
        )
    shortened = name[:-1]
    if shortened and shortened not in all_names and _runs(checked(shortened)):
        return Judged("trouble", f"asked for {shortened!r}, which it does not list, the program runs some benchmark")
    return Judged("sound", "")


def _runs(checked: CheckedBenchmark) -> bool:
    """Whether anything answers to a name, even a body that takes no time."""
    error = _launch_error(checked)
    return error is None or isinstance(error, VanishedError)


def _launch_error(checked: CheckedBenchmark) -> LaunchError | None:
    try:
        checked.run(ANY_DRAW, Amount(1, 1))
    except LaunchError as error:
        return error
    return None


def judge_failed_later(ran: int, why: str) -> Judged:
    """Return the judgement of a benchmark that failed in a launch after others had run."""
    return Judged("trouble", f"after {count(ran, 'launch')} that ran, {why}", remedy=_RAN_BEFORE_REMEDY)


def _judge_runs(evidence: Evidence) -> Judged:
    if evidence.failure is None:
        return Judged("sound", "")
    return judge_failed_later(len(evidence.of(PLAIN)), evidence.failure)


_RAN_BEFORE_REMEDY = (
    "look at what differs from launch to launch: what it leaves on disk or running, and what is drawn at random for it"
)

RUNS = Rule(
    "does-not-run",
    "it runs when it is asked for alone",
    0.0,
    "",
    "none: every listed benchmark is asked for",
    "run it by itself and fix what it reports, or leave it out with --benchmark",
    _judge_runs,
)

NAME = Rule(
    "name",
    "its name selects it, and nothing else",
    0.0,
    "",
    "none: every listed name is asked for, and the name without its last letter must be refused",
    "give it another name; a harness has to compare whole names, not parts or patterns of them",
)
