from __future__ import annotations

from steelyard.model.derived import Derived
from steelyard.report.order import can_sort, sorted_by
from tests.report.records import FASTER, NOTHING, SAME, SLOWER, SUMMARY, verdict

NAMED = [
    each.model_copy(update={"benchmark": name, "index": place})
    for place, (name, each) in enumerate(
        {"d": SAME, "a": FASTER, "c": SLOWER, "b": NOTHING, "e": verdict(change=0.5, verdict="undecided")}.items()
    )
]
CONTROL = verdict(control=True, benchmark="control", index=9, change=9.0)


def names(by: str) -> str:
    found = sorted_by(Derived(verdicts=[CONTROL, *NAMED]), by).verdicts
    return "".join(one.benchmark for one in found)


def test_by_change_the_largest_slowdown_is_first() -> None:
    assert names("change") == "ecdabcontrol"


def test_by_name() -> None:
    assert names("name") == "abcdecontrol"


def test_by_verdict_slower_is_first() -> None:
    assert names("verdict") == "caebdcontrol"


def test_all_metrics_of_a_benchmark_stay_together() -> None:
    beside = [one.model_copy(update={"metric": "max_rss", "change": -one.index}) for one in NAMED]
    mixed = [each for pair in zip(NAMED, beside, strict=True) for each in pair]
    found = sorted_by(Derived(verdicts=mixed), "change").verdicts
    assert [one.benchmark for one in found] == [*"eeccddaabb"]
    assert [one.metric for one in found] == ["active", "max_rss"] * 5


def test_a_run_has_names_alone() -> None:
    runs = Derived(summaries=[SUMMARY.model_copy(update={"benchmark": name}) for name in "ba"])
    assert [one.benchmark for one in sorted_by(runs, "name").summaries] == ["a", "b"]
    assert can_sort(runs, "name")
    assert not can_sort(runs, "change")
