from __future__ import annotations

from benchmarks.suite_of_100 import Tally, verdicts


def test_a_suite_with_any_change_is_one_alarm_however_many_it_has() -> None:
    tally = Tally()
    tally.add(["same", "undecided"], 20)
    tally.add(["slower", "faster", "same"], 30)
    assert tally.with_alarm == 1
    assert tally.report().splitlines()[-1] == "| 2 | 1 | 1 | 1 | 2 | 1 | 25 |"


def test_the_words_are_those_of_the_record() -> None:
    assert verdicts({"derived": {"verdicts": [{"verdict": "same"}, {"verdict": "slower"}]}}) == ["same", "slower"]
