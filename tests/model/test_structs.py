"""Dataclasses are validated alike, whether pydantic's core gets their schema from us or from pydantic itself."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter, ValidationError

from steelyard.model.foreign import ForeignResults
from steelyard.model.structs import validated
from tests.hostile.full_records import full_records
from tests.hostile.json_places import Place, dropped, places, replaced

RECORD = full_records()["import"]
VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    2,
    10**400,
    1.5,
    1e13,
    "",
    "x",
    "2",
    "true",
    "0" * 64,
    [],
    [[]],
    {},
    [{}],
    {"x": 1},
    ["x"],
]
BY_PYDANTIC: TypeAdapter[ForeignResults] = TypeAdapter(ForeignResults)


def said_of(told: Any) -> tuple[ForeignResults | None, list[Any]]:
    """Return our result and errors, after checking that pydantic has the same."""
    try:
        here, wrong = validated(ForeignResults, told), []
    except ValidationError as error:
        here, wrong = None, error.errors(include_url=False, include_context=False, include_input=False)
    try:
        theirs, theirs_wrong = BY_PYDANTIC.validate_python(told), []
    except ValidationError as error:
        theirs, theirs_wrong = None, error.errors(include_url=False, include_context=False, include_input=False)
    assert (here, wrong) == (theirs, theirs_wrong)
    return here, wrong


def test_a_record_is_taken() -> None:
    assert said_of(RECORD)[0] is not None


def test_a_field_of_another_type_is_taken_or_refused_as_by_pydantic() -> None:
    for place in places(RECORD):
        if not place.is_name:
            assert any(said_of(replaced(RECORD, place, value))[1] for value in VALUES), place


def test_fields_that_are_missing_or_unknown_are_refused_as_by_pydantic() -> None:
    for place in places(RECORD):
        if place.is_name:
            said_of(dropped(RECORD, Place(place.path)))
            said_of(replaced(RECORD, place, "unknown"))
    assert said_of({**RECORD, "more": 1})[1]
    assert said_of(dropped(RECORD, Place(("provenance", "files"))))[1]
