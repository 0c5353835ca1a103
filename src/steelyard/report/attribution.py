"""Which functions a change comes from: a table that adds up, for a terminal and Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.text import Text

from steelyard.report import figures
from steelyard.report.markup import code, escape, table
from steelyard.report.sheet import Sheet
from steelyard.stats.attribution import Rest, Row

_TITLES = ("own change", "of all", "with callees")
# Columns to keep for a name; the less important figures give way to it.
_NAME_COLUMNS = 20
_NO_CHANGE = "no function's own count changed"


def show(sheet: Sheet, rows: Sequence[Row], rest: Rest, total: int, baseline_total: int) -> None:
    """Print the rows, the sum of the functions that are not shown, and the change of the `total`.

    Shares are of `baseline_total`. Where a table does not fit, each function is a paragraph.
    """
    if not rows and not rest.functions:
        sheet.row("functions", _NO_CHANGE)
    elif sheet.narrow:
        _paragraphs(sheet, rows, rest, total, baseline_total)
    else:
        _table(sheet, rows, rest, total, baseline_total)


def markdown_rows(rows: Sequence[Row], rest: Rest, total: int, baseline_total: int) -> list[str]:
    """Return the rows as lines of a Markdown table with its head; if nothing changed, a sentence."""
    if not rows and not rest.functions:
        return [escape(_NO_CHANGE)]
    lines = [[*_TITLES, "function"]]
    lines += [
        [*_figure_cells(row.change, baseline_total, row.inclusive_change), _name(row, code, "**{}**".format)]
        for row in rows
    ]
    lines += [[*numbers, text] for numbers, text in _closing_rows(rest, total, baseline_total)]
    if not _has_inclusive(rows):
        lines = [[own, share, text] for own, share, _, text in lines]
    return table(lines[0], lines[1:])


def cells(rows: Sequence[Row], rest: Rest, total: int, baseline_total: int) -> list[list[str]]:
    """Return the rows as plain texts: the function or group of functions, its own change, and its share of all."""
    function_rows = [[_name(row), *_figure_cells(row.change, baseline_total, None)[:2]] for row in rows]
    return [*function_rows, *([text, *numbers[:2]] for numbers, text in _closing_rows(rest, total, baseline_total))]


# --- what the cells hold


def _signed(count: int) -> str:
    return f"{count:+,}" if count else "0"


def _share(count: int, baseline_total: int) -> str:
    return figures.change(count / baseline_total) if baseline_total else figures.NOT_KNOWN


def _figure_cells(change: int, baseline_total: int, inclusive: int | None) -> list[str]:
    return [_signed(change), _share(change, baseline_total), "" if inclusive is None else _signed(inclusive)]


def _has_inclusive(rows: Sequence[Row]) -> bool:
    return any(row.inclusive_change is not None for row in rows)


def _others_label(rest: Rest, room: int) -> str:
    text = figures.count(rest.functions, "other function")
    return text if len(text) <= room else figures.count(rest.functions, "other")


def _location(row: Row) -> str:
    """Return a function's place without directories, `parse.c:120`; empty if it is not known."""
    file = row.file.rpartition("/")[2]
    if not file or file == "???":
        return ""
    return f"{file}:{row.line}" if row.line else file


def _name(row: Row, shown: Callable[[str], str] = str, shown_status: Callable[[str], str] = str) -> str:
    """Return a function's name, `new`, `vanished` or `was NAME`, and its place."""
    parts = [shown(row.name)]
    if row.old_name is not None:
        parts.append(f"was {shown(row.old_name)}")
    elif row.status != "changed":
        parts.append(shown_status(row.status))
    if location := _location(row):
        parts.append(shown(location))
    return ", ".join(parts)


def _annotations(sheet: Sheet, row: Row, width: int) -> list[Text]:
    """Return what follows the name, styled and cut."""
    annotations = []
    if row.old_name is not None:
        annotations.append(Text(f"was {sheet.name(row.old_name, width - 4)}", "yellow"))
    elif row.status != "changed":
        annotations.append(Text(row.status, "yellow"))
    if location := _location(row):
        annotations.append(Text(sheet.name(location, width), "dim"))
    return annotations


# --- on a terminal


def _table(sheet: Sheet, rows: Sequence[Row], rest: Rest, total: int, baseline_total: int) -> None:
    """Print figures flush right with the names after them; what does not fit beside a name goes below it."""
    cells = [_figure_cells(row.change, baseline_total, row.inclusive_change) for row in rows]
    closing = [numbers for numbers, _ in _closing_rows(rest, total, baseline_total)]
    widths, room = _columns(sheet, [_TITLES, *cells, *closing], _has_inclusive(rows))
    sheet.line(_aligned(_TITLES, widths, "dim") + Text("function", "dim"))
    for row, numbers in zip(rows, cells, strict=True):
        first, *further_lines = _name_lines(sheet, row, room)
        sheet.line(_aligned(numbers, widths) + first)
        for line in further_lines:
            sheet.line(Text(" " * (sheet.width - room)) + line)
    for numbers, text in _closing_rows(rest, total, baseline_total, room):
        sheet.line(_aligned(numbers, widths) + Text(text, "dim"))


def _columns(sheet: Sheet, lines: Sequence[Sequence[str]], has_inclusive: bool) -> tuple[list[int], int]:
    """Return the widths of the figures that are shown, and the columns left for the names."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for number_shown in (3, 2, 1) if has_inclusive else (2, 1):
        room = sheet.width - sum(widths[:number_shown]) - 2 * number_shown
        if room >= _NAME_COLUMNS:
            break
    return widths[:number_shown], max(1, room)


def _closing_rows(rest: Rest, total: int, baseline_total: int, room: int = 80) -> list[tuple[list[str], str]]:
    """Return figures and name of the closing lines, which make the table add up."""
    others_rows = (
        [(_figure_cells(rest.change, baseline_total, None), _others_label(rest, room))] if rest.functions else []
    )
    return [*others_rows, (_figure_cells(total, baseline_total, None), "in all")]


def _aligned(numbers: Sequence[str], widths: Sequence[int], style: str = "") -> Text:
    # Hidden columns are always the last ones, so `widths` may be shorter.
    cells = [f"{figure.rjust(width)}  " for figure, width in zip(numbers, widths, strict=False)]
    return Text("".join(cells), style)


def _name_lines(sheet: Sheet, row: Row, room: int) -> list[Text]:
    """Return the name and its marks on one line if they fit, else the name first and the marks below it."""
    name, annotations = Text(sheet.name(row.name, room)), _annotations(sheet, row, room)
    lines = _joined_if_it_fits([name, *annotations], room)
    return lines if len(lines) == 1 else [name, *_joined_if_it_fits(annotations, room)]


def _joined_if_it_fits(parts: list[Text], room: int) -> list[Text]:
    """Return the parts on one line if they fit, else each on its own."""
    line = Text("  ").join(parts)
    return [line] if parts and line.cell_len <= room else parts


def _paragraphs(sheet: Sheet, rows: Sequence[Row], rest: Rest, total: int, baseline_total: int) -> None:
    for row in rows:
        own, share, inclusive = _figure_cells(row.change, baseline_total, row.inclusive_change)
        paragraphs = [f"{own} {share}"] + ([f"with callees {inclusive}"] if inclusive else [])
        annotations = _joined_if_it_fits(_annotations(sheet, row, sheet.text_width), sheet.text_width)
        sheet.row(sheet.name(row.name, sheet.width), *paragraphs, *annotations, style="")
    for (own, share, _), text in _closing_rows(rest, total, baseline_total, sheet.width):
        sheet.row(text, f"{own} {share}")
