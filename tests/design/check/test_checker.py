"""The rules of `steelyard check`, on scripted benchmarks: each defect is found, and noise is not taken for one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from steelyard.design.check.evidence import launch_ns
from steelyard.design.check.gather import round_plan
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import Sample
from steelyard.model.soundness import Looked
from steelyard.subjects.harness import Work
from steelyard.subjects.protocol import ProtocolHarness
from tests.design.checked import (
    EACH_NS,
    RSS,
    Body,
    Call,
    ChoosesLoops,
    Doctor,
    Fixed,
    Noise,
    bursts,
    comes_and_goes,
    lognormal,
    neighbours,
    plain,
    recorded,
)
from tests.design.scripted import PLAIN

TRACES = Path(__file__).parents[2] / "data/traces"
RULES = 12

Samples = tuple[list[float], int]


def alike(ns: float, call: Call, memory: int = RSS) -> Samples:
    return [ns] * call.samples, memory


def set_up_in_clock(call: Call) -> Samples:
    return alike(EACH_NS * call.loops + 500_000, call)


def slower_and_slower(call: Call) -> Samples:
    return alike(EACH_NS * call.loops**2 / 1000, call)


def rising(call: Call) -> Samples:
    """A benchmark that leaves something behind from sample to sample."""
    return [EACH_NS * call.loops * (1 + place / 8) for place in range(call.samples)], RSS


def drifting(call: Call) -> Samples:
    return [EACH_NS * call.loops * (2 if place < 20 else 1) for place in range(call.samples)], RSS


def remembering(call: Call) -> Samples:
    return alike(EACH_NS * call.loops, call, RSS + 100 * call.samples * call.loops)


def ordered(call: Call) -> Samples:
    return alike(EACH_NS * call.loops * (1.5 if call.before else 1), call)


def hashed(call: Call) -> Samples:
    return alike(EACH_NS * call.loops * (1 + call.hash_seed % 4 / 4), call)


def tossed(call: Call, factor: float = 2) -> Samples:
    coin = np.random.default_rng(call.number).random() < 0.5
    return alike(EACH_NS * call.loops * (factor if coin else 1), call)


def laid_out(call: Call) -> Samples:
    return alike(EACH_NS * call.loops, call) if call.fixed else tossed(call)


def alternating(call: Call) -> Samples:
    return [EACH_NS * call.loops * (1 + place % 2) for place in range(call.samples)], RSS


DEFECTS: dict[str, Body] = {
    "optimised-away": lambda call: alike(100 + 0.3 * call.loops, call),
    "too-short": lambda call: alike(2 * call.loops, call),
    "too-long": lambda call: alike(1.5e9 * call.loops, call),
    "set-up-in-clock": set_up_in_clock,
    "slower-and-slower": slower_and_slower,
    "drift": drifting,
    "memory": remembering,
    "order": ordered,
    "hash-seed": hashed,
    "modes": tossed,
}


@cache
def trace(name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the times of one side's launches in a trace, in order, without their waits."""
    table = np.genfromtxt(TRACES / f"{name}.csv.gz", delimiter=",", names=True)
    return np.asarray(table["wall_s"] - table["run_delay_s"], dtype=np.float64)


MACHINES: dict[str, Callable[[int], Noise]] = {
    "quiet": lambda seed: lognormal(0.01, seed),
    "noisy": lambda seed: lognormal(0.08, seed),
    "bursts": lambda seed: bursts(1.4, seed),
    "strong bursts": lambda seed: bursts(1.8, seed, spread=0.05),
    "a neighbour on the core": lambda seed: neighbours(1.7, seed),
    "ambient, recorded": lambda seed: recorded(trace("ambient"), 997 * seed),
    "bursts, recorded": lambda seed: recorded(trace("bursts"), 997 * seed),
}


def by_code(looked: list[Looked]) -> dict[str, Looked]:
    return {one.code: one for one in looked}


@pytest.mark.parametrize("machine", MACHINES)
def test_sound_benchmarks_are_left_in_peace(machine: str) -> None:
    bodies = {"sound": plain, "another": plain}
    said = [trouble for seed in range(6) for trouble in Doctor(bodies, MACHINES[machine](seed), seed=seed).troubles()]
    assert said == []


