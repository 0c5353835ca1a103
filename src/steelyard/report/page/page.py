"""The whole page: HTML that says everything, and the scripts and styles that draw charts and sort tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from steelyard.report import figures
from steelyard.report.notes import Note
from steelyard.report.page import elements
from steelyard.report.page.assets import Assets, assets
from steelyard.report.page.data import Figure, embedded
from steelyard.report.page.elements import Content, Markup, element, joined
from steelyard.report.page.parts import Cell, Column, Detail, Part, Row
from steelyard.report.printable import shown

_MOST_NAMES = 12
_NO_SCRIPT = "Charts, sorting and filters need scripts, which this browser does not run; everything is told in words."


def document(parts: Sequence[Part], made: str) -> str:
    """Return a page of these parts; `made` says by what and when it was made."""
    page = _Page()
    sections = [page.part(part, number, several=len(parts) > 1) for number, part in enumerate(parts, start=1)]
    shipped = assets()
    body = joined(
        [
            element("a", "Skip to the results", href="#results", class_="skip"),
            element("main", _contents(parts) if len(parts) > 1 else "", *sections, id="results", tabindex=-1),
            element("footer", element("p", made), element("p", _NO_SCRIPT, class_="unscripted")),
            element("div", id="said", role="status", aria_live="polite", class_="unseen"),
            Markup(f'<script type="application/octet-stream" id="data">{page.data()}</script>'),
            Markup(f"<script>{shipped.library}</script><script>{shipped.last}</script>"),
        ]
    )
    return f'<!DOCTYPE html>\n<html lang="en">{_head(parts, shipped)}<body>{body}</body></html>\n'


def _head(parts: Sequence[Part], shipped: Assets) -> Markup:
    first = parts[0]
    title_text = f"{first.headline}: {first.title}" if len(parts) == 1 else figures.count(len(parts), "record")
    title = shown(title_text, 100)
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=shipped.policy()),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", f"{title} · Steelyard"),
        Markup(f"<style>{shipped.styles}</style><script>{shipped.first}</script>"),
    )


def _contents(parts: Sequence[Part]) -> Markup:
    """Return the heading of a page of several records, with the list of them."""
    items = [
        element(
            "li",
            element("a", elements.name(part.title), href=f"#part-{number}"),
            " ",
            element("span", _headline(part), class_="quiet"),
            *_source(part),
        )
        for number, part in enumerate(parts, start=1)
    ]
    heading = element("h1", figures.count(len(parts), "record"))
    return element(
        "div", heading, element("nav", element("ol", *items), aria_label="Records on this page"), class_="contents"
    )


def _source(part: Part) -> list[Content]:
    return [" ", element("span", elements.name(part.source), class_="source")] if part.source else []


class _Page:
    """Builds a page, numbering rows for links, and figures, whose data a script finds by number."""

    def __init__(self) -> None:
        self._figures: list[Figure] = []
        self._tables: list[dict[str, Any]] = []
        self._rows = 0

    def data(self) -> str:
        return embedded(self._figures, self._tables)

    def part(self, part: Part, number: int, *, several: bool) -> Markup:
        heading = "h2" if several else "h1"
        name = f"part-{number}"
        return element(
            "section",
            element(
                "header",
                element("p", part.kind, *(_source(part) if several else []), class_="kind"),
                element(heading, _headline(part), id=f"{name}-title"),
                element("p", elements.name(part.title, 4), class_="title"),
                *(element("p", elements.sentence_markup(line)) for line in part.lines),
                element("p", "To go on: ", element("code", elements.unbroken(part.way_on)), class_="way-on")
                if part.way_on
                else "",
                class_="head",
            ),
            part.defs,
            *self._body(part, name, level=3 if several else 2),
            id=name,
            aria_labelledby=f"{name}-title",
            class_="part",
        )

    def _body(self, part: Part, name: str, *, level: int) -> Iterator[Markup]:
        heading = f"h{level}"
        first = self._rows
        if part.rows:
            yield element(heading, "Results", class_="unseen")
            yield self._table(part, name)
            yield from part.below
        whole = self._detail(part.whole)
        if whole:
            title = element(heading, "By parameter") if part.rows else element(heading, "Results", class_="unseen")
            yield element("section", title, *whole, class_="whole")
        if part.notes:
            yield element("section", element(heading, "Notes"), element("ul", *map(_note, part.notes)), class_="notes")
        if any(_has_content(row.detail) for row in part.rows):
            articles = [self._article(row, first + place, level + 1) for place, row in enumerate(part.rows)]
            yield element("section", element(heading, "In detail"), *articles, class_="details")
        for facts in part.facts:
            if facts.terms:
                yield element("section", element(heading, facts.title), elements.term_list(facts.terms), class_="how")

    def _table(self, part: Part, name: str) -> Markup:
        head = [
            element("th", elements.sentence_markup(column.title), scope="col", class_=_class_of(column))
            for column in part.columns
        ]
        rows = []
        for row in part.rows:
            rows.append(_row(row, part.columns, self._rows, is_linked=_has_content(row.detail)))
            self._rows += 1
        self._tables.append(_sorting_keys(part, name))
        table = element(
            "table",
            element("caption", elements.sentence_markup(part.caption)),
            element("thead", element("tr", *head)),
            element("tbody", *rows),
            id=f"{name}-table",
            class_=" ".join(_table_classes(part, len(rows))),
        )
        return element("div", table, class_="scroll wide", tabindex=0, role="group", aria_label=part.caption)

    def _article(self, row: Row, number: int, level: int) -> Markup:
        title = elements.name(row.name, elements.LONGER)
        metric = element("small", f" {row.metric}") if row.metric else ""
        return element(
            "article",
            element(f"h{level}", title, metric),
            *self._detail(row.detail),
            id=f"d{number}",
        )

    def _detail(self, detail: Detail) -> list[Markup]:
        told = joined(map(elements.sentence_markup, detail.lines), " ")
        lines = [element("p", told, class_="told")] if detail.lines else []
        across = _full_width_positions(detail.figures)
        drawn = [self._figure(figure, place in across) for place, figure in enumerate(detail.figures)]
        charts = [element("div", *drawn, class_="charts")] if drawn else []
        return [*lines, *charts, *detail.tables]

    def _figure(self, figure: Figure, across: bool) -> Markup:
        number = None
        if figure.panels:
            number = len(self._figures)
            self._figures.append(figure)
        return element(
            "figure",
            element("figcaption", figure.title),
            figure.drawn,
            element("p", elements.sentence_markup(figure.told)),
            element("p", figure.thinned, class_="thinned") if figure.thinned else "",
            data_figure=number,
            class_="across" if across else None,
        )


def _full_width_positions(drawn: Sequence[Figure]) -> set[int]:
    """Return the places of full-width figures: of many panels, drawn already, or without another beside them."""
    wide = {position for position, figure in enumerate(drawn) if len(figure.panels) not in (1, 2)}
    narrow: list[int] = []
    for position in range(len(drawn) + 1):
        if position in wide or position == len(drawn):
            wide.update(narrow[-1:] if len(narrow) % 2 else [])
            narrow = []
        else:
            narrow.append(position)
    return wide


def _headline(part: Part) -> Content:
    """Return the part's headline, the verdicts in it marked up as verdicts, each on one line with its count."""
    if not part.has_verdicts:
        return elements.sentence_markup(part.headline)
    text, *counted = re.split(r"\b((?:[\d,]+ )?)(slower|faster|same|undecided)\b", part.headline)
    pieces = [elements.sentence_markup(text)]
    for count, verdict, text_after in zip(counted[::3], counted[1::3], counted[2::3], strict=True):
        pieces.append(element("span", count, element("span", verdict, class_=f"v {verdict}"), class_="counted"))
        pieces.append(elements.sentence_markup(text_after))
    return joined(pieces)


