"""`steelyard calibrate`: on a scripted machine, and once for real until Ctrl-C."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import typer
from typer.testing import CliRunner

from steelyard.cli.calibrate import calibrate
from steelyard.design import world
from steelyard.measure import native
from steelyard.model.calibration import InterruptedCalibration
from steelyard.model.errors import MeasurementError, SteelyardError, UsageError
from steelyard.report.figures import count
from tests.c_programs import need_valgrind
from tests.calibrations import kept_weights
from tests.design.calibration.machine import ProbeMachine, shared
from tests.design.scripted import MACHINE, PLAIN
from tests.tool import Tool, ended, name_of, wait_until

# Several probes take this much processor time.
_SEVERAL_S = 0.2

app = typer.Typer(rich_markup_mode=None)
app.command()(calibrate)
RUNNER = CliRunner()


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ProbeMachine:
    """The scripted machine of the command line, with a store of its own."""
    made = ProbeMachine(**shared(8 << 20))  # type: ignore[arg-type]
    (tmp_path / "probes").write_text("#!/bin/sh\n")
    monkeypatch.setattr(native, "PROBES", tmp_path / "probes")
    monkeypatch.setattr(world, "World", lambda: made.world(tmp_path / "state"))
    return made


def run(*words: str) -> str:
    done = RUNNER.invoke(app, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def refused(*words: str) -> SteelyardError:
    with pytest.raises(SteelyardError) as caught:
        RUNNER.invoke(app, list(words), catch_exceptions=False)
    return caught.value


def weights(tmp_path: Path) -> str | None:
    kept = kept_weights(MACHINE.key, {"XDG_STATE_HOME": str(tmp_path / "state")})
    return None if kept is None else f"{kept.l1:g}:{kept.ll:.0f}:{kept.ram:.0f}"


def test_it_shows_and_stores_the_weights(machine: ProbeMachine, tmp_path: Path) -> None:
    text = run("--launches", "3", "--jobs", "3", "--caches", "host")
    assert "1:5:40" in text
    assert "3 launches a point" in text
    assert "do not carry over" in text
    assert machine.servers == 1 + 3
    assert weights(tmp_path) == "1:5:40"


def test_the_defaults(machine: ProbeMachine) -> None:
    text = run()
    assert "5 launches a point" in text
    assert "(fit)" in text
    assert machine.servers == 1 + 2  # one, and then one for each processor


@pytest.mark.usefixtures("machine")
def test_what_takes_minutes_is_said_before() -> None:
    said = RUNNER.invoke(app, ["--caches", "host"], catch_exceptions=False).stderr
    assert said == (
        "steelyard: times 55 walks over memory, 5 times each, and then counts them under Valgrind, which takes "
        "minutes; Ctrl-C keeps what was measured by then\n"
    )
    assert "with each of 4 sizes of the last cache level" in RUNNER.invoke(app, [], catch_exceptions=False).stderr


@pytest.mark.usefixtures("machine")
def test_a_file_that_cannot_be_written_keeps_the_report_from_nobody() -> None:
    done = RUNNER.invoke(app, ["--caches", "host", "--json", "/dev/full"])
    assert isinstance(done.exception, MeasurementError)
    assert "1:5:40" in done.stdout


def test_it_writes_the_files_that_were_asked_for(machine: ProbeMachine, tmp_path: Path) -> None:
    run("--json", str(tmp_path / "all.json"), "--chart", str(tmp_path / "chart.svg"), "--caches", "host")
    assert len(machine.specs) == 2 * 5 * 55
    written = json.loads((tmp_path / "all.json").read_text())
    assert (written["format"], written["machine"]) == ("steelyard-calibration", MACHINE.key)
    assert (tmp_path / "chart.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    "words",
    [["--jobs", "0"], ["--jobs", "257"], ["--launches", "0"], ["--launches", "1001"], ["--chart", "/no/such/folder/x"]],
)
def test_wrong_words_are_refused_before_anything_is_measured(machine: ProbeMachine, words: list[str]) -> None:
    error = refused(*words)
    assert isinstance(error, UsageError)
    assert words[1] in str(error)
    assert machine.servers == 0


def test_nothing_is_stored_of_what_failed(machine: ProbeMachine, tmp_path: Path) -> None:
    machine.measured = replace(PLAIN, exit_code=1)
    error = refused("--chart", str(tmp_path / "chart.svg"))
    assert isinstance(error, MeasurementError)
    assert "failed with exit status 1" in str(error)
    assert weights(tmp_path) is None
    assert not (tmp_path / "chart.svg").exists()


def test_no_weights_are_stored_of_what_was_interrupted(machine: ProbeMachine, tmp_path: Path) -> None:
    machine.interrupted_after = 33
    error = refused("--chart", str(tmp_path / "chart.svg"), "--json", str(tmp_path / "all.json"))
    kept = tmp_path / "state/steelyard/calibrations" / f"{MACHINE.key}.interrupted.json"
    assert str(error) == (
        f"interrupted before weights could be fitted; what was measured until then (33 measurements) is kept in {kept}"
    )
    assert error.exit_status == 130
    assert (tmp_path / "all.json").read_bytes() == kept.read_bytes()
    assert weights(tmp_path) is None
    assert not (tmp_path / "chart.svg").exists()


def test_what_was_measured_before_a_failure_is_kept(machine: ProbeMachine, tmp_path: Path) -> None:
    machine.fails_after = 33
    error = refused("--json", str(tmp_path / "all.json"))
    kept = tmp_path / "state/steelyard/calibrations" / f"{MACHINE.key}.interrupted.json"
    assert error.exit_status == 3
    assert "failed with exit status 1" in str(error)
    assert str(error).endswith(f"; what was measured until then (33 measurements) is kept in {kept}")
    assert (tmp_path / "all.json").read_bytes() == kept.read_bytes()
    assert weights(tmp_path) is None


def test_an_interrupt_before_the_first_launch_ended(machine: ProbeMachine, tmp_path: Path) -> None:
    machine.interrupted_after = 0
    error = refused("--json", str(tmp_path / "all.json"))
    assert (str(error), error.exit_status) == ("interrupted before anything was measured", 130)
    assert not (tmp_path / "all.json").exists()


def test_help_names_the_exit_statuses() -> None:
    text = " ".join(run("--help").split())
    for expected in (
        "Exit status: 0 the weights are stored",
        "130 interrupted (no weights are stored; what was measured is kept)",
        "carry over",
    ):
        assert expected in text


def test_an_interrupt_leaves_what_was_measured(tool: Tool) -> None:
    need_valgrind()
    if not native.PROBES.is_file():
        pytest.skip("the probes are not built: nothing can be calibrated")

    def walked() -> bool:
        # The processor time of probes that have ended, as each lives for some ms only.
        servers = [one for one in psutil.Process(process.pid).children(recursive=True) if "launch" in name_of(one)]
        return any(one.cpu_times().children_user > _SEVERAL_S for one in servers)

    with tool.started("calibrate", "--json", "found.json") as process:
        wait_until(walked, "probes have walked")
        process.send_signal(signal.SIGINT)
        done = ended(process)
    assert done.status == 130, done
    (kept,) = (tool.folder / "state/steelyard/calibrations").iterdir()
    record = InterruptedCalibration.model_validate_json(kept.read_bytes())
    assert kept.name == f"{record.machine}.interrupted.json"
    assert record.times
    done.check_is_tidy()
    announced, said = done.err.decode().splitlines()
    assert announced.startswith("steelyard: times ")
    assert f"({count(record.measurements(), 'measurement')}) is kept in {kept}" in said
    assert done.out == b""
    assert (tool.folder / "found.json").read_bytes() == kept.read_bytes()
