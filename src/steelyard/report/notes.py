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

from steelyard.model.kept import NOT_AS_ASKED, OF_ITS_METRIC, Finding
from steelyard.model.metrics import METRICS, NOISY_METRIC
from steelyard.report import budgets, figures, printable
from steelyard.report.markup import code, escape

if TYPE_CHECKING:
    from steelyard.model.derived import Summary, Verdict
    from steelyard.model.foreign import ForeignReport, ForeignResults
    from steelyard.model.records import Run, Weighing
    from steelyard.model.unpaired import UnpairedReport, UnpairedVerdict
    from steelyard.report.sheet import Sheet

    Described = Verdict | Summary | UnpairedVerdict

_MOST_NAMES = 3
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


# --- which


def of_weighing(record: Weighing, verdicts: Sequence[Verdict], *, beside_others: bool = False) -> list[Note]:
    """Return the notes of a weighing; its control speaks through the verdicts that it withholds.

    Each note names its benchmarks if there are several, or if notes of other weighings stand beside it
    (`beside_others`).
    """
    told = _with_cautions([each for each in verdicts if not each.control], record.findings)
    return _gathered(record.findings, told, several=beside_others or len(record.benchmarks) > 1)


def pointed_at(verdicts: Sequence[Verdict]) -> list[Note]:
    """Return the notes that sentences about these verdicts refer to, for a place that shows no others."""
    told = [(each.benchmark, budgets.pointed_at(each)) for each in verdicts]
    return _gathered([], told, several=len({name for name, _ in told}) > 1)


def parted(notes: Iterable[Note]) -> tuple[list[Note], list[Note]]:
    """Split notes into those right at the verdict, and those below everything that it rests on."""
    found = list(notes)
    return [note for note in found if note.at_verdict], [note for note in found if not note.at_verdict]


def of_findings(findings: Iterable[Finding]) -> list[Note]:
    """Return the notes of a record of which nothing was judged."""
    return _gathered(findings, [], several=False)


def of_run(record: Run, summaries: Sequence[Summary]) -> list[Note]:
    """Return the notes of a run."""
    told = _with_cautions(summaries, record.findings)
    return _gathered(record.findings, told, several=len(record.benchmarks) > 1)


def of_unpaired(report: UnpairedReport) -> list[Note]:
    """Return the notes of two runs that are compared."""
    told = _with_cautions(report.verdicts, report.findings)
    return _gathered(report.findings, told, several=len({name for name, _ in told}) > 1)


def of_foreign(record: ForeignResults) -> list[Note]:
    """Return the notes of an import."""
    return of_findings(record.findings)


def of_two_foreign(report: ForeignReport) -> list[Note]:
    """Return the notes of two imports that are compared."""
    own = [*report.baseline.findings, *report.candidate.findings, *report.findings]
    told = [(each.benchmark, each.findings) for each in report.verdicts]
    return _gathered(own, told, several=len(told) > 1)


def _with_cautions(derived: Sequence[Described], general: Sequence[Finding]) -> list[tuple[str, list[Finding]]]:
    """Return the findings for each benchmark and metric, last the metric's own caution, even if the record lacks it.

    One caution names all metrics that it applies to; none repeats what `general` already says.
    """
    named = _with_metrics(derived)
    metrics: dict[str, dict[str, None]] = {}
    for each in derived:
        if (caution := _caution(each)) is not None:
            metrics.setdefault(caution, {})[each.metric] = None
    told = []
    for each in derived:
        found = [named(each, finding) for finding in each.findings if finding.code != NOISY_METRIC]
        caution = _caution(each)
        if caution is not None and not any(caution in finding.message for finding in general):
            found.append(Finding(code=NOISY_METRIC, message=f"{' and '.join(metrics[caution])}: {caution}"))
        told.append((each.benchmark, found))
    return told


def _with_metrics(derived: Sequence[Described]) -> Callable[[Described, Finding], Finding]:
    """Return a function that puts the metrics' names before findings about values, if there are several metrics."""
    if len({each.metric for each in derived}) < 2:
        return lambda _, finding: finding
    seen: dict[tuple[str, Finding], list[str]] = {}
    for each in derived:
        for finding in each.findings:
            seen.setdefault((each.benchmark, finding), []).append(each.metric)

    def named(each: Described, finding: Finding) -> Finding:
        if finding.code not in OF_ITS_METRIC:
            return finding
        *others, last = dict.fromkeys(seen[each.benchmark, finding])
        of = f"{', '.join(others)} and {last}" if others else last
        return replace(finding, message=f"{of}: {finding.message}")

    return named


def _caution(derived: Described) -> str | None:
    return METRICS[derived.metric].caution if derived.metric in METRICS else None


def _gathered(
    general: Iterable[Finding], of_benchmarks: Iterable[tuple[str, Iterable[Finding]]], *, several: bool
) -> list[Note]:
    """Return each finding as one note, where it first occurs; with `several` benchmarks, name those it is about.

    Findings that differ only in their figures become one note, which has the figures of the first and says so.
    """
    said_of_all = {(each.message, each.remedy): each.code in NOT_AS_ASKED for each in general}
    about: dict[tuple[str, str], dict[str, Finding]] = {}
    for name, findings in of_benchmarks:
        for finding in findings:
            if (finding.message, finding.remedy) not in said_of_all:
                about.setdefault(_without_figures(finding), {}).setdefault(name, finding)
    noted = [_note(told, several=several) for told in about.values()]
    return [*(Note(*said, at_verdict=is_first) for said, is_first in said_of_all.items()), *noted]


def _without_figures(finding: Finding) -> tuple[str, str]:
    """Return a finding's texts with all figures as 0, which is equal for findings that differ only in them."""
    message, remedy = (_FIGURE.sub("0", text) for text in (finding.message, finding.remedy or ""))
    return message, remedy


def _note(told: dict[str, Finding], *, several: bool) -> Note:
    first = next(iter(told.values()))
    alike = all((each.message, each.remedy) == (first.message, first.remedy) for each in told.values())
    message = first.message if alike else f"{first.message} (with the figures of the first)"
    return Note(message, first.remedy, about=tuple(told) if several else ())


# --- how they are typeset


def show(sheet: Sheet, notes: Iterable[Note]) -> None:
    """Print each note with its remedy below it."""
    for note in notes:
        about = _about(note, sheet.head_name)
        message = printable.lines(f"{about}{note.message}")
        remedy = printable.lines(note.remedy) if note.remedy else []
        sheet.row("note", *message, *(Text(line, "italic") for line in remedy), style="yellow")


def markdown(notes: Iterable[Note]) -> list[str]:
    """Write each note as an item of a list."""
    return [_item(note) for note in notes]


def _item(note: Note) -> str:
    remedy = f" ({escape(note.remedy)})" if note.remedy else ""
    return f"note: {_about(note, code)}{escape(note.message)}{remedy}"


def _about(note: Note, shown: Callable[[str], str]) -> str:
    return f"{figures.some([*map(shown, note.about)], _MOST_NAMES)}: " if note.about else ""
