"""Catch2, driven for real; STEELYARD_CATCH2 names a folder with another version than the system's, amalgamated."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from steelyard.measure.launch import Launcher
from steelyard.model.errors import LaunchError, SelectionError, VanishedError
from steelyard.model.rows import Sample
from steelyard.subjects.adapters.catch2 import Catch2, Result, results_from
from steelyard.subjects.harness import Listed, Work
from tests import builds
from tests.design.scripted import PLAIN
from tests.in_process import InProcess
from tests.subjects.adapters.driven import SOURCES, Driver, built, folder_of, refused, spec, that_wrote

AWKWARD = 'Sums, and [more] "y" (z) *w\\v größe - ~ / {a} / one'
NAMES = [
    "sums / a thousand",
    'sums / <ten> & "more" größe/日本',
    AWKWARD,
    "-starts oddly / first / one",
    "-starts oddly / second / one",
]


CHANGES = {
    # In Catch2 2 each process first measures its clock for nearly two seconds; here for a hundredth of that.
    "warmup_time = std::chrono::milliseconds(100)": "warmup_time = std::chrono::milliseconds(5)",
    "estimation_time = std::chrono::milliseconds(500)": "estimation_time = std::chrono::milliseconds(5)",
    "estimation_time_limit = std::chrono::seconds(1)": "estimation_time_limit = std::chrono::milliseconds(5)",
    # A quarter of the time to compile it goes into a matcher by regular expressions, which nothing here uses.
    "#include <regex>": "",
    "auto flags = std::regex::ECMAScript;": "int flags = 0;",
    "flags |= std::regex::icase;": "flags = 1;",
    "auto reg = std::regex(m_regex, flags);": "static_cast<void>(flags);",
    "return std::regex_match(matchee, reg);": "return matchee == m_regex;",
}


@pytest.fixture(scope="session")
def suite() -> Path:
    folder = folder_of("STEELYARD_CATCH2")
    words: tuple[str, ...] = (f"-I{folder}", f"{folder}/catch_amalgamated.cpp") if folder else ()
    header = Path("/usr/include/catch2/catch.hpp")
    if folder is None and header.is_file():
        words = (f"-I{quick(header)}",)
    return built("suite", SOURCES / "catch2/suite.cpp", *words, needs="Catch2 (catch2)", level="-O0")


def quick(header: Path) -> Path:
    """Return the folder of a Catch2 that measures its clock for a shorter time, and is compiled in less."""
    text = header.read_text(encoding="utf-8")
    for long, short in CHANGES.items():
        text = text.replace(long, short)

    def make(place: Path) -> None:
        (place / "catch2").mkdir()
        (place / "catch2/catch.hpp").write_text(text, encoding="utf-8")

    return builds.built("catch2-header", make, text)


@pytest.fixture(scope="module")
def driver(suite: Path, launcher: Launcher) -> Driver:
    return Driver(Catch2(), spec(suite, "[fast]"), launcher)


def test_it_lists_what_ran(driver: Driver) -> None:
    assert driver.listed() == [Listed(name, ("!benchmark", "fast")) for name in NAMES]


def test_its_clock_stands_still_while_it_waits(driver: Driver) -> None:
    assert driver.stands_still("sums / a thousand")


@pytest.mark.parametrize("name", [NAMES[1], AWKWARD, NAMES[4]])
def test_the_test_case_of_a_benchmark_runs(driver: Driver, name: str) -> None:
    (sample,) = driver.run(name)
    assert sample.loops % 5 == 0
    assert driver.measured
    (mean,) = [one.sample() for one in results_from(driver.measured.results or b"") if one.name == name]
    assert sample == mean
    assert sample.ns > sample.loops  # the time of all loops: none adds ten numbers in a nanosecond


def test_names_that_differ_in_case_only_are_not_told_apart(suite: Path, launcher: Launcher) -> None:
    with pytest.raises(LaunchError, match='ran "upper", "UPPER" where only "upper" was asked for'):
        Driver(Catch2(), spec(suite), launcher).run("upper / x")


def test_a_name_that_stands_twice(suite: Path, launcher: Launcher) -> None:
    driver = Driver(Catch2(), spec(suite, "[twice]"), launcher)
    assert driver.names() == ["twice / x"]
    with pytest.raises(SelectionError, match='ran "twice / x" 2 times: each benchmark needs a name of its own'):
        driver.run("twice / x", samples=1)


def test_programs_are_recognised(suite: Path) -> None:
    assert Catch2().recognises(spec(suite))
    assert not Catch2().recognises(spec("/bin/sh"))


# --- as the user drives it


def test_tests_that_fail_or_have_no_benchmark(here: InProcess, suite: Path) -> None:
    command = shlex.quote(str(suite))
    words = ("run", "--harness", "catch2", "--launches", "1")
    assert 'says: the test case "fails" fails: ' in here.refuses(*words, f"{command} [fails]", status=3)
    assert "ran no BENCHMARK of Catch2" in here.refuses(*words, f"{command} plain", status=3)
    sentence = here.refuses(*words, f"{command} [fails] --benchmark-samples 2", status=3)
    assert "failed with exit status 255 and says: Unrecognised token: --benchmark-samples" in sentence


def test_two_sides_are_weighed_and_a_failure_stays_alone(here: InProcess, suite: Path) -> None:
    slower = here.folder / "slower"
    shutil.copy(suite, slower)
    sides = (f"{shlex.quote(str(suite))} [!benchmark]", f"{slower} [!benchmark]")
    choice = ("-b", "sums / a*", "-b", "fails later*", "--pairs", "14", "--json", "record.json")
    done = here("compare", "--harness", "catch2", *sides, "--names", "old,new", *choice)
    assert done.status == 3
    assert "old (fails later / x) " in done.err.decode()
    record = here.json()
    assert record["stop"] == ["decided", "failed"]
    assert record["benchmarks"][0]["samples"] == 1
    assert record["benchmarks"][0]["loops"] is None
    (verdict,) = record["derived"]["verdicts"]
    assert (verdict["benchmark"], verdict["verdict"]) == ("sums / a thousand", "slower")
    assert verdict["change"] > 0.5
    assert all(len(samples) == 1 for samples in record["launches"]["samples"])


# --- what else a report may be


def report(*benchmarks: str, test: str = "a") -> str:
    return f'<?xml version="1.0"?><Catch name="x"><TestCase name="{test}">{"".join(benchmarks)}</TestCase></Catch>'


def one(name: str = "b", samples: str = "100", iterations: str = "7", mean: str = "1.5") -> str:
    words = f'name="{name}" samples="{samples}" iterations="{iterations}"'
    return f'<BenchmarkResults {words}><mean value="{mean}"/></BenchmarkResults>'


def answer(text: str) -> tuple[Sample, ...]:
    return Catch2().samples(that_wrote(text), Work("a / b", 1, 1))


def test_a_report() -> None:
    assert answer(report(one("c"), one())) == (Sample(700, 1050),)
    assert answer(report(one(iterations="9", mean="0.001"))) == (Sample(900, 1),)
    assert answer(report(one(mean="2.73108e+06"))) == (Sample(700, 1_911_756_000),)
    failed = '<BenchmarkResults name="b"><failed message="no"/></BenchmarkResults>'
    assert results_from(report(failed)) == [Result("a", "a / b", error="no")]


def test_a_mean_of_nothing_hides_no_benchmark() -> None:
    text = report(one("c", mean="0"), one())
    listing = that_wrote(text)
    assert [listed.name for listed in Catch2().listed(listing)] == ["a / c", "a / b"]
    assert answer(text) == (Sample(700, 1050),)


def test_a_test_without_a_benchmark_may_have_any_name() -> None:
    text = report(one()).replace(
        "</Catch>", '<TestCase name="a&#9;b"/><TestCase><Section name="c"/></TestCase></Catch>'
    )
    assert [found.name for found in results_from(text)] == ["a / b"]
    with pytest.raises(LaunchError, match="lists a benchmark called"):
        results_from(report(one(), test="a&#9;b"))


@pytest.mark.parametrize(("option", "hint"), [("--benchmark-samples", " (steelyard gives"), ("--mine", "")])
def test_words_that_it_refuses_are_told(option: str, hint: str) -> None:
    said = f"\nError(s) in input:\n  Unrecognised token: {option}\n\nRun with -? for usage\n"
    complaint = Catch2().complaint(replace(PLAIN, stderr=said.encode(), exit_code=255))
    assert complaint is not None
    assert complaint.startswith(f"says: Unrecognised token: {option}{hint}")
    assert complaint.endswith(")") is bool(hint)


def test_errors_are_of_their_kind() -> None:
    gone = '<BenchmarkResults name="b"><failed message="maybe it was optimized away"/></BenchmarkResults>'
    for text, kind in (
        (report(gone), VanishedError),
        (report(one(mean="0")), VanishedError),
        (report(one(mean="nan")), LaunchError),
        (report(one("c")), SelectionError),
        (report(one(), one()), SelectionError),
        (report('<BenchmarkResults name="b"><failed message="no"/></BenchmarkResults>'), LaunchError),
    ):
        with pytest.raises(LaunchError) as refused:
            answer(text)
        assert type(refused.value) is kind


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "wrote no XML report"),
        ("garbage", "that is none, or was cut"),
        (report(one())[:-9], "that is none, or was cut"),
        ("<html></html>", "no report of Catch2"),
        ("\x00", "that is none, or was cut"),
        (report(), 'ran no benchmark where "a / b"'),
        (report(one("c")), 'ran "a / c" where only "a / b"'),
        (report(one(), one()), 'ran "a / b" 2 times'),
        (report(one(), test="b"), 'ran "b / b" where only'),
        (report(one(mean="nan")), "a time has to be"),
        (report(one(mean="0")), "optimised away"),
        (report(one(mean="x")), "are no numbers"),
        (report(one(iterations="0")), "a time has to be"),
        (report(one(samples="")), "are no numbers"),
        (report('<BenchmarkResults name="b"><failed message="no"/></BenchmarkResults>'), "says: no"),
        (report('<BenchmarkResults name="b"/>'), "says: the benchmark has no mean"),
        (report("<BenchmarkResults/>"), "lists a benchmark called null"),
    ],
)
def test_what_is_no_answer(text: str, sentence: str) -> None:
    with refused(sentence):
        answer(text)
