"""Benchmarks that had come to their end before a weighing went on, and is ended early: they stay as they were."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard.design import session
from steelyard.design.outcome import recall
from steelyard.model.errors import UnwrittenError
from steelyard.model.files import load
from steelyard.model.journal import Journal
from steelyard.model.launches import LaunchSpec, Measured
from steelyard.model.records import Weighing
from tests.world import ScriptedWorld, ctrl_c, measured, program_of

COMPARE = ("compare", "./old {n}", "./new {n}", "-L", "n", "1,2")
GO_ON = ("--max-time", "60", "-o", "more.json")
Weighed = Callable[..., ScriptedWorld]


def plain(spec: LaunchSpec, number: int) -> Measured:
    """The first benchmark is so much slower that only the end of its budget tells; of the second nothing is known."""
    noise, is_slower = (
        np.random.default_rng(number).standard_normal(),
        (program_of(spec), spec.argv[1]) == ("new", b"1"),
    )
    return measured(12 * (1 + 0.035 * is_slower + 0.02 * noise))


@pytest.fixture
def weighed(scripted: ScriptedWorld) -> Weighed:
    """A weighing whose budget has ended with a verdict on one of two benchmarks."""

    def weighed(*words: str) -> ScriptedWorld:
        scripted.script = plain
        scripted(*COMPARE, "--pairs", "12", "-o", "record.json", *words)
        assert stops("record.json") == ["pairs", "pairs"]
        assert said("record.json") == ["slower", "undecided"]
        return scripted

    return weighed


def record_of(path: str) -> Weighing:
    record = load(Path(path))
    assert isinstance(record, Weighing)
    return record


def stops(path: str) -> list[str]:
    return [*record_of(path).stop]


def said(path: str) -> list[str]:
    derived = recall(Path(path)).record.derived
    assert derived is not None
    return [one.verdict for one in derived.verdicts]


def check_goes_on(world: ScriptedWorld) -> None:
    """That it is carried on, and judged as one that nothing came in between of."""
    assert stops("more.json") == ["pairs", "interrupted"]
    assert said("more.json") == ["slower", "undecided"]
    world.script = plain
    assert world("compare", "--resume", "more.json", "-o", "whole.json").status == 1
    first = [row for row in record_of("whole.json").launches.rows() if row.benchmark == 0]
    assert first == [row for row in record_of("record.json").launches.rows() if row.benchmark == 0]
    assert record_of("whole.json").stop[0] == "pairs"


def test_an_interrupt_before_anything_is_measured(weighed: Weighed, monkeypatch: pytest.MonkeyPatch) -> None:
    world = weighed()

    def interrupted(*_: Any) -> None:
        monkeypatch.undo()
        ctrl_c()

    monkeypatch.setattr(session, "check_heap", interrupted)
    assert world("compare", "--resume", "record.json", *GO_ON).status == 130
    check_goes_on(world)


def test_an_interrupt_while_the_heap_is_watched(weighed: Weighed) -> None:
    world = weighed("--heap")
    before = world.launches

    def interrupted(spec: LaunchSpec, number: int) -> Measured:
        if number == before + 2:
            ctrl_c()
        return plain(spec, number)

    world.script = interrupted
    assert world("compare", "--resume", "record.json", *GO_ON).status == 130
    assert len(world.launched) == 2
    check_goes_on(world)


def test_a_journal_that_cannot_be_written(weighed: Weighed, monkeypatch: pytest.MonkeyPatch) -> None:
    world = weighed()

    def unwritten(*_: Any) -> None:
        monkeypatch.undo()
        raise UnwrittenError("no room")

    def full(spec: LaunchSpec, number: int) -> Measured:
        monkeypatch.setattr(Journal, "append", unwritten)
        return plain(spec, number)

    world.script = full
    assert world("compare", "--resume", "record.json", *GO_ON).status == 3
    assert world.launched
    check_goes_on(world)
