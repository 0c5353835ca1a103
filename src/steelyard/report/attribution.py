"""Which functions a change comes from: a table that adds up, for a terminal and Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.text import Text

from steelyard.report import figures
from steelyard.report.markup import code, table
from steelyard.report.sheet import Sheet
from steelyard.stats.attribution import Rest, Row

_TITLES = ("own change", "of all", "with callees")
# Columns to keep for a name; the less important figures give way to it.
_NAME_COLUMNS = 20


@dataclass(frozen=True)
class Source:
    """Where one benchmark's change comes from; shares are of `baseline_total`."""

    rows: Sequence[Row]
    rest: Rest
    """The functions that are not shown."""
    change: int
    baseline_total: int
    unit: str

    @property
    def has_inclusive(self) -> bool:
        """Whether it is known of any function what its callees changed."""
        return any(row.inclusive_change is not None for row in self.rows)


def show(sheet: Sheet, source: Source) -> None:
    """Print the functions, the sum of those that are not shown, and the whole change.

    Where a table does not fit, each function is a paragraph.
    """
    if sheet.narrow:
        _paragraphs(sheet, source)
    else:
        _table(sheet, source)


def markdown_rows(source: Source) -> list[str]:
    """Return the functions as lines of a Markdown table with its head."""
    lines = [[*_TITLES, "function"]]
    lines += [[*_row_cells(row, source), _name(row, code, "**{}**".format)] for row in source.rows]
    lines += [[*numbers, text] for numbers, text in _closing_rows(source)]
    if not source.has_inclusive:
        lines = [[own, share, text] for own, share, _, text in lines]
    return table(lines[0], lines[1:])


def cells(source: Source) -> list[list[str]]:
    """Return plain texts: each function or group of functions, its own change, and its share of all."""
    function_rows = [[_name(row), *_row_cells(row, source)[:2]] for row in source.rows]
    return [*function_rows, *([text, *numbers[:2]] for numbers, text in _closing_rows(source))]


# --- what the cells hold


def _signed(count: int) -> str:
    return f"{count:+,}" if count else "0"


def _share(count: int, baseline_total: int) -> str:
    return figures.change(count / baseline_total) if baseline_total else figures.NOT_KNOWN


def _figure_cells(change: int, baseline_total: int, inclusive: int | None) -> list[str]:
    return [_signed(change), _share(change, baseline_total), "" if inclusive is None else _signed(inclusive)]


def _row_cells(row: Row, source: Source) -> list[str]:
    return _figure_cells(row.change, source.baseline_total, row.inclusive_change)


def _others_label(rest: Rest, room: int) -> str:
    text = figures.count(rest.functions, "other function")
    return text if len(text) <= room else figures.count(rest.functions, "other")


def file_name(path: str) -> str:
    """Return a source file's name without directories; empty if it is not known."""
    name = path.rpartition("/")[2]
    return "" if name == "???" else name


def _location(row: Row) -> str:
    """Return a function's place without directories, `parse.c:120`; empty if it is not known."""
    file = file_name(row.file)
    return f"{file}:{row.line}" if file and row.line else file


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


def _table(sheet: Sheet, source: Source) -> None:
    """Print figures flush right with the names after them; what does not fit beside a name goes below it."""
    cells = [_row_cells(row, source) for row in source.rows]
    closing = [numbers for numbers, _ in _closing_rows(source)]
    widths, room = _columns(sheet, [_TITLES, *cells, *closing], source.has_inclusive)
    sheet.line(_aligned(_TITLES, widths, "dim") + Text("function", "dim"))
    for row, numbers in zip(source.rows, cells, strict=True):
        first, *further_lines = _name_lines(sheet, row, room)
        sheet.line(_aligned(numbers, widths) + first)
        for line in further_lines:
            sheet.line(Text(" " * (sheet.width - room)) + line)
    for numbers, text in _closing_rows(source, room):
        sheet.line(_aligned(numbers, widths) + Text(text, "dim"))


def _columns(sheet: Sheet, lines: Sequence[Sequence[str]], has_inclusive: bool) -> tuple[list[int], int]:
    """Return the widths of the figures that are shown, and the columns left for the names."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for number_shown in (3, 2, 1) if has_inclusive else (2, 1):
        room = sheet.width - sum(widths[:number_shown]) - 2 * number_shown
        if room >= _NAME_COLUMNS:
            break
    return widths[:number_shown], max(1, room)


def _closing_rows(source: Source, room: int = 80) -> list[tuple[list[str], str]]:
    """Return figures and name of the closing lines, which make the table add up."""
    rest, whole = source.rest, source.baseline_total
    others_rows = [(_figure_cells(rest.change, whole, None), _others_label(rest, room))] if rest.functions else []
    return [*others_rows, (_figure_cells(source.change, whole, None), "in all")]


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


def _paragraphs(sheet: Sheet, source: Source) -> None:
    for row in source.rows:
        own, share, inclusive = _row_cells(row, source)
        paragraphs = [f"{own} {share}"] + ([f"with callees {inclusive}"] if inclusive else [])
        annotations = _joined_if_it_fits(_annotations(sheet, row, sheet.text_width), sheet.text_width)
        sheet.row(sheet.name(row.name, sheet.width), *paragraphs, *annotations, style="")
    for (own, share, _), text in _closing_rows(source, sheet.width):
        sheet.row(text, f"{own} {share}")
