"""`steelyard compare` without commands: what a project's file says holds for both sides."""

from __future__ import annotations

import json
import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from steelyard.api import project
from steelyard.api.project import Sides
from steelyard.api.recipe import build_variables
from steelyard.design.outcome import Outcome, judge_outcome
from steelyard.model.errors import SteelyardError
from steelyard.model.files import load
from steelyard.model.findings import IDENTICAL, Finding
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.project_file import load_project
from steelyard.model.records import Run, Weighing
from steelyard.model.subject import RevisionFacts
from steelyard.subjects.revisions.sides import Side
from tests.golden.programs import Bench, Program
from tests.projects import TWO, ProjectWorld, project_world
from tests.world import ScriptedWorld, at_launch, ctrl_c, measured, program_of


@pytest.fixture
def world(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> ProjectWorld:
    """A project with `./sort`, which gets slower, and `./parse`, which stays the same."""
    return project_world(scripted, monkeypatch)


# --- one weighing


def test_commands_are_benchmarks_of_one_weighing_each_in_its_side_s_folder(world: ProjectWorld) -> None:
    world.says(TWO)
    done = world("compare", "--json", "record.json")
    assert done.status == 1
    assert "baseline   main\ncandidate  the work tree\n" in done.text
    (record,) = world.records("record.json")
    assert [one["name"] for one in record["benchmarks"]] == ["sort", "parse"]
    assert [one["verdict"] for one in record["derived"]["verdicts"]] == ["slower", "same"]
    assert {Path(spec.cwd.decode()).name for spec in world.launched if spec.cwd} == {"base", "head"}
    assert world.ran() == ["./sort big", "./parse"]
    assert len(world.kept()) == 1


def test_a_list_and_a_gate_name_each_side_once(world: ProjectWorld) -> None:
    world.says(TWO)
    world("compare", "--json", "record.json")
    (entry,) = json.loads(world("list", "--json", "-").out)
    assert entry["subjects"] == ["main", "the work tree"]
    world("gate", "record.json", "--markdown", "page.md")
    page = Path("page.md").read_text()
    assert "baseline <code>main</code>, candidate <code>the work tree</code>" in page


def test_what_is_run_is_said_before_the_first_launch(world: ProjectWorld) -> None:
    world.says(f'[build]\ncommand = "make -j2"\n[compare]\nprepare = "true"\n{TWO}')
    world.ms["true"] = (1, 1)
    err = world("compare").err.decode()
    assert err == (
        "steelyard: steelyard.toml says what is run:\n"
        "  build           make -j2\n"
        "  sort            ./sort big\n"
        "  sort, prepare   true\n"
        "  parse           ./parse\n"
        "  parse, prepare  true\n"
    )


def test_values_of_a_parameter_are_benchmarks(world: ProjectWorld) -> None:
    world.says('[[target]]\nname = "sort"\ncommand = "./sort {size}"\nparameters = { size = ["a,b", 2] }\n')
    done = world("compare", "--json", "record.json")
    assert done.status == 1
    (record,) = world.records("record.json")
    assert [one["name"] for one in record["benchmarks"]] == ["sort, size=a,b", "sort, size=2"]
    assert world.ran() == ["./sort a,b", "./sort 2"]


def test_the_file_is_looked_for_up_to_the_top_of_the_repository(
    world: ProjectWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.says(TWO)
    below = world.folder / "a/b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert "steelyard init" in world.refuses("compare")
    (world.folder / ".git").mkdir()
    done = world("compare", "--json", "record.json")
    assert done.status == 1
    assert (below / "record.json").is_file()
    assert Path.cwd() == below


def test_a_table_of_pyproject_says_the_same(world: ProjectWorld) -> None:
    world.says('[project]\nname = "x"\n' + TWO.replace("[[target]]", "[[tool.steelyard.target]]"), "pyproject.toml")
    assert world("compare").status == 1
    world.says("[tool.other]\n", "pyproject.toml")
    assert "steelyard init" in world.refuses("compare")


def test_what_a_target_reads_or_runs_is_not_written_over(world: ProjectWorld) -> None:
    (world.folder / "in").write_text("x")
    (world.folder / "in-sort").write_text("x")
    world.says(TWO.replace('"./sort big"', '"./sort big"\nstdin = "in"'))
    assert "in is read, and would be overwritten" in world("compare", "--markdown", "in").err.decode()
    world.says(TWO.replace('"./sort big"', '"./sort big"\nstdin = "in-sort"\nwarmup = 0'))
    assert "in-sort is read, and would be overwritten" in world("compare", "--json", "in").err.decode()
    assert "parse is read, and would be overwritten" in world("compare", "--html", "head/parse").err.decode()
    for option in ("--json", "--output"):
        assert world.refuses("compare", option, "steelyard.toml").startswith("steelyard.toml is read, and would be")
    assert not world.launched


def test_a_target_can_be_chosen(world: ProjectWorld) -> None:
    world.says(TWO)
    assert world("compare", "--target", "p*").status == 0
    assert world.ran() == ["./parse"]
    assert world.refuses("compare", "--target", "x") == "--target 'x' is none of steelyard.toml: it has sort, parse"


def test_of_many_targets_a_refusal_names_some(world: ProjectWorld) -> None:
    world.says("".join(f'[[target]]\nname = "t{number}"\ncommand = "./sort"\n' for number in range(12)))
    named = f"{', '.join(f't{number}' for number in range(10))} and 2 more"
    assert world.refuses("compare", "--target", "x") == f"--target 'x' is none of steelyard.toml: it has {named}"
    assert f"here are several ({named})" in world.refuses("compare", "--shard", "1/2")
    assert world.refuses("compare", "--tag", "x").endswith(f"which go by their names: {named}")


def test_of_many_targets_the_nearest_to_what_was_asked_are_told(world: ProjectWorld) -> None:
    world.says("".join(f'[[target]]\nname = "bm_{one * 5}"\ncommand = "./sort"\n' for one in "abcdefghijklmn"))
    said = world.refuses("compare", "--target", "nnnnn")
    assert said.startswith("--target 'nnnnn' is none of steelyard.toml: it has bm_nnnnn, bm_aaaaa, bm_bbbbb, ")
    assert said.endswith(", bm_iiiii and 4 more")


def test_a_command_that_the_baseline_has_not_is_said_and_left_out(world: ProjectWorld) -> None:
    world.says(TWO)
    (world.folder / "base/sort").unlink()
    done = world("compare", "--json", "out.json")
    assert done.status == 0
    assert world.ran() == ["./parse"]
    # Who reviews it has to know, too.
    for shown in (done, world("show", "out.json"), world("gate", "out.json")):
        assert shown.text.count("sort is not in main, so it is not compared") == 1
    (world.folder / "base/parse").unlink()
    done = world("compare", "--json", "out.json")
    said = "main has no command of steelyard.toml, so nothing is compared yet; new in the work tree: sort, parse"
    assert (done.status, world.launched, f"no verdict {said}" in " ".join(done.text.split())) == (0, [], True)
    assert (world("gate", "out.json").status, world("show", "out.json").text) == (0, done.text)
    (world.folder / "head/parse").write_bytes(b"\x7fELF\0")  # built there by the user
    assert "main has none of the commands of steelyard.toml: there is" in world("compare").err.decode()


def test_a_command_that_the_candidate_has_not_is_named_with_its_line(world: ProjectWorld) -> None:
    world.says(TWO)
    (world.folder / "head/parse").unlink()
    done = world("compare")
    assert done.status == 2
    assert "steelyard.toml:8: the candidate command" in done.err.decode()


# --- which setting holds


def test_the_command_line_goes_before_the_target_and_the_target_before_what_is_said_of_all(
    world: ProjectWorld,
) -> None:
    world.says(f'[compare]\npairs = 8\nwarmup = 2\nmargin = "2%"\n{TWO}warmup = 3\n')
    world("compare", "--target", "sort", "--json", "sort.json")
    world("compare", "--target", "parse", "--json", "parse.json")
    world("compare", "--target", "parse", "--warmup", "0", "--margin", "3%", "--json", "asked.json")
    settings = [record["settings"] for record in world.records("sort.json", "parse.json", "asked.json")]
    assert [one["pairs"] for one in settings] == [8, 8, 8]
    assert [one["warm_up"] for one in settings] == [2, 3, 0]
    assert [one["margin"] for one in settings] == [0.02, 0.02, 0.03]


def test_margins_hold_for_some_benchmarks_and_metrics(world: ProjectWorld) -> None:
    world.program("sort", 100, 101)
    world.program("parse", 100, 101)
    margins = '[compare.margins]\n"so*" = "3%"\nmax_rss = "5%"\n'
    world.says(f'[compare]\nmetrics = ["active", "max_rss"]\n{margins}{TWO}')
    done = world("compare", "--json", "record.json")
    assert done.status == 1
    (record,) = world.records("record.json")
    judged = [(one["benchmark"], one["metric"], one["verdict"], one["margin"]) for one in record["derived"]["verdicts"]]
    assert judged == [
        ("sort", "active", "same", 0.03),
        ("sort", "max_rss", "same", 0.05),
        ("parse", "active", "slower", 0.005),
        ("parse", "max_rss", "same", 0.05),
    ]
    assert "margin     3 % for so*; 5 % for max_rss; else 0.5 %\n" in done.text
    assert world("show").report == done.report
    world("compare", "--margin", "2%", "--json", "record.json")
    (record,) = world.records("record.json")
    assert {one["margin"] for one in record["derived"]["verdicts"]} == {0.02}


def test_a_target_s_own_margin_leaves_it_in_the_weighing_of_all(world: ProjectWorld) -> None:
    world.program("parse", 100, 101)
    world.says(f'{TWO}margin = "4%"\n')
    done = world("compare", "--json", "record.json")
    assert "margin     4 % for parse; else 0.5 %" in done.text
    (record,) = world.records("record.json")
    assert [one["verdict"] for one in record["derived"]["verdicts"]] == ["slower", "same"]


def test_a_command_is_told_of_its_own_parameters_alone(world: ProjectWorld) -> None:
    sort, parse = TWO.replace("sort big", "sort {n}").split("\n\n")
    world.says(f"{sort}\nparameters = {{n = [1, 2]}}\n{parse}")
    assert "{n}" not in world("compare").text


@pytest.mark.parametrize("name", ["cpu", "sort:cpu", "s*", "[s]ort"])
def test_a_target_s_own_margin_is_of_that_target_alone_whatever_it_is_called(world: ProjectWorld, name: str) -> None:
    world.program("sort", 100, 101)
    world.program("parse", 100, 101)
    world.says(f'{TWO}margin = "4%"\n'.replace("parse", name, 1))
    world("compare", "--metric", "cpu", "--json", "record.json")
    (record,) = world.records("record.json")
    judged = [(one["benchmark"], one["margin"], one["verdict"]) for one in record["derived"]["verdicts"]]
    assert judged == [("sort", 0.005, "slower"), (name, 0.04, "same")]


def test_a_target_s_own_margin_is_before_those_of_all(world: ProjectWorld) -> None:
    world.says(f'{TWO}margin = "4%"\n[compare.margins]\n"parse" = "2%"\n"p*" = "3%"\n')
    world("compare", "--json", "record.json")
    (record,) = world.records("record.json")
    assert [one["margin"] for one in record["derived"]["verdicts"]] == [0.005, 0.04]


def test_a_margin_of_no_benchmark_is_said(world: ProjectWorld) -> None:
    world.says(f'{TWO}[compare.margins]\n"srot*" = "3%"\n"parse" = "2%"\n')
    said = "steelyard.toml:10: the margin of 'srot*' is of no benchmark that was weighed"
    done = world("compare")
    assert said in done.err.decode()
    assert "margin     2 % for parse; else 0.5 %\n" in done.text
    assert said not in world("compare", "--target", "sort").err.decode()


def test_a_margin_is_of_none_only_once_all_were_weighed(world: ProjectWorld) -> None:
    world.says(TWO.replace('"./parse"', '"./parse"\nwarmup = 2') + '[compare.margins]\n"parse" = "2%"\n')
    world.press_ctrl_c(20)
    done = world("compare")
    assert done.status == 130
    assert "of no benchmark" not in done.err.decode()


# --- the environment


def test_nothing_that_looks_like_a_secret_reaches_what_a_file_names(
    world: ProjectWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    surroundings = {**world.environment, "GITHUB_TOKEN": "t", "PLAIN": "p"}
    monkeypatch.setattr(ProjectWorld, "environment", property(lambda _: surroundings))
    world.says(f'[compare]\ninherit-environment = true\nenvironment = ["UNSET", "SET=1"]\n{TWO}')

    def found(*options: str) -> set[bytes]:
        assert world("compare", *options).status == 1
        return {one.partition(b"=")[0] for one in world.launched[0].env}

    assert {b"PLAIN", b"SET"} <= found()
    assert b"GITHUB_TOKEN" not in found("--inherit-env")
    assert b"GITHUB_TOKEN" in found("--env", "GITHUB_TOKEN")


def test_the_environment_of_a_build(world: ProjectWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world.folder)
    world.says(f'[build]\nenvironment = ["FLAGS=-O2=x", "MINE", "UNSET", "OWN"]\n{TWO}')
    loaded = load_project(world.folder)
    assert loaded is not None
    source = {"PATH": "/bin", "OWN": "o", "MINE": "postgres://me:secret@host"}
    assert build_variables(loaded, source, []) == {"OWN": "o", "FLAGS": "-O2=x"}
    assert build_variables(loaded, source, ["MINE"])["MINE"] == source["MINE"]


def test_a_first_suite_is_a_weighing_that_names_it(world: ProjectWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    revision = RevisionFacts(name="x", commit=None, tree="0", build="make")

    @contextmanager
    def revisions(*_: object) -> Iterator[Sides]:
        yield Sides(
            Side("main", [world.folder / "base"], revision), Side("work tree", [world.folder / "head"], revision)
        )

    monkeypatch.setattr(project, "sides_of", revisions)
    world.says(TWO.replace('"./sort big"', '"./sort"\nharness = "protocol"'))
    world.drives(sort=Program(benchmarks={"up": Bench(), "down": Bench()}))
    suites = world.script
    world.script = lambda spec, number: (
        world.takes(spec, number) if program_of(spec) == "parse" else suites(spec, number)
    )
    (world.folder / "base/sort").unlink()
    done = world("compare", "--json", "two.json")
    assert done.status == 0
    assert [one["settings"]["alpha"] for one in world.records("two-parse.json")] == [0.01]
    gated = world("gate", "two-sort.json", "two-parse.json", "--markdown", "page.md").text
    assert "main has no ./sort, so nothing is compared yet" in gated
    assert "new in work tree&#58; up, down" in (world.folder / "page.md").read_text()
    world.says('[[target]]\nname = "sort"\ncommand = "./sort"\nharness = "protocol"\n[compare.margins]\nup = "3%"\n')
    done = world("compare", "--strict", "--json", "out.json", "--html", "out.html", "--markdown", "out.md")
    said = "main has no ./sort, so nothing is compared yet; new in work tree: up, down"
    assert (done.status, len(world.launched), b"is of no benchmark" in done.err) == (0, 1, False)
    assert f"no verdict {said}" in " ".join(done.text.split())
    assert said in (world.folder / "out.md").read_text().replace("&#58;", ":")
    assert (world.folder / "out.html").read_text().count(said) == 1
    assert world("show", "out.json").text == done.text
    done = world("gate", "out.json", "--strict")
    assert (done.status, " ".join(done.text.split())) == (0, f"passed {said}")
    assert "has nothing to go on with: main has no ./sort" in world.refuses("compare", "--resume", "out.json")
    world.says("".join(f'[[target]]\nname = "{one}"\ncommand = "./sort {one}"\nharness = "protocol"\n' for one in "ab"))
    shutil.copy(world.folder / "head/sort", world.folder / "base/sort")
    world.drives(sort=Program())
    lists_none = world.script
    world.script = lambda spec, number: (lists_none if b"base" in (spec.cwd or b"") else suites)(spec, number)
    summary = world("compare").text
    assert "in all     no verdict in 2 weighings" in summary
    assert "the chance of any wrong" not in summary


def test_what_is_said_of_commands_leaves_harnesses_alone(world: ProjectWorld) -> None:
    world.says(f'[compare]\nrepeat = 2\n{TWO}harness = "google-benchmark"\n')
    done = world("compare")
    assert done.status == 3, "nobody lists benchmarks here"
    assert "--repeat" not in done.err.decode()
    world.says(f'{TWO}harness = "google-benchmark"\nshell = true\n')
    assert "steelyard.toml:10: shell is for plain commands" in world("compare").err.decode()


# --- several weighings


SEVERAL = """
[compare]
max-time = "6s"
alpha = "2%"
[[target]]
name = "sort"
command = "./sort"
[[target]]
name = "parse"
command = "./parse"
warmup = 2
"""


def test_a_stop_takes_nothing_of_the_time_that_they_share(world: ProjectWorld) -> None:
    def stop() -> None:
        world.seconds += 1000
        signal.raise_signal(signal.SIGCONT)

    world.program("parse", 900, 900)
    world.says(SEVERAL)
    world.script = at_launch(9, stop, world.script)
    assert world("compare", "--json", "out.json").status == 1
    _, other = world.records("out-sort.json", "out-parse.json")
    assert 5 < other["settings"]["max_time_s"] < 6, "what the first has left"


def test_several_weighings_share_alpha_and_the_time_and_are_summed_up(world: ProjectWorld) -> None:
    world.program("parse", 900, 900)
    world.says(SEVERAL)
    started = world.seconds
    done = world("compare", "--json", "out.json", "--markdown", "out.md", "--html", "out.html")
    assert done.status == 1
    assert world.seconds - started < 9
    assert b"steelyard: written: out-sort.json, out-parse.json\n" in done.err
    one, other = world.records("out-sort.json", "out-parse.json")
    # The first weighing has nothing left to find, and passes its part of alpha on.
    assert [record["settings"]["alpha"] for record in (one, other)] == [0.01, 0.02]
    assert one["settings"]["max_time_s"] == 3
    assert 5 < other["settings"]["max_time_s"] < 6, "what the first has left"
    assert len(world.kept()) == 2
    assert "weighing   sort\n" in done.text
    assert "in all     1 slower, 1 undecided of 2 benchmarks in 2 weighings\n" in done.text
    assert "the chance of any wrong slower or faster among them is 2 % at most" in done.text
    assert "slower     +50.0 % [+50.0 %, +50.0 %]  sort\n" in done.text
    page = (world.folder / "out.md").read_text()
    assert page.startswith("### <code>sort</code>\n\n**slower**")
    assert "### <code>parse</code>\n\n**undecided**" in page
    assert 'id="part-2"' in (world.folder / "out.html").read_text()
    assert world("compare", "--target", "parse").status == 0
    assert world("compare", "--target", "parse", "--strict").status == 4


def test_what_holds_for_several_weighings_is_told_once(world: ProjectWorld) -> None:
    world.says(SEVERAL)
    done = world("compare", "--metric", "user", "--markdown", "out.md")
    for text in (" ".join(done.text.split()), (world.folder / "out.md").read_text()):
        assert (text.count("note above holds here, too"), text.count("--metric cpu")) == (1, 1), text


def test_a_file_that_cannot_be_written_keeps_the_others(world: ProjectWorld) -> None:
    world.says(SEVERAL)
    done = world("compare", "--json", "out.json", "--markdown", "/dev/full", "--html", "out.html")
    assert done.status == 3
    assert b"steelyard: written: out-sort.json, out-parse.json\nsteelyard: cannot write /dev/full: " in done.err
    assert (world.folder / "out.html").is_file()


def test_one_that_fails_leaves_the_others_their_verdicts(world: ProjectWorld) -> None:
    world.says(SEVERAL)
    world.script = lambda spec, number: (
        measured(1, exit_code=3) if program_of(spec) == "sort" else world.takes(spec, number)
    )
    done = world("compare")
    assert done.status == 3
    assert "steelyard: sort: main failed with exit status 3" in done.err.decode()
    assert "in all     1 same of 2 benchmarks in 2 weighings\n" in done.text
    assert "failed     sort\n" in done.text


def test_so_does_a_command_among_others_in_one_weighing(world: ProjectWorld) -> None:
    world.says(TWO)
    world.script = lambda spec, number: (
        measured(1, exit_code=3) if program_of(spec) == "sort" else world.takes(spec, number)
    )
    done = world("compare", "--json", "record.json")
    assert done.status == 3
    (record,) = world.records("record.json")
    assert (record["stop"][0], record["derived"]["verdicts"][0]["benchmark"]) == ("failed", "parse")
    assert "stopped    1 of 2 benchmarks failed: this is what the others gave\n" in done.text
    assert done.err.decode().count("(sort) failed with exit status 3") == 1


def test_each_that_is_undecided_says_how_it_goes_on_beside_one_that_fails(world: ProjectWorld) -> None:
    world.program("parse", 7, 7)
    world.says(SEVERAL.replace("6s", "1s"))
    world.script = lambda spec, number: (
        measured(1, exit_code=3) if program_of(spec) == "sort" else measured(7 + number * 7919 % 13)
    )
    done = world("compare")
    assert done.status == 3
    (kept,) = re.findall(r"^go on      steelyard compare --resume (\S+) --max-time", done.text, re.MULTILINE)
    assert load(next(path for path in world.kept() if path.name == kept)).benchmarks[0].name == "parse"


def test_benchmarks_that_are_asked_for_are_of_all_targets_together(world: ProjectWorld) -> None:
    world.says(TWO.replace("\n\n", '\nharness = "protocol"\n\n') + 'harness = "protocol"\n')
    world.drives(sort=Program(benchmarks={"up": Bench(), "down": Bench()}), parse=Program(benchmarks={"csv": Bench()}))
    done = world("compare", "-b", "up", "-b", "typo", "--pairs", "12")
    assert done.status == 0
    assert "in all     1 same of 1 benchmark in 1 weighing\n" in done.text
    said = done.err.decode()
    assert "parse: none of the baseline's benchmarks is among those asked for, so it is left out\n" in said
    assert "--benchmark 'typo' is of no benchmark that was weighed\n" in said
    assert "failed" not in done.text
    assert "left out" not in done.text
    done = world("compare", "-b", "typo")
    assert done.status == 2
    assert done.err.decode().endswith("--benchmark and --tag choose no benchmark of any target\n")


@pytest.mark.parametrize(
    ("patterns", "weighed", "left_out"),
    [
        (["up"], ["up"], ["parse"]),
        (["!parse"], ["up", "down"], ["parse"]),
        (["p*"], ["parse, n=1", "parse, n=2"], ["sort"]),
        (["parse", "up"], ["up", "parse, n=1", "parse, n=2"], []),
    ],
    ids=str,
)
def test_commands_beside_a_harness_are_asked_for_by_their_names(
    world: ProjectWorld, patterns: list[str], weighed: list[str], left_out: list[str]
) -> None:
    parse = './parse {n}"\nparameters = { n = [1, 2] }\n'
    world.says(TWO.replace("\n\n", '\nharness = "protocol"\n\n').replace('./parse"\n', parse))
    world.drives(sort=Program(benchmarks={"up": Bench(), "down": Bench()}), parse=Program())
    suites = world.script
    world.script = lambda spec, number: (
        world.takes(spec, number) if program_of(spec) == "parse" else suites(spec, number)
    )
    done = world("compare", *(word for one in patterns for word in ("-b", one)), "--json", "out.json")
    said = done.err.decode()
    assert done.status == 0, said
    records = [load(path) for path in world.kept()]
    assert sorted(one.name for record in records for one in record.benchmarks) == sorted(weighed)
    assert [line.split(":")[1].strip() for line in said.splitlines() if line.endswith("left out")] == left_out
    assert "of no benchmark" not in said


def test_commands_alone_of_which_none_is_asked_for(world: ProjectWorld) -> None:
    world.says(TWO)
    done = world("compare", "-b", "srot")
    assert done.status == 2
    assert b"choose none of the commands, which go by their names: sort, parse\n" in done.err
    assert world.launched == []


def test_where_a_list_failed_nobody_knows_which_patterns_fit(world: ProjectWorld) -> None:
    world.says(f'{TWO}harness = "protocol"\n')
    world.script = lambda *_: measured(1, exit_code=3)
    done = world("compare", "-b", "csv")
    assert done.status == 3
    assert b"of no benchmark" not in done.err


def test_of_sides_that_are_one_program_nobody_knows_which_patterns_fit(
    world: ProjectWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides_of = project.sides_of

    @contextmanager
    def equal(*words: Any) -> Iterator[Sides]:
        with sides_of(*words) as sides:
            yield replace(sides, findings=lambda *_: [Finding(code=IDENTICAL, message="both are one program")])

    monkeypatch.setattr(project, "sides_of", equal)
    world.says(TWO.replace("\n\n", '\nharness = "protocol"\n\n') + 'harness = "protocol"\n')
    done = world("compare", "-b", "up")
    assert done.status == 0
    assert b"of no benchmark" not in done.err


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ('prepare = "./gone"', "/base/gone' cannot be run"),
        ('metrics = ["cycles"]', "this machine does not give it"),
    ],
)
def test_one_that_cannot_begin_has_its_record_beside_the_others(world: ProjectWorld, lines: str, why: str) -> None:
    world.says(f"{TWO}{lines}\n")
    done = world("compare", "--json", "out.json", "--html", "out.html")
    assert b"steelyard: written: out-sort.json, out-parse.json\n" in done.err
    _, failed = world.records("out-sort.json", "out-parse.json")
    assert (failed["stop"], failed["launches"]["pair"]) == (["failed"], [])
    assert why in failed["findings"][0]["message"]
    gate = world("gate", "out-sort.json", "out-parse.json")
    assert gate.status == 3
    assert "no answer  out-parse.json: " in gate.text
    assert "failed" in (world.folder / "out.html").read_text()


def test_what_could_not_be_written_is_not_said_to_be(world: ProjectWorld) -> None:
    world.says(SEVERAL)

    def fills_the_disk(spec: LaunchSpec, number: int) -> Measured:
        if program_of(spec) == "sort":
            (world.folder / "out-sort.json").mkdir(exist_ok=True)
        return world.takes(spec, number)

    world.script = fills_the_disk
    done = world("compare", "--json", "out.json")
    assert done.status == 3
    assert b"steelyard: written: out-parse.json\n" in done.err


def test_ctrl_c_ends_all_of_them(world: ProjectWorld) -> None:
    world.says(SEVERAL)
    world.press_ctrl_c(20)
    done = world("compare")
    assert done.status == 130
    assert "left out   1 weighing that had not begun\n" in done.text
    assert b"--resume" in done.err
    assert world.ran() == ["./sort"]


def test_ctrl_c_behind_the_last_launch_of_one_leaves_the_next_out(
    world: ProjectWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(record: Weighing | Run, error: SteelyardError | None) -> Outcome:
        ctrl_c()
        return judge_outcome(record, error)

    monkeypatch.setattr("steelyard.design.session.judge_outcome", interrupted)
    world.says(SEVERAL)
    done = world("compare")
    assert done.status == 130
    assert "left out   1 weighing that had not begun\n" in done.text
    assert "slower     +50.0 %" in done.text
    assert world.ran() == ["./sort"]
    world.says(TWO)
    assert world("compare").status == 1, "nothing was left to begin"


def test_what_was_interrupted_is_carried_on_in_the_folders_of_its_sides(world: ProjectWorld) -> None:
    world.says(TWO)
    world.press_ctrl_c(20)
    assert world("compare").status == 130
    world.script = world.takes
    (kept,) = world.kept()
    done = world("compare", "--resume", kept)
    assert done.status == 1
    said = done.err.decode()
    assert f"  baseline     {world.folder}/base/sort big" in said
    assert f"  candidate    {world.folder}/head/parse" in said
    assert "sort       slower" in done.text
    assert "parse      same" in done.text


def test_records_of_several_need_a_file_s_name(world: ProjectWorld) -> None:
    world.says(SEVERAL)
    assert "2 weighings are as many records" in world("compare", "--json", "-").err.decode()
    page = world("compare", "--markdown", "-")
    assert page.text.startswith("### <code>sort</code>")
    assert b"in all" in page.err


# --- what is refused


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--name", "x"), "--name is of commands"),
        (("--harness", "auto"), "or say it in a [[target]] of steelyard.toml"),
        (("-L", "n", "1,2"), "--parameter-list is of commands"),
    ],
)
def test_options_of_commands_are_refused(world: ProjectWorld, options: tuple[str, ...], says: str) -> None:
    world.says(TWO)
    assert says in world.refuses("compare", *options)


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("[compare]\npairs = 2\n", (), "steelyard.toml:2: pairs 2 can never show anything at alpha 0.01"),
        ("", ("--pairs", "1"), "--pairs 1 can never show anything at alpha 0.01"),
        ("[build]\ncommand = ''\n", (), "steelyard.toml:2: command is empty: give the shell command that builds"),
        ("[build]\ncommand = 'make'\n", ("--build", ""), "--build '' is empty: give the command that builds"),
        ("", ("--build-timeout", "9"), "--build-timeout is how long --build may take, and nothing is built"),
        ("[build]\ncommand = 'make'\nlayouts = 3\n", (), "steelyard.toml:3: layouts 3: './sort big' has no {layout}"),
        ("{}parameters = {{ a = ['1', '1'] }}\n", (), "steelyard.toml:9: parameters a '1,1' names a value twice"),
        ("{}parameters = {{ a = [1] }}\n", (), "steelyard.toml:8: the parameter 'a' is used in no command"),
    ],
)
def test_what_needs_no_build_is_said_before_it(
    world: ProjectWorld, monkeypatch: pytest.MonkeyPatch, text: str, options: tuple[str, ...], says: str
) -> None:
    monkeypatch.setattr("steelyard.api.project.sides_of", lambda *_: pytest.fail("it would build first"))
    world.says(text.format(TWO) if text.startswith("{}") else f"{text}{TWO}")
    done = world("compare", *options)
    assert done.status == 2
    assert says in done.err.decode()


