"""`steelyard check` without a command: the targets of a project's file, as they are in the work tree."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from steelyard.api import project_checks
from steelyard.api.project_checks import BuiltSide
from steelyard.model.findings import Finding
from steelyard.subjects.revisions.checkout import NotBuiltError
from steelyard.subjects.revisions.sides import Side
from tests.golden.programs import Bench, Program
from tests.projects import TWO, ProjectWorld, project_world
from tests.world import ScriptedWorld, program_of

SUITE = '[[target]]\nname = "suite"\ncommand = "./suite"\nharness = "protocol"\n'
CHECK = ("check", "--max-time", "1")


@pytest.fixture
def world(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> ProjectWorld:
    """A project with `./sort` and `./parse`, which take long enough to be sound."""
    made = project_world(scripted, monkeypatch)
    made.ms["true"] = (1, 1)
    return made


def test_a_command_is_checked_in_the_folder_of_the_work_tree(world: ProjectWorld) -> None:
    world.says(TWO)
    done = world(*CHECK, "--target", "sort", "--json", "found.json")
    assert done.status == 0, done.text
    assert "checking" not in done.text
    assert "checked    ./sort big\n" in done.text
    assert "sound      sort: " in done.text
    (found,) = world.records("found.json")
    assert (found["command"], found["benchmarks"], found["harness"]) == ("./sort big", ["sort"], None)
    assert {spec.cwd for spec in world.launched if program_of(spec) == "sort"} == {os.fsencode(world.folder / "head")}
    assert world.ran() == ["true", "./sort big"]
    assert done.err.decode() == "steelyard: steelyard.toml says what is run:\n  sort  ./sort big\n"


def test_all_are_checked_each_under_its_name_and_with_a_record_of_its_own(world: ProjectWorld) -> None:
    world.program("parse", 1.1, 1.1)
    world.says(TWO)
    done = world(*CHECK, "--json", "found.json")
    assert done.status == 1
    assert done.text.startswith("checking   sort\nchecked    ./sort big\n")
    assert "\n\nchecking   parse\nchecked    ./parse\n" in done.text
    assert done.text.endswith("in all     1 trouble in 1 of 2 checks\ntrouble    parse: too-short\n")
    assert b"steelyard: written: found-sort.json, found-parse.json\n" in done.err
    assert [one["benchmarks"] for one in world.records("found-sort.json", "found-parse.json")] == [["sort"], ["parse"]]
    assert not (world.folder / "found.json").exists()


def test_a_suite_is_checked_by_its_harness_and_the_patterns_of_the_file(world: ProjectWorld) -> None:
    world.program("suite", 0, 0)
    benchmarks = {"up": Bench(tags=("fast",)), "down": Bench(), "other": Bench(tags=("fast",))}
    world.drives(suite=Program(benchmarks=benchmarks))
    world.says(f'{SUITE}benchmarks = ["up", "down"]\ntags = ["fast"]\n')
    done = world(*CHECK, "--json", "found.json")
    assert (done.status, world.json("found.json")["benchmarks"]) == (0, ["up"]), done.text
    done = world(*CHECK, "-b", "other", "--json", "found.json")
    assert (done.status, world.json("found.json")["benchmarks"]) == (0, ["other"]), done.text


def test_every_value_of_a_parameter_is_a_check(world: ProjectWorld) -> None:
    world.says(
        '[[target]]\nname = "sort"\ncommand = "./sort {n}"\nparameters = { n = [1, "a b"] }\nprepare = "./reset {n}"\n'
    )
    world.program("reset", 1, 1)
    done = world(*CHECK, "--json", "found.json")
    assert done.status == 0, done.text
    found = world.records("found-sort-n-1.json", "found-sort-n-a-b.json")
    assert [one["benchmarks"] for one in found] == [["sort, n=1"], ["sort, n=a b"]]
    launched = [spec.argv for spec in world.launched if program_of(spec) != "true"]
    assert launched[:2] == [(b"./reset", b"1"), (b"./sort", b"1")]
    assert (b"./sort", b"a b") in launched
    world(*CHECK, "-b", "sort, n=a b", "--json", "found.json")
    assert world.json("found.json")["benchmarks"] == ["sort, n=a b"]


def test_it_is_launched_as_the_file_says(world: ProjectWorld) -> None:
    (world.folder / "words").write_text("x")
    world.says(
        f"""[compare]
