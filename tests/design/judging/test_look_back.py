"""Looking back at a weighing's looks: as many as were taken, and the last one agrees with the verdict."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.design.judging.judgement import verdicts
from steelyard.design.judging.look_back import look_back
from tests.report.records import weighing


def test_the_looks_are_those_that_were_taken_and_the_last_is_the_verdicts() -> None:
    record = weighing(0.004, pairs=60, stop="pairs")
    found = verdicts(record)
    (seen,) = look_back(record, found)
    assert seen is not None
    assert len(seen.looks) == found[0].looks > 3
    assert [look.pairs for look in seen.looks] == sorted({look.pairs for look in seen.looks})
    last = seen.looks[-1]
    assert (last.pairs, last.change) == (found[0].pairs, found[0].change)


@pytest.mark.parametrize(("ended", "places"), [(None, [17, 19, 21, 23, 25]), (20, [17, 19, 20, 25, 31])])
def test_what_went_on_is_looked_at_as_it_was(ended: int | None, places: list[int]) -> None:
    record = weighing(0.002, pairs=60, stop="pairs")
    one = record.benchmarks[0].model_copy(update={"ended": ended})
    settings = record.settings.model_copy(update={"reserve": 0.5, "margin": 0.0001})
    record = record.model_copy(update={"benchmarks": [one], "settings": settings})
    (found,) = verdicts(record)
    (seen,) = look_back(record, [found])
    assert seen is not None
    assert len(seen.looks) == found.looks
    assert [look.pairs for look in seen.looks][4:9] == places


def test_a_change_is_that_of_the_pairs_until_then() -> None:
    record = weighing(0.004, pairs=20, stop="pairs")
    (seen,) = look_back(record, verdicts(record))
    assert seen is not None
    changes = np.log(seen.candidate / seen.baseline)
    assert len(seen.looks) > 3
    for look in seen.looks:
        assert np.log1p(look.change) == pytest.approx(np.median(changes[: look.pairs]), abs=0.001)


def test_the_pairs_are_those_that_were_judged() -> None:
    record = weighing(0.1, pairs=20)
    (seen,) = look_back(record, verdicts(record))
    assert seen is not None
    baseline, candidate = record.launches.metric_of_pairs(0, "active")
    np.testing.assert_array_equal(seen.baseline, baseline)
    np.testing.assert_array_equal(seen.candidate, candidate)


def test_too_few_pairs_have_no_looks_and_none_have_nothing() -> None:
    few, none = weighing(pairs=3), weighing(pairs=0)
    (seen,) = look_back(few, verdicts(few))
    assert seen is not None
    assert seen.looks == []
    assert list(look_back(none, verdicts(none))) == [None]


def test_each_benchmark_has_its_own() -> None:
    record = weighing(benchmarks=("a", "b"), pairs=14)
    seen = list(look_back(record, verdicts(record)))
    assert [each is not None and len(each.baseline) for each in seen] == [14, 14]
