from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.model import journal as journal_module
from steelyard.model.counting import Count, Counting, CountTool, Functions
from steelyard.model.errors import MeasurementError, UsageError
from steelyard.model.files import load
from steelyard.model.findings import Finding
from steelyard.model.heap import Heap, HeapLaunch, HeapUse
from steelyard.model.journal import Journal, is_being_measured, is_journal
from steelyard.model.json_text import parse
from steelyard.model.launches import Launches
from steelyard.model.measured import Measured
from steelyard.model.records import Run, Weighing
from steelyard.model.rows import COLUMNS, LaunchRow, Place, Sample
from steelyard.model.settings import Settings
from steelyard.model.watch import Beside, Stretch, Watch
from tests.model.samples import DISTURBED, TRIED, USED, WARM_UP, row, run, subject, weighing

HEADER = weighing([], stop=["interrupted"], subjects=(subject("\udcff\u2028"), subject("ünï\n")))
SAMPLES = (Sample(100, 90_000), Sample(100, 80_000, 79_000, 0), Sample(100, 80_000, 79_000, 0, 1))
ROWS = [
    row(0, 0, role=WARM_UP),
    row(0, 1, role=WARM_UP),
    row(1, 1),
    row(1, 0),
    row(2, 0, cpu_ns=None),
    row(2, 1, samples=SAMPLES),
]
END = {"stop": ["pairs"], "seconds": 2.5, "findings": [{"code": "shell", "message": "slow", "remedy": None}]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.journal"


def write(
    path: Path, rows: list[LaunchRow], header: Weighing | Run = HEADER, end: dict[str, Any] | None = None
) -> None:
    with Journal(path, header) as journal:
        for each in rows:
            journal.append(each)
        if end is not None:
            journal.end(end)


def test_a_journal_is_a_record_that_somebody_interrupted(path: Path) -> None:
    write(path, ROWS)
    assert load(path) == HEADER.model_copy(update={"launches": Launches.of_rows(ROWS)})


def test_a_journal_of_a_run(path: Path) -> None:
    header = run([], stop=["interrupted"])
    write(path, [row(0), row(1)], header)
    assert load(path) == header.model_copy(update={"launches": Launches.of_rows([row(0), row(1)])})


def test_launches_whose_heap_was_watched_are_kept_one_by_one(path: Path) -> None:
    use = HeapUse(allocations=3, frees=2, reallocations=1, bytes=100, peak_bytes=200)
    launches = [HeapLaunch(benchmark=0, side=side, use=use, wall_ns=1000, cpu_ns=900) for side in (0, 1, 1)]
    with Journal(path, HEADER) as journal:
        for launch in launches:
            journal.heap(launch)
        journal.append(ROWS[0])
    assert load(path).heap == Heap(launches=launches)
    path.write_bytes(path.read_bytes().replace(b'"side":1', b'"side":7'))
    with pytest.raises(UsageError, match="heap"):
        load(path)


def test_counted_launches_are_kept_one_by_one_and_the_functions_of_the_first_of_a_side(path: Path) -> None:
    tool = CountTool(tool="cachegrind", version="3.19.0", program="valgrind", flags=[])
    counts = [Count(benchmark=0, side=side, events={"Ir": 9 - side}, seconds=1.0) for side in (0, 1, 1)]
    columns: dict[str, Any] = {"name": ["main"], "file": ["work.c"], "object": [""], "line": [7], "events": {"Ir": [9]}}
    functions = [Functions(benchmark=0, side=side, **columns) for side in (0, 1)]
    lost = Finding(code="lost", message="3 processes were killed", remedy="let them end")
    with Journal(path, HEADER.model_copy(update={"counting": Counting(tool=tool)})) as journal:
        for count, its_functions in zip(counts, [*functions, None], strict=True):
            journal.count(count, its_functions)
        journal.note(lost)
    assert load(path).counting == Counting(tool=tool, counts=counts, functions=functions)
    assert load(path).findings == [*HEADER.findings, lost]
    path.write_bytes(path.read_bytes().replace(b'"counting": {', b'"counted": {'))
    with pytest.raises(UsageError, match="says nothing of how it was counted"):
        load(path)


def test_what_was_seen_beside_launches_is_kept_among_them(path: Path) -> None:
    beside = [Beside(name='a "b" ü', processes=2, ran_ns=5, cpu=1)]
    stretches = [Stretch(start_ns=1, end_ns=2, beside=beside, mhz=2.5, steal_ns=3), Stretch(start_ns=2, end_ns=9)]
    with Journal(path, HEADER) as journal:
        journal.append(ROWS[0])
        journal.stretch(stretches[0])
        journal.append(ROWS[1])
        journal.stretch(stretches[1])
    record = load(path)
    assert record.watch == Watch(stretches=stretches)
    assert record.launches == Launches.of_rows(ROWS[:2])
    path.write_bytes(path.read_bytes().replace(b'"ran_ns":5', b'"ran_ns":-5'))
    with pytest.raises(UsageError, match=r"watch\.stretches\.0\.beside\.0\.ran_ns"):
        load(path)


def test_a_row_that_another_writes_is_the_one_that_would_have_been_written(path: Path) -> None:
    plain = row(3, 1, cpu_ns=None)
    numbers = json.dumps(plain[len(Place._fields) : len(COLUMNS) - 1], separators=(",", ":"))[1:-1]
    with Journal(path, HEADER) as journal:
        before, after = journal.frame(Place._make(plain[: len(Place._fields)]), plain.overhead_ns)
        journal.append(plain)
    written = path.read_text().splitlines()[1]
    assert before + numbers + after == written


def test_rows_are_read_back_from_where_somebody_else_began(path: Path) -> None:
    plain = [each for each in ROWS if not each.samples]
    with Journal(path, HEADER) as journal:
        journal.append(plain[0])
        begun = journal.size()
        assert journal.rows_after(begun) == []
        for each in plain[1:]:
            journal.append(each)
        with path.open("ab") as torn:
            torn.write(b"[0,1,")
        assert journal.rows_after(begun) == plain[1:]
    measured = [Measured.of_row(each) for each in plain[1:]]
    assert [each.cpu_ns for each in measured] == [each.cpu_ns for each in plain[1:]]
    assert measured[0].wall_ns == plain[1].wall_ns


def test_a_journal_without_launches(path: Path) -> None:
    write(path, [])
    assert load(path) == HEADER


def without(values: Sequence[Any], *names: str) -> list[Any]:
    return [value for name, value in zip(COLUMNS, values, strict=True) if name not in names]


def test_rows_from_before_there_were_harnesses_have_no_samples(path: Path) -> None:
    write(path, [])
    rows = [row(0, 0), row(0, 1)]
    path.write_text(
        path.read_text()
        + "".join(
            f"{json.dumps(without(each[: len(COLUMNS)], 'layout', 'lost_ns', 'written_blocks'))}\n" for each in rows
        )
    )
    assert load(path).launches == Launches.of_rows(rows)


def test_rows_from_before_there_were_layouts_have_none(path: Path) -> None:
    samples = (Sample(100, 90000), Sample(100, 80000))
    rows = [row(0, 0, samples=samples), row(0, 1, samples=samples)]
    write(path, [])
    lines = [
        json.dumps(
            [*without(each[: len(COLUMNS)], "layout", "lost_ns", "written_blocks"), [one.kept() for one in samples]]
        )
        for each in rows
    ]
    path.write_text(path.read_text() + "".join(f"{line}\n" for line in lines))
    assert load(path).launches == Launches.of_rows(rows)


def test_rows_from_before_threads_were_followed_do_not_tell_what_they_lost(path: Path) -> None:
    rows = [row(0, 0, layout=1), row(0, 1, layout=1)]
    write(path, [], HEADER.model_copy(update={"settings": Settings(layouts=1)}))
    lines = [json.dumps([*without(each[: len(COLUMNS)], "lost_ns", "written_blocks"), []]) for each in rows]
    path.write_text(path.read_text() + "".join(f"{line}\n" for line in lines))
    assert load(path).launches == Launches.of_rows(rows)


def test_what_was_counted_of_launches_is_journaled_with_them(path: Path) -> None:
    rows = [row(0, 0, counters=((5, 9, 7), None)), row(0, 1), row(1, 0, counters=((6, 9, 8), (1, 2, 3)))]
    write(path, rows)
    assert load(path).launches.rows() == rows


def test_a_layout_is_journaled(path: Path) -> None:
    rows = [row(0, 0, layout=3), row(0, 1, layout=3)]
    write(path, rows, HEADER.model_copy(update={"settings": Settings(layouts=3)}))
    assert load(path).launches.rows() == rows


def test_a_layout_beyond_those_of_the_settings_is_refused(path: Path) -> None:
    write(path, [row(0, 0, layout=4), row(0, 1, layout=4)], HEADER.model_copy(update={"settings": Settings(layouts=3)}))
    with pytest.raises(UsageError, match="names a layout that is not among those of `settings`"):
        load(path)


def test_a_journal_that_ended_says_how(path: Path) -> None:
    write(path, ROWS, end=END)
    record = load(path)
    assert (record.stop, record.seconds, record.findings[0].code) == (["pairs"], 2.5, "shell")
    assert record.launches == Launches.of_rows(ROWS)


def test_every_line_is_on_disk_before_the_next_is_written(path: Path) -> None:
    with Journal(path, HEADER) as journal:
        for number, each in enumerate(ROWS, start=1):
            journal.append(each)
            assert load(path).launches == Launches.of_rows(ROWS[:number])
        journal.discard(0, 2)
        assert list(load(path).launches.role[-2:]) == [DISTURBED, DISTURBED]


def test_a_discarded_pair_is_disturbed_and_no_other(path: Path) -> None:
    rows = [*ROWS, row(2, 0, benchmark=1), row(3, 0), row(3, 1)]
    header = weighing([], stop=["interrupted"] * 2, benchmarks=[{"name": "one"}, {"name": "two"}])
    with Journal(path, header) as journal:
        for each in rows[:6]:
            journal.append(each)
        journal.discard(0, 2)
        journal.discard(0, 0)  # a warm-up, which stays one
        for each in rows[6:]:
            journal.append(each)
    assert list(load(path).launches.role) == [WARM_UP, WARM_UP, USED, USED, DISTURBED, DISTURBED, USED, USED, USED]


def test_a_pair_that_is_set_aside_was_only_tried(path: Path) -> None:
    with Journal(path, HEADER) as journal:
        for each in ROWS:
            journal.append(each)
        journal.set_aside(0, 1)
        journal.discard(0, 2)
        journal.set_aside(0, 0)  # a warm-up, which stays one
    assert list(load(path).launches.role) == [WARM_UP, WARM_UP, TRIED, TRIED, DISTURBED, DISTURBED]


def test_a_pair_that_was_to_be_tried_and_was_disturbed_is_disturbed(path: Path) -> None:
    write(path, [row(1, 0, role=TRIED), row(1, 1, role=TRIED), row(2, 0, role=TRIED), row(2, 1, role=TRIED)])
    with Journal.resumed(path) as journal:
        journal.discard(0, 1)
    assert list(load(path).launches.role) == [DISTURBED, DISTURBED, TRIED, TRIED]


def test_a_benchmark_that_failed_is_known_before_the_end(path: Path) -> None:
    header = weighing([], stop=["interrupted"] * 2, benchmarks=[{"name": "one"}, {"name": "two"}])
    with Journal(path, header) as journal:
        journal.append(ROWS[0])
        journal.fail(0, "one was killed")
        journal.append(ROWS[1])
    record = load(path)
    assert record.stop == ["failed", "interrupted"]
    assert [(finding.code, finding.message) for finding in record.findings] == [("failed", "one was killed")]
    assert record.launches == Launches.of_rows(ROWS[:2])


def lines_of_a_journal() -> list[bytes]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.journal"
        with Journal(path, HEADER) as journal:
            for each in ROWS[:4]:
                journal.append(each)
            journal.discard(0, 1)
            for each in ROWS[4:]:
                journal.append(each)
            journal.end(END)
        return path.read_bytes().splitlines(keepends=True)


LINES = lines_of_a_journal()
WHOLE = b"".join(LINES)


@settings(max_examples=300, deadline=None)
@given(cut=st.integers(0, len(WHOLE)) | st.integers(len(LINES[0]) - 2, len(WHOLE)))
def test_a_journal_cut_anywhere_is_a_record_of_the_whole_rows_before_the_cut(cut: int) -> None:
    whole_lines = LINES[: sum(len(b"".join(LINES[:number])) - 1 <= cut for number in range(1, len(LINES) + 1))]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.journal"
        path.write_bytes(WHOLE[:cut])
        if not whole_lines:
            with pytest.raises(UsageError):
                load(path)
            return
        record = load(path)
    expected = ROWS[: len([line for line in whole_lines[1:] if line.startswith(b"[")])]
    discarded = any(b"discard" in line for line in whole_lines)
    expected = [each._replace(role=DISTURBED) if each.pair == 1 and discarded else each for each in expected]
    assert record.launches == Launches.of_rows(expected)
    assert record.subjects == HEADER.subjects
    assert record.stop == (["pairs"] if len(whole_lines) == len(LINES) else ["interrupted"])


@pytest.mark.parametrize("torn", [0, 60, (1 << 16) - 1, 1 << 16, 200_000])
def test_what_a_kill_left_of_a_last_line_is_cut_off_and_all_else_stays(path: Path, torn: int) -> None:
    path.write_bytes(WHOLE + b"[" * torn)
    with Journal.resumed(path) as journal:
        assert path.read_bytes() == WHOLE
        assert is_being_measured(path)
        with pytest.raises(UsageError, match="still being measured"):
            Journal.resumed(path)
        journal.append(ROWS[0])
    assert path.read_bytes() == WHOLE + LINES[1]
    assert not is_being_measured(path)


@pytest.mark.parametrize("data", [b"", LINES[0][:-1], b"7\n", b"[]\n", b'{"launches": {}}\n', b"[" * 200_000 + b"\n"])
def test_what_is_no_journal_is_not_taken_for_one(path: Path, data: bytes) -> None:
    assert not is_journal(path)
    path.write_bytes(data)
    assert not is_journal(path)


GARBAGE = {
    "zeros": b"\0\0\0\0\n",
    "half a row": LINES[2][:20] + b"\n",
    "half a row without its end": LINES[2][:20],
    "a short row": b"[1,2,3]\n",
    "a number": b"5\n",
    "a word": b'"row"\n',
    "an empty line": b"\n",
    "NaN": b"NaN\n",
    "another machine's line feed": b"\r\n",
    "a row of words": json.dumps(["x"] * len(LaunchRow._fields)).encode() + b"\n",
    "a row with samples of words": LINES[-2].replace(b"90000", b'"x"'),
    "a row with samples of no loops": LINES[-2].replace(b"[100,", b"[0,"),
    "a row of infinities": b"[" + b",".join([b"1e999"] * len(LaunchRow._fields)) + b"]\n",
    "an end of another kind": b'{"stop": 5}\n',
    "an unknown field": b'{"colour": "red"}\n',
    "a discard of words": b'{"discard": ["a", "b"]}\n',
    "a failure of a benchmark that is not there": b'{"failed": [1, "x"]}\n',
    "a failure of one before the first": b'{"failed": [-1, "x"]}\n',
    "a row that is there twice": LINES[1],
}


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE)
def test_garbage_in_the_middle_is_refused(path: Path, garbage: bytes) -> None:
    path.write_bytes(b"".join([*LINES[:3], garbage, *LINES[3:-1]]))
    with pytest.raises(UsageError, match=str(path)):
        load(path)


