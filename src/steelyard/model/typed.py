"""What is printed to be typed into a shell: paths, and commands in quotes."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

# What a shell looks for within double quotes.
_EXPANDED = frozenset('"$`\\!')


def typed(path: Path) -> str:
    """A path as a shell takes it, whatever is in its name; one that begins like an option is none."""
    text = str(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


def in_quotes(command: str) -> str:
    """A command line as one word of a shell, with as few quotes as that takes."""
    if "'" not in command:
        return f"'{command}'"
    return f'"{command}"' if _EXPANDED.isdisjoint(command) else shlex.quote(command)


def command_line(words: Iterable[str]) -> str:
    """The command line that is split into these words; quoted are those alone that have to be."""
    return " ".join(word if _is_one_word(word) else in_quotes(word) for word in words)


def _is_one_word(word: str) -> bool:
    try:
        return shlex.split(word) == [word]
    except ValueError:
        return False
