"""The watch as it is kept: what went on beside launches."""

from __future__ import annotations

from steelyard.model.watch import Stretch, Watch


def test_those_that_were_computed_with_are_compared_by_what_was_seen() -> None:
    stretches = [Stretch(start_ns=0, end_ns=5), Stretch(start_ns=5, end_ns=9)]
    one, other = Watch(stretches=stretches), Watch(stretches=[*stretches])
    for watch in (one, other):
        assert watch.edges_ns.shape == (2, 2)
    assert one == other
    assert one != Watch(stretches=stretches[:1])
    assert one != stretches
