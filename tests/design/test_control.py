from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.records import Weighing
from tests.loaded import weighing_in
from tests.world import ScriptedWorld, at_launch, ctrl_c, measured

CONTROL = ("--control", "--pairs", "8", "-o", "record.json")


def elf(world: ScriptedWorld, name: str = "old") -> Path:
    """Put a program that is not a script into the folder."""
    path = world.folder / name
    shutil.copy("/bin/true", path)
    return path


def weighed(world: ScriptedWorld, *words: str) -> Weighing:
    assert world("compare", *words, *CONTROL).status == 0
    return weighing_in(world.folder / "record.json")


def alike(spec: LaunchSpec, number: int) -> Measured:
    is_empty_shell = spec.argv[-1] == b":"
    return measured((1 if is_empty_shell else 12) * (1 + number % 5 * 1e-4))


def programs_of_control(world: ScriptedWorld, record: Weighing) -> dict[int, set[str]]:
    """Return the programs that were launched on each side of the control."""
    specs = world.launched[-len(record.launches) :]
    places = zip(record.launches.benchmark, record.launches.side, specs, strict=True)
    found: dict[int, set[str]] = {0: set(), 1: set()}
    for benchmark, side, spec in places:
        if benchmark == len(record.benchmarks) - 1:
            found[side].add(os.fsdecode(spec.program))
    return found


def said(record: Weighing) -> list[tuple[str, str]]:
    return [(one.code, one.message) for one in record.findings if one.code.startswith("control")]


def test_the_second_side_is_a_copy_that_is_gone_afterwards(scripted: ScriptedWorld) -> None:
    elf(scripted)
    seen: list[bool] = []

    def script(spec: LaunchSpec, number: int) -> Measured:
        path = Path(os.fsdecode(spec.program))
        if path.name == "old":
            seen.append(path.read_bytes() == Path("/bin/true").read_bytes() and os.access(path, os.X_OK))
        return alike(spec, number)

    scripted.script = script
    record = weighed(scripted, "./old", "./new")
    programs = programs_of_control(scripted, record)
    assert programs[0] == {"./old"}
    (copy,) = programs[1]
    assert (Path(copy).name, Path(copy).exists(), Path(copy).parent.exists()) == ("old", False, False)
    assert {spec.argv for spec in scripted.launched if b"old" in spec.program} == {(b"./old",)}
    assert all(seen)
    assert len(scripted.launched) == len(record.launches) + 1
    ((code, message),) = said(record)
    assert (code, "against a copy of its file" in message) == ("control-copy", True)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["./script", "./new"], "./script, which is a script, and may look for what stands beside it"),
        (["true", "./new"], "true, which was not given as the path of a program"),
        (["./old --x", "./new", "--shell"], "the shell, which was not given as the path of a program"),
        (["./rights", "./new"], "./rights, which runs with rights that a copy has not"),
    ],
)
def test_what_is_not_copied_is_said_with_the_reason(scripted: ScriptedWorld, words: list[str], why: str) -> None:
    elf(scripted)
    elf(scripted, "rights").chmod(0o4755)
    scripted.executable("script")
    scripted.script = alike
    record = weighed(scripted, *words)
    first, second = programs_of_control(scripted, record).values()
    assert first == second
    ((code, message),) = said(record)
    assert code == "control-one-file"
    assert message.startswith(f"both sides of the control are one file, {why}: it cannot see")


def test_a_program_whose_copy_does_not_run_is_its_own_control(scripted: ScriptedWorld) -> None:
    elf(scripted)

    def script(spec: LaunchSpec, number: int) -> Measured:
        runs = spec.program in (b"./old", b"./new")
        return alike(spec, number) if runs else measured(1, exit_code=127)

    scripted.script = script
    record = weighed(scripted, "./old", "./new")
    assert programs_of_control(scripted, record) == {0: {"./old"}, 1: {"./old"}}
    assert "of which a copy does not run elsewhere" in said(record)[0][1]


def test_where_there_is_no_room_for_a_copy_it_is_said(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    elf(scripted)
    scripted.script = alike

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copy", full)
    record = weighed(scripted, "./old", "./new")
    assert "./old, which cannot be copied here (No space left on device)" in said(record)[0][1]


def test_an_alarm_says_that_it_was_a_copy(scripted: ScriptedWorld) -> None:
    elf(scripted)

    def script(spec: LaunchSpec, number: int) -> Measured:
        is_copy = spec.program not in (b"./old", b"./new")
        return measured((12.6 if is_copy else 12) * (1 + number % 5 * 1e-4))

    scripted.script = script
    done = scripted("compare", "./old", "./new", *CONTROL, "--strict")
    assert done.status == 4
    assert "found the baseline slower than a copy of itself" in " ".join(done.text.split())


def test_one_that_was_interrupted_goes_on_with_a_new_copy(scripted: ScriptedWorld) -> None:
    elf(scripted)
    scripted.script = at_launch(12, ctrl_c, alike)
    assert scripted("compare", "./old", "./new", *CONTROL).status == 130
    (kept,) = scripted.kept()
    done = scripted("compare", "--resume", kept, "-o", "record.json")
    assert done.status == 0, done
    record = weighing_in(scripted.folder / "record.json")
    assert len([spec for spec in scripted.launched if b"control-scratch" in spec.program]) > 1
    assert [code for code, _ in said(record)] == ["control-copy"]
