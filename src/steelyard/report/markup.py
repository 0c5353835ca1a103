"""Any text made safe for Markdown, as plain text and as code, and what a whole document is made of."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.report import printable

# As entities these stay text: no table cell, code span, link, emphasis, formula or mention begins with one.
_SPECIAL = frozenset('&<>|`*_~[]\\#@!:${}^"')
_LONGEST_NAME = 120


def escape(text: str) -> str:
    """Make any text safe within a table cell: nothing of it is taken for Markdown or HTML."""
    return "".join(
        f"&#{ord(character)};" if character in _SPECIAL else character for character in printable.plain(text)
    )


def document(lines: Iterable[str]) -> str:
    """A document of these lines: each stays one, whatever is in it, and nothing unprintable is in the document."""
    return "".join(f"{printable.plain(line)}\n" for line in lines)


def table(rows: Iterable[Iterable[str]]) -> list[str]:
    """Write rows of cells as the lines of a table: titles first, then how each column is aligned."""
    return [f"| {' | '.join(cells)} |" for cells in rows]


def items(texts: Iterable[str]) -> list[str]:
    """Write texts as the lines of a list."""
    return [f"- {text}" for text in texts]


def code(text: str) -> str:
    """Show a name or a command as code; a cut one keeps both ends."""
    return f"<code>{escape(printable.shorten(printable.plain(text), _LONGEST_NAME))}</code>"
