"""Whole command lines on a scripted machine: everything from outside comes through the world."""

from __future__ import annotations

import json
import shlex
import subprocess
import time
from pathlib import Path
from typing import NoReturn

import pytest

from steelyard.model.errors import MeasurementError
from steelyard.model.files import load
from steelyard.model.journal import Journal
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import WARM_UP
from tests.loaded import run_in, weighing_in
from tests.world import (
    MACHINE,
    OFFERS,
    SEED,
    Killed,
    ScriptedServer,
    ScriptedWorld,
    at_launch,
    ctrl_c,
    kill,
    measured,
    program_of,
    steady,
)


@pytest.fixture(autouse=True)
def _nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*_: object, **__: object) -> NoReturn:
        pytest.fail("a process was started, or somebody waited")

    monkeypatch.setattr(subprocess, "Popen", started)
    monkeypatch.setattr(time, "sleep", started)


def test_a_weighing_from_its_command_line_to_its_record(scripted: ScriptedWorld) -> None:
    done = scripted("compare", "./old", "./new")
    assert done.status == 1
    assert "slower     +50.0 % [+50.0 %, +50.0 %]" in done.text
    (kept,) = scripted.kept()
    assert kept.name.startswith("20260101T120000.000000-weighing-")
    record = weighing_in(kept)
    assert record.machine == MACHINE.model_copy(update={"offers": OFFERS})
    assert (record.created, record.settings.seed) == ("2026-01-01T12:00:00+00:00", SEED)
    assert len(record.launches) == len(scripted.launched)
    assert record.seconds == pytest.approx(sum(row.wall_ns for row in record.launches.rows()) / 1e9, rel=1e-6)
    assert scripted("show").text == done.text


def test_a_run(scripted: ScriptedWorld) -> None:
    done = scripted("run", "./old", "--launches", "9", "--json", "record.json")
    assert done.status == 0
    assert "12.00 ms median" in done.text
    run_in("record.json")
    assert len(scripted.launched) == 10  # a warm-up launch, and 9


