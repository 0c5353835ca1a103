"""What the launches of a check say, kind by kind."""

from __future__ import annotations

from steelyard.design.check.evidence import EMPTY, PLAIN, Amount, Evidence, Observed


def launch(kind: str, ms: float, start_ns: float = 0.0) -> Observed:
    ns = ms * 1e6
    return Observed(kind, 0, None, 1, (ns,), ns, int(ns), 1 << 20, 0.0, start_ns)


def test_the_start_beside_a_command_is_that_of_the_empty_processes_next_to_it() -> None:
    evidence = Evidence("it", {PLAIN: Amount(1, 1), EMPTY: Amount(1, 1)})
    evidence.launches += [launch(EMPTY, 2), launch(PLAIN, 50), launch(EMPTY, 4), launch(PLAIN, 50), launch(PLAIN, 50)]
    assert evidence.starts(PLAIN).tolist() == [3e6, 4e6, 0.0]


def test_the_start_of_a_harness_is_its_own() -> None:
    evidence = Evidence("it", {PLAIN: Amount(1, 1)})
    evidence.launches += [launch(PLAIN, 50, start_ns=7e6), launch(PLAIN, 50, start_ns=8e6)]
    assert evidence.starts(PLAIN).tolist() == [7e6, 8e6]
