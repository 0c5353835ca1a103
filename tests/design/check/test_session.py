"""A whole check during which the user presses Ctrl-C: earlier launches are judged, the other rules are untried."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from steelyard.design.check.checker import INTERRUPTED, UNSETTLED
from steelyard.design.check.conformance import Conformance, try_protocol
from steelyard.design.check.session import CheckRequest, check_target
from steelyard.model.errors import InterruptedBeforeStart, LaunchError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.settings import Settings
from steelyard.model.soundness import Looked, Soundness
from tests.design.checked import EACH_NS, RSS, Body, Call, Doctor, Server, lognormal, plain
from tests.design.scripted import PLAIN, Machine, subject

SUITE = CheckRequest(subject=subject("suite"), settings=Settings(metrics=["active"], harness="protocol", seed=1))
COMMAND = CheckRequest(subject=subject("work"), settings=Settings(metrics=["active"], seed=1))
RULES = 12
BODIES: dict[str, Body] = {"one": plain, "two": plain, "three": plain}


def checked(
    bodies: dict[str, Body] = BODIES,
    at: int | None = None,
    noise: float = 0.02,
    *,
    heap: bool = False,
    can_run_before: bool = True,
) -> tuple[Soundness, Server]:
    """Return the findings on these benchmarks if the user interrupts launch `at`, and the launch server."""
    server = Server(Doctor(bodies, lognormal(noise), can_run_before).set_up(), at)
    world = server.world()
    return check_target(SUITE, world, lambda _: None, seconds=60.0, heap=heap), server


def command(ms: Callable[[int], float], at: int | None = None, fails_at: int | None = None) -> tuple[Soundness, Server]:
    noise = lognormal(0.03)

    def script(number: int, spec: LaunchSpec) -> Measured:
        is_empty = spec.program.endswith(b"true")
        fails = fails_at is not None and number >= fails_at and not is_empty
        wall_ns = round(1e6 * (1.0 if is_empty else ms(number)) * noise(0))
        return replace(PLAIN, wall_ns=wall_ns, exit_code=7 if fails else 0)

    server = Server(Machine(script), at)
    return check_target(COMMAND, server.world(), lambda _: None, seconds=60.0), server


def by_benchmark(found: Soundness) -> dict[str, dict[str, Looked]]:
    assert len(found.looked) == len({(one.benchmark, one.code) for one in found.looked}), "a rule was answered twice"
    return {
        name: {one.code: one for one in found.looked if one.benchmark == name}
        for name in dict.fromkeys(one.benchmark for one in found.looked)
    }


def untried(looked: dict[str, Looked]) -> set[str]:
    return {one.code for one in looked.values() if one.outcome == "untried"}


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.5, 0.7, 0.9])
def test_what_was_launched_until_an_interruption_is_judged(share: float) -> None:
    whole, server = checked()
    assert not whole.interrupted
    at = round(share * len(server.machine.specs))
    found, server = checked(at=at)
    assert found.interrupted
    assert found.launches == len(server.machine.specs) == at + 1, "something was launched after the interruption"
    assert found.benchmarks == list(BODIES)
    said, all_said = by_benchmark(found), by_benchmark(whole)
    assert {len(looked) for looked in said.values()} == {RULES}
    assert any(one.outcome == "sound" for one in found.looked)
    untold = [one for one in found.looked if one.outcome == "untried"]
    assert untold
    assert {one.finding for one in untold} <= {INTERRUPTED, UNSETTLED}
    # A benchmark that was checked completely is judged as without the interruption.
    for name in BODIES:
        if not untried(said[name]):
            assert said[name] == all_said[name]


def test_benchmarks_are_looked_at_one_after_the_other() -> None:
    _, server = checked()
    found, _ = checked(at=len(server.machine.specs) // 2)
    first, second, third = by_benchmark(found).values()
    assert untried(first) == set()
    assert untried(second) < set(second)
    assert untried(third) == set(third) - {"does-not-run", "name"}


@pytest.mark.parametrize("can_run_before", [True, False])
def test_an_interruption_while_names_are_tried(can_run_before: bool) -> None:
    # The list, a name, the name without its last letter, the pilots of its loops: the second name is not reached.
    found, _ = checked(at=4, can_run_before=can_run_before)
    first, second, third = by_benchmark(found).values()
    assert set(first) - untried(first) == {"does-not-run", "name"}
    assert untried(second) == set(second)
    assert untried(third) == set(third)


@pytest.mark.parametrize("at", [0, 1, 2])
def test_before_the_first_rule_was_tried_there_is_nothing_to_say(at: int) -> None:
    with pytest.raises(InterruptedBeforeStart, match="before the first rule was tried"):
        checked(at=at)


def test_an_interruption_while_heaps_are_watched() -> None:
    whole, server = checked(heap=True)
    assert [one.benchmark for one in whole.allocating] == list(BODIES)
    # The last two launches watch the third benchmark's heap.
    found, _ = checked(at=len(server.machine.specs) - 1, heap=True)
    assert found.allocating == whole.allocating[:2]
    said, all_said = by_benchmark(found), by_benchmark(whole)
    assert said["three"].pop("leak").finding == INTERRUPTED
    assert all_said["three"].pop("leak").finding != INTERRUPTED
    assert said == all_said


def test_what_seemed_so_and_was_not_shown_is_not_called_sound() -> None:
    def tossed(call: Call) -> tuple[list[float], int]:
        coin = np.random.default_rng(call.number).random() < 0.5
        return [EACH_NS * call.loops * (2 if coin else 1)] * call.samples, RSS

    outcomes = []
    for at in range(60, 110, 5):
        found = by_benchmark(checked({"ill": tossed}, at, noise=0.15)[0])["ill"]["modes"]
        outcomes.append((found.outcome, found.finding))
    assert ("untried", UNSETTLED) in outcomes
    assert "sound" not in dict(outcomes)


def test_a_command_is_judged_by_its_launches_until_an_interruption() -> None:
    found, server = command(lambda _: 20, at=90)
    looked = by_benchmark(found)["work"]
    assert found.interrupted
    assert len(server.machine.specs) == 91
    assert {code: one.outcome for code, one in looked.items() if one.outcome != "untried"} == {
        "too-short": "sound",
        "too-long": "sound",
        "hash-seed": "sound",
        "modes": "sound",
    }
    assert looked["drift"].finding == INTERRUPTED


def test_trouble_that_an_interruption_left_is_told() -> None:
    found, _ = command(lambda _: 2, at=7)
    assert [one.code for one in found.troubles()] == ["too-short"]


@pytest.mark.parametrize("at", [0, 1])
def test_a_command_that_never_ended_is_not_judged(at: int) -> None:
    with pytest.raises(InterruptedBeforeStart, match="before the first rule was tried"):
        command(lambda _: 20, at=at)


# --- launches that fail after others that ran


def test_a_command_that_fails_after_a_while_is_judged_by_what_ran() -> None:
    found, server = command(lambda _: 2, fails_at=60)
    looked = by_benchmark(found)["work"]
    assert len(server.machine.specs) == found.launches <= 62, "it was launched again"
    assert [one.code for one in found.troubles()] == ["does-not-run", "too-short"]
    assert looked["does-not-run"].finding.startswith("after 30 launches that ran, work failed with exit status 7")
    assert looked["drift"].finding == "a launch failed before it was tried"
    assert not found.interrupted


def test_a_command_whose_first_launch_fails_is_not_judged() -> None:
    with pytest.raises(LaunchError, match="exit status 7"):
        command(lambda _: 2, fails_at=0)


def test_a_benchmark_that_fails_after_a_while_is_no_more_called_sound() -> None:
    doctor = Doctor(BODIES, lognormal())
    machine = doctor.set_up()
    answer, ran = machine.script, 0

    def script(number: int, spec: LaunchSpec) -> Measured:
        nonlocal ran
        ran += b"--steelyard-run=two" in spec.argv
        fails = b"--steelyard-run=two" in spec.argv and ran > 40
        return replace(answer(number, spec), exit_code=7 if fails else 0)

    machine.script = script
    found = check_target(SUITE, Server(machine).world(), lambda _: None, seconds=60.0)
    said = by_benchmark(found)
    assert {name: len(looked) for name, looked in said.items()} == dict.fromkeys(BODIES, RULES)
    assert [(one.benchmark, one.code) for one in found.troubles()] == [("two", "does-not-run")]
    assert "two failed with exit status 7" in said["two"]["does-not-run"].finding
    assert said["two"]["too-short"].outcome == "sound"
    assert untried(said["one"]) == untried(said["three"]) == set()


# --- the protocol


def tried(at: int | None = None, told: float = 1.0) -> Conformance:
    server = Server(Doctor(BODIES, lognormal(), told=told).set_up(), at)
    return try_protocol(SUITE.subject, SUITE.settings, server.world())


def test_rules_that_were_tried_before_an_interruption_are_kept() -> None:
    whole = tried(None)
    assert not whole.interrupted
    # The launches are: a list for the first rule, another for the second, the first of two runs for the third.
    found = tried(3)
    assert found.interrupted
    assert found.rules == whole.rules[:2]


@pytest.mark.parametrize("told", [1e-3, 1.0, 2.0])
def test_times_in_another_unit_are_found(told: float) -> None:
    (trouble,) = [one.trouble for one in tried(told=told).rules if one.rule.startswith("its times are in ns")]
    assert trouble is None if told == 1.0 else "in another unit" in (trouble or "")


def test_times_of_a_second_benchmark_in_another_unit_are_found() -> None:
    machine = Doctor(BODIES, lognormal()).set_up()
    answer = machine.script

    def script(number: int, spec: LaunchSpec) -> Measured:
        measured = answer(number, spec)
        if b"--steelyard-run=two" not in spec.argv:
            return measured
        lines = [json.loads(line) for line in (measured.results or b"").splitlines()]
        told = [{**line, "ns": max(1, line["ns"] // 1000)} if "ns" in line else line for line in lines]
        results = "\n".join(map(json.dumps, told)).encode()
        return replace(measured, results=results, results_bytes=len(results))

    machine.script = script
    rules = try_protocol(SUITE.subject, SUITE.settings, Server(machine).world()).rules
    (trouble,) = [one.trouble for one in rules if one.rule.startswith("its other benchmarks")]
    assert trouble is not None
    assert trouble.startswith("two: ")
    assert "in another unit" in trouble


def test_a_script_that_only_declares_its_benchmarks_is_told_what_runs_them(tmp_path: Path) -> None:
    script = tmp_path / "bench_work.py"
    script.write_text("@bench\ndef work(): ...\n")
    asked = SUITE.subject.model_copy(update={"argv": ["python3", str(script)]})
    (rule,) = try_protocol(asked, SUITE.settings, Server(Machine(lambda *_: PLAIN)).world()).rules
    assert f"what @bench declares is run by python -m steelyard.harness {script}" in (rule.trouble or "")


def test_before_the_first_rule_of_the_protocol_there_is_nothing_to_say() -> None:
    with pytest.raises(InterruptedBeforeStart, match="before the first rule was tried"):
        tried(0)
