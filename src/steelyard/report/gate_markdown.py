"""A gate's page: the verdict first, then what changed and what could not be decided; the rest is folded.

It goes where space is limited: into a comment, or into a job's summary. What does not fit is left out in whole rows,
the least important first, and the page says how many. Whatever came from outside is shown as text only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Literal, get_args

from steelyard.model.derived import Side
from steelyard.model.gate import GateReport, Judged, worst_first
from steelyard.model.metrics import is_counted
from steelyard.model.records import Weighing
from steelyard.report import attribution, counting, figures, gate_words, levels, notes
from steelyard.report.markup import code, document, escape, items, table
from steelyard.stats.verdict import CHANGED

COMMENT_BYTES = 65_536
"""GitHub's limit in characters; taken as bytes, so that no reading of it is exceeded."""
SUMMARY_BYTES = 1 << 20
"""GitHub's limit for the summary of a step."""
FEWEST_BYTES = 16_384
"""Room enough for everything that is never left out."""
# No page has room for more rows.
_MOST_ROWS = 10_000
_MOST_SUBJECTS = 3
# How many changes are followed to functions, and to how many.
_MOST_SOURCES, _MOST_FUNCTIONS = 5, 5
# Longest finding; longest name, processor or limit.
_LONGEST_TEXT, _LONGEST_WORDS = 600, 120
_HEADINGS = {"slower": "slower", "failed": "no answer", "undecided": "undecided", "passed": "nothing slower"}
_TITLES = ["benchmark", "metric", "verdict", "change", "limit", "baseline", "candidate"]

_Kind = Literal["above", "accepted", "changed", "open", "same", "beside"]


@dataclass(frozen=True)
class _Section:
    """Rows of one `noun` with the lines before and after them; an empty section if there are no rows."""

    before: list[str]
    rows: list[str]
    noun: str
    after: list[str] = field(default_factory=lambda: [""])
    hidden: int = 0
    """How many more rows there would be, which were never built."""

    def lines(self, most: int) -> list[str]:
        """Return the section's lines with at most `most` of its rows."""
        if not self.rows:
            return []
        number_left_out = len(self.rows) - most + self.hidden
        # Without a blank line before it, this would become the table's next row.
        left_out_line = [
            "",
            f"_{figures.count(number_left_out, f'more {self.noun}')} left out here: the record has all of them._",
        ]
        return [*self.before, *self.rows[:most], *(left_out_line if number_left_out else []), *self.after]

    def fixed(self) -> int:
        """Return the bytes that the section takes without rows, including the line about those left out."""
        return _size([*self.before, *self.after]) + 100 if self.rows else 0


def page(report: GateReport, title: str = "Steelyard", most_bytes: int = SUMMARY_BYTES) -> str:
    """Return the page as Markdown, in at most `most_bytes` of UTF-8, which must be `FEWEST_BYTES` or more."""
    tally = gate_words.tally(report)
    verdict = escape(gate_words.headline(report)) + (f" ({tally})" if tally else "")
    head = [f"### {_words(title)}: {_heading(report)}", "", verdict, ""]
    sections, tail = _sections(report), _origin(report)
    room_bytes = most_bytes - _size([*head, *tail]) - sum(section.fixed() for section in sections)
    body: list[str] = []
    for section in sections:
        most, room_bytes = _rows_that_fit(section.rows, room_bytes)
        body += section.lines(most)
    return document([*head, *body, *tail])


def _heading(report: GateReport) -> str:
    """Return the verdict as a heading; what passed by its limits, or has none, may still contain something slower."""
    if report.verdict == "passed" and report.nothing_compared:
        return "nothing to compare yet" if report.is_all_new else "nothing to compare in this part"
    if report.verdict == "passed" and report.accepted:
        return gate_words.accepted_count(report)
    if report.verdict == "passed" and any(one.verdict.verdict == "slower" for one in report.judged):
        return "nothing above its limit"
    return _HEADINGS[report.verdict] + (", which fails" if report.is_too_open else "")


