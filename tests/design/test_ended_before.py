"""A weighing that goes on: benchmarks that had ended stay ended, and used budget stays used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard.design import session
from steelyard.design.outcome import recall
from steelyard.model.errors import UnwrittenError
from steelyard.model.files import save
from steelyard.model.journal import Journal
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.records import Weighing
from tests.loaded import weighing_in
from tests.world import ScriptedWorld, at_launch, ctrl_c, measured, program_of

COMPARE = ("compare", "./old {n}", "./new {n}", "-L", "n", "1,2")
GO_ON = ("--max-time", "60", "-o", "more.json")
Weighed = Callable[..., ScriptedWorld]


def plain(spec: LaunchSpec, number: int) -> Measured:
    """Measure a first benchmark that is just slower enough for the end of its budget to tell, and an unchanged one."""
    noise, is_slower = (
        np.random.default_rng(number).standard_normal(),
        (program_of(spec), spec.argv[1]) == ("new", b"1"),
    )
    return measured(12 * (1 + 0.035 * is_slower + 0.02 * noise))


@pytest.fixture
def weighed(scripted: ScriptedWorld) -> Weighed:
    """Make a weighing whose budget has ended with a verdict on one of two benchmarks."""

    def weighed(*words: str) -> ScriptedWorld:
        scripted.script = plain
        scripted(*COMPARE, "--pairs", "12", "-o", "record.json", *words)
        assert stops("record.json") == ["pairs", "pairs"]
        assert said("record.json") == ["slower", "undecided"]
        return scripted

    return weighed


def stops(path: str) -> list[str]:
    return [*weighing_in(path).stop]


def said(path: str) -> list[str]:
    derived = recall(Path(path)).record.derived
    assert derived is not None
    return [one.verdict for one in derived.verdicts]


def check_goes_on(world: ScriptedWorld) -> None:
    """Check that the weighing can be carried on, and is judged as if nothing had come in between."""
    assert stops("more.json") == ["pairs", "interrupted"]
    assert said("more.json") == ["slower", "undecided"]
    world.script = plain
    assert world("compare", "--resume", "more.json", "-o", "whole.json").status == 1
    first = [row for row in weighing_in("whole.json").launches.rows() if row.benchmark == 0]
    assert first == [row for row in weighing_in("record.json").launches.rows() if row.benchmark == 0]
    assert weighing_in("whole.json").stop[0] == "pairs"


def test_an_interrupt_before_anything_is_measured(weighed: Weighed, monkeypatch: pytest.MonkeyPatch) -> None:
    world = weighed()

    def interrupted(header: Weighing, *_: Any) -> Weighing:
        ctrl_c()
        return header

    with monkeypatch.context() as patch:
        patch.setattr(session, "with_preliminaries", interrupted)
        assert world("compare", "--resume", "record.json", *GO_ON).status == 130
    check_goes_on(world)


def test_an_interrupt_while_the_heap_is_watched(weighed: Weighed) -> None:
    world = weighed("--heap")
    world.script = at_launch(world.launches + 2, ctrl_c, plain)
    assert world("compare", "--resume", "record.json", *GO_ON).status == 130
    assert len(world.launched) == 2
    check_goes_on(world)


def test_a_journal_that_cannot_be_written(weighed: Weighed, monkeypatch: pytest.MonkeyPatch) -> None:
    world = weighed()

    def unwritten(*_: Any) -> None:
        raise UnwrittenError("no room")

    with monkeypatch.context() as patch:

        def full(spec: LaunchSpec, number: int) -> Measured:
            patch.setattr(Journal, "append", unwritten)
            return plain(spec, number)

        world.script = full
        assert world("compare", "--resume", "record.json", *GO_ON).status == 3
    assert world.launched
    check_goes_on(world)


@pytest.mark.parametrize(("budget", "left_s"), [(("--max-time", "30"), 12.0), ((), 30.0)])
def test_what_a_suite_took_to_be_tried_is_used_up_when_it_is_carried_on(
    scripted: ScriptedWorld, budget: tuple[str, ...], left_s: float
) -> None:
    """That time is part of a budget that was asked for; the default budget begins after it."""

    def interrupted(spec: LaunchSpec, number: int) -> Measured:
        if number == 8:
            ctrl_c()
        change = 0.006 * (program_of(spec) == "new")
        return measured(500 * (1 + change + 0.02 * np.random.default_rng(number).standard_normal()))

    scripted.script = interrupted
    assert scripted("compare", "./old", "./new", *budget, "-o", "half.json").status == 130
    save(weighing_in("half.json").model_copy(update={"preparing_s": 18.0}), Path("half.json"))
    scripted("compare", "--resume", "half.json", "-o", "whole.json")
    whole = weighing_in("whole.json")
    assert (whole.stop, whole.settings.max_time_s) == (["time"], 30)
    assert whole.seconds == pytest.approx(left_s, abs=1.5)
