"""A table as text: CSV, or JSON Lines with an object per row."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice

import numpy as np

from steelyard.report.data.table import Column, Table
from steelyard.report.table import csv_cell, csv_pieces

# Lines written at once.
_ROWS_AT_ONCE = 10_000
_TRUTH_TEXTS = (csv_cell(False), csv_cell(True))


def csv(table: Table) -> Iterator[bytes]:
    """Return the table as CSV in UTF-8, column names first, in pieces."""
    written = Table({name: _as_cells(column) for name, column in table.columns.items()})
    return csv_pieces(list(table.columns), written.rows())


def _as_cells(column: Column) -> Column:
    """Return a column with its texts as CSV cells, made once for all rows that share one."""
    if column.names is not None:
        return Column(column.values, tuple(map(csv_cell, column.names)))
    if column.values.dtype.kind == "b":
        return Column(np.where(column.unknown(), -1, column.values.astype(np.int32)), _TRUTH_TEXTS)
    return column


def json_lines(table: Table) -> Iterator[bytes]:
    """Yield the table as JSON Lines in ASCII, in pieces; unknown values are null."""
    names, rows = list(table.columns), table.rows()
    while chunk := list(islice(rows, _ROWS_AT_ONCE)):
        lines = (json.dumps(dict(zip(names, row, strict=True)), allow_nan=False) for row in chunk)
        yield "".join(f"{line}\n" for line in lines).encode()
