"""What all ways of launching have in common: the checks before and after a launch, and what is told about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from steelyard.design.runner.failure import Interrupted
from steelyard.design.runner.runner import TIMER, Runner
from steelyard.design.runner.target import ENVIRONMENT, LEFT_BEHIND, Hooks, Shared, Target
from steelyard.model.errors import LaunchError, MeasurementError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.progress import Progress
from steelyard.subjects.harness import Harness, Starting
from tests.design.scripted import PLAIN, Machine

WORK = LaunchSpec(b"/work", (b"work",), ())
START = LaunchSpec(b"/work", (b"start",), ())
HOOK = LaunchSpec(b"/hook", (b"hook",), ())


def shared(target: Target, *parts: Measured) -> Shared:
    """Return a launch that serves several benchmarks, which measure `parts`."""
    apart = cast("Harness", SimpleNamespace(apart=lambda *_: [*parts]))
    return Shared(replace(target, harness=apart), [target] * len(parts))


def alone(runner: Runner, target: Target) -> Any:
    return runner.launch(target, TIMER, lambda reading: reading)


def in_series(runner: Runner, target: Target) -> Any:
    def series(specs: Sequence[LaunchSpec], _: LaunchSpec | None) -> list[Measured]:
        return [runner.launcher.launch(spec) for spec in specs]

    return [*runner.launch_series([target, target], series, lambda _, reading: reading)]


def together(runner: Runner, target: Target) -> Any:
    return runner.launch_together([target, target], lambda reading: reading)


def with_others(runner: Runner, target: Target) -> Any:
    return runner.shared_trial(shared(target, PLAIN, PLAIN))


def both_with_others(runner: Runner, target: Target) -> Any:
    return runner.launch_shared_pair([shared(target, PLAIN)] * 2, lambda *_: None)


WAYS = {"alone": 1, "in_series": 2, "together": 2, "with_others": 1, "both_with_others": 2}
every_way = pytest.mark.parametrize(
    ("way", "launches"), [(globals()[name], launches) for name, launches in WAYS.items()], ids=WAYS
)
Way = Callable[[Runner, Target], Any]


@every_way
def test_launches_are_counted_without_the_commands_around_them(way: Way, launches: int) -> None:
    runner = Runner(Machine(lambda *_: PLAIN), hooks=Hooks(prepare=[HOOK], conclude=[HOOK]))
    assert not runner.has_begun
    way(runner, Target("work", WORK))
    assert (runner.launches, runner.has_begun) == (launches, True)


@every_way
def test_nothing_begins_once_the_user_has_interrupted(way: Way, launches: int) -> None:
    machine = Machine(lambda *_: PLAIN)
    runner = Runner(machine, lambda: True, Hooks(prepare=[HOOK]))
    with pytest.raises(Interrupted):
        way(runner, Target("work", WORK))
    assert machine.specs == []
    assert (runner.launches, runner.has_begun) == (0, False), launches


@every_way
def test_a_program_that_was_replaced_is_not_launched(way: Way, launches: int, tmp_path: Path) -> None:
    program, machine = tmp_path / "work", Machine(lambda *_: PLAIN)
    program.write_text("old")
    runner, target = Runner(machine), Target("work", WORK, program=str(program))
    way(runner, target)
    program.write_text("another")
    with pytest.raises(MeasurementError, match=f"work: {program} was replaced while it was measured"):
        way(runner, target)
    assert len(machine.specs) == launches


@pytest.mark.parametrize(("way", "status"), [(in_series, 1), (together, 1), (both_with_others, 1), (with_others, 0)])
def test_that_a_launch_replaced_its_program_says_more_than_how_it_ended(way: Way, status: int, tmp_path: Path) -> None:
    program = tmp_path / "work"
    program.write_text("old")

    def replacing(*_: object) -> Measured:
        program.write_text("another")
        return replace(PLAIN, exit_code=status)

    with pytest.raises(MeasurementError, match="was replaced while it was measured"):
        way(Runner(Machine(replacing)), Target("work", WORK, program=str(program)))


def test_of_several_in_one_launch_those_that_failed_are_told_whatever_they_answered() -> None:
    parts = [PLAIN, replace(PLAIN, exit_code=1, stderr=b"no rows"), replace(PLAIN, timed_out=True, exit_code=None)]
    _, (well, failed, late) = Runner(Machine(lambda *_: PLAIN)).shared_trial(shared(Target("work", WORK), *parts))
    assert not isinstance(well, LaunchError)
    assert str(failed).startswith("work failed with exit status 1 (its last words: no rows)")
    assert str(late).startswith("work did not end within 12 ms and was killed")


@pytest.mark.parametrize("way", [alone, together])
def test_what_outlives_a_start_is_told_as_what_outlives_its_launch(way: Way) -> None:
    runner = Runner(Machine(lambda _, spec: replace(PLAIN, left_behind=(spec.argv[0].decode(),))))
    way(runner, Target("work", WORK, start=Starting(START, 1, START)))
    assert sorted(set(runner.left_behind)) == ["start", "work"]
    assert runner.left_behind.count("start") == 2 * runner.left_behind.count("work")


@pytest.mark.parametrize(("waits", "told"), [([0.5, 1.5], []), ([1.5, 2.0, 2.5], [2.0, 2.5, 0.0])])
def test_of_a_command_that_lasts_its_end_is_told_too(waits: list[float], told: list[float]) -> None:
    def launch(_: LaunchSpec, waiting: Callable[[float], None]) -> Measured:
        for seconds in waits:
            waiting(seconds)
        return PLAIN

    seen: list[Progress] = []
    Runner(cast("Any", SimpleNamespace(launch=launch)), watch=seen.append).run_hook("--prepare", HOOK)
    assert [one.waited_s for one in seen] == told
    assert {one.benchmark for one in seen} <= {"--prepare hook"}


@pytest.mark.parametrize(("statuses", "is_told"), [([1], False), ([0, 1], True)])
def test_a_launch_that_fails_after_one_that_ended_well_may_need_what_that_left_put_right(
    statuses: list[int], is_told: bool
) -> None:
    runner = Runner(Machine(lambda number, _: replace(PLAIN, exit_code=statuses[number])))
    for _ in statuses[:-1]:
        alone(runner, Target("work", WORK))
    with pytest.raises(LaunchError) as raised:
        alone(runner, Target("work", WORK))
    assert (LEFT_BEHIND in str(raised.value), ENVIRONMENT in str(raised.value)) == (is_told, not is_told)
