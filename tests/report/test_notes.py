"""Which notes are shown, in which order; every format shows exactly these."""

from __future__ import annotations

from dataclasses import replace

from steelyard.model.findings import Finding
from steelyard.report import markdown, notes, terminal
from steelyard.report.notes import Note
from steelyard.report.sheet import Sheet
from tests.report.records import SLOWER, SUMMARY, on_screen, run, verdict, weighing

ONE, TWO, THREE = (
    Finding(code=name, message=f"what {name} says", remedy=f"do {name}") for name in ("one", "two", "three")
)


def of_two_benchmarks(*findings: list[Finding], metric: str = "active") -> list[Note]:
    record = weighing(benchmarks=("sort", "parse"), findings=(ONE,))
    told = [
        verdict(benchmark=name, index=place, metric=metric, findings=mine)
        for place, (name, mine) in enumerate(zip(("sort", "parse"), findings, strict=True))
    ]
    return notes.of_weighing(record, told)


def test_what_was_seen_while_measuring_comes_first_and_nothing_twice() -> None:
    found = notes.of_weighing(weighing(findings=(ONE, ONE)), [verdict(findings=[TWO, ONE])])
    assert found == [Note(ONE.message, ONE.remedy), Note(TWO.message, TWO.remedy)]


def test_several_metrics_say_the_same_once() -> None:
    told = [verdict(metric=metric, findings=[TWO]) for metric in ("active", "wall")]
    assert notes.of_weighing(weighing(), told) == [Note(TWO.message, TWO.remedy)]


def test_what_is_seen_in_one_of_several_metrics_names_it() -> None:
    seen = Finding(code="medians-differ", message="the medians point the other way")
    one, two = (verdict(metric=metric, findings=[seen]) for metric in ("active", "wall"))
    calm = verdict(metric="max_rss")
    assert notes.of_weighing(weighing(), [one, calm]) == [Note(f"active: {seen.message}")]
    assert notes.of_weighing(weighing(), [one, two, calm]) == [Note(f"active and wall: {seen.message}")]
    assert notes.of_weighing(weighing(), [one]) == [Note(seen.message)]


def test_beside_another_weighing_a_note_names_its_benchmark_too() -> None:
    told = notes.of_weighing(weighing(), [verdict(findings=[TWO])], beside_others=True)
    assert told == [Note(TWO.message, TWO.remedy, about=("sort",))]


def test_of_several_benchmarks_a_note_names_those_that_it_is_about() -> None:
    assert of_two_benchmarks([TWO], [])[1:] == [Note(TWO.message, TWO.remedy, about=("sort",))]
    assert of_two_benchmarks([TWO], [TWO])[1:] == [Note(TWO.message, TWO.remedy, about=("sort", "parse"))]
    assert of_two_benchmarks([ONE], [ONE]) == [Note(ONE.message, ONE.remedy)]  # a note on the whole


def test_another_remedy_is_another_note() -> None:
    other = replace(TWO, remedy=None)
    assert of_two_benchmarks([TWO, other], [])[1:] == [
        Note(TWO.message, TWO.remedy, about=("sort",)),
        Note(TWO.message, None, about=("sort",)),
    ]


def test_the_same_with_other_figures_is_one_note() -> None:
    short, shorter = (
        Finding(code="short", message=f"a launch takes {time}, 0.10 ms of it to start", remedy=f"--repeat {times}")
        for time, times in (("1.02 ms", 30), ("950.1 µs", 32))
    )
    (note,) = of_two_benchmarks([short], [shorter])[1:]
    assert note.about == ("sort", "parse")
    assert note.message == f"{short.message} (with the figures of the first)"
    assert note.remedy == "--repeat 30"


def test_a_noisy_metric_cautions_unless_that_is_said_already() -> None:
    (caution,) = notes.of_weighing(weighing(), [verdict(metric="user")])
    assert caution.message.startswith("user: ")
    assert "--metric cpu" in caution.message
    said = Finding(code="noisy-metric", message=caution.message.removeprefix("user: "))
    assert notes.of_weighing(weighing(), [verdict(metric="user", findings=[said])]) == [caution]
    assert notes.of_weighing(weighing(findings=(said,)), [verdict(metric="user")]) == [Note(said.message)]
    assert notes.of_weighing(weighing(), [SLOWER]) == []


def test_metrics_that_are_noisy_for_the_same_reason_have_one_note_that_names_them() -> None:
    (alone,) = notes.of_weighing(weighing(), [verdict(metric="user")])
    said = Finding(code="noisy-metric", message=alone.message.removeprefix("user: "))
    # One of them was judged; the other is unknown, because it was 0 in some launches.
    judged = [verdict(metric=metric, findings=found) for metric, found in (("wall", []), ("user", [said]), ("sys", []))]
    assert notes.of_weighing(weighing(), judged) == [Note(f"user and sys: {said.message}")]


def test_a_control_has_no_notes_of_its_own() -> None:
    assert notes.of_weighing(weighing(), [SLOWER, verdict(control=True, findings=[TWO])]) == []


def test_each_format_shows_the_same_notes_in_the_same_order() -> None:
    record, told = weighing(findings=(ONE,)), [verdict(findings=[TWO])]
    measured, described = run().model_copy(update={"findings": [ONE]}), [SUMMARY.model_copy(update={"findings": [TWO]})]
    for text in (
        on_screen(lambda console: terminal.weighing(console, record, told)),
        on_screen(lambda console: terminal.run(console, measured, described)),
        markdown.weighing(record, told),
        markdown.run(measured, described),
    ):
        places = [text.index(said) for said in (ONE.message, "do one", TWO.message, "do two")]
        assert places == sorted(places)
        assert text.count(ONE.message) == text.count(TWO.message) == 1


def test_below_another_weighing_what_that_has_told_is_counted() -> None:
    told = notes.Told()
    first, second, third = (weighing(findings=findings) for findings in ((ONE, TWO), (TWO,), (ONE, TWO)))
    one, two = Note(ONE.message, ONE.remedy), Note(TWO.message, TWO.remedy)
    assert told.anew(notes.of_weighing(first, [SLOWER])) == [one, two]
    assert told.anew(notes.of_weighing(second, [SLOWER])) == [Note("1 note above holds here, too")]
    assert told.anew(notes.of_unmeasured(third, TWO)) == [Note("1 note above holds here, too")]
    assert told.anew(notes.of_weighing(third, [verdict(findings=[THREE])])) == [
        Note(THREE.message, THREE.remedy),
        Note("2 notes above hold here, too"),
    ]


def test_many_names_are_cut_short_and_a_hostile_one_is_made_safe() -> None:
    note = Note("too short", "more work", about=("a\n|b", "c", "d", "e", "f"))
    assert notes.markdown([note]) == [
        "note: <code>a&#92;n&#124;b</code>, <code>c</code>, <code>d</code> and 2 more: too short (more work)"
    ]
    text = on_screen(lambda console: notes.show(Sheet(console), [note]))
    assert [line.split() for line in text.splitlines()] == [
        ["note", "a\\n|b,", "c,", "d", "and", "2", "more:", "too", "short"],
        ["more", "work"],
    ]
