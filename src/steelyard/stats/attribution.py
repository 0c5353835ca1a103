"""Which functions a change of the total comes from: two lists of functions in, a table that adds up out.

Each side is first summed by name and object, where the name loses what a build adds to it (`normalised`). The functions
of both sides are then matched: by name and object, then by name alone; last, those left over in one file with nearly
the same count are taken as renamed. Every function ends up in exactly one row, so the changes of all rows add up to the
change of the total, whatever was matched with what.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

NO_SYMBOL: Final = "(no symbol)"
_UNKNOWN: Final = "???"

# A renamed function may do a little more or less: 1 part in 50 of the larger count, a bound that is the same from both
# sides.
_TOLERANCE_PARTS = 50

_ADDRESS = re.compile(r"(?:\*ABS\*\+)?0x[0-9a-fA-F]+")
_ABI_TAG = re.compile(r"\[abi:\w+\]")
_BUILD_SUFFIXES = re.compile(
    r"(?:"
    r" \[clone [^\]]*\]"  # what the demangler makes of the next two
    r"|\.(?:constprop|isra|part|lto_priv|llvm)\.[0-9a-fA-F]+"
    r"|\.cold(?:\.\d+)?"
    r"|::h[0-9a-f]{16}"  # Rust's legacy mangling
    r"|'\d+"  # Callgrind's deeper activations of a recursive function
    r"|@plt(?:\.\w+)?"
    r"|@{1,2}[A-Za-z]\w*_\w[\w.]*"  # symbol versions: @GLIBC_2.2.5, @@GLIBCXX_3.4
    r")+$"
)

Status = Literal["changed", "new", "vanished", "renamed"]


class Function(NamedTuple):
    """One function of one side, as a tool counted it; `object` is empty and `line` 0 where that is unknown."""

    name: str
    file: str
    object: str
    line: int
    own: int
    inclusive: int | None = None


@dataclass(frozen=True)
class Row:
    """One function whose own count changed. `file`, `line` and `object` are the candidate's if it has the function.

    `old_name` is the baseline's name of a renamed function; `inclusive_change` is None where it is not known.
    """

    name: str
    file: str
    line: int
    object: str
    change: int
    inclusive_change: int | None
    status: Status
    old_name: str | None = None


@dataclass(frozen=True)
class Rest:
    """The rows that are not shown: how many, and the sum of their changes."""

    functions: int
    change: int


def normalised(name: str) -> str:
    """The name without what differs from build to build: hashes, clone suffixes, symbol versions, addresses.

    Bare addresses and names that a tool calls unknown become one name; otherwise, demangled names stay whole.
    """
    bare = _ABI_TAG.sub("", name)
    bare = _BUILD_SUFFIXES.sub("", bare) or bare
    return NO_SYMBOL if bare == _UNKNOWN or _ADDRESS.fullmatch(bare) else bare


def attribute(baseline: Iterable[Function], candidate: Iterable[Function]) -> list[Row]:
    """Attribute the change of the total to functions, the largest change first.

    Rows without a change are left out; the changes of all others add up to the change of the sums of `own`.
    """
    matching = _Matching(_summed(baseline), _summed(candidate))
    matching.by_name_and_object()
    matching.by_name()
    matching.by_file_and_count()
    rows = [_matched_row(old, new) for old, new in matching.matched]
    rows += [_row_of(old, -1, "vanished") for old in matching.old.values()]
    rows += [_row_of(new, 1, "new") for new in matching.new.values()]
    changed = [row for row in rows if row.change]
    return sorted(changed, key=lambda row: (-abs(row.change), row.name, row.object, row.old_name or ""))


def first_rows(rows: Sequence[Row], most: int) -> tuple[list[Row], Rest]:
    """Split rows into the first `most` and the sum of the others, so that what is printed still adds up."""
    most = max(0, most)
    left_out = rows[most:]
    return list(rows[:most]), Rest(len(left_out), sum(row.change for row in left_out))


# --- one side


def summed(functions: Iterable[Function]) -> list[Function]:
    """The functions of one side as `attribute` matches them: one for each normalised name and object."""
    return list(_summed(functions).values())


_Key = tuple[str, str]


def _summed(functions: Iterable[Function]) -> dict[_Key, Function]:
    """Sum one side by normalised name and base name of the object; each sum has the largest part's file and line."""
    parts: dict[_Key, list[Function]] = defaultdict(list)
    for function in functions:
        name = normalised(function.name)
        parts[name, _base_name(function.object)].append(function._replace(name=name))
    return {key: _sum(same) for key, same in parts.items()}