@pytest.mark.parametrize("machine", ["quiet", "noisy", "bursts", "bursts, recorded"])
@pytest.mark.parametrize("code", DEFECTS)
def test_each_defect_is_found(code: str, machine: str) -> None:
    for seed in range(3):
        doctor = Doctor({"ill": DEFECTS[code], "well": plain}, MACHINES[machine](seed), seed=seed)
        found = doctor.looked("ill")
        one = by_code(found)[code]
        assert one.outcome == "trouble", one
        assert one.remedy
        assert one.origin
        assert one.figure is not None
        others = {one.code for one in found if one.outcome == "trouble"} - {code}
        # An empty loop is short in every respect; if seeds make modes, these are named, too.
        assert others <= {"hash-seed": {"modes"}, "optimised-away": {"set-up-in-clock"}}.get(code, set()), found


@pytest.mark.parametrize("machine", ["quiet", "noisy", "bursts", "a neighbour on the core", "bursts, recorded"])
@pytest.mark.parametrize("harness", [ProtocolHarness, ChoosesLoops, Fixed])
def test_samples_that_rise_one_after_the_other_get_slower_and_slower(
    harness: Callable[[], ProtocolHarness], machine: str
) -> None:
    for seed in range(3):
        doctor = Doctor({"ill": rising}, MACHINES[machine](seed), seed=seed, harness=harness)
        found = by_code(doctor.looked())
        assert {code for code, one in found.items() if one.outcome == "trouble"} <= {"slower-and-slower", "too-short"}
        assert found["slower-and-slower"].outcome == "trouble", found["slower-and-slower"]
        assert "rise all the while" in found["slower-and-slower"].finding
        assert found["drift"].outcome == "untried"


def test_rising_samples_are_seen_in_plain_launches_where_there_is_time_for_no_others() -> None:
    def heavy(call: Call) -> Samples:
        return [2e6 * 1.85**place for place in range(min(call.samples, 12))], RSS

    found = by_code(Doctor({"ill": heavy}, lognormal(), seconds=20, harness=ChoosesLoops).looked())
    assert found["slower-and-slower"].outcome == "trouble"
    assert "the 5 samples" in found["slower-and-slower"].finding


@pytest.mark.parametrize("machine", MACHINES)
def test_a_harness_that_chooses_its_loops_is_asked_for_more(machine: str) -> None:
    def set_up(call: Call) -> Samples:
        return alike(EACH_NS * call.loops + 500, call)

    def growing(call: Call) -> Samples:
        return alike(EACH_NS * call.loops**2, call)

    for code, body in (("set-up-in-clock", set_up), ("slower-and-slower", growing), (None, plain)):
        found = by_code(Doctor({"one": body}, MACHINES[machine](1), harness=ChoosesLoops).looked())
        assert [one.code for one in found.values() if one.outcome == "trouble"] == ([code] if code else [])
    assert found["slower-and-slower"].outcome == "sound"


def test_a_harness_that_gives_no_more_iterations_is_no_proof() -> None:
    class Same(ChoosesLoops):
        def running(self, launch: LaunchSpec, work: Work) -> LaunchSpec:
            return super().running(launch, replace(work, loops=1))

        def samples(self, measured: Measured, work: Work) -> tuple[Sample, ...]:
            return super().samples(measured, replace(work, loops=1))

    found = by_code(Doctor({"one": plain}, lognormal(), harness=Same).looked())
    assert found["set-up-in-clock"].outcome == "untried"
    assert "no more iterations" in found["set-up-in-clock"].finding
    assert found["slower-and-slower"].outcome == "sound"  # judged by successive samples


@pytest.mark.parametrize("harness", [ProtocolHarness, ChoosesLoops, Fixed])
def test_samples_that_hang_on_each_other_or_warm_up_do_not_rise(harness: Callable[[], ProtocolHarness]) -> None:
    def wanders(call: Call) -> Samples:
        walk = np.random.default_rng(call.number).normal(0, 0.05, call.samples).cumsum()
        return list(EACH_NS * call.loops * np.exp(walk)), RSS

    def warms_up(call: Call) -> Samples:
        wander, _ = wanders(call)
        return [ns * (1 + 2 * 0.5**place) for place, ns in enumerate(wander)], RSS

    for seed in range(3):
        doctor = Doctor({"wanders": wanders, "warms up": warms_up}, lognormal(0.02, seed), seed=seed, harness=harness)
        assert [one for one in doctor.troubles() if one[1] == "slower-and-slower"] == []


