"""Read from a program's file how it is started, for which machine it is built, and what it executes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_MAGIC, HEADER_BYTES = b"\x7fELF", 64
_HEAD_BYTES = 1 << 16
_LOADED, _DYNAMIC, _INTERPRETER = 1, 2, 3
_EXECUTED = 1
_NEEDED, _STRING_TABLE, _LIBRARY_FOLDERS = 1, 5, (15, 29)
_MOST_SCRIPTS = 4
_LONGEST_LINE, _LONGEST_PATH = 256, 4096


@dataclass(frozen=True)
class Elf:
    """The head of a program or library (ELF specification, 32 and 64 bits)."""

    wide: bool
    """Whether it is a 64-bit file."""
    machine: int
    interpreter: str | None
    """The loader that starts it; None for a static program, and for a library."""


def read_elf(path: Path) -> Elf | None:
    """Return the ELF head of a file; None if it is no ELF file or cannot be read."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
            if not is_elf(head):
                return None
            loader = next((one for one in _segments(head) if one.kind == _INTERPRETER), None)
            # Outside the head where patchelf has written a new one: it appends that to the file.
            name = b"" if loader is None else os.pread(file.fileno(), min(loader.length, _LONGEST_PATH), loader.start)
    except (OSError, OverflowError):
        return None
    interpreter = None if loader is None else name.rstrip(b"\0").decode(errors="surrogateescape")
    return Elf(_is_wide(head), _number(head, 18, 2), interpreter)


def started_by(path: Path) -> Path | None:
    """Return the program that the kernel executes for a file: the file, or the interpreter in a script's first line.

    None if a file cannot be read, or if the interpreters form a circle.
    """
    for _ in range(_MOST_SCRIPTS):
        try:
            with path.open("rb") as file:
                line = file.read(_LONGEST_LINE).split(b"\n", 1)[0]
        except OSError:
            return None
        if not line.startswith(b"#!"):
            return path
        words = line[2:].split()
        if not words:
            return None
        path = Path(words[0].decode(errors="surrogateescape"))
    return None


def names_library_folders(data: bytes) -> bool:
    """Return whether a program, whose file is `data`, names folders for its libraries (DT_RPATH, DT_RUNPATH)."""
    return any(tag in _LIBRARY_FOLDERS for tag, _ in _dynamic_entries(data))


def needed_libraries(data: bytes) -> list[str]:
    """Return the names of the libraries that the program or library whose file is `data` asks for (DT_NEEDED)."""
    entries = [*_dynamic_entries(data)]
    address = next((value for tag, value in entries if tag == _STRING_TABLE), -1)
    loaded = (one for one in _segments(data) if one.kind == _LOADED) if entries else ()
    start = next((one.start + address - one.address for one in loaded if one.has(address)), None)
    if start is None:
        return []
    names = (data[start + value : start + value + _LONGEST_PATH] for tag, value in entries if tag == _NEEDED)
    return [name.split(b"\0", 1)[0].decode(errors="surrogateescape") for name in names]


def _dynamic_entries(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the tags and values of what a file tells the loader; nothing if it is no ELF file."""
    if not is_elf(data):
        return
    word = 8 if _is_wide(data) else 4
    for one in _segments(data):
        if one.kind == _DYNAMIC:
            # A broken file may state any length.
            for place in range(one.start, min(one.start + one.length, len(data)), 2 * word):
                yield _number(data, place, word), _number(data, place + word, word)


def code_of(data: bytes) -> bytes:
    """Return what a program or library, whose file is `data`, executes; nothing if it is no ELF file.

    Names, debug information and a linker's hash, which tell where it was built, are not part of that.
    """
    if not is_elf(data):
        return b""
    parts = (one for one in _segments(data) if one.kind == _LOADED and one.flags & _EXECUTED)
    return b"".join(data[one.start : one.start + one.length] for one in parts)


class _Segment(NamedTuple):
    kind: int
    flags: int
    start: int
    """Where it is in the file."""
    address: int
    """Where it is in memory."""
    length: int
    """How long it is in the file."""

    def has(self, address: int) -> bool:
        return self.address <= address < self.address + self.length


def is_elf(data: bytes) -> bool:
    """Return whether a file that begins so is an ELF file: a program or a library."""
    return data.startswith(_MAGIC) and len(data) >= HEADER_BYTES


def _is_wide(data: bytes) -> bool:
    return data[4] == 2


def _segments(data: bytes) -> Iterator[_Segment]:
    if _is_wide(data):
        table, size, count, flags, start, address, length, word = _number(data, 32, 8), 54, 56, 4, 8, 16, 32, 8
    else:
        table, size, count, flags, start, address, length, word = _number(data, 28, 4), 42, 44, 24, 4, 8, 16, 4
    step = _number(data, size, 2)
    for entry in range(table, table + step * _number(data, count, 2), step or 1):
        yield _Segment(
            _number(data, entry, 4),
            _number(data, entry + flags, 4),
            _number(data, entry + start, word),
            _number(data, entry + address, word),
            _number(data, entry + length, word),
        )


def _number(data: bytes, offset: int, size: int) -> int:
    return int.from_bytes(data[offset : offset + size], "little" if data[5] == 1 else "big")
