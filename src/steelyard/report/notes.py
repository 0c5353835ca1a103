"""Which notes stand below a report, and in which order: those from measuring first, then those of the verdicts.

Nothing is said twice: what holds for several benchmarks, or in several metrics, is one note. The formats only
typeset.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.text import Text

from steelyard.model.findings import NOT_AS_ASKED, OF_ITS_METRIC, Finding
from steelyard.model.metrics import METRICS, NOISY_METRIC
from steelyard.report import budgets, figures, printable
from steelyard.report.markup import code, escape

if TYPE_CHECKING:
    from steelyard.model.derived import Summary, Verdict
    from steelyard.model.foreign import ForeignReport
    from steelyard.model.records import Run, Weighing
    from steelyard.model.unpaired import UnpairedReport, UnpairedVerdict
    from steelyard.report.sheet import Sheet

    _Derived = Verdict | Summary | UnpairedVerdict

_MOST_BENCHMARKS_NAMED = 3
# A number with its unit, which changes with the number's size.
_FIGURE = re.compile(r"\d[\d.,]*(?: (?:ns|µs|ms|s|min|h)\b)?")


@dataclass(frozen=True)
class Note:
    """What the user should know, and the remedy if there is one.

    `about` names the benchmarks concerned; empty if it concerns the whole.
    """

    message: str
    remedy: str | None = None
    about: tuple[str, ...] = ()
    at_verdict: bool = False
    """Whether it stands right at the verdict, which may not be about what was asked for."""


class Told:
    """The notes of weighings that are reported one below the other: what holds for several is told in full once."""

    def __init__(self) -> None:
        self._seen = set[Note]()

    def remember(self, note: Note) -> bool:
        """Take a note as told; return whether it had not been."""
        is_new = note not in self._seen
        self._seen.add(note)
        return is_new

    def anew(self, notes: Sequence[Note]) -> list[Note]:
        """Return those that have not been told yet, and a last one that counts the others."""
        new = [*filter(self.remember, notes)]
        known = len(notes) - len(new)
        if not known:
            return new
        return [*new, Note(f"{figures.count(known, 'note')} above {'holds' if known == 1 else 'hold'} here, too")]


# --- which


def of_weighing(record: Weighing, verdicts: Sequence[Verdict], *, beside_others: bool = False) -> list[Note]:
    """Return the notes of a weighing; its control speaks through the verdicts that it withholds.

    Each note names its benchmarks if there are several, or if notes of other weighings stand beside it
    (`beside_others`).
    """
    findings = _with_cautions([verdict for verdict in verdicts if not verdict.control], record.findings)
    return _merged(record.findings, findings, several=beside_others or len(record.benchmarks) > 1)


def of_references(verdicts: Sequence[Verdict]) -> list[Note]:
    """Return the notes that sentences about these verdicts refer to, for a place that shows no others."""
    findings = [(verdict.benchmark, budgets.findings_with_notes(verdict)) for verdict in verdicts]
    return _merged([], findings, several=len({name for name, _ in findings}) > 1)


def split_by_place(notes: Iterable[Note]) -> tuple[list[Note], list[Note]]:
    """Split notes into those right at the verdict, and those below everything that it rests on."""
    all_notes = list(notes)
    return [note for note in all_notes if note.at_verdict], [note for note in all_notes if not note.at_verdict]


def of_unmeasured(record: Weighing, reason: Finding) -> list[Note]:
    """Return the notes of a weighing in which nothing had to be measured, beside the `reason`."""
    return of_findings(finding for finding in record.findings if finding != reason)


def of_findings(findings: Iterable[Finding]) -> list[Note]:
    """Return the notes of a record of which nothing was judged, such as an import."""
    return _merged(findings, [], several=False)


def of_run(record: Run, summaries: Sequence[Summary]) -> list[Note]:
    """Return the notes of a run."""
    findings = _with_cautions(summaries, record.findings)
    return _merged(record.findings, findings, several=len(record.benchmarks) > 1)


def of_unpaired(report: UnpairedReport) -> list[Note]:
    """Return the notes of two runs that are compared."""
    findings = _with_cautions(report.verdicts, report.findings)
    return _merged(report.findings, findings, several=len({name for name, _ in findings}) > 1)


def of_two_foreign(report: ForeignReport) -> list[Note]:
    """Return the notes of two imports that are compared."""
    general = [*report.baseline.findings, *report.candidate.findings, *report.findings]
    findings = [(verdict.benchmark, verdict.findings) for verdict in report.verdicts]
    return _merged(general, findings, several=len(findings) > 1)


def _with_cautions(derived: Sequence[_Derived], general: Sequence[Finding]) -> list[tuple[str, list[Finding]]]:
    """Return the findings for each benchmark and metric, last the metric's own caution, even if the record lacks it.

    One caution names all metrics that it applies to; none repeats what `general` already says.
    """
    with_metric = _metric_prefixer(derived)
    metrics: dict[str, dict[str, None]] = {}
    for judged in derived:
        if (caution := _caution(judged)) is not None:
            metrics.setdefault(caution, {})[judged.metric] = None
    findings_of = []
    for judged in derived:
        findings = [with_metric(judged, finding) for finding in judged.findings if finding.code != NOISY_METRIC]
        caution = _caution(judged)
        if caution is not None and not any(caution in finding.message for finding in general):
            findings.append(Finding(code=NOISY_METRIC, message=f"{' and '.join(metrics[caution])}: {caution}"))
        findings_of.append((judged.benchmark, findings))
    return findings_of


def _metric_prefixer(derived: Sequence[_Derived]) -> Callable[[_Derived, Finding], Finding]:
    """Return a function that puts the metrics' names before findings about values, if there are several metrics."""
    if len({judged.metric for judged in derived}) < 2:
        return lambda _, finding: finding
    seen: dict[tuple[str, Finding], list[str]] = {}
    for judged in derived:
        for finding in judged.findings:
            seen.setdefault((judged.benchmark, finding), []).append(judged.metric)

    def prefixed(judged: _Derived, finding: Finding) -> Finding:
        if finding.code not in OF_ITS_METRIC:
            return finding
        *others, last = dict.fromkeys(seen[judged.benchmark, finding])
        metric_names = f"{', '.join(others)} and {last}" if others else last
        return replace(finding, message=f"{metric_names}: {finding.message}")

    return prefixed


