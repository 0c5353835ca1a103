"""Escapes of unprintable text. Imports nothing, since error messages need it even when there is no memory for more."""

from __future__ import annotations

# After these, a shell expects the command to continue.
_CONTINUATIONS = (" do", " then", "{", "(", "|", "&&", ";")


def plain(text: str, encoding: str = "utf-8") -> str:
    r"""Make any user-given text safe to show on one line by escaping what does not print: `\x1b`, `\u202e`.

    `str.isprintable` is false for every control (C0, C1, DEL), format character (bidirectional overrides,
    zero-width ones), line separator, lone surrogate and private-use character: whatever could steer a
    terminal or hide. A surrogate escape is shown as the byte that it stands for. Characters that `encoding`
    lacks are escaped too.
    """
    shown = text
    if not text.isprintable():
        shown = "".join(character if character.isprintable() else _escaped(character) for character in text)
    return shown.encode(encoding, "backslashreplace").decode(encoding)


def one_line(command: str) -> str:
    """Return a command of several lines as one line."""
    lines = list(filter(None, map(str.strip, command.split("\n"))))
    separated = [f"{line} " if line.endswith(_CONTINUATIONS) else f"{line}; " for line in lines[:-1]]
    return "".join([*separated, *lines[-1:]])


def _escaped(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")
