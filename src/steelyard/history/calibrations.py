"""Calibrations, one per machine: the latest one under the machine's key, beside the store of records.

Next to it is what the last interrupted or failed calibration had measured, unless one was completed since.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from steelyard.history.store import Store
from steelyard.model.calibration import Calibration, InterruptedCalibration
from steelyard.model.errors import MeasurementError, UsageError
from steelyard.model.files import describe_error
from steelyard.model.writing import write_atomically


def store(calibration: Calibration, environment: Mapping[str, str]) -> Path:
    """Keep a calibration in place of the machine's last one; raises MeasurementError if it cannot be written."""
    path = _write(_path(calibration.machine, environment), calibration)
    with suppress(OSError):
        _interrupted_path(calibration.machine, environment).unlink()
    return path


def store_interrupted(record: InterruptedCalibration, environment: Mapping[str, str]) -> Path:
    """Keep what was measured next to the machine's calibration, which stays; raises MeasurementError as `store`."""
    return _write(_interrupted_path(record.machine, environment), record)


def to_json(record: Calibration | InterruptedCalibration) -> bytes:
    """Return the file's contents."""
    return record.model_dump_json(indent=1).encode() + b"\n"


def _write(path: Path, record: Calibration | InterruptedCalibration) -> Path:
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise MeasurementError(
            f"cannot make the folder {path.parent} ({error.strerror}); set XDG_STATE_HOME"
        ) from error
    write_atomically(path, to_json(record))
    return path


def load_calibration(key: str, environment: Mapping[str, str]) -> Calibration | None:
    """Return the machine's calibration, None if it has none; raises UsageError for a damaged or a wrong file."""
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
            f"the calibration {path} is damaged, or another version's ({describe_error(error)}): "
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


def _interrupted_path(key: str, environment: Mapping[str, str]) -> Path:
    return _path(key, environment).with_suffix(".interrupted.json")
