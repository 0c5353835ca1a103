"""What is for times is refused where only counts are asked for, and passed over where a project's file says it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from steelyard.api.keywords import Comparing, options_of
from steelyard.api.project import chosen_targets, project_plan
from steelyard.design.several import Part
from steelyard.model.errors import UsageError
from steelyard.model.project_file import load_project
from tests.in_process import InProcess
from tests.projects import TWO, ProjectWorld, project_world
from tests.world import ScriptedWorld

COMPARE = ["compare", "true", "true", "--metric", "cost"]
OF_TIMES = {
    "--max-time": ["5"],
    "--pairs": ["20"],
    "--family": ["fdr"],
    "--control": [],
    "--pairing": ["tandem"],
    "--own-addresses": [],
    "--own-starts": [],
    "--heap-shuffle": [],
    "--warmup": ["3"],
    "--repeat": ["3"],
    "--isolate": [],
    "--wait-quiet": ["5"],
    "--bytes": ["64M"],
    "--items": ["1000"],
}
IN_FILE = """
[compare]
max-time = "10s"
pairs = 3
family = "fdr"
control = true
warmup = 2
repeat = 4
isolate = true
heap-shuffle = true
wait-quiet = 3
"""
ONE_COUNTED = TWO.replace('"./sort big"', '"./sort big"\nmetrics = ["instructions"]')


@pytest.fixture
def world(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> ProjectWorld:
    return project_world(scripted, monkeypatch)


def parts_of(world: ProjectWorld, *targets: str, **asked: Any) -> Sequence[Part]:
    """The weighings that a project's file makes."""
    project, wanted = load_project(world.folder), options_of(asked, Comparing)
    assert project is not None
    chosen, _ = chosen_targets(project, targets, wanted)
    with project_plan(project, chosen, wanted, lambda _: None, world.outside()) as plan:
        return plan.parts


@pytest.mark.parametrize("option", OF_TIMES)
def test_an_option_for_times_is_refused(asked: InProcess, option: str) -> None:
    sentence = asked.refuses(*COMPARE, option, *OF_TIMES[option])
    assert sentence.startswith(f"{option} is for times: ")
    assert sentence.endswith(", so leave it out")


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["run", "true", "--launches", "3"], "--launches"),
        (["run", "true", "--max-time", "3"], "--max-time"),
        (["bisect", "true", "--good", "HEAD", "--max-time", "3"], "--max-time"),
        (["compare", "--base", "HEAD", "true", "--pairs", "20"], "--pairs"),
    ],
)
def test_so_it_is_by_every_command(asked: InProcess, words: list[str], option: str) -> None:
    assert asked.refuses(*words, "--metric", "instructions").startswith(f"{option} is for times: ")


def test_beside_times_each_has_its_use(scripted: ScriptedWorld) -> None:
    words = ["./old", "./new", "--metric", "active,max_rss", "--max-time", "5", "--control", "--warmup", "3"]
    assert scripted("compare", *words).status == 1


def test_those_of_a_project_s_file_are_passed_over(world: ProjectWorld) -> None:
    world.says(f"{TWO}{IN_FILE}")
    (part,) = parts_of(world, metrics="instructions")
    settings = part.request.settings
    assert (settings.pairs, settings.isolate, settings.heap_shuffle, settings.family) == (None, False, False, "holm")
    assert not any(one.control for one in part.request.benchmarks)
    assert not part.shares_time


def test_the_heap_is_watched_as_the_file_says(world: ProjectWorld) -> None:
    world.says(f"{TWO}{IN_FILE}")
    (part,) = parts_of(world, metrics="instructions", heap=True)
    assert part.request.settings.isolate
    assert part.request.settings.heap_shuffle


def test_beside_a_target_that_is_timed_an_option_is_for_that_alone(world: ProjectWorld) -> None:
    world.says(ONE_COUNTED)
    counted, timed = parts_of(world, pairs=40, max_time=5, control=True)
    assert (counted.request.settings.pairs, counted.shares_time) == (None, False)
    assert not any(one.control for one in counted.request.benchmarks)
    assert (timed.request.settings.pairs, timed.shares_time) == (40, True)
    assert any(one.control for one in timed.request.benchmarks)


def test_beside_a_target_that_is_counted_an_option_for_counts_is_for_that_alone(world: ProjectWorld) -> None:
    world.says(ONE_COUNTED)
    counted, timed = parts_of(world, jobs=1, caches="small")
    assert counted.request.settings.counting is not None
    assert (counted.request.settings.counting.caches.name, counted.request.jobs) == ("small", 1)
    assert (timed.request.settings.counting, timed.request.jobs) == (None, None)
    with pytest.raises(UsageError, match=r"^--caches applies to counting only: "):
        parts_of(world, "parse", caches="small")


def test_where_no_chosen_target_is_timed_it_is_refused(world: ProjectWorld) -> None:
    world.says(ONE_COUNTED)
    with pytest.raises(UsageError, match=r"^--pairs is for times: "):
        parts_of(world, "sort", pairs=40)
    with pytest.raises(UsageError, match=r"^--max-time is for times: "):
        parts_of(world, metrics="cost", max_time=5)
