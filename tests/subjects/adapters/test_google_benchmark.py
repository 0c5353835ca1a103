"""Google Benchmark, driven for real; STEELYARD_GOOGLE_BENCHMARK names a folder with another version."""

from __future__ import annotations

import json
import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from steelyard.design.runner.target import Target
from steelyard.measure.launch import Launcher
from steelyard.model.errors import LaunchError, SkippedError
from steelyard.model.rows import Sample
from steelyard.subjects.adapters.google_benchmark import GoogleBenchmark, repetitions_of
from steelyard.subjects.harness import Work
from tests.design.scripted import PLAIN
from tests.in_process import InProcess
from tests.subjects.adapters.driven import SOURCES, Driver, built, folder_of, refused, spec, that_wrote

SOURCE = SOURCES / "google_benchmark/suite.cpp"
AWKWARD = 'a b, (c) [d] {e} .*+?^$|\\ "f" größe/日本 -~!'
NAMES = [
    "sum/1000",
    "sum/10000",
    "sum/1000 and more",
    AWKWARD,
    "--benchmark_list_tests=true",
    "template<int, std::pair<long, char>>::operator()",
    "in ms",
    "threads/real_time/threads:2",
    "cpu of the process/process_time",
    "namesake",
    "three times/repeats:3",
    "seven iterations/iterations:7",
    "aggregates/repeats:3",
    "display of aggregates",
    "slow/real_time",
    "manual/manual_time",
    "empty",
    "bad",
]


@pytest.fixture(scope="session")
def suite() -> Path:
    folder = folder_of("STEELYARD_GOOGLE_BENCHMARK")
    where = (f"-I{folder}/include", "-DBENCHMARK_STATIC_DEFINE", f"{folder}/lib.a") if folder else ("-lbenchmark",)
    return built("suite", SOURCE, *where, "-lpthread", needs="Google Benchmark (libbenchmark-dev)")


@pytest.fixture(scope="module")
def driver(suite: Path, launcher: Launcher) -> Driver:
    driver = Driver(GoogleBenchmark(), spec(suite), launcher)
    driver.names()  # the list tells the version
    return driver


# --- driven by hand


def test_it_lists_what_there_is(driver: Driver) -> None:
    assert driver.names() == NAMES


def test_its_clock_stands_still_while_it_waits(driver: Driver) -> None:
    assert driver.stands_still("sum/1000")


@pytest.mark.parametrize("name", NAMES[:7])
def test_exactly_the_one_that_is_asked_for_runs(driver: Driver, name: str) -> None:
    samples = driver.run(name, loops=50)
    assert len(samples) == 2
    if driver.harness.fixes_loops:
        assert {sample.loops for sample in samples} == {50}
    assert all(sample.cpu_ns is not None for sample in samples)


def test_samples_are_the_reports_own_times(driver: Driver) -> None:
    """Equal up to rounding to ns."""
    samples = driver.run("in ms", loops=200, samples=3)
    assert driver.measured
    entries = [
        one for one in json.loads(driver.measured.results or b"")["benchmarks"] if one["run_type"] != "aggregate"
    ]
    assert len(samples) == 3
    for sample, entry in zip(samples, entries, strict=True):
        assert entry["time_unit"] == "ms"
        assert sample.loops == entry["iterations"]
        assert sample.ns / sample.loops == pytest.approx(entry["real_time"] * 1e6, abs=1 / sample.loops)
        assert sample.cpu_ns == pytest.approx(entry["cpu_time"] * 1e6 * sample.loops, abs=1)


def test_samples_are_short_where_loops_cannot_be_fixed(driver: Driver) -> None:
    samples = driver.run("sum/1000", loops=1, samples=4)
    assert len(samples) == 4
    assert len({sample.loops for sample in samples}) == 1
    assert all(500_000 < sample.ns < 20_000_000 for sample in samples)


