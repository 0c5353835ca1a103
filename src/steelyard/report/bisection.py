"""A bisection on a terminal: one line per decision on the way, and at the end the commit or the range."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from steelyard.model.bisection import Bisection, Commit, Compared, Sought, Step, word_of
from steelyard.model.metrics import is_counted
from steelyard.report import figures, notes
from steelyard.report.sheet import Sheet
from steelyard.report.verdicts import STYLES

_HASH_LENGTH, _FEWEST_DIGITS = 10, 7
_MOST_SUSPECTS_LISTED = 12


def search_sentence(commits: Sequence[Commit], steps: int, sought: Sought) -> str:
    """Say what is searched."""
    number_of_commits = figures.count(len(commits) - 1, "commit")
    about_steps = f", about {figures.count(steps, 'step')}" if steps else ""
    older, newer = word_of("good", sought), word_of("bad", sought)
    return f"{number_of_commits} from {commits[0].short} ({older}) to {commits[-1].short} ({newer}){about_steps}"


def decision_sentence(step: Step, number: int, total_steps: int, sought: Sought) -> str:
    """Write one decision, as it was made."""
    commit, commits_left = step.commit[:_HASH_LENGTH], figures.count(step.left, "commit")
    side_word = word_of(step.side, sought) if step.side else ""
    match step.kind:
        case "ends":
            return f"ends: {commit} against {step.low[:_HASH_LENGTH]}: {_evidence(step.compared[0])}"
        case "last":
            return f"its parent: {commit} against {step.low[:_HASH_LENGTH]}: {_evidence(step.compared[0])}"
        case "skip":
            # Most reasons name the commit, by as many digits as git shows.
            named = "" if step.commit[:_FEWEST_DIGITS] in step.why else f" {commit}"
            return f"skipped{named}: {step.why}"
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
    return figures.count(compared.pairs, "count" if is_counted(compared.metric) else "pair")


def show_bisection(console: Console, record: Bisection) -> None:
    """Print the commit that was found, or the range that is left, with the change and its evidence."""
    sheet = Sheet(console)
    if record.found is not None:
        _print_commit(sheet, record, record.found)
    elif record.end == "nothing":
        sheet.row("nothing", Text(f"there is nothing to find: {record.why}", "bold"), style="bold cyan")
        _print_change(sheet, record, _ends_text(record))
    elif record.end == "undecided":
        sheet.row("undecided", Text(record.why, "bold"), style="bold yellow")
        _print_change(sheet, record, _ends_text(record))
    else:
        _print_range(sheet, record)
    if record.skipped:
        sheet.row("skipped", f"{figures.count(len(record.skipped), 'commit')} that could not be weighed")
    if caution_text := caution(record):
        sheet.row("caution", caution_text)
    notes.show(sheet, notes.of_findings(record.findings))
    weighings = figures.count(sum(bool(step.compared) for step in record.steps), "weighing")
    metric = record.metric if record.change is None else record.change.metric
    sheet.row("method", f"{weighings} in {figures.seconds(record.seconds)}, metric {metric}")


def certainty(record: Bisection) -> str:
    """Say how certain it is that the named commit is the right one."""
    return f"a wrong commit is named with a chance of {figures.percent(record.alpha)} at most"


def caution(record: Bisection) -> str | None:
    """Say that the commit is not the whole change; None if it is."""
    if not record.several and not _is_partial_change(record):
        return None
    whole_change = f"({_ends_text(record)}: {_evidence(record.steps[0].compared[0])})"
    if record.several:
        return f"several commits changed it; the larger part came from here {whole_change}"
    return f"other commits changed it as well {whole_change}"


def _is_partial_change(record: Bisection) -> bool:
    """Return whether the commit's change surely differs from that between the ends by more than the margin."""
    compared = record.steps[0].compared if record.found is not None and record.steps else []
    if not compared or record.change is None or record.change.interval is None or compared[0].interval is None:
        return False
    spans = record.change.interval, compared[0].interval
    return any(1 + one[0] > (1 + record.margin) * (1 + other[1]) for one, other in (spans, spans[::-1]))


def _ends_text(record: Bisection) -> str:
    return f"{word_of('bad', record.sought)} against {word_of('good', record.sought)}"


def _print_commit(sheet: Sheet, record: Bisection, commit: Commit) -> None:
    sheet.row(record.sought, Text(commit.hash, "bold"), style=STYLES[record.sought])
    sheet.row("", Text(sheet.name(commit.subject, 3 * sheet.text_width)))
    sheet.row("", sheet.name(f"{commit.author}, {commit.date}", 2 * sheet.text_width))
    _print_change(sheet, record, f"against its parent {commit.parents[0][:_HASH_LENGTH]}")
    sheet.row("certainty", certainty(record))


def _print_range(sheet: Sheet, record: Bisection) -> None:
    """Print that no single commit can be named, and the commits of which it must be one."""
    suspects = record.suspects
    word = "interrupted" if record.end == "interrupted" else "undecided"
    low, high = suspects[0].parents[0][:_HASH_LENGTH], suspects[-1].short
    range_text = Text(f"after {low}, up to {high}: {figures.count(len(suspects), 'commit')}", "bold")
    sheet.row(word, range_text, *([record.why] if record.end == "range" else []), style="bold yellow")
    for commit in suspects[:_MOST_SUSPECTS_LISTED]:
        sheet.row("", sheet.name(f"{commit.short} {commit.subject}", sheet.text_width))
    if len(suspects) > _MOST_SUSPECTS_LISTED:
        sheet.row("", f"and {len(suspects) - _MOST_SUSPECTS_LISTED:,} more")
    _print_change(sheet, record, _ends_text(record))
    if record.end == "interrupted":
        older, newer = word_of("good", record.sought), word_of("bad", record.sought)
        sheet.row("go on", f"with what is left: --{older} {low} --{newer} {high}")


def _print_change(sheet: Sheet, record: Bisection, comparison: str) -> None:
    if record.change is not None:
        sheet.row("change", f"{_evidence(record.change)}, {comparison}")
