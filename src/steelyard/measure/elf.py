"""What the head of a program's file says: how it is started, and on which machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_MAGIC, _HEADER_BYTES = b"\x7fELF", 64
_HEAD_BYTES = 1 << 16
_INTERPRETER = 3
_MOST_SCRIPTS = 4
_LONGEST_LINE = 256


@dataclass(frozen=True)
class Elf:
    """The head of a program or library (ELF specification, 32 and 64 bits)."""

    wide: bool
    """Whether it is of 64 bits."""
    machine: int
    interpreter: str | None
    """The loader that starts it; None for a static program, and for a library."""


def read_elf(path: Path) -> Elf | None:
    """The head of a file; None if it is none of these, or cannot be read."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return None
    return _parsed(head)


def started_by(path: Path) -> Path | None:
    """The program that the kernel executes for a file: itself, or the interpreter that a script's first line names.

    None if it cannot be read, or if interpreters go round in a circle.
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


def _parsed(head: bytes) -> Elf | None:
    if not head.startswith(_MAGIC) or len(head) < _HEADER_BYTES:
        return None
    order = "little" if head[5] == 1 else "big"

    def number(place: int, size: int) -> int:
        return int.from_bytes(head[place : place + size], order)  # type: ignore[arg-type]

    wide = head[4] == 2
    table, size, count = (
        (number(32, 8), number(54, 2), number(56, 2)) if wide else (number(28, 4), number(42, 2), number(44, 2))
    )
    interpreter = None
    for entry in range(table, table + size * count, size or 1):
        if number(entry, 4) == _INTERPRETER:
            start, length = (
                (number(entry + 8, 8), number(entry + 32, 8))
                if wide
                else (
                    number(entry + 4, 4),
                    number(entry + 16, 4),
                )
            )
            interpreter = head[start : start + length].rstrip(b"\0").decode(errors="surrogateescape")
    return Elf(wide, number(18, 2), interpreter)
