"""How pairs run where turns are short: they begin in tandem if nothing known before the first speaks against it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

from steelyard.design.runner.draws import draw_places
from steelyard.design.timing.pairing import Choice, Pairing
from steelyard.design.timing.trial import FEWEST_TRIED, FOR_EACH_ALONE, FOR_EACH_TRIED
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import TRIED, USED, LaunchRow, Sample
from steelyard.model.settings import Settings
from tests.design.timing.tandem_machine import ALONE, BESIDE, SHELL, Machine, notes, numbers, ways
from tests.world import OFFERS, ScriptedServer, measured, program_of


@pytest.fixture
def turning(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine whose launch server can make turns short."""
    monkeypatch.setattr(ScriptedServer, "offers", {**OFFERS, "short_turns": True})
    return machine


@pytest.mark.parametrize(
    ("others", "begins"),
    [(SHELL, True), ({**SHELL, "lost_ns": None}, False), ({**SHELL, "user_ns": 60_000_000}, False)],
)
def test_processes_one_by_one_that_take_long_begin_beside_their_like(
    turning: Machine, others: dict[str, Any], begins: bool
) -> None:
    turning.others = {ALONE: others, BESIDE: others}
    assert (ways(turning.weighed("--pairing", "auto", "--pairs", "10"))[BESIDE] == 20) is begins


def test_with_short_turns_auto_begins_in_tandem(turning: Machine) -> None:
    turning.change = 0.02
    record = turning.weighed("--pairing", "auto")
    assert record["verdict"] == "slower"
    assert ways(record)[ALONE] == ways(record, TRIED)[ALONE] == 0
    assert ways(record, "warm-up")[BESIDE] == 0


@pytest.mark.parametrize("sides", [("old", "new"), ("new",), ()])
def test_what_has_no_ratio_tells_nothing_of_crowded_caches(turning: Machine, sides: tuple[str, ...]) -> None:
    turning.world.script = lambda spec, _: measured(60.0, sys_ns=10_000_000 * (program_of(spec) in sides))
    assert turning.world("compare", "./old", "./new", "--metric", "sys", "--pairs", "40").status == 0


def test_short_commands_begin_one_after_the_other_and_try_tandem_later(turning: Machine) -> None:
    turning.ms = 30
    record = turning.weighed("--pairs", "60", "--margin", "0.001%")
    assert ways(record)[ALONE] >= 40
    assert ways(record, TRIED)[ALONE] == 0
    assert ways(record, TRIED)[BESIDE] > 0


def test_auto_is_the_default(turning: Machine) -> None:
    record = turning.weighed("--pairs", "15", "--margin", "0.001%")
    assert record["settings"]["pairing"] == "auto"
    assert ways(record) == {ALONE: 0, BESIDE: 30}


# Two such launches take more than a quarter of the memory that the machine is known to have.
MUCH_MEMORY = {"max_rss_bytes": 1 << 40}


@pytest.mark.parametrize("risk", [{"written_blocks": 8}, MUCH_MEMORY], ids=["files", "memory"])
def test_two_that_may_be_in_each_others_way_run_one_after_the_other_unasked(
    turning: Machine, risk: dict[str, int]
) -> None:
    turning.at = dict.fromkeys((1, 2, 3, 4), risk)
    record = turning.weighed("--pairs", "15")
    assert ways(record) == {ALONE: 30, BESIDE: 0}
    assert "adjacent" not in notes(record)
    turning.others = {ALONE: risk, BESIDE: risk}
    turning.at = {}
    assert ways(turning.weighed("--pairs", "15", "--pairing", "tandem"))[ALONE] == 0