def _rows_that_fit(rows: Sequence[str], room: int) -> tuple[int, int]:
    """Return how many of the rows fit into `room` bytes, and how many bytes are left."""
    for number, row in enumerate(rows):
        if (size := _size([row])) > room:
            return number, room
        room -= size
    return len(rows), room


def _size(lines: Iterable[str]) -> int:
    return len(document(lines).encode())


def _sections(report: GateReport) -> list[_Section]:
    """Return the sections in the order of the page: by importance."""
    kinds: dict[_Kind, list[Judged]] = {kind: [] for kind in get_args(_Kind)}
    for one in report.judged:
        kinds[_kind_of(one)].append(one)
    several = len(report.weighings) > 1
    problems = report.problems if len(report.problems) > 1 else []  # the first one is above
    same, beside = (figures.count(len(kinds[kind]), "verdict") for kind in ("same", "beside"))
    reasons = islice(gate_words.open_reasons(report), _MOST_ROWS)
    undecided = items(_open_item(one, reason, several=several) for one, reason in reasons)
    undecided += items(_text(finding.message) for finding in gate_words.unstated_findings(report))
    deciders = [f"{_text(way)}  " for way in gate_words.what_would_decide(report.undecided)]
    lines_after = ["", *deciders, ""] if deciders else [""]
    if not undecided:
        undecided, lines_after = deciders, [""]
    hidden = max(0, len(report.undecided_with_data) - _MOST_ROWS)

    changed = chain.from_iterable(worst_first(kinds[kind]) for kind in ("above", "accepted", "changed"))

    def table_of(kind: _Kind, *before: str) -> _Section:
        return _table_section(before, kinds[kind], several=several)

    return [
        _Section([], list(dict.fromkeys(_subjects(weighing) for weighing in report.weighings)), "weighing"),
        _Section(["**What is missing**", ""], items(map(_text, problems)), "problem"),
        _Section([], [f"{_text(mean)}  " for mean in gate_words.means(report)], "mean"),
        table_of("above", "**Above the limit**", ""),
        table_of("accepted", "**Slower, and accepted**", ""),
        table_of("changed", f"**Changed{_why_within(kinds['changed'])}**", ""),
        _Section(["**What could not be decided**", ""], undecided, "verdict", lines_after, hidden),
        *_function_sections(changed, several=several),
        _folded_section(f"Not changed: {same}", table_of("same")),
        _folded_section(f"Undecided, and within the limit or without one: {beside}", table_of("beside")),
        _folded_section("Findings", _Section([], items(_findings(report)), "finding")),
        _folded_section("How it was measured", _Section([], items(map(_text, _method_lines(report))), "line")),
    ]


def _why_within(changed: Sequence[Judged]) -> str:
    """Say why these changes do not fail the gate: they are within their limits or have none."""
    if all(judged.above is None for judged in changed):
        return ", without a limit"
    return " within the limit" + (" or without one" if any(judged.above is None for judged in changed) else "")


def _kind_of(judged: Judged) -> _Kind:
    if judged.deciding and judged.standing == "above":
        return "above"
    if judged.deciding and judged.standing in ("accepted", "open"):
        return judged.standing
    if judged.verdict.verdict in CHANGED:
        return "changed"
    return "same" if judged.verdict.verdict == "same" else "beside"


def _table_section(before: Sequence[str], judged: Sequence[Judged], *, several: bool) -> _Section:
    """Return verdicts as a table, with a column for the record if there are `several` weighings.

    Where something is accepted, a column says how much, and why.
    """
    has_accepted = any(one.accepted for one in judged)
    rows = (_row(one, several=several, has_accepted=has_accepted) for one in worst_first(judged)[:_MOST_ROWS])
    more = [title for title, is_there in (("accepted", has_accepted), ("record", several)) if is_there]
    title_line, alignment_line, *lines = table([*_TITLES, *more], rows)
    hidden = max(0, len(judged) - _MOST_ROWS)
    return _Section([*before, title_line, alignment_line], lines, "verdict", hidden=hidden)


def _folded_section(title: str, section: _Section) -> _Section:
    lines_before = [f"<details><summary>{escape(title)}</summary>", "", *section.before]
    return replace(section, before=lines_before, after=["", "</details>", ""])


