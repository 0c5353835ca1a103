"""Suites in lockstep: their samples alternate, on a machine whose other work affects neighbours alike."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from steelyard.design.runner.tandem import tandem_obstacle
from steelyard.design.suite.loops import TARGET_NS, TURN_NS
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import IN_TANDEM, ROLES, TRIED, USED
from steelyard.model.settings import Settings
from tests.design.timing.tandem_machine import ALONE, BESIDE, notes, ways
from tests.world import ScriptedWorld, measured, program_of


@dataclass
class Suite:
    """One benchmark of 1 µs per iteration; other work makes launches differ by `storm`, but not those in lockstep."""

    world: ScriptedWorld
    change: float = 0.02
    storm: float = 0.08
    keeps_step: bool = True
    others_ns: int = 0

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(4)
        self.world.script = self

    def __call__(self, spec: LaunchSpec, _: int) -> Measured:
        given = dict(word.decode().partition("=")[::2] for word in spec.argv if word.startswith(b"--steelyard-"))
        asked = {key.removeprefix("--steelyard-"): value for key, value in given.items()}
        lines: list[dict[str, Any]] = [{"benchmark": "one"}] if "list" in asked else self._samples(asked, spec)
        results = "".join(f"{json.dumps(line)}\n" for line in ({"steelyard": 1}, *lines, {"end": True}))
        ms = 10 + sum(line.get("ns", 0) for line in lines) / 1e6
        return measured(ms, results=results.encode(), results_bytes=len(results), others_ns=self.others_ns)

    def _samples(self, asked: dict[str, str], spec: LaunchSpec) -> list[dict[str, Any]]:
        in_turn = "lockstep" in asked and self.keeps_step
        assert spec.lockstep == ("lockstep" in asked) == self.world.is_paired
        loops, samples = int(asked["loops"]), int(asked["samples"])
        storms = np.random.default_rng(int(asked["seed"])) if in_turn else self.random
        weather = storms.normal(0, self.storm) + np.cumsum(storms.normal(0, self.storm / 20, samples))
        factors = np.exp(weather + self.random.normal(0, 0.003, samples))
        each = 1000 * (1 + self.change if program_of(spec) == "new" else 1)
        lines = [{"ns": int(ns), "cpu_ns": int(ns), "delay_ns": 0} for ns in loops * each * factors]
        orders = asked["lockstep"].removeprefix("4:") if in_turn else ""
        return [{**line, **({"order": int(orders[place])} if orders else {})} for place, line in enumerate(lines)]

    def weighed(self, *options: str) -> dict[str, Any]:
        command = ("compare", "./old", "./new", "--harness", "protocol", "--json", "r.json")
        done = self.world(*command, "--max-time", "20", *options)
        assert done.status in (0, 1), done
        return self.world.json("r.json")


@pytest.fixture
def suite(scripted: ScriptedWorld) -> Suite:
    return Suite(scripted)


def orders(record: dict[str, Any]) -> dict[int, list[list[int]]]:
    """Return by side the orders of the samples of each launch in tandem; -1 for a sample taken alone."""
    columns = record["launches"]
    found: dict[int, list[list[int]]] = {0: [], 1: []}
    for side, order, samples in zip(columns["side"], columns["order"], columns["samples"], strict=True):
        if order >= IN_TANDEM:
            found[side].append([sample[4] if len(sample) > 4 else -1 for sample in samples])
    return found


@pytest.mark.parametrize("metric", ["active", "wall", "cpu"])
def test_neighbours_decide_what_medians_cannot(suite: Suite, metric: str) -> None:
    in_turn = suite.weighed("--pairing", "tandem", "--metric", metric)
    assert (in_turn["verdict"], in_turn["derived"]["verdicts"][0]["metric"]) == ("slower", metric)
    assert in_turn["change"] == pytest.approx(0.02, abs=0.004)
    assert ways(in_turn)[ALONE] == 0
    assert suite.weighed("--metric", metric)["pairs"] > 5 * in_turn["pairs"]


def test_sides_alternate_and_who_begins_is_drawn(suite: Suite) -> None:
    found = orders(suite.weighed("--pairing", "tandem"))
    assert len(found[0]) == len(found[1]) > 10
    # Which of the two launches is made first is drawn, too, so the rows of a pair are in no fixed order.
    begun = [launch[0] for launch in found[0]]
    assert {*begun} == {0, 1}
    assert [launch[0] for launch in found[1]] == [1 - first for first in begun]
    assert all(set(launch) == {launch[0]} and len(launch) > 1 for side in found.values() for launch in side)


@pytest.mark.parametrize(("pairing", "sample_ns"), [("tandem", TURN_NS), ("adjacent", TARGET_NS), ("auto", TARGET_NS)])
def test_in_turn_samples_are_shorter(suite: Suite, pairing: str, sample_ns: float) -> None:
    suite.storm = 0.0005
    (benchmark,) = suite.weighed("--pairing", pairing)["benchmarks"]
    assert sample_ns / 2 <= 1000 * benchmark["loops"] <= 2 * sample_ns


def test_the_report_says_that_samples_took_turns(suite: Suite) -> None:
    assert "samples in turn" in notes(suite.weighed("--pairing", "tandem"))["tandem"]


def test_auto_takes_the_way_that_decides_sooner(suite: Suite) -> None:
    record = suite.weighed("--pairing", "auto")
    assert ways(record)[BESIDE] > 12  # more than were tried
    assert record["verdict"] == "slower"


def test_auto_stays_with_one_after_the_other_where_that_is_quiet(suite: Suite) -> None:
    suite.storm = 0.0005
    assert ways(suite.weighed("--pairing", "auto"))[BESIDE] == 0


def test_a_harness_that_cannot_take_turns_is_weighed_one_after_the_other(suite: Suite) -> None:
    suite.keeps_step = False
    record = suite.weighed("--pairing", "tandem")
    assert ways(record)[BESIDE] == 0
    assert ways(record, TRIED)[BESIDE] > 0
    assert "its harness is too old for that, or does not do it" in notes(record)["adjacent"]


def test_so_is_one_with_several_threads(suite: Suite) -> None:
    suite.others_ns = 20_000_000
    record = suite.weighed("--pairing", "tandem", "--metric", "wall", "--pairs", "15")
    assert ways(record)[BESIDE] == 0
    assert "other threads" in notes(record)["adjacent"]


def test_the_record_is_judged_the_same_when_it_is_read(suite: Suite) -> None:
    record = suite.weighed("--pairing", "tandem")
    assert suite.world("show", "r.json", "--json", "again.json").status in (0, 1)
    again = suite.world.json("again.json")
    assert again["derived"]["verdicts"] == record["derived"]["verdicts"]
    used = [ROLES[role] for role in again["launches"]["role"]].count(USED)
    assert used == 2 * record["pairs"]


@pytest.mark.parametrize(
    ("harness", "metric", "why"),
    [
        ("google-benchmark", "active", "do not tell active of their own: choose --metric cpu"),
        ("google-benchmark", "wall", "choose --metric cpu"),
        ("pytest-benchmark", "wall", None),
        ("criterion", "cpu", "do not tell cpu of their own: choose --metric active"),
        ("criterion", "active", None),
        ("divan", "active", None),
        ("catch2", "active", "nor can they be taken in turn"),
        ("protocol", "delay", "its wait for the partner"),
        ("google-benchmark", "cpu", None),
        ("pytest-benchmark", "active", None),
        ("protocol", "wall", None),
        ("auto", "wall", None),
    ],
)
def test_a_harness_runs_in_tandem_by_times_that_hold_no_wait_for_the_partner(
    harness: str, metric: str, why: str | None
) -> None:
    found = tandem_obstacle(Settings(harness=harness, metrics=[metric]))
    assert found is None if why is None else why in (found or "")
