"""The evidence in the launches of a check, kind by kind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from steelyard.design.check.clusters import modes
from steelyard.design.check.evidence import EMPTY, LONGEST, PLAIN, Amount, Evidence, ObservedLaunch, observe_launch
from steelyard.model.rows import Sample
from tests.design.scripted import PLAIN as MEASURED


def launch(kind: str, ms: float, start_ns: float = 0.0) -> ObservedLaunch:
    ns = ms * 1e6
    return ObservedLaunch(kind, 0, None, 1, (ns,), ns, int(ns), 1 << 20, 0.0, start_ns)


def test_the_start_beside_a_command_is_that_of_the_empty_processes_next_to_it() -> None:
    evidence = Evidence("it", {PLAIN: Amount(1, 1), EMPTY: Amount(1, 1)})
    evidence.launches += [launch(EMPTY, 2), launch(PLAIN, 50), launch(EMPTY, 4), launch(PLAIN, 50), launch(PLAIN, 50)]
    assert evidence.starts(PLAIN).tolist() == [3e6, 4e6, 0.0]


def test_the_start_of_a_harness_is_its_own() -> None:
    evidence = Evidence("it", {PLAIN: Amount(1, 1)})
    evidence.launches += [launch(PLAIN, 50, start_ns=7e6), launch(PLAIN, 50, start_ns=8e6)]
    assert evidence.starts(PLAIN).tolist() == [7e6, 8e6]


@pytest.mark.parametrize("samples", [4, 5, 6, 9, 40])
def test_the_first_third_of_a_launch_is_as_large_as_the_last(samples: int) -> None:
    one = ObservedLaunch(LONGEST, 0, None, 1, (99.0, *range(samples - 1)), 1.0, 1, 1, 0.0, 0.0)
    first, middle, last = one.thirds
    assert first + last == 2 * middle == samples - 2
    assert first == ((samples - 1) // 3 - 1) / 2


def alternating(waits_ns: float) -> Evidence:
    """Return the evidence of long launches in which every fourth sample takes four times as long as the others."""
    times = tuple(1e6 * (4 if place % 4 == 3 else 1) * (1 + place / 1000) for place in range(40))
    one = ObservedLaunch(LONGEST, 0, None, 1, times, 1e6, int(sum(times)), 1 << 20, 0.0, 2e6, waits_ns=waits_ns)
    return Evidence("it", {LONGEST: Amount(1, 40)}, [one] * 8)


def test_samples_that_waited_for_a_processor_are_no_mode_of_the_benchmark() -> None:
    assert modes(alternating(0.0)).state == "trouble"
    assert "alternate" in modes(alternating(0.0)).finding
    # Ten samples took 3 ms longer each.
    assert modes(alternating(25e6)).state != "trouble"


def test_waits_are_those_that_samples_do_not_tell() -> None:
    waited = replace(MEASURED, delay_ns=7_000_000, steal_ns=1_000_000)
    place = (PLAIN, 0, None, 1)
    assert observe_launch(place, waited, [Sample(10, 5_000_000)]).waits_ns == 8_000_000
    assert observe_launch(place, waited, [Sample(10, 5_000_000, delay_ns=0)]).waits_ns == 0
    assert observe_launch(place, waited, None).waits_ns == 0
    # Threads did the work, and what they waited counts among the lost time: the launch's time includes all of it.
    unknown = replace(waited, others_ns=9_000_000, lost_ns=None, pressure_ns=6_000_000)
    assert observe_launch(place, unknown, None).waits_ns == 7_000_000
    assert observe_launch(place, replace(unknown, lost_ns=6_000_000), None).waits_ns == 0
    assert observe_launch(place, waited, [Sample(10, 5), Sample(20, 5), Sample(90, 5)]).loops == 20