def test_one_long_iteration_is_a_sample(driver: Driver) -> None:
    assert [sample.loops for sample in driver.run("slow/real_time", loops=1)] == [1, 1]


def test_numbers_that_the_code_fixes(driver: Driver) -> None:
    assert len(driver.run("three times/repeats:3", loops=1, samples=2)) == 3
    assert [sample.loops for sample in driver.run("seven iterations/iterations:7", samples=2)] == [7, 7]
    assert len(driver.run("display of aggregates", samples=3)) == 3


def test_a_name_that_several_have_is_an_error_of_its_own(driver: Driver) -> None:
    with pytest.raises(LaunchError, match='ran 2 benchmarks that are all called "namesake": no filter can tell them'):
        driver.run("namesake", loops=100)


def test_threads_and_manual_time(driver: Driver) -> None:
    assert all(sample.loops % 2 == 0 for sample in driver.run("threads/real_time/threads:2", loops=100))
    manual = driver.run("manual/manual_time", loops=100)
    assert {(sample.cpu_ns, sample.ns / sample.loops) for sample in manual} == {(None, 500.0)}


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("bad", 'says: the "file" is not there'),
        ("aggregates/repeats:3", "reports aggregates of its repetitions only"),
        ("sum/1", 'ran no benchmark where "sum/1" was asked for'),
        ("empty", "the compiler removed its body"),
    ],
)
def test_what_has_no_samples(driver: Driver, name: str, sentence: str) -> None:
    with pytest.raises(LaunchError, match=sentence.replace("(", "\\(")):
        driver.run(name)


def test_programs_are_recognised(suite: Path) -> None:
    assert GoogleBenchmark().recognises(spec(suite))
    for other in ("/bin/sh", "/missing", "/"):
        assert not GoogleBenchmark().recognises(spec(other))


@pytest.mark.parametrize(
    ("complaint", "loops", "amount"),
    [
        (b"", 5000, b"5000x"),
        (b"", 1, b"0.001"),
        (
            b'Environment variable BENCHMARK_MIN_TIME is expected to be a double, but actually has value "1x".\n',
            9,
            b"0.009",
        ),
    ],
    ids=["new", "one", "old"],
)
def test_iterations_are_fixed_where_that_is_understood(complaint: bytes, loops: int, amount: bytes) -> None:
    harness = GoogleBenchmark()
    harness.listed(replace(PLAIN, stdout=b"a\n", stdout_bytes=2, stderr=complaint))
    words = harness.running(spec("./bench", "--mine"), Work("a.b", loops, 3)).argv
    assert words[:3] == (b"./bench", b"--mine", b"--benchmark_filter=^a\\.b$")
    assert b"--benchmark_min_time=" + amount in words
    assert b"--benchmark_repetitions=3" in words


def test_iterations_are_not_fixed_where_no_variable_tells(tmp_path: Path) -> None:
    old = tmp_path / "bench"
    old.write_bytes(b"... [--benchmark_min_time=<min_time>]\n ...")
    harness = GoogleBenchmark()
    harness.listing(spec(old))
    assert b"--benchmark_min_time=0.009" in harness.running(spec(old), Work("a.b", 9, 3)).argv


# --- as the user drives it


def compare(here: InProcess, *words: str | Path) -> dict[str, Any]:
    """Weigh by few pairs, of which one benchmark must fail; return the verdicts by benchmark."""
    limits = ("--pairs", "16", "--metric", "cpu", "--json", "record.json")
    done = here("compare", "--harness", "google-benchmark", *words, "--names", "old,new", *limits)
    assert done.status == 3, done
    return {one["benchmark"]: one["verdict"] for one in here.json()["derived"]["verdicts"]}


