"""Strings in records that would steer a terminal, or be taken for Markdown or a formula: shown, and never obeyed.

In a record of each kind every string is replaced, those of new fields too: alone where the record is refused for that,
and together with a few others where it is shown.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from pydantic import BaseModel

from steelyard.model.derived import Derived, Summary, Verdict
from steelyard.model.errors import UsageError
from steelyard.model.files import load_any
from steelyard.model.foreign import ForeignResults
from steelyard.model.records import Run, Weighing
from steelyard.model.structs import Kept
from tests.hostile.full_records import full_records
from tests.hostile.json_places import Place, found, places, replaced
from tests.in_process import InProcess
from tests.world import ScriptedWorld, measured

# So many groups of places have a text at once: in each, most of the report stays as it is.
GROUPS = 8
# In a refusal, where in the file the text stands.
WHERE = re.compile(r"\d+")
HOSTILE = "=\x1b[31m\u202e\nFORGED\r<b>|@x\ud800"
RECORDS = full_records()
# What Steelyard computes anew, and never reads back.
DERIVED = {Derived, Summary, Verdict}


def texts(record: dict[str, Any]) -> list[Place]:
    """Return the places of all strings but those that say what kind of file it is."""
    told = ("format", "kind", "version")
    return [
        place for place in places(record) if place.path[:1] not in [(name,) for name in told] and is_text(record, place)
    ]


def is_text(record: dict[str, Any], place: Place) -> bool:
    return isinstance(found(record, place), str) if place.path else False


def check_harmless(text: str) -> None:
    """Check that a text has nothing unprintable, and no forged line of its own."""
    lines = text.splitlines()
    assert text.count("\n") == len(lines)
    for line in lines:
        assert line.isprintable(), line
        assert not line.lstrip().startswith("FORGED") or line.startswith(" " * 11), line


def check_files(asked: InProcess) -> None:
    """Check the written files: Markdown has no HTML and no mention, and no cell of CSV is a formula or splits."""
    for path in asked.folder.glob("*.md"):
        written = path.read_bytes().decode()
        check_harmless(written)
        assert "<b>" not in written
        assert "@x" not in written
    for path in asked.folder.glob("*.csv"):
        rows = list(csv.reader(io.StringIO(path.read_bytes().decode(), newline="")))
        assert len({len(row) for row in rows}) == 1
        assert all(cell.isprintable() and not cell.startswith("=") for row in rows for cell in row)


@pytest.mark.parametrize("kind", RECORDS)
def test_whatever_a_record_says_is_printed_as_text(asked: InProcess, kind: str) -> None:
    record = RECORDS[kind]
    write(asked.folder / "whole.json", record)
    places = texts(record)
    refusals = {place: said for place in places if (said := refusal(asked, replaced(record, place, HOSTILE)))}
    # What is refused for one reason is refused in one sentence, wherever it stands.
    for place in {WHERE.sub("", said): place for place, said in refusals.items()}.values():
        assert check_shown(asked, replaced(record, place, HOSTILE)) == 2
    shown = [place for place in places if place not in refusals]
    for first in range(GROUPS):
        check_group(asked, record, shown[first::GROUPS], kind)


def refusal(asked: InProcess, record: dict[str, Any]) -> str:
    """Return why a record cannot be loaded, or nothing."""
    write(asked.folder / "record.json", record)
    try:
        load_any(asked.folder / "record.json")
    except UsageError as error:
        return str(error)
    return ""


def check_group(asked: InProcess, record: dict[str, Any], group: list[Place], kind: str) -> None:
    """Check all that is printed with a text at each of these places: at once, or in halves where that fails."""
    damaged = record
    for number, place in enumerate(group):
        damaged = replaced(damaged, place, f"{HOSTILE}{number}")
    is_shown = check_shown(asked, damaged) == 0
    is_compared = kind not in ("run", "counted-run", "import") or check_compared(asked)
    if not (is_shown and is_compared) and len(group) > 1:
        half = len(group) // 2
        check_group(asked, record, group[:half], kind)
        check_group(asked, record, group[half:], kind)


def check_compared(asked: InProcess) -> bool:
    """Check what is printed and written of a record beside a whole one; return whether they are compared."""
    statuses = set()
    for sides in (("record.json", "whole.json"), ("whole.json", "record.json")):
        compared = asked("diff", *sides, "--force", "--markdown", "diff.md")
        check_harmless(compared.out.decode())
        check_files(asked)
        statuses.add(compared.status)
    return statuses <= {0, 1}


def check_shown(asked: InProcess, record: dict[str, Any]) -> int:
    """Check what is printed and written of a record; return the exit status."""
    write(asked.folder / "record.json", record)
    shown = asked("show", "record.json", "--markdown", "shown.md", "--csv", "shown.csv")
    check_harmless(shown.out.decode())
    check_files(asked)
    return shown.status


def write(path: Path, record: dict[str, Any]) -> None:
    path.write_text(json.dumps(record))


def test_the_records_have_every_field_that_may_hold_a_text(tmp_path: Path) -> None:
    filled: set[tuple[type, str]] = set()
    for record in RECORDS.values():
        write(tmp_path / "record.json", record)
        for part in parts(load_any(tmp_path / "record.json")):
            filled |= {
                (type(part), name) for name in fields_of(type(part)) if getattr(part, name) not in (None, [], {}, "")
            }
    missing = {one for one in text_fields({Weighing, Run, ForeignResults}) if one not in filled}
    assert not missing, "give them a text in full_records.py"


def parts(value: Any) -> Iterator[BaseModel | Kept]:
    """Yield all parts of a record."""
    if isinstance(value, BaseModel | Kept):
        yield value
        value = [getattr(value, name) for name in fields_of(type(value))]
    if isinstance(value, list):
        for one in value:
            yield from parts(one)


def fields_of(kind: Any) -> dict[str, Any]:
    """Return the type of each field of a part of a record."""
    if issubclass(kind, Kept):
        return get_type_hints(kind)
    return {name: declared.annotation for name, declared in kind.model_fields.items()}


def text_fields(kinds: set[type]) -> set[tuple[type, str]]:
    """Return all fields of these types, and of their parts' types, whose type is or contains `str`."""
    known: set[type] = set()
    fields: set[tuple[type, str]] = set()
    while kinds:
        kind = kinds.pop()
        known.add(kind)
        for name, declared in fields_of(kind).items():
            types = set(types_in(declared))
            fields |= {(kind, name)} if str in types else set()
            inner = {one for one in types if isinstance(one, type) and issubclass(one, BaseModel | Kept)}
            kinds |= inner - known - DERIVED
    return fields


def types_in(annotation: Any) -> Iterator[Any]:
    """Yield a type, and the types that it is made of."""
    yield annotation
    for inner in getattr(annotation, "__args__", ()):
        yield from types_in(inner)


def test_a_check_of_a_command_that_is_no_utf_8_is_kept(scripted: ScriptedWorld) -> None:
    scripted.script = lambda spec, number: measured(12)  # noqa: ARG005
    done = scripted("check", "./old 'caf\udce9'", "--json", "found.json", "--max-time", "2")
    assert done.status in (0, 1), done
    assert scripted.json("found.json")["command"] == "./old 'caf\udce9'"
