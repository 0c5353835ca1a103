"""Any text made fit to print: nothing in it steers a terminal, and what an encoding lacks is replaced.

The writers of the reports do this as their last step to everything that goes through them: `Sheet` on a terminal,
`markup.document` for Markdown, `table.csv_text` for CSV. Code that builds a text for them need not care, except
where it cuts a text to a width.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise, takewhile

from rich.cells import cell_len
from rich.text import Span, Text

from steelyard.model.grouping import grouped
from steelyard.report.plain import plain as plain

ELLIPSIS = "…"

# A character, or an escape that `plain` made of one, which must not be cut in half.
_CHARACTER = re.compile(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[nrt])|.", re.DOTALL)

# Of a name that is cut at its start, one column in this many is kept before the point where it differs.
_COLUMNS_PER_CONTEXT_COLUMN = 4

# The columns that a part of a name takes at least, two of which may be for the marks around it.
_LEAST_PART = 4

# How often names that still look alike are told apart from all that they look like.
_ROUNDS = 4

# Spaces between a number and its unit, or within an interval, where no line may break.
UNBROKEN = r"(?<=\d) (?=(?:%|ns|µs|ms|s|min|h|B|[KMGT]iB)(?![\w]))|(?<=%,) (?=[-+\d])|(?<=±) "

# Each replacement takes one column, like its original, so a layout made for UTF-8 holds for ASCII too.
_ASCII = str.maketrans("µ…┊▁▂▃▄▅▆▇█─┬●━", "u~|.:-=+*#@-+o#")


def symbols(text: str, encoding: str) -> str:
    """Replace the reports' own symbols unless the encoding is one of Unicode; the width stays the same."""
    return text if encoding.lower().startswith("utf") else text.translate(_ASCII)


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


def shown(text: str, width: int, encoding: str = "utf-8") -> str:
    """Return any text, made printable, in at most `width` columns."""
    return shorten(plain(text, encoding), width)


def first_that_fits(choices: Iterable[Iterable[str]], width: int) -> str:
    """Return the parts of the first choice that take at most `width` columns, two blanks apart; else cut the last."""
    lines = ["  ".join(filter(None, parts)) for parts in choices]
    return next((line for line in lines if cell_len(line) <= width), shorten(lines[-1], width))


def shorten_apart(texts: Sequence[str], width: int) -> list[str]:
    """Shorten each text, but let those that would look alike show the places where they start to differ."""
    shown = {text: shorten(text, width) for text in texts}
    if width < _LEAST_PART:
        return [shown[text] for text in texts]
    rivals = {text: frozenset([text]) for text in shown}
    for _ in range(_ROUNDS):
        for group in grouped(shown, shown.__getitem__).values():
            if len(group) > 1:
                together = frozenset[str]().union(*(rivals[text] for text in group))
                rivals |= dict.fromkeys(together, together)
                shown |= _told_apart(sorted(together, key=_CHARACTER.findall), width)
    return [shown[text] for text in texts]


def _told_apart(texts: Sequence[str], width: int) -> dict[str, str]:
    """Return each of several sorted texts with the parts of it where others differ."""
    pieces = [_CHARACTER.findall(text) for text in texts]
    places = [set[int]() for _ in texts]
    for neighbours in (pairwise(range(len(texts))), pairwise(reversed(range(len(texts))))):
        lengths = list[int]()  # how much a text has in common with those before it: falls with the distance
        for before, this in neighbours:
            both = zip(pieces[before], pieces[this], strict=False)
            in_common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both))
            lengths = [*(length for length in lengths if length < in_common), in_common]
            places[this] |= {*lengths}
    return {text: _parts(pieces[at], sorted(places[at]), width) for at, text in enumerate(texts)}


def _parts(pieces: list[str], places: Sequence[int], width: int) -> str:
    """Return as few parts of a text as show all of these places; if there is no room, from the first one on."""
    most = max(1, min(len(places), width // _LEAST_PART))
    ways = (_covering(pieces, places, number, width) for number in range(1, most + 1))
    return next((way for way in ways if way is not None), None) or _covering(pieces, places[:1], 1, width) or ""


def _covering(pieces: list[str], places: Sequence[int], number: int, width: int) -> str | None:
    """Return a text's parts that begin near these places, each with its share of the width; None if they need more."""
    share, shown, end = width // number, list[str](), 0
    for place in places:
        if shown and min(place, len(pieces) - 1) < end:
            continue
        if number == 0:
            return None
        number -= 1
        begin = max(end, place - share // _COLUMNS_PER_CONTEXT_COLUMN)
        before = [ELLIPSIS] if begin > end else []
        room = (share if number else width - cell_len("".join(shown))) - len(before)
        part = _pieces_that_fit(pieces[begin:], room)
        after = [ELLIPSIS] if not number and begin + len(part) < len(pieces) else []
        if after:
            part = _pieces_that_fit(pieces[begin:], room - 1)
        end = begin + len(part)
        shown += [*before, *part, *after]
    if end < len(pieces) and shown[-1:] != [ELLIPSIS]:
        shown.append(ELLIPSIS)
    return "".join(shown)


def _pieces_that_fit(pieces: list[str], width: int) -> list[str]:
    columns = 0
    for position, piece in enumerate(pieces):
        columns += cell_len(piece)
        if columns > width:
            return pieces[:position]
    return pieces
