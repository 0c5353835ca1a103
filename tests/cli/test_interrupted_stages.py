"""Ctrl-C in the middle of every stage: status 130, and every launch that had ended is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.golden.programs import Program
from tests.golden.world import Done, World

# The launch of ./new that is cut short, of which so many had ended before on both sides.
CUT = 3


@dataclass(frozen=True)
class Stage:
    """A command line that is interrupted there, and how many launches its record tells of."""

    words: tuple[str, ...]
    launches: Callable[[dict[str, Any]], int]
    program: str = "new"


COMPARE = ("compare", "./old", "./new", "--pairs", "12")
STAGES = {
    "timing": Stage(COMPARE, lambda record: len(record["launches"]["wall_ns"])),
    "timing after the heap": Stage(
        ("compare", "./old", "./new", "--pairs", "12", "--heap"),
        lambda record: len(record["heap"]["launches"]) + len(record["launches"]["wall_ns"]),
    ),
    "heap": Stage((*COMPARE, "--heap"), lambda record: len(record["heap"]["launches"])),
    "counting": Stage((*COMPARE, "--metric", "instructions,active"), lambda record: len(record["counting"]["counts"])),
    "run": Stage(("run", "./new", "--launches", "12"), lambda record: len(record["launches"]["wall_ns"])),
    # A check counts what it starts, the one that is cut short among them.
    "check": Stage(("check", "./new"), lambda record: int(record["launches"]) - 1),
}
AT = {"timing after the heap": 5, "counting": 2, "check": 30}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with World.opened(tmp_path) as world:
        yield world


def launches_of(done: Done) -> int:
    """How many launches had ended when it was cut short: all but the last."""
    return len(done.launched) - 1


@pytest.mark.parametrize("name", STAGES)
def test_what_had_ended_is_kept(world: World, name: str) -> None:
    stage = STAGES[name]
    for program in ("old", "new"):
        events = {AT.get(name, CUT): world.ctrl_c} if program == stage.program else {}
        world.program(program, Program(at=events))
    done = world.run(*stage.words, "--json", "record.json")
    assert done.status == 130, done
    record = json.loads(done.files["record.json"])
    assert stage.launches(record) == launches_of(done) > 0
    assert "interrupted" in done.out
