from __future__ import annotations

from typing import Any

from benchmarks.kills import Kill, compare_resumed, launches_in, report

JOURNAL = (
    b'{"kind":"weighing"}\n[0,0,0,0,0,7,0,100,9]\n[0,0,1,1,0,7,0,200,9]\n{"discard":[0,0]}\n[0,1,0,0,1,7,0,300,9]\n'
)


def record(starts: list[int], words: list[str]) -> dict[str, Any]:
    return {"launches": {"start_ns": starts}, "derived": {"verdicts": [{"verdict": word} for word in words]}}


def test_only_whole_launches_of_a_journal_count() -> None:
    assert len(launches_in(JOURNAL)) == 3
    assert len(launches_in(JOURNAL[:-1])) == 2
    assert launches_in(b"") == []


def test_a_resumed_weighing_that_goes_on_and_finds_the_change_is_no_complaint() -> None:
    assert compare_resumed(record([100, 200, 300, 400], ["slower", "slower"]), launches_in(JOURNAL), 4, 1) == []


def test_a_resumed_weighing_that_lost_changed_or_misjudged_something_is_complained_of() -> None:
    rows = launches_in(JOURNAL)
    (begins,) = compare_resumed(record([100, 250, 300, 400], ["slower"]), rows, 4, 1)
    assert "does not begin" in begins
    (count,) = compare_resumed(record([100, 200, 300], ["slower"]), rows, 4, 1)
    assert "3 launches" in count
    for words, status in ((["slower", "same"], 1), (["slower"], 0), ([], 1)):
        (verdict,) = compare_resumed(record([100, 200, 300, 400], words), rows, 4, status)
        assert "resumed, it says" in verdict


def test_the_tally_counts_what_was_lost_and_left() -> None:
    kills = [
        Kill(0.1, 0),
        Kill(1.0, 0, launches=5),
        Kill(2.0, 0, launches=6, lost=1),
        Kill(2.0, 0, launches=8, lost=2),
        Kill(2.0, 1, launches=7, lost=3, complaints=["lost"]),
    ]
    counts = dict(line.strip("| ").split(" | ") for line in report(kills).splitlines()[2:])
    assert counts == {
        "kills": "5",
        "before there was a journal": "1",
        "processes left running": "1",
        "launches in the journals": "26",
        "no launch lost": "1",
        "one launch lost": "1",
        "two lost, of a pair that ran at the same time": "1",
        "more lost": "1",
        "kills with a complaint": "1",
    }
