"""What does not print, escaped. Imports nothing: errors are said by it, also where there is no room for more."""

from __future__ import annotations

# After these a shell expects more.
_GOES_ON = (" do", " then", "{", "(", "|", "&&", ";")


def plain(text: str, encoding: str = "utf-8") -> str:
    r"""Make anything user-given safe to show on one line; what does not print is escaped: `\x1b`, `\u202e`.

    `str.isprintable` is false for every control (C0, C1, DEL), for format characters (bidirectional
    overrides, zero-width ones), line separators, lone surrogates and private use: whatever could steer a
    terminal or hide. A surrogate escape is shown as the byte that it stands for. Characters that `encoding`
    lacks are escaped too.
    """
    shown = text
    if not text.isprintable():
        shown = "".join(character if character.isprintable() else _escaped(character) for character in text)
    return shown.encode(encoding, "backslashreplace").decode(encoding)


def one_line(command: str) -> str:
    """A command of several lines, on one."""
    lines = list(filter(None, map(str.strip, command.split("\n"))))
    parted = [f"{line} " if line.endswith(_GOES_ON) else f"{line}; " for line in lines[:-1]]
    return "".join([*parted, *lines[-1:]])


def _escaped(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")
