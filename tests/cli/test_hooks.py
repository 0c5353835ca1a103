"""The hooks, in whole command lines: before all launches, before and after each, and at the end."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pytest

from steelyard.design.runner.runner import Runner
from steelyard.model.files import load
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests.loaded import weighing_in
from tests.world import Killed, LaunchScript, ScriptedWorld, alike, at_launch, ctrl_c, kill, measured, program_of

HOOKS = ("setup", "prepare", "conclude", "cleanup")
AROUND = tuple(word for name in HOOKS for word in (f"--{name}", f"./{name}"))


def interrupted(*_: object) -> Measured:
    ctrl_c()
    return measured(12, cancelled=True)


@pytest.fixture
def world(scripted: ScriptedWorld) -> ScriptedWorld:
    scripted.script = alike
    for name in HOOKS:
        scripted.executable(name)
    return scripted


def launched(world: ScriptedWorld) -> list[str]:
    return [program_of(spec) for spec in world.launched]


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "./old", "./new", "--pairs", "9"),
        ("run", "./old", "--launches", "9"),
        ("run", "./old", "--launches", "9", "--shell"),
    ],
)
def test_each_in_its_place(world: ScriptedWorld, words: tuple[str, ...]) -> None:
    assert world(*words, *AROUND).status == 0
    programs = launched(world)
    assert (programs[0], programs[-1]) == ("setup", "cleanup")
    assert (programs.count("setup"), programs.count("cleanup")) == (1, 1)
    around = [place for place, program in enumerate(programs) if program == "prepare"]
    assert [programs[place + 2] for place in around] == ["conclude"] * len(around)
    assert len(around) == (20 if words[0] == "compare" else 10)


def test_one_for_each_command(world: ScriptedWorld) -> None:
    for name in ("setup-old", "setup-new"):
        world.executable(name)
    world("compare", "./old", "./new", "--pairs", "9", "--setup", "./setup-old", "--setup", "./setup-new")
    assert launched(world)[:2] == ["setup-old", "setup-new"]
    assert not {"setup-old", "setup-new"} & set(launched(world)[2:])


def test_those_around_launches_have_the_parameters_of_theirs(world: ScriptedWorld) -> None:
    words = ("-L", "n", "1,2", "--prepare", "./prepare {n}", "--conclude", "echo {n} {m} > in")
    assert world("compare", "./old {n}", "./new {n}", "--pairs", "9", *words).status == 0
    calls = [[os.fsdecode(word) for word in spec.argv] for spec in world.launched]
    around = [call for call in calls if "old" not in call[0] and "new" not in call[0]]
    assert {tuple(call) for call in around} == {
        ("./prepare", "1"),
        ("./prepare", "2"),
        ("/bin/sh", "-c", "echo 1 {m} > in"),
        ("/bin/sh", "-c", "echo 2 {m} > in"),
    }
    assert all(before[1] == call[1] for before, call in pairwise(calls) if before[0] == "./prepare")


def test_a_parameter_may_stand_in_those_around_launches_alone(world: ScriptedWorld) -> None:
    # The hook's program differs with each value, and the shell finds it.
    words = ("-L", "n", "1,2", "--prepare", "./make-{n} in")
    assert world("run", "./old in", "--launches", "9", *words).status == 0
    made = {os.fsdecode(spec.argv[-1]) for spec in world.launched if program_of(spec) == "sh"}
    assert made == {"./make-1 in", "./make-2 in"}


def test_a_layout_has_its_number_in_those_around_its_launches(world: ScriptedWorld) -> None:
    for name in ("old-1", "old-2", "new-1", "new-2"):
        world.executable(name)
    words = ("--layouts", "2", "--prepare", "./prepare {layout}", "--pairs", "12")
    world("compare", "./old-{layout}", "./new-{layout}", *words)
    prepared = [spec.argv[1] for spec in world.launched if program_of(spec) == "prepare"]
    assert set(prepared) == {b"1", b"2"}


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("compare", "./old {n}", "./new", "-L", "n", "1,2"), "n"),
        (("compare", "./old {n}", "./new", "-P", "n", "1", "2"), "n"),
        (("compare", "./old-{layout}", "./new-{layout}", "--layouts", "2"), "layout"),
        (("count", "./old {loops}", "--loops", "5"), "loops"),
    ],
)
@pytest.mark.parametrize("option", ["--setup", "--cleanup"])
def test_what_runs_once_has_no_value_of_a_parameter(
    world: ScriptedWorld, option: str, words: tuple[str, ...], name: str
) -> None:
    done = world(*words, option, f"./make {{{name}}}")
    assert done.status == 2
    assert f"{option} runs once, for all values: {{{name}}} has none there; use --prepare" in done.err.decode()
    assert not world.launched


@pytest.mark.parametrize("words", [("compare", "./old", "./new"), ("run", "./old"), ("count", "./old")])
def test_what_is_interrupted_is_concluded(world: ScriptedWorld, words: tuple[str, ...]) -> None:
    world.script = at_launch(3, ctrl_c)
    assert world(*words, *AROUND).status == 130
    assert (launched(world)[1], launched(world)[3:]) == ("prepare", ["conclude", "cleanup"])


def test_an_interrupt_behind_a_launch_comes_too_late_for_what_concludes_it(
    world: ScriptedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind = Runner._keep

    def late(runner: Runner, *of: Any) -> Any:
        ctrl_c()
        return behind(runner, *of)

    monkeypatch.setattr(Runner, "_keep", late)
    assert world("compare", "./old", "./new", "--conclude", "./conclude").status == 130
    assert [program_of(spec) for spec in world.launched[1:]] == ["conclude"]
    assert all(spec.timeout_ns is None for spec in world.launched[1:])


def test_none_of_them_is_measured(world: ScriptedWorld) -> None:
    world("run", "./old", "--launches", "9", *AROUND, "-o", "record.json")
    record = load(Path("record.json"))
    assert len(record.launches) == 10
    assert record.settings.setup == ["./setup"]
    assert record.settings.conclude == ["./conclude"]


def test_what_the_set_up_leaves_running_is_told_of(world: ScriptedWorld) -> None:
    def starting(spec: LaunchSpec, number: int) -> Measured:
        assert spec.leaves_running == (program_of(spec) == "setup")
        return measured(12, not_killed=("77 nginx",)) if spec.leaves_running else alike(spec, number)

    world.script = starting
    text = " ".join(world("compare", "./old", "./new", "--pairs", "9", *AROUND).text.split())
    assert "what --setup has left running goes on until all is measured: nginx" in text


@pytest.mark.parametrize(
    ("ended", "status"), [({}, 0), ({"exit_code": 7}, 3), ({"timed_out": True, "signal": 9, "exit_code": None}, 3)]
)
def test_what_is_left_running_before_each_launch_is_told_to_be_gone(
    world: ScriptedWorld, ended: dict[str, object], status: int
) -> None:
    def starting(spec: LaunchSpec, number: int) -> Measured:
        if program_of(spec) == "prepare":
            return measured(12, left_behind=(f"{number} postgres",))
        return measured(12 + number * 1e-5, **ended) if program_of(spec) == "new" else alike(spec, number)

    world.script = starting
    done = world("compare", "./old", "./new", "--pairs", "9", "--prepare", "./prepare")
    assert done.status == status
    said = " ".join((done.err.decode() if status else done.text).split())
    assert re.search(r"killed when (its command|these) ended: postgres\b", said)
    assert "--setup, whose processes go on until all is measured" in said
    assert "note launches left" not in said


def test_a_program_may_be_made_anew_before_all_launches(world: ScriptedWorld) -> None:
    def building(spec: LaunchSpec, number: int) -> Measured:
        if program_of(spec) == "setup":
            world.executable("new", "built anew")
        return alike(spec, number)

    world.script = building
    done = world("compare", "./old", "./new", "--pairs", "9", "--setup", "./setup", "-o", "record.json")
    assert done.status == 0
    built = load(Path("record.json")).subjects[1].digest
    world("compare", "./old", "./new", "--pairs", "9", "-o", "record.json")
    assert load(Path("record.json")).subjects[1].digest == built


def set_up_that(says: Callable[[Path], object], script: LaunchScript = alike) -> LaunchScript:
    """Return a script whose ./setup is passed the file that receives its standard error, to write what it says."""

    def setting_up(spec: LaunchSpec, number: int) -> Measured:
        if program_of(spec) == "setup" and isinstance(spec.stderr, bytes):
            says(Path(os.fsdecode(spec.stderr)))
        return script(spec, number)

    return setting_up


def test_what_a_set_up_says_is_not_read_whole(world: ScriptedWorld) -> None:
    def says_at_the_end(file: Path) -> None:
        with file.open("wb") as said:
            said.seek(1 << 40)
            said.write(b"\nserve: bind: Address already in use\n")

    world.script = set_up_that(says_at_the_end)
    text = " ".join(world("compare", "./old", "./new", "--pairs", "9", "--setup", "./setup").text.split())
    assert "'serve: bind: Address already in use'" in text


@pytest.mark.parametrize(
    ("wrote", "is_told"),
    [("serve: bind: Address already in use\n", True), ("listening on 8001\n", False)],
)
def test_a_set_up_that_says_what_went_wrong_and_ends_well(world: ScriptedWorld, wrote: str, is_told: bool) -> None:
    world.script = set_up_that(lambda file: file.write_text(wrote))
    text = " ".join(world("compare", "./old", "./new", "--pairs", "9", "--setup", "./setup").text.split())
    told = "note --setup ./setup wrote to standard error: 'serve: bind: Address already in use' it ended with status 0"
    assert (told in text) == is_told


@pytest.mark.parametrize("hook", [("--setup", "./setup"), ()])
@pytest.mark.parametrize("fails", [True, False])
def test_no_secret_that_a_command_says_is_kept(world: ScriptedWorld, hook: tuple[str, ...], fails: bool) -> None:
    line = b"could not log in with hunter2\n"

    def saying(spec: LaunchSpec, number: int) -> Measured:
        if isinstance(spec.stderr, bytes):
            Path(os.fsdecode(spec.stderr)).write_bytes(line)
        said = measured(12 + number * 1e-5, stderr=line, stderr_bytes=len(line))
        return replace(said, exit_code=int(fails and number > 5))

    world.script = saying
    done = world("compare", "./old", "./new", "--pairs", "9", *hook, "--env", "PGPASSWORD=hunter2", "--json", "a.json")
    assert "could not log in with ***" in f"{done.text}{done.err.decode()}".replace("\n", " ")
    assert "hunter2" not in f"{done.text}{done.err.decode()}{Path('a.json').read_text()}"


def test_what_each_set_up_says_is_told_once_of_a_weighing_that_is_carried_on(world: ScriptedWorld) -> None:
    wrote = ["no table", "no table", "no room"]
    world.script = set_up_that(
        lambda file: file.write_text(f"error: {wrote.pop(0)}\n"),
        lambda spec, number: interrupted() if number in (9, 18) else alike(spec, number),
    )
    world("compare", "./old", "./new", "--pairs", "15", "--setup", "./setup", "-o", "record.json")
    for _ in range(2):
        text = " ".join(world("compare", "--resume", "record.json", "-o", "record.json").text.split())
    assert [text.count(f"wrote to standard error: 'error: {what}'") for what in ("no table", "no room")] == [1, 1]


def test_no_secret_that_a_set_up_says_is_in_what_a_kill_leaves(world: ScriptedWorld) -> None:
    world.script = at_launch(9, kill, set_up_that(lambda file: file.write_text("error: hunter2 is wrong\n")))
    with pytest.raises(Killed):
        world("compare", "./old", "./new", "--setup", "./setup", "--env", "PGPASSWORD=hunter2")
    (journal,) = world.kept()
    assert "error: *** is wrong" in journal.read_text()


def test_a_set_up_that_fails_or_is_interrupted_measures_nothing(world: ScriptedWorld) -> None:
    world.script = lambda spec, _: measured(12, exit_code=int(program_of(spec) == "setup"))
    sentence = world.refuses("compare", "./old", "./new", *AROUND, status=3)
    assert sentence.startswith("the --setup command './setup' failed with exit status 1")
    world.script = interrupted
    assert world.refuses("compare", "./old", "./new", *AROUND, status=130) == (
        "interrupted before anything was measured: --setup had not ended; what is to go on runs in its background, "
        "as in './server &'"
    )
    assert launched(world) == ["setup", "cleanup"]
    assert not world.kept()


def test_a_weighing_that_is_carried_on_is_set_up_again(world: ScriptedWorld) -> None:
    world.script = at_launch(9, kill)
    with pytest.raises(Killed):
        world("compare", "./old", "./new", "--pairs", "9", *AROUND)
    world.script = alike
    (journal,) = world.kept()
    done = world("compare", "--resume", journal)
    assert done.status == 0
    for name in HOOKS:
        assert re.search(rf"^  {name} +\./{name}$", done.err.decode(), re.MULTILINE), "what will run is said before"
    assert [name for name, _ in groupby(launched(world), key=lambda program: program == "setup")] == [True, False]


def test_what_was_cleaned_up_is_set_up_for_the_rest(world: ScriptedWorld) -> None:
    """The set-up makes the programs; the clean-up removes them, after an interruption too."""

    def making(spec: LaunchSpec, number: int) -> Measured:
        if program_of(spec) == "setup":
            world.executable("new")
        if program_of(spec) == "cleanup":
            (world.folder / "new").unlink()
        return interrupted() if number == interrupted_at else alike(spec, number)

    world.script, interrupted_at = making, 9
    assert world("compare", "./old", "./new", "--pairs", "9", *AROUND).status == 130
    assert not (world.folder / "new").exists()
    (record,) = world.kept()
    interrupted_at = 0
    assert world("compare", "--resume", record).status == 0


@pytest.mark.parametrize("command", ["compare", "run"])
def test_a_clean_up_that_is_interrupted_is_told_of(world: ScriptedWorld, command: str) -> None:
    world.script = lambda spec, number: interrupted() if program_of(spec) == "cleanup" else alike(spec, number)
    words = ("compare", "./old", "./new", "--pairs", "9") if command == "compare" else ("run", "./old")
    done = world(*words, *AROUND)
    assert done.status == (0 if command == "compare" else 130)
    assert "--cleanup was interrupted: what it should have cleaned up may still be there" in " ".join(done.text.split())


def test_cleaning_up_takes_no_time_of_pairs(world: ScriptedWorld) -> None:
    def needed_s() -> float:
        world.launches = 0
        world("compare", "./old", "./new", "--pairs", "9", "--seed", "1", *AROUND, "-o", "record.json")
        record = weighing_in("record.json")
        assert record.derived is not None
        found = record.derived.verdicts[0].seconds_needed
        assert found is not None
        return found

    def noisy(spec: LaunchSpec, number: int) -> Measured:
        return measured(slow_s * 1e3) if program_of(spec) == "cleanup" else measured(12 + number * number % 7)

    world.script, slow_s = noisy, 0.0
    quick_s = needed_s()
    slow_s = 100.0
    assert needed_s() == pytest.approx(quick_s, rel=0.1)


def test_a_set_up_that_makes_another_program_is_not_mixed_with_it(world: ScriptedWorld) -> None:
    def building(spec: LaunchSpec, number: int) -> Measured:
        world.executable("new", "built anew")
        return alike(spec, number)

    world.script = at_launch(9, kill)
    with pytest.raises(Killed):
        world("compare", "./old", "./new", "--pairs", "9", "--setup", "./setup")
    (journal,) = world.kept()
    world.script = building
    done = world("compare", "--resume", journal)
    assert (done.status, done.out) == (2, b"")
    assert b"is not the program that" in done.err
    assert launched(world) == ["setup"]


@pytest.mark.parametrize("option", ["--prepare", "--conclude"])
def test_one_command_has_one_around_its_launches(world: ScriptedWorld, option: str) -> None:
    twice = (option, "./prepare", option, "./conclude")
    said = f"{option} has two commands, for two sides, and there is one: give one"
    assert world.refuses("run", "./old", *twice) == said
    assert world.refuses("count", "./old", *twice) == said
    assert world("compare", "./old", "./new", "--pairs", "9", *twice).status in (0, 1)


@pytest.mark.parametrize("name", HOOKS)
def test_one_that_lasts_is_told_of(world: ScriptedWorld, name: str) -> None:
    world.script = lambda spec, number: measured(60_000) if program_of(spec) == name else alike(spec, number)
    done = world("compare", "./old", "./old", "--pairs", "9", *AROUND)
    assert done.err.decode().count(f"steelyard: --{name} ./{name} has run for 1 min, and has no time limit\n") == 1


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("compare", "./old {n}", "./new {n}", "-L", "n", "1,2"), "n"),
        (("compare", "./old", "./new", "-L", "n", "1,2"), "n"),
        (("run", "./old {n}", "-P", "n", "1", "2"), "n"),
    ],
)
def test_no_variable_has_the_value_of_a_parameter(world: ScriptedWorld, words: tuple[str, ...], name: str) -> None:
    said = world.refuses(*words, "--env", f"SIZE={{{name}}}")
    assert f"--env SIZE={{{name}}} is the same for all values: {{{name}}} has none there" in said
    assert f"set it in the command, as in 'env SIZE={{{name}}} ./old" in said
    assert not world.launched