def _sum(parts: list[Function]) -> Function:
    if len(parts) == 1:
        return parts[0]
    largest = max(parts, key=lambda function: function.own)
    # Parts of one function may or may not call each other, so their inclusive counts cannot be added.
    return largest._replace(own=sum(function.own for function in parts), inclusive=None)


def _base_name(path: str) -> str:
    return "" if path == _UNKNOWN else path.rpartition("/")[2]


# --- both sides


class _Matching:
    """The functions of both sides that are still unmatched, and the pairs found so far."""

    def __init__(self, old: dict[_Key, Function], new: dict[_Key, Function]) -> None:
        self.old, self.new = old, new
        self.matched: list[tuple[Function, Function]] = []

    def by_name_and_object(self) -> None:
        """Match functions of the same name in the same object."""
        for key in [key for key in self.old if key in self.new]:
            self._match(key, key)

    def by_name(self) -> None:
        """Match by name alone if an object is unknown, or if only one function of that name is left on each side.

        The latter happens in the program itself, `./old` against `./new`, or when code moved to another library.
        """
        olds, news = _by_name(self.old), _by_name(self.new)
        for name in olds.keys() & news.keys():
            old, new, unknown = olds[name], news[name], (name, "")
            if unknown in old:
                self._match(unknown, new[0])
            elif unknown in new:
                self._match(old[0], unknown)
            elif len(old) == len(new) == 1:
                self._match(old[0], new[0])

    def by_file_and_count(self) -> None:
        """Match the rest as renamed: same file name and nearly the same count, with no other candidate."""
        olds, news = _by_file(self.old), _by_file(self.new)
        renamed = [pair for file in olds.keys() & news.keys() for pair in _unambiguous_pairs(olds[file], news[file])]
        for old, new in renamed:
            self._match(old, new)

    def _match(self, old: _Key, new: _Key) -> None:
        self.matched.append((self.old.pop(old), self.new.pop(new)))


def _by_name(functions: dict[_Key, Function]) -> dict[str, list[_Key]]:
    """Keys by name, the largest function first."""
    groups: dict[str, list[_Key]] = defaultdict(list)
    for key in sorted(functions, key=lambda key: (-functions[key].own, key)):
        groups[key[0]].append(key)
    return groups


def _by_file(functions: dict[_Key, Function]) -> dict[str, list[tuple[int, _Key]]]:
    """Own counts and keys by the base name of the file, where it is known; the smallest count first."""
    groups: dict[str, list[tuple[int, _Key]]] = defaultdict(list)
    for key, function in functions.items():
        file = _base_name(function.file)
        if file and function.own > 0:
            groups[file].append((function.own, key))
    for group in groups.values():
        group.sort()
    return groups


def _unambiguous_pairs(old: list[tuple[int, _Key]], new: list[tuple[int, _Key]]) -> list[tuple[_Key, _Key]]:
    """The pairs in which each count is near the other's, and near no one else's."""
    pairs = []
    for own, key in old:
        similar = _similar_counts(own, new)
        if len(similar) == 1 and len(_similar_counts(similar[0][0], old)) == 1:
            pairs.append((key, similar[0][1]))
    return pairs


def _similar_counts(own: int, others: list[tuple[int, _Key]]) -> list[tuple[int, _Key]]:
    """Those of `others` within 2 % of the larger of both counts: at most two, as two are already one too many."""
    lowest = -(-own * (_TOLERANCE_PARTS - 1) // _TOLERANCE_PARTS)
    highest = own * _TOLERANCE_PARTS // (_TOLERANCE_PARTS - 1)
    first = bisect_left(others, lowest, key=lambda other: other[0])
    return [other for other in others[first : first + 2] if other[0] <= highest]


def _matched_row(old: Function, new: Function) -> Row:
    known = old.inclusive is not None and new.inclusive is not None
    return Row(
        name=new.name,
        file=new.file,
        line=new.line,
        object=new.object,
        change=new.own - old.own,
        inclusive_change=(new.inclusive or 0) - (old.inclusive or 0) if known else None,
        status="changed" if old.name == new.name else "renamed",
        old_name=None if old.name == new.name else old.name,
    )


def _row_of(one: Function, sign: int, status: Status) -> Row:
    inclusive = None if one.inclusive is None else sign * one.inclusive
    return Row(one.name, one.file, one.line, one.object, sign * one.own, inclusive, status)
