"""The search, on commits with known times; `benchmarks/bisection.py` makes the long tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.bisection import (
    Curve,
    SimulatedScales,
    commits_of,
    nothing,
    one_step,
    ramp,
    search,
    simulate,
    two_steps,
    up_and_down,
)
from benchmarks.simulation import Noise, quiet, trace, window_of

from steelyard.design.bisection.search import CommitSearch, SearchListener
from steelyard.design.bisection.weighing import Weighed
from steelyard.model.bisection import Commit, Sought
from steelyard.model.errors import UsageError
from steelyard.model.settings import Settings


@pytest.fixture(scope="module")
def bursts() -> Noise:
    return window_of(trace("bursts", "active"))


def test_two_percent_under_bursts_are_found_and_nothing_else_is_named(bursts: Noise) -> None:
    # The requirement is 19 of 20; the long table tries hundreds.
    tally = simulate(bursts, one_step, bisections=2, pairs=200)
    assert tally.words == {"found": 2}


@pytest.mark.parametrize("curve", [two_steps, up_and_down, ramp])
def test_whatever_the_curve_no_wrong_commit_is_named(curve: Curve) -> None:
    tally = simulate(quiet, curve, bisections=1, commits=8, change=0.2, pairs=30)
    assert tally.words["found"] + tally.words["lesser"] + tally.words["range"] == 1


def test_where_nothing_changed_nothing_is_found() -> None:
    tally = simulate(quiet, nothing, bisections=4, pairs=30)
    assert tally.words["nothing"] + tally.words["undecided"] == 4


def test_half_of_the_commits_do_not_build() -> None:
    tally = simulate(quiet, one_step, bisections=3, commits=12, change=0.2, pairs=30, broken=0.5)
    assert tally.words["found"] + tally.words["range"] == 3
    assert tally.words["range"] > 0


def scales(levels: list[float], broken: frozenset[int] = frozenset()) -> SimulatedScales:
    return SimulatedScales(np.array(levels), quiet, np.random.default_rng(5), 30, broken)


def test_the_commit_its_change_and_every_decision_are_told() -> None:
    found, line = search(scales([0, 0, 0, 0.1, 0.1])), commits_of(np.zeros(5))
    assert found.end == "found"
    assert (found.good, found.found, found.bad, found.commits) == (line[0], line[3], line[4], 4)
    assert [step.kind for step in found.steps] == ["ends", "step", "step", "last"]
    assert [step.side for step in found.steps] == ["bad", "good", "bad", "bad"]
    assert [step.left for step in found.steps] == [4, 2, 1, 1]
    assert sum(step.alpha for step in found.steps) <= found.alpha
    assert [found.change] == found.steps[-1].compared
    assert found.change is not None
    assert found.change.interval is not None
    assert found.change.interval[0] < np.expm1(0.1) < found.change.interval[1]
    assert not found.several


def test_a_step_that_stays_open_ends_with_a_range_and_no_commit() -> None:
    found = search(Unmoved(np.array([0, 0, 0, 0.1]), quiet, np.random.default_rng(5), 30))
    assert found.end == "range"
    assert found.found is None
    assert [int(commit.hash, 16) for commit in found.suspects] == [1, 2, 3]
    assert "0000000000 could not be told from either end: a longer --max-time would tell more" in found.why
    assert found.steps[-1].side is None


class Unmoved(SimulatedScales):
    """Scales on which every weighing of three commits stays open."""

    def weigh(self, commits: Sequence[Commit], margin: float, share: float, **options: bool) -> Weighed:
        weighed = super().weigh(commits, margin, share, **options)
        if len(commits) == 2:
            return weighed
        return replace(weighed, compared=[one.model_copy(update={"verdict": "undecided"}) for one in weighed.compared])


def test_the_last_one_is_not_named_if_its_parent_is_as_slow() -> None:
    # All steps go astray: commit 1 is the slow one, and each step says that it comes after the middle.
    found = search(Astray(np.array([0, 0.1, 0.1, 0.1, 0.1]), quiet, np.random.default_rng(5), 30))
    assert found.end == "range"
    assert found.found is None
    assert [step.kind for step in found.steps] == ["ends", "step", "step", "last"]
    assert "was not found slower" in found.why
    assert [found.change] == found.steps[0].compared, "that of the ends"


class LastOpen(SimulatedScales):
    """Scales on which the weighing of the third of five commits and the fourth stays open."""

    def weigh(self, commits: Sequence[Commit], margin: float, share: float, **options: bool) -> Weighed:
        weighed = super().weigh(commits, margin, share, **options)
        if [int(commit.hash, 16) for commit in commits] != [2, 3]:
            return weighed
        return replace(weighed, compared=[one.model_copy(update={"verdict": "undecided"}) for one in weighed.compared])


def test_a_last_weighing_that_stays_open_says_what_would_tell() -> None:
    found = search(LastOpen(np.array([0, 0, 0, 0.1, 0.1]), quiet, np.random.default_rng(5), 30))
    assert (found.end, found.found) == ("range", None)
    assert found.why == (
        "weighed against its parent once more, 0000000000 was not found slower: a longer --max-time would tell more"
    )


class Astray(SimulatedScales):
    """Scales on which the middle one of three commits is always like the good end."""

    def weigh(self, commits: Sequence[Commit], margin: float, share: float, **options: bool) -> Weighed:
        weighed = super().weigh(commits, margin, share, **options)
        if len(commits) == 2:
            return weighed
        words = ("same", "slower")
        return replace(
            weighed,
            compared=[
                one.model_copy(update={"verdict": word, "change": 0.1})
                for one, word in zip(weighed.compared, words, strict=True)
            ],
        )


def test_what_is_skipped_beside_the_slow_one_leaves_a_range() -> None:
    found = search(scales([0, 0, 0, 0, 0.1, 0.1], broken=frozenset({2, 3})))
    assert found.end == "range"
    assert [int(commit.hash, 16) for commit in found.suspects] == [2, 3, 4]
    assert [int(name, 16) for name in found.skipped] == [2, 3]


def test_several_steps_are_said() -> None:
    found = search(scales([0, 0.3, 0.3, 0.8, 0.8]))
    assert found.found is not None
    assert int(found.found.hash, 16) == 3
    assert found.several


def test_what_became_faster_is_found_where_that_is_looked_for() -> None:
    found = search(scales([0.8, 0.5, 0.5, 0, 0]), sought="faster")
    assert (found.end, found.sought) == ("found", "faster")
    assert found.found is not None
    assert int(found.found.hash, 16) == 3
    assert found.change is not None
    assert found.change.verdict == "faster"
    assert found.several


class Noted(SimulatedScales):
    """Scales that note the margins they are given."""

    margins: tuple[float, ...] = ()

    def weigh(self, commits: Sequence[Commit], margin: float, share: float, **options: bool) -> Weighed:
        self.margins = (*self.margins, margin)
        return super().weigh(commits, margin, share, **options)


def test_the_steps_to_what_became_faster_have_the_margins_of_those_to_what_became_slower() -> None:
    slower, faster = (
        Noted(np.array(levels), quiet, np.random.default_rng(5), 30) for levels in ([0, 0, 0, 0.3], [0.3, 0.3, 0.3, 0])
    )
    assert search(slower).end == search(faster, sought="faster").end == "found"
    assert faster.margins == pytest.approx(slower.margins, rel=0.1)
    assert slower.margins[1] > slower.margins[0]


@pytest.mark.parametrize(
    ("levels", "sought", "why"),
    [
        ([0.5, 0.2, 0.2], "slower", "bad is faster than good: --faster finds the commit that made it so"),
        ([0.2, 0.5, 0.5], "faster", "new is slower than old: leave out --faster"),
    ],
)
def test_of_the_other_direction_the_way_is_told(levels: list[float], sought: Sought, why: str) -> None:
    found = search(scales(levels), sought=sought)
    assert (found.end, found.why) == ("nothing", why)


def test_a_step_back_between_is_not_named_as_what_made_it_faster() -> None:
    found = search(scales([0.5, 0.5, 0.6, 0.6, 0.2, 0.2]), sought="faster")
    assert found.found is not None
    assert int(found.found.hash, 16) == 4


def test_neighbours_are_weighed_once() -> None:
    found = search(scales([0, 0.1]))
    assert found.found is not None
    assert [step.kind for step in found.steps] == ["ends"]


def test_commits_of_the_same_files_are_not_weighed_against_each_other() -> None:
    line = commits_of(np.zeros(4))
    line = [line[0], line[1].model_copy(update={"tree": line[0].tree}), *line[2:]]
    searching = CommitSearch(line, Settings(max_time_s=None), scales([0, 0, 0.1, 0.1]), telling())
    ended = searching.run()
    assert ended.end == "found"
    assert [step.kind for step in searching.steps] == ["ends", "equal", "step", "last"]


def telling() -> SearchListener:
    return SearchListener(lambda _: None, lambda *_: None, lambda _: None)


def test_too_few_pairs_for_a_step_are_refused() -> None:
    with pytest.raises(UsageError, match="--pairs 11 can never tell commits apart"):
        CommitSearch(commits_of(np.zeros(65)), Settings(pairs=11), scales([0.0]), telling())
