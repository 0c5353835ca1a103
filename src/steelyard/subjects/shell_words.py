"""Find what only a shell would understand in a command line: no shell runs commands unless one is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Outside of quotes: pipes, redirections, separators of commands; then variables, substitutions, patterns, home folders.
_OPERATORS = re.compile(r"\|\|?|&&|&?>>?(?:&\d?)?|<<?|;+|^&$")
_EXPANDED = re.compile(r"\$[A-Za-z_{(]|`|\*|^~(?:$|/|\w)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
# Stands for every character that is quoted.
_QUOTED = "\0"


def shell_words(command: str) -> list[str]:
    r"""Return the unquoted operators, and words that a shell would expand, in a command line; each once.

    A quoted one (`awk '/a|b/'`, `grep "*"`, `\\;`) is meant for the program.
    """
    found: dict[str, None] = {}
    for word, unquoted in _words(command):
        found |= dict.fromkeys(operator[0] for operator in _OPERATORS.finditer(unquoted))
        if _EXPANDED.search(unquoted):
            found[word] = None
    return list(found)


def needs_shell(command: str) -> bool:
    """Return whether a command line contains something that only a shell would understand."""
    return sets_variable(command.lstrip()) or bool(shell_words(command))


def sets_variable(word: str) -> bool:
    """Return whether the first word of a command line is a shell's `NAME=value`."""
    return _ASSIGNMENT.match(word) is not None


def _words(command: str) -> Iterator[tuple[str, str]]:
    """Yield each word as written in the command line, and the same with quoted characters blotted out."""
    word = unquoted = quote = ""
    escaped = False
    for character in command:
        if not quote and not escaped and character.isspace():
            if word:
                yield word, unquoted
            word = unquoted = ""
            continue
        word += character
        if escaped or (quote and character != quote):
            unquoted += _QUOTED
            escaped = not escaped and character == "\\" and quote == '"'
        elif character == "\\":
            escaped = True
        elif quote:
            quote = ""
        elif character in "'\"":
            quote, unquoted = character, unquoted + _QUOTED
        else:
            unquoted += character
    if word:
        yield word, unquoted
