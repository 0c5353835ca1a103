from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from pydantic import ValidationError

from steelyard.model.errors import NotMeasuredError, UsageError
from steelyard.model.files import load, load_any, save, schema
from steelyard.model.foreign import ForeignResults
from steelyard.model.structs import validated
from tests.foreign import benchmark_of, fields_in_file, foreign_results, processes

RECORD = foreign_results({"x": processes(2), "größe <日本>": [[1e-100], [1e100]]}, machine={"host": "h"})


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_an_import_comes_back_as_it_was(tmp_path: Path, name: str) -> None:
    save(RECORD, tmp_path / name)
    assert load_any(tmp_path / name) == RECORD


def test_laid_out_over_lines_too(tmp_path: Path) -> None:
    save(RECORD, tmp_path / "a.json")
    told = json.loads((tmp_path / "a.json").read_bytes())
    jsonschema.validate(told, schema())
    (tmp_path / "a.json").write_text(json.dumps(told, indent=2))
    assert load_any(tmp_path / "a.json") == RECORD


def test_where_a_measured_record_is_wanted_it_is_refused(tmp_path: Path) -> None:
    save(RECORD, tmp_path / "a.json")
    with pytest.raises(NotMeasuredError, match="not measured by steelyard") as caught:
        load(tmp_path / "a.json")
    assert caught.value.record == RECORD


def test_cut_prefixes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    save(RECORD, path)
    whole = path.read_bytes()
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        with pytest.raises(UsageError):
            load_any(path)


@pytest.mark.parametrize("values", [[], [[]], [[0.0]], [[-1.0]], [[float("nan")]], [[float("inf")]]])
def test_values_are_numbers_above_0(values: list[list[float]]) -> None:
    with pytest.raises(ValidationError):
        benchmark_of(name="x", unit="s", values=values)


def test_nothing_is_no_import() -> None:
    with pytest.raises(ValidationError):
        validated(ForeignResults, {**fields_in_file(RECORD), "benchmarks": []})
