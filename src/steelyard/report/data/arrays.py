"""A table for other libraries: Parquet by pyarrow, data frames by pandas or polars. None of these is required."""

from __future__ import annotations

import io
import shlex
import sys
from importlib import import_module
from typing import Any

from steelyard.model.errors import UsageError
from steelyard.report.data.table import Column, Table

# Every reader of Parquet supports snappy; zstd takes half as long again to save a tenth.
_COMPRESSION = "snappy"


def parquet(table: Table) -> bytes:
    """Return the table as a Parquet file; raise UsageError if pyarrow is not installed.

    Texts are dictionary-encoded, whole numbers and floats have 64 bits, and unknown values are null.
    """
    try:
        arrow, writer = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        message = f"Parquet is written by pyarrow, which is not installed: {_pip()} install 'steelyard[parquet]'"
        raise UsageError(message) from error
    out = io.BytesIO()
    written = {name: _in_arrow(arrow, column) for name, column in table.columns.items()}
    # Measured values hardly ever repeat, and looking for repetitions takes as long as writing the file.
    repeating = [name for name, column in table.columns.items() if column.values.dtype.kind != "f"]
    writer.write_table(arrow.table(written), out, compression=_COMPRESSION, use_dictionary=repeating)
    return out.getvalue()


def _in_arrow(arrow: Any, column: Column) -> Any:
    unknown = column.unknown()
    mask = unknown if unknown.any() else None
    if column.names is None:
        array = arrow.array(column.values[:0])
        return arrow.nulls(len(unknown), array.type) if unknown.all() else arrow.array(column.values, mask=mask)
    if unknown.all():
        return arrow.nulls(len(unknown), arrow.dictionary(arrow.int32(), arrow.string()))
    names = arrow.array(list(column.names), type=arrow.string())
    return arrow.DictionaryArray.from_arrays(arrow.array(column.values, mask=mask), names)


def frame(table: Table, library: str | None = None) -> Any:
    """Return the table as a data frame of `library`, or by default of pandas if it is installed, else of polars.

    Raises UsageError if neither is.
    """
    libraries = [library] if library is not None else ["pandas", "polars"]
    if not set(libraries) <= {"pandas", "polars"}:
        raise UsageError(f"there are no data frames of {library!r}: choose from pandas, polars")
    for name in libraries:
        try:
            module = import_module(name)
        except ImportError:
            continue
        return _in_pandas(module, table) if name == "pandas" else _in_polars(module, table)
    raise UsageError(
        f"data frames need {' or '.join(libraries)}, which is not installed: {_pip()} install {libraries[0]}"
    )


def _pip() -> str:
    """Return the command of this Python's pip; without its virtual environment activated, `pip` is another one's."""
    return f"{shlex.quote(sys.executable)} -m pip"


def _in_pandas(pandas: Any, table: Table) -> Any:
    columns: dict[str, Any] = {}
    for name, column in table.columns.items():
        if column.names is not None:
            columns[name] = pandas.Categorical.from_codes(column.values, list(column.names))
        elif column.missing is not None and column.missing.any():
            kind = {"b": "boolean", "i": "Int64"}[column.values.dtype.kind]
            columns[name] = pandas.Series(column.values, dtype=kind).mask(column.missing)
        else:
            columns[name] = column.values
    return pandas.DataFrame(columns)


def _in_polars(polars: Any, table: Table) -> Any:
    return polars.DataFrame([_polars_series(polars, name, column) for name, column in table.columns.items()])


def _polars_series(polars: Any, name: str, column: Column) -> Any:
    kinds = {"i": polars.Int64, "b": polars.Boolean, "f": polars.Float64}
    if column.names is not None:
        texts = polars.Series(name, list(column.names), dtype=polars.String)
        codes = polars.Series(name, column.values.clip(0), dtype=polars.UInt32)
        known = polars.Series(name, column.values >= 0)
        texts_of_rows = (
            texts.gather(codes) if len(texts) else polars.Series(name, [None] * len(codes), dtype=polars.String)
        )
        return texts_of_rows.zip_with(
            known, polars.Series(name, [None], dtype=polars.String).new_from_index(0, len(codes))
        )
    series = polars.Series(name, column.values, dtype=kinds[column.values.dtype.kind])
    unknown = column.unknown()
    if not unknown.any():
        return series
    nulls = polars.Series(name, [None], dtype=series.dtype).new_from_index(0, len(series))
    return series.zip_with(polars.Series(name, ~unknown), nulls)
