"""The header of a profile: the columns, the command, and the totals that the costs have to add up to."""

from __future__ import annotations

import re
from collections.abc import Callable

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
        self._setters: dict[str, Callable[[str], None]] = {
            "cmd": self._set_command,
            "creator": self._set_creator,
            "positions": self._set_positions,
            "events": self._set_events,
            "summary": self._set_summary,
            "totals": self._set_totals,
        }

    def read(self, line: str) -> bool:
        """Take in a line if it belongs to the header; return whether it does."""
        found = _HEADER.match(line)
        if found:
            setter = self._setters.get(found[1])
            if setter:
                setter(line[found.end() :].strip())
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

    def _set_command(self, text: str) -> None:
        self.command = text
        self.open = True

    def _set_creator(self, text: str) -> None:
        self.call_graph = text.startswith("callgrind")

    def _set_positions(self, text: str) -> None:
        kinds = text.split()
        self.positions = len(kinds)
        self.line_position = kinds.index("line") if "line" in kinds else -1

    def _set_events(self, text: str) -> None:
        events = text.split()
        if INSTRUCTIONS not in events or (self.events and events != self.events):
            raise ValueError(text)
        self.events = events
        self.open = self.ended = False
        self._close_part()

    def _set_summary(self, text: str) -> None:
        counts = [int(count) for count in text.split()]
        if not self.events or len(counts) > len(self.events):
            raise ValueError(text)
        self._announced = counts + [0] * (len(self.events) - len(counts))
        self.ended = not self.call_graph

    def _set_totals(self, text: str) -> None:
        # Callgrind's own total of what it wrote replaces what the part's header announced.
        self._set_summary(text)
        self.ended = True

    def _close_part(self) -> None:
        if self._announced is not None:
            self._sums.append(self._announced)
        self._announced = None
