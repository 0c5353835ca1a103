"""Labelled rows on a console: labels beside their text, or above it on a narrow one.

Everything printed on a terminal goes through here and is made printable, whatever it says and wherever it comes from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from steelyard.report import printable

# One shell word, quotes included.
_SHELL_WORD = re.compile(r"""(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+""")
_CONTINUATION = " \\"
LABEL_COLUMNS = 11
_NARROW_COLUMNS = 50

# Stands for a space that must not become a line break. A private-use character, which `printable.plain` keeps out of
# all texts.
_GLUE = "\ue000"
_GLUED_SPACES = re.compile(
    printable.UNBROKEN + r"|(?<=--pairs) (?=\d)|(?<=--max-time) (?=\d)|(?<=--margin) (?=\d)|(?<=--repeat) (?=\d)"
)


class Sheet:
    """Prints rows of styled text, wrapped to the console, without trailing blanks."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.encoding = console.encoding
        self.narrow = console.width < _NARROW_COLUMNS
        self.width = max(console.width, 8)
        self.indent = 1 if self.narrow else LABEL_COLUMNS
        self.text_width = self.width - self.indent
        self._is_plain = console.color_system is None

    def name(self, text: str, width: int) -> str:
        """Return a name of any length as it is shown here, in at most `width` columns."""
        return printable.shown(text, width, self.encoding)

    def names(self, texts: Sequence[str], width: int) -> list[str]:
        """Return several names, shortened so that they can still be told apart."""
        return printable.shorten_apart([printable.plain(text, self.encoding) for text in texts], width)

    def head_name(self, text: str) -> str:
        """Return a name that is followed by a colon or comma on the same line."""
        return self.name(text, self.text_width - 1)

    def row(self, label: str, *paragraphs: Text | str, style: str = "dim") -> None:
        """Print a label and its paragraphs, each starting on a new line; `style` is that of the label."""
        label = printable.plain(label, self.encoding)
        is_plain = self._is_plain and not self.narrow and cell_len(label) < self.indent
        if is_plain and (unstyled := self._unstyled(paragraphs)):
            heads = [label, *[""] * (len(unstyled) - 1)]
            self._write(f"{head:{self.indent}}{line}" for head, line in zip(heads, unstyled, strict=True))
            return
        lines = [line for paragraph in paragraphs for line in self.wrap(paragraph)]
        if self.narrow:
            if label:
                self.line(Text(label, style))
            for line in lines:
                self.line(Text(" ") + line)
            return
        if cell_len(label) >= self.indent:  # the label would touch the text
            self.line(Text(label, style))
            label = ""
        for position, line in enumerate(lines):
            head = (label if position == 0 else "").ljust(self.indent)
            self.line(Text.assemble((head, style), line))  # not by `+`: the whole would have the label's style

    def title(self, label: str, name: str, *paragraphs: Text | str) -> None:
        """Print a name in bold, in some three lines at most, above its paragraphs."""
        self.row(label, Text(self.name(name, 3 * self.text_width), "bold"), *paragraphs)

    def command(self, label: str, command: str) -> None:
        """Print a shell command that can be copied verbatim: each line but the last ends in a backslash.

        A word is never broken, even if it is wider than the console.
        """
        if self.narrow and label:
            self.line(Text(label, "dim"))
            label = ""
        for line in _continued_lines(printable.plain(command, self.encoding), self.text_width):
            shown = Text.assemble((label.ljust(self.indent), "dim"), line)
            self._console.print(shown, no_wrap=True, crop=False, overflow="ignore", soft_wrap=True)
            label = ""

    def wrap(self, paragraph: Text | str) -> list[Text]:
        """Break a paragraph into lines, but never between a number and its unit."""
        text = printable.styled(paragraph, self.encoding)
        if cell_len(text.plain) <= self.text_width:
            return [text]
        text.plain = _GLUED_SPACES.sub(_GLUE, text.plain)
        lines = []
        for line in text.wrap(self._console, self.text_width):
            line.plain = line.plain.replace(_GLUE, " ")
            lines.append(line)
        return lines

    def _unstyled(self, paragraphs: Sequence[Text | str]) -> list[str]:
        """Return what `wrap` makes of paragraphs without colours; empty if only rich can tell."""
        lines: list[str] = []
        for paragraph in paragraphs:
            text = paragraph if isinstance(paragraph, str) else paragraph.plain
            text = printable.plain(printable.symbols(text, self.encoding), self.encoding)
            if cell_len(text) <= self.text_width:
                lines.append(text)
                continue
            is_simple = text.isascii() and "  " not in text
            broken = _broken_lines(_GLUED_SPACES.sub(_GLUE, text), self.text_width) if is_simple else []
            if not broken:
                return []
            lines += [line.replace(_GLUE, " ") for line in broken]
        return lines

    def grid(
        self,
        rows: Sequence[Sequence[Text]],
        right: frozenset[int] = frozenset(),
        *,
        optional: int = 0,
        above: Sequence[str] = (),
    ) -> None:
        """Print rows of cells in aligned columns, two blanks apart; those in `right` are flushed right.

        A text `above` a row, unless empty, is printed on a line of its own. Up to `optional` columns at the end are
        left out if a line is too wide, since a number that is cut becomes another number.
        """
        shown = [[printable.styled(cell, self.encoding) for cell in row] for row in rows]
        widths = column_widths(shown)
        least = len(widths) - optional
        while len(widths) > least and _grid_width(widths) > self.width:
            widths.pop()
        shown = [row[: len(widths)] for row in shown]
        for number, row in enumerate(shown):
            if above and above[number]:
                self.line(Text(above[number]))
            line = Text()
            for position, (cell, width) in enumerate(zip(row, widths, strict=True)):
                blanks = " " * (width - cell.cell_len)
                line.append("  " if position else "")
                line.append_text(Text(blanks) + cell if position in right else cell + Text(blanks))
            self.line(line)

    def has_room_for(self, rows: Sequence[Sequence[Text]]) -> bool:
        """Return whether `grid` can print these rows without cutting any."""
        return _grid_width(column_widths(rows)) <= self.width

    def blank(self) -> None:
        """Print an empty line."""
        self.line(Text())

    def line(self, text: Text) -> None:
        """Print one line as it is; one that is too wide is the caller's mistake, and is cut."""
        text = printable.styled(text, self.encoding)
        if self._is_plain and cell_len(text.plain) <= self.width:
            self._write([text.plain])
            return
        text.rstrip()
        if cell_len(text.plain) > self.width:
            text.truncate(self.width, overflow="crop")
            text.rstrip()
        self._console.print(text, no_wrap=True, crop=False, overflow="ignore", soft_wrap=True)

    def _write(self, lines: Iterable[str]) -> None:
        # Without colours a line is just its text, which rich takes a fifth of a millisecond to find out.
        self._console.file.write("".join(f"{line.rstrip()}\n" for line in lines))
        self._console.file.flush()


def column_widths(rows: Sequence[Sequence[Text]]) -> list[int]:
    """Return how many columns of the terminal each column of cells takes."""
    return [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]


def _grid_width(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


def _continued_lines(command: str, width: int) -> list[str]:
    """Return the lines of a command, each but the last with a backslash at its end."""
    lines = [""]
    for word in _SHELL_WORD.findall(command):
        candidate = f"{lines[-1]} {word}".lstrip()
        if lines[-1] and cell_len(candidate) > width - len(_CONTINUATION):
            lines[-1] += _CONTINUATION
            candidate = word
            lines.append("")
        lines[-1] = candidate
    return lines


def _broken_lines(text: str, width: int) -> list[str]:
    """Break a text of words and single spaces as rich does, but 40 µs faster; empty if a word is too long.

    Every character must take one column.
    """
    lines = []
    while len(text) > width:
        end = text.rfind(" ", 0, width + 1)
        if end <= 0:
            return []
        lines.append(text[:end])
        text = text[end + 1 :]
    return [*lines, text]
