"""The reader of large files gives what Python's own does, or nothing."""

from __future__ import annotations

import hashlib
import json
import os
from array import array
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.design.conversion import convert_files
from steelyard.model.errors import UsageError
from steelyard.model.original import originals
from steelyard.subjects.formats import packed, recognise
from steelyard.subjects.formats.packed import read_packed
from tests.model.test_json_text import TEXTS

FLOATS = [0.1 + number for number in range(16)]
LEFT_TO_PYTHON = {"half a surrogate pair", "nested", "nested deeper", "whole numbers", "infinities", "NaN"}


@pytest.fixture(autouse=True)
def always_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "_FEWEST_BYTES", 0)
    monkeypatch.setattr(packed, "_FIRST_BYTES", [bytes([one]) for one in range(256)])


def read(folder: Path, text: bytes) -> Any:
    file = folder / "x.json"
    file.write_bytes(text)
    found = read_packed(file)
    if found is None:
        return None
    assert found[1] == hashlib.sha256(text).hexdigest()
    return found[0]


def unpacked(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: unpacked(one) for name, one in value.items()}
    return list(map(unpacked, value)) if isinstance(value, list | array) else value


@pytest.mark.parametrize("name", TEXTS)
def test_it_tells_what_python_does_or_leaves_it_to_python(name: str, tmp_path: Path) -> None:
    text = TEXTS[name]
    try:
        expected = json.loads(text.decode())
    except (ValueError, RecursionError):
        expected = None
    found = read(tmp_path, text)
    assert found is None or repr(unpacked(found)) == repr(expected)
    if name in ("a float", "a name twice", "escapes"):
        assert found is not None
    if name in LEFT_TO_PYTHON:
        assert found is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.just(FLOATS),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
)


@settings(max_examples=30)
@given(JSON, st.sampled_from([None, 1]), st.booleans())
def test_any_json_is_told_alike(tmp_path_factory: pytest.TempPathFactory, value: Any, indent: Any, ascii: bool) -> None:  # noqa: A002
    text = json.dumps([value], indent=indent, ensure_ascii=ascii).encode(errors="surrogatepass")
    found = read(tmp_path_factory.getbasetemp(), text)
    assert found is None or repr(unpacked(found)) == repr(json.loads(text))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=16, max_size=40))
@settings(max_examples=30)
def test_packed_numbers_are_the_nearest_floats(tmp_path_factory: pytest.TempPathFactory, values: list[float]) -> None:
    found = read(tmp_path_factory.getbasetemp(), json.dumps(values).encode())
    assert found == array("d", values)


def test_only_long_lists_of_nothing_but_floats_are_packed(tmp_path: Path) -> None:
    lists: list[Any] = [FLOATS, FLOATS[1:], [*FLOATS, 1], [*FLOATS, None], [*FLOATS, [0.5]], list(range(20))]
    found = read(tmp_path, json.dumps(lists).encode())
    assert [type(one) for one in found] == [array, *[list] * 5]
    assert repr(unpacked(found)) == repr(lists)