def _table_classes(part: Part, number_of_rows: int) -> Iterator[str]:
    """Yield the CSS classes of a part's table."""
    yield "results"
    if number_of_rows == 1:
        yield "single"
    if any(column.title == "metric" for column in part.columns):
        yield "metrics"


def _has_content(detail: Detail) -> bool:
    return bool(detail.lines or detail.figures or detail.tables)


def _class_of(column: Column) -> str | None:
    return {"number": "n", "bar": "bar"}.get(column.kind)


def _row(row: Row, columns: Sequence[Column], number: int, *, is_linked: bool) -> Markup:
    first, *others = row.cells
    params_text = ", ".join(
        param_text for name, value in row.params.items() if (param_text := f"{name}={value}") not in row.name
    )
    params = element("small", elements.name(params_text)) if params_text else ""
    name = element("a", first.shown, href=f"#d{number}") if is_linked else first.shown
    cells = [_cell(cell, column) for cell, column in zip(others, columns[1:], strict=True)]
    return element("tr", element("th", name, params, scope="row"), *cells, id=f"r{number}")


def _cell(cell: Cell, column: Column) -> Markup:
    if column.kind == "verdict":
        return element("td", element("b", cell.shown, class_=f"v {cell.key}"))
    return element("td", cell.shown, class_=_class_of(column))


def _sorting_keys(part: Part, name: str) -> dict[str, Any]:
    """Return what a table is sorted, filtered and grouped by, as its script reads it: a list per column."""
    columns = [[_key(row.cells[place]) for row in part.rows] for place in range(len(part.columns))]
    return {
        "table": f"{name}-table",
        "columns": columns,
        "ranked": [place for place, column in enumerate(part.columns) if column.kind == "verdict"],
        "verdicts": [row.verdict for row in part.rows],
        "metrics": [row.metric for row in part.rows],
        "metric": part.metric,
        "tags": [[elements.plain_name(tag) for tag in row.tags[:_MOST_NAMES]] for row in part.rows],
        "params": [
            {shown(key, 60): shown(value, 60) for key, value in list(row.params.items())[:_MOST_NAMES]}
            for row in part.rows
        ],
    }


def _key(cell: Cell) -> float | str | None:
    if isinstance(cell.key, str):
        return elements.plain_name(cell.key)
    if cell.key is not None and abs(cell.key) < float("inf"):
        return cell.key
    return None


def _note(note: Note) -> Markup:
    shown = [element("b", elements.name(name)) for name in note.about[:3]]
    about = joined(shown, ", ")
    if len(note.about) > len(shown):
        about = joined([about, f" and {figures.count(len(note.about) - len(shown), 'other')}"])
    remedy = element("p", elements.sentence_markup(note.remedy), class_="remedy") if note.remedy else ""
    return element("li", element("p", about, ": " if about else "", elements.sentence_markup(note.message)), remedy)
