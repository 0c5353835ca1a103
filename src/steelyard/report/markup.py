"""Any text made safe for Markdown, as plain text and as code, and what a whole document is made of."""

from __future__ import annotations

import re
from collections.abc import Iterable

from steelyard.report import printable

# As entities these stay text: no table cell, code span, link, emphasis, formula or mention begins with one.
_SPECIAL = frozenset('&<>|`*_~[]\\#@!:${}^"')
# Forges look for who and what is mentioned in the text that was rendered, where an entity is its character again: such
# a character has to stand apart from what it would name. @user, #1, GH-1, www.host; GitLab's !1, ~label, %1, $1, &1.
_MENTION = re.compile(r"""(@(?=[\w"'-])|~(?=[\w"'])|[#!%$&](?=[\d"'])|(?<!\w)(?:GH-(?=\d)|www(?=\.)))""", re.IGNORECASE)
_APART = "\u200b"
# Hosts and addresses become links in code as well. A comment in them prevents that, and is in nothing that is copied.
_LINKED = re.compile(r"(?<=www)(?=\.)|(?<=\S)(?=@)", re.IGNORECASE)
_UNLINKED = "<!-- -->"
_LONGEST_NAME = 120


def escape(text: str) -> str:
    """Make any text safe within a table cell: nothing of it is taken for Markdown or HTML, and nobody is mentioned."""
    apart = _MENTION.sub(rf"\1{_APART}", printable.plain(text))
    return _entities(apart)


def _entities(text: str) -> str:
    return "".join(
        f"&#{ord(character)};" if character in _SPECIAL or character == _APART else character for character in text
    )


def document(lines: Iterable[str]) -> str:
    """A document of these lines: each stays one, whatever is in it, and nothing unprintable is in the document.

    None is a quick action, which GitLab takes from the text itself where a line begins with one: `/merge`.
    """
    return "".join(f"{re.sub('^/', '&#47;', printable.plain(line))}\n" for line in lines)


def table(rows: Iterable[Iterable[str]]) -> list[str]:
    """Write rows of cells as the lines of a table: titles first, then how each column is aligned."""
    return [f"| {' | '.join(cells)} |" for cells in rows]


def items(texts: Iterable[str]) -> list[str]:
    """Write texts as the lines of a list."""
    return [f"- {text}" for text in texts]


def code(text: str) -> str:
    """Show a name or a command as code, where no mention is looked for; a cut one keeps both ends."""
    shown = printable.shorten(printable.plain(text), _LONGEST_NAME)
    return f"<code>{_UNLINKED.join(map(_entities, _LINKED.split(shown)))}</code>"
