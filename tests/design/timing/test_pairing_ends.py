"""What ends, interrupts or prevents pairs in tandem."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.design.timing.trial import FEWEST_TRIED, FOR_EACH_TRIED
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import DISTURBED, TRIED
from tests.design.timing.tandem_machine import ALONE, BESIDE, Machine, notes, ways
from tests.world import Killed, at_launch, ctrl_c, kill, measured, program_of


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
        record = machine.world.json("s.json")
        assert ways(record)[ALONE] <= ways(whole)[ALONE] + 1  # half of the pair that was interrupted
        assert ways(record)[BESIDE] > 0
        assert ways(record, TRIED)[BESIDE] == ways(whole, TRIED)[BESIDE] == (0 if way == "tandem" else 2 * FEWEST_TRIED)
        assert [one["code"] for one in record["findings"]] == [one["code"] for one in whole["findings"]]


def test_an_interrupted_pair_in_tandem_is_lost_whole(machine: Machine) -> None:
    machine.world.script = at_launch(11, ctrl_c, machine)
    record = machine.weighed("--pairing", "tandem")
    assert record["launches"]["pair"] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_a_kill_between_the_rows_of_a_pair_leaves_an_unused_half(machine: Machine) -> None:
    machine.world.script = at_launch(12, kill, machine)
    with pytest.raises(Killed):
        machine.weighed("--pairing", "tandem")
    (journal,) = [path for path in machine.world.kept() if path.name.endswith(".journal")]
    lines = journal.read_text().splitlines()
    journal.write_text("\n".join(lines[:-1]) + "\n")
    machine.world.script = machine
    done = machine.world("compare", "--resume", journal, "--json", "r.json")
    assert done.status in (0, 1), done
    record = machine.world.json("r.json")
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


@pytest.mark.parametrize("options", [("--metric", "wall"), ("--prepare", "true")])
def test_what_tandem_cannot_do_is_not_even_tried(machine: Machine, options: tuple[str, ...]) -> None:
    record = machine.weighed("--pairing", "auto", "--pairs", "40", "--margin", "0.001%", *options)
    assert ways(record)[BESIDE] == ways(record, TRIED)[BESIDE] == machine.world.pairs_at_once == 0


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
    assert ways(record, TRIED) == {ALONE: 0, BESIDE: 8}
    assert "waits for something else" in notes(record)["adjacent"]


def test_a_first_pair_that_waits_for_cold_files_does_not_decide(machine: Machine) -> None:
    machine.at = {number: {"cpu_ns": 20_000_000, "user_ns": 20_000_000} for number in (1, 2)}
    record = machine.weighed("--pairing", "tandem", "--pairs", "20", "--margin", "0.001%")
    assert ways(record) == {ALONE: 0, BESIDE: 40}


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
    record = machine.world.json("s.json")
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
