"""A bisection on a terminal: one line per decision on the way, and at the end the commit or the range."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from steelyard.model.bisection import Bisection, Commit, Compared, Sought, Step, word_of
from steelyard.model.metrics import METRICS
from steelyard.report import figures, notes
from steelyard.report.sheet import Sheet
from steelyard.report.verdicts import STYLES

_HASH_LENGTH = 10
_MOST_SUSPECTS_LISTED = 12


def beginning(commits: Sequence[Commit], steps: int, sought: Sought) -> str:
    """Say what is searched."""
    number_of_commits = figures.count(len(commits) - 1, "commit")
    about_steps = f", about {figures.count(steps, 'step')}" if steps else ""
    older, newer = word_of("good", sought), word_of("bad", sought)
    return f"{number_of_commits} from {commits[0].short} ({older}) to {commits[-1].short} ({newer}){about_steps}"


def decision(step: Step, number: int, total_steps: int, sought: Sought) -> str:
    """Write one decision, as it was made."""
    commit, commits_left = step.commit[:_HASH_LENGTH], figures.count(step.left, "commit")
    side_word = word_of(step.side, sought) if step.side else ""
    match step.kind:
        case "ends":
            return f"ends: {commit} against {step.low[:_HASH_LENGTH]}: {_evidence(step.compared[0])}"
        case "last":
            return f"its parent: {commit} against {step.low[:_HASH_LENGTH]}: {_evidence(step.compared[0])}"
        case "skip":
            return f"skipped: {step.why}"
        case "equal":
            return f"{commit} {step.why or f'holds the same files as the {side_word} end'}: {commits_left} left"
        case _:
            side = f"{side_word}, {commits_left} left" if step.side else "undecided"
            changes = "; ".join(_change_to_end(one, step, sought) for one in step.compared)
            return f"step {number} of {max(number, total_steps)}: {commit} {side}: {changes}"


def _change_to_end(compared: Compared, step: Step, sought: Sought) -> str:
    """Write the commit's change relative to one of the ends.

    The commit was weighed as the baseline and the end as the candidate, so the change is inverted.
    """
    end = word_of("good" if compared.candidate == step.low else "bad", sought)
    change = None if compared.change is None else 1 / (1 + compared.change) - 1
    return f"{figures.change(change)} to {end} {compared.candidate[:_HASH_LENGTH]} ({_effort(compared)})"


def _evidence(compared: Compared) -> str:
    change = "" if compared.change is None else f" {figures.change(compared.change)}"
    return f"{compared.verdict}{change}{_interval(compared)}, {_effort(compared)}"


def _interval(compared: Compared) -> str:
    if compared.interval is None:
        return ""
    low, high = compared.interval
    return " exactly" if low == high else f" {figures.interval(compared.interval)}"


def _effort(compared: Compared) -> str:
    is_count = compared.metric in METRICS and METRICS[compared.metric].counted
    return figures.count(compared.pairs, "count" if is_count else "pair")


def bisection(console: Console, found: Bisection) -> None:
    """Print the commit that was found, or the range that is left, with the change and its evidence."""
    sheet = Sheet(console)
    if found.found is not None:
        _print_commit(sheet, found, found.found)
    elif found.end == "nothing":
        sheet.row("nothing", Text(f"there is nothing to find: {found.why}", "bold"), style="bold cyan")
        _print_change(sheet, found, _ends_text(found))
    elif found.end == "undecided":
        sheet.row("undecided", Text(found.why, "bold"), style="bold yellow")
        _print_change(sheet, found, _ends_text(found))
    else:
        _print_range(sheet, found)
    if found.skipped:
        sheet.row("skipped", f"{figures.count(len(found.skipped), 'commit')} that could not be weighed")
    if caution_text := caution(found):
        sheet.row("caution", caution_text)
    notes.show(sheet, notes.of_findings(found.findings))
    weighings = figures.count(sum(bool(step.compared) for step in found.steps), "weighing")
    metric = found.metric if found.change is None else found.change.metric
    sheet.row("method", f"{weighings} in {figures.seconds(found.seconds)}, metric {metric}")


def certainty(found: Bisection) -> str:
    """Say how certain it is that the named commit is the right one."""
    return f"a wrong commit is named with a chance of {figures.percent(found.alpha)} at most"


def caution(found: Bisection) -> str | None:
    """Say that the commit is not the whole change; None if it is."""
    if not found.several and not _is_partial_change(found):
        return None
    whole_change = f"({_ends_text(found)}: {_evidence(found.steps[0].compared[0])})"
    if found.several:
        return f"several commits changed it; the larger part came from here {whole_change}"
    return f"other commits changed it as well {whole_change}"


def _is_partial_change(found: Bisection) -> bool:
    """Return whether the commit's change surely differs from that between the ends by more than the margin."""
    compared = found.steps[0].compared if found.found is not None and found.steps else []
    if not compared or found.change is None or found.change.interval is None or compared[0].interval is None:
        return False
    spans = found.change.interval, compared[0].interval
    return any(1 + one[0] > (1 + found.margin) * (1 + other[1]) for one, other in (spans, spans[::-1]))


def _ends_text(found: Bisection) -> str:
    return f"{word_of('bad', found.sought)} against {word_of('good', found.sought)}"


def _print_commit(sheet: Sheet, found: Bisection, commit: Commit) -> None:
    sheet.row(found.sought, Text(commit.hash, "bold"), style=STYLES[found.sought])
    _print_commit_details(sheet, commit)
    _print_change(sheet, found, f"against its parent {commit.parents[0][:_HASH_LENGTH]}")
    sheet.row("certainty", certainty(found))


def _print_range(sheet: Sheet, found: Bisection) -> None:
    """Print that no single commit can be named, and the commits of which it must be one."""
    suspects = found.suspects
    word = "interrupted" if found.end == "interrupted" else "undecided"
    low, high = suspects[0].parents[0][:_HASH_LENGTH], suspects[-1].short
    range_text = Text(f"after {low}, up to {high}: {figures.count(len(suspects), 'commit')}", "bold")
    sheet.row(word, range_text, *([found.why] if found.end == "range" else []), style="bold yellow")
    for commit in suspects[:_MOST_SUSPECTS_LISTED]:
        sheet.row("", sheet.name(f"{commit.short} {commit.subject}", sheet.text_width))
    if len(suspects) > _MOST_SUSPECTS_LISTED:
        sheet.row("", f"and {len(suspects) - _MOST_SUSPECTS_LISTED} more")
    _print_change(sheet, found, _ends_text(found))
    if found.end == "interrupted":
        older, newer = word_of("good", found.sought), word_of("bad", found.sought)
        sheet.row("go on", f"with what is left: --{older} {low} --{newer} {high}")


def _print_commit_details(sheet: Sheet, commit: Commit) -> None:
    sheet.row("", Text(sheet.name(commit.subject, 3 * sheet.text_width)))
    sheet.row("", sheet.name(f"{commit.author}, {commit.date}", 2 * sheet.text_width))


def _print_change(sheet: Sheet, found: Bisection, comparison: str) -> None:
    if found.change is not None:
        sheet.row("change", f"{_evidence(found.change)}, {comparison}")
