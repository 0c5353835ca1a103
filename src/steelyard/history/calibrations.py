"""Calibrations, one a machine: the latest one under the machine's key, beside the store of records."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from steelyard.history.store import Store
from steelyard.model.calibration import Calibration
from steelyard.model.errors import MeasurementError, UsageError
from steelyard.model.files import write_atomically


def store(calibration: Calibration, environment: Mapping[str, str] = os.environ) -> Path:
    """Keep a calibration in the place of the machine's last one; raises MeasurementError where that cannot be."""
    path = _path(calibration.machine, environment)
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise MeasurementError(
            f"cannot make the folder {path.parent} ({error.strerror}); set XDG_STATE_HOME"
        ) from error
    write_atomically(path, to_json(calibration))
    return path


def to_json(calibration: Calibration) -> bytes:
    """The file's contents."""
    return calibration.model_dump_json(indent=1).encode() + b"\n"


def load_calibration(key: str, environment: Mapping[str, str] = os.environ) -> Calibration | None:
    """The machine's calibration, or None if it has none; raises UsageError for a file that is not a whole one."""
    path = _path(key, environment)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"cannot read the calibration {path}: {error.strerror}; check its permissions") from error
    try:
        calibration = Calibration.model_validate_json(data)
    except ValidationError as error:
        raise UsageError(
            f"the calibration {path} is damaged, or another version's ({_first(error)}): "
            "make a new one with steelyard calibrate, or remove the file"
        ) from error
    if calibration.machine != key:
        raise UsageError(
            f"the calibration {path} is of another machine ({calibration.machine}): "
            "make one of this machine with steelyard calibrate, or remove the file"
        )
    return calibration


def _path(key: str, environment: Mapping[str, str]) -> Path:
    return Store.of_user(environment).folder / "calibrations" / f"{key}.json"


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    return f"{place}: {first['msg']}" if place else str(first["msg"])