def test_a_server_that_has_ended_before_the_first_timed_launch_leaves_no_journal_behind(
    scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(*_: object) -> NoReturn:
        raise MeasurementError("the launch server ended unexpectedly")

    monkeypatch.setattr(ScriptedServer, "keep_rows_in", ended)
    scripted.script = ended
    assert scripted.refuses("compare", "./old", "./new", status=3) == "the launch server ended unexpectedly"
    assert scripted.kept() == []


def test_the_budget_is_one_of_the_world_s_clock(scripted: ScriptedWorld) -> None:
    scripted.script = steady({"old": 900.0, "new": 901.0})
    done = scripted("compare", "./old", "./new", "--max-time", "20")
    assert done.status == 0
    assert 18 <= scripted.seconds - 1000 <= 22


def test_a_launch_that_fails(scripted: ScriptedWorld) -> None:
    scripted.script = lambda _, number: measured(10, exit_code=3 if number == 7 else 0)
    said = scripted("compare", "./old", "./new").err.decode()
    assert "./new failed with exit status 3: fix the command" in said
    assert len(scripted.launched) == 7
    assert "kept in" in said


def test_a_launch_that_cannot_be_begun(scripted: ScriptedWorld) -> None:
    def script(spec: LaunchSpec, number: int) -> Measured:
        raise MeasurementError(f"{program_of(spec)} cannot be executed: launch {number}")

    scripted.script = script
    assert "cannot be executed: launch 1" in scripted.refuses("compare", "./old", "./new", status=3)
    assert scripted.kept() == []


@pytest.mark.parametrize(
    ("words", "role"),
    [(["run", "./{x}"], ""), (["run", "--heap", "./{x}"], ""), (["compare", "--heap", "./{x}", "./new"], "baseline ")],
)
def test_a_program_of_a_harness_that_is_missing_is_called_what_it_is(
    scripted: ScriptedWorld, words: list[str], role: str
) -> None:
    sentence = scripted.refuses(*words, "--harness", "protocol")
    assert sentence.startswith(f"the {role}command './{{x}}' cannot be run: ")


def test_where_nothing_could_be_measured_the_file_says_what_failed(scripted: ScriptedWorld) -> None:
    assert scripted("compare", "./old", "./new", "-o", "w.json").status == 1
    scripted.script = lambda *_: measured(10, exit_code=3)
    assert scripted("compare", "./old", "./new", "-o", "w.json", "--csv", "w.csv").status == 3
    record = load(Path("w.json"))
    assert (record.kind, record.stop, record.is_empty()) == ("weighing", ["failed"], True)
    assert not Path("w.csv").exists()
    gate = scripted("gate", "w.json")
    assert gate.status == 3
    assert "w.json: ./" in gate.text
    assert "failed with exit status 3" in " ".join(gate.text.split())


@pytest.mark.parametrize("words", [("--harness", "protocol"), ("--setup", "./sets-up")])
def test_so_it_does_where_that_was_before_the_first_launch(scripted: ScriptedWorld, words: tuple[str, ...]) -> None:
    scripted("compare", "./old", "./new", "-o", "w.json")
    scripted.executable("sets-up")
    scripted.script = lambda *_: measured(10, exit_code=3)
    sentence = scripted.refuses("compare", "./old", "./new", *words, "-o", "w.json", status=3)
    (found,) = load(Path("w.json")).findings
    assert (found.code, found.message) == ("failed", sentence)
    assert scripted("show", "w.json").sentence == sentence
    gate = scripted("gate", "w.json")
    assert (gate.status, " ".join(gate.text.split())) == (3, f"no answer w.json: {sentence}")
    assert "a launch failed" in scripted.refuses("compare", "--resume", "w.json")


@pytest.mark.parametrize("launched", [1, 7])
def test_pages_of_what_failed_are_not_those_of_an_earlier_weighing(scripted: ScriptedWorld, launched: int) -> None:
    words = ("compare", "./old", "./new", "--html", "w.html", "--markdown", "w.md")
    assert scripted(*words).status == 1
    scripted.script = lambda _, number: measured(10, exit_code=3 if number >= launched else 0)
    assert scripted(*words).status == 3
    for page, said in (
        ("w.html", "A launch failed, so there is no verdict"),
        ("w.md", "**no result**: a launch failed"),
    ):
        text = Path(page).read_text()
        assert said in text
        assert text.count("failed with exit status 3") == 1
        assert "slower" not in text.partition("</style>")[2].partition("<script")[0]
    assert scripted(*words[:3], "--markdown", "-").out == b"", "what is printed is of no earlier one"


def test_what_was_stopped_before_its_first_launch_leaves_the_file_of_an_earlier_one(scripted: ScriptedWorld) -> None:
    scripted("compare", "./old", "./new", "-o", "w.json")
    before = Path("w.json").read_bytes()

    def stopped(*_: object) -> Measured:
        ctrl_c()
        return measured(10)

    scripted.script = stopped
    assert scripted("compare", "./old", "./new", "-o", "w.json").status == 130
    assert scripted("compare", "./old", "./new", "--margin", "x", "-o", "w.json").status == 2
    assert Path("w.json").read_bytes() == before


def test_a_launch_that_takes_too_long(scripted: ScriptedWorld) -> None:
    scripted.script = steady({"old": 12.0, "new": 1200.0})
    said = scripted("compare", "./old", "./new", "--timeout", "1").err.decode()
    assert "1 s" in said
    assert "--timeout" in said


def test_an_interruption_keeps_what_had_ended(scripted: ScriptedWorld) -> None:
    scripted.script = at_launch(11, ctrl_c)
    assert scripted("compare", "./old", "./old", "--pairs", "40").status == 130
    record = load(scripted.kept()[-1])
    assert (len(record.launches), record.stop) == (10, ["interrupted"])


def test_a_second_interruption_at_once_is_the_same_one(scripted: ScriptedWorld) -> None:
    scripted.script = at_launch(11, ctrl_c, at_launch(11, ctrl_c))
    assert scripted("compare", "./old", "./old", "--pairs", "40").status == 130


def test_what_was_killed_is_carried_on(scripted: ScriptedWorld) -> None:
    scripted.script = at_launch(19, kill)
    with pytest.raises(Killed):
        scripted("compare", "./old", "./old", "--pairs", "12")
    (journal,) = scripted.kept()
    with Journal.resumed(journal):  # while somebody measures it, nobody else can carry it on
        assert scripted("show", journal).err == b""
    said = scripted("show", journal).err.decode()
    assert said == f"steelyard: to carry on: steelyard compare --resume {journal}\n"
    elsewhere = journal.with_name("elsewhere.journal")
    elsewhere.write_text(journal.read_text().replace(MACHINE.key, "fedcba9876543210"))
    assert scripted("show", elsewhere).err == b""
    elsewhere.unlink()
    assert scripted(*shlex.split(said)[5:]).status == 0
    (kept,) = scripted.kept()
    assert kept.name == f"{journal.stem}.json.gz", "by the name that it had it is found still"
    record = load(kept)
    assert record.stop != ["interrupted"]
    assert len(record.launches) == 26  # a warm-up pair, and 12


def test_an_interrupted_record_stays_beside_the_one_that_carries_it_on(scripted: ScriptedWorld) -> None:
    scripted.script = at_launch(19, ctrl_c)
    assert scripted("compare", "./old", "./old", "--pairs", "12").status == 130
    (begun,) = scripted.kept()
    done = scripted("compare", "--resume", begun.name)
    _, whole = scripted.kept()
    assert done.err.decode().endswith(f"steelyard: kept as {whole.name}; {begun.name} stays as it was\n")


def test_waiting_for_quiet_takes_the_world_s_time(scripted: ScriptedWorld) -> None:
    scripted.quiet_after_s = [3.5]
    scripted.script = lambda _, number: measured(12 + number * 1e-5, delay_ns=0)
    before = scripted.seconds
    assert scripted("compare", "./old", "./old", "--pairs", "12", "--wait-quiet", "10").status == 0
    assert scripted.seconds - before > 3.5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("./old {n}", "./new {m}", "-L", "n", "1,2"),
            "{m} in ./new {m} has no value, and was passed on as it stands; ./new {m} has no {n}, and was the same for",
        ),
        (("./old {n}", "./new", "-L", "n", "1,2"), "./new has no {n}, and was the same for all of its values"),
        (("./old-{layout} {x}", "./new-{layout}", "--layouts", "2"), "{x} in ./old-{layout} {x} has no value, and"),
        (("./old {n}", "./new {n}", "-L", "n", "1,2"), ""),
        (("./old", "./new", "-L", "n", "1,2", "--prepare", "./prepare {n}"), ""),
        (("./old {m}", "./new {m}"), ""),
    ],
)
def test_a_placeholder_without_a_value_is_noted_where_others_have_one(
    scripted: ScriptedWorld, words: tuple[str, ...], said: str
) -> None:
    for name in ("old-1", "old-2", "new-1", "new-2", "prepare"):
        scripted.executable(name)
    scripted.script = lambda _, number: measured(12 + number * 1e-5)
    text = " ".join(scripted("compare", *words, "--pairs", "12").text.split())
    assert said in text
    assert ("has no" in text) == bool(said)


