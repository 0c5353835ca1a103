"""How pairs run: adjacent, in tandem, or in the way that proves better."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from steelyard.design.timing.trial import (
    ENOUGH_TO_CHOOSE,
    FEWEST_TRIED,
    FIRST_AFTER,
    FOR_EACH_TRIED,
    LOOKS_BACK,
    MOST_TRIED,
)
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import IN_TANDEM, ROLES, TRIED, USED
from tests.design.timing.tandem_machine import ALONE, BESIDE, SHELL, Machine, notes, ways
from tests.world import measured, program_of


def test_one_after_the_other_are_all_that_are_to_be(machine: Machine) -> None:
    record = machine.weighed("--pairing", "adjacent", "--pairs", "30")
    assert ways(record) == {ALONE: 60, BESIDE: 0}
    assert machine.world.pairs_at_once == 0


def test_in_tandem_both_run_at_once_and_the_wait_for_each_other_is_taken_out(machine: Machine) -> None:
    machine.change = 0.02
    record = machine.weighed("--pairing", "tandem")
    assert record["verdict"] == "slower"
    assert record["change"] == pytest.approx(0.02, abs=0.004)
    assert ways(record)[ALONE] == 0
    assert ways(record, "warm-up") == {ALONE: 2, BESIDE: 0}
    verdict = record["derived"]["verdicts"][0]
    assert verdict["baseline"]["median"] == pytest.approx(45e6, rel=0.01)
    assert verdict["disturbed"] == 0
    assert "a neighbour like itself" in notes(record)["tandem"]


def test_what_is_shown_again_is_judged_as_it_was(machine: Machine) -> None:
    machine.change = 0.02
    machine.weighed("--pairing", "tandem")
    done = machine.world("show", "r.json")
    assert "slower" in done.text
    assert "at the same time on one processor" in done.text


def test_where_both_are_shared_by_two_the_report_says_how_much_longer_it_takes(machine: Machine) -> None:
    machine.crowded = 1.5
    machine.noise = {ALONE: 0.0001, BESIDE: 0.0001}
    assert "50 % longer than alone" in notes(machine.weighed("--pairing", "tandem"))["tandem"]


@pytest.mark.parametrize(
    ("others", "why"),
    [
        ({"others_ns": 20_000_000, "lost_ns": None}, "nothing tells here how long these wait for a processor"),
        ({"others_ns": 20_000_000, "user_ns": 65_000_000}, "several of its threads or processes run at the same time"),
        ({"cpu_ns": None, "delay_ns": None, "others_ns": None}, "does not tell how long a process waits"),
    ],
)
def test_targets_that_cannot_share_a_processor_run_one_after_the_other(
    machine: Machine, others: dict[str, Any], why: str
) -> None:
    machine.others = {ALONE: others, BESIDE: others}
    record = machine.weighed("--pairing", "tandem", "--pairs", "20")
    assert ways(record) == {ALONE: 40, BESIDE: 0}
    assert why in notes(record)["adjacent"]
    assert notes(machine.weighed("--pairing", "auto", "--pairs", "60")).get("adjacent") is None


def test_a_target_that_waits_runs_one_after_the_other(machine: Machine) -> None:
    machine.others = {ALONE: {"cpu_ns": 20_000_000, "user_ns": 20_000_000}}
    machine.others[BESIDE] = machine.others[ALONE]
    record = machine.weighed("--pairing", "tandem", "--pairs", "20")
    assert ways(record)[BESIDE] == 0
    assert notes(record)["adjacent"].startswith("it waits for something else than a processor, so ")


def test_of_several_those_are_named_that_run_one_after_the_other(machine: Machine) -> None:
    def waits_unless_old(spec: LaunchSpec, number: int) -> Measured:
        found = machine(spec, number)
        return found if program_of(spec) in ("old", "new") else replace(found, cpu_ns=found.wall_ns // 2)

    machine.world.script = waits_unless_old
    for name in ("newer", "newest"):
        machine.world.executable(name)
    words = ("./old", "./new", "./newer", "./newest", "--pairing", "tandem", "--pairs", "20", "--json", "r.json")
    assert machine.world("compare", *words).status == 0
    found = machine.world.json("r.json")["findings"]
    (message,) = [one["message"] for one in found if one["code"] == "adjacent"]
    assert message.startswith("./newer, ./newest: it waits for something else than a processor, so ")


@pytest.mark.parametrize("warm_up", ["0", "1"])
def test_processes_one_by_one_are_weighed_beside_their_like_by_what_they_lost_as_a_whole(
    machine: Machine, warm_up: str
) -> None:
    machine.others, machine.change = {ALONE: SHELL, BESIDE: SHELL}, 0.02
    record = machine.weighed("--pairing", "tandem", "--warmup", warm_up)
    assert (ways(record)[ALONE], record["verdict"]) == (0, "slower")
    assert record["change"] == pytest.approx(0.02, abs=0.004)
    assert record["derived"]["verdicts"][0]["metric"] == "active"
    assert record["derived"]["verdicts"][0]["baseline"]["median"] == pytest.approx(45e6, rel=0.01)
    assert None not in record["launches"]["lost_ns"]


def test_what_has_no_others_is_not_followed(machine: Machine) -> None:
    record = machine.weighed("--pairing", "tandem", "--pairs", "20")
    assert [*map(bool, record["launches"]["lost_ns"])] == [False] * 42


def test_auto_tries_processes_one_by_one_beside_their_like(machine: Machine) -> None:
    machine.others = {ALONE: SHELL, BESIDE: SHELL}
    record = machine.weighed("--pairing", "auto")
    assert ways(record, TRIED)[BESIDE] == 2 * FEWEST_TRIED
    assert ways(record)[BESIDE] > 0
    machine.noise[ALONE], machine.others[ALONE] = 0.01, {**SHELL, "user_ns": 30_000_000}
    assert ways(machine.weighed("--pairing", "auto", "--pairs", "60"), TRIED)[BESIDE] == 0  # it waits


def test_threads_that_come_later_leave_the_processor_time_of_all(machine: Machine) -> None:
    record = machine.weighed("--pairing", "tandem", "--pairs", "30", "--margin", "0.001%")
    assert ways(record)[BESIDE] == 60
    machine.others = {BESIDE: {"others_ns": 20_000_000, "user_ns": 65_000_000}}
    record = machine.weighed("--pairing", "tandem", "--pairs", "30", "--margin", "0.001%")
    assert ways(record) == {ALONE: 60, BESIDE: 0}
    assert ways(record, TRIED) == {ALONE: 0, BESIDE: 4}


def test_one_launch_with_an_interrupt_at_its_end_is_no_program_of_several_threads(machine: Machine) -> None:
    machine.at = {5: {"others_ns": 1_000_000}}
    assert ways(machine.weighed("--pairing", "tandem", "--pairs", "30", "--margin", "0.001%")) == {ALONE: 0, BESIDE: 60}


def test_auto_goes_on_in_tandem_where_that_is_the_less_noisy_way(machine: Machine) -> None:
    machine.change = 0.01
    record = machine.weighed("--pairing", "auto")
    used, tried = ways(record), ways(record, TRIED)
    assert record["verdict"] == "slower"
    assert used[ALONE] == 2 * FOR_EACH_TRIED * FEWEST_TRIED
    assert tried == {ALONE: 0, BESIDE: 2 * FEWEST_TRIED}
    assert used[BESIDE] > 0
    assert re.fullmatch(
        r"3 pairs that were tried in tandem spread by 0\.\d+ %, those one after the other by \d\.\d+ %, "
        f"so it went on in tandem: {used[BESIDE] // 2} of the {record['pairs']} pairs that are judged",
        notes(record)["tried"],
    )
    adjacent = machine.weighed("--pairing", "adjacent")
    assert len(adjacent["launches"]["role"]) > 1.5 * len(record["launches"]["role"])


def test_how_few_pairs_of_the_way_that_it_went_on_are_judged_is_said(machine: Machine) -> None:
    fewest = FOR_EACH_TRIED * FEWEST_TRIED
    record = machine.weighed("--pairing", "auto", "--pairs", str(fewest + 4), "--margin", "0.001%")
    few = ways(record)[BESIDE] // 2
    assert 0 < few <= 4
    assert notes(record)["tried"].endswith(
        f", so it went on in tandem: {few} of the {record['pairs']} pairs that are judged"
    )


def test_what_auto_tries_is_a_twelfth_and_not_judged(machine: Machine) -> None:
    machine.noise[BESIDE] = machine.noise[ALONE]
    record = machine.weighed("--pairing", "auto", "--pairs", "90")
    roles = [ROLES[role] for role in record["launches"]["role"]]
    judged = [sum(role == USED for role in roles[:place]) for place, role in enumerate(roles) if role == TRIED]
    assert judged[0] == judged[1] == 2 * FIRST_AFTER
    assert all(count >= 2 * FOR_EACH_TRIED * (place // 2 + 1) for place, count in enumerate(judged))
    assert record["pairs"] == sum(role == USED for role in roles) / 2


def test_auto_tries_nothing_where_there_is_little_noise(machine: Machine) -> None:
    machine.noise[ALONE] = 0.001
    assert ways(machine.weighed("--pairing", "auto"))[BESIDE] == 0


@pytest.mark.parametrize("sides", [("old", "new"), ("new",), ()])
def test_what_has_no_ratio_tells_nothing_of_the_way(machine: Machine, sides: tuple[str, ...]) -> None:
    """By a clock of ticks `sys` may be 0 on one side or on both, of which numpy would warn."""
    machine.world.script = lambda spec, _: measured(60.0, sys_ns=10_000_000 * (program_of(spec) in sides))
    assert machine.world("compare", "./old", "./new", "--metric", "sys", "--pairs", "40").status == 0


def test_auto_tries_nothing_for_a_change_that_is_seen_at_once(machine: Machine) -> None:
    machine.change = 0.5
    assert machine.world.pairs_at_once == ways(machine.weighed("--pairing", "auto"))[BESIDE] == 0


def test_auto_leaves_short_programs_as_they_are_but_not_where_tandem_is_asked_for(machine: Machine) -> None:
    machine.ms = 12
    assert ways(machine.weighed("--pairing", "auto", "--pairs", "100"))[BESIDE] == 0
    assert ways(machine.weighed("--pairing", "tandem", "--pairs", "20"))[ALONE] == 0


def test_whoever_reads_what_auto_tried_judges_as_it_was_judged(machine: Machine) -> None:
    machine.noise[BESIDE] = 0.013
    parameters = ("compare", "./old {n}", "./new {n}", "-L", "n", "1,2", "--pairing", "auto", "--pairs", "44")
    for shard in ("1", "2"):
        assert machine.world(*parameters, "--shard", f"{shard}/2", "--json", f"{shard}.json").status == 0
    assert machine.world("merge", "1.json", "2.json", "--json", "r.json").status == 0
    record = machine.world.json("r.json")
    tried = ways(record, TRIED)[BESIDE]
    assert tried >= 8
    parts = [machine.world.json(f"{shard}.json") for shard in ("1", "2")]
    alone = [part["derived"]["verdicts"][0] for part in parts]
    for one, other in zip(alone, record["derived"]["verdicts"], strict=True):
        assert [one[name] for name in ("pairs", "change")] == [other[name] for name in ("pairs", "change")]
    assert machine.world("show", "r.json", "--pairs", "--benchmark", "n=1").text.count("tried in tandem") == tried / 4
    assert machine.world("export", "r.json", "-o", "launches.csv").status == 0
    rows = (machine.world.folder / "launches.csv").read_text().splitlines()
    assert sum(",tried," in row for row in rows) >= tried


def test_auto_gives_up_what_is_clearly_noisier(machine: Machine) -> None:
    machine.noise[BESIDE] = 0.2
    record = machine.weighed("--pairing", "auto", "--pairs", "120")
    assert ways(record)[BESIDE] == 0
    assert ways(record, TRIED)[BESIDE] == 2 * FEWEST_TRIED
    assert re.search("spread by [0-9.]+ %, those one after the other by [0-9.]+ %$", notes(record)["tried"])
    assert "tandem" not in notes(record)


def test_what_was_tried_is_told_by_the_metric_that_chose(machine: Machine) -> None:
    record = machine.weighed("--pairing", "auto", "--metric", "active,minor_faults")
    told = {one["metric"]: [found["code"] for found in one["findings"]] for one in record["derived"]["verdicts"]}
    assert "tried" in told["active"]
    assert "tried" not in told["minor_faults"]


def test_auto_ends_its_trial_where_both_ways_are_alike(machine: Machine) -> None:
    machine.noise, machine.random = {ALONE: 0.02, BESIDE: 0.02}, np.random.default_rng(1)
    record = machine.weighed("--pairing", "auto", "--margin", "0.6%", "--pairs", "300")
    assert ways(record)[BESIDE] == 0
    assert 2 * FEWEST_TRIED <= ways(record, TRIED)[BESIDE] <= 2 * MOST_TRIED


def test_auto_goes_back_where_tandem_turns_out_to_be_noisier(machine: Machine) -> None:
    def script(spec: LaunchSpec, number: int) -> Measured:
        machine.noise = {ALONE: 0.02, BESIDE: 0.002 if number < 85 else 0.08}
        return machine(spec, number)

    machine.world.script = script
    record = machine.weighed("--pairing", "auto", "--pairs", "300", "--margin", "1%")
    used = ways(record)
    assert 0 < used[BESIDE] <= 2 * max(LOOKS_BACK)
    assert used[ALONE] > 2 * FOR_EACH_TRIED * FEWEST_TRIED
    assert notes(record)["tried"].endswith(f", but having gone on in tandem it went back after {used[BESIDE] // 2}")


def test_what_noise_may_have_made_of_a_few_launches_are_no_crowded_caches(machine: Machine) -> None:
    machine.crowded, machine.noise = 1.25, {ALONE: 0.4, BESIDE: 0.04}
    assert ways(machine.weighed("--pairing", "auto"))[BESIDE] > 0


def test_pairs_of_the_noisier_way_do_not_make_the_other_one_futile(machine: Machine) -> None:
    machine.noise = {ALONE: 0.1, BESIDE: 0.008}
    assert machine.weighed("--pairing", "auto", "--max-time", "20")["verdict"] == "same"


def test_auto_is_not_given_up_before_tandem_was_tried(machine: Machine) -> None:
    machine.noise = {ALONE: 0.9, BESIDE: 0.001}
    record = machine.weighed("--pairing", "auto", "--max-time", "7")
    assert record["stop"] != ["futile"]
    assert ways(record)[BESIDE] > 0
    adjacent = machine.weighed("--pairing", "adjacent", "--max-time", "7")
    assert adjacent["stop"] == ["futile"]
    assert len(adjacent["launches"]["order"]) < 2 * ENOUGH_TO_CHOOSE


def test_auto_is_given_up_where_the_budget_is_too_short_to_try_tandem(machine: Machine) -> None:
    machine.noise[ALONE] = 0.3
    record = machine.weighed("--pairing", "auto", "--pairs", str(ENOUGH_TO_CHOOSE))
    assert record["stop"] == ["futile"]
    assert machine.weighed("--pairing", "auto", "--pairs", str(ENOUGH_TO_CHOOSE + 1))["stop"] == ["pairs"]


def test_auto_stays_where_the_caches_hold_one_and_not_two(machine: Machine) -> None:
    machine.crowded = 1.3
    record = machine.weighed("--pairing", "auto", "--pairs", "400")
    assert ways(record)[BESIDE] == 0
    assert ways(record, TRIED)[BESIDE] == 2 * FEWEST_TRIED
    assert re.search("took (2[6-9]|3[0-4]) % longer", notes(record)["adjacent"])


def test_the_choice_knows_no_sign(machine: Machine) -> None:
    """If the sides are exchanged, everything that decides how pairs run stays the same."""
    orders = []
    for change in (0.004, 1 / 1.004 - 1):
        machine.change, machine.random = change, np.random.default_rng(8)
        orders.append(machine.weighed("--pairing", "auto", "--pairs", "60", "--seed", "3")["launches"]["order"][:40])
    assert [order >= IN_TANDEM for order in orders[0]] == [order >= IN_TANDEM for order in orders[1]]