class FourTimes(ChoosesLoops):
    most_amounts = 4


@pytest.mark.parametrize("harness", [ProtocolHarness, FourTimes, Fixed])
def test_waits_that_nobody_tells_are_neither_growth_nor_modes(
    harness: Callable[[], ProtocolHarness], monkeypatch: pytest.MonkeyPatch
) -> None:
    def looked(seed: int) -> list[Looked]:
        bodies: dict[str, Body] = {"sound": lambda call: ([1000 * EACH_NS * call.loops] * call.samples, RSS)}
        noise = lognormal(0.05, seed)
        return Doctor(bodies, noise, seed=seed, harness=harness, slice_ns=5_000_000).looked()

    for seed in range(3):
        found = by_code(looked(seed))
        assert [one for one in found.values() if one.outcome == "trouble"] == []
        assert found["modes"].outcome == "untried"
        assert "waited for a processor" in found["modes"].finding
    monkeypatch.setattr("steelyard.design.check.evidence._MOST_WAITS", 1.0)
    assert any(one.outcome == "trouble" for seed in range(3) for one in looked(seed)) >= (harness is FourTimes)


def test_modes_that_noise_blurs_are_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> int:
        checks = (Doctor({"ill": tossed}, lognormal(0.15, seed), seed=seed).troubles() for seed in range(8))
        return sum(("ill", "modes") in check for check in checks)

    assert found() >= 5
    monkeypatch.setattr("steelyard.design.check.checker._ROUNDS_BY_LOOK", (7, 14))
    assert found() <= 4


@pytest.mark.parametrize("machine", MACHINES)
def test_two_modes_are_found_on_every_machine(machine: str) -> None:
    doctors = (Doctor({"ill": tossed}, MACHINES[machine](seed), seed=seed) for seed in range(6))
    assert [("ill", "modes") in doctor.troubles() for doctor in doctors] == [True] * 6


@pytest.mark.parametrize("machine", ["strong bursts", "a neighbour on the core"])
def test_a_body_may_feel_a_neighbour_twice_as_much_as_its_start(machine: str) -> None:
    for seed in range(6):
        assert Doctor({"sound": plain}, MACHINES[machine](seed), seed=seed, start_feels=0.5).troubles() == []


@pytest.mark.parametrize("seconds", [(0.01, 0.06), (0.05, 0.3), (0.5, 3.0), (0.01, 1.0)])
def test_a_neighbour_that_comes_and_goes_within_launches_is_no_mode(seconds: tuple[float, float]) -> None:
    assert [doctor.troubles() for doctor in beside_a_neighbour({"sound": plain}, seconds, 6)] == [[]] * 6


def test_a_mode_of_the_process_is_in_its_fastest_samples_whatever_runs_beside_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def found() -> int:
        doctors = beside_a_neighbour({"ill": lambda call: tossed(call, 1.3)}, (0.01, 0.06), 8)
        return sum(("ill", "modes") in doctor.troubles() for doctor in doctors)

    assert found() >= 7
    monkeypatch.setattr("steelyard.design.check.clusters._by_fastest_samples", lambda _: [])
    assert found() <= 4


def beside_a_neighbour(bodies: dict[str, Body], seconds: tuple[float, float], many: int) -> list[Doctor]:
    within = [comes_and_goes(1.6, *seconds, seed) for seed in range(many)]
    return [Doctor(bodies, lognormal(0.03, seed), seed=seed, within=one) for seed, one in enumerate(within)]


def test_a_body_that_vanishes_has_no_times() -> None:
    found = by_code(Doctor({"gone": lambda call: alike(1, call)}, lognormal()).looked())
    assert found["optimised-away"].outcome == "trouble"
    assert "remove its body" in found["optimised-away"].finding
    assert found["set-up-in-clock"].outcome == "untried"


def test_what_separates_modes_is_named() -> None:
    for body, said in ((tossed, "neither the hash seed"), (laid_out, "layout"), (hashed, "the hash seed separates")):
        found = by_code(Doctor({"ill": body}, lognormal()).looked())["modes"]
        assert (found.outcome, said in found.finding) == ("trouble", True), found
    found = by_code(Doctor({"ill": alternating}, lognormal()).looked())["modes"]
    assert "samples alternate" in found.finding


