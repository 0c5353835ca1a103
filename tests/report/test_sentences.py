from __future__ import annotations

import math

import pytest

from steelyard.model.derived import Side
from steelyard.model.kept import NOISY_ALONE, WRITING_ALONE, Finding
from steelyard.model.records import StopReason
from steelyard.model.settings import Settings
from steelyard.report import sentences

from .records import (
    FASTER,
    LEANING,
    NOTHING,
    SAME,
    SAME_BUT_REAL,
    SLOWER,
    TOO_FEW,
    UNDECIDED,
    verdict,
    weighing,
)

SETTINGS = Settings(max_time_s=3.0)


def test_the_evidence_has_change_interval_confidence_pairs_and_seconds() -> None:
    assert sentences.evidence(SLOWER, Settings(alpha=0.05)) == (
        "+1.02 % [+0.61 %, +1.40 %] at 95 % confidence, 33 pairs in 0.9 s"
    )
    assert sentences.evidence(TOO_FEW, SETTINGS) == "+1.02 %, too few for an interval yet, 4 pairs in 0.9 s"
    warm_up = sentences.evidence(verdict(interval=None, pairs=0, seconds=25), SETTINGS)
    assert warm_up == "+1.02 % in the warm-up alone, no pair was measured, 25 s"
    assert "no change can be told" in sentences.evidence(NOTHING, SETTINGS)


def test_few_pairs_lean_and_rule_nothing_out() -> None:
    assert sentences.excluded(TOO_FEW, SETTINGS) == "nothing is ruled out; leans towards slower"
    small = verdict(verdict="undecided", change=-0.001, interval=None)
    assert sentences.excluded(small, SETTINGS) == "nothing is ruled out; leans towards same"


def test_a_side_names_its_median_and_one_launch_does_not_vary() -> None:
    assert sentences.side(Side(median=5e9, spread=0.01, launches=3), "wall") == [
        "median 5.000 s",
        "varies by 1 %",
        "3 launches",
    ]
    assert sentences.side(Side(median=5e9, spread=0, launches=1), "wall")[1:] == ["seen once", "1 launch"]


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
    wide = sentences.excluded(verdict(verdict="undecided", interval=(-0.99, 40.0)), SETTINGS)
    assert wide is not None
    assert wide.startswith("nothing is ruled out yet")
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
    text = sentences.budget(UNDECIDED, SETTINGS, "time")
    assert text == "the time was up; about 240 pairs, 6.3 s, would decide; with some to spare: --max-time 9"


def test_what_is_enough_in_half_of_all_cases_is_said_where_it_is_far_less() -> None:
    far_less = UNDECIDED.model_copy(update={"pairs_even": 61, "seconds_even": 1.6})
    text = sentences.budget(far_less, SETTINGS, "time")
    assert text == (
        "the time was up; about 240 pairs, 6.3 s, would decide (in half of all cases 61, 1.6 s); "
        "with some to spare: --max-time 9"
    )
    half = UNDECIDED.model_copy(update={"pairs_even": 130, "seconds_even": 3.4})
    assert "half" not in sentences.budget(half, SETTINGS, "time")


def test_the_limit_that_binds_is_the_one_to_raise() -> None:
    by_pairs = sentences.budget(UNDECIDED, Settings(pairs=100, max_time_s=60), "pairs")
    assert by_pairs.endswith(": --pairs 340")
    by_both = sentences.budget(UNDECIDED, Settings(pairs=100, max_time_s=3), "futile")
    assert by_both.endswith(": --pairs 340 --max-time 9")
    of_a_part = sentences.budget(UNDECIDED, Settings(max_time_s=1), "time", of_a_part=True)
    assert "; with some to spare, given to its part: --max-time " in of_a_part
    unbound = sentences.budget(UNDECIDED, Settings(max_time_s=60), "futile")
    assert "--" not in unbound
    assert "your budget allows" in unbound


def test_an_interrupted_one_names_no_option_that_carrying_it_on_refuses() -> None:
    assert sentences.budget(UNDECIDED, Settings(pairs=100), "interrupted").endswith("would decide")


def test_a_budget_is_never_below_the_one_that_was_spent() -> None:
    text = sentences.budget(UNDECIDED, Settings(max_time_s=30), "time")
    assert text.endswith("--max-time 31")