def test_a_program_that_is_missing_is_told_with_the_side_that_lacks_it(world: ProjectWorld) -> None:
    world.says(f'{TWO}[[target]]\nname = "gone"\ncommand = "./gone"\n')
    done = world("compare")
    assert done.status == 2
    said = done.err.decode().splitlines()[-1]
    assert re.search(r"steelyard.toml:\d+: the candidate command '.*/head/gone' cannot be run", said)
    assert said.endswith("(in the work tree)")


def test_a_part_is_of_one_target_s_benchmarks(world: ProjectWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    world.says(
        '[[target]]\nname = "sort"\ncommand = "./sort {n}"\nparameters = { n = [1, 2] }\n' + TWO[TWO.rindex("[[") :]
    )
    done = world("compare", "--target", "sort", "--shard", "2/2")
    assert done.status == 1
    assert world.ran() == ["./sort 2"]
    monkeypatch.setattr("steelyard.cli.several.project_plan", lambda *_: pytest.fail("it would build first"))
    assert world.refuses("compare", "--shard", "1/2") == (
        "--shard is a part of one target's benchmarks, and here are several (sort, parse): choose one with --target, "
        "each in jobs of its own"
    )


def test_parts_are_dealt_out_of_what_was_asked_for_by_the_names_of_its_benchmarks(world: ProjectWorld) -> None:
    world.says('[[target]]\nname = "sort"\ncommand = "./sort {n}"\nparameters = { n = [1, 2, 3] }\n')
    world("compare", "-b", "sort, n=[12]", "--shard", "2/2", "--json", "part.json")
    assert {*world.ran()} == {"./sort 2"}
    assert world.json("part.json")["settings"]["shard"]["suite"] == ["sort, n=1", "sort, n=2"]
    # A gate of this part alone knows the benchmarks of the others.
    done = world("gate", "part.json", "--part", "--require", "sort, n=1", "--fail-above", "sort, n=1=5%")
    assert done.status == 1
    assert b"fits no benchmark" not in done.out
    refused = world("compare", "-b", "sort, n=1", "--shard", "2/2")
    assert (refused.status, b"there is one benchmark" in refused.err) == (2, True)


def test_what_a_pattern_or_a_margin_is_of_may_be_in_another_part(world: ProjectWorld) -> None:
    target = '[[target]]\nname = "sort"\ncommand = "./sort {n}"\nparameters = { n = [1, 2] }\n'
    world.says(f'{target}[compare.margins]\n"*n=1" = "3%"\n"*n=3" = "2%"\n')
    said = world("compare", "--shard", "2/2").err.decode()
    assert "the margin of '*n=3' is of no benchmark" in said
    assert "'*n=1'" not in said
    assert b"of no benchmark" not in world("compare", "-b", "*n=1", "-b", "*n=2", "--shard", "2/2").err


@pytest.mark.parametrize(
    ("patterns", "ran"),
    [
        (["sort, n=2"], ["./sort 2"]),
        (["sort", "!*n=2"], ["./sort 1", "./sort 3"]),
        (["sort, n=3", "parse"], ["./parse", "./sort 3"]),
    ],
)
def test_values_of_parameters_are_chosen_by_the_names_of_their_benchmarks(
    world: ProjectWorld, patterns: list[str], ran: list[str]
) -> None:
    world.says(
        '[[target]]\nname = "sort"\ncommand = "./sort {n}"\nparameters = { n = [1, 2, 3] }\n' + TWO[TWO.rindex("[[") :]
    )
    done = world("compare", *(word for pattern in patterns for word in ("-b", pattern)))
    assert done.status == 1
    assert sorted({*world.ran()}) == ran
    assert b"is of no benchmark" not in done.err


def test_parts_of_two_targets_are_no_whole(world: ProjectWorld) -> None:
    world.says(TWO)
    for target in ("sort", "parse"):
        world("compare", "--target", target, "--shard", "1/1", "--json", f"{target}.json")
    assert world.refuses("merge", "sort.json", "parse.json") == (
        "sort.json and parse.json are not parts of one weighing: the command of the baseline is "
        "'./sort big' in one and './parse' in the other, so merge each with its own"
    )


def test_a_target_is_chosen_of_a_project_alone(world: ProjectWorld) -> None:
    world.says(TWO)
    assert "--target chooses" in world.refuses("compare", "./old", "./new", "--target", "x")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[compare]\npairs = 2\n", "steelyard.toml:2: pairs 2 can never show anything at alpha 0.01"),
        ("[compare]\ncpu = 7\n", "steelyard.toml:2: cpu 7 is not a processor that may be used here"),
        ("[compare]\nstdin = 'x'\n", "steelyard.toml:2: stdin x cannot be read"),
        ("[compare]\nstdin = '-'\n", "steelyard.toml:2: stdin -: standard input cannot be read again"),
        ("[compare]\nmetrics = ['active']\n", None),
    ],
)
def test_what_cannot_be_here_is_named_with_its_line(world: ProjectWorld, text: str, says: str | None) -> None:
    world.says(text + TWO)
    done = world("compare")
    assert (done.status, says or "") == (1 if says is None else 2, says or "")
    assert (says or "") in done.err.decode()


def test_without_a_target_there_is_nothing_to_weigh(world: ProjectWorld) -> None:
    world.says("[compare]\n")
    assert world.refuses("compare").startswith("steelyard.toml has no [[target]]: add one")
