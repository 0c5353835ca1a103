"""What is said about a benchmark and its limit agrees with the rule that is applied."""

from __future__ import annotations

from dataclasses import replace

import pytest

from steelyard.model.derived import Derived, SuiteMean, Verdict
from steelyard.model.gate import GateReport, Judged, Standing
from steelyard.model.launches import Launches
from steelyard.model.limits import Accepted, Limit, Limits
from steelyard.model.records import StopReason
from steelyard.model.settings import Settings
from steelyard.report import gate_markdown, gate_terminal, gate_words
from tests.report.records import LEANING, SLOWER, UNDECIDED, flat, on_screen, row, verdict, weighing

ACCEPTED = Accepted(above=0.03, benchmark="sort", reason="checks")


def test_what_may_be_more_than_was_accepted_is_told_so_with_the_reason() -> None:
    of = verdict(verdict="slower", change=0.02, interval=(0.01, 0.04))
    one = Judged("a.json", weighing(), of, None, "open", deciding=True, accepted=ACCEPTED)
    assert gate_words.why_open(one) == (
        "the interval reaches above the 3 % that are accepted (checks), but the estimate does not; a change of 0.71 % "
        "would have been found 9 times out of 10; its weighing ended by another margin: a new one with --margin 3% "
        "goes on until that is decided"
    )
    said = flat(on_screen(lambda console: gate_terminal.show(console, report_of(one)), 100))
    assert said.count("(checks)") == 1
    assert "nothing was found above its limit, and 1 of 1 verdict stayed open" in said


def test_the_headline_counts_what_is_accepted_whatever_the_answer_is() -> None:
    def judged(standing: Standing) -> Judged:
        held = ACCEPTED if standing == "accepted" else None
        return Judged("a.json", weighing(), SLOWER, None, standing, deciding=True, accepted=held)

    cases: tuple[tuple[tuple[Standing, ...], str], ...] = (
        ((), "1 slower and accepted, and nothing else was found above its limit, 1 verdict"),
        (
            ("open",),
            "1 slower and accepted, and nothing else was found above its limit, and 1 of 2 verdicts stayed open",
        ),
        (("above",), "1 of 2 verdicts is above its limit: sort, +1.02 % [+0.61 %, +1.40 %]; 1 slower and accepted"),
    )
    for beside, said in cases:
        assert gate_words.headline(report_of(judged("accepted"), *map(judged, beside))) == said
    assert gate_words.methods(report_of(judged("accepted")))[-1] == (
        "the gate fails where the verdict is slower, except for what is accepted"
    )


def report_of(*judged: Judged) -> GateReport:
    return GateReport(Limits(), ["a.json"], [judged[0].weighing], list(judged))


@pytest.mark.parametrize(
    ("of", "above", "why"),
    [
        (UNDECIDED, 0.003, "the interval reaches above the limit of 0.3 %, but chance is not excluded"),
        (UNDECIDED, 0.01, "the interval reaches above the limit of 1 %, but chance is not excluded"),
        (
            LEANING.model_copy(update={"is_change": True}),
            0.005,
            "the interval reaches above the limit of 0.5 %, but the estimate does not",
        ),
        (
            LEANING,
            0.003,
            "the interval reaches above the limit of 0.3 %, but chance is not excluded surely enough for one of "
            "several benchmarks",
        ),
        (
            verdict(verdict="slower", change=0.02, interval=(0.01, 0.04)),
            0.03,
            "the interval reaches above the limit of 3 %, but the estimate does not",
        ),
        (
            LEANING.model_copy(update={"metric": "instructions", "pairs_needed": 6}),
            0.003,
            "the interval reaches above the limit of 0.3 %, but 6 counts a side are needed to exclude chance",
        ),
    ],
)
def test_an_open_benchmark_is_told_which_half_of_the_rule_it_lacks(of: Verdict, above: float, why: str) -> None:
    one = Judged("a.json", weighing(), of, Limit(above=above), "open", deciding=True)
    assert gate_words.why_open(one, is_alone=False) == why


@pytest.mark.parametrize(
    ("reason", "above", "metric", "is_told"),
    [
        ("decided", 0.03, "active", True),
        ("futile", 0.03, "wall", True),  # `active` fell back to it
        ("time", 0.03, "active", False),
        ("decided", 0.005, "active", False),  # the margin of the weighing
        ("decided", 0.03, "max_rss", False),
        ("decided", 0.0, "active", False),
    ],
)
def test_what_ended_by_another_margin_than_its_limit_is_told_how_it_goes_on(
    reason: StopReason, above: float, metric: str, is_told: bool
) -> None:
    record = weighing(stop=reason, settings=Settings(metrics=["active", "max_rss"]))
    seen = verdict(verdict="slower", change=0.02, interval=(0.001, 0.04), metric=metric)
    one = Judged("a.json", record, seen, Limit(above=above), "open", deciding=True)
    told = "its weighing ended by another margin: a new one with --margin 3% goes on until that is decided"
    assert gate_words.why_open(one).endswith(told) is is_told
    two = ["2 of them ended by another margin: a new one of each with --margin 3% goes on until that is decided"]
    assert gate_words.what_would_decide([one, one]) == two * is_told
    if is_told:
        (way,) = gate_words.what_would_decide([one, replace(one, limit=Limit(above=0.025))])
        assert "a new one of each with its limit for a margin goes on" in way


