"""The file format: one record = one JSON file, gzipped if its name ends in .gz, written whole or not at all."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
import zlib
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from steelyard.model.errors import MeasurementError, UsageError
from steelyard.model.journal import assemble
from steelyard.model.records import FORMAT, VERSION, Derived, Record, Run, Weighing

_RECORD: TypeAdapter[Weighing | Run] = TypeAdapter(Record)
_GZIP_MAGIC = b"\x1f\x8b"
# A weighing of a million launches is about 150 MB; what is larger is not one, and is not read into memory to find out.
_LARGEST_BYTES = 1 << 30


def with_derived(record: Weighing | Run, derived: Derived) -> Weighing | Run:
    """The record with what was derived from it, and the first verdict at the top level, for other programs."""
    if isinstance(record, Run) or not derived.verdicts:
        return record.model_copy(update={"derived": derived})
    first = derived.verdicts[0]
    top = {"verdict": first.verdict, "change": first.change, "interval": first.interval, "pairs": first.pairs}
    return record.model_copy(update={**top, "derived": derived})


def save(record: Weighing | Run, path: Path) -> None:
    """Write a record; raises MeasurementError where that fails, leaving what stood there before."""
    fields = record.model_dump(mode="json")
    text = json.dumps({"format": fields.pop("format"), "version": fields.pop("version"), **fields})
    data = text.encode()
    # mtime=0: the same record gives the same bytes
    write_atomically(path, gzip.compress(data, compresslevel=6, mtime=0) if path.suffix == ".gz" else data)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file whole: to a neighbour first, then renamed over it."""
    try:
        handle, neighbour = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(neighbour).chmod(0o666 & ~_umask())
            Path(neighbour).replace(path)
        except BaseException:
            Path(neighbour).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise MeasurementError(f"cannot write {path}: {error.strerror}; give another place") from error


def load(path: Path) -> Weighing | Run:
    """Read a record or a journal; raises UsageError, naming the file and what is wrong with it."""
    data = _read(path)
    try:
        fields = _fields(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{path} is not a weighing: it is truncated, or no JSON at all ({_first_line(error)})"
        ) from error
    _check_format(path, fields)
    try:
        return _RECORD.validate_python(fields)
    except ValidationError as error:
        raise UsageError(
            f"{path} is damaged: {_describe(error)}; it was not written by steelyard as it stands"
        ) from error


def schema() -> dict[str, Any]:
    """The JSON Schema of a record file, generated from the records."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Steelyard record, version {VERSION}",
        **_RECORD.json_schema(),
    }


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            raise UsageError(f"{path} is larger than any weighing (over 1 GiB): is it the right file?")
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}; check the path and its permissions") from error
    if not data.startswith(_GZIP_MAGIC):
        return data
    try:
        unpacker = zlib.decompressobj(wbits=31)
        unpacked = unpacker.decompress(data, _LARGEST_BYTES)
    except zlib.error as error:
        raise UsageError(f"{path} is a damaged gzip file ({error}): copy it again") from error
    if not unpacker.eof:
        raise UsageError(f"{path} is a truncated gzip file: copy it again")
    return unpacked


def _fields(data: bytes) -> Any:
    first, newline, rest = data.partition(b"\n")
    if newline and rest.strip() and not first.startswith(b"{\n"):
        return assemble(data.splitlines()) if _is_object(first) else json.loads(data)
    return json.loads(data)


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _check_format(path: Path, fields: Any) -> None:
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise UsageError(f"{path} is JSON, but no weighing: it does not say format: {FORMAT!r}")
    version = fields.get("version")
    if isinstance(version, int) and version > VERSION:
        raise UsageError(
            f"{path} has format version {version}; this steelyard reads up to {VERSION}: upgrade steelyard to read it"
        )


def _describe(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    return f"{place}: {first['msg']}" if place else str(first["msg"])


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
