"""A slowdown that is accepted: in the change that brings its entry, up to what the entry says, and no longer."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.design.gate import reading
from steelyard.design.gate.gate import gate
from steelyard.design.outcome import Outcome
from steelyard.model.derived import Derived, Verdict
from steelyard.model.gate import GateReport
from steelyard.model.limits import Accepted, Limits, limits_from
from steelyard.model.records import Weighing
from steelyard.model.settings import Settings
from steelyard.model.subject import RevisionFacts
from tests.report.records import verdict, weighing

SLOWER = verdict(change=0.03, interval=(0.02, 0.04), verdict="slower")


def entry(change: float, benchmark: str = "sort", reason: str = "checks", metric: str | None = None) -> Accepted:
    return Accepted(above=change, benchmark=benchmark, reason=reason, metric=metric)


ENTRY = entry(0.05)


def record(
    *verdicts: Verdict, baseline: list[Accepted] | None = None, metrics: tuple[str, ...] = ("active",)
) -> Weighing:
    """Return a weighing with these verdicts; with `baseline`, one of revisions whose baseline's file accepts these."""
    names = {one.index: one.benchmark for one in verdicts}
    made = weighing(benchmarks=tuple(names.values()), settings=Settings(metrics=list(metrics)))
    update: dict[str, object] = {"derived": Derived(verdicts=list(verdicts))}
    if baseline is not None:
        facts = RevisionFacts(name="main", commit="0" * 40, tree="1" * 40, build=None, accepted=baseline)
        update["subjects"] = [one.model_copy(update={"revision": facts}) for one in made.subjects]
    return made.model_copy(update=update)


def held(patch: pytest.MonkeyPatch, limits: Limits, *records: Weighing) -> GateReport:
    """Hold a gate over these records, which go by a.json, b.json and so on."""
    names = [f"{chr(ord('a') + number)}.json" for number in range(len(records))]
    found = dict(zip(names, records, strict=True))
    patch.setattr(reading, "recall", lambda path, *_: Outcome(found[path.name], None))
    patch.setattr(Path, "exists", lambda _: True)
    return gate([(name, Path(name)) for name in names], limits)


def accepting(*entries: Accepted, fail_above: tuple[str, ...] = ()) -> Limits:
    return limits_from(fail_above).model_copy(update={"accepted": list(entries)})


def messages(report: GateReport) -> list[str]:
    return [finding.message for finding in report.findings]


@pytest.mark.parametrize(
    ("one", "limits", "accepted", "standing", "answer"),
    [
        (SLOWER, (), 0.05, "accepted", "passed"),
        (SLOWER, (), 0.04, "accepted", "passed"),
        (SLOWER, (), 0.035, "open", "undecided"),
        (SLOWER, (), 0.025, "above", "slower"),
        (SLOWER, ("1%",), 0.05, "accepted", "passed"),
        (SLOWER, ("1%",), 0.025, "above", "slower"),
        # An entry makes nothing worse.
        (SLOWER, ("5%",), 0.001, "within", "passed"),
        (SLOWER, ("3.5%",), 0.001, "open", "undecided"),
        (SLOWER, ("never",), 0.001, "within", "passed"),
        (verdict(verdict="same", change=0.001, interval=(-0.001, 0.003)), (), 0.0001, "within", "passed"),
        (verdict(verdict="undecided", change=0.03, interval=(-0.01, 0.07)), (), 0.5, "open", "undecided"),
    ],
)
def test_what_is_above_its_limit_is_held_to_what_is_accepted(
    monkeypatch: pytest.MonkeyPatch, one: Verdict, limits: tuple[str, ...], accepted: float, standing: str, answer: str
) -> None:
    report = held(monkeypatch, accepting(entry(accepted), fail_above=limits), record(one))
    (judged,) = report.judged
    assert (judged.standing, report.verdict) == (standing, answer)
    assert len(report.accepted) == (standing == "accepted")
    assert not report.findings


def test_an_entry_that_the_baseline_s_file_has_holds_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    report = held(monkeypatch, accepting(ENTRY), record(SLOWER, baseline=[ENTRY]))
    assert (report.verdict, report.judged[0].accepted) == ("slower", None)
    (finding,) = report.findings
    assert finding.message == "the accepted slowdown sort=5% (checks) is passed over: the baseline has it already"
    assert finding.remedy is not None
    assert finding.remedy.startswith("remove its [[gate.accepted]] from the project's file")


