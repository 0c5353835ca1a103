from __future__ import annotations

import numpy as np
from benchmarks.suite_of_100 import Tally, over_threshold, simulated, verdicts


def test_a_suite_with_any_change_is_one_alarm_however_many_it_has() -> None:
    tally = Tally()
    tally.add(["same", "undecided"], 20)
    tally.add(["slower", "faster", "same"], 30, over=2)
    assert tally.with_alarm == 1
    assert tally.report().splitlines()[-1] == "| 2 | 1 | 1 | 1 | 2 | 1 | 25 | 1 | 2 |"


def test_the_words_are_those_of_the_record() -> None:
    assert verdicts({"derived": {"verdicts": [{"verdict": "same"}, {"verdict": "slower"}]}}) == ["same", "slower"]


def test_a_threshold_compares_the_halves_of_each_benchmark_in_the_order_in_which_they_ran() -> None:
    launches = {
        "benchmark": [0, 1, 0, 1, 0, 1, 0, 1],
        "start_ns": [4, 1, 3, 2, 2, 3, 1, 4],
        "wall_ns": [106, 106, 106, 106, 100, 100, 100, 100],
    }
    assert over_threshold({"launches": launches}) == 1


def test_a_simulated_suite_has_a_word_for_each_benchmark() -> None:
    words, over = simulated(np.random.default_rng(1), 3, 5)
    assert words == ["undecided"] * 3
    assert 0 <= over <= 3