def test_a_planted_change_is_seen_and_a_failure_stays_alone(here: InProcess, suite: Path) -> None:
    slower = here.folder / "slower"
    shutil.copy(suite, slower)
    commands = (shlex.quote(str(suite)), f"{shlex.quote(str(slower))} --benchmark_min_time=5")
    verdicts = compare(here, *commands, "-b", "sum/1000", "-b", "bad", "-b", "empty", "-b", "man*")
    assert verdicts["sum/1000"] == "slower"
    record = here.json()
    assert dict(zip([one["name"] for one in record["benchmarks"]], record["stop"], strict=True)).items() >= {
        ("bad", "failed"),
        ("empty", "failed"),
        ("manual/manual_time", "failed"),
    }
    failures = [one["message"] for one in record["findings"] if one["code"] == "failed"]
    assert any(message.startswith('old (bad) says: the "file" is not there') for message in failures)


def test_a_program_of_another_kind(here: InProcess) -> None:
    sentence = here.refuses("compare", "--harness", "google-benchmark", "true", "true", status=3)
    assert "lists no benchmark" in sentence


# --- what else a report may be


ENTRY = {"name": "a", "run_name": "a", "run_type": "iteration", "iterations": 10, "real_time": 2.5, "time_unit": "us"}


def report(*entries: Any) -> str:
    return json.dumps({"context": {}, "benchmarks": entries})


def answer(text: str, *names: str) -> tuple[Sample, ...]:
    return GoogleBenchmark().samples(that_wrote(text), Work("a", 10, len(names) or 1))


@pytest.mark.parametrize(
    ("entry", "sample"),
    [
        ({}, Sample(10, 25_000)),
        ({"cpu_time": 2}, Sample(10, 25_000, 20_000)),
        ({"cpu_time": float("nan")}, Sample(10, 25_000)),
        ({"time_unit": "s", "real_time": 1e-3}, Sample(10, 10_000_000)),
        ({"time_unit": "ns", "real_time": 0.31, "iterations": 10**7}, Sample(10**7, 3_100_000)),
        ({"run_name": None}, None),
        ({"time_unit": "fortnights"}, None),
        ({"real_time": 0}, None),
        ({"real_time": -1}, None),
        ({"real_time": float("nan")}, None),
        ({"real_time": float("inf")}, None),
        ({"real_time": "2"}, None),
        ({"real_time": True}, None),
        ({"real_time": None}, None),
        ({"iterations": 0}, None),
        ({"iterations": 2.5}, None),
        ({"iterations": 10**13, "real_time": 1e-17}, None),
    ],
)
def test_an_entry(entry: dict[str, Any], sample: Sample | None) -> None:
    text = report(ENTRY | entry, {"name": "a_mean", "run_type": "aggregate"})
    if sample is not None:
        assert answer(text) == (sample,)
        return
    with refused():
        answer(text)


@pytest.mark.parametrize(("message", "reason"), [("no GPU", "it skipped itself: no GPU"), ("", "it skipped itself")])
def test_one_that_skips_itself_gives_its_reason(message: str, reason: str) -> None:
    work = Work("a", 10, 1)
    target = Target("old (a)", spec("old"), 0, None, GoogleBenchmark(), work)
    measured = replace(PLAIN, results=report({"name": "a", "skipped": True, "skip_message": message}).encode())
    with pytest.raises(SkippedError, match=rf"old \(a\) says: {reason}") as skipped:
        target.samples(measured)
    assert skipped.value.reason == reason


@pytest.mark.parametrize("name", ["iterations", "real_time", "cpu_time", "repetitions", "skipped", "error_occurred"])
def test_a_counter_with_the_name_of_a_field_changes_nothing(name: str) -> None:
    text = report(ENTRY | {"repetitions": 1, "cpu_time": 2, "COUNTER": 5.0}).replace("COUNTER", name)
    assert repetitions_of(text) == repetitions_of(report(ENTRY | {"repetitions": 1, "cpu_time": 2}))