@pytest.mark.parametrize(("writing", "beside"), [((1, 2), 28), ((1, 2, 3), 0)], ids=["a cache", "files"])
def test_what_only_the_warm_up_writes_runs_in_tandem_behind_a_pair_alone_that_writes_nothing(
    turning: Machine, writing: tuple[int, ...], beside: int
) -> None:
    turning.at = {number: {"written_blocks": 8} for number in writing}
    record = turning.weighed("--pairs", "15", "--margin", "0.001%")
    assert ways(record) == {ALONE: 30 - beside, BESIDE: beside}


@pytest.mark.parametrize(("risk", "why"), [({"written_blocks": 8}, "writes to files"), (MUCH_MEMORY, "of the memory")])
def test_two_that_turn_out_to_be_in_each_others_way_leave_tandem(
    turning: Machine, risk: dict[str, int], why: str
) -> None:
    turning.at = {7: risk, 8: risk}  # after two launches of warm-up, those of the third pair
    record = turning.weighed("--pairs", "15", "--margin", "0.001%")
    assert ways(record) == {ALONE: 30, BESIDE: 0}
    assert ways(record, TRIED)[BESIDE] == 6
    (found,) = (found for found in record["findings"] if found["code"] == "adjacent")
    assert why in found["message"]
    assert found["remedy"].startswith("--pairing tandem ")


@pytest.mark.parametrize(
    ("blocks", "writing", "beside"),
    [(8, (7, 14, 19), 30), (16, (7,), 0)],
    ids=["the kernel's own", "more than that"],
)
def test_a_block_that_the_kernel_writes_for_itself_during_a_few_launches_does_not_end_tandem(
    turning: Machine, blocks: int, writing: tuple[int, ...], beside: int
) -> None:
    turning.at = {number: {"written_blocks": blocks} for number in writing}
    record = turning.weighed("--pairs", "15", "--margin", "0.001%")
    assert ways(record) == {ALONE: 30 - beside, BESIDE: beside}


def test_one_side_alone_that_keeps_writing_leaves_tandem(turning: Machine) -> None:
    script = turning.world.script
    turning.world.script = lambda spec, number: replace(
        script(spec, number), written_blocks=8 * (number > 2 and program_of(spec) == "new")
    )
    record = turning.weighed("--pairs", "15", "--margin", "0.001%")
    assert ways(record) == {ALONE: 30, BESIDE: 0}
    assert "writes to files" in notes(record)["adjacent"]


def test_a_harness_may_write_its_reports_meanwhile() -> None:
    settings = Settings(harness="criterion", clock="still", metrics=["active"], pairing="auto", warm_up=1)
    pairing, sample = Pairing(settings, {"short_turns": True}), Sample(1000, 1_000_000, None, 0, None)
    writing = measured(50, written_blocks=8)
    rows = [LaunchRow._make((*place, *numbers(writing), 0, (sample,), ())) for place in draw_places(1, 0, 0, "warm-up")]
    pairing.note((rows[0], rows[1]))
    assert pairing.choose().tandem


@pytest.mark.parametrize(
    "warm_up",
    [{"others_ns": 20_000_000, "user_ns": 65_000_000}, {"cpu_ns": 30_000_000}, {"wall_ns": 18_000_000}],
    ids=["threads", "waits", "short"],
)
def test_what_the_warm_up_does_not_show_to_be_one_for_it_begins_one_after_the_other(
    turning: Machine, warm_up: dict[str, int]
) -> None:
    if "wall_ns" in warm_up:
        turning.ms = 18
    else:
        turning.at = {1: warm_up}
    assert ways(turning.weighed("--pairing", "auto", "--pairs", "15")) == {ALONE: 30, BESIDE: 0}


def test_without_a_warm_up_nothing_is_known_and_auto_begins_one_after_the_other(turning: Machine) -> None:
    assert ways(turning.weighed("--pairing", "auto", "--pairs", "15", "--warmup", "0")) == {ALONE: 30, BESIDE: 0}


