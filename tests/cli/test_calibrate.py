from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from steelyard.cli.calibrate import calibrate
from steelyard.design.calibration import calibration as design
from steelyard.model.errors import InterruptedBeforeStart, MeasurementError, SteelyardError, UsageError
from tests.calibrations import KEY, calibration, kept_weights

app = typer.Typer(rich_markup_mode=None)
app.command()(calibrate)
RUNNER = CliRunner()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[dict[str, Any]]:
    """What is asked of the measuring, which gives a calibration at once."""
    heard: list[dict[str, Any]] = []

    def measured(**words: Any) -> object:
        heard.append(words)
        return calibration()

    monkeypatch.setattr(design, "calibrate", measured)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return heard


def run(*words: str) -> str:
    done = RUNNER.invoke(app, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def refused(*words: str) -> SteelyardError:
    with pytest.raises(SteelyardError) as caught:
        RUNNER.invoke(app, list(words), catch_exceptions=False)
    return caught.value


def test_it_shows_and_stores_the_weights(asked: list[dict[str, Any]]) -> None:
    text = run("--repeats", "3", "--jobs", "2")
    assert "1:3.6:40" in text
    assert "do not carry over" in text
    assert (asked[0]["repeats"], asked[0]["jobs"]) == (3, 2)
    assert kept_weights(KEY) == calibration().weights


def test_by_default_it_counts_on_every_processor(asked: list[dict[str, Any]]) -> None:
    run()
    assert asked[0]["jobs"] >= 1
    assert asked[0]["repeats"] == design.REPEATS


def test_it_writes_the_files_that_were_asked_for(asked: list[dict[str, Any]], tmp_path: Path) -> None:
    run("--json", str(tmp_path / "all.json"), "--chart", str(tmp_path / "chart.svg"))
    assert len(asked) == 1
    assert json.loads((tmp_path / "all.json").read_text())["machine"] == KEY
    assert (tmp_path / "chart.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    "words",
    [["--jobs", "0"], ["--jobs", "257"], ["--repeats", "0"], ["--repeats", "1001"], ["--chart", "/no/such/folder/x"]],
)
def test_wrong_words_are_refused_before_anything_is_measured(asked: list[dict[str, Any]], words: list[str]) -> None:
    error = refused(*words)
    assert isinstance(error, UsageError)
    assert words[1] in str(error)
    assert asked == []


@pytest.mark.parametrize("error", [InterruptedBeforeStart("interrupted"), MeasurementError("no valgrind")])
def test_nothing_is_stored_of_what_did_not_end(
    asked: list[dict[str, Any]], error: SteelyardError, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fails(**words: Any) -> object:
        asked.append(words)
        raise error

    monkeypatch.setattr(design, "calibrate", fails)
    assert refused("--chart", str(tmp_path / "chart.svg")) is error
    assert kept_weights(KEY) is None
    assert not (tmp_path / "chart.svg").exists()


def test_help_names_the_exit_statuses() -> None:
    text = " ".join(run("--help").split())
    for expected in ("Exit status: 0 the weights are stored", "130 interrupted (nothing is stored)", "carry over"):
        assert expected in text
