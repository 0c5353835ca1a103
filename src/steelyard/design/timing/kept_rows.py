"""The launches of a weighing in progress, in few bytes a launch."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from steelyard.model.counters import Counters
from steelyard.model.launches import Launches
from steelyard.model.rows import COLUMNS, IN_TANDEM, ROLES, USED, WARM_UP, LaunchRow, Sample

_BENCHMARK, _PAIR, _ORDER, _ROLE, _WALL = (
    COLUMNS.index(name) for name in ("benchmark", "pair", "order", "role", "wall_ns")
)
# No field has negative values.
_NO_VALUE = -1

Pair = tuple[LaunchRow, LaunchRow]
"""The rows of a pair, in the order in which they ran."""


class KeptRows:
    """Rows as typed columns, 8 bytes a number: a tuple of ints takes several times as much."""

    def __init__(self, rows: Iterable[LaunchRow] = ()) -> None:
        self._columns = [array("q") for _ in COLUMNS]
        self._samples: dict[int, tuple[Sample, ...]] = {}
        self._counters: dict[int, Counters] = {}
        self._positions_by_benchmark: defaultdict[int, array[int]] = defaultdict(lambda: array("q"))
        for row in rows:
            self.append(row)

    def __len__(self) -> int:
        return len(self._columns[0])

    def __iter__(self) -> Iterator[LaunchRow]:
        return self._rows(range(len(self)))

    def append(self, row: LaunchRow) -> None:
        """Keep one row."""
        self._positions_by_benchmark[row.benchmark].append(len(self))
        if row.samples:
            self._samples[len(self)] = row.samples
        if row.counters:
            self._counters[len(self)] = row.counters
        numbers: tuple[Any, ...] = row[: len(COLUMNS)]
        for column, value in zip(self._columns, numbers, strict=True):
            column.append(_NO_VALUE if value is None else value)

    def give_role(self, benchmark: int, pair: int, role: str) -> None:
        """Change the role of a pair's rows; the pair is among the newest of its benchmark."""
        for position in reversed(self._positions_by_benchmark[benchmark]):
            if self._columns[_PAIR][position] < pair:
                break
            if self._columns[_PAIR][position] == pair:
                self._columns[_ROLE][position] = ROLES.index(role)

    def use_warm_ups(self, benchmark: int) -> None:
        """Use the warm-up of a benchmark as its measurement."""
        for position in self._positions_by_benchmark[benchmark]:
            if self._columns[_ROLE][position] == ROLES.index(WARM_UP):
                self._columns[_ROLE][position] = ROLES.index(USED)

    def benchmarks_in(self, role: str) -> set[int]:
        """Return the benchmarks that have launches in a role."""
        number, roles = ROLES.index(role), zip(self._columns[_BENCHMARK], self._columns[_ROLE], strict=True)
        return {benchmark for benchmark, its_role in roles if its_role == number}

    def wall_s(self) -> float:
        """Return how long all launches took, in seconds; two at the same time took as long as one of them."""
        orders = zip(self._columns[_WALL], self._columns[_ORDER], strict=True)
        return sum(wall / 2 if order >= IN_TANDEM else wall for wall, order in orders) / 1e9

    def of(self, benchmark: int) -> Iterator[LaunchRow]:
        """The rows of one benchmark."""
        return self._rows(self._positions_by_benchmark[benchmark])

    def launches(self) -> Launches:
        """All rows, as columns."""
        return self._launches_at(range(len(self)))

    def launches_of(self, benchmark: int) -> Launches:
        """The rows of one benchmark, as columns."""
        return self._launches_at(self._positions_by_benchmark[benchmark])

    def _launches_at(self, positions: Sequence[int]) -> Launches:
        """The rows at some positions, as columns, without a row of its own for each: every look asks for these."""
        if not positions:
            return Launches()
        taken = itemgetter(*positions, 0)  # one more, as of one position it would return no tuple
        return Launches.of_columns(
            (_known(taken(column)[:-1]) for column in self._columns),
            [self._samples.get(position, ()) for position in positions],
            [self._counters.get(position, ()) for position in positions],
        )

    def _rows(self, positions: Iterable[int]) -> Iterator[LaunchRow]:
        for position in positions:
            numbers = (column[position] for column in self._columns)
            known = (None if number == _NO_VALUE else number for number in numbers)
            yield LaunchRow._make((*known, self._samples.get(position, ()), self._counters.get(position, ())))


def _known(numbers: Sequence[int]) -> Sequence[int | None]:
    """Return a column with None for what the machine could not tell."""
    return [None if number == _NO_VALUE else number for number in numbers] if _NO_VALUE in numbers else numbers
