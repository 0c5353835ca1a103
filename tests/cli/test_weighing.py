"""What users do every day: compare, run and show, end to end."""

from __future__ import annotations

import csv
import json
import os
import stat
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from steelyard.design.runner.draws import draw_pair, first_side
from steelyard.model.rows import COLUMNS
from tests.in_process import InProcess
from tests.tool import TWICE_THE_WORK, WORK, Tool, rows, sh, status_of
from tests.world import ScriptedWorld, alike, measured, program_of, steady

VERDICTS = ("slower", "faster", "same", "undecided")


def verdict_of(text: str) -> str:
    (word,) = [line.split()[0] for line in text.splitlines() if line.split()[:1] and line.split()[0] in VERDICTS]
    return word


def test_twice_the_work_is_slower_and_status_1(tool: Tool) -> None:
    done = tool("compare", WORK, TWICE_THE_WORK, "--names", "old,new", "--max-time", "30")
    assert (done.status, done.err) == (1, b"")
    assert verdict_of(done.text) == "slower"
    assert [line.split()[:2] for line in done.text.splitlines()[:2]] == [["baseline", "old"], ["candidate", "new"]]
    done.check_is_tidy()


def test_half_the_work_is_faster_and_status_0(scripted: ScriptedWorld) -> None:
    done = scripted("compare", "./new", "./old", "--max-time", "30", "--strict")
    assert done.status == 0
    assert verdict_of(done.text) == "faster"


def test_the_same_work_is_the_same_and_status_0(scripted: ScriptedWorld) -> None:
    done = scripted("compare", "./old", "./old", "--margin", "50", "--max-time", "30", "--strict")
    assert done.status == 0
    assert verdict_of(done.text) == "same"
    assert "./old (1)" in done.text
    assert "./old (2)" in done.text


@pytest.mark.parametrize(("strict", "status"), [([], 0), (["--strict"], 4)])
def test_too_few_pairs_are_undecided_and_status_4_only_if_strict(
    scripted: ScriptedWorld, strict: list[str], status: int
) -> None:
    scripted.script = lambda _, number: measured(12 + 0.1 * (number * 7 % 5))
    done = scripted("compare", "./old", "./new", "--pairs", "18", "--margin", "0.001%", "--alpha", "1e-5", *strict)
    assert done.status == status
    assert verdict_of(done.text) == "undecided"


def test_a_run_describes_and_has_no_verdict(here: InProcess) -> None:
    done = here("run", "true", "--launches", "10", "--name", "nothing", "-o", "record.json")
    assert (done.status, done.err) == (0, b"")
    assert "nothing" in done.text
    assert "10 launches" in done.text
    assert not any(word in done.text for word in ("slower", "faster", "undecided"))
    record = here.json()
    assert (record["kind"], len(record["subjects"]), "verdict" in record) == ("run", 1, False)
    assert record["launches"]["role"] == [0] + [1] * 10
    assert set(record["launches"]["side"]) == {0}


def test_one_launch_is_enough_for_a_run(here: InProcess) -> None:
    assert here("run", "true", "--launches", "1", "--warmup", "0").status == 0


def test_time_limits_a_weighing(scripted: ScriptedWorld) -> None:
    # One second has time for a few pairs, too few for any other end.
    scripted.script = steady({"old": 100.0})
    done = scripted("compare", "./old", "./old", "--warmup", "0", "--max-time", "1", "--json", "record.json")
    assert done.status == 0
    record = scripted.json()
    assert (record["stop"], record["verdict"]) == (["time"], "undecided")
    assert 1 <= len(record["launches"]["pair"]) / 2 <= 6


# --- the files