def test_what_is_nothing_in_every_launch_has_a_median_of_0(scripted: ScriptedWorld) -> None:
    scripted.script = lambda _, number: measured(12 + number * 1e-5)
    text = scripted("compare", "./old", "./new", "--metric", "wall,major_faults", "--pairs", "12").text
    assert "medians 0 -> 0" in text


def test_the_terminal_is_the_one_of_the_environment(scripted: ScriptedWorld) -> None:
    long = "a-name-" * 20
    assert max(map(len, scripted("run", "./old", "--launches", "9", "--name", long).text.splitlines())) <= 100


def test_the_version_asks_the_world_s_launch_server(scripted: ScriptedWorld) -> None:
    assert "launch server scripted (offers schedstat, pressure, steal)" in scripted("--version").text


def test_a_program_is_looked_for_where_the_world_says(scripted: ScriptedWorld) -> None:
    scripted.executable("bin/tool-of-this-world")
    scripted.script = lambda *_: measured(5)
    assert scripted("run", "tool-of-this-world", "--launches", "9").status == 0
    assert {spec.program.decode() for spec in scripted.launched} == {f"{scripted.folder}/bin/tool-of-this-world"}


def test_a_metric_that_is_nothing_in_some_launches_says_what_may_be_done(scripted: ScriptedWorld) -> None:
    def script(spec: LaunchSpec, number: int) -> Measured:
        is_shell_alone = spec.argv[-1] == b":"
        return measured(1) if is_shell_alone else measured(12, user_ns=12_000_000 * (number % 3 > 0))

    scripted.script = script
    for words in ((), ("-L", "n", "1,2")):
        commands = ("./old {n}", "./new {n}") if words else ("./old", "./new")
        done = scripted("compare", *commands, *words, "--metric", "user", "--pairs", "12", "-o", "record.json")
        assert done.status == 0
        text = " ".join(done.text.split())
        assert "user was 0 or less in some launches and not in others" in text
        assert "choose another --metric, such as cpu" in text
        verdicts = json.loads(Path("record.json").read_bytes())["derived"]["verdicts"]
        assert {one["verdict"] for one in verdicts} == {"undecided"}
        assert {one["change"] for one in verdicts} == {None}
        assert {one["pairs"] for one in verdicts} == {12}
        assert {one[side]["median"] for one in verdicts for side in ("baseline", "candidate")} <= {6e6, 12e6}
        assert scripted("show", "record.json").text in done.text
    text = " ".join(scripted("compare", "./old", "./new", "--shell", "--metric", "user", "--pairs", "12").text.split())
    assert "leave --shell out if it takes longer to start" in text
    done = scripted("compare", "./old", "./new", "--metric", "wall,user,sys", "--pairs", "12")
    assert done.text.count("by clock ticks") == 1


