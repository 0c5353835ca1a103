"""A kept file of any kind: what was measured or imported, what a check found, what a calibration measured."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from pydantic import BaseModel, ValidationError

from steelyard.model.calibration import Calibration, InterruptedCalibration
from steelyard.model.errors import UsageError
from steelyard.model.files import described, fields_of, record_of, within_memory
from steelyard.model.foreign import ForeignResults
from steelyard.model.records import Run, Weighing
from steelyard.model.soundness import Soundness

Kept: TypeAlias = Weighing | Run | ForeignResults | Soundness | Calibration | InterruptedCalibration

_OTHERS: dict[str, type[Soundness] | type[Calibration] | type[InterruptedCalibration]] = {
    str(kind.model_fields["format"].default): kind for kind in (Soundness, Calibration, InterruptedCalibration)
}


def load_kept(path: Path) -> Kept:
    """Read a file of any kind; raises UsageError, naming the file and what is wrong with it."""
    with within_memory(path):
        fields = fields_of(path)
        kind: type[BaseModel] | None = _OTHERS.get(str(fields.get("format"))) if isinstance(fields, dict) else None
        if kind is None:
            return record_of(path, fields)
        try:
            return kind.model_validate(fields)  # type: ignore[return-value] # mypy joins the three to their parent
        except ValidationError as error:
            raise UsageError(
                f"{path} is damaged, or another version's: {described(error)}; it was not written by this steelyard"
            ) from error
