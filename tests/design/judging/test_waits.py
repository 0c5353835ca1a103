from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.design.judging.judgement import verdicts
from steelyard.design.judging.waits import uneven_waits
from steelyard.model.findings import Finding
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.records import Weighing
from tests.design.scripted import PLAIN, Script, weigh

WORK_NS = 12_000_000


def waiting(baseline: float, candidate: float, *, longer: float = 1.0, wait_ns: int = 3_000_000) -> Script:
    """Return a script: these shares of launches wait for a processor; the candidate works `longer` times as long."""
    generator = np.random.default_rng(1)

    def script(number: int, spec: LaunchSpec) -> Measured:  # noqa: ARG001
        share, work = (candidate, longer * WORK_NS) if spec.program == b"candidate" else (baseline, WORK_NS)
        delay = wait_ns if generator.random() < share else 10_000
        work = int(work * np.exp(0.003 * generator.standard_normal()))
        return replace(PLAIN, wall_ns=work + delay, cpu_ns=work, delay_ns=delay)

    return script


def found(record: Weighing) -> list[Finding]:
    return [finding for finding in verdicts(record)[0].findings if finding.code == "uneven-waits"]


def weighed(script: Script, metric: str = "wall", pairs: int = 120) -> Weighing:
    return weigh(script, pairs=pairs, max_time_s=None, margin=0.0001, metrics=[metric])[0]


def test_a_candidate_that_waits_more_is_told_with_both_sides_shares_and_what_all_pairs_say() -> None:
    (finding,) = found(weighed(waiting(0.05, 0.6)))
    assert finding.message.startswith("the candidate waited for a processor in ")
    assert "% of its launches, the baseline in " in finding.message
    assert "some pairs that waited were repeated, and all pairs together say +1" in finding.message
    assert found(weighed(waiting(0.6, 0.05)))[0].message.startswith("the baseline waited")


@pytest.mark.parametrize("metric", ["active", "cpu"])
def test_a_metric_without_waits_says_that_it_leaves_them_out(metric: str) -> None:
    (finding,) = found(weighed(waiting(0.05, 0.6), metric))
    assert f"{metric} leaves waits out, and all pairs together say +1" in finding.message


@pytest.mark.parametrize("metric", ["delay", "max_rss", "timeslices"])
def test_a_metric_that_is_no_such_time_says_nothing(metric: str) -> None:
    assert not found(weighed(waiting(0.4, 0.9), metric))


def test_chance_is_not_told() -> None:
    assert not found(weighed(waiting(0.25, 0.3)))
    assert not found(weighed(waiting(1.0, 1.0)))


@pytest.mark.parametrize("longer", [1.2, 1.6])
def test_a_longer_program_may_wait_more_often(longer: float) -> None:
    assert not found(weighed(waiting(0.2, 0.2 * longer, longer=longer), "active"))


@pytest.mark.parametrize(("times", "is_told"), [(1.25, True), (1.26, False), (1 / 1.26, False)])
def test_a_side_that_runs_much_longer_is_not_said_to_wait_more(times: float, is_told: bool) -> None:
    """Every launch of one side waits and none of the other's: for such unlike programs the verdict says enough."""
    work, delay = np.tile([1e7, times * 1e7], (40, 1)), np.tile([0.0, 3e6], (40, 1))
    assert (uneven_waits(work + delay, delay) is not None) is is_told
    assert (uneven_waits(work + delay[:, ::-1], delay[:, ::-1]) is not None) is is_told


def test_a_short_wait_that_every_launch_has_is_not_more_often_on_the_shorter_side() -> None:
    """The wait is 2.2 % of the shorter side's time and 1.9 % of the longer side's."""
    assert not found(weighed(waiting(1.0, 1.0, longer=1.15, wait_ns=265_000), "active"))


def test_a_machine_that_tells_no_waits_says_nothing() -> None:
    script = waiting(0.05, 0.6)
    assert not found(weighed(lambda number, spec: replace(script(number, spec), delay_ns=None)))