def test_a_label_may_have_control_characters_that_old_versions_do_not_escape() -> None:
    text = report(ENTRY | {"label": "LABEL"})
    assert repetitions_of(text.replace("LABEL", "\x1b[1mbold\x1b[0m")) == repetitions_of(text)


def test_reports_of_old_versions_tell_aggregates_by_their_names_alone() -> None:
    entry = {"iterations": 10, "real_time": 2, "cpu_time": 2, "time_unit": "ns"}
    names = ["a", "a", "a_mean", "a_median", "a_stddev", "geometric_mean"]
    found = repetitions_of(report(*({"name": name, **entry} for name in names)))
    assert [one.name for one in found] == ["a", "a", "geometric_mean"]


def test_reports_of_old_versions_have_no_kinds_of_runs() -> None:
    (one,) = repetitions_of(report({"name": "a", "iterations": 10, "real_time": 2, "cpu_time": 2, "time_unit": "ns"}))
    assert (one.name, one.repetitions, one.sample) == ("a", None, Sample(10, 20, 20))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "{",
        "[]",
        "{}",
        '{"benchmarks": 5}',
        '{"benchmarks": [5]}',
        report(ENTRY)[:-20],
        "\x00\xff",
        "[" * 9999,
    ],
)
def test_what_is_no_report(text: str) -> None:
    with refused():
        repetitions_of(text)


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ([], "ran no benchmark"),
        ([ENTRY | {"run_name": "b"}], 'ran "b" where only "a" was asked for'),
        ([ENTRY, ENTRY | {"run_name": "b"}], 'ran "a", "b" where only "a"'),
        ([ENTRY, ENTRY], 'ran 2 benchmarks that are all called "a"'),
        ([ENTRY | {"repetitions": 3}] * 2, "gave 2 samples where 3 were asked for"),
    ],
)
def test_results_that_were_not_asked_for(entries: list[Any], sentence: str) -> None:
    with pytest.raises(LaunchError, match=sentence):
        answer(report(*entries))


def test_a_check_says_by_its_rules_what_is_wrong(here: InProcess, suite: Path) -> None:
    words = ("-b", "empty", "-b", "bad", "-b", "namesake", "--json", "found.json")
    done = here("check", "--harness", "google-benchmark", str(suite), *words)
    assert done.status == 1, done
    looked = here.json("found.json")["looked"]
    found = {(one["benchmark"], one["code"]) for one in looked if one["outcome"] == "trouble"}
    assert found == {("empty", "optimised-away"), ("bad", "does-not-run"), ("namesake", "name")}


# --- what is processed


def reported(name: str = "copy", **more: Any) -> bytes:
    one = {"name": name, "run_name": name, "iterations": 10, "real_time": 50.0, "cpu_time": 40.0, "time_unit": "ns"}
    return json.dumps({"benchmarks": [{**one, **more}]}).encode()


def test_the_bytes_and_items_of_an_iteration_come_from_the_rates_of_the_clock_that_decides() -> None:
    rates: dict[str, Any] = {"bytes_per_second": 1.024e11, "items_per_second": 1.75e8}
    (by_processor,) = repetitions_of(reported(**rates))
    assert by_processor.processed == {"bytes": 4096.0, "items": 7.0}
    (by_clock,) = repetitions_of(reported("copy/real_time", **rates))
    assert by_clock.processed["bytes"] == 5120
    (in_ms,) = repetitions_of(reported(**rates, time_unit="us"))
    assert in_ms.processed["bytes"] == 4_096_000


@pytest.mark.parametrize("told", [True, "fast", [1], None, -1.0, 0.0, float("inf"), float("nan")])
def test_a_rate_that_is_none_is_left_out(told: Any) -> None:
    (one,) = repetitions_of(reported(bytes_per_second=told))
    assert one.processed == {}


def test_a_rate_may_be_a_whole_number_of_any_size() -> None:
    (one,) = repetitions_of(reported(bytes_per_second=10**30))
    assert one.processed == {"bytes": 4e22}
