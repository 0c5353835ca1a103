"""The clean-up commands of whole command lines: they run once, whatever became of the launches before."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Callable
from typing import Any

import pytest

from steelyard.model.files import load
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests.world import ScriptedWorld, at_launch, ctrl_c, measured, program_of

TWELVE = ("--pairs", "12", "--cleanup", "./sweep")


def swept(world: ScriptedWorld) -> list[str]:
    """Return the programs that were launched, from the first clean-up on."""
    names = [program_of(spec) for spec in world.launched]
    return names[names.index("sweep") :] if "sweep" in names else []


@pytest.fixture
def world(scripted: ScriptedWorld) -> ScriptedWorld:
    scripted.executable("sweep")
    scripted.executable("sweep-new")
    return scripted


def at(number: int, happens: Callable[[], Any] | None = None, **changes: Any) -> Callable[[LaunchSpec, int], Measured]:
    """Return a script of launches of 12 ms; in launch `number` something happens, or other numbers are measured."""

    def script(spec: LaunchSpec, launch: int) -> Measured:
        del spec
        if launch == number and happens is not None:
            happens()
        return measured(12.0, **(changes if launch == number else {}))

    return script


def test_it_is_the_last_of_all(world: ScriptedWorld) -> None:
    world.script = at(0)
    assert world("compare", "./old", "./new", *TWELVE, "--cleanup", "./sweep-new").status == 0
    assert swept(world) == ["sweep", "sweep-new"]


@pytest.mark.parametrize("number", [1, 2, 7, 26])
@pytest.mark.parametrize("happens", [ctrl_c, lambda: signal.raise_signal(signal.SIGTERM)], ids=["SIGINT", "SIGTERM"])
def test_an_interrupt_does_not_keep_it_from_running(
    world: ScriptedWorld, number: int, happens: Callable[[], Any]
) -> None:
    world.script = at(number, happens)
    assert world("compare", "./old", "./new", *TWELVE, "--warmup", "1").status == 130
    assert swept(world) == ["sweep"]


@pytest.mark.parametrize("number", [1, 2, 9])
@pytest.mark.parametrize(
    "how", [{"exit_code": 1}, {"timed_out": True, "exit_code": None, "signal": 9}, {"stopped": 19}], ids=str
)
def test_nor_does_a_launch_that_fails(world: ScriptedWorld, number: int, how: dict[str, Any]) -> None:
    world.script = at(number, **how)
    world.refuses("compare", "./old", "./new", *TWELVE, status=3)
    assert swept(world) == ["sweep"]
    world.launches = 0
    world.refuses("run", "./old", "--launches", "12", "--cleanup", "./sweep", status=3)
    assert swept(world) == ["sweep"]


def test_what_it_fails_in_itself_says_less(world: ScriptedWorld) -> None:
    world.script = lambda spec, number: measured(12.0, exit_code=int(number == 4 or program_of(spec) == "sweep"))
    assert "./old failed with exit status 1" in world.refuses("compare", "./old", "./new", *TWELVE, status=3)
    (kept,) = world.kept()
    assert [finding.message.partition(" (")[0].partition(":")[0] for finding in load(kept).findings] == [
        "./old failed with exit status 1",
        "the --cleanup command './sweep' failed with exit status 1",
    ]


def test_an_interrupted_weighing_stays_one_whose_clean_up_failed(world: ScriptedWorld) -> None:
    world.script = at_launch(6, ctrl_c, lambda spec, _: measured(12.0, exit_code=int(program_of(spec) == "sweep")))
    done = world("compare", "./old", "./new", *TWELVE)
    assert done.status == 130
    assert "the --cleanup command './sweep' failed with exit status 1" in done.text


def test_nothing_is_cleaned_up_where_nothing_ran(world: ScriptedWorld) -> None:
    world.refuses("compare", "./old", "./missing", *TWELVE)
    assert swept(world) == []


def test_a_reference_output_that_differs(world: ScriptedWorld) -> None:
    def script(spec: LaunchSpec, number: int) -> Measured:
        if isinstance(spec.stdout, bytes):
            world.folder.joinpath(spec.stdout.decode()).write_text(str(number))
        return measured(12.0)

    world.script = script
    world.refuses("compare", "./old", "./new", *TWELVE, "--reference-output", status=3)
    assert swept(world) == ["sweep"]


def test_a_reference_output_that_differs_between_launches_of_one_side(world: ScriptedWorld) -> None:
    def script(spec: LaunchSpec, number: int) -> Measured:
        if isinstance(spec.stdout, bytes):
            world.folder.joinpath(spec.stdout.decode()).write_text(f"2 passed in {number} s")
        return measured(12.0)

    world.script = script
    said = world.refuses("compare", "./old", "./new", *TWELVE, "--reference-output", status=3)
    assert "the baseline itself prints something else each time, first in line 1 ('2 passed in" in said


def test_a_reference_output_that_differs_in_one_layout(world: ScriptedWorld) -> None:
    def script(spec: LaunchSpec, number: int) -> Measured:  # noqa: ARG001
        if isinstance(spec.stdout, bytes):
            world.folder.joinpath(spec.stdout.decode()).write_text(str(program_of(spec) == "new-3"))
        return measured(12.0)

    for side in ("old", "new"):
        for layout in (1, 2, 3):
            world.executable(f"{side}-{layout}")
    world.script = script
    words = ("./old-{layout}", "./new-{layout}", "--layouts", "3", *TWELVE, "--reference-output")
    said = world.refuses("compare", *words, status=3)
    assert "./new-{layout} (layout 3): the two sides print different things" in said


@pytest.mark.parametrize("words", [("--heap",), ("--setup", "./set-up", "--reference-output")])
def test_a_folder_for_temporary_files_that_is_gone(
    world: ScriptedWorld, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    world.executable("set-up")
    world.script = at(1, lambda: monkeypatch.setattr(tempfile, "tempdir", str(world.folder / "absent")))
    said = world.refuses("compare", "./old", "./new", *TWELVE, *words, status=3)
    assert f"temporary files cannot be used (No such file or directory): {words[-1]} needs a place" in said
    assert swept(world) == ["sweep"]


def test_an_error_that_nobody_has_thought_of(world: ScriptedWorld) -> None:
    def happens() -> None:
        raise OSError(28, "No space left on device")

    world.script = at(5, happens)
    with pytest.raises(OSError, match="No space left"):
        world("compare", "./old", "./new", *TWELVE)
    assert swept(world) == ["sweep"]


@pytest.mark.parametrize("metric", ["instructions", "active,instructions"])
def test_what_is_counted_is_cleaned_up_behind_once(world: ScriptedWorld, metric: str) -> None:
    world.script = at(1, exit_code=1)
    world("compare", "./old", "./new", "--metric", metric, "--cleanup", "./sweep")
    assert swept(world) == ["sweep"]


def test_a_harness_that_fails_while_it_is_asked(world: ScriptedWorld) -> None:
    world.script = at(1, exit_code=1)
    world.refuses("compare", "--harness", "protocol", "./old", "./new", *TWELVE, status=3)
    assert swept(world) == ["sweep"]
