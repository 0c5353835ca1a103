"""ELF headers of programs, of both widths and byte orders."""

from __future__ import annotations

import struct

LOADED, DYNAMIC, NOTE, INTERPRETER = 1, 2, 4, 3
_NEEDED, _STRING_TABLE = 1, 5
# By width: the header of a file, and that of a segment.
_HEADS = {64: ("16s2HI3QI6H", "2I6Q"), 32: ("16s2HI3II6H", "8I")}


def made(
    *segments: tuple[int, bytes], bits: int = 64, order: str = "<", machine: int = 62, at: int = 0, rights: int = 3
) -> bytes:
    """Return a program with segments (kind, content), one after the other, or all `at` a place in the file."""
    head, one = (order + form for form in _HEADS[bits])
    begin, size = struct.calcsize(head), struct.calcsize(one)
    identity = b"\x7fELF" + bytes([bits // 32, 1 + (order == ">"), 1])
    data = struct.pack(head, identity, 2, machine, 1, 0, begin, 0, 0, begin, size, len(segments), 0, 0, 0)
    place, contents = begin + size * len(segments), b""
    for kind, content in segments:
        where, length = at or place + len(contents), len(content)
        wide, narrow = (rights, where, 0, 0, length, length, 1), (where, 0, 0, length, length, rights, 1)
        data += struct.pack(one, kind, *(wide if bits == 64 else narrow))
        contents += content
    return data + contents


def needing(*names: str, bits: int = 64, order: str = "<") -> bytes:
    """Return a program that asks for libraries; it is loaded at address 0, and their names lie behind its code."""
    code, strings, entries = b"code", b"\0", list[tuple[int, int]]()
    for name in names:
        entries.append((_NEEDED, len(strings)))
        strings += name.encode() + b"\0"
    form = f"{order}2{'Q' if bits == 64 else 'I'}"
    section = b"".join(struct.pack(form, *entry) for entry in (*entries, (_STRING_TABLE, len(code)), (0, 0)))
    return made((NOTE, b"note"), (LOADED, code + strings), (DYNAMIC, section), bits=bits, order=order)
