"""What `gate` says on GitHub and GitLab. Whatever fails there is told in a sentence and changes no exit status."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from steelyard.cli.say import say
from steelyard.forges import github, gitlab, sticky
from steelyard.forges.errors import ForgeError, NothingToCommentError
from steelyard.report import gate_markdown, gate_words
from steelyard.report.printable import plain

if TYPE_CHECKING:
    from steelyard.cli.forge_options import ForgeOptions
    from steelyard.model.gate import GateReport, Judged

# GitHub shows ten of each kind per step.
_MOST_ANNOTATIONS = 9


def report_to_forge(
    report: GateReport, options: ForgeOptions, environment: Mapping[str, str], log: IO[str], status: int
) -> None:
    """Write what was asked for, annotations to the `log`, and the exit `status`; say what could not be written."""
    if options.github:
        _annotate(report, options.title, log)
        with _errors_said():
            _summarise(report, options.title, environment)
        with _errors_said():
            _set_outputs(report, environment, status)
    # Without a token nobody misses a comment that was not asked for.
    comment, on_gitlab = options.comment, environment.get("GITLAB_CI") == "true"
    on_merge_request = options.gitlab or (comment and on_gitlab and not options.github)
    if on_merge_request and (comment or "GITLAB_TOKEN" in environment):
        _comment(report, options, lambda: gitlab.Notes(environment, gitlab.client(environment)))
    on_pull_request = options.github or (comment and not on_gitlab and not options.gitlab)
    if on_pull_request and (comment or environment.get("GITHUB_TOKEN")):
        _comment(report, options, lambda: github.Comments(environment, github.client(environment)))


@contextmanager
def _errors_said() -> Iterator[None]:
    try:
        yield
    except ForgeError as error:
        say(str(error))


def _comment(report: GateReport, options: ForgeOptions, comments: Callable[[], sticky.Comments]) -> None:
    page = gate_markdown.page(report, options.title, gate_markdown.COMMENT_BYTES - 200)
    try:
        say(f"the comment is on {sticky.put(comments(), options.title, page)}")
    except NothingToCommentError as error:
        if options.comment:
            say(str(error))
    except ForgeError as error:
        say(str(error))


# --- what GitHub's runner reads


def _annotate(report: GateReport, title: str, log: IO[str]) -> None:
    errors = list(report.problems)
    errors += list(map(_above_limit_message, report.slower))
    undecided = [
        f"{judged.verdict.benchmark}: {judged.verdict.metric} {gate_words.estimate(judged)}: "
        f"{gate_words.why_open_by_itself(judged)}"
        for judged in report.undecided_with_data
    ]
    errors, warnings = ([*errors, *undecided], []) if report.limits.strict else (errors, undecided)
    notices = list(map(_above_limit_message, report.accepted))
    for name, messages in (("error", errors), ("warning", warnings), ("notice", notices)):
        for message in _cut_to_most(messages):
            print(github.command(name, plain(message), plain(title)), file=log)


def _above_limit_message(judged: Judged) -> str:
    return f"{judged.verdict.benchmark}: {judged.verdict.metric} {gate_words.above_limit(judged)}"


def _cut_to_most(messages: list[str]) -> list[str]:
    more = len(messages) - _MOST_ANNOTATIONS
    return messages if more <= 1 else [*messages[:_MOST_ANNOTATIONS], f"and {more:,} more: the summary has them"]


def _summarise(report: GateReport, title: str, environment: Mapping[str, str]) -> None:
    path = Path(environment.get("GITHUB_STEP_SUMMARY") or "")
    if not path.name:
        raise ForgeError("GITHUB_STEP_SUMMARY does not say where the summary is: none is written outside of a job")
    room = gate_markdown.SUMMARY_BYTES - github.size(path) - 1
    if room < gate_markdown.FEWEST_BYTES:
        raise ForgeError("the job's summary is full: the page is not added to it")
    github.append(path, gate_markdown.page(report, title, room) + "\n")


def _set_outputs(report: GateReport, environment: Mapping[str, str], status: int) -> None:
    path = Path(environment.get("GITHUB_OUTPUT") or "")
    if not path.name:
        raise ForgeError("GITHUB_OUTPUT does not say where outputs are: none are set outside of a job")
    values = {
        "verdict": report.verdict,
        "status": str(status),
        "slower": str(len(report.slower)),
        "accepted": str(len(report.accepted)),
        "undecided": str(len(report.undecided)),
        "verdicts": str(len(report.deciding)),
        "headline": plain(gate_words.headline(report)),
    }
    github.append(path, github.outputs(values))
