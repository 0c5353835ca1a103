"""A table of named columns, the input of all writers of rows: CSV, JSON Lines, Parquet, data frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

# Rows made at once for text output: Python's objects take many times the memory of a packed number.
_ROWS_AT_ONCE = 50_000


@dataclass(frozen=True)
class Column:
    """One column: numbers, bools, or texts, stored as indices into `names` with -1 for no text.

    An unknown float is NaN; for other numbers `missing` says which are unknown.
    """

    values: npt.NDArray[Any]
    names: tuple[str, ...] | None = None
    missing: npt.NDArray[np.bool_] | None = None

    def unknown(self) -> npt.NDArray[np.bool_]:
        """Return where the column has no value."""
        if self.names is not None:
            return np.asarray(self.values < 0)
        if self.missing is not None:
            return self.missing
        if self.values.dtype.kind == "f":
            return np.asarray(~np.isfinite(self.values))
        return np.zeros(len(self.values), dtype=np.bool_)

    def cells(self, start: int = 0, end: int | None = None) -> list[Any]:
        """Return the values as Python objects, None where there is no value."""
        part = self if (start, end) == (0, None) else self._part(slice(start, end))
        values = part.values if self.names is None else np.array([*self.names, None], dtype=object)[part.values]
        unknown = part.unknown()
        if self.names is None and unknown.any():
            values = values.astype(object)
            values[unknown] = None
        return list(values.tolist())

    def _part(self, rows: slice) -> Column:
        return Column(self.values[rows], self.names, None if self.missing is None else self.missing[rows])


@dataclass(frozen=True)
class Table:
    """Columns of one length, by name and in order."""

    columns: Mapping[str, Column]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())).values) if self.columns else 0

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows one by one."""
        for start in range(0, len(self), _ROWS_AT_ONCE):
            yield from zip(*(one.cells(start, start + _ROWS_AT_ONCE) for one in self.columns.values()), strict=True)


def texts(values: Sequence[str | None]) -> Column:
    """Return a column of texts."""
    names = dict[str, int]()
    codes = [-1 if value is None else names.setdefault(_encodable(value), len(names)) for value in values]
    return Column(np.array(codes, dtype=np.int32), tuple(names))


def repeated_text(value: str | None, length: int) -> Column:
    """Return a column with the same text in every row, or no text in any."""
    code = -1 if value is None else 0
    return Column(np.full(length, code, dtype=np.int32), () if value is None else (_encodable(value),))


def _encodable(text: str) -> str:
    """Return a text that UTF-8 can encode: stray bytes of a command are written as numbers."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def whole_numbers(values: Sequence[int | None] | npt.NDArray[Any]) -> Column:
    """Return a column of whole numbers."""
    return _exact_column(values, np.int64)


def booleans(values: Sequence[bool | None] | npt.NDArray[Any]) -> Column:
    """Return a column of bools."""
    return _exact_column(values, np.bool_)


def _exact_column(values: Sequence[int | None] | npt.NDArray[Any], kind: type[np.generic]) -> Column:
    if isinstance(values, np.ndarray):
        return Column(values.astype(kind))
    missing = np.array([value is None for value in values], dtype=np.bool_)
    return Column(np.array([value or 0 for value in values], dtype=kind), missing=missing)


def unknown_numbers(length: int) -> Column:
    """Return a column of whole numbers, all unknown."""
    return Column(np.zeros(length, dtype=np.int64), missing=np.ones(length, dtype=np.bool_))


def numbers(values: Sequence[float | None] | npt.NDArray[Any]) -> Column:
    """Return a column of floats; None and NaN are unknown."""
    return Column(np.asarray(values, dtype=np.float64))


def concatenated(tables: Sequence[Table]) -> Table:
    """Return several tables with the same columns as one, one after the other."""
    tables = [table for table in tables if len(table)] or list(tables[:1])
    if len(tables) == 1:
        return tables[0]
    return Table({name: _concatenated_columns([table.columns[name] for table in tables]) for name in tables[0].columns})


def _concatenated_columns(parts: Sequence[Column]) -> Column:
    missing = None
    if any(part.missing is not None for part in parts):
        missing = np.concatenate([part.unknown() for part in parts])
    if parts[0].names is None:
        return Column(np.concatenate([part.values for part in parts]), missing=missing)
    names = dict[str, int]()
    codes = []
    for part in parts:
        # The last place is the one that code -1 selects.
        new_codes = [names.setdefault(name, len(names)) for name in part.names or ()] + [-1]
        codes.append(np.array(new_codes, dtype=np.int32)[part.values])
    return Column(np.concatenate(codes), tuple(names))