@pytest.mark.parametrize("limit", ["MOST_VALUES", "MOST_LISTS", "MOST_TEXTS"])
def test_what_holds_too_much_is_left_to_python(limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = b'{"a": ["b"]}'  # three of each, except for two lists
    monkeypatch.setattr(packed, limit, 3)
    assert read(tmp_path, text) is not None
    monkeypatch.setattr(packed, limit, 1)
    assert read(tmp_path, text) is None


def test_whatever_is_no_file_of_json_is_left_to_python(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert [read_packed(one) for one in (pipe, tmp_path, tmp_path / "none", Path("/dev/zero"))] == [None] * 4


@pytest.mark.real
@pytest.mark.parametrize("reader", ["/nowhere/at/all", "/bin/true", "/bin/false", "/bin/cat"])
def test_a_reader_that_fails_is_none(reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "READER", reader)
    assert read(tmp_path, json.dumps(FLOATS).encode()) is None


def results(**changed: Any) -> dict[str, Any]:
    runs = [{"metadata": {"date": "2026"}, "values": FLOATS, "warmups": [[1, 0.5]]} for _ in range(3)]
    about = {"name": "work", "loops": 2, "perf_version": "2.6", "unit": "second", "cpu_count": 2}
    return {"benchmarks": [{"metadata": about, "runs": runs} | changed], "version": "1.0"}


def test_an_import_is_the_same_either_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "theirs.json"
    file.write_text(json.dumps(results(), separators=(",", ":")) + "\n")  # as pyperf writes it
    monkeypatch.setattr(recognise, "_open", None)  # it is not opened again
    quickly = convert_files([file], created="now")
    monkeypatch.undo()
    assert quickly == convert_files([file], created="now")


# Not as pyperf would write it: other spaces, digits and escapes, names twice, and all kinds of values.
HAND_MADE = r""" {"benchmarks": [
  {"metadata": {"name": "w\u00f6rk", "values": [1]},
   "runs": [
    {"m\u0065tadata": {"date": "2026", "d": 1, "x": 1e2, "x": [[], {}, {"values": [0.50]}, null]}, "values": FLOATS},
    {"metadata": {"loops": 8, "inn\u0065r_loops": 2, "unit": "second"}, "warmups": "w", "v\u0061lues": [1, 2.50]},
    {"metadata": null, "values": []}, {"values": [0.5], "values": [7, 8, 9], "runs": [{"values": [1]}]},
    {"values": null, "benchmarks": true}]}],
  "version": "1.0", "values": [1, 2], "runs": [{"values": [3]}]}
""".replace("FLOATS", json.dumps(FLOATS))


def test_what_is_kept_of_a_file_is_the_same_either_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "theirs.json"
    file.write_text(HAND_MADE)
    monkeypatch.setattr(recognise, "_open", None)
    quickly = convert_files([file], created="now")
    monkeypatch.undo()
    monkeypatch.setattr(recognise, "read_packed", lambda _: None)
    slowly = convert_files([file], created="now")
    assert replace(quickly, originals=[]) == replace(slowly, originals=[])
    (told,) = originals(quickly)
    assert repr(told) == repr(*originals(slowly))
    runs = told["benchmarks"][0]["runs"]
    assert [run["values"] for run in runs] == [16, 2, [], 3, None]
    assert told["benchmarks"][0]["metadata"]["values"] == [1]


def test_of_a_run_only_what_is_asked_for_is_told(tmp_path: Path) -> None:
    run = {"metadata": {"date": "2026", "uptime": 1.5}, "values": FLOATS, "warmups": [[1, 0.5]]}
    found = read(tmp_path, json.dumps({"benchmarks": [{"runs": [run]}], "runs": [run]}).encode())
    assert unpacked(found["benchmarks"]) == [{"runs": [{"metadata": {"date": "2026"}, "values": FLOATS}]}]
    assert unpacked(found["runs"]) == [run]


@pytest.mark.parametrize(
    "unread", ["NaN", "1.", "1e999", "{'a': 1}", '{"a" 1}', '"\\x"', '"\\ud800"', "[" * 200 + "]" * 200]
)
def test_what_is_only_kept_is_held_to_the_same(unread: str, tmp_path: Path) -> None:
    text = '{"benchmarks": [{"runs": [{"metadata": {"uptime": %s}, "warmups": %s, "values": [1]}]}]}'
    assert read(tmp_path, (text % (1, 1)).encode()) is not None
    assert read(tmp_path, (text % (unread, 1)).encode()) is None
    assert read(tmp_path, (text % (1, unread)).encode()) is None


@pytest.mark.parametrize("limit", ["MOST_VALUES", "MOST_LISTS", "MOST_TEXTS"])
def test_what_is_only_kept_counts(limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = b'{"benchmarks": [{"runs": [{"warmups": %s}]}]}'
    monkeypatch.setattr(packed, limit, 12)
    assert read(tmp_path, text % b'[{"a": "a"}]') is not None
    assert read(tmp_path, text % (b"[" + b", ".join([b'{"a": "a"}'] * 12) + b"]")) is None


@pytest.mark.parametrize("text", [json.dumps({"benchmarks": [{"runs": FLOATS}]}), '{"a": ' + str(FLOATS) + "}", "[1, "])
def test_what_is_wrong_is_said_alike(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "theirs.json"
    file.write_text(text)
    with pytest.raises(UsageError) as quickly:
        convert_files([file], created="now")
    monkeypatch.setattr(recognise, "read_packed", lambda _: None)
    with pytest.raises(UsageError) as slowly:
        convert_files([file], created="now")
    assert str(quickly.value) == str(slowly.value)
