"""How pairs run, on a machine whose other work hits both of a pair in tandem alike."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Literal

import numpy as np
import pytest

from steelyard.design.runner.draws import draw_places
from steelyard.design.timing.pairing import Chosen, Pairing
from steelyard.design.timing.trial import (
    ENOUGH_TO_CHOOSE,
    FEWEST_TRIED,
    FIRST_AFTER,
    FOR_EACH_ALONE,
    FOR_EACH_TRIED,
    LOOKS_BACK,
    MOST_TRIED,
)
from steelyard.model.launches import (
    DISTURBED,
    IN_TANDEM,
    NUMBERS,
    ROLES,
    TRIED,
    USED,
    LaunchRow,
    LaunchSpec,
    Measured,
    Sample,
)
from steelyard.model.settings import Settings
from tests.world import OFFERS, Killed, ScriptedServer, ScriptedWorld, ctrl_c, kill, measured, program_of

ALONE, BESIDE = "adjacent", "tandem"
numbers = attrgetter(*NUMBERS)


@dataclass
class Machine:
    """Takes `ms` a launch; of a pair the two differ by the noise of its way."""

    world: ScriptedWorld
    ms: float = 45.0
    change: float = 0.0
    noise: dict[str, float] = field(default_factory=lambda: {ALONE: 0.03, BESIDE: 0.003})
    crowded: float = 1.0
    others: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What else launches of each way measure."""
    at: dict[int, dict[str, Any]] = field(default_factory=dict)
    """What some launches measure, by their number from 1."""

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(4)
        self.world.script = self

    def __call__(self, spec: LaunchSpec, number: int) -> Measured:
        way = BESIDE if self.world.is_paired else ALONE
        ms = self.ms * (1 + self.change if program_of(spec) == "new" else 1)
        ms *= (self.crowded if way == BESIDE else 1) * np.exp(self.random.normal(0, self.noise[way]))
        return measured(ms, **self.others.get(way, {}), **self.at.get(number, {}))

    def weighed(self, *options: str) -> dict[str, Any]:
        done = self.world("compare", "./old", "./new", "--json", "r.json", *options)
        assert done.status in (0, 1, 130), done
        record: dict[str, Any] = json.loads((self.world.folder / "r.json").read_text())
        return record


@pytest.fixture
def machine(scripted: ScriptedWorld) -> Machine:
    return Machine(scripted)


def ways(record: dict[str, Any], role: str = USED) -> dict[str, int]:
    """How many launches of a role ran in each way."""
    columns = record["launches"]
    orders = [order for order, each in zip(columns["order"], columns["role"], strict=True) if ROLES[each] == role]
    tandem = sum(order >= IN_TANDEM for order in orders)
    return {ALONE: len(orders) - tandem, BESIDE: tandem}


def notes(record: dict[str, Any]) -> dict[str, str]:
    found = [*record["findings"], *record["derived"]["verdicts"][0]["findings"]]
    return {one["code"]: one["message"] for one in found}


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
    found = json.loads((machine.world.folder / "r.json").read_text())["findings"]
    (message,) = [one["message"] for one in found if one["code"] == "adjacent"]
    assert message.startswith("./newer, ./newest: it waits for something else than a processor, so ")


SHELL = {"cpu_ns": 5_000_000, "others_ns": 40_000_000}
"""What is told of one that starts others and waits for them."""


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
        "so it went on in tandem",
        notes(record)["tried"],
    )
    adjacent = machine.weighed("--pairing", "adjacent")
    assert len(adjacent["launches"]["role"]) > 1.5 * len(record["launches"]["role"])


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
    """A clock of ticks may show nothing of `sys`, on one side or on both; numpy warned of it."""
    machine.world.script = lambda spec, _: measured(60.0, sys_ns=10_000_000 * (program_of(spec) in sides))
    assert machine.world("compare", "./old", "./new", "--metric", "sys", "--pairs", "40").status == 0


def test_auto_tries_nothing_for_a_change_that_is_seen_at_once(machine: Machine) -> None:
    machine.change = 0.5
    assert machine.world.pairs_at_once == ways(machine.weighed("--pairing", "auto"))[BESIDE] == 0


def test_auto_leaves_short_programs_as_they_are(machine: Machine) -> None:
    machine.ms = 12
    assert ways(machine.weighed("--pairing", "auto", "--pairs", "100"))[BESIDE] == 0


