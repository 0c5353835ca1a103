"""Any text made fit to print: nothing in it steers a terminal, and what an encoding lacks is replaced.

The writers of the reports do this as their last step to everything that goes through them: `Sheet` on a terminal,
`markup.document` for Markdown, `table.csv_text` for CSV. Code that builds a text for them need not care, except
where it cuts a text to a width.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, takewhile

from rich.cells import cell_len
from rich.text import Span, Text

from steelyard.report.plain import plain as plain

ELLIPSIS = "…"

# A character, or an escape that `plain` made of one, which must not be cut in half.
_CHARACTER = re.compile(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[nrt])|.", re.DOTALL)

# Of a name that is cut at its start, one column in this many is kept before the point where it differs.
_COLUMNS_PER_CONTEXT_COLUMN = 4

# Spaces between a number and its unit, or within an interval, where no line may break.
UNBROKEN = r"(?<=\d) (?=(?:%|ns|µs|ms|s|min|h|B|[KMGT]iB)(?![\w]))|(?<=%,) (?=[-+\d])|(?<=±) "

# Each replacement takes one column, like its original, so a layout made for UTF-8 holds for ASCII too.
_ASCII = str.maketrans("µ…┊▁▂▃▄▅▆▇█─┬●━", "u~|.:-=+*#@-+o#")


def is_utf(encoding: str) -> bool:
    """Return whether a stream's encoding can carry every symbol that the reports use."""
    return encoding.lower().replace("_", "-").startswith("utf")


def symbols(text: str, encoding: str) -> str:
    """Replace the reports' own symbols if the encoding lacks them; the width stays the same."""
    return text if is_utf(encoding) else text.translate(_ASCII)


def styled(text: Text | str, encoding: str = "utf-8") -> Text:
    """Apply `symbols` and `plain` to text with styles, each of which stays on its characters."""
    source = symbols(text.plain if isinstance(text, Text) else text, encoding)
    shown = plain(source, encoding)
    if isinstance(text, str):
        return Text(shown)
    if len(shown) == len(source):
        return Text(shown, text.style, spans=text.spans)
    ends = [0, *accumulate(len(plain(character, encoding)) for character in source)]
    spans = [Span(ends[start], ends[min(end, len(source))], style) for start, end, style in text.spans]
    return Text(shown, text.style, spans=spans)


def lines(text: str) -> list[str]:
    """Return the lines of a text whose line breaks are intended (a quoted stderr), to print one by one."""
    return [line.expandtabs(4).rstrip() for line in text.strip("\r\n").split("\n")]


def shorten(text: str, width: int) -> str:
    """Cut the middle out of `text` until it takes at most `width` columns; its two ends tell commands apart."""
    if cell_len(text) <= width:
        return text
    if width < 1:
        return ""
    pieces = _CHARACTER.findall(text)
    tail = _pieces_that_fit(pieces[::-1], (width - 1) // 2)[::-1]
    head = _pieces_that_fit(pieces, width - 1 - cell_len("".join(tail)))
    # A joining character may take different columns beside its new neighbour.
    while tail and cell_len("".join([*head, ELLIPSIS, *tail])) > width:
        tail = tail[1:]
    while head and cell_len("".join([*head, ELLIPSIS, *tail])) > width:
        head = head[:-1]
    return "".join([*head, ELLIPSIS, *tail])


def shorten_apart(texts: Sequence[str], width: int) -> list[str]:
    """Shorten each text, but let those that would look alike begin near where they start to differ."""
    by_short_text: dict[str, set[str]] = {}
    for text in texts:
        by_short_text.setdefault(shorten(text, width), set()).add(text)
    shown: dict[str, str] = {}
    for short, group in by_short_text.items():
        pieces = {text: _CHARACTER.findall(text) for text in group}
        common_length = sum(
            1 for _ in takewhile(lambda column: len({*column}) == 1, zip(*pieces.values(), strict=False))
        )
        start = common_length - width // _COLUMNS_PER_CONTEXT_COLUMN if len(group) > 1 else 0
        for text in group:
            shown[text] = _cut_at_start(pieces[text], start, width) if start > 0 else short
    return [shown[text] for text in texts]


def _cut_at_start(pieces: list[str], start: int, width: int) -> str:
    """Return a text cut at its start, and at its end if there is no room for that."""
    rest = pieces[start:]
    head = _pieces_that_fit(rest, width - 1)
    if len(head) < len(rest):
        head = [*_pieces_that_fit(rest, width - 2), ELLIPSIS]
    return "".join([ELLIPSIS, *head])


def _pieces_that_fit(pieces: list[str], width: int) -> list[str]:
    columns = 0
    for position, piece in enumerate(pieces):
        columns += cell_len(piece)
        if columns > width:
            return pieces[:position]
    return pieces