def test_where_nobody_would_wait_the_margin_is_named_that_would_do() -> None:
    close = verdict(verdict="undecided", change=0.0042, interval=(0.001, 0.008), margin_needed=0.0123)
    assert sentences.budget(close, SETTINGS, "time") == (
        "the time was up; no sensible budget would decide it at your margin of 0.5 %; "
        "--margin 1.8% would be decided in as many pairs"
    )
    long = verdict(verdict="undecided", pairs_needed=900, seconds_needed=5e4, margin_needed=0.0123, disturbed=40)
    assert sentences.budget(long, SETTINGS, None) == (
        "more pairs would take 13 h 53 min; --margin 1.8% would be decided in as many pairs; "
        "a machine with less other work needs fewer pairs"
    )
    assert "--margin" not in sentences.budget(LEANING, SETTINGS, "time")
    slow = verdict(verdict="undecided", interval=None, pairs=1, pairs_needed=12, seconds_needed=4500, disturbed=0)
    assert sentences.budget(slow, SETTINGS, None) == (
        "more pairs would take 1 h 15 min; a smaller input would take less"
    )
    assert "--margin" not in sentences.budget(verdict(verdict="undecided", margin_needed=0.45), SETTINGS, "time")


def test_another_way_of_pairing_is_named_beside_the_budget_where_it_may_need_far_less() -> None:
    noisy, writing = ([Finding(code=code, message="pairs vary by 3 %")] for code in (NOISY_ALONE, WRITING_ALONE))
    told = sentences.budget(UNDECIDED.model_copy(update={"findings": writing}), Settings(max_time_s=30), "time")
    assert told.endswith("; perhaps far sooner: --pairing tandem (see the note)")
    text = sentences.budget(UNDECIDED.model_copy(update={"findings": noisy}), Settings(max_time_s=30), "time")
    assert text.endswith("--max-time 31; perhaps far sooner: --pairing auto (see the note)")
    far = verdict(verdict="undecided", pairs_needed=900, seconds_needed=5e4, margin_needed=0.0123, findings=noisy)
    assert sentences.budget(far, SETTINGS, None) == (
        "more pairs would take 13 h 53 min; --pairing auto may need far fewer (see the note); "
        "--margin 1.8% would be decided in as many pairs"
    )
    hopeless = verdict(verdict="undecided", seconds_needed=5e4, pairs_needed=900, interval=None, findings=noisy)
    assert "smaller input" not in sentences.budget(hopeless, SETTINGS, None)


def test_no_budget_sees_through_a_coarse_clock() -> None:
    coarse = Finding(code="coarse-clock", message="ticks")
    text = sentences.budget(verdict(verdict="undecided", margin_needed=0.1, findings=[coarse]), SETTINGS, "futile")
    assert "what a clock's ticks may hide, no number of pairs shows" in text
    assert "--" not in text


def test_so_few_pairs_that_their_noise_is_not_known_say_what_a_dozen_would_tell() -> None:
    text = sentences.budget(TOO_FEW.model_copy(update={"pairs": 1, "pairs_needed": 12}), SETTINGS, "time")
    assert "about 12 pairs, 3.2 s, would decide a large change, and tell how many more a small one needs" in text
    assert "would decide; " in sentences.budget(TOO_FEW, SETTINGS, "time")
    assert "no pair was measured to its end" in sentences.budget(NOTHING, SETTINGS, "time")


def test_of_several_the_budget_is_said_once_that_decides_all() -> None:
    record = weighing(benchmarks=("a", "b", "c"), stop="time", settings=SETTINGS)
    long = UNDECIDED.model_copy(update={"index": 1, "pairs_needed": 400, "seconds_needed": 10.0})
    close = LEANING.model_copy(update={"index": 2, "margin_needed": 0.02})
    (all_of,) = sentences.budget_of_all([UNDECIDED, long], record)
    assert all_of == "the time was up; about 400 pairs, 10 s, would decide; with some to spare: --max-time 14"
    some, others = sentences.budget_of_all([UNDECIDED, long, close], record)
    assert some == f"2 of them: {all_of}"
    assert others.startswith("1 of them: the time was up; no sensible budget")
    assert sentences.budget_of_all([], record) == []


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
