"""A gate on a terminal, or in a job's log: the verdict, then what changed and what could not be decided."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from steelyard.model.gate import GateReport, GateVerdict, Judged, worst_first
from steelyard.model.kept import NOT_AS_ASKED, Finding
from steelyard.report import budgets, figures, gate_words, notes, sentences
from steelyard.report.bounds import MOST_BENCHMARKS
from steelyard.report.sheet import Sheet
from steelyard.report.verdicts import STYLES, open_end
from steelyard.stats.verdict import CHANGED

_WORDS: dict[GateVerdict, tuple[str, str]] = {
    "slower": ("slower", STYLES["slower"]),
    "failed": ("no answer", "bold red"),
    "undecided": ("undecided", STYLES["undecided"]),
    "passed": ("passed", STYLES["faster"]),
}


def show(console: Console, report: GateReport) -> None:
    """Print the answer, what decides it, and what stands in its way."""
    sheet = Sheet(console)
    several = len(report.weighings) > 1
    word, style = _WORDS[report.verdict]
    sheet.row(word, gate_words.headline(report), *([tally] if (tally := gate_words.tally(report)) else []), style=style)
    _list(sheet, "missing", [Text(problem) for problem in report.problems[1:]])
    _list(sheet, "slower", [_line(sheet, one, several=several) for one in report.slower])
    _list(sheet, "accepted", [_line(sheet, one, several=several) for one in report.accepted])
    changed = [one for one in report.judged if _is_changed(one)]
    _list(sheet, "changed", [_line(sheet, one, several=several) for one in worst_first(changed)])
    _list(sheet, "in all", [Text(mean) for mean in gate_words.means(report)])
    undecided = worst_first(report.undecided)
    alone = len(undecided) == 1
    whys = [gate_words.why_open(one, alone=alone) for one in undecided]
    ways = gate_words.what_would_decide(undecided)
    opened = [_line(sheet, one, several=several).append(f": {why}") for one, why in zip(undecided, whys, strict=True)]
    _list(sheet, "open", opened, [Text(way) for way in ways])
    if any(budgets.SEE_NOTE in said for said in (*whys, *ways)):
        sheet.blank()
        notes.show(sheet, notes.pointed_at([one.verdict for one in undecided]))
    found = [*gate_words.not_compared(report), *report.findings, *_not_as_asked(report)]
    _list(sheet, "note", [Text(finding.message) for finding in found])
    if report.verdict == "undecided" and not report.is_too_open:
        sheet.blank()
        # Something may be slower within its limit, so `nothing slower` would be wrong.
        open_end(console, sentences.not_strict(gate_words.nothing_above(report)))


def _not_as_asked(report: GateReport) -> list[Finding]:
    """Return findings that the wrong thing may have been weighed: a wrong program passes as easily as a right one."""
    found = (one for weighing in report.weighings for one in weighing.findings if one.code in NOT_AS_ASKED)
    return [*dict.fromkeys(found)]


def _is_changed(one: Judged) -> bool:
    is_listed = one.deciding and one.standing != "within"
    return one.verdict.verdict in CHANGED and not is_listed


def _line(sheet: Sheet, one: Judged, *, several: bool) -> Text:
    verdict = one.verdict
    source = f" ({sheet.name(one.source, sheet.text_width)})" if several else ""
    name = sheet.name(verdict.benchmark, sheet.text_width)
    known = f"{verdict.metric} {gate_words.estimate(one)}, limit {gate_words.limit(one)}"
    accepted = "" if one.standing == "open" else gate_words.accepted(one)  # `why_open` says it
    return Text.assemble((name, "bold"), f" {', '.join(filter(None, (known, accepted)))}{source}")


def _list(sheet: Sheet, label: str, lines: Sequence[Text], after: Sequence[Text] = ()) -> None:
    if not lines:
        return
    sheet.blank()
    more = len(lines) - MOST_BENCHMARKS
    rest = [Text(f"{figures.count(more, 'more')}: --markdown FILE has all of them")] if more > 0 else []
    sheet.row(label, *lines[:MOST_BENCHMARKS], *rest, *after)
