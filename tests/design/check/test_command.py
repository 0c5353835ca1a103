"""`steelyard check` of scripted commands: what it finds over their launches, and how long it takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from steelyard.design.check.checker import Checker
from steelyard.design.runner.runner import Runner
from steelyard.model.launch_spec import Draw, LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.progress import Progress
from steelyard.model.soundness import Looked
from tests.design.checked import Noise, comes_and_goes, lognormal, steady
from tests.design.scripted import PLAIN, Machine

TIMES = range(12)


def checked(ms: Callable[[int], float], within: Noise, seed: int) -> tuple[dict[str, Looked], float]:
    """Check a command whose launches take ms(number); return what is found, and after how many seconds."""
    noise = lognormal(0.03, seed)

    def script(number: int, spec: LaunchSpec) -> Measured:
        each = 1.0 if spec.program == b"empty" else ms(number)
        return replace(PLAIN, wall_ns=round(1e6 * each * noise(0) * within(machine.now)))

    machine = Machine(script)
    checker = Checker(launching(b"it"), Runner(machine), 60.0, lambda _: None, seed, machine.clock)
    found = {one.code: one for one in checker.command("it", launching(b"empty"))}
    return found, machine.now - 1000


def launching(program: bytes) -> Callable[[Draw], LaunchSpec]:
    return lambda _: LaunchSpec(program, (program,), ())


def test_a_sound_command_is_looked_at_for_ten_seconds() -> None:
    found, seconds = checked(lambda _: 20, steady, 1)
    assert {one.outcome for one in found.values()} == {"sound"}
    assert 10 <= seconds < 11


def test_each_launch_is_told_of_as_they_take_long() -> None:
    machine, shown = Machine(lambda *_: replace(PLAIN, wall_ns=20_000_000)), list[Progress]()
    Checker(launching(b"it"), Runner(machine), 1.0, shown.append, 1, machine.clock).command("it", launching(b"empty"))
    assert {one.benchmark for one in shown} == {"checking it"}
    assert [one.done for one in shown] == list(range(len(machine.specs) + 1))


def test_a_neighbour_is_no_drift_and_no_mode() -> None:
    for seed in TIMES:
        found, _ = checked(lambda _: 20, comes_and_goes(1.7, 0.3, 3, seed), seed)
        assert [one for one in found.values() if one.outcome == "trouble"] == []


def test_a_neighbour_that_comes_and_goes_between_launches_is_no_mode() -> None:
    for seed in TIMES:
        found, _ = checked(lambda _: 20, comes_and_goes(1.7, 0.03, 0.15, seed), seed)
        assert found["modes"].outcome == "sound"


def test_modes_of_a_command_are_found_beside_a_neighbour() -> None:
    def tossed(seed: int) -> str:
        coins = np.random.default_rng(seed).random(10_000) < 0.5
        beside = comes_and_goes(1.5, 0.03, 1, seed)
        return checked(lambda number: 40 if coins[number] else 20, beside, seed)[0]["modes"].outcome

    assert sum(tossed(seed) == "trouble" for seed in TIMES) >= 10


def test_drift_beside_a_neighbour_is_looked_at_for_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    def drifts() -> int:
        beside = (comes_and_goes(1.7, 0.3, 3, seed) for seed in TIMES)
        all_found = [checked(lambda number: 13 + number / 2, one, seed)[0] for seed, one in enumerate(beside)]
        return sum(found["drift"].outcome == "trouble" for found in all_found)

    assert drifts() == len(TIMES)
    monkeypatch.setattr("steelyard.design.check.checker._COMMAND_SECONDS", (10.0,))
    assert drifts() < len(TIMES)


def slowing(now: float) -> float:
    """The noise of a machine whose clock rate falls by a quarter as it gets warm."""
    return 1 + 0.35 * (1 - math.exp(-(now - 1000) / 4))


def test_a_machine_that_becomes_slower_is_no_drift_of_the_command() -> None:
    found = [checked(lambda _: 20, slowing, seed)[0]["drift"] for seed in TIMES]
    assert {one.outcome for one in found} == {"sound"}


def test_a_drift_is_found_on_a_machine_that_becomes_slower_too() -> None:
    found = [checked(lambda number: 20 + number / 20, slowing, seed)[0]["drift"] for seed in TIMES]
    assert {one.outcome for one in found} == {"trouble"}


def test_a_command_that_becomes_faster_does_so_on_a_machine_that_becomes_slower() -> None:
    found = checked(lambda number: 40 / (1 + number / 300), slowing, 1)[0]["drift"]
    assert found.outcome == "trouble"
    assert found.figure is not None
    assert found.figure < 0