def test_the_record_holds_every_launch_and_what_was_found(here: InProcess) -> None:
    done = here.compare(
        *(WORK, TWICE_THE_WORK, "--names", "old, new", "--pairs", "500", "--warmup", "2", "--seed", "42"),
        *("--margin", "2", "--alpha", "0.02", "--metric", "wall,cpu", "--metric", "max_rss", "--json", "record.json"),
    )
    record = here.json()
    jsonschema.validate(record, json.loads((resources.files("steelyard.model") / "record.schema.json").read_text()))
    assert list(record)[:2] == ["format", "version"]
    assert record["verdict"] == verdict_of(done.text) == "slower"
    assert record["change"] > 0.02
    assert record["interval"][0] < record["change"] < record["interval"][1]
    assert record["pairs"] >= 12
    assert [subject["name"] for subject in record["subjects"]] == ["old", "new"]
    assert record["subjects"][1]["command"] == TWICE_THE_WORK
    assert record["subjects"][1]["argv"][:2] == ["sh", "-c"]
    assert Path(record["subjects"][1]["program"]).is_absolute()
    settings = record["settings"]
    assert (settings["margin"], settings["alpha"], settings["pairs"]) == (0.02, 0.02, 500)
    assert (settings["warm_up"], settings["seed"], settings["max_time_s"]) == (2, 42, None)
    assert settings["metrics"] == ["wall", "cpu", "max_rss"]
    assert [each["metric"] for each in record["derived"]["verdicts"]] == ["wall", "cpu", "max_rss"]
    assert record["machine"]["cores_logical"] >= 1

    launches = rows(
        record, "pair", "side", "order", "role", "hash_seed", "padding_bytes", "layout", "exit_code", "signal"
    )
    assert len(launches) >= 2 * (2 + 12)
    for first, second in zip(launches[::2], launches[1::2], strict=True):
        pair = first[0]
        assert first[:4] == (pair, first_side(42, 0, pair), 0, 0 if pair < 2 else first[3])
        assert second[:4] == (pair, 1 - first_side(42, 0, pair), 1, first[3])
        assert first[4:] == second[4:] == (*draw_pair(42, 0, pair), 0, None)
    assert [first[0] for first in launches[::2]] == list(range(len(launches) // 2))
    starts, walls = record["launches"]["start_ns"], record["launches"]["wall_ns"]
    for start, wall, following in zip(starts, walls, starts[1:], strict=False):
        assert start + wall <= following


def test_the_table_for_pull_requests(scripted: ScriptedWorld) -> None:
    scripted("compare", "./old", "./new", "--names", "old,new", "--markdown", "table.md")
    text = (scripted.folder / "table.md").read_text()
    assert text.startswith("**slower**")
    assert "<code>old</code>" in text
    assert "<code>new</code>" in text
    assert "| active |" in text


def test_the_table_of_a_run(scripted: ScriptedWorld) -> None:
    scripted("run", "./old", "--launches", "10", "--name", "nothing", "--markdown", "table.md")
    assert "<code>nothing</code>" in (scripted.folder / "table.md").read_text()


def test_the_raw_launches_as_csv_are_those_of_the_record(here: InProcess) -> None:
    here.compared("--csv", "launches.csv", "--names", "old,new")
    with (here.folder / "launches.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    expected = rows(here.json(), *COLUMNS)
    assert [tuple(row[name] for name in COLUMNS) for row in found] == [
        tuple("" if value is None else str(value) for value in row) for row in expected
    ]
    assert {(row["side"], row["side_name"], row["subject_name"]) for row in found} == {
        ("0", "baseline", "old"),
        ("1", "candidate", "new"),
    }


def test_a_record_may_be_compressed(scripted: ScriptedWorld) -> None:
    scripted("compare", "./old", "./new", "--json", "record.json.gz")
    assert (scripted.folder / "record.json.gz").read_bytes().startswith(b"\x1f\x8b")
    assert scripted("show", "record.json.gz").status == 0


def test_files_are_written_over(scripted: ScriptedWorld) -> None:
    for name in ("record.json", "table.md", "launches.csv"):
        (scripted.folder / name).write_text("before")
    scripted("compare", "./old", "./new", "--json", "record.json", "--markdown", "table.md", "--csv", "launches.csv")
    assert scripted.json()["format"] == "steelyard"
    assert "before" not in (scripted.folder / "table.md").read_text().split()
    assert "before" not in (scripted.folder / "launches.csv").read_text().split()


def test_two_outputs_may_both_go_nowhere(here: InProcess) -> None:
    nowhere = Path("/dev/null")
    if os.geteuid() == 0:  # root could replace /dev/null by a file, so take another device
        nowhere = here.folder / "null"
        os.mknod(nowhere, 0o666 | stat.S_IFCHR, Path("/dev/null").stat().st_rdev)
    done = here.compare("--json", nowhere, "--csv", nowhere)
    assert (done.status, done.err) == (status_of(here.shown()), b"")
    assert nowhere.is_char_device()


# --- show


def test_show_says_again_what_was_said(scripted: ScriptedWorld) -> None:
    said = scripted(
        *("compare", "./old", "./new"), "--json", "record.json", "--markdown", "table.md", "--csv", "launches.csv"
    )
    for words in (["show"], ["show", "record.json"]):
        done = scripted(*words, "--json", "again.json", "--markdown", "again.md", "--csv", "again.csv")
        assert (done.status, done.out, done.err) == (0, said.report, b"")
        for name, again in (("record.json", "again.json"), ("table.md", "again.md"), ("launches.csv", "again.csv")):
            assert (scripted.folder / name).read_bytes() == (scripted.folder / again).read_bytes()


def test_show_derives_its_verdicts_from_the_launches(scripted: ScriptedWorld) -> None:
    scripted("compare", "./old", "./new", "--json", "record.json")
    record = scripted.json()
    record["verdict"] = record["derived"]["verdicts"][0]["verdict"] = "faster"
    record["launches"]["side"] = [1 - side for side in record["launches"]["side"]]
    (scripted.folder / "record.json").write_text(json.dumps(record))
    assert verdict_of(scripted("show", "record.json").text) == "faster"
    record["launches"]["side"] = [1 - side for side in record["launches"]["side"]]
    (scripted.folder / "record.json").write_text(json.dumps(record))
    assert verdict_of(scripted("show", "record.json").text) == "slower"


def test_show_takes_the_last_of_the_store(scripted: ScriptedWorld) -> None:
    scripted("run", "./old", "--launches", "3", "--name", "first")
    scripted("run", "./old", "--launches", "3", "--name", "second")
    assert len(scripted.kept()) == 2
    assert "second" in scripted("show").text
    assert "first" in scripted("show", scripted.kept()[0]).text


def test_show_without_anything_measured(asked: InProcess) -> None:
    assert "nothing has been measured yet" in asked.refuses("show")


def test_a_record_can_come_through_a_pipe(tool: Tool) -> None:
    tool("run", "true", "--launches", "3", "--name", "first", "--json", "record.json")
    done = tool("show", "/dev/stdin", stdin=None, input=(tool.folder / "record.json").read_bytes())
    assert "first" in done.text


# --- the options that change what is launched


def test_the_same_seed_draws_the_same_plan_and_another_another(here: InProcess) -> None:
    plans = []
    for seed in ("7", "7", "8"):
        here.compare("--seed", seed, "--json", "record.json")
        record = here.json()
        plans.append(rows(record, "pair", "side", "order", "hash_seed", "padding_bytes")[:26])
        assert record["settings"]["seed"] == int(seed)
    assert plans[0] == plans[1]
    assert plans[0] != plans[2]


def test_a_seed_is_drawn_and_told(here: InProcess) -> None:
    seeds = set()
    for _ in range(2):
        done = here.compare("--json", "record.json")
        seeds.add(here.json()["settings"]["seed"])
        assert f"--seed {here.json()['settings']['seed']}" in done.text
    assert len(seeds) == 2


def test_launches_see_the_draw_of_their_pair_and_little_else(here: InProcess) -> None:
    here.environment |= {"SECRET": "x", "TZ": "UTC", "PYTHONPATH": "/tmp"}
    command = sh("env | cut -d= -f1 >> names; echo $PYTHONHASHSEED ${#STEELYARD_PADDING} >> draws")
    here("run", command, "--launches", "3", "--warmup", "0", "--json", "record.json")
    seen = {"HOME", "LANG", "PATH", "TMPDIR", "TZ", "PYTHONHASHSEED", "PERL_HASH_SEED", "STEELYARD_PADDING"}
    assert set(here.lines("names")) - {"PWD", "OLDPWD", "SHLVL", "_"} == seen
    draws = [tuple(map(int, line.split())) for line in here.lines("draws")]
    assert draws == rows(here.json(), "hash_seed", "padding_bytes")
    assert len(set(draws)) == 3


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        ([], "secret= new= lang=C.UTF-8"),
        (["--env", "SECRET"], "secret=x new= lang=C.UTF-8"),
        (["--env", "NEW=a b", "--env", "EMPTY="], "secret= new=a b lang=C.UTF-8"),
        (["--env", "SECRET=y", "--env", "LANG=C"], "secret=y new= lang=C"),
        (["--inherit-env"], "secret=x new= lang=C.UTF-8"),
        (["--inherit-env", "--env", "SECRET=z"], "secret=z new= lang=C.UTF-8"),
    ],
    ids=str,
)
def test_env(here: InProcess, words: list[str], seen: str) -> None:
    here.environment |= {"SECRET": "x"}
    command = sh('echo "secret=$SECRET new=$NEW lang=$LANG" >> log')
    here("run", command, "--launches", "1", "--warmup", "0", *words)
    assert here.lines() == [seen]


def test_stdin_is_read_anew_by_each_launch(tool: Tool) -> None:
    (tool.folder / "input").write_text("one line\n")
    for words in (["--stdin", "input"], ["--stdin", "/dev/stdin"]):
        with (tool.folder / "input").open("rb") as file:
            done = tool("run", sh("cat >> log; echo end >> log"), "--launches", "2", *words, stdin=file)
        assert done.status == 0
        assert tool.lines() == ["one line", "end"] * 3
        (tool.folder / "log").unlink()


def test_stdin_is_empty_else(tool: Tool) -> None:
    tool("run", sh("wc -c >> log"), "--launches", "2", "--warmup", "0", stdin=None, input=b"not for the launches")
    assert tool.lines() == ["0", "0"]


def test_prepare_and_cleanup_each_of_their_own(here: InProcess) -> None:
    record = here.compared(
        *(sh("echo old >> log"), sh("echo new >> log")),
        *("--prepare", sh("echo prepare old >> log"), "--prepare", sh("echo prepare new >> log")),
        *("--cleanup", sh("echo clean old >> log"), "--cleanup", sh("echo clean new >> log")),
    )
    sides = [("old", "new")[side] for side in record["launches"]["side"]]
    assert len(sides) >= 2 * 13
    expected = [line for side in sides for line in (f"prepare {side}", side)]
    assert here.lines() == [*expected, "clean old", "clean new"]


def test_prepare_and_cleanup_for_both(scripted: ScriptedWorld) -> None:
    scripted.script = alike
    for name in ("prepare", "clean"):
        scripted.executable(name)
    scripted("compare", "./old", "./old", "--prepare", "./prepare", "--cleanup", "./clean", "--pairs", "12")
    names = [program_of(spec) for spec in scripted.launched]
    launches = names.count("old")
    assert launches >= 2 * 13
    assert names == ["prepare", "old"] * launches + ["clean"]


def test_prepare_is_not_timed(scripted: ScriptedWorld) -> None:
    scripted.script = steady({"old": 12.0, "prepare": 500.0})
    scripted.executable("prepare")
    words = ("--launches", "1", "--warmup", "0", "--prepare", "./prepare", "--json", "record.json")
    scripted("run", "./old", *words)
    record = scripted.json()
    assert record["launches"]["wall_ns"][0] < 500_000_000 < record["seconds"] * 1e9


def test_a_shell_runs_what_only_a_shell_can(here: InProcess) -> None:
    done = here("run", "echo a | cat >> log && true", "--shell", "--launches", "2", "--warmup", "0")
    assert done.status == 0
    assert here.lines() == ["a", "a"]
    assert "the shell's own start takes about" in done.text


def test_the_processor_is_the_one_asked_for(here: InProcess) -> None:
    cpu = max(os.sched_getaffinity(0))
    here("run", sh("grep Cpus_allowed_list /proc/self/status >> log"), "--launches", "2", "--cpu", str(cpu))
    assert {line.split()[1] for line in here.lines()} == {str(cpu)}


def test_failures_are_accepted_if_asked_for(here: InProcess) -> None:
    record = here.compared("false", sh("kill -9 $$"), "--ignore-failure")
    assert set(rows(record, "side", "exit_code", "signal")) == {(0, 1, None), (1, None, 9)}


def test_warm_up_launches_are_kept_and_not_judged(here: InProcess) -> None:
    here("run", sh("echo launch >> log"), "--launches", "4", "--warmup", "3", "--json", "record.json")
    assert len(here.lines()) == 7
    assert here.json()["launches"]["role"] == [0] * 3 + [1] * 4
    assert here.json()["derived"]["summaries"][0]["launches"] == 4


def test_what_a_launch_leaves_behind_is_killed_and_named(here: InProcess) -> None:
    done = here("run", sh("sleep 600 & :"), "--launches", "2")
    assert done.status == 0
    assert "left 3 processes behind" in " ".join(done.text.split())
    assert "sleep" in done.text