def _caution(derived: _Derived) -> str | None:
    return METRICS[derived.metric].caution if derived.metric in METRICS else None


def _merged(
    general: Iterable[Finding], of_benchmarks: Iterable[tuple[str, Iterable[Finding]]], *, several: bool
) -> list[Note]:
    """Return each finding as one note, where it first occurs; with `several` benchmarks, name those it is about.

    Findings that differ only in their figures become one note, which has the figures of the first and says so.
    """
    general_texts = {(finding_.message, finding_.remedy): finding_.code in NOT_AS_ASKED for finding_ in general}
    groups: dict[tuple[str, str], dict[str, Finding]] = {}
    for name, findings in of_benchmarks:
        for finding in findings:
            if (finding.message, finding.remedy) not in general_texts:
                groups.setdefault(_with_figures_masked(finding), {}).setdefault(name, finding)
    benchmark_notes = [_merged_note(group, several=several) for group in groups.values()]
    return [*(Note(*text, at_verdict=is_at_verdict) for text, is_at_verdict in general_texts.items()), *benchmark_notes]


def _with_figures_masked(finding: Finding) -> tuple[str, str]:
    """Return a finding's texts with all figures as 0, which is equal for findings that differ only in them."""
    message, remedy = (_FIGURE.sub("0", text) for text in (finding.message, finding.remedy or ""))
    return message, remedy


def _merged_note(findings: dict[str, Finding], *, several: bool) -> Note:
    first = next(iter(findings.values()))
    are_alike = all((finding.message, finding.remedy) == (first.message, first.remedy) for finding in findings.values())
    message = first.message if are_alike else f"{first.message} (with the figures of the first)"
    return Note(message, first.remedy, about=tuple(findings) if several else ())


# --- how they are typeset


def show(sheet: Sheet, notes: Iterable[Note]) -> None:
    """Print each note with its remedy below it."""
    for note in notes:
        about = _benchmarks_prefix(note, sheet.head_name)
        message = printable.lines(f"{about}{note.message}")
        remedy = printable.lines(note.remedy) if note.remedy else []
        sheet.row("note", *message, *(Text(line, "italic") for line in remedy), style="yellow")


def markdown(notes: Iterable[Note]) -> list[str]:
    """Write each note as an item of a list."""
    return [_list_item(note) for note in notes]


def _list_item(note: Note) -> str:
    remedy = f" ({escape(note.remedy)})" if note.remedy else ""
    return f"note: {_benchmarks_prefix(note, code)}{escape(note.message)}{remedy}"


def _benchmarks_prefix(note: Note, show_name: Callable[[str], str]) -> str:
    return f"{figures.first_few([*map(show_name, note.about)], _MOST_BENCHMARKS_NAMED)}: " if note.about else ""