environment = ["KIND=all"]
timeout = "7s"
max-time = "1h"
heap = true
metrics = ["instructions"]
[[target]]
name = "sort"
command = "./sort"
stdin = "words"
ignore-failure = true
{TWO[TWO.rindex("[[") :]}timeout = "8s"
"""
    )
    world.script = lambda spec, number: replace(world.takes(spec, number), exit_code=int(program_of(spec) == "sort"))
    assert world(*CHECK).status == 0
    specs = {program_of(spec): spec for spec in world.launched}
    assert b"KIND=all" in specs["sort"].env
    assert specs["sort"].stdin == os.fsencode(world.folder / "words")
    assert (specs["sort"].timeout_ns, specs["parse"].timeout_ns) == (7 * 10**9, 8 * 10**9)
    world(*CHECK, "--timeout", "9", "--env", "KIND=own", "--target", "parse")
    assert (world.launched[-1].timeout_ns, b"KIND=own" in world.launched[-1].env) == (9 * 10**9, True)


def test_no_secret_reaches_what_the_file_names(world: ProjectWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    surroundings = {**world.environment, "GITHUB_TOKEN": "t", "PLAIN": "p"}
    monkeypatch.setattr(ProjectWorld, "environment", property(lambda _: surroundings))
    world.says(f"[compare]\ninherit-environment = true\n{TWO}")

    def found(*words: str) -> bytes:
        world.launched.clear()
        assert world(*CHECK, "--target", "sort", *words).status == 0
        return b" ".join(world.launched[-1].env)

    assert b"PLAIN=p" in found()
    assert b"GITHUB_TOKEN" not in found("--inherit-env")
    assert b"GITHUB_TOKEN" in found("--env", "GITHUB_TOKEN")


def test_commands_around_launches_are_those_of_the_side_that_is_checked(world: ProjectWorld) -> None:
    for name in ("make", "old", "new", "sweep"):
        world.program(name, 1, 1)
    hooks = 'setup = "./make"\nprepare = ["./old", "./new"]\ncleanup = "./sweep"\n'
    world.says(f"{TWO[: TWO.rindex('[[')]}{hooks}")
    assert world(*CHECK).status == 0
    ran = [program_of(spec) for spec in world.launched]
    assert (ran[0], ran[-1], ran.count("make"), ran.count("sweep")) == ("make", "sweep", 1, 1)
    assert ran.count("new") == ran.count("sort") > 0
    world.launched.clear()
    assert world(*CHECK, "--base", "main").status == 0
    ran = [program_of(spec) for spec in world.launched]
    assert ran.count("old") == ran.count("sort") > 0


def test_clean_up_follows_what_failed(world: ProjectWorld) -> None:
    world.program("sweep", 1, 1)
    world.says(f'{TWO[: TWO.rindex("[[")]}cleanup = "./sweep"\n')
    world.script = lambda spec, number: replace(world.takes(spec, number), exit_code=int(program_of(spec) == "sort"))
    done = world(*CHECK)
    assert (done.status, "steelyard: sort failed with exit status 1" in done.err.decode()) == (3, True)
    assert program_of(world.launched[-1]) == "sweep"


# --- what fails


def test_one_that_fails_leaves_the_others_as_they_are(world: ProjectWorld) -> None:
    world.says(TWO)
    (world.folder / "found-sort.json").write_text("of yesterday")
    world.script = lambda spec, number: replace(world.takes(spec, number), exit_code=int(program_of(spec) == "sort"))
    done = world(*CHECK, "--json", "found.json")
    assert done.status == 3
    assert "found-sort.json was removed: it came from an earlier check, and this one has no rec" in done.err.decode()
    assert "steelyard: sort: sort failed with exit status 1" in done.err.decode()
    assert done.text.endswith("in all     no trouble in 1 check\nfailed     sort\n")
    assert b"steelyard: written: found-parse.json\n" in done.err
    assert not (world.folder / "found-sort.json").exists()


def test_a_command_around_launches_that_fails_costs_its_target_alone(world: ProjectWorld) -> None:
    world.program("reset", 1, 1)
    world.says(f'{TWO}prepare = "./reset"\n')
    world.script = lambda spec, number: replace(world.takes(spec, number), exit_code=int(program_of(spec) == "reset"))
    done = world(*CHECK)
    assert done.status == 3
    assert "steelyard: parse: the --prepare command './reset' failed" in done.err.decode()
    assert "sound      sort: " in done.text


def test_one_that_does_not_build_is_told_with_the_lines_of_its_log(
    world: ProjectWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Unbuilt(Side):
        def of_target(self, name: str) -> Side:
            error = NotBuiltError(f"target {name} does not build", ["no rule"]) if name == "parse" else None
            return Side(self.name, self.folders, error=error)

    @contextmanager
    def built(*_: object) -> Iterator[BuiltSide]:
        yield BuiltSide(Unbuilt("the work tree", [world.folder / "head"]))

    monkeypatch.setattr(project_checks, "side_of_project", built)
    world.says(TWO)
    done = world(*CHECK)
    assert (done.status, "sound      sort: " in done.text) == (3, True)
    assert done.err.decode().endswith("steelyard: parse: target parse does not build\n  | no rule\n")
    alone = world(*CHECK, "--target", "parse")
    assert (alone.status, alone.out) == (3, b"")
    assert alone.err.decode().endswith("steelyard: target parse does not build\n  | no rule\n")


def test_what_is_known_of_the_revision_is_said_once(world: ProjectWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def built(*_: object) -> Iterator[BuiltSide]:
        side = Side("the work tree", [world.folder / "head"])
        yield BuiltSide(
            side, lambda *_: [Finding(code="shared", message="both import one", remedy="give each its own")]
        )

    monkeypatch.setattr(project_checks, "side_of_project", built)
    world.says(TWO)
    assert world(*CHECK).err.count(b"steelyard: both import one: give each its own\n") == 1


def test_ctrl_c_leaves_out_what_had_not_begun(world: ProjectWorld) -> None:
    world.says(TWO)
    world.press_ctrl_c(12)
    done = world(*CHECK)
    assert done.status == 130
    assert "interrupted: only what was launched until then is judged" in " ".join(done.text.split())
    assert done.text.endswith("left out   1 check that had not begun\n")
    assert world.ran() == ["true", "./sort big"]


def test_ctrl_c_before_anything_was_tried(world: ProjectWorld) -> None:
    world.says(TWO)
    world.press_ctrl_c(1)
    done = world(*CHECK)
    assert done.status == 130
    assert done.err.decode().endswith("steelyard: sort: interrupted before the first rule was tried\n")
    assert done.text.endswith("in all     nothing could be tried\nleft out   2 checks that had not begun\n")


# --- what is chosen


def test_commands_that_are_not_asked_for_are_named(world: ProjectWorld) -> None:
    world.program("suite", 0, 0)
    drive = {"suite": Program(benchmarks={"up": Bench()}), "sort": Program(benchmarks={"down": Bench()})}
    world.drives(**drive)
    world.says(TWO.replace("./sort big", './sort"\nharness = "protocol').replace("\n\n", "\n") + SUITE)
    done = world(*CHECK, "-b", "up")
    assert done.status == 0, done.text
    assert "steelyard: parse: a command that is not among those asked for, so it is left out\n" in done.err.decode()
    assert "sort: none of its benchmarks is among those asked for, so it is left out\n" in done.err.decode()
    assert done.text.endswith("in all     no trouble in 1 check\n")
    assert "--benchmark chooses no benchmark of any target" in world(*CHECK, "-b", "none").err.decode()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--target", "x"), "--target 'x' is none of steelyard.toml: it has sort, parse"),
        (("--harness", "auto"), "--harness is of commands: give them, or say it in a [[target]] of steelyard.toml"),
        (("--protocol",), "--protocol is about one program: steelyard check --protocol './program'"),
        (("--max-time", "0"), "--max-time"),
        (("--build-timeout", "9"), "--build-timeout is how long --build may take, and nothing is built: leave it out"),
        (("--json", "steelyard.toml"), "steelyard.toml is read, and would be overwritten: give another file"),
        (("./sort", "--target", "sort"), "--target chooses from those of a project's file: leave it out, or the com"),
    ],
)
def test_what_is_refused_before_anything_is_built(
    world: ProjectWorld, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], says: str
) -> None:
    monkeypatch.setattr(project_checks, "side_of_project", lambda *_: pytest.fail("it would build first"))
    world.says(TWO)
    done = world("check", *words)
    assert (done.status, world.launched) == (2, [])
    assert says in done.err.decode().splitlines()[-1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[compare]\nstdin = 'x'\n{}", "steelyard.toml:2: stdin x cannot be read"),
        ("[compare]\nprepare = ['a', 'b', 'c']\n{}", "steelyard.toml:2: prepare has 3 commands: give one for"),
        ("{}parameters = {{ a = [1] }}\n", "steelyard.toml:8: the parameter 'a' is used in no command"),
        ('{}[[target]]\nname = "gone"\ncommand = "./gone"\n', "/head/gone' cannot be run: No such file or directory"),
    ],
)
def test_what_is_wrong_in_the_file_is_named_with_its_line(world: ProjectWorld, text: str, says: str) -> None:
    world.says(text.format(TWO))
    done = world(*CHECK)
    assert (done.status, world.launched) == (2, [])
    assert says in done.err.decode()


def test_without_a_project_both_ways_are_told(world: ProjectWorld) -> None:
    ways = "a command, in quotes: steelyard check './program'; or a project's file, which steelyard init writes"
    assert world.refuses("check") == f"check needs {ways}"


def test_records_of_several_need_a_file_s_name_and_do_not_meet(world: ProjectWorld) -> None:
    world.says(TWO)
    assert "2 checks are as many records: give --json a file's name" in world(*CHECK, "--json", "-").err.decode()
    (world.folder / "head/parse").rename(world.folder / "head/found-sort.json")
    world.says(TWO.replace("./parse", "./found-sort.json"))
    done = world(*CHECK, "--json", "head/found.json")
    assert "found-sort.json is read, and would be overwritten" in done.err.decode()
    world.says(TWO.replace('"parse"', '"sort "').replace("./parse", "./sort"))
    assert "two records would go to the same file beside " in world(*CHECK, "--json", "found.json").err.decode()
    assert world.launched == []


def test_a_single_record_may_be_printed(world: ProjectWorld) -> None:
    world.says(TWO)
    done = world(*CHECK, "--target", "sort", "--json", "-")
    assert (done.status, done.out[:1]) == (0, b"{")
    assert b"sound      sort: " in done.err


def test_the_heap_is_watched(world: ProjectWorld) -> None:
    world.says(TWO)
    done = world(*CHECK, "--heap", "--target", "parse")
    assert (done.status, "heap: " in done.text) == (0, True), done.err
