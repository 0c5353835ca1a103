"""Samples are the same whether packed or not, and in a file as digits or as bits."""

from __future__ import annotations

import json
from array import array
from base64 import b64decode, b64encode
from pathlib import Path
from struct import pack, unpack
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

from steelyard.model import samples
from steelyard.model.files import load_any, save, schema
from steelyard.model.numbers import LEAST_VALUE, MOST_VALUE
from steelyard.model.samples import samples_of
from tests.foreign import benchmark_of, foreign_results


def taken(told: Any) -> list[list[float]]:
    return [list(process) for process in benchmark_of(name="x", unit="s", values=told).values]


@pytest.mark.parametrize("told", [[[1, 2.5], [3.0]], [[True, "2"]], [array("d", [1.0])]], ids=str)
def test_samples_that_are_taken(told: Any) -> None:
    found = benchmark_of(name="x", unit="s", values=told).values
    assert [list(process) for process in found] == [[float(value) for value in process] for process in told]
    assert benchmark_of(name="x", unit="s", values=found).values == found


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf"), 10**400, None, "x", []], ids=repr)
def test_samples_that_are_refused(bad: Any) -> None:
    for told in ([[1.0], [1.0, bad]], [[bad, 1.0]]):
        assert samples_of(told) is None
        with pytest.raises(ValidationError):
            benchmark_of(name="x", unit="s", values=told)
    assert samples_of([]) is samples_of([[1.0], []]) is samples_of("12") is None


# --- in a file

MANY = [
    [1.0 + number / 7 for number in range(600)],
    [LEAST_VALUE, MOST_VALUE],
    [1e-9 * number for number in range(1, 401)],
]


def bits(*numbers: float) -> str:
    return b64encode(pack(f"<{len(numbers)}d", *numbers)).decode()


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_many_samples_come_back_to_the_last_bit(tmp_path: Path, name: str) -> None:
    record = foreign_results({"many": MANY, "few": [[1.0, 2.0], [3.0]]})
    save(record, tmp_path / name)
    assert load_any(tmp_path / name) == record


def test_whoever_reads_a_file_finds_the_numbers_by_what_the_schema_says(tmp_path: Path) -> None:
    save(foreign_results({"many": MANY, "few": [MANY[0], [3.0]]}), tmp_path / "a.json")
    told = json.loads((tmp_path / "a.json").read_bytes())
    jsonschema.validate(told, schema())
    many, few = (benchmark["values"] for benchmark in told["benchmarks"])
    assert few == [MANY[0], [3.0]]
    assert many["lengths"] == [600, 2, 400]
    assert unpack("<1002d", b64decode(many["float64"], validate=True)) == (*MANY[0], *MANY[1], *MANY[2])


def test_files_with_the_digits_of_many_samples_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = foreign_results({"many": MANY})
    monkeypatch.setattr(samples, "FEWEST_ENCODED", 10_000)
    save(record, tmp_path / "digits.json")
    assert b"float64" not in (tmp_path / "digits.json").read_bytes()
    assert load_any(tmp_path / "digits.json") == record


def test_few_samples_may_stand_by_their_bits_too() -> None:
    assert taken({"lengths": [2, 1], "float64": bits(1.0, 2.5, 3.0)}) == [[1.0, 2.5], [3.0]]


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({}, "nothing else"),
        ({"lengths": [1]}, "nothing else"),
        ({"lengths": [1], "float64": bits(1.0), "more": 1}, "nothing else"),
        ({"lengths": 1, "float64": bits(1.0)}, "nothing else"),
        ({"lengths": [1], "float64": [1.0]}, "nothing else"),
        ({"lengths": [], "float64": ""}, "integers above 0"),
        *(
            ({"lengths": [length, 1], "float64": bits(1.0)}, "integers above 0")
            for length in (0, -1, 1.0, True, "1", None)
        ),
        ({"lengths": [2], "float64": bits(1.0)}, "another number"),
        ({"lengths": [10**400], "float64": bits(1.0)}, "another number"),
        ({"lengths": [1], "float64": b64encode(b"seven..").decode()}, "another number"),
        ({"lengths": [1], "float64": "?" + bits(1.0)}, "base64"),
        ({"lengths": [1], "float64": bits(1.0)[:-1]}, "padding"),
        ({"lengths": [1], "float64": "größe"}, "ASCII"),
        *(
            ({"lengths": [2], "float64": bits(1.0, bad)}, "a number from")
            for bad in (0.0, -1.0, float("nan"), float("inf"))
        ),
    ],
)
def test_bits_that_are_no_samples_are_refused(told: Any, reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        taken(told)
