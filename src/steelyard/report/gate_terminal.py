"""A gate on a terminal, or in a job's log: the verdict, then what changed and what could not be decided."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rich.console import Console
from rich.text import Text

from steelyard.model.findings import NOT_AS_ASKED, Finding
from steelyard.model.gate import GateReport, GateVerdict, Judged, worst_first
from steelyard.report import budgets, gate_words, notes, sentences
from steelyard.report.bounds import MOST_BENCHMARKS
from steelyard.report.sheet import Sheet
from steelyard.report.verdicts import STYLES, print_exit_status_note
from steelyard.stats.verdict import CHANGED

_VERDICT_WORDS: dict[GateVerdict, tuple[str, str]] = {
    "slower": ("slower", STYLES["slower"]),
    "failed": ("no answer", "bold red"),
    "undecided": ("undecided", STYLES["undecided"]),
    "passed": ("passed", STYLES["faster"]),
}


def show(console: Console, report: GateReport) -> None:
    """Print the answer, what decides it, and what stands in its way."""
    sheet = Sheet(console)
    word, style = _VERDICT_WORDS[report.verdict]
    sheet.row(word, gate_words.headline(report), *([tally] if (tally := gate_words.tally(report)) else []), style=style)
    _print_list(sheet, "missing", [Text(problem) for problem in report.problems[1:]])
    line_of = partial(_judged_line, sheet, several=len(report.weighings) > 1)
    changed = worst_first([one for one in report.judged if _is_changed(one)])
    for label, results in (("slower", report.slower), ("accepted", report.accepted), ("changed", changed)):
        _print_list(sheet, label, list(map(line_of, results)))
    _print_list(sheet, "in all", [Text(mean) for mean in gate_words.means(report)])
    reasons = list(gate_words.open_reasons(report))
    deciders = gate_words.what_would_decide(report.undecided)
    open_lines = [line_of(one).append(f": {reason}") for one, reason in reasons]
    _print_list(sheet, "open", open_lines, [Text(way) for way in deciders])
    if any(budgets.SEE_NOTE in sentence for sentence in (*(reason for _, reason in reasons), *deciders)):
        sheet.blank()
        notes.show(sheet, notes.of_references([one.verdict for one in report.undecided]))
    findings = [*gate_words.unstated_findings(report), *report.findings, *_doubtful_findings(report)]
    _print_list(sheet, "note", [Text(finding.message) for finding in findings])
    if report.verdict == "undecided" and not report.is_too_open:
        sheet.blank()
        # Something may be slower within its limit, so `nothing slower` would be wrong.
        print_exit_status_note(console, sentences.status_sentence(gate_words.nothing_above(report)))


def _doubtful_findings(report: GateReport) -> list[Finding]:
    """Return findings that the wrong thing may have been weighed: a wrong program passes as easily as a right one."""
    found = (one for weighing in report.weighings for one in weighing.findings if one.code in NOT_AS_ASKED)
    return [*dict.fromkeys(found)]


def _is_changed(judged: Judged) -> bool:
    is_listed_already = judged.deciding and judged.standing != "within"
    return judged.verdict.verdict in CHANGED and not is_listed_already


def _judged_line(sheet: Sheet, judged: Judged, *, several: bool) -> Text:
    verdict = judged.verdict
    source = f" ({sheet.name(judged.source, sheet.text_width)})" if several else ""
    name = sheet.name(verdict.benchmark, sheet.text_width)
    estimate = f"{verdict.metric} {gate_words.estimate(judged)}, limit {gate_words.limit(judged)}"
    accepted = "" if judged.standing == "open" else gate_words.accepted(judged)  # `why_open` says it
    return Text.assemble((name, "bold"), f" {', '.join(filter(None, (estimate, accepted)))}{source}")


def _print_list(sheet: Sheet, label: str, lines: Sequence[Text], after: Sequence[Text] = ()) -> None:
    if not lines and not after:
        return
    sheet.blank()
    shown = list(lines[:MOST_BENCHMARKS])
    if len(lines) > MOST_BENCHMARKS:
        shown.append(Text(f"{len(lines) - MOST_BENCHMARKS:,} more: --markdown FILE has all of them"))
    sheet.row(label, *shown, *after)