def test_of_several_alone_those_that_the_time_was_up_before_keep_none_from_being_shown(scripted: ScriptedWorld) -> None:
    scripted.script = lambda *_: measured(1500.0)
    done = scripted("run", "./old {n}", "-L", "n", "1,2,3", "--max-time", "2")
    assert done.status == 0
    assert "1.500 s median" in done.text
    assert "time ran out before these were measured: n=1, n=2" in done.text
    assert "raise --max-time, or give fewer commands, or values of a parameter" in done.text


@pytest.mark.parametrize(("warm_up", "ends_at"), [(1, 2), (2, 2), (2, 4)])
def test_a_warm_up_that_was_cut_in_two_warms_up_neither_side(
    scripted: ScriptedWorld, warm_up: int, ends_at: int
) -> None:
    scripted.script = at_launch(ends_at, ctrl_c)
    words = ("compare", "./old", "./new", "--warmup", str(warm_up), "--pairs", "8")
    assert scripted(*words, "-o", "part.json").status == 130
    assert scripted("compare", "--resume", "part.json", "-o", "whole.json").status == 0
    record = load(Path("whole.json"))
    assert len(record.launches.complete_pairs(0, WARM_UP)) == warm_up
    assert len(record.launches.complete_pairs(0)) == 8
    places = [(row.pair, row.side) for row in record.launches.rows()]
    assert len({*places}) == len(places) == 2 * (warm_up + 8) + 1
