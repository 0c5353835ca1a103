"""HTML, built of elements: the one place where texts are escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from steelyard.report import printable

LONGEST_NAME = 160
"""Columns of a name in a table; where it is the heading of its own section there may be so many times more."""
LONGER = 12

_QUOTED = re.compile(r"`([^`]+)`")
_NUMBER = re.compile(printable.UNBROKEN)
_OPTION = re.compile(r"(?<![\w-])(--[a-z][\w-]{0,30})(?![\w-])")
_VOID = frozenset({"meta", "br", "wbr", "input", "link"})


class Markup(str):
    """Text that is HTML already; made by this module, and of constants, alone."""

    __slots__ = ()


Content = str | Markup
"""What an element holds: markup as it is, any other text escaped."""


def text(content: str) -> Markup:
    r"""Any text as HTML: nothing in it is markup, turns it around or hides; what does not print is `\x1b`."""
    return Markup(html.escape(printable.plain(content)))


def name(content: str, times: int = 1) -> Markup:
    """A name that may be of any length: its middle is left out where it is too long."""
    if len(content) <= LONGEST_NAME and content.isascii() and content.isprintable():
        return text(content)
    return text(printable.shorten(printable.plain(content), times * LONGEST_NAME))


def plain_name(content: str) -> str:
    """The same, for where it is escaped later."""
    return printable.shorten(printable.plain(content), LONGEST_NAME)


def parted(content: str) -> Markup:
    """A word that may break behind its underscores, where there is little room."""
    first, *others = content.split("_")
    return joined([first, *(one for part in others for one in ("_", element("wbr"), part))])


def told(content: Content) -> Markup:
    """A sentence of the reports: what is `quoted` is code, and no number is parted from its unit."""
    if isinstance(content, Markup):
        return content
    parts = _QUOTED.split(content)
    return joined(
        # A command that is copied from here has its own spaces.
        element("code", unbroken(part)) if place % 2 else Markup(_NUMBER.sub("\u00a0", unbroken(part)))
        for place, part in enumerate(parts)
    )


def long_told(content: str) -> Markup:
    """The same of a sentence that may be of any length: its middle is left out where it is too long."""
    return told(printable.shorten(printable.plain(content), LONGER * LONGEST_NAME))


def unbroken(content: str) -> Markup:
    """A text of which no option breaks behind its hyphens."""
    parts = _OPTION.split(content)
    return joined(element("span", part, class_="option") if place % 2 else part for place, part in enumerate(parts))


def element(tag: str, *contents: Content, **attributes: str | float | bool | None) -> Markup:
    """An element; attributes that are False or None are left out, and `class_` and `aria_label` become HTML's."""
    said = "".join(_attribute(key, value) for key, value in attributes.items())
    if tag in _VOID:
        return Markup(f"<{tag}{said}>")
    return Markup(f"<{tag}{said}>{joined(contents)}</{tag}>")


def joined(contents: Iterable[Content]) -> Markup:
    """Several contents, one behind the other."""
    return Markup("".join(one if isinstance(one, Markup) else text(one) for one in contents))


def _attribute(key: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    written = key.rstrip("_").replace("_", "-")
    return f" {written}" if value is True else f' {written}="{text(str(value))}"'


def term_list(pairs: Iterable[tuple[str, Content]], class_: str) -> Markup:
    """Terms and what is said of each."""
    rows = [element("div", element("dt", term), element("dd", said)) for term, said in pairs]
    return element("dl", *rows, class_=class_) if rows else Markup()


def table(
    caption: str,
    titles: Iterable[str],
    rows: Iterable[Iterable[Content]],
    *,
    numbers: frozenset[int] = frozenset(),
    stacked: bool = False,
) -> Markup:
    """A small table, the first cell of each row its heading; the columns of `numbers` are flushed right.

    One that is `stacked` has sentences, which stand below each other where there is little room.
    """
    head = [element("th", title, scope="col", class_="n" if i in numbers else None) for i, title in enumerate(titles)]
    body = []
    for first, *others in rows:
        cells = [element("td", cell, class_="n" if i in numbers else None) for i, cell in enumerate(others, start=1)]
        body.append(element("tr", element("th", first, scope="row"), *cells))
    whole = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *head)),
        element("tbody", *body),
        class_="stacked" if stacked else None,
    )
    return element("div", whole, class_="scroll", tabindex=0, role="group", aria_label=caption)
