"""The share of a processor that other programs had while both launches of a pair shared it."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.model.tandem import shares_of_others


def shares(*pairs: tuple[int, int, float]) -> list[float]:
    """Return the shares of others, given (benchmark, pair, ns that both ran of 100 from first start to last end)."""
    places = np.array([(benchmark, pair) for benchmark, pair, _ in pairs for _ in range(2)]).T
    ran_ns = np.array([ran / 2 for _, _, ran in pairs for _ in range(2)])
    spans_ns = np.array([span for _ in pairs for span in ((1000.0, 1090.0), (1010.0, 1100.0))])
    return [float(share) for share in shares_of_others(places, ran_ns, spans_ns)]


def test_what_neither_ran_is_of_others() -> None:
    assert shares((0, 0, 100.0), (0, 1, 60.0)) == pytest.approx([0, 0, 0.4, 0.4])


def test_what_all_pairs_of_a_program_take_is_the_end_of_their_turns() -> None:
    assert shares((0, 0, 95.0), (0, 1, 75.0), (1, 0, 100.0)) == pytest.approx([0, 0, 0.2, 0.2, 0, 0])


def test_more_than_a_tenth_is_of_others_all_the_same() -> None:
    assert shares((0, 0, 70.0), (0, 1, 60.0)) == pytest.approx([0.2, 0.2, 0.3, 0.3])


def test_more_processor_time_than_there_was_is_of_nobody() -> None:
    assert shares((0, 0, 120.0)) == pytest.approx([0, 0])
