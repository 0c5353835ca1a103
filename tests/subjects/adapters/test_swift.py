"""Swift's Benchmark_O: transcripts of its versions, and a program that answers as it does (tests/adapters/swift)."""

from __future__ import annotations

import shlex
import sys

import pytest

from steelyard.measure.launch import Launcher
from steelyard.model.errors import LaunchError
from steelyard.model.rows import Sample
from steelyard.subjects.adapters.swift import Swift, listed_in, results_in
from steelyard.subjects.harness import Work
from tests.in_process import InProcess
from tests.subjects.adapters.driven import SOURCES, Driver, spec, that_printed

FOLDER = SOURCES / "swift"
PROGRAM = FOLDER / "Benchmark_O"
WORDS = (sys.executable, "-IS", str(PROGRAM))
NAMES = ["AngryPhonebook", "Array.append.Int?", "Garbage", "Missing", "Short", "Traps"]
TODAY = (FOLDER / "run-3.txt").read_text()


@pytest.fixture(scope="module")
def driver(launcher: Launcher) -> Driver:
    return Driver(Swift(), spec(*WORDS), launcher)


def taken(text: str, name: str = "AngryPhonebook", loops: int = 40, samples: int = 3) -> tuple[Sample, ...]:
    """Return the samples in a transcript."""
    return Swift().samples(that_printed(text), Work(name, loops, samples))


@pytest.mark.parametrize(
    ("number", "names", "tags"),
    [
        (1, ["Ackermann", "AngryPhonebook", "Array2D"], ()),
        (2, ["AngryPhonebook", "Array.append.Array.Int?", "ArrayAppend"], ("String", "api", "validation")),
        (
            3,
            ["AngryPhonebook", "AngryPhonebook.ASCII2.Small", "Array.append.Array.Int?", "Array2D"],
            ("String", "api", "validation"),
        ),
    ],
)
def test_lists_of_three_ages(number: int, names: list[str], tags: tuple[str, ...]) -> None:
    found = list(listed_in((FOLDER / f"list-{number}.txt").read_text()))
    assert [one.name for one in found] == names
    assert found[0].tags == tags


def test_samples_of_today() -> None:
    assert taken(TODAY) == (Sample(40, 1_485_000), Sample(40, 1_442_000), Sample(40, 1_440_000))


def test_samples_of_the_oldest_driver() -> None:
    found = taken((FOLDER / "run-1.txt").read_text(), "Array2D", loops=7)
    assert [sample.ns for sample in found] == [7 * 7_488_000, 7 * 7_402_000, 7 * 7_410_000]


def test_what_a_benchmark_prints_is_passed_over() -> None:
    noisy = TODAY.replace("    Sample 1", "hello\nSample 9,1\n\n    Sample of mine\n    Sample 1")
    assert taken(noisy) == taken(TODAY)
    assert results_in("") == []


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("    Sample 2,36.0\n", "", "gave 2 samples where 3 were asked for"),
        ("36.0\n", "36.0\n    Sample 3,36.0\n", "gave 4 samples where 3"),
        ("Sample 1,", "Sample 2,", "gave sample 2 where 1 was due"),
        ("scale 40", "scale 41", "ran 41 iterations a sample where 40 were asked for"),
        ("36.05", "0.0", "gave a sample that took 0.0 ns"),
        ("36.05", "nan", "gave a sample that took NaN ns"),
        ("36.05", "-36.05", "gave a sample that took -"),
        ("36.05", "36", "told 36 µs of an iteration: this version of its driver tells whole µs only"),
        ("36.05", "fast", "gave a sample that took 'fast' µs: that is no number"),
        ("Running AngryPhonebook", "Running Other", 'ran "Other" where only "AngryPhonebook" was asked for'),
        ("Running AngryPhonebook", "Running Other\nRunning AngryPhonebook", 'ran "Other", "AngryPhonebook" where only'),
        ("Running AngryPhonebook\n", "", 'ran no benchmark where "AngryPhonebook" was asked for'),
        ("Running AngryPhonebook", "Skipping unsupported benchmark AngryPhonebook!", "does not support"),
        (TODAY[TODAY.index("    Sample 1") :], "", "gave 1 sample where 3 were asked for"),
        (TODAY, TODAY * 2, 'ran "AngryPhonebook" more than once'),
        (TODAY, "", "ran no benchmark"),
        (TODAY, "\ufffd\x00garbage", "ran no benchmark"),
    ],
)
def test_answers_that_are_none(old: str, new: str, says: str) -> None:
    assert old in TODAY
    with pytest.raises(LaunchError) as caught:
        taken(TODAY.replace(old, new, 1))
    assert str(caught.value).startswith(says)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "wrote no list of Swift's benchmarks, but ''"),
        ("hello", "wrote no list of Swift's benchmarks, but 'hello'"),
        ("# Test [Tags]\n1 A []\n2 B", "lists '2 B': a line has to be"),
        ("# Test [Tags]\n1 A []\nwarning: b", "lists 'warning: b'"),
    ],
)
def test_lists_that_are_none(text: str, says: str) -> None:
    with pytest.raises(LaunchError) as caught:
        list(listed_in(text))
    assert str(caught.value).startswith(says)


# --- a program that speaks as it does


def test_it_is_recognised() -> None:
    assert Swift().recognises(spec(PROGRAM))
    assert not Swift().recognises(spec("/bin/sh"))


def test_a_short_benchmark_is_tried_with_more_loops(here: InProcess) -> None:
    words = ("run", "--harness", "swift", shlex.join(WORDS), "-b", "Short", "--launches", "2", "--json", "record.json")
    assert here(*words).status == 0
    (benchmark,) = here.json()["benchmarks"]
    assert benchmark["loops"] > 1000


def test_exactly_one_runs_as_often_as_asked(driver: Driver) -> None:
    assert driver.names() == NAMES
    for name, loops, samples in (("Array.append.Int?", 100, 4), ("AngryPhonebook", 1, 1)):
        found = driver.run(name, loops, samples)
        assert [sample.loops for sample in found] == [loops] * samples
    assert driver.run("Short", loops=1, samples=1)[0].ns == 500  # printed as 0 µs, and so tried with more loops


def test_a_planted_slowdown_and_what_fails(here: InProcess) -> None:
    old, new = shlex.join(WORDS), shlex.join(["env", "SLOW=AngryPhonebook", *WORDS])
    files = ("--names", "old,new", "--json", "record.json", "--pairs", "12")
    chosen = ("-b", "AngryPhonebook", "-b", "Garbage", "-b", "Missing", "-b", "Traps")
    done = here("compare", "--harness", "swift", old, new, *files, *chosen)
    assert done.status == 3
    record = here.json()
    found = {one["benchmark"]: one["verdict"] for one in record["derived"]["verdicts"]}
    assert found == {"AngryPhonebook": "slower"}
    text = " ".join(done.text.split())
    assert "old (Garbage) gave a sample that took 'nothing' µs" in text
    assert 'old (Missing) does not support "Missing" on this platform' in text
    assert "old (Traps) failed with exit status 1 (its last words: Fatal error: Index out of range)" in text