def test_a_harness_that_cannot_run_others_before() -> None:
    found = by_code(Doctor({"ill": ordered, "well": plain}, lognormal(), can_run_before=False).looked("ill"))
    assert found["order"].outcome == "untried"
    assert "cannot" in found["order"].finding
    assert found["drift"].outcome == "sound"


def test_others_that_fail_leave_the_rule_untried() -> None:
    def fails(call: Call) -> Samples:
        return ([], RSS) if call.before else plain(call)

    found = by_code(Doctor({"ill": fails, "well": plain}, lognormal()).looked("ill"))
    assert found["order"].outcome == "untried"
    assert "0 samples" in found["order"].finding


def test_too_little_time_is_said() -> None:
    found = by_code(Doctor({"one": plain}, lognormal(), seconds=0.05).looked())
    assert found["drift"].outcome == "untried"
    assert "--max-time" in found["drift"].finding
    assert found["too-long"].outcome == "sound"


@pytest.mark.parametrize("harness", [ProtocolHarness, ChoosesLoops, Fixed])
@pytest.mark.parametrize("seconds", [0.05, 0.3, 0.9])
def test_the_time_that_is_said_to_be_enough_is(harness: Callable[[], ProtocolHarness], seconds: float) -> None:
    def untried(seconds: float) -> set[str]:
        bodies: dict[str, Body] = {"one": lambda call: ([5e6 * call.loops] * call.samples, RSS)}
        looked = Doctor(bodies, lognormal(), seconds=seconds, harness=harness).looked()
        return {one.finding for one in looked if one.outcome == "untried" and "--max-time" in one.finding}

    (said,) = untried(seconds)  # all rules say the same
    assert untried(float(said.split("--max-time ")[1].split()[0])) == set()


def test_a_benchmark_that_fails_is_named_and_not_judged() -> None:
    found = Doctor({"ill": lambda _: ([], RSS), "well": plain}, lognormal()).looked()
    mine = [one for one in found if one.benchmark == "ill"]
    assert [one.code for one in mine if one.outcome == "trouble"] == ["does-not-run"]
    assert {one.outcome for one in mine if one.code != "does-not-run"} == {"untried"}
    assert all(one.outcome != "trouble" for one in found if one.benchmark == "well")


def test_names_that_select_others() -> None:
    found = Doctor({"sort*": plain, "sorted": plain}, lognormal()).troubles()
    assert found == [("sort*", "name")]


def test_a_program_that_answers_to_parts_of_names() -> None:
    class Anything(dict[str, Body]):
        def __contains__(self, name: object) -> bool:
            return True

        def __missing__(self, name: str) -> Body:
            return plain

    found = by_code(Doctor(Anything({"sort": plain}), lognormal()).looked())["name"]
    assert found.outcome == "trouble"
    assert "'sor'" in found.finding


def test_all_rules_are_answered_once() -> None:
    found = Doctor({"one": plain, "two": plain}, lognormal()).looked()
    for name in ("one", "two"):
        codes = [one.code for one in found if one.benchmark == name]
        assert len(codes) == len(set(codes)) == RULES


def test_a_round_has_each_seed_once_and_pairs_side_by_side() -> None:
    from random import Random

    from steelyard.design.check.evidence import AFTER, DOUBLE, LONGEST, PLAIN, Amount

    amounts = {kind: Amount(1, 1) for kind in (PLAIN, DOUBLE, AFTER, LONGEST)}
    firsts = []
    for number in range(200):
        plan = round_plan(amounts, [1, 2, 3, 4, 5, 6], Random(number))
        assert sorted(place.hash_seed for place in plan if place.kind == PLAIN) == [1, 2, 3, 4, 5, 6]
        for pair in range(4):
            places = [position for position, place in enumerate(plan) if place.pair == pair]
            assert places[1] == places[0] + 1
            assert plan[places[0]].hash_seed == plan[places[1]].hash_seed
            firsts.append(plan[places[0]].kind == PLAIN)
    assert 0.4 < np.mean(firsts) < 0.6


def test_a_command_s_waits_are_no_part_of_its_time() -> None:
    waited = replace(PLAIN, wall_ns=20_000_000, delay_ns=8_000_000)
    assert launch_ns(waited) == 12_000_000
    assert launch_ns(replace(waited, others_ns=5_000_000)) == 20_000_000
    assert launch_ns(replace(waited, delay_ns=None)) == 20_000_000
    assert launch_ns(replace(waited, others_ns=5_000_000, lost_ns=2_000_000)) == 18_000_000
