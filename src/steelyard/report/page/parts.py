"""What a page is made of: a part for each record, with its table, and the detail behind each row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from steelyard.report.notes import Note
from steelyard.report.page.data import Figure
from steelyard.report.page.elements import Content, Markup
from steelyard.report.sentences import capitalised

Kind = Literal["text", "number", "verdict", "bar"]
Key = float | str | None
"""What rows are sorted by in a column: numbers or texts; None always comes last."""


def sentence(text: str) -> str:
    """Return a text as a sentence, capitalised unless it begins with a command, which is kept as it is."""
    return with_full_stop(text if text.startswith("steelyard ") else capitalised(text))


def with_full_stop(text: str) -> str:
    """Return a text with its full stop, without capitalising the name that it begins with."""
    return text if text.endswith((".", "!", "?", ".)")) else f"{text}."


def existing_figures(figures: Iterable[Figure | None]) -> list[Figure]:
    """Return the figures for which there was enough data."""
    return [figure for figure in figures if figure is not None]


@dataclass(frozen=True)
class Column:
    """A column of a table: its title and what kind of cells it has."""

    title: str
    kind: Kind = "number"


@dataclass(frozen=True)
class Cell:
    """One cell: what it shows, and the key that its column is sorted by."""

    shown: Content
    key: Key = None


@dataclass(frozen=True)
class Detail:
    """The detail behind a row or a whole part: sentences, figures and small tables."""

    lines: list[Content] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    tables: list[Markup] = field(default_factory=list)


@dataclass(frozen=True)
class Row:
    """One benchmark in one metric: its cells, what it is filtered and grouped by, and its detail."""

    name: str
    cells: Sequence[Cell]
    detail: Detail
    verdict: str = ""
    metric: str = ""
    tags: tuple[str, ...] = ()
    params: dict[str, str] = field(default_factory=dict)


HOW, MACHINE = "How it was measured", "The machine"


@dataclass(frozen=True)
class Facts:
    """Facts about a record, as a list of terms and what each one is."""

    title: str
    terms: list[tuple[str, Content]]


@dataclass(frozen=True)
class Part:
    """One record as the page shows it."""

    kind: str
    title: str
    headline: str
    lines: list[Content]
    facts: list[Facts]
    has_verdicts: bool = False
    """Whether the headline tells of verdicts, which are marked up."""
    caption: str = ""
    columns: list[Column] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    whole: Detail = field(default_factory=Detail)
    notes: list[Note] = field(default_factory=list)
    metric: str = ""
    """The metric that decides, if rows have several."""
    way_on: str = ""
    """The command that continues an undecided weighing."""
    source: str = ""
    """The file that it was read from, since two records may have the same title."""
    below: list[Markup] = field(default_factory=list)
    """Small tables below the main table."""
    defs: Markup = Markup()  # noqa: RUF009 - a text, and never changed
    """SVG symbols that the bars of the table share."""
