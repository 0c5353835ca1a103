"""Read every kind of file that Steelyard keeps, by the format that the file names."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, TypeAlias

from pydantic import BaseModel, ValidationError

from steelyard.model.bisection import Bisection
from steelyard.model.calibration import Calibration, InterruptedCalibration
from steelyard.model.errors import UsageError
from steelyard.model.files import fields_of, invalid, record_of, within_memory
from steelyard.model.foreign import ForeignResults
from steelyard.model.records import Run, Weighing
from steelyard.model.soundness import Soundness

Document: TypeAlias = Weighing | Run | ForeignResults | Soundness | Calibration | InterruptedCalibration | Bisection

_KINDS: Final[dict[str, type[BaseModel]]] = {
    str(kind.model_fields["format"].default): kind
    for kind in (Soundness, Bisection, Calibration, InterruptedCalibration)
}


def load_document(path: Path) -> Document:
    """Read the file of any command; raises UsageError, naming the file and what is wrong with it."""
    with within_memory(path):
        fields = fields_of(path)
        kind = _KINDS.get(str(fields.get("format"))) if isinstance(fields, dict) else None
        return record_of(path, fields) if kind is None else _validated(path, kind, fields)


def _validated(path: Path, kind: type[BaseModel], fields: dict[str, Any]) -> Any:
    version = fields.get("version")
    if type(version) is int and version > 1:
        raise UsageError(f"{path} has format version {version}; this steelyard reads 1: upgrade steelyard to read it")
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        raise invalid(path, fields, error) from error