def test_a_damaged_line_is_named_with_how_to_have_what_stands_before_it(path: Path) -> None:
    path.write_bytes(b"".join([*LINES[:3], b"{garbage\n", *LINES[3:-1]]))
    with pytest.raises(UsageError, match=r"is damaged in line 4; what stands before it: head -n 3 "):
        load(path)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))
    assert load(path)


def test_launches_behind_a_damaged_one_are_not_left_out_without_a_word(path: Path) -> None:
    write(path, ROWS)
    *before, last = path.read_bytes().splitlines(keepends=True)
    for damaged in (b"[1 2]\n", b"[1,,2]\n"):
        path.write_bytes(b"".join([*before, damaged, last]))
        with pytest.raises(UsageError, match=r"is damaged in line 7; what stands before it: head -n 6 "):
            load(path)


def test_a_journal_never_takes_the_place_of_a_file(path: Path) -> None:
    path.write_text("precious")
    with pytest.raises(MeasurementError, match="cannot write the journal"):
        Journal(path, HEADER)
    assert path.read_text() == "precious"


def test_a_journal_in_a_missing_folder_is_an_error(path: Path) -> None:
    with pytest.raises(MeasurementError, match="No such file"):
        Journal(path.parent / "missing" / "a.journal", HEADER)


def test_a_journal_that_cannot_hold_its_first_line_is_not_left_there(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int, __: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(MeasurementError, match="No space left"):
        Journal(path, HEADER)
    assert not path.exists()


def test_what_an_earlier_session_measured_is_not_left_behind_in_part(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, written = os.write, list[bytes]()

    def nearly_full(file: int, data: bytes) -> int:
        written.append(data)
        if len(written) > 3:
            raise OSError(28, "No space left on device")
        return real(file, data)

    monkeypatch.setattr(os, "write", nearly_full)
    with pytest.raises(MeasurementError, match="No space left"):
        Journal(path, HEADER, ROWS)
    assert not path.exists()


def test_a_write_that_fails_spoils_nothing_that_is_there(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, room = os.write, 30

    def nearly_full(file: int, data: bytes) -> int:
        nonlocal room
        if not room:
            raise OSError(28, "No space left on device")
        written = real(file, data[:room])
        room -= written
        return written

    with Journal(path, HEADER) as journal:
        journal.append(ROWS[0])
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", nearly_full)
            with pytest.raises(MeasurementError, match=f"{path}: No space left on device; make room"):
                journal.append(ROWS[1])
        journal.end(END)  # there may be room again; the end must not follow half of a row
    assert load(path).launches == Launches.of_rows(ROWS[:1])
    assert load(path).stop == ["pairs"]


def test_a_row_is_written_whole_even_if_the_system_takes_it_in_pieces(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real(file, data[:7]))
    write(path, ROWS)
    assert load(path).launches == Launches.of_rows(ROWS)


# --- many lines at once


def mixed(count: int) -> bytes:
    """Return a journal with launches of all kinds, and other lines between them."""
    lines = [json.dumps(HEADER.model_dump(mode="json", exclude={"launches", "derived"}))]
    for number in range(count):
        samples = [[[2, 500 + number, None, 3], [2, 400, 390, None]], [], [[1, 7, 6, 0]]][number % 3]
        counters = [[None, [5, 8, 4], None, None, None, None]] if number % 4 == 0 else []
        numbers = row(number // 2, number % 2, signal=9 if number % 7 == 0 else None)[: len(COLUMNS)]
        lines.append(json.dumps([*numbers, samples, *counters]))
        if number % 5 == 4:
            lines.append(json.dumps({"discard": [0, number // 2]}))
    return "\n".join([*lines, json.dumps({"stop": ["pairs"], "seconds": 3})]).encode()


@pytest.mark.parametrize("at_once", [1, 300, 4 << 20])
def test_lines_that_are_read_together_are_those_that_are_read_alone(
    path: Path, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(mixed(40))
    monkeypatch.setattr(journal_module, "_LAUNCH_LINES", re.compile(rb"\Z."))  # matches nothing
    alone = load(path)
    monkeypatch.undo()
    monkeypatch.setattr(journal_module, "_BATCH_BYTES", at_once)
    assert load(path) == alone
    assert len(alone.launches) == 40
    assert len(alone.launches.samples) == 40


def test_what_python_3_11_2_mistakes_is_not_used() -> None:
    """It is that of Debian 12, where journals of more than a batch, and those that end within a line, were damaged."""
    assert re.search(rb"[)}][*+?]?\+", journal_module._LAUNCH_LINES.pattern.replace(b")+", b"", 1)) is None


def test_launches_of_the_first_version_and_later_ones_stand_in_one_journal(path: Path) -> None:
    head, *lines = mixed(2).split(b"\n")
    old = json.dumps(without(row(7, 0)[: len(COLUMNS)], "layout", "lost_ns", "written_blocks")).encode()
    path.write_bytes(b"\n".join([head, old, *lines]))
    assert load(path).launches.rows()[0] == row(7, 0)
    assert len(load(path).launches) == 3


def test_a_line_that_is_none_has_the_others_read_once_more_only(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = []

    def counted(text: bytes) -> Any:
        parsed.append(text)
        return parse(text)

    monkeypatch.setattr(journal_module, "parse", counted)
    head, *_ = mixed(1).split(b"\n")
    path.write_bytes(b"\n".join([head, *[json.dumps(row(number)).encode() for number in range(50)], b"[1 2]", b"[]"]))
    with pytest.raises(UsageError):
        load(path)
    assert len(parsed) == 1 + 1 + 51


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_every_way_to_end_a_line(path: Path, ending: bytes) -> None:
    path.write_bytes(mixed(9))
    whole = load(path)
    path.write_bytes(ending.join(mixed(9).split(b"\n")) + ending)
    assert load(path) == whole


@pytest.mark.parametrize(
    "lines",
    [
        b"[1, 2\n3]",  # one launch on two lines
        b"[1], [2]",
        b"[1]]\n[[2]",
        b"[1, 2], [3\n4]",
        b"[]",
        b"",
        b"[NaN]",
        b"[1e999]",
        b'["1"]',
        b"[[[[1]]]]",
        b"1",
    ],
)
def test_lines_that_are_none_are_refused_among_many(path: Path, lines: bytes) -> None:
    parts = mixed(9).split(b"\n")
    for place in (1, 5, len(parts) - 1):
        path.write_bytes(b"\n".join([*parts[:place], lines, *parts[place:]]))
        with pytest.raises(UsageError):
            load(path)


def test_one_launch_on_two_lines_does_not_make_up_for_two_on_one(path: Path) -> None:
    head, one, two, *rest = mixed(2).split(b"\n")
    half = len(one) // 2
    cut = one.index(b",", half) + 1
    path.write_bytes(b"\n".join([head, one[:cut], one[cut:], one + b", " + two, *rest]))
    with pytest.raises(UsageError):
        load(path)
