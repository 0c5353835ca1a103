"""The profiles that Cachegrind and Callgrind write: which function of the target did how much.

Cachegrind's format is a subset of Callgrind's (https://valgrind.org/docs/manual/cl-format.html), so one reader takes
both. It goes by the header, never by fixed columns: `events:` names the columns, `positions:` says what precedes them,
and unknown header lines are skipped. It reads line by line and keeps only a count per source line of each function,
however large the file is.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from steelyard.measure.count.profile_header import Header
from steelyard.model.counting import INSTRUCTIONS
from steelyard.model.errors import MeasurementError

UNKNOWN: Final = "???"

_KEY = re.compile(r"[a-z]\w*")
_COMPRESSED = re.compile(r"\((\d+)\)(?: (.+))?")
# Callgrind counts the first activation of a function on the stack as `f`, the deeper ones as `f'2`.
_DEEPER_ACTIVATION = re.compile(r"'\d+$")
# Enough for both sides of several benchmarks, counted on several processors at once.
_MOST_REMEMBERED = 64
_COST_BEGINS = frozenset("0123456789+-*")


@dataclass
class FunctionCost:
    """One function of one object: its own events, summed over the files that inlining spread its code over.

    `file` is the file with the most instructions and `line` the line in it with the most, 0 if unknown. `object` is
    empty where the tool does not name it. `inclusive` counts instructions including all callees (Callgrind only).
    """

    name: str
    file: str
    object: str
    line: int
    events: dict[str, int]
    inclusive: int | None


@dataclass(frozen=True)
class Profile:
    """One process: its totals by event, and its functions, those with the most instructions first."""

    command: str
    events: dict[str, int]
    functions: list[FunctionCost]


def read_profile(path: Path) -> Profile:
    """Read a file of Cachegrind or Callgrind, Valgrind 3.15 to 3.27, in bounded memory.

    Raises MeasurementError if it cannot be read, is not a profile, was cut short, or if its functions do not add up to
    its summary.
    """
    reader = _Reader(path)
    try:
        # Records are UTF-8: bytes of a path that are not UTF-8 have to become something that a record can hold.
        with path.open(encoding="utf-8", errors="backslashreplace", newline="\n") as lines:
            reader.read(lines)
    except OSError as error:
        raise MeasurementError(
            f"cannot read the profile {path}: {error.strerror or error}; count again, with a directory that the "
            "target may write to"
        ) from None
    return reader.profile()


class Profiles:
    """Reads profiles, and each content only once: repeated counts write equal files."""

    def __init__(self) -> None:
        self._known: dict[str, Profile] = {}

    def read(self, path: Path) -> Profile:
        """Read a file as `read_profile` does; the result may be shared and must not be changed."""
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return read_profile(path)  # which raises the proper error
        profile = self._known.get(digest)
        if profile is None:
            profile = read_profile(path)
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            self._known[digest] = profile
        return profile


class _Tally:
    """One function while reading: own costs by column, own instructions by file and line, instructions of its calls."""

    __slots__ = ("called", "costs", "lines")

    def __init__(self, columns: int) -> None:
        self.costs = [0] * columns
        self.lines: dict[str, dict[int, int]] = {}
        self.called = 0


class _Reader:
    """Reads one file from top to bottom; its state (function, file, line, ...) is that at the line being read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._header = Header()
        self._tallies: dict[tuple[str, str], _Tally] = {}
        self._names: dict[tuple[str, str], str] = {}
        self._function: str | None = None
        self._object, self._file, self._line = "", UNKNOWN, 0
        self._callee: tuple[str, str | None] = ("", None)
        self._calling = False
        self._instructions = 0
        self._tally = _Tally(0)
        self._lines: dict[int, int] | None = None

    def read(self, lines: Iterable[str]) -> None:
        """Read all lines."""
        number = 0
        header = self._header
        try:
            for number, line in enumerate(lines, 1):  # noqa: B007 - the error names it
                if line[0] in _COST_BEGINS and not header.open:
                    self._cost(line)
                else:
                    self._other(line.rstrip("\n"))
        except (ValueError, IndexError):
            raise MeasurementError(self._not_understood(number)) from None

    def _other(self, line: str) -> None:
        key, equals, rest = line.partition("=")
        if equals and not self._header.open and _KEY.fullmatch(key):
            self._take(key, rest)
        elif line and line[0] != "#" and not self._header.read(line):
            raise ValueError(line)

    # --- where costs belong

    def _name(self, kind: str, text: str) -> str:
        """Resolve `(12) name`, which defines a number for a name, or `(12)`, which refers to it."""
        compressed = _COMPRESSED.fullmatch(text)
        if not compressed:
            return text
        number, name = compressed.groups()
        if name is not None:
            self._names[kind, number] = name
        elif (kind, number) not in self._names:
            raise ValueError(text)
        return self._names[kind, number]

    def _object_name(self, text: str) -> str:
        name = self._name("object", text)
        return "" if name == UNKNOWN else name

    def _take(self, key: str, text: str) -> None:
        match key:
            case "fn":
                self._function, self._lines = self._name("function", text), None
                self._header.ended = False
            case "cfn":
                self._callee = (self._name("function", text), self._callee[1])
            case "calls":
                # The position behind it is the callee's; the next line has the caller's, and the cost of the calls.
                self._calling = True
            case "fl" | "fi" | "fe":
                self._file, self._lines = self._name("file", text), None
            # Ignored, but they may be the first to spell out a name that later lines refer to by number.
            case "cfi" | "cfl" | "jfi":
                self._name("file", text)
            case "jfn" | "frfn":
                self._name("function", text)
            case "ob":
                self._object, self._lines = self._object_name(text), None
            case "cob":
                self._callee = (self._callee[0], self._object_name(text))

    def _enter(self) -> dict[int, int]:
        """Switch to the tally of the current function; return its counts by line for the current file."""
        if self._function is None:
            raise ValueError("costs of no function")
        key = (self._function, self._object)
        tally = self._tallies.get(key)
        if tally is None:
            tally = self._tallies[key] = _Tally(len(self._header.events))
            self._instructions = self._header.events.index(INSTRUCTIONS)
        self._tally = tally
        self._lines = tally.lines.setdefault(self._file, {})
        return self._lines

    # --- costs

    def _cost(self, line: str) -> None:
        header = self._header
        fields = line.split()
        if header.line_position >= 0:
            position = fields[header.line_position]
            if position[0] in "+-":
                self._line += int(position)
            elif position != "*":
                self._line = int(position)
        counts = fields[header.positions :]
        lines = self._lines
        if lines is None:
            lines = self._enter()
        own = self._called(counts) if self._calling else self._add(counts)
        if own:
            lines[self._line] = lines.get(self._line, 0) + own

    def _add(self, counts: list[str]) -> int:
        """Add a line of own costs, which leaves out trailing zeros; return its instructions."""
        costs = self._tally.costs
        if len(counts) == 1 and self._instructions == 0:  # nearly every line, without a cache simulation
            own = int(counts[0])
            costs[0] += own
            return own
        for column, count in enumerate(counts):
            costs[column] += int(count)
        column_of_instructions = self._instructions
        return int(counts[column_of_instructions]) if column_of_instructions < len(counts) else 0

    def _called(self, counts: list[str]) -> int:
        """Add the cost of calls to the caller, unless it called itself; return 0, as none of it is the caller's own."""
        name, callee_object = self._callee
        called = (name, self._object if callee_object is None else callee_object)
        if called != (self._function, self._object) and self._instructions < len(counts):
            self._tally.called += int(counts[self._instructions])
        self._calling = False
        self._callee = ("", None)
        return 0

    # --- the result

    def profile(self) -> Profile:
        """Return what was read, after checking that it is complete."""
        header = self._header
        totals = self._checked_totals()
        grouped: dict[tuple[str, str], list[tuple[str, _Tally]]] = defaultdict(list)
        for (name, of_object), tally in self._tallies.items():
            grouped[_DEEPER_ACTIVATION.sub("", name) or name, of_object].append((name, tally))
        functions = [self._merged(name, of_object, parts) for (name, of_object), parts in grouped.items()]
        if header.call_graph:
            for function in functions:
                # It can exceed the total where two functions of one name call each other, or a jump left the stack.
                function.inclusive = min(function.inclusive or 0, totals[INSTRUCTIONS])
        functions.sort(key=lambda part: (-part.events[INSTRUCTIONS], part.name, part.object))
        return Profile((header.command or "").strip(), totals, functions)

    def _merged(self, name: str, of_object: str, parts: list[tuple[str, _Tally]]) -> FunctionCost:
        """Merge the activations of one function; the first one's calls already include what deeper ones did."""
        costs = [sum(column) for column in zip(*(tally.costs for _, tally in parts), strict=True)]
        lines: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        for _, tally in parts:
            for file, own in tally.lines.items():
                for line, count in own.items():
                    lines[file][line] += count
        file = min(lines, key=lambda each: (-sum(lines[each].values()), each), default=UNKNOWN)
        line = min(lines[file], key=lambda each: (-lines[file][each], each), default=0)
        inclusive = None
        if self._header.call_graph:
            first = sum(tally.costs[self._instructions] + tally.called for each, tally in parts if each == name)
            inclusive = max(first, costs[self._instructions])
        return FunctionCost(name, file, of_object, line, dict(zip(self._header.events, costs, strict=True)), inclusive)

    def _checked_totals(self) -> dict[str, int]:
        header = self._header
        if not header.events:
            raise MeasurementError(
                f"{self._path} is no profile of Cachegrind or Callgrind, or was cut short in its first lines; "
                "count again, and see that the disk is not full"
            )
        columns = zip(*(tally.costs for tally in self._tallies.values()), strict=True)
        totals = [sum(column) for column in columns] or [0] * len(header.events)
        declared = header.declared()
        if declared is None or not header.ended:
            raise MeasurementError(
                f"the profile {self._path} was cut short: it ends before its summary; count again, and see that the "
                "disk is not full and that nothing kills the target"
            )
        for event, count, declared_count in zip(header.events, totals, declared, strict=True):
            if count != declared_count:
                raise MeasurementError(
                    f"the profile {self._path} is damaged: its functions have {count:,} {event} and its summary says "
                    f"{declared_count:,}; count again"
                )
        return dict(zip(header.events, declared, strict=True))

    def _not_understood(self, number: int) -> str:
        return (
            f"line {number:,} of {self._path} is not what Cachegrind or Callgrind write; count again, and see that "
            "nothing else writes to that file"
        )
