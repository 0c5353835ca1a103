from __future__ import annotations

import json
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from steelyard.model.files import save, schema
from steelyard.model.records import Run, Weighing
from tests.model.samples import run, weighing

SHIPPED = json.loads((resources.files("steelyard.model") / "record.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SHIPPED)


def test_the_shipped_schema_is_that_of_the_records() -> None:
    assert schema() == SHIPPED, "run `make generated`"


def test_the_module_prints_the_schema() -> None:
    printed = subprocess.run([sys.executable, "-m", "steelyard.model.schema"], capture_output=True, check=True)
    assert json.loads(printed.stdout) == SHIPPED


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SHIPPED)


def read(record: Weighing | Run, folder: Path) -> dict[str, Any]:
    save(record, folder / "record.json")
    fields: dict[str, Any] = json.loads((folder / "record.json").read_bytes())
    return fields


@pytest.mark.parametrize("record", [weighing(), run(), weighing([])], ids=["weighing", "run", "empty"])
def test_a_saved_record_is_valid(record: Weighing | Run, tmp_path: Path) -> None:
    VALIDATOR.validate(read(record, tmp_path))


@pytest.mark.parametrize(
    "change",
    [{"kind": "hyperfine"}, {"version": 3}, {"stop": ["tired"]}, {"subjects": []}, {"launches": {"wall_ns": [-1]}}],
    ids=str,
)
def test_a_damaged_record_is_not(change: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(read(weighing(), tmp_path) | change)
