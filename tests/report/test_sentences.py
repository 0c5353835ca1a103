from __future__ import annotations

import math

import pytest

from steelyard.model.derived import Side
from steelyard.model.records import Run, StopReason, Weighing
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark, RevisionFacts
from steelyard.report import sentences
from tests.report import records

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
    assert "the change is not known" in sentences.evidence(NOTHING, SETTINGS)


def test_few_pairs_lean_and_rule_nothing_out() -> None:
    assert sentences.what_is_ruled_out(TOO_FEW, SETTINGS) == "nothing is ruled out; leans towards slower"
    small = verdict(verdict="undecided", change=-0.001, interval=None)
    assert sentences.what_is_ruled_out(small, SETTINGS) == "nothing is ruled out; leans towards same"


def test_a_side_names_its_median_and_one_launch_does_not_vary() -> None:
    assert sentences.side(Side(median=5e9, spread=0.01, launches=3), "wall") == [
        "median 5.000 s",
        "varies by 1 %",
        "3 launches",
    ]
    assert sentences.side(Side(median=5e9, spread=0, launches=1), "wall")[1:] == ["seen once", "1 launch"]


def test_who_is_slower_is_said() -> None:
    assert sentences.explanation(SLOWER, weighing()) == ["the candidate needs 1.02 % more time than the baseline"]
    assert "less time" in sentences.explanation(FASTER, weighing())[0]
    memory = sentences.explanation(verdict(metric="max_rss"), weighing())[0]
    assert "more max_rss" in memory
    assert "counts as slower" in memory


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (records.run(), "in this revision, as it is checked out"),
        (records.weighing(), "in each revision, as they are checked out"),
    ],
    ids=["run", "weighing"],
)
def test_what_is_not_built_runs_as_it_is_checked_out(record: Weighing | Run, said: str) -> None:
    revision = RevisionFacts(name="main", commit=None, tree="0", build=None)
    subjects = [one.model_copy(update={"revision": revision}) for one in record.subjects]
    assert (sentences.built(record.model_copy(update={"subjects": subjects})) or "").endswith(said)


def test_a_real_but_small_change_is_told_from_none() -> None:
    assert sentences.explanation(SAME_BUT_REAL, weighing()) == ["there is a change, smaller than your margin of 0.5 %"]
    assert sentences.explanation(SAME, weighing()) == ["any change is smaller than your margin of 0.5 %"]


def test_undecided_says_what_it_excludes() -> None:
    text = sentences.what_is_ruled_out(UNDECIDED, SETTINGS)
    assert text is not None
    assert "not slower by more than 1.20 %, not faster by more than 0.40 %" in text


def test_undecided_that_excludes_no_change_says_on_which_side_it_is() -> None:
    wide = sentences.what_is_ruled_out(verdict(verdict="undecided", interval=(-0.99, 40.0)), SETTINGS)
    assert wide is not None
    assert wide.startswith("nothing is ruled out yet")
    slower = sentences.what_is_ruled_out(LEANING, SETTINGS)
    faster = sentences.what_is_ruled_out(
        verdict(verdict="undecided", change=-0.0042, interval=(-0.008, -0.001)), SETTINGS
    )
    assert slower is not None
    assert faster is not None
    assert slower.startswith("slower by at least 0.10 %, at most 0.80 %")
    assert "which straddles your margin of 0.5 %" in slower
    assert faster.startswith("faster by at least 0.10 %, at most 0.80 %")
    barely = sentences.what_is_ruled_out(verdict(verdict="undecided", interval=(1e-12, 0.008)), SETTINGS)
    assert barely is not None
    assert barely.startswith("slower, at most 0.80 %, which")


def test_an_unbounded_interval_rules_nothing_out() -> None:
    text = sentences.what_is_ruled_out(verdict(verdict="undecided", interval=(-0.1, math.inf)), SETTINGS)
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


def test_the_stop_is_said_only_where_it_came_early() -> None:
    assert sentences.stopped(["decided", "time"]) is None
    interrupted = sentences.stopped(["decided", "interrupted"])
    assert interrupted is not None
    assert "measured until then" in interrupted


def test_a_tally_of_some_names_how_many_there_were() -> None:
    names = ("a", "b", "control")
    record = weighing().model_copy(
        update={"benchmarks": [Benchmark(name=name, control=name == "control") for name in names]}
    )
    assert sentences.tally_in(record, [SAME]) == "1 same of 2 benchmarks"
    assert sentences.tally_in(record, [SAME, SLOWER]) == "1 slower, 1 same"


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


def test_an_end_just_within_the_margin_is_seen_to_be() -> None:
    lower = verdict(verdict="same", change=-0.0008, interval=(-0.00498, 0.0019))
    assert "-0.08 % [-0.498 %, +0.19 %] at 99 %" in sentences.evidence(lower, SETTINGS)
    upper = verdict(verdict="same", change=0.0008, interval=(-0.0019, 0.004997))
    assert "[-0.19 %, +0.4997 %]" in sentences.evidence(upper, SETTINGS)
    own = verdict(verdict="same", change=0.0008, interval=(-0.0019, 0.01999), margin=0.02)
    assert "[-0.19 %, +1.999 %]" in sentences.evidence(own, SETTINGS)


def test_an_exact_change_of_counts_has_no_interval() -> None:
    exact = verdict(metric="instructions", change=0.05, interval=(0.05, 0.05))
    assert sentences.estimate(exact) == "+5.00 % exactly"
    assert sentences.estimate(exact.model_copy(update={"metric": "max_rss"})) == "+5.00 % [+5.00 %, +5.00 %]"
