from __future__ import annotations

import math

import pytest

from steelyard.model.records import Settings, StopReason
from steelyard.report import sentences

from .records import FASTER, LEANING, SAME, SAME_BUT_REAL, SLOWER, SUMMARY, TOO_FEW, UNDECIDED, verdict

SETTINGS = Settings(max_time_s=3.0)


def test_the_evidence_has_change_interval_confidence_pairs_and_seconds() -> None:
    assert sentences.evidence(SLOWER, Settings(alpha=0.05)) == (
        "+1.02 % [+0.61 %, +1.40 %] at 95 % confidence, 33 pairs in 0.9 s"
    )
    assert "no change can be told" in sentences.evidence(TOO_FEW, SETTINGS)


def test_who_is_slower_is_said() -> None:
    assert sentences.explanation(SLOWER, SETTINGS, None) == ["the candidate needs 1.02 % more time than the baseline"]
    assert "less time" in sentences.explanation(FASTER, SETTINGS, None)[0]
    memory = sentences.explanation(verdict(metric="max_rss"), SETTINGS, None)[0]
    assert "more max_rss" in memory
    assert "counts as slower" in memory


def test_a_real_but_small_change_is_told_from_none() -> None:
    assert sentences.explanation(SAME_BUT_REAL, SETTINGS, None) == [
        "there is a change, smaller than your margin of 0.5 %"
    ]
    assert sentences.explanation(SAME, SETTINGS, None) == ["any change is smaller than your margin of 0.5 %"]


def test_undecided_says_what_it_excludes() -> None:
    text = sentences.excluded(UNDECIDED, SETTINGS)
    assert text is not None
    assert "not slower by more than 1.20 %, not faster by more than 0.40 %" in text


def test_undecided_that_excludes_no_change_says_on_which_side_it_is() -> None:
    slower = sentences.excluded(LEANING, SETTINGS)
    faster = sentences.excluded(verdict(verdict="undecided", change=-0.0042, interval=(-0.008, -0.001)), SETTINGS)
    assert slower is not None
    assert faster is not None
    assert slower.startswith("slower by at least 0.10 %, not by more than 0.80 %")
    assert "margin of 0.5 % in between" in slower
    assert faster.startswith("faster by at least 0.10 %, not by more than 0.80 %")


def test_an_unbounded_interval_rules_nothing_out() -> None:
    text = sentences.excluded(verdict(verdict="undecided", interval=(-0.1, math.inf)), SETTINGS)
    assert text is not None
    assert "nothing is ruled out" in text
    assert "inf" not in text


@pytest.mark.parametrize(
    ("change", "interval", "said"),
    [
        (0.009, (-0.004, 0.02), "leans towards slower"),
        (-0.009, (-0.02, 0.004), "leans towards faster"),
        (0.001, (-0.004, 0.006), "leans towards same"),
        (0.001, (-0.02, 0.02), "leans neither way"),
    ],
)
def test_which_way_it_leans(change: float, interval: tuple[float, float], said: str) -> None:
    assert sentences.leaning(change, interval, 0.005) == said


def test_the_budget_that_would_decide_is_an_option_to_copy() -> None:
    # 33 pairs took 0.87 s, so that 240 take 6.3 s.
    text = sentences.budget(UNDECIDED, SETTINGS, "time")
    assert "the time was up" in text
    assert "about 240 pairs, 6.3 s" in text
    assert text.endswith("--max-time 7")


def test_the_limit_that_binds_is_the_one_to_raise() -> None:
    by_pairs = sentences.budget(UNDECIDED, Settings(pairs=100, max_time_s=60), "pairs")
    assert by_pairs.endswith(": --pairs 240")
    by_both = sentences.budget(UNDECIDED, Settings(pairs=100, max_time_s=3), "futile")
    assert by_both.endswith(": --pairs 240 --max-time 7")
    unbound = sentences.budget(UNDECIDED, Settings(max_time_s=60), "interrupted")
    assert "--" not in unbound
    assert "your budget allows" in unbound


def test_a_budget_is_never_below_the_one_that_was_spent() -> None:
    text = sentences.budget(UNDECIDED, Settings(max_time_s=30), "time")
    assert text.endswith("--max-time 31")


def test_no_sensible_budget_is_told_from_too_few_pairs() -> None:
    assert "too close to your margin of 0.5 %" in sentences.budget(LEANING, SETTINGS, "time")
    assert "too few pairs" in sentences.budget(TOO_FEW, SETTINGS, "time")
    assert "--pairs" in sentences.budget(TOO_FEW, SETTINGS, "pairs")


def test_noise_counts_the_disturbed_names_the_worst_and_the_repeated() -> None:
    text = sentences.noise(SLOWER)
    assert "14 of 66 launches" in text
    assert "43 %" in text
    assert "2 disturbed pairs repeated" in text
    assert sentences.noise(verdict(disturbed=0, worst_delay=0.002, repeated=0)).startswith("quiet")
    assert "does not tell" in sentences.noise(verdict(disturbed=0, worst_delay=None, repeated=0))
    assert "5 of 50 launches" in sentences.noise(SUMMARY)


def test_the_stop_is_said_only_where_it_came_early() -> None:
    assert sentences.stopped(["decided", "time"]) is None
    interrupted = sentences.stopped(["decided", "interrupted"])
    assert interrupted is not None
    assert "measured until then" in interrupted


def test_a_tally_counts_each_verdict() -> None:
    assert sentences.tally([SAME, SLOWER, SAME]) == "1 slower, 2 same"


@pytest.mark.parametrize(
    ("stop", "text"),
    [
        (["decided", "failed", "pairs"], "1 of 3 benchmarks failed: this is what the others gave"),
        (["failed", "failed"], "a launch failed: this is what was measured before it"),
        (["failed", "interrupted"], "interrupted: this is what was measured until then"),
        (["decided", "time"], None),
    ],
    ids=str,
)
def test_of_several_benchmarks_some_may_fail(stop: list[StopReason], text: str | None) -> None:
    assert sentences.stopped(stop) == text


def test_the_times_of_a_harness_are_of_one_iteration() -> None:
    plain, harness = Settings(), Settings(harness="protocol")
    assert sentences.metric("wall", harness) == "wall, of one iteration: elapsed time, as the harness tells it"
    assert sentences.metric("max_rss", harness) == sentences.metric("max_rss", plain)
    assert sentences.metric("wall", plain).startswith("wall: ")
