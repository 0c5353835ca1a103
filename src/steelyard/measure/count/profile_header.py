"""The header of a profile: the columns, the command, and the totals that the costs have to add up to."""

from __future__ import annotations

import re

from steelyard.model.counting import INSTRUCTIONS

_HEADER = re.compile(r"([A-Za-z][\w-]*):(?:\s|$)")


class Header:
    """What the header lines of one file have said so far."""

    def __init__(self) -> None:
        self.command: str | None = None
        self.call_graph = False
        self.events: list[str] = []
        self.positions, self.line_position = 1, 0
        self.open = True
        # Whether the costs of the last part are complete: Cachegrind's summary comes after them, Callgrind's before.
        self.ended = False
        self._sums: list[list[int]] = []
        self._announced: list[int] | None = None

    def read(self, line: str) -> bool:
        """Take in a line if it belongs to the header; return whether it does."""
        found = _HEADER.match(line)
        if found:
            self._take(found[1], line[found.end() :].strip())
            return True
        if self.open and self.command is not None:
            # An argument of the command may contain line breaks (python -c), which Valgrind writes unescaped.
            self.command += f"\n{line}"
            return True
        return False

    def declared(self) -> list[int] | None:
        """Return the file's own totals over the costs of all its parts; None if it states none."""
        sums = self._sums if self._announced is None else [*self._sums, self._announced]
        return [sum(column) for column in zip(*sums, strict=True)] if sums else None

    def _take(self, name: str, text: str) -> None:
        words = text.split()
        match name:
            case "cmd":
                self.command, self.open = text, True
            case "creator":
                self.call_graph = text.startswith("callgrind")
            case "positions":
                self.positions = len(words)
                self.line_position = words.index("line") if "line" in words else -1
            case "events":
                if INSTRUCTIONS not in words or (self.events and words != self.events):
                    raise ValueError(text)
                self.events, self.open, self.ended = words, False, False
                self._sums += [] if self._announced is None else [self._announced]
                self._announced = None
            case "summary" | "totals":
                counts = [int(word) for word in words]
                if not self.events or len(counts) > len(self.events):
                    raise ValueError(text)
                # Callgrind's own total of what it wrote replaces what the part's header announced.
                self._announced = counts + [0] * (len(self.events) - len(counts))
                self.ended = name == "totals" or not self.call_graph