@pytest.mark.parametrize(
    ("harness", "clock", "begins_beside"),
    [("criterion", "still", True), ("criterion", None, False), ("google-benchmark", "still", False)],
)
def test_a_suite_begins_in_tandem_where_its_samples_gain_by_it(
    harness: str, clock: Literal["still"] | None, begins_beside: bool
) -> None:
    settings = Settings(harness=harness, clock=clock, metrics=["active"], pairing="auto", warm_up=1)
    pairing, sample = Pairing(settings, {"short_turns": True}), Sample(1000, 1_000_000, None, 0, None)
    places = draw_places(1, 0, 0, "warm-up")
    rows = [LaunchRow._make((*place, *numbers(measured(30)), 0, (sample,), ())) for place in places]
    pairing.note((rows[0], rows[1]))
    assert pairing.choose().tandem is begins_beside


def test_what_is_far_noisier_in_tandem_goes_on_one_after_the_other(turning: Machine) -> None:
    turning.noise = {ALONE: 0.003, BESIDE: 0.05}
    record = turning.weighed("--pairing", "auto", "--margin", "0.1%", "--pairs", "60")
    tried = 2 * FEWEST_TRIED
    assert ways(record, TRIED) == {ALONE: tried, BESIDE: 0}
    assert ways(record)[BESIDE] == tried * FOR_EACH_ALONE
    assert ways(record)[ALONE] > 0
    said = notes(record)["tried"]
    assert re.search("tried one after the other spread by .* in tandem by .*, so it went on one after the other$", said)


def test_what_stays_in_tandem_says_what_was_tried(turning: Machine) -> None:
    record = turning.weighed("--pairing", "auto", "--margin", "0.02%", "--pairs", "60")
    assert ways(record)[ALONE] == 0
    assert ways(record, TRIED) == {ALONE: 2 * FEWEST_TRIED, BESIDE: 0}
    assert "so it went on" not in notes(record)["tried"]


def test_what_has_too_little_of_the_caches_leaves_tandem_before_it_is_judged(turning: Machine) -> None:
    turning.crowded = 1.5
    turning.noise = {ALONE: 0.001, BESIDE: 0.001}
    record = turning.weighed("--pairing", "auto")
    assert record["verdict"] == "same"
    assert ways(record)[BESIDE] == 0
    assert ways(record, TRIED) == {ALONE: 0, BESIDE: 2 * FEWEST_TRIED}
    assert not {"adjacent", "tried"} & notes(record).keys()


def test_what_has_too_little_of_the_caches_is_said_once_pairs_around_it_tell(turning: Machine) -> None:
    turning.crowded = 1.5
    record = turning.weighed("--pairing", "auto", "--pairs", "60")
    assert ways(record)[BESIDE] == 0
    assert ways(record, TRIED) == {ALONE: 0, BESIDE: 4 * FEWEST_TRIED}
    assert re.search("took (4[5-9]|5[0-5]) % longer, as the two share the caches", notes(record)["adjacent"])
    (remedy,) = (found["remedy"] for found in record["findings"] if found["code"] == "adjacent")
    assert remedy.startswith("--pairing tandem ")


def test_a_stretch_in_which_the_machine_is_slow_does_not_keep_a_program_from_tandem(turning: Machine) -> None:
    def script(spec: LaunchSpec, number: int) -> Measured:
        turning.crowded = 1.5 if number < 20 else 1.0
        return turning(spec, number)

    turning.world.script = script
    record = turning.weighed("--pairing", "auto", "--pairs", "80", "--margin", "0.02%")
    assert ways(record, TRIED)[BESIDE] == 4 * FEWEST_TRIED
    assert ways(record)[ALONE] == 2 * FOR_EACH_TRIED * FEWEST_TRIED
    assert ways(record)[BESIDE] > 0
    assert "adjacent" not in notes(record)
    assert notes(record)["tried"].startswith("3 pairs that were tried in tandem")


