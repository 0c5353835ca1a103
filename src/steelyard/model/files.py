"""The file format: one record = one JSON file, gzipped if its name ends in .gz, written whole or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic_core import ValidationError

from steelyard import __version__
from steelyard.model.errors import LineError, NotMeasuredError, UsageError
from steelyard.model.file_bytes import compressed, read_bytes, require_plausible, unpacked
from steelyard.model.format import FORMAT, VERSION
from steelyard.model.json_text import parse, pieces
from steelyard.model.ratios import with_ratios
from steelyard.model.samples import encoded
from steelyard.model.structs import validated
from steelyard.model.typed import typed
from steelyard.model.writing import write_atomically

if TYPE_CHECKING:
    from pydantic import BaseModel, TypeAdapter

    from steelyard.model.derived import Derived
    from steelyard.model.foreign import ForeignResults
    from steelyard.model.records import Run, Weighing

# Pydantic's messages about a dataclass, and about a model, so that all parts of a record have the same messages.
_MODEL_MESSAGES: Final = {
    "Unexpected keyword argument": "Extra inputs are not permitted",
    "a dictionary or an instance of": "a valid dictionary or instance of",
}
# What a weighing repeats at the top level of its first verdict.
_AT_TOP: Final = ("verdict", "change", "ratio", "interval", "pairs")
# A name as given to a baseline: without a folder and without a file's ending.
_PLAIN_NAME = re.compile(r"[A-Za-z]\w{0,99}")
_RELEASE = re.compile(r"\d{1,6}(?:\.\d{1,6}){0,3}")


def with_derived(record: Weighing | Run, derived: Derived) -> Weighing | Run:
    """Return the record with what was derived from it, and the first verdict at the top level, for other programs."""
    derived = with_ratios(record.benchmarks, derived)
    if record.kind == "run" or not derived.verdicts:
        return record.model_copy(update={"derived": derived})
    first = derived.verdicts[0]
    top = {name: getattr(first, name) for name in _AT_TOP}
    return record.model_copy(update={**top, "derived": derived})


def without_derived(record: Weighing | Run) -> Weighing | Run:
    """Return the record without what its file says was derived from it, which anybody may have written there."""
    top = {} if record.kind == "run" else dict.fromkeys(_AT_TOP)
    return record.model_copy(update={**top, "derived": None})


def save(record: Weighing | Run | ForeignResults, path: Path, *, private: bool = False) -> None:
    """Write a record by `write_atomically`; raises MeasurementError if that fails."""
    write_atomically(path, record_bytes(record, path), private=private)


def record_bytes(record: Weighing | Run | ForeignResults, path: Path) -> Iterator[bytes]:
    """Yield the bytes of a record's file of that name, piece by piece."""
    fields = _json_fields(record)
    text = pieces({"format": fields.pop("format"), "version": fields.pop("version"), **fields})
    return compressed(text) if path.suffix == ".gz" else iter(text)


def plain_json(value: BaseModel | Sequence[BaseModel]) -> str:
    """Return what was found as the text of a JSON file.

    Not by pydantic's own writer, which refuses surrogates, which stand for bytes that are not UTF-8.
    """
    fields = (
        [one.model_dump(mode="json") for one in value] if isinstance(value, Sequence) else value.model_dump(mode="json")
    )
    return f"{json.dumps(fields, indent=1)}\n"


def _json_fields(record: Weighing | Run | ForeignResults) -> dict[str, Any]:
    """The fields in their order, as values for JSON, except packed columns, which `pieces` writes."""
    if record.kind != "import":
        fields = {**record.model_dump(mode="json", exclude={"launches"}), "launches": record.launches.model_dump()}
        return {name: fields[name] for name in type(record).model_fields if name in fields}
    imported: dict[str, Any] = _to_plain(record)
    for benchmark in imported["benchmarks"]:
        benchmark["values"] = encoded(benchmark["values"])
    return imported


def _to_plain(value: Any) -> Any:
    if is_dataclass(value):
        return {name: _to_plain(inner) for name, inner in vars(value).items()}
    if isinstance(value, list) and value and is_dataclass(value[0]):
        return list(map(_to_plain, value))
    return value


def load(path: Path, largest_bytes: int | None = None) -> Weighing | Run:
    """Read a record or journal that Steelyard measured; raises UsageError, and NotMeasuredError for an import.

    A file larger than `largest_bytes`, as it is or unpacked, is refused before it is parsed.
    """
    record = load_any(path, largest_bytes)
    if record.kind == "import":
        raise NotMeasuredError(
            f"{path} was imported, and not measured by steelyard: look at it with steelyard show, or compare it with "
            "another import by steelyard diff",
            record,
        )
    return record


def load_any(path: Path, largest_bytes: int | None = None) -> Weighing | Run | ForeignResults:
    """Read a record of any kind, or a journal; raises UsageError, naming the file and what is wrong with it."""
    with within_memory(path):
        return record_of(path, fields_of(path, largest_bytes))


@contextmanager
def within_memory(path: Path) -> Iterator[None]:
    """Turn a lack of memory while a file is read into a UsageError."""
    try:
        yield
    except MemoryError as error:
        raise UsageError(f"{path} takes more memory to be read than there is: read it on a larger machine") from error


