"""Text that users can paste into a shell: paths, and quoted commands."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

# The characters that a shell interprets within double quotes.
_EXPANDED = frozenset('"$`\\!')
# What would end a line of the terminal, as bash, zsh and today's POSIX write it between $' and '.
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = str.maketrans({**_ESCAPES, "\\": "\\\\", "'": "\\'"})


def typed(path: Path) -> str:
    """A path quoted for a shell, whatever its name; one that begins with a dash is not taken for an option."""
    text = str(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


def in_quotes(command: str) -> str:
    """A command line as one word of a shell, in one line, with as few quotes as possible."""
    if any(character in command for character in _ESCAPES):
        return f"$'{command.translate(_ESCAPED)}'"
    return _in_plain_quotes(command)


def _in_plain_quotes(command: str) -> str:
    if "'" not in command:
        return f"'{command}'"
    return f'"{command}"' if _EXPANDED.isdisjoint(command) else shlex.quote(command)


def command_line(words: Iterable[str]) -> str:
    """The command line that a shell splits into these words, quoting only those that need it."""
    return " ".join(word if _is_one_word(word) else in_quotes(word) for word in words)


def command_in_quotes(words: Iterable[str]) -> str:
    """The command of these words as one word of a shell; within it, only quotes that `shlex` reads as well."""
    return in_quotes(" ".join(word if _is_one_word(word) else _in_plain_quotes(word) for word in words))


def _is_one_word(word: str) -> bool:
    try:
        return shlex.split(word) == [word]
    except ValueError:
        return False
