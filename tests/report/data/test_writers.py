"""Tables as text, as Parquet and as data frames: the same rows in each."""

from __future__ import annotations

import csv
import io
import json
import sys
from typing import Any

import numpy as np
import pytest

from steelyard.model.errors import UsageError
from steelyard.report.data import arrays, lines
from steelyard.report.data.table import (
    Table,
    booleans,
    concatenated,
    numbers,
    repeated_text,
    texts,
    unknown_numbers,
    whole_numbers,
)

TABLE = Table(
    {
        "name": texts(["=1+1", None, "a\x1b[31m\n,b"]),
        "none": repeated_text(None, 3),
        "count": whole_numbers([1, None, 2**62]),
        "no count": unknown_numbers(3),
        "value": numbers([-1.5, float("nan"), 1e-9]),
        "so": booleans([True, None, False]),
    }
)
ROWS = [
    ("=1+1", None, 1, None, -1.5, True),
    (None, None, None, None, None, None),
    ("a\x1b[31m\n,b", None, 2**62, None, 1e-9, False),
]


def test_rows_are_what_went_in() -> None:
    assert list(TABLE.rows()) == ROWS


def test_csv_runs_nothing_and_steers_nothing() -> None:
    text = b"".join(lines.csv(TABLE)).decode()
    assert "\x1b" not in text
    read = list(csv.reader(io.StringIO(text)))
    assert read[0] == list(TABLE.columns)
    assert read[1] == ["'=1+1", "", "1", "", "-1.5", "true"]
    assert read[2] == [""] * 6
    assert read[3][2:] == [str(2**62), "", "1e-09", "false"]


def test_json_lines_have_null_for_what_is_not_known() -> None:
    found = [json.loads(line, parse_constant=pytest.fail) for line in b"".join(lines.json_lines(TABLE)).splitlines()]
    assert [tuple(one.values()) for one in found] == ROWS
    assert list(found[0]) == list(TABLE.columns)


def test_many_rows_come_in_pieces() -> None:
    table = Table({"x": whole_numbers(np.arange(120_001))})
    assert len(list(lines.csv(table))) > 1
    assert b"".join(lines.csv(table)).count(b"\n") == 120_002
    assert [json.loads(line)["x"] for line in b"".join(lines.json_lines(table)).splitlines()] == list(range(120_001))


def test_parquet_has_the_same_rows() -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    found = parquet.read_table(io.BytesIO(arrays.parquet(TABLE)))
    assert found.column_names == list(TABLE.columns)
    assert [tuple(one.values()) for one in found.to_pylist()] == ROWS


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_have_the_same_rows(library: str) -> None:
    pytest.importorskip(library)
    frame = arrays.frame(TABLE, library)
    if library == "pandas":
        found = frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)
    else:
        found = frame.rows()
    assert list(found) == ROWS


def test_what_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(arrays, "import_module", without)
    # The pip of another Python would install it elsewhere, or refuse.
    monkeypatch.setattr(sys, "executable", "/my env/bin/python3")
    with pytest.raises(UsageError, match=r": '/my env/bin/python3' -m pip install 'steelyard\[parquet\]'"):
        arrays.parquet(TABLE)
    with pytest.raises(UsageError, match=r"need pandas or polars.*: '/my env/bin/python3' -m pip install pandas"):
        arrays.frame(TABLE)
    with pytest.raises(UsageError, match="choose from pandas, polars"):
        arrays.frame(TABLE, "dask")


def test_tables_are_joined_by_what_their_texts_say() -> None:
    one, other = Table({"x": texts(["a", "b", None])}), Table({"x": texts(["b", "c"])})
    assert concatenated([one, other]).columns["x"].cells() == ["a", "b", None, "b", "c"]
    some = concatenated([Table({"n": whole_numbers([1])}), Table({"n": unknown_numbers(1)})])
    assert some.columns["n"].cells() == [1, None]


def test_a_name_of_bytes_that_are_no_utf8_can_be_written_all_the_same() -> None:
    table = Table({"x": texts(["caf\udce9", "caf\\udce9", "café"])})
    assert table.columns["x"].names == ("caf\\udce9", "café")
    assert b"caf\\udce9" in b"".join(lines.csv(table))
