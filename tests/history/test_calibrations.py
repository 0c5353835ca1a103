from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from steelyard.history.calibrations import load_calibration, store, store_interrupted
from steelyard.model.calibration import InterruptedCalibration
from steelyard.model.counting import Weights
from steelyard.model.errors import MeasurementError, UsageError
from tests.calibrations import KEY, calibration, interrupted_calibration, kept_weights


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(tmp_path)}


def place(home: dict[str, str]) -> Path:
    return Path(home["XDG_STATE_HOME"]) / "steelyard" / "calibrations" / f"{KEY}.json"


def test_what_is_stored_is_found_again(home: dict[str, str]) -> None:
    assert store(calibration(), home) == place(home)
    assert load_calibration(KEY, home) == calibration()


def test_its_weights_are_named(home: dict[str, str]) -> None:
    store(calibration(), home)
    assert kept_weights(KEY, home) == Weights(name="calibrated", l1=1, ll=3.6, ram=40)


def test_a_machine_without_a_calibration_has_no_weights(home: dict[str, str]) -> None:
    store(calibration(), home)
    assert kept_weights("another", home) is None
    assert load_calibration("another", home) is None


def test_the_latest_one_is_kept_alone(home: dict[str, str]) -> None:
    store(calibration(), home)
    store(calibration(seconds=7.0), home)
    found = load_calibration(KEY, home)
    assert found is not None
    assert found.seconds == 7.0
    assert list(place(home).parent.iterdir()) == [place(home)]


def test_what_was_interrupted_is_kept_beside_it_and_is_none(home: dict[str, str]) -> None:
    store(calibration(), home)
    path = store_interrupted(interrupted_calibration(), home)
    assert path == place(home).with_name(f"{KEY}.interrupted.json")
    assert InterruptedCalibration.model_validate_json(path.read_bytes()) == interrupted_calibration()
    assert load_calibration(KEY, home) == calibration()


def test_the_latest_interrupted_one_is_kept_until_a_calibration_comes_to_its_end(home: dict[str, str]) -> None:
    store_interrupted(interrupted_calibration(), home)
    path = store_interrupted(interrupted_calibration(seconds=9.0), home)
    assert load_calibration(KEY, home) is None
    assert list(place(home).parent.iterdir()) == [path]
    assert json.loads(path.read_bytes())["seconds"] == 9.0
    store_interrupted(interrupted_calibration(machine="fedcba"), home)
    store(calibration(), home)
    assert sorted(place(home).parent.iterdir()) == [place(home), place(home).with_name("fedcba.interrupted.json")]


def test_a_measurement_is_a_launch() -> None:
    # The walk's point has two, the one begun three; and two counts with each of two sets of caches.
    assert interrupted_calibration().measurements() == 2 + 3 + 2 * 2


def damaged(**changed: Any) -> str:
    return json.dumps({**calibration().model_dump(mode="json"), **changed})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "\0\xff",
        damaged(version=2),
        damaged(format="steelyard"),
        damaged(points=[]),
        damaged(weights={"ram": -1}),
        damaged(weights={"ram": "much"}),
        damaged(more=1),
        damaged()[:-40],
    ],
)
def test_a_damaged_file_is_named_with_the_way_out(home: dict[str, str], text: str) -> None:
    store(calibration(), home)
    place(home).write_text(text, encoding="latin-1")
    with pytest.raises(UsageError, match="steelyard calibrate") as caught:
        kept_weights(KEY, home)
    assert str(place(home)) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_damaged_file_is_replaced_by_the_next_calibration(home: dict[str, str]) -> None:
    store(calibration(), home)
    place(home).write_text("{")
    store(calibration(), home)
    assert kept_weights(KEY, home) == calibration().weights


def test_another_machines_file_is_refused(home: dict[str, str]) -> None:
    store(calibration(), home)
    place(home).rename(place(home).with_name("fedcba.json"))
    with pytest.raises(UsageError, match=f"of another machine \\({KEY}\\)"):
        kept_weights("fedcba", home)


def test_a_file_that_cannot_be_read_is_named(home: dict[str, str]) -> None:
    place(home).mkdir(parents=True)
    with pytest.raises(UsageError, match=f"cannot read the calibration {place(home)}"):
        kept_weights(KEY, home)


def test_a_folder_that_cannot_be_made_is_named(home: dict[str, str]) -> None:
    place(home).parent.parent.mkdir(parents=True)
    place(home).parent.write_text("no folder")
    with pytest.raises(MeasurementError, match="set XDG_STATE_HOME"):
        store(calibration(), home)
