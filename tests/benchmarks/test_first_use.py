"""Reading what `steelyard compare` prints as a newcomer would, and whether that is right."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.first_use import Answer, Row, followed, hint_in, holds, rows_of, summary, tried
from benchmarks.first_use_programs import EQUAL, FASTER, SLOWER, Comparison

UNDECIDED = """baseline   python3 -S -c "sum(range(100000))"
           8.936 ms, varies by 4.19 %, 36 launches
candidate  python3 -S -c "sum(range(105000))"
           9.130 ms, varies by 4.45 %, 36 launches

undecided  +0.94 % [-1.92 %, +4.87 %] at 99 % confidence, 36 pairs in 1.6 s
           stopped early, as no verdict was within reach; about 2,000 pairs, 1 min
           30 s, would decide: --max-time
           91

metric     active: wall time less the time spent waiting for a processor
note       0 pairs were measured
           --max-time 500 allows about 12
plan       --seed 3880567598 draws the same plan again
"""
NOTHING = """baseline   sleep 2
           no launch was judged
undecided  the change is not known, 0 pairs in 4.1 s
           let it run longer (--max-time)
note       0 pairs were measured; fewer than 8 can never show anything
           --max-time 49 allows about 12
"""
SUITE = """benchmark       verdict     change  interval at 99 %    pairs
BM_Sort/64      undecided  -0.02 %  [-3.33 %, +3.59 %]     36

undecided  BM_StringCopy
           would decide: --max-time 1,630
undecided  BM_Sort/64
           would decide: --max-time 610 --pairs 2,000
"""


def answer(text: str, verdicts: dict[str, str] | None = None) -> Answer:
    return Answer(0, 1.0, verdicts or {}, None, text, "")


def test_rows_are_put_together() -> None:
    rows = dict(rows_of(UNDECIDED))
    assert rows["undecided"].endswith("1 min 30 s, would decide: --max-time 91")
    assert rows["note"] == "0 pairs were measured --max-time 500 allows about 12"


def test_the_hint_beside_the_verdict_comes_first() -> None:
    assert hint_in(UNDECIDED) == {"--max-time": "91"}
    assert hint_in(NOTHING) == {"--max-time": "49"}
    assert hint_in(SUITE) == {"--max-time": "1,630", "--pairs": "2,000"}
    assert hint_in("note       did you forget --shell?\n") == {"--shell": ""}
    assert hint_in("undecided  0 % ...; --repeat 100, or --margin 2.5%.\n") == {"--repeat": "100", "--margin": "2.5%"}
    assert hint_in("same       +0.01 %\nplan       --pairs 30\n") == {}


def test_a_hint_is_followed_to_the_letter() -> None:
    words = ["--shell", "--max-time", "5", "a | b", "c"]
    assert followed(words, {"--max-time": "1,630"}) == ["--shell", "a | b", "c", "--max-time", "1630"]
    assert followed(words, {"--shell": ""}) == ["--max-time", "5", "a | b", "c", "--shell"]


def test_figures_that_are_shown() -> None:
    assert answer(UNDECIDED).shown == "change and medians"
    assert answer(NOTHING).shown == "nothing"
    assert answer(SUITE).shown == "change"
    assert answer("").shown == "nothing"


@pytest.mark.parametrize(
    ("verdict", "truth", "judged"),
    [
        ("slower", SLOWER, "right"),
        ("slower", EQUAL, "false alarm"),
        ("slower", FASTER, "false alarm"),
        ("same", EQUAL, "right"),
        ("same", FASTER, "missed"),
        ("undecided", EQUAL, "honest undecided"),
        ("undecided", SLOWER, "honest undecided"),
    ],
)
def test_right_and_wrong(verdict: str, truth: int, judged: str) -> None:
    assert answer("", {"x": verdict}).judged({"": truth}) == judged


def test_of_a_suite_the_worst_counts() -> None:
    truths = {"a": SLOWER, "": EQUAL}
    assert answer("", {"a": "slower", "b": "slower"}).judged(truths) == "false alarm"
    assert answer("", {"a": "slower", "b": "undecided"}).judged(truths) == "right"
    assert answer("", {"a": "undecided", "b": "undecided"}).judged(truths) == "honest undecided"
    assert answer("", {}).judged(truths) == "no answer"
    assert answer("", {"a": "slower", "b": "undecided"}).verdict == "slower"
    assert not answer("", {"a": "slower", "b": "undecided"}).is_decided


def test_a_row_follows_its_hint_once_and_no_longer_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    kept: list[Path] = []

    def ask(words: list[str], _: Path, record: Path) -> Answer:
        asked.append(words)
        kept.append(record)
        return answer(UNDECIDED, {"x": "slower" if len(asked) > 1 else "undecided"})

    monkeypatch.setattr("benchmarks.first_use.ask", ask)
    comparison = Comparison("it, +5 %", ("a", "b"), {"": SLOWER})
    row = tried(comparison, Path(), Path("kept"), False, 100.0)
    assert asked == [["a", "b"], ["a", "b", "--max-time", "91"]]
    assert (row.judged, row.hint, row.hint_is_true) == ("honest undecided", "--max-time 91", True)
    assert row.followed == "slower, right, 1 s"
    assert kept == [Path("kept/it-+5.json"), Path("kept/it-+5-after-the-hint.json")]
    asked.clear()
    row = tried(comparison, Path(), Path("kept"), True, 20.0)
    assert asked == [["a", "b", "--max-time", "5"]]
    assert (row.hint_is_true, row.followed) == (None, "not followed: over 20 s")


def test_the_bars() -> None:
    row = Row("it", "equal", 1.0, "same", 0.0, "right", "change and medians")
    assert holds([row])
    assert "None without a figure: holds" in summary([row])
    bare = Row("bare", "equal", 1.0, "undecided", None, "honest undecided", "nothing", "--max-time 9", "", False)
    assert not holds([row, bare])
    assert "None without a figure: broken by bare" in summary([row, bare])
    assert "Every hint true: broken by bare" in summary([row, bare])
