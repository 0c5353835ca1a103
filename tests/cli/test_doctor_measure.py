"""`steelyard doctor --measure`, on scripted machines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from steelyard.design.noise import session, spreads
from steelyard.measure import native
from steelyard.model.conditions import Condition
from steelyard.model.errors import UsageError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.noise import Counted
from steelyard.model.progress import GOES_ON, Progress
from tests.design.noise.machine import Machine, is_loop
from tests.in_process import InProcess
from tests.world import OFFERS, ScriptedServer, ScriptedWorld, at_launch, ctrl_c, measured


def slowed(told: dict[str, Any], work: str) -> float:
    (one,) = [one for one in told["noise"]["beside"] if one["work"] == work]
    return float(median(one["beside_ns"]) / median(one["alone_ns"])) - 1


@pytest.fixture
def world(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> ScriptedWorld:
    scripted.script = Machine()
    scripted.processors = {0, 1}
    monkeypatch.setattr(spreads, "_RESAMPLES", 4)  # half of the time; only ranges of what is expected depend on it
    return scripted


@pytest.fixture
def with_exact_ranges(world: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001 - after it
    monkeypatch.setattr(spreads, "_RESAMPLES", RESAMPLES)


ROOT = Path(__file__).resolve().parents[2]
RESAMPLES = spreads._RESAMPLES


def found(world: ScriptedWorld, status: int = 0) -> dict[str, Any]:
    done = world("doctor", "--measure", "--json", "noise.json")
    assert done.status == status, done
    assert (b", interrupted" in done.out) == (status == 130)
    return kept(world)


def kept(world: ScriptedWorld) -> dict[str, Any]:
    return world.json("noise.json")


def condition(told: dict[str, Any], code: str) -> dict[str, str]:
    return next(one for one in told["conditions"] if one["code"] == code)


def pairs(told: dict[str, Any], work: str, ms: float, change: float = 0.01) -> int:
    (one,) = [
        one["pairs"]
        for one in told["noise"]["expected"]
        if (one["work"], one["pairing"], one["change"]) == (work, "adjacent", change) and abs(one["ms"] / ms - 1) < 0.05
    ]
    return int(one)


@pytest.mark.usefixtures("with_exact_ranges")
def test_the_pairs_follow_from_the_noise_of_each_kind_and_length(world: ScriptedWorld) -> None:
    world.script = Machine(relative=0.015, start_ms=0.05)
    told = found(world)
    # Noise of 1.5 % per launch is 2.1 % per pair: half of all simulated weighings have found 1 % after 55 pairs.
    assert 28 <= pairs(told, "loop", 20) <= 110
    assert pairs(told, "loop", 1) > 2 * pairs(told, "loop", 20)
    assert 80 < pairs(told, "loop", 20, 0.001) / pairs(told, "loop", 20) < 130
    assert condition(told, "noise-loop")["severity"] == "slight"
    assert condition(told, "phases-loop")["severity"] == "slight"


def test_a_quiet_machine_takes_the_fewest(world: ScriptedWorld) -> None:
    begun = world.seconds
    done = world("doctor", "--measure", "--json", "noise.json")
    assert done.status == 0
    assert b"about 26 seconds" in done.err
    assert 20 < world.seconds - begun < 30
    told = kept(world)
    assert pairs(told, "loop", 20) < 20
    codes = ("noise-loop", "noise-memory", "pairing", "pinning", "neighbours", "clock-step")
    assert {condition(told, code)["severity"] for code in codes} == {"fine"}
    assert told["noise"]["pairing"] == {"loop": "adjacent", "memory": "adjacent"}
    assert told["noise"]["cpu"] is None
    page = (ROOT / "docs/doctor.md").read_text()
    assert all(f"`{one['code']}`" in page for one in told["conditions"])


def test_tandem_and_a_processor_are_advised_where_they_help(world: ScriptedWorld) -> None:
    noisy, calm = Machine(relative=0.02), Machine(relative=0.004)
    world.script = lambda spec, number: (calm if world.is_paired or spec.cpus == (1,) else noisy)(spec, number)
    told = found(world)
    assert told["noise"]["pairing"] == {"loop": "tandem", "memory": "tandem"}
    assert told["noise"]["cpu"] == 1
    assert "longer commands are weighed so by themselves" in condition(told, "pairing")["evidence"]
    assert condition(told, "pinning")["remedy"] == "--cpu 1"


@pytest.mark.parametrize(
    ("longer", "noise", "way"), [(1.0, 0.004, "tandem"), (1.3, 0.004, "adjacent"), (1.0, 0.04, "adjacent")]
)
def test_with_short_turns_commands_stay_in_tandem_unless_that_is_clearly_worse(
    world: ScriptedWorld, monkeypatch: pytest.MonkeyPatch, longer: float, noise: float, way: str
) -> None:
    monkeypatch.setattr(ScriptedServer, "offers", {**OFFERS, "short_turns": True})
    alone, beside = Machine(relative=0.004), Machine(relative=noise)

    def script(spec: LaunchSpec, number: int) -> Measured:
        one = (beside if world.is_paired else alone)(spec, number)
        return replace(one, wall_ns=round(one.wall_ns * (longer if world.is_paired else 1)))

    world.script = script
    told = found(world)
    assert told["noise"]["pairing"] == {"loop": way, "memory": way}


def test_what_disturbs_is_told_of_what_it_disturbs(world: ScriptedWorld) -> None:
    # The partner is on processor 1, and runs before the launch that is measured beside it.
    newest: list[LaunchSpec] = []
    noisy, calm = Machine(relative=0.1), Machine(relative=0.003)

    def crowded(spec: LaunchSpec, number: int) -> Measured:
        newest.append(spec)
        if is_loop(spec):
            return calm(spec, number)
        is_beside = newest[-2].cpus == (1,) and spec.cpus == (0,)
        one = noisy(spec, number)
        return replace(one, cpu_ns=round((one.cpu_ns or 0) * (1.3 if is_beside else 1)))

    world.script = crowded
    world.counted = [
        Counted(interrupts={0: 0, 1: 0}, ticks={"user": 0, "steal": 0}),
        Counted(interrupts={0: 260_000, 1: 2_600}, ticks={"user": 900, "steal": 100}),
    ]
    told = found(world)
    beside = condition(told, "neighbours")
    assert beside["severity"] == "serious"
    assert "a loop by 0" in beside["evidence"]
    assert 0.15 < slowed(told, "memory") < 0.45
    meanwhile = condition(told, "meanwhile")
    assert meanwhile["severity"] == "serious"
    assert "10.0 % of" in meanwhile["evidence"]
    assert "processor 1 100" in meanwhile["evidence"]
    # What disturbs memory alone is reported for memory alone.
    assert pairs(told, "loop", 20) < 20
    assert pairs(told, "memory", 20) > 500
    noise = condition(told, "noise-memory")
    # `load` and `pressure` stand before it, and there may be nothing behind it that helps.
    assert (noise["severity"], "below" in noise["remedy"]) == ("serious", False)


def test_interrupts_advise_no_processor_that_gains_nothing_or_may_not_be_used(world: ScriptedWorld) -> None:
    world.counted = [
        Counted(interrupts=dict.fromkeys(range(4), 0)),
        Counted(interrupts={0: 900_000, 1: 90, 2: 9, 3: 9}),
    ]
    told = found(world)
    assert "leave --cpu out" in condition(told, "pinning")["evidence"]
    assert condition(told, "meanwhile")["severity"] == "fine"


@pytest.mark.usefixtures("with_exact_ranges")
def test_what_came_and_went_meanwhile_is_told_and_widens_the_range(world: ScriptedWorld) -> None:
    calm, noisy = Machine(relative=0.01), Machine(relative=0.06)

    def in_phases(spec: LaunchSpec, number: int) -> Measured:
        is_noisy = not is_loop(spec) and world.seconds - begun > 18
        return (noisy if is_noisy else calm)(spec, number)

    world.script, begun = in_phases, world.seconds
    told = found(world)
    says = {work: "came and went" in condition(told, f"noise-{work}")["evidence"] for work in ("loop", "memory")}
    assert says == {"loop": False, "memory": True}
    (one,) = [
        one
        for one in told["noise"]["expected"]
        if (one["work"], one["pairing"], one["ms"], one["change"]) == ("memory", "adjacent", 20.0, 0.01)
    ]
    # Noise of 1 % per launch takes 28 pairs, of 6 % a thousand.
    assert one["low"] <= 40
    assert one["high"] > 8 * one["low"]


def test_no_launch_is_alone_where_tasks_wait(world: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = world.outside
    waiting = Condition(code="pressure", severity="serious", evidence="some task waited", remedy="wait")
    monkeypatch.setattr(world, "outside", lambda: replace(outside(), examine=lambda: [waiting]))
    told = condition(found(world), "neighbours")
    assert (told["severity"], "no launch was without a neighbour" in told["evidence"]) == ("unknown", True)


def test_one_processor_is_neither_pinned_to_nor_beside_another(world: ScriptedWorld) -> None:
    world.processors = {0}
    told = found(world)
    assert {condition(told, code)["severity"] for code in ("pinning", "neighbours")} == {"unknown"}
    assert not any(spec.cpus for spec in world.launched)


def test_no_right_to_pin_leaves_the_rest(world: ScriptedWorld) -> None:
    machine = Machine()

    def refusing(spec: LaunchSpec, number: int) -> Measured:
        if spec.cpus == (1,):
            raise UsageError("cannot be pinned")
        return machine(spec, number)

    world.script = refusing
    told = found(world)
    assert condition(told, "neighbours")["severity"] == "unknown"
    assert "processor 1" not in condition(told, "pinning")["evidence"]
    assert condition(told, "noise-loop")["severity"] == "fine"
    assert not told["noise"]["interrupted"]


def test_ctrl_c_shows_what_was_measured_until_then(world: ScriptedWorld) -> None:
    world.script = at_launch(300, ctrl_c, Machine())
    told = found(world, status=130)
    assert told["noise"]["interrupted"]
    assert world.launches < 310
    assert pairs(told, "loop", 20) < 60


def test_ctrl_c_before_anything_was_measured_says_so(world: ScriptedWorld) -> None:
    def interrupted(spec: LaunchSpec, number: int) -> Measured:  # noqa: ARG001
        ctrl_c()
        return measured(1)

    world.script = interrupted
    assert "before anything" in world.refuses("doctor", "--measure", status=130)


def complaint(world: ScriptedWorld) -> str:
    """Return what is said about a failed measurement, below what is known without it."""
    done = world("doctor", "--measure")
    assert done.status == 3
    assert "nothing else runs" in done.text
    return done.err.decode()


def test_probes_that_are_missing_are_named(world: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "PROBES", Path("/absent/probes"))
    assert "/absent/probes: reinstall" in complaint(world)


def test_probes_that_fail_are_an_error(world: ScriptedWorld) -> None:
    world.script = lambda spec, number: measured(1, exit_code=3)  # noqa: ARG005
    assert "the probe linear-i32 failed" in complaint(world)


def test_what_needed_no_measuring_is_written_beside_a_failure(world: ScriptedWorld) -> None:
    machine = Machine()
    world.script = lambda spec, number: measured(1, exit_code=3) if number > 300 else machine(spec, number)
    assert world("doctor", "--measure", "--json", "noise.json").status == 3
    written = world.json("noise.json")
    assert written["noise"] is None
    assert written["conditions"]


def test_a_clock_that_stands_is_an_error(world: ScriptedWorld) -> None:
    world.script = lambda spec, number: measured(1)  # noqa: ARG005
    assert "nothing can be weighed" in complaint(world)


def test_nothing_is_measured_for_a_file_that_cannot_be_written(world: ScriptedWorld) -> None:
    assert "absent" in world.refuses("doctor", "--measure", "--json", "absent/noise.json")
    assert world.launches == 0


def test_who_watches_hears_that_a_launch_lasts(world: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "MEASURED_S", 0.1)
    heard: list[Progress] = []
    session.measure_noise(world.outside(), heard.append, lambda: None)
    assert GOES_ON in heard


def test_without_measure_nothing_is_launched(world: ScriptedWorld) -> None:
    assert world("doctor").status == 0
    assert world.launches == 0


def test_this_machine_is_measured(here: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "MEASURED_S", 1.5)
    assert here("doctor", "--measure", "--json", "noise.json").status == 0
    noise = here.json("noise.json")["noise"]
    assert {one["work"] for one in noise["expected"]} == {"loop", "memory"}
    assert all(one["median_ns"] > 0.5 * one["wanted_ms"] * 1e6 for one in noise["spreads"])
    assert noise["timer"]["step_ns"] > 0