def fields_of(path: Path, largest_bytes: int | None = None) -> Any:
    """Return the JSON value in a file, or a journal's as the fields of a record; raises UsageError if it is neither."""
    if _PLAIN_NAME.fullmatch(str(path)) and not path.exists():
        raise UsageError(
            f"cannot read {path}: No such file, and no record of that name is kept: steelyard list has the names"
        )
    data = require_plausible(path, unpacked(path, read_bytes(path, largest_bytes), largest_bytes))
    if not data.strip():
        raise UsageError(f"{path} is empty, and no record: steelyard list shows those that are kept")
    try:
        return _parse_fields(data)
    except LineError as error:
        before = f"head -n {error.number - 1} {typed(path)} > before.journal"
        raise UsageError(f"{path} is damaged in line {error.number}; what stands before it: {before}") from error
    except (ValueError, RecursionError) as error:
        if not data.lstrip().startswith((b"{", b"[")):  # as the lines of `go test -bench`
            raise UsageError(f"{path} is not JSON, so it is no weighing; {_import_hint(path)}") from error
        raise UsageError(
            f"{path} is not a weighing: it is truncated, or no JSON at all ({_first_line(error)})"
        ) from error


def record_of(path: Path, fields: Any) -> Weighing | Run | ForeignResults:
    """Return the record of the fields read from a file; raises UsageError if they are none."""
    _check_format(path, fields)
    fields["version"] = VERSION  # the version when it is written again: later ones only added fields
    kind = fields.get("kind")
    within = [kind] if kind in ("weighing", "run") else []
    try:
        if kind == "import":
            from steelyard.model.foreign import ForeignResults

            return validated(ForeignResults, fields)
        if within:  # building the validator for all kinds takes half as long again
            from steelyard.model.records import Run, Weighing

            return (Weighing if kind == "weighing" else Run).model_validate(fields)
        return _any_record().validate_python(fields)  # its error lists the kinds there are
    except ValidationError as error:
        raise invalid(path, fields, error, *within) from error


def invalid(path: Path, fields: dict[str, Any], error: ValidationError, *within: str) -> UsageError:
    """Return the error for a file of ours with wrong contents: a file of a later version may hold more.

    `within` is where in the file the validated part lies.
    """
    if (release := _release(fields.get("tool"))) > _release(__version__):
        return UsageError(
            f"{path} was written by steelyard {'.'.join(map(str, release))}, and this is {__version__}: upgrade "
            f"steelyard to read it ({describe_error(error, *within)})"
        )
    return _damaged(path, describe_error(error, *within))


def _damaged(path: Path, what: str) -> UsageError:
    return UsageError(f"{path} is damaged: {what}; it was not written by steelyard as it stands")


def _release(tool: Any) -> list[int]:
    """The numbers of a version, for comparison; empty if it is no version."""
    match = _RELEASE.match(tool) if isinstance(tool, str) else None
    return [int(number) for number in match[0].split(".")] if match else []


def schema() -> dict[str, Any]:
    """The JSON Schema of a record file, generated from the records."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Steelyard record, version {VERSION}",
        **_any_record().json_schema(),
    }


@cache
def _any_record() -> TypeAdapter[Weighing | Run | ForeignResults]:
    from pydantic import Field, TypeAdapter

    from steelyard.model.foreign import ForeignResults
    from steelyard.model.records import Run, Weighing

    return TypeAdapter(Annotated[Weighing | Run | ForeignResults, Field(discriminator="kind")])


def _parse_fields(data: bytes) -> Any:
    """The fields of a record or of a journal, which is a file whose first line is an object without launches."""
    newline = data.find(b"\n")
    end = len(data) if newline < 0 else newline
    try:
        first = parse(data[:end])
    except ValueError:
        return parse(data)  # a record whose JSON was reformatted over several lines
    is_ours = isinstance(first, dict) and first.get("format", FORMAT) == FORMAT
    if is_ours and "launches" not in first and first.get("kind") != "import":
        from steelyard.model.journal import assemble

        return assemble(data)
    return parse(data) if data[end:].strip() else first


# What the tool's other files are, by their format.
_OTHER_FORMATS = {
    "steelyard-bisection": "a bisection, and no weighing: steelyard report {} makes a page of it",
    "steelyard-check": "what steelyard check found, and no weighing: steelyard report {} makes a page of it",
    "steelyard-doctor": "what steelyard doctor found, and no weighing: give a record",
    "steelyard-calibration": "a calibration, and no weighing: steelyard report {} makes a page of it",
    "steelyard-interrupted-calibration": "a part of a calibration: steelyard report {} makes a page of it",
}


def _check_format(path: Path, fields: Any) -> None:
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        if isinstance(fields, dict) and (other := _OTHER_FORMATS.get(str(fields.get("format")))):
            raise UsageError(f"{path} is {other.format(typed(path))}")
        raise UsageError(f"{path} is JSON, but no weighing: it does not say format: {FORMAT!r}; {_import_hint(path)}")
    version = fields.get("version")
    if type(version) is not int:  # not `isinstance`: true is an int
        raise _damaged(path, "its version is no number")
    if version < 1:
        raise _damaged(path, f"there is no version {version}")
    if version > VERSION:
        raise UsageError(
            f"{path} has format version {version}; this steelyard reads up to {VERSION}: upgrade steelyard to read it"
        )


def _import_hint(path: Path) -> str:
    return f"what another tool measured is read by steelyard import {typed(path)} -o ours.json"


def describe_error(error: ValidationError, *within: str) -> str:
    """The first error and its place; `within` is where in the file the validated part lies."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, (*within, *first["loc"])))
    what = first["msg"].removeprefix("Value error, ")
    for of_dataclass, of_model in _MODEL_MESSAGES.items():
        what = what.replace(of_dataclass, of_model)
    return f"{place}: {what}" if place else what


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