@pytest.mark.parametrize(
    "before", [entry(0.05, reason="checks more"), entry(0.06), entry(0.05, "so*"), entry(0.05, metric="active")]
)
def test_any_other_entry_is_a_new_one(monkeypatch: pytest.MonkeyPatch, before: Accepted) -> None:
    report = held(monkeypatch, accepting(before, ENTRY), record(SLOWER, baseline=[before]))
    assert [one.standing for one in report.judged] == ["accepted"]
    assert [finding.code for finding in report.findings] == ["accepted-before"]


def test_of_several_records_those_whose_baseline_has_it_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [record(SLOWER, baseline=[ENTRY]), record(SLOWER, baseline=[]).model_copy(update={"seconds": 2.0})]
    report = held(monkeypatch, accepting(ENTRY), *records)
    assert [one.standing for one in report.judged] == ["above", "accepted"]
    said = "the accepted slowdown sort=5% (checks) is passed over: the baseline of a.json has it already"
    assert messages(report) == [said]


def test_the_entry_that_names_most_applies_then_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    some = (entry(0.5, metric="active"), entry(0.6, "*"), entry(0.025))
    report = held(monkeypatch, accepting(*some), record(SLOWER))
    assert report.judged[0].accepted == some[0]
    report = held(monkeypatch, accepting(*some[1:]), record(SLOWER))
    assert (report.judged[0].standing, report.judged[0].accepted) == ("above", some[2])


def test_without_a_metric_it_is_the_one_that_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    both = (SLOWER, SLOWER.model_copy(update={"metric": "max_rss"}))
    made = record(*both, metrics=("active", "max_rss"))
    for of, standings in ((None, ["accepted", "above"]), ("max_rss", ["above", "accepted"])):
        report = held(monkeypatch, accepting(entry(0.05, metric=of), fail_above=("max_rss=1%",)), made)
        assert [one.standing for one in report.judged] == standings


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (
            entry(0.05, "srt*"),
            "the accepted slowdown srt*=5% (checks) fits no benchmark",
        ),
        (
            entry(0.05, "or"),
            "the accepted slowdown or=5% (checks) fits no benchmark; there is sort: '*or*' fits it",
        ),
        (
            entry(0.05, metric="instructions"),
            "the accepted slowdown sort:instructions=5% (checks) is of a metric that was not measured",
        ),
    ],
)
def test_an_entry_that_fits_nothing_is_a_finding(monkeypatch: pytest.MonkeyPatch, one: Accepted, said: str) -> None:
    report = held(monkeypatch, accepting(one), record(SLOWER))
    assert (report.verdict, messages(report)) == ("slower", [said])


def test_an_entry_that_was_not_needed_is_a_finding_where_it_is_known_to_be_new(monkeypatch: pytest.MonkeyPatch) -> None:
    same = verdict(verdict="same", change=0.001, interval=(-0.001, 0.003))
    said = "the accepted slowdown sort=5% (checks) was not needed: nothing that it fits was found above its limit"
    assert messages(held(monkeypatch, accepting(ENTRY), record(same, baseline=[]))) == [said]
    assert messages(held(monkeypatch, accepting(ENTRY), record(same))) == []
    opened = verdict(verdict="undecided", change=0.03, interval=(-0.01, 0.07))
    assert messages(held(monkeypatch, accepting(ENTRY), record(opened, baseline=[]))) == []


@pytest.mark.parametrize("one", [ENTRY, entry(0.05, metric="active"), entry(0.05, metric="wall")])
def test_an_entry_fits_a_result_by_the_metric_asked_for_and_by_that_which_stands_in(
    monkeypatch: pytest.MonkeyPatch, one: Accepted
) -> None:
    same = verdict(metric="wall", verdict="same", change=0.001, interval=(-0.001, 0.003))
    made = record(same, same, baseline=[], metrics=("active", "wall"))
    assert [finding.code for finding in held(monkeypatch, accepting(one), made).findings] == ["not-needed"]