def test_whoever_reads_what_auto_tried_judges_as_it_was_judged(machine: Machine) -> None:
    machine.noise[BESIDE] = 0.013
    parameters = ("compare", "./old {n}", "./new {n}", "-L", "n", "1,2", "--pairing", "auto", "--pairs", "44")
    for shard in ("1", "2"):
        assert machine.world(*parameters, "--shard", f"{shard}/2", "--json", f"{shard}.json").status == 0
    assert machine.world("merge", "1.json", "2.json", "--json", "r.json").status == 0
    record = json.loads((machine.world.folder / "r.json").read_text())
    tried = ways(record, TRIED)[BESIDE]
    assert tried >= 8
    parts = [json.loads((machine.world.folder / f"{shard}.json").read_text()) for shard in ("1", "2")]
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
    assert machine.weighed("--pairing", "auto", "--max-time", "12")["verdict"] == "same"


def test_auto_is_not_given_up_before_tandem_was_tried(machine: Machine) -> None:
    machine.noise = {ALONE: 0.9, BESIDE: 0.001}
    assert machine.weighed("--pairing", "auto", "--max-time", "7")["verdict"] == "same"
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
    """Both sides exchanged, all that decides how pairs run stays as it was."""
    orders = []
    for change in (0.004, 1 / 1.004 - 1):
        machine.change, machine.random = change, np.random.default_rng(8)
        orders.append(machine.weighed("--pairing", "auto", "--pairs", "60", "--seed", "3")["launches"]["order"][:40])
    assert [order >= IN_TANDEM for order in orders[0]] == [order >= IN_TANDEM for order in orders[1]]


def test_what_fails_in_tandem_alone_runs_one_after_the_other(machine: Machine) -> None:
    machine.others[BESIDE] = {"exit_code": 1}
    record = machine.weighed("--pairing", "auto", "--pairs", "60")
    assert ways(record)[BESIDE] == 0
    assert ways(record)[ALONE] >= 60
    assert "./old failed" in notes(record)["adjacent"] or "./new failed" in notes(record)["adjacent"]
    assert machine.world("compare", "./old", "./new", "--pairing", "tandem").status == 3


@pytest.mark.parametrize(
    ("way", "margin", "noise", "ends"),
    [("tandem", "0.001%", 0.003, (9, 28, 51)), ("auto", "0.4%", 0.013, (46, 77, 95))],
)
def test_an_interrupted_weighing_goes_on_as_it_would_have(
    machine: Machine, way: str, margin: str, noise: float, ends: tuple[int, ...]
) -> None:
    options = ("--pairing", way, "--pairs", "70", "--margin", margin, "--seed", "5")
    machine.noise[BESIDE] = noise
    whole = machine.weighed(*options)
    for end in ends:
        machine.world.launches, machine.random = 0, np.random.default_rng(4)

        def script(spec: LaunchSpec, number: int, end: int = end) -> Measured:
            if number == end:
                ctrl_c()
            return machine(spec, number)

        machine.world.script = script
        half = machine.weighed(*options)
        assert len(half["launches"]["order"]) <= end
        machine.world.script = machine
        resumed = machine.world("compare", "--resume", "r.json", "--json", "s.json")
        assert resumed.status in (0, 1), resumed
        record = json.loads((machine.world.folder / "s.json").read_text())
        assert ways(record)[ALONE] <= ways(whole)[ALONE] + 1  # the half of the pair that was cut in two
        assert ways(record)[BESIDE] > 0
        assert ways(record, TRIED)[BESIDE] == ways(whole, TRIED)[BESIDE] == (0 if way == "tandem" else 2 * FEWEST_TRIED)
        assert [one["code"] for one in record["findings"]] == [one["code"] for one in whole["findings"]]


def test_an_interrupted_pair_in_tandem_is_lost_whole(machine: Machine) -> None:
    def script(spec: LaunchSpec, number: int) -> Measured:
        if number == 11:
            ctrl_c()
        return machine(spec, number)

    machine.world.script = script
    record = machine.weighed("--pairing", "tandem")
    assert record["launches"]["pair"] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_a_kill_between_the_rows_of_a_pair_leaves_an_unused_half(machine: Machine) -> None:
    def script(spec: LaunchSpec, number: int) -> Measured:
        if number == 12:
            kill()
        return machine(spec, number)

    machine.world.script = script
    with pytest.raises(Killed):
        machine.weighed("--pairing", "tandem")
    (journal,) = [path for path in machine.world.kept() if path.name.endswith(".journal")]
    lines = journal.read_text().splitlines()
    journal.write_text("\n".join(lines[:-1]) + "\n")
    machine.world.script = machine
    done = machine.world("compare", "--resume", journal, "--json", "r.json")
    assert done.status in (0, 1), done
    record = json.loads((machine.world.folder / "r.json").read_text())
    assert record["launches"]["pair"].count(4) == 1
    assert machine.world.is_paired is False


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--metric", "wall"), "wall would hold its wait for the partner: choose --metric active or cpu"),
        (("--metric", "active,delay"), "delay would hold its wait"),
        (("--metric", "timeslices"), "timeslices would hold what the partner does to it"),
        (("--prepare", "true"), "--prepare and --conclude need a moment without a launch"),
        (("--conclude", "true"), "--prepare and --conclude need a moment without a launch"),
        (("--output", "out"), "both would write to the file of --output"),
        (("--repeat", "2"), "--repeat runs processes one after the other"),
        (("--harness", "jmh"), "samples of jmh do not tell active of their own, nor can they"),
    ],
)
def test_what_tandem_cannot_do_is_refused(machine: Machine, options: tuple[str, ...], why: str) -> None:
    said = machine.world.refuses("compare", "./old", "./new", "--pairing", "tandem", *options)
    assert said.startswith("--pairing tandem runs both launches of a pair at the same time: ")
    assert why in said


