"""The search on commits whose times are known: `benchmarks/bisection.py` has the long tables."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.bisection import (
    CURVES,
    SimulatedScales,
    commits_of,
    layouts,
    noises,
    nothing,
    one_step,
    ramp,
    search,
    simulate,
    two_steps,
    up_and_down,
)
from benchmarks.simulation import Noise, trace, window_of

from steelyard.design.bisection.search import Searching, Telling
from steelyard.model.errors import UsageError
from steelyard.model.records import Settings


@pytest.fixture(scope="module")
def bursts() -> Noise:
    return window_of(trace("bursts", "active"))


def test_two_percent_under_bursts_are_found_and_nothing_else_is_named(bursts: Noise) -> None:
    tally = simulate(bursts, one_step, bisections=20)
    assert tally.words["found"] >= 19
    assert tally.words["wrong"] == tally.words["wrong range"] == 0


@pytest.mark.parametrize("curve", [two_steps, up_and_down, layouts, ramp, nothing])
def test_no_curve_has_a_wrong_commit_named(curve: object, bursts: Noise) -> None:
    tally = simulate(bursts, curve, bisections=6)  # type: ignore[arg-type]
    assert tally.words["wrong"] == tally.words["wrong range"] == 0
    if curve is nothing:
        assert tally.words["found"] == 0


def test_half_of_the_commits_do_not_build(bursts: Noise) -> None:
    tally = simulate(bursts, one_step, bisections=8, broken=0.5)
    assert tally.words["found"] + tally.words["range"] >= 7
    assert tally.words["range"] > 0
    assert tally.words["wrong"] == tally.words["wrong range"] == 0


def scales(levels: list[float], pairs: int = 60, **options: object) -> SimulatedScales:
    noise = noises()["quiet"]
    return SimulatedScales(np.array(levels), noise, np.random.default_rng(5), pairs, **options)  # type: ignore[arg-type]


def test_the_commit_its_change_and_every_decision_are_told() -> None:
    found = search(scales([0, 0, 0, 0.1, 0.1]))
    assert found.end == "found"
    assert found.found == commits_of(np.zeros(5))[3]
    assert [step.kind for step in found.steps] == ["ends", "step", "step", "last"]
    assert [step.left for step in found.steps] == [4, 2, 1, 1]
    assert sum(step.alpha for step in found.steps) <= found.alpha
    assert found.change is not None
    assert found.change.interval is not None
    assert found.change.interval[0] < np.expm1(0.1) < found.change.interval[1]
    assert not found.several


def test_a_step_that_stays_open_ends_with_a_range_and_no_commit() -> None:
    # As far from the one as from the other, and too few pairs to see either.
    found = search(scales([0, 0.006, 0.012], pairs=40), margin=0.001, alpha=0.2)
    if found.end == "undecided":
        pytest.fail("the ends are meant to be told apart")
    assert found.end == "range"
    assert found.found is None
    assert [commit.hash for commit in found.suspects] == [commit.hash for commit in commits_of(np.zeros(3))[1:]]
    assert "could not be told" in found.why


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


def test_neighbours_are_weighed_once() -> None:
    found = search(scales([0, 0.1]))
    assert found.found is not None
    assert [step.kind for step in found.steps] == ["ends"]


def test_commits_of_the_same_files_are_not_weighed_against_each_other() -> None:
    line = commits_of(np.zeros(4))
    line = [line[0], line[1].model_copy(update={"tree": line[0].tree}), *line[2:]]
    searching = Searching(line, Settings(max_time_s=None), scales([0, 0, 0.1, 0.1]), telling())
    ended = searching.run()
    assert ended.end == "found"
    assert [step.kind for step in searching.steps] == ["ends", "equal", "step", "last"]


def telling() -> Telling:
    return Telling(lambda _: None, lambda *_: None, lambda _: None)


def test_too_few_pairs_for_a_step_are_refused() -> None:
    with pytest.raises(UsageError, match="--pairs 12 can never tell commits apart"):
        Searching(commits_of(np.zeros(65)), Settings(pairs=12), scales([0.0]), telling())


def test_all_curves_are_simulated() -> None:
    assert set(CURVES) >= {"one_step", "two_steps", "up_and_down", "ramp", "nothing"}