def test_one_slow_pair_in_tandem_says_nothing_of_caches(turning: Machine) -> None:
    turning.at = {number: {"wall_ns": 70_000_000, "cpu_ns": 70_000_000} for number in (3, 4)}
    assert ways(turning.weighed("--pairing", "auto", "--pairs", "14", "--margin", "0.02%")) == {ALONE: 0, BESIDE: 28}


def test_what_left_tandem_for_its_caches_does_so_again_when_it_is_carried_on(turning: Machine) -> None:
    turning.crowded, turning.noise = 1.5, {ALONE: 0.02, BESIDE: 0.02}
    first = turning.weighed("--pairing", "auto", "--pairs", "10")
    assert ways(first) == {ALONE: 20, BESIDE: 0}
    done = turning.world("compare", "--resume", "r.json", "--pairs", "5", "--json", "more.json")
    assert done.status == 0, done
    more = turning.world.json("more.json")
    assert ways(more) == {ALONE: 30, BESIDE: 0}
    assert ways(more, TRIED) == ways(first, TRIED)


def test_what_fails_in_tandem_is_weighed_one_after_the_other(turning: Machine) -> None:
    turning.others[BESIDE] = {"exit_code": 1}
    record = turning.weighed("--pairing", "auto", "--pairs", "15")
    assert ways(record) == {ALONE: 30, BESIDE: 0}
    assert "failed with exit status 1" in notes(record)["adjacent"]


def chosen(
    way: Literal["tandem", "auto"], seed: int, swapped: list[bool], *, short_turns: bool, read_again: bool
) -> list[tuple[bool, str, list[int]]]:
    """Return what is chosen pair by pair on a noisy machine where each launch of a `swapped` pair is the other side's.

    What runs second takes longer.
    """
    settings = Settings(seed=seed, margin=0.005, alpha=0.01, metrics=["active"], pairing=way, warm_up=1)
    offers = {"short_turns": short_turns}
    pairing, random = Pairing(settings, offers), np.random.default_rng(seed)
    answers, pairs = [Choice(False, USED, [], [])], list[tuple[LaunchRow, LaunchRow]]()
    for number, swap in enumerate(swapped):
        newest = answers[-1]
        places = draw_places(seed, 0, number, newest.role if number else "warm-up", tandem=newest.tandem)
        ms = 40 * np.exp(random.normal((0, 0.01), random.choice([0.003, 0.03]) / (5 if newest.tandem else 1)))
        idle_ms = random.choice([0, 0, 0, 20], 2) if number < 12 else [0, 0]
        rows = [
            LaunchRow._make((*place, *numbers(measured(one_ms + idle, cpu_ns=round(one_ms * 1e6))), 0, (), ()))
            for place, one_ms, idle in zip(places, ms, idle_ms, strict=True)
        ]
        rows = [row._replace(side=row.side ^ swap) for row in rows]
        pairs.append((rows[0], rows[1]))
        pairing.note(pairs[-1])
        answers.append(pairing.choose())
    if read_again:
        again = Pairing(settings, offers)
        again.note(*pairs)  # as when a record is carried on
        now = again.choose()
        assert (now.tandem, now.role) == (answers[-1].tandem, answers[-1].role)
    return [(answer.tandem, answer.role, answer.set_aside) for answer in answers]


@pytest.mark.parametrize(
    ("way", "pairs", "short_turns"), [("tandem", 40, False), ("auto", 70, False), ("auto", 70, True)]
)
def test_no_choice_knows_which_side_a_launch_was_of(
    way: Literal["tandem", "auto"], pairs: int, short_turns: bool
) -> None:
    outcomes = set()
    for seed in range(40):
        coins = np.random.default_rng(seed + 1000).random(pairs) < 0.5
        answers = chosen(way, seed, [bool(coin) for coin in coins], short_turns=short_turns, read_again=True)
        assert answers == chosen(way, seed, [False] * pairs, short_turns=short_turns, read_again=False)
        outcomes.add(answers[-1][0])
    assert outcomes == {False, True}