def _function_sections(changed: Iterable[Judged], *, several: bool) -> Iterator[_Section]:
    """Yield which functions the counts of the first of these benchmarks changed in, each benchmark once."""
    shown = set[tuple[int, int]]()
    for one in changed:
        benchmark = id(one.weighing), one.verdict.index
        if len(shown) == _MOST_SOURCES or benchmark in shown or not is_counted(one.verdict.metric):
            continue
        if (source := counting.source_of(one.weighing, one.verdict, _MOST_FUNCTIONS)) is not None:
            shown.add(benchmark)
            of_record = f" of {_short(one.source)}" if several else ""
            title = f"Where the change of {_short(one.verdict.benchmark)}{of_record} comes from, in {source.unit}"
            title_line, alignment_line, *lines = attribution.markdown_rows(source)
            yield _folded_section(title, _Section([title_line, alignment_line], lines, "line"))


def _row(judged: Judged, *, several: bool, has_accepted: bool) -> list[str]:
    verdict = judged.verdict
    return [
        code(verdict.benchmark),
        _words(verdict.metric),
        f"**{verdict.verdict}**",
        gate_words.estimate(judged),
        gate_words.limit(judged),
        _level(verdict.baseline, verdict.metric),
        _level(verdict.candidate, verdict.metric),
        *([_text(gate_words.accepted(judged))] if has_accepted else []),
        *([code(judged.source)] if several else []),
    ]


def _level(side: Side | None, metric: str) -> str:
    return figures.NOT_KNOWN if side is None else levels.level(side, metric)


def _open_item(judged: Judged, reason: str, *, several: bool) -> str:
    verdict = judged.verdict
    of_record = f" of {code(judged.source)}" if several else ""
    name = f"{code(verdict.benchmark)}{of_record}, {_words(verdict.metric)}"
    return f"{name} {gate_words.estimate(judged)}: {_text(reason)}"


def _subjects(weighing: Weighing) -> str:
    labels = zip(("baseline", "candidate"), weighing.sides(), strict=True)
    sides = (
        f"{label}{'s' if len(names) > 1 else ''} {figures.first_few([*map(code, names)], _MOST_SUBJECTS)}"
        for label, names in labels
    )
    return f"{', '.join(sides)}  "


def _findings(report: GateReport) -> list[str]:
    shown_notes = [notes.Note(finding.message, finding.remedy) for finding in report.findings]
    said_already = {finding.message for finding in gate_words.findings_without_verdict(report)}
    several = len(report.weighings) > 1
    for weighing in report.weighings:
        record_notes = notes.of_weighing(weighing, weighing.verdicts, beside_others=several)
        shown_notes += [note for note in record_notes if note not in shown_notes[:100]]
    shown_notes = [note for note in shown_notes if note.message not in said_already]
    return notes.markdown(
        replace(note, message=_cut(note.message), remedy=_cut(note.remedy) if note.remedy else None)
        for note in shown_notes
    )


def _method_lines(report: GateReport) -> list[str]:
    """Return the method, the machines, how small a change would have been found, and the noise."""
    machines = [f"machine: {machine}" for machine in gate_words.machines(report)]
    smallest, disturbed = gate_words.resolution(report), gate_words.noise(report)
    resolution_lines = [f"resolution: {smallest}"] if smallest else []
    return [*gate_words.methods(report), *machines, *resolution_lines, *([f"noise: {disturbed}"] if disturbed else [])]


def _origin(report: GateReport) -> list[str]:
    if not report.weighings:
        return []
    first = report.weighings[0]
    return [f"<sub>Steelyard {_words(first.tool)}, {_words(first.created)}</sub>"]


def _text(text: str) -> str:
    return escape(_cut(text))


def _words(text: str) -> str:
    return escape(_short(text))


def _short(text: str) -> str:
    return gate_words.shortened(text, _LONGEST_WORDS)


def _cut(text: str) -> str:
    return gate_words.shortened(text, _LONGEST_TEXT)
