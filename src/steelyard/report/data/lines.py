"""A table as text: CSV, and JSON Lines, where each row is an object."""

from __future__ import annotations

import json
from collections.abc import Iterator

from steelyard.report.data.table import Table
from steelyard.report.table import csv_pieces

# Lines that are written at once.
_PIECE = 10_000


def csv(table: Table) -> Iterator[bytes]:
    """The table as CSV in UTF-8, its columns' names first, piece by piece."""
    return csv_pieces(list(table.columns), table.rows())


def json_lines(table: Table) -> Iterator[bytes]:
    """The table as JSON Lines in ASCII, piece by piece: what is not known is null."""
    names, lines = list(table.columns), list[str]()
    for row in table.rows():
        lines.append(json.dumps(dict(zip(names, row, strict=True)), allow_nan=False))
        if len(lines) == _PIECE:
            yield ("\n".join(lines) + "\n").encode()
            lines.clear()
    if lines:
        yield ("\n".join(lines) + "\n").encode()
