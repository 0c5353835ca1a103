"""A project's file used by a program: its targets, their results, and the notes on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import steelyard
from tests.golden.programs import Bench, Program
from tests.projects import TWO, ProjectWorld, project_world
from tests.world import ScriptedWorld, measured, program_of

APART = TWO.replace('"./parse"', '"./parse"\nwarmup = 2')


@pytest.fixture
def world(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> ProjectWorld:
    """A project with `./sort`, which gets slower, and `./parse`, which stays the same."""
    return project_world(scripted, monkeypatch)


def test_it_is_that_of_the_command_line(world: ProjectWorld, capsys: pytest.CaptureFixture[str]) -> None:
    world.says(TWO)
    found = steelyard.compare_project(world=world.outside())
    assert capsys.readouterr() == ("", ""), "nothing is printed"
    assert [(one.benchmark, one.verdict) for one in found.verdicts] == [("sort", "slower"), ("parse", "same")]
    assert repr(found) == "<<weighing of 2 benchmarks, slower +50.0 % [+50.0 %, +50.0 %]>>"
    (record,) = found.records
    world.seconds, world.launches = 1000.0, 0
    world("compare", "-o", "cli.json")
    theirs = steelyard.load("cli.json", world=world.outside())
    assert theirs.data.model_dump_json() == record.data.model_dump_json()  # type: ignore[union-attr]
    assert found._repr_markdown_() == record.markdown()


def test_each_record_of_several_says_whose_it_is_as_the_page_of_the_command_line_does(world: ProjectWorld) -> None:
    """The same benchmark may be in two suites, and its name alone does not tell which."""
    world.says(TWO.replace("\n\n", '\nharness = "protocol"\n\n') + 'harness = "protocol"\n')
    world.drives(sort=Program(benchmarks={"one": Bench()}), parse=Program(benchmarks={"one": Bench()}))
    found = steelyard.compare_project(pairs=12, world=world.outside())
    assert (found.targets, [one.benchmarks for one in found.records]) == (["sort", "parse"], [["one"], ["one"]])
    world.seconds, world.launches = 1000.0, 0
    world("compare", "--pairs", "12", "--markdown", "page.md")
    assert found.markdown() == found._repr_markdown_() == (world.folder / "page.md").read_text()


def test_what_is_asked_goes_before_the_file(
    world: ProjectWorld, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    world.says(f'[compare]\nmargin = "2%"\nwarmup = 3\n{TWO}')
    (tmp_path / "input").write_text("x")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    # 0.5 % is the default, but what is asked for goes before the file all the same.
    found = steelyard.compare_project(
        "..", targets="so*", margin="0.5%", stdin="../input", pairs=12, world=world.outside()
    )
    (record,) = found.records
    settings = record.data.settings
    assert (settings.margin, settings.warm_up, settings.stdin) == (0.005, 3, str(tmp_path / "input"))
    assert record.benchmarks == ["sort"]
    assert Path.cwd() == tmp_path / "elsewhere"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"stdin": "gone"}, "stdin .*/gone cannot be read: No such file or directory; check the path"),
        ({"pairs": 2}, "pairs 2 can never show anything at alpha 0.02"),
        ({"margin": "60%"}, "margin 60 is out of range"),
        ({"seed": -1}, "seed -1 is out of range"),
    ],
)
def test_what_is_wrong_with_what_is_asked_is_no_mistake_of_the_file(
    world: ProjectWorld, options: dict[str, Any], said: str
) -> None:
    world.says(f'[compare]\nstdin = "steelyard.toml"\npairs = 20\nmargin = "1%"\nalpha = "2%"\n{TWO}')
    with pytest.raises(steelyard.UsageError, match=f"^{said}"):
        steelyard.compare_project(world=world.outside(), **options)


def test_what_the_user_should_know_is_in_its_notes(world: ProjectWorld) -> None:
    world.says(f'{TWO}[compare.margins]\n"srot*" = "3%"\n')
    (world.folder / "base/sort").unlink()
    first, second = steelyard.compare_project(world=world.outside()).notes
    assert first.startswith("sort is not in main, so it is not compared: ")
    assert second == "steelyard.toml:10: the margin of 'srot*' is of no benchmark that was weighed"
    assert len(steelyard.compare_project(margin=0.02, world=world.outside()).notes) == 1
    world.press_ctrl_c(world.launches + 12)
    with pytest.raises(steelyard.IncompleteError) as ended:
        steelyard.compare_project(world=world.outside())
    assert ended.value.project is not None
    assert ended.value.project.notes == [first]


def test_benchmarks_that_are_asked_for_are_of_all_targets_together(world: ProjectWorld) -> None:
    world.says(TWO.replace("\n\n", '\nharness = "protocol"\n\n') + 'harness = "protocol"\n')
    world.drives(sort=Program(benchmarks={"up": Bench()}), parse=Program(benchmarks={"csv": Bench()}))
    found = steelyard.compare_project(benchmarks=["csv", "x"], pairs=12, world=world.outside())
    assert [one.benchmarks for one in found.records] == [["csv"]]
    assert found.notes == ["benchmarks 'x' is of no benchmark that was weighed"]
    with pytest.raises(steelyard.UsageError, match="none of the baseline's benchmarks"):
        steelyard.compare_project(benchmarks="x", world=world.outside())


def test_one_that_fails_leaves_the_others_their_records(world: ProjectWorld) -> None:
    world.says(APART)
    world.script = lambda spec, number: (
        measured(1, exit_code=3) if program_of(spec) == "sort" else world.takes(spec, number)
    )
    with pytest.raises(steelyard.IncompleteError, match=r"^sort: main failed with exit status 3") as failed:
        steelyard.compare_project(world=world.outside())
    assert failed.value.exit_status == 3
    assert failed.value.record.verdict == "same"
    assert failed.value.project is not None
    assert (failed.value.project.targets, failed.value.project.records) == (["parse"], failed.value.records)
    world.script = lambda *_: measured(1, exit_code=3)
    with pytest.raises(steelyard.MeasurementError, match="exit status 3"):  # nothing was measured at all
        steelyard.compare_project(world=world.outside())


def test_the_record_of_what_failed_in_part_says_where_it_is_kept(world: ProjectWorld) -> None:
    world.says(TWO)  # in one weighing
    world.script = lambda spec, number: (
        measured(1, exit_code=3) if program_of(spec) == "sort" else world.takes(spec, number)
    )
    with pytest.raises(steelyard.IncompleteError) as failed:
        steelyard.compare_project(world=world.outside())
    record = failed.value.record
    assert [one.benchmark for one in record.verdicts] == ["parse"]
    assert record.path is not None
    assert f" are kept in {record.path}" in str(failed.value)
    assert steelyard.load(record.path, world=world.outside()).data == record.data


def test_ctrl_c_ends_all_of_them(world: ProjectWorld) -> None:
    world.says(APART)
    world.press_ctrl_c(20)
    with pytest.raises(steelyard.IncompleteError, match=r"^sort: interrupted") as ended:
        steelyard.compare_project(world=world.outside())
    assert [one.benchmarks for one in ended.value.records] == [["sort"]]
    assert world.ran() == ["./sort big"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"targets": "x"}, "targets 'x' is none of steelyard.toml: it has sort, parse"),
        ({"harness": "auto"}, "harness is of commands: give them, or say it in a"),
        ({"pairs": 2}, "pairs 2 can never show anything"),
        ({"folder": "gone"}, "folder 'gone' is no folder: give that of the project's file, or one below it"),
        ({"folder": "steelyard.toml"}, "folder 'steelyard.toml' is no folder"),
        ({"folder": "/"}, "/ is in no project: there is no steelyard.toml, which steelyard init writes"),
    ],
)
def test_what_cannot_be(world: ProjectWorld, options: dict[str, Any], said: str) -> None:
    world.says(TWO)
    with pytest.raises(steelyard.UsageError) as refused:
        steelyard.compare_project(world=world.outside(), **options)
    assert said in str(refused.value)
    assert not world.launched
