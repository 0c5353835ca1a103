"""The documentation as its tests read it: its console blocks, and its command lines."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A number at the end of a line, by which the page explains the line below the block.
_MARK = re.compile(r" {3,}\(\d\)$", re.MULTILINE)
_COMMAND = re.compile(r"^(?:\$ | {4}|\| )?(?:\| `)?(steelyard [a-z].*)$")
# A line up to its remark, which is in a column of its own.
_UNREMARKED = re.compile(r"""(?:'[^']*'|"[^"]*"|\S| (?=\S))*""")
_BETWEEN = set("|;&<>")
_GOES_ON = re.compile(r" \\\n *")


@dataclass(frozen=True)
class Console:
    """A command line of a page, and what it prints there."""

    page: str
    words: tuple[str, ...]
    printed: str


def consoles(page: Path) -> list[Console]:
    """Return the console blocks of a page that begin with a command of `steelyard`."""
    found = []
    for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
        first, _, printed = block.partition("\n")
        if first.startswith("$ steelyard "):
            found.append(Console(page.stem, tuple(shlex.split(first)[2:]), _MARK.sub("", printed)))
    return found


def command_lines(page: Path) -> Iterator[list[str]]:
    """Yield the arguments of `steelyard` from each line that is a command."""
    for line in _GOES_ON.sub(" ", page.read_text(encoding="utf-8")).splitlines():
        if found := _COMMAND.match(line):
            remarked = _UNREMARKED.match(found[1])
            assert remarked is not None
            yield _words(remarked[0])[1:]


def _words(line: str) -> list[str]:
    """Return the words of the first command in a line."""
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split, words.commenters = True, ""
    return list(takewhile(lambda word: not set(word) <= _BETWEEN, words))


# --- the part of an output that is the same for everybody

# An end of an interval that is too close to 0 for its digits to show the side has a sign instead: [>0 to +2 %].
_NUMBER = re.compile(r"[<>]?[-+]?\d[\d,.]*(?:\s?(?:%|(?:ns|µs|ms|s|min|h)\b))?")


def labelled(printed: str) -> dict[str, str]:
    """Return each paragraph, on one line and without its numbers, by its label: the first word of its first line."""
    paragraphs: dict[str, str] = {}
    label = ""
    for line in filter(str.strip, printed.splitlines()):
        if not line.startswith(" "):
            label, _, line = line.partition(" ")
        paragraphs[label] = f"{paragraphs.get(label, '')} {line.strip()}"
    return {label: _alike(text) for label, text in paragraphs.items()}


def _alike(text: str) -> str:
    """Return the text without its numbers and without what depends on them: widths of columns, and line breaks."""
    return " ".join(_NUMBER.sub("#", text.replace(",", " ")).split())
