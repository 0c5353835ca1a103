"""What a record says about its counts as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.measure.count.counter import Counted
from steelyard.model.counting import CountSettings
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.records import Weighing
from tests.design.counted import COUNTED, PROGRAM, Stage, launched
from tests.design.scripted import weighing


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(monkeypatch)


def fresh(**settings: Any) -> Weighing:
    return weighing(1, **{**COUNTED, **settings}).model_copy(update={"subjects": [PROGRAM, PROGRAM]})


def test_failures_that_are_accepted_are_said_of_each_side(stage: Stage) -> None:
    def script(number: int, spec: LaunchSpec) -> Counted:  # noqa: ARG001
        return launched(5, signal=11) if number % 2 else launched(5, exit_code=3)

    ended = stage(fresh(ignore_failure=True), script)
    assert ended.codes() == ["failures"]
    assert (
        "of the baseline failed (exit status 3) and of the candidate failed (SIGSEGV, a segmentation fault)"
        in ended.message("failures")
    )


def test_a_failure_of_fewer_loops_is_said_too(stage: Stage) -> None:
    def script(number: int, spec: LaunchSpec) -> Counted:  # noqa: ARG001
        loops = int(spec.argv[1])
        return launched(10 * loops, exit_code=1 if loops == 7 else 0)

    subject = PROGRAM.model_copy(update={"command": "true {loops}", "argv": ["/bin/true", "{loops}"]})
    record = fresh(counting=CountSettings(loops=7).model_dump(), ignore_failure=True)
    ended = stage(record.model_copy(update={"subjects": [subject, subject]}), script)
    assert "of the baseline failed (exit status 1) and" in ended.message("failures")


def test_failures_are_said_once_where_times_say_them(stage: Stage) -> None:
    record = fresh(ignore_failure=True, metrics=["active", "instructions"])
    assert stage(record, lambda *_: launched(5, exit_code=3)).codes() == []


def test_of_several_layouts_it_is_said_which_was_counted(stage: Stage) -> None:
    ended = stage(fresh(layouts=3), [5] * 4)
    assert ended.codes() == ["first-layout"]
    assert "layout 1 of each side alone" in ended.message("first-layout")