def test_without_a_limit_of_the_gate_s_own_the_verdict_says_why() -> None:
    one = Judged("a.json", weighing(), SLOWER, None, "above", deciding=True)
    assert "limit" not in gate_words.why_open(one, is_alone=False)


def test_the_method_tells_all_margins() -> None:
    record = weighing(benchmarks=("sort", "parse"), settings=Settings(margins={"parse": 0.05}))
    method, _ = gate_words.methods(GateReport(Limits(), ["a.json"], [record]))
    assert "margin 5 % for parse; else 0.5 %; active" in method


def test_of_two_benchmarks_half_is_one() -> None:
    seen = [verdict(benchmark=str(size), resolution=size) for size in (0.01, 0.03)]
    judged = [Judged("a.json", weighing(), one, None, "within", deciding=True) for one in seen]
    told = gate_words.resolution(GateReport(Limits(), ["a.json"], [weighing()], judged))
    assert told is not None
    assert "of half the benchmarks a change of 1.00 %" in told
    assert "of the noisiest one of 3.00 %" in told


def test_of_a_benchmark_in_two_metrics_launches_and_resolution_are_told_once() -> None:
    record, limit = weighing(), Limit(above=0.1, metric="max_rss")
    seen = [(verdict(resolution=0.03), None), (verdict(metric="max_rss", resolution=0.01), limit)]
    judged = [Judged("a.json", record, one, of, "within", deciding=True) for one, of in seen]
    report = GateReport(Limits(limits=[limit]), ["a.json"], [record], judged)
    assert gate_words.resolution(report) == "a change of 3.00 % would have been found 9 times out of 10"
    assert (gate_words.noise(report) or "").startswith("14 launches waited")


@pytest.mark.parametrize(
    ("limits", "of", "said"),
    [
        ([Limit(above=0.02)], 0, "the gate fails above 2%"),
        ([Limit(above=0.02, benchmark="p*")], 0, "the gate fails above p*=2%"),
        (
            [Limit(above=0.02, benchmark="p*")],
            None,
            "the gate fails above p*=2%, and without such a limit where the verdict is slower",
        ),
    ],
)
def test_the_method_tells_where_a_verdict_decides_without_a_limit(
    limits: list[Limit], of: int | None, said: str
) -> None:
    held = None if of is None else limits[of]
    judged = [Judged("a.json", weighing(), SLOWER, held, "within", deciding=True)]
    assert gate_words.methods(GateReport(Limits(limits=limits), ["a.json"], [weighing()], judged))[-1] == said


@pytest.mark.parametrize(
    ("in_tandem", "said"),
    [(0, "adjacent pairs in an"), (1, "pairs, some of them in tandem, in an"), (3, "pairs in tandem in an")],
)
def test_the_method_tells_how_the_pairs_ran_and_not_how_they_were_asked_for(in_tandem: int, said: str) -> None:
    rows = [row(pair, side, 10**7, order=side + 2 * (pair < in_tandem)) for pair in range(3) for side in (0, 1)]
    record = weighing(settings=Settings(pairing="adjacent")).model_copy(update={"launches": Launches.of_rows(rows)})
    assert gate_words.methods(GateReport(Limits(), ["a.json"], [record]))[0].startswith(said)


def test_the_mean_of_each_suite_is_told_of_several_with_its_record() -> None:
    mean = SuiteMean(metric="active", change=0.01, interval=(0.005, 0.015), benchmarks=3)
    suite = weighing().model_copy(update={"derived": Derived(means=[mean])})
    said = "geometric mean of 3 benchmarks: +1.00 % [+0.50 %, +1.50 %] at 99 % confidence"
    assert gate_words.means(GateReport(Limits(), ["a.json"], [suite])) == [said]
    both = GateReport(Limits(), ["a.json", "b.json"], [weighing(), suite])
    assert gate_words.means(both) == [f"b.json: {said}"]
    assert "b.json&#58; geometric mean of 3 benchmarks" in gate_markdown.page(both)
    assert "in all b.json: geometric mean" in flat(on_screen(lambda console: gate_terminal.show(console, both)))