def test_a_way_that_nobody_knows_is_refused(machine: Machine) -> None:
    assert "choose from adjacent, tandem, auto" in machine.world.refuses("compare", "a", "b", "--pairing", "both")


def test_disturbed_pairs_in_tandem_are_repeated_as_others(machine: Machine) -> None:
    machine.at = {number: {"steal_ns": 60_000_000} for number in (13, 14)}
    record = machine.weighed("--pairing", "tandem", "--pairs", "20", "--margin", "0.001%")
    assert ways(record, DISTURBED) == {ALONE: 0, BESIDE: 2}
    assert ways(record)[BESIDE] == 40


def test_each_of_two_may_take_the_time_of_both(machine: Machine) -> None:
    record = machine.weighed("--pairing", "tandem", "--timeout", "0.06", "--pairs", "20", "--margin", "0.001%")
    assert ways(record)[BESIDE] == 40


@pytest.mark.parametrize("seed", ["1", "2", "3", "4"])
def test_which_of_two_that_are_in_each_others_way_has_to_wait_does_not_matter(machine: Machine, seed: str) -> None:
    machine.at = {number: {"cpu_ns": 20_000_000, "user_ns": 20_000_000} for number in range(8, 40, 2)}
    record = machine.weighed("--pairing", "tandem", "--warmup", "3", "--pairs", "20", "--seed", seed)
    assert ways(record, TRIED) == {ALONE: 0, BESIDE: 6}
    assert "waits for something else" in notes(record)["adjacent"]


THREADS = {"others_ns": 20_000_000, "user_ns": 65_000_000}


def test_what_a_look_may_have_judged_stays_judged(machine: Machine) -> None:
    machine.at = dict.fromkeys(range(41, 200), THREADS)
    record = machine.weighed("--pairing", "tandem", "--pairs", "30", "--margin", "0.001%")
    assert ways(record)[BESIDE] >= 36
    assert ways(record, TRIED) == {ALONE: 0, BESIDE: 0}


def test_so_does_what_the_end_of_an_earlier_budget_judged(machine: Machine) -> None:
    first = machine.weighed("--pairing", "tandem", "--pairs", "8", "--margin", "0.001%")
    assert ways(first)[BESIDE] == 16
    machine.others[ALONE] = machine.others[BESIDE] = THREADS
    assert machine.world("compare", "--resume", "r.json", "--pairs", "12", "--json", "s.json").status in (0, 1)
    record = json.loads((machine.world.folder / "s.json").read_text())
    assert ways(record)[BESIDE] > 16
    assert ways(record)[ALONE] > 0
    assert ways(record, TRIED) == {ALONE: 0, BESIDE: 0}


def test_auto_goes_on_one_after_the_other_where_tandem_fails_later(machine: Machine) -> None:
    options = ("--pairs", "60", "--margin", "0.001%", "--seed", "5")
    machine.at = {number: {"exit_code": 1} for number in (91, 92)}
    record = machine.weighed("--pairing", "auto", *options)
    used = ways(record)
    assert used[BESIDE] == 10
    assert used[ALONE] > 2 * FOR_EACH_TRIED * FEWEST_TRIED
    assert "failed with exit status 1" in notes(record)["adjacent"]


def test_what_fails_in_tandem_is_told_that_it_was_not_alone(machine: Machine) -> None:
    machine.others[BESIDE] = {"exit_code": 1}
    done = machine.world("compare", "./old", "./new", "--pairing", "tandem")
    assert done.status == 3
    assert "if two at once are in each other's way, choose --pairing adjacent" in done.sentence


def test_a_failure_is_told_rather_than_the_wait_for_what_failed(machine: Machine) -> None:
    def script(spec: LaunchSpec, number: int) -> Measured:
        if not machine.world.is_paired:
            return machine(spec, number)
        return measured(50, timed_out=True) if program_of(spec) == "old" else measured(5, exit_code=3)

    machine.world.script = script
    for seed in ("1", "2", "3"):
        said = machine.world("compare", "./old", "./new", "--pairing", "tandem", "--seed", seed)
        assert "./new failed with exit status 3" in said.sentence


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


