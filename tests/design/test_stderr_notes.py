"""Notes on what commands write to standard error: if it tells of a failure, or if only one of two sides writes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from steelyard.design.stderr_notes import StderrNotes
from steelyard.model.findings import SAID_FAILURE, Finding
from steelyard.model.records import Run, Weighing
from steelyard.model.rows import ROLES, WARM_UP
from tests.design.counted import COUNTED, PROGRAM, Stage, launched
from tests.design.scripted import PLAIN, Machine, experiment, run_header, weigh, weighing

MISSING = b"cat: in: No such file or directory\n"
NO_TERMINAL = b"Vim: Warning: Output is not to a terminal\n"
PROGRESS = b"read 100 rows\n"


def said(*sides: list[bytes], record: Weighing | Run | None = None) -> list[str]:
    """Return what is found if the launches of each side wrote these texts."""
    heard = StderrNotes()
    for side, texts in enumerate(sides):
        for text in texts:
            heard.take(0, side, replace(PLAIN, stderr=text[-4096:], stderr_bytes=len(text)))
    return [one.message for one in heard.findings(record or weighing(1))]


@pytest.mark.parametrize(
    ("baseline", "candidate", "message"),
    [
        ([b""], [MISSING], "every launch of the candidate, none of the baseline, wrote to standard error: 'cat: in:"),
        ([b""] * 3, [PROGRESS, PROGRESS, b""], "2 of 3 launches of the candidate, none of the baseline, wrote to"),
        ([b""] * 9, [b"\n", MISSING] + [b""] * 7, "1 of 9 launches of the candidate, none of the baseline, wrote to"),
        (
            [b""],
            [PROGRESS + b"done\n", b"read 9 rows\n"],
            "every launch of the candidate, none of the baseline, wrote to standard error: 'read 100 rows'",
        ),
        (
            [b""],
            [PROGRESS, MISSING, b"error: a\n"],
            "2 of 3 launches of the candidate, none of the baseline, wrote to standard error: 'cat: in: No such file",
        ),
        ([MISSING], [MISSING], "every launch of either side wrote to standard error: 'cat: in: No such file or"),
        (
            [MISSING],
            [NO_TERMINAL],
            "every launch of the baseline wrote to standard error: 'cat: in: No such file or directory'; "
            "every launch of the candidate wrote to standard error: 'Vim: Warning",
        ),
        (
            [b""] * 2,
            [PROGRESS, b""],
            "1 of 2 launches of the candidate, none of the baseline, wrote to standard error:",
        ),
        ([PROGRESS], [MISSING], "every launch of the candidate wrote to standard error: 'cat: in: No such"),
        ([NO_TERMINAL], [NO_TERMINAL], "every launch of either side wrote to standard error: 'Vim: Warning: Output is"),
        (
            [PROGRESS + b"error: a\n"],
            [PROGRESS, b"Usage: it\n"],
            "every launch of the baseline wrote to standard error: 'error: a'; "
            "1 of 2 launches of the candidate wrote to standard error: 'Usage: it'",
        ),
    ],
)
def test_who_says_what_and_how_often(baseline: list[bytes], candidate: list[bytes], message: str) -> None:
    (found,) = said(baseline, candidate)
    assert found.startswith(message)


@pytest.mark.parametrize(
    "sides",
    [
        ([b""], [b" \n"]),
        ([], [MISSING]),
        ([PROGRESS], [b"read 99 rows\n"]),
        ([b""] * 9, [PROGRESS] + [b""] * 8),
    ],
)
def test_what_calls_for_no_note(sides: tuple[list[bytes], list[bytes]]) -> None:
    assert said(*sides) == []


def test_of_one_alone_only_what_tells_of_a_failure() -> None:
    assert said([PROGRESS], record=run_header()) == []
    assert said([MISSING], record=run_header()) == [
        f"every launch wrote to standard error: '{MISSING.decode().strip()}'"
    ]


def test_a_harness_says_what_it_likes() -> None:
    assert said([b""], [MISSING], record=weighing(1, harness="shell")) == []


def test_of_a_control_nothing_is_said_that_is_not_said_of_its_program() -> None:
    record = weighing(1)
    control = record.benchmarks[0].model_copy(update={"control": True})
    assert said([b""], [MISSING], record=record.model_copy(update={"benchmarks": [control]})) == []


def test_of_a_flood_a_whole_line_is_shown_and_of_an_endless_one_its_beginning() -> None:
    (flood,) = said([b""], [b"a row of a table\n" * 1000])
    assert flood.endswith("'a row of a table'")
    (endless,) = said([b""], [b"x" * 9000])
    assert endless.endswith(f": '{'x' * 200}…'")


def test_of_several_benchmarks_those_are_named_that_it_is_of() -> None:
    heard = StderrNotes()
    for benchmark, text in enumerate((b"", MISSING)):
        for side in (0, 1):
            heard.take(benchmark, side, replace(PLAIN, stderr=text))
    (found,) = heard.findings(weighing(2))
    assert found.message.startswith("benchmark 1: every launch of either side wrote")


def test_a_weighing_says_it_of_all_that_is_no_warm_up() -> None:
    def script(number: int, spec: Any) -> Any:
        return replace(PLAIN, stderr=MISSING if number < 2 or spec.program == b"candidate" else b"")

    record, _ = weigh(script, pairs=9)
    assert [ROLES[role] for role in record.launches.role[:2]] == [WARM_UP] * 2
    assert [one.code for one in record.findings] == [SAID_FAILURE]
    assert record.findings[0].message.startswith("every launch of the candidate, none of the baseline, wrote")


def test_of_launches_that_failed_and_are_accepted_nothing_is_said() -> None:
    heard = StderrNotes()
    for side, status in ((0, 0), (0, 1), (1, 0)):
        heard.take(0, side, replace(PLAIN, exit_code=status, stderr=MISSING if status else b""))
    assert heard.findings(weighing(1, ignore_failure=True)) == []


def test_a_weighing_that_is_carried_on_says_the_latest() -> None:
    before = Finding(code="stderr", message="1 of 4 launches of the candidate")
    header = weighing(1, pairs=9).model_copy(update={"findings": [before]})
    for text, told in ((b"", [before.message]), (MISSING, said([MISSING], [MISSING]))):
        record = experiment(Machine(lambda *_, text=text: replace(PLAIN, stderr=text)), header).run()
        assert [one.message for one in record.findings] == told


def test_of_a_weighing_that_is_carried_on_only_those_since_are_counted() -> None:
    quiet, loud = (Machine(lambda *_, text=text: replace(PLAIN, stderr=text)) for text in (b"", MISSING))
    begun = experiment(quiet, weighing(1, pairs=9)).run()
    header = weighing(1, pairs=18).model_copy(update={"launches": begun.launches, "stop": ["interrupted"]})
    record = experiment(loud, header).run()
    assert len(record.launches) > len(begun.launches)
    assert record.findings[-1].message.startswith("since this was carried on every launch of either side wrote")


def test_counts_say_it_where_no_times_do(monkeypatch: pytest.MonkeyPatch) -> None:
    for metrics, codes in ((["instructions"], [SAID_FAILURE]), (["active", "instructions"], [])):
        record = weighing(1, **{**COUNTED, "metrics": metrics}).model_copy(update={"subjects": [PROGRAM, PROGRAM]})
        assert Stage(monkeypatch)(record, lambda *_: launched(5, stderr=MISSING)).codes() == codes
