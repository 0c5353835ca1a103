"""Text made safe for Markdown, as plain text and as code, and the parts of a document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from steelyard.report import printable

# Written as entities, these stay text: no table cell, code span, link, emphasis, formula or mention can begin.
_SPECIAL = frozenset('&<>|`*_~[]\\#@!:${}^"')
# Forges look for mentions in the rendered text, where an entity is its character again. So such a character has to be
# kept apart from what it would name. @user, #1, GH-1, www.host; GitLab's !1, ~label, %1, $1, &1.
_MENTION = re.compile(r"""(@(?=[\w"'-])|~(?=[\w"'])|[#!%$&](?=[\d"'])|(?<!\w)(?:GH-(?=\d)|www(?=\.)))""", re.IGNORECASE)
_ZERO_WIDTH_SPACE = "\u200b"
# Hosts and addresses become links even in code. A comment inside them prevents that, and is not copied along.
_LINK_POSITION = re.compile(r"(?<=www)(?=\.)|(?<=\S)(?=@)", re.IGNORECASE)
_LINK_BREAKER = "<!-- -->"
_LONGEST_NAME = 120
# The titles of all columns that are flushed left; those of figures are flushed right.
_COLUMNS_OF_WORDS = frozenset(
    {"benchmark", "metric", "verdict", "better", "heap", "function", "machine was", "accepted", "record"}
)


def escape(text: str) -> str:
    """Make any text safe within a table cell: it cannot become Markdown or HTML, nor mention anybody."""
    separated = _MENTION.sub(rf"\1{_ZERO_WIDTH_SPACE}", printable.plain(text))
    return _entities(separated)


def _entities(text: str) -> str:
    return "".join(
        f"&#{ord(character)};" if character in _SPECIAL or character == _ZERO_WIDTH_SPACE else character
        for character in text
    )


def document(lines: Iterable[str]) -> str:
    """Return a document of these lines: each stays one line, whatever is in it, and nothing unprintable remains.

    No line starts a quick action such as `/merge`, which GitLab would take from the text itself.
    """
    return "".join(f"{re.sub('^/', '&#47;', printable.plain(line))}\n" for line in lines)


def table(titles: Sequence[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Write rows of cells as the lines of a table, the first two of which are its head."""
    alignment = [":--" if title in _COLUMNS_OF_WORDS else "--:" for title in titles]
    return [f"| {' | '.join(cells)} |" for cells in (titles, alignment, *rows)]


def items(texts: Iterable[str]) -> list[str]:
    """Write texts as the lines of a list."""
    return [f"- {text}" for text in texts]


def code(text: str) -> str:
    """Show a name or a command as code, where forges look for no mentions; if it is cut, both ends remain."""
    shown = printable.shown(text, _LONGEST_NAME)
    return f"<code>{_LINK_BREAKER.join(map(_entities, _LINK_POSITION.split(shown)))}</code>"