# Of what is known here a quarter is less than two such launches take.
MUCH_MEMORY = {"max_rss_bytes": 1 << 40}


@pytest.mark.parametrize("risk", [{"written_blocks": 8}, MUCH_MEMORY], ids=["files", "memory"])
def test_two_that_may_be_in_each_others_way_run_one_after_the_other_unasked(
    turning: Machine, risk: dict[str, int]
) -> None:
    turning.at = {1: risk}
    record = turning.weighed("--pairs", "15")
    assert ways(record) == {ALONE: 30, BESIDE: 0}
    assert "adjacent" not in notes(record)
    turning.others = {ALONE: risk, BESIDE: risk}
    turning.at = {}
    assert ways(turning.weighed("--pairs", "15", "--pairing", "tandem"))[ALONE] == 0


@pytest.mark.parametrize(("risk", "why"), [({"written_blocks": 8}, "writes to files"), (MUCH_MEMORY, "of the memory")])
def test_two_that_turn_out_to_be_in_each_others_way_leave_tandem(
    turning: Machine, risk: dict[str, int], why: str
) -> None:
    turning.at = {7: risk}  # behind two of warm-up, the first of the third pair
    record = turning.weighed("--pairs", "15", "--margin", "0.001%")
    assert ways(record) == {ALONE: 30, BESIDE: 0}
    assert ways(record, TRIED)[BESIDE] == 6
    (found,) = (found for found in record["findings"] if found["code"] == "adjacent")
    assert why in found["message"]
    assert found["remedy"].startswith("--pairing tandem ")


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
    more = json.loads((turning.world.folder / "more.json").read_text())
    assert ways(more) == {ALONE: 30, BESIDE: 0}
    assert ways(more, TRIED) == ways(first, TRIED)


def test_what_fails_in_tandem_is_weighed_one_after_the_other(turning: Machine) -> None:
    turning.others[BESIDE] = {"exit_code": 1}
    record = turning.weighed("--pairing", "auto", "--pairs", "15")
    assert ways(record) == {ALONE: 30, BESIDE: 0}
    assert "failed with exit status 1" in notes(record)["adjacent"]


def chosen(
    way: Literal["tandem", "auto"], seed: int, swapped: list[bool], *, short_turns: bool
) -> list[tuple[bool, str, list[int]]]:
    """What is chosen pair by pair on a noisy machine; of swapped pairs each side has what the other one had."""
    settings = Settings(seed=seed, margin=0.005, alpha=0.01, metrics=["active"], pairing=way, warm_up=1)
    offers = {"short_turns": short_turns}
    pairing, random = Pairing(settings, offers), np.random.default_rng(seed)
    answers, pairs = [Chosen(False, USED, [], [])], list[tuple[LaunchRow, LaunchRow]]()
    for number, swap in enumerate(swapped):
        newest = answers[-1]
        places = draw_places(seed, 0, number, newest.role if number else "warm-up", tandem=newest.tandem)
        ms = 40 * np.exp(random.normal(0, random.choice([0.003, 0.03]) / (5 if newest.tandem else 1), 2))
        idle_ms = random.choice([0, 0, 0, 20], 2) if number < 12 else [0, 0]
        rows = [
            LaunchRow._make((*place, *numbers(measured(ms[at] + idle_ms[at], cpu_ns=round(ms[at] * 1e6))), 0, (), ()))
            for place in places
            for at in [place.side ^ swap]
        ]
        pairs.append((rows[0], rows[1]))
        pairing.note(pairs[-1])
        answers.append(pairing.choose())
    again = Pairing(settings, offers)
    again.note(*pairs)  # as whoever goes on with a record does
    now = again.choose()
    assert (now.tandem, now.role) == (answers[-1].tandem, answers[-1].role)
    return [(answer.tandem, answer.role, answer.left) for answer in answers]


@pytest.mark.parametrize(
    ("way", "pairs", "short_turns"), [("tandem", 40, False), ("auto", 70, False), ("auto", 70, True)]
)
def test_no_choice_knows_which_side_a_launch_was_of(
    way: Literal["tandem", "auto"], pairs: int, short_turns: bool
) -> None:
    outcomes = set()
    for seed in range(40):
        coins = np.random.default_rng(seed + 1000).random(pairs) < 0.5
        answers = chosen(way, seed, [bool(coin) for coin in coins], short_turns=short_turns)
        assert answers == chosen(way, seed, [False] * pairs, short_turns=short_turns)
        outcomes.add(answers[-1][0])
    assert outcomes == {False, True}
