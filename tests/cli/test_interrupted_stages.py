"""Ctrl-C in the middle of every stage: status 130, and every launch that had ended is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.golden.programs import Program
from tests.golden.world import World

# The number of the launch of ./new that is cut short.
CUT = 3


@dataclass(frozen=True)
class Stage:
    """A command line, the launch at which it is interrupted, and how many launches its record has."""

    arguments: tuple[str, ...]
    launches: Callable[[dict[str, Any]], int]
    at: int = CUT
    program: str = "new"


def timed(record: dict[str, Any]) -> int:
    return len(record["launches"]["wall_ns"])


def watched(record: dict[str, Any]) -> int:
    return len(record["heap"]["launches"])


def walked(record: dict[str, Any]) -> int:
    return sum(len(point[part]) for point in record["times"] for part in ("cpu_before_ns", "cpu_with_ns"))


COMPARE = ("compare", "./old", "./new", "--pairs", "12")
STAGES = {
    "timing": Stage(COMPARE, timed),
    "heap": Stage((*COMPARE, "--heap"), watched),
    "timing after the heap": Stage((*COMPARE, "--heap"), lambda record: watched(record) + timed(record), at=5),
    "counting": Stage(
        (*COMPARE, "--metric", "instructions,active"), lambda record: len(record["counting"]["counts"]), at=2
    ),
    "run": Stage(("run", "./new", "--launches", "12"), timed),
    # A check counts the launches that it starts, also the one that is cut short.
    "check": Stage(("check", "./new"), lambda record: int(record["launches"]) - 1, at=30),
    "calibrate": Stage(("calibrate",), walked, at=20, program="steelyard-probes"),
}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with World.opened(tmp_path) as world:
        yield world


@pytest.mark.parametrize("name", STAGES)
def test_what_had_ended_is_kept(world: World, name: str) -> None:
    stage = STAGES[name]
    for program in ("old", "new"):
        world.program(program)
    world.known(stage.program, Program(at={stage.at: world.ctrl_c}))
    done = world.run(*stage.arguments, "--json", "record.json")
    assert done.status == 130, done
    record = json.loads(done.files["record.json"])
    assert stage.launches(record) == len(done.launched) - 1 > 0  # all but the last
    assert "interrupted" in done.out + done.err
