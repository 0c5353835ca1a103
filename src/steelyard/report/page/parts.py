"""What a page is made of: one part for each record, with its table, and for each row what stands behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from steelyard.report.notes import Note
from steelyard.report.page.data import Figure
from steelyard.report.page.elements import Content, Markup

Kind = Literal["text", "number", "verdict", "bar"]
Key = float | str | None
"""By which rows are sorted in a column: numbers, or texts; None is always last."""


def sentence(text: str) -> str:
    """A text of the reports as a sentence; the command that it may begin with is written as it is."""
    return ended(text if text.startswith("steelyard ") else f"{text[:1].upper()}{text[1:]}")


def ended(text: str) -> str:
    """A text of the reports with its full stop, where it begins with a name that is no other one in capitals."""
    return text if text.endswith((".", "!", "?", ".)")) else f"{text}."


def drawn(figures: Iterable[Figure | None]) -> list[Figure]:
    """Those of which there is enough to draw."""
    return [figure for figure in figures if figure is not None]


@dataclass(frozen=True)
class Column:
    """A column of a table: its title, and what is in it."""

    title: str
    kind: Kind = "number"


@dataclass(frozen=True)
class Cell:
    """One cell: what it shows, and by what its column is sorted."""

    shown: Content
    key: Key = None


@dataclass(frozen=True)
class Detail:
    """What stands behind a row, or the whole part: sentences, figures and small tables."""

    lines: list[Content] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    tables: list[Markup] = field(default_factory=list)


@dataclass(frozen=True)
class Row:
    """One benchmark in one metric: its cells, by what it is filtered and grouped, and what stands behind it."""

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
    """What is told of a record as a list: terms, and what is said of each."""

    title: str
    terms: list[tuple[str, Content]]


@dataclass(frozen=True)
class Part:
    """One record, as the page shows it. `verdict` colours the sentence; empty for what has none."""

    kind: str
    title: str
    headline: str
    verdict: str
    lines: list[Content]
    facts: list[Facts]
    caption: str = ""
    columns: list[Column] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    whole: Detail = field(default_factory=Detail)
    notes: list[Note] = field(default_factory=list)
    metric: str = ""
    """The one that decides, where rows are of several."""
    way_on: str = ""
    """The command by which it goes on, where it is undecided."""
    source: str = ""
    """The file that it is read from: two records may have the same title."""
    below: list[Markup] = field(default_factory=list)
    """Small tables below the table."""
    defs: Markup = Markup()  # noqa: RUF009 - a text, and never changed
    """What the bars of the table have in common."""
