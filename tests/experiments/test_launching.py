from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from experiments.launching import active_ns, built, changes, in_rounds, judged, launch_of, launched

from steelyard.measure.launch import Launcher
from steelyard.model.errors import MeasurementError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.launches import Launches
from steelyard.model.measured import Measured
from steelyard.model.numbers import NUMBERS
from steelyard.model.rows import LaunchRow
from tests.world import measured


class Scripted:
    def __init__(self, of: Callable[[LaunchSpec], Measured]) -> None:
        self._of = of
        self.seen: list[bytes] = []

    def launch(self, spec: LaunchSpec) -> Measured:
        self.seen.append(spec.program)
        return self._of(spec)


def launcher(of: Callable[[LaunchSpec], Measured]) -> Any:
    return cast("Launcher", Scripted(of))


def test_each_launch_runs_once_a_round_in_an_order_that_changes() -> None:
    scripted = launcher(lambda spec: measured(len(spec.program)))
    found = in_rounds(scripted, {name: launch_of([name]) for name in ("a", "bb", "ccc")}, 20)
    assert {name: [active_ns(one) / 1e6 for one in of] for name, of in found.items()} == {
        "a": [1.0] * 20,
        "bb": [2.0] * 20,
        "ccc": [3.0] * 20,
    }
    rounds = [tuple(scripted.seen[at : at + 3]) for at in range(0, 60, 3)]
    assert all(set(one) == {b"a", b"bb", b"ccc"} for one in rounds)
    assert len(set(rounds)) > 3


def test_a_launch_that_fails_is_told_in_its_own_words() -> None:
    failing = launcher(lambda _: replace(measured(1), exit_code=3, stderr=b"no such scale\n"))
    with pytest.raises(MeasurementError, match="scales failed: no such scale"):
        launched(failing, launch_of(["scales"]))


def test_what_a_launch_is_told_of_its_name_and_its_surroundings() -> None:
    spec = launch_of(["/bin/true", "x"], {"A": "1"}, named="other", directory=Path("/tmp"), fixed=True, processor=1)
    assert (spec.program, spec.argv, spec.env) == (b"/bin/true", (b"other", b"x"), (b"A=1",))
    assert (spec.cwd, spec.fixed_layout, spec.cpus) == (b"/tmp", True, (1,))


def test_changes_are_round_by_round_and_share_the_chance_of_error() -> None:
    drift = [100.0, 200.0, 400.0, 800.0] * 4
    found = changes({"one": drift, "two": [1.1 * time for time in drift], "three": drift}, 0.01)
    assert found["two"].change == pytest.approx(0.1)
    assert found["two"].is_certain()
    assert not found["three"].is_certain()
    assert found["two"].told()[0] == "+10.0 %"


def test_warm_up_is_not_judged() -> None:
    rows = [
        LaunchRow._make((0, pair, 0, 0, role, 0, 0, 0, *(getattr(measured(ms), name) for name in NUMBERS), 0, (), ()))
        for pair, role, ms in ((0, 0, 9), (1, 1, 2), (2, 1, 3))
    ]
    run = Launches.of_rows(rows)
    assert judged(run, run.metric("wall")) == [2e6, 3e6]


@pytest.mark.real
def test_what_cannot_be_built_says_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.c").write_text("no program")
    with pytest.raises(MeasurementError, match=r"bad\.c cannot be built"):
        built(tmp_path / "bad.c", tmp_path / "bad")
    assert "error" in capfd.readouterr().err
