"""HTML elements; the only place where texts are escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from steelyard.report import printable

LONGEST_NAME = 160
"""Longest name in a table, in columns; the heading of a name's own section may be LONGER times as long."""
LONGER = 12

_QUOTED = re.compile(r"`([^`]+)`")
_NUMBER = re.compile(printable.UNBROKEN)
_OPTION = re.compile(r"(?<![\w-])(--[a-z][\w-]{0,30})(?![\w-])")
_VOID = frozenset({"meta", "br", "wbr", "input", "link"})


class Markup(str):
    """Text that is HTML already; made only by this module, and from constants."""

    __slots__ = ()


Content = str | Markup
"""What an element holds: markup as it is, other text to be escaped."""


def text(content: str) -> Markup:
    r"""Return any text as HTML: nothing in it is markup, turns it around or hides; what does not print is `\x1b`."""
    return Markup(html.escape(printable.plain(content)))


def name(content: str, times: int = 1) -> Markup:
    """Return a name of any length as HTML; if it is too long, its middle is left out."""
    return text(printable.shown(content, times * LONGEST_NAME))


def plain_name(content: str) -> str:
    """Do as `name`, but leave the escaping to later."""
    return printable.shown(content, LONGEST_NAME)


def breakable(content: str) -> Markup:
    """Return a word that may break after its underscores where there is little room."""
    return joined(content.split("_"), f"_{element('wbr')}")


def sentence_markup(content: Content) -> Markup:
    """Return a report's sentence as HTML: what is in backquotes is code, and no number is separated from its unit."""
    if isinstance(content, Markup):
        return content
    parts = _QUOTED.split(content)
    return joined(
        # Code keeps its plain spaces, so that it can be copied.
        element("code", unbroken(part)) if place % 2 else Markup(_NUMBER.sub("\u00a0", unbroken(part)))
        for place, part in enumerate(parts)
    )


def long_sentence_markup(content: str) -> Markup:
    """Do as `sentence_markup` for a sentence of any length; if it is too long, its middle is left out."""
    return sentence_markup(printable.shown(content, LONGER * LONGEST_NAME))


def unbroken(content: str) -> Markup:
    """Return a text whose options never break after their hyphens."""
    parts = _OPTION.split(content)
    return joined(element("span", part, class_="option") if place % 2 else part for place, part in enumerate(parts))


def element(tag: str, *contents: Content, **attributes: str | float | bool | None) -> Markup:
    """Return an element, without attributes that are False or None; `class_` and `aria_label` get HTML's names."""
    attribute_text = "".join(_attribute(key, value) for key, value in attributes.items())
    if tag in _VOID:
        return Markup(f"<{tag}{attribute_text}>")
    return Markup(f"<{tag}{attribute_text}>{joined(contents)}</{tag}>")


def joined(contents: Iterable[Content], separator: str = "") -> Markup:
    """Return several contents joined; the separator is markup."""
    return Markup(separator.join(one if isinstance(one, Markup) else text(one) for one in contents))


def _attribute(key: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    attribute = key.rstrip("_").replace("_", "-")
    return f" {attribute}" if value is True else f' {attribute}="{text(str(value))}"'


def term_list(pairs: Iterable[tuple[str, Content]]) -> Markup:
    """Return a list of terms and what is said of each."""
    rows = [element("div", element("dt", term), element("dd", said)) for term, said in pairs]
    return element("dl", *rows, class_="facts")


def table(
    caption: str,
    titles: Iterable[str],
    rows: Iterable[Iterable[Content]],
    *,
    numbers: frozenset[int] = frozenset(),
    stacked: bool = False,
) -> Markup:
    """Return a small table, the first cell of each row its heading; the columns in `numbers` are flushed right.

    The cells of a `stacked` table are sentences, placed below each other where there is little room.
    """
    head = [element("th", title, scope="col", class_="n" if i in numbers else None) for i, title in enumerate(titles)]
    body = []
    for first, *others in rows:
        cells = [element("td", cell, class_="n" if i in numbers else None) for i, cell in enumerate(others, start=1)]
        body.append(element("tr", element("th", first, scope="row"), *cells))
    table_element = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *head)),
        element("tbody", *body),
        class_="stacked" if stacked else None,
    )
    return element("div", table_element, class_="scroll", tabindex=0, role="group", aria_label=caption)
