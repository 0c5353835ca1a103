"""Results of the real tools are read; anything else is refused with one sentence."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.design.conversion import convert_files
from steelyard.model.errors import UsageError
from steelyard.model.foreign import ForeignFile, ForeignResults
from steelyard.model.structs import validated
from steelyard.model.throughput import Processed
from tests.foreign import CREATED, fields_in_file
from tests.subjects.formats import recorded


def converted(path: Path, **options: Any) -> ForeignResults:
    """Return the results that a file has."""
    return convert_files([path], **options, created=CREATED)


def shapes(record: ForeignResults) -> dict[str, list[int]]:
    """Return how many samples each process has, by benchmark."""
    return {benchmark.name: [len(values) for values in benchmark.values] for benchmark in record.benchmarks}


Save = Callable[[Any], Path]


@pytest.fixture
def saved(tmp_path: Path) -> Save:
    """Return a function that saves a file: text as it is, anything else as JSON."""

    def save(contents: Any) -> Path:
        file = tmp_path / "file"
        file.write_text(contents if isinstance(contents, str) else json.dumps(contents))
        return file

    return save


def refusal(path: Path, **options: Any) -> str:
    """Return the sentence with which a file is refused."""
    with pytest.raises(UsageError) as caught:
        converted(path, **options)
    said = str(caught.value)
    assert "\n" not in said
    return said


EXPECTED = {
    "google-benchmark": ({"sum/1000": [3], "in ms": [3]}, "ns", None),
    "pyperf": ({"sum": [2] * 4, "sorted": [2] * 4}, "s", "2.10.0"),
    "hyperfine": ({name: [1] * 4 for name in ("sleep 0.01", "true:n=1", "sleep 0.02", "true:n=2")}, "s", None),
    "pytest-benchmark": ({f"bench/test_sums.py::test_sum[{n}]": [8] for n in (10, 100)}, "s", "5.3.1"),
    "criterion": ({"group/flat/1000": [10], "sum": [10]}, "ns", None),
    "go": (
        {
            f"example.org/demo{package}.Benchmark{name}-2": [4]
            for package in ("", "/inner")
            for name in ("Join", "Sub/a=1", "Sub/b_2")
        },
        "ns/op",
        None,
    ),
    "jmh": ({f"bench.Sums.sum:n={n} [thrpt]": [4] * 3 for n in (1000, 4000)}, "ops/ms", "1.37"),
    "swift": ({"AngryPhonebook": [3]}, "us", None),
}


@pytest.mark.parametrize("name", recorded.ALL)
def test_each_format_is_recognised_and_read(name: str) -> None:
    record = converted(recorded.ALL[name])
    expected, unit, version = EXPECTED[name]
    assert (record.provenance.format, record.provenance.version) == (name, version)
    assert shapes(record) == expected
    assert {benchmark.unit for benchmark in record.benchmarks} == {unit}
    assert {benchmark.higher_is_better for benchmark in record.benchmarks} == {name == "jmh"}
    assert all(len(file.sha256) == 64 for file in record.provenance.files)
    assert all((benchmark.seconds or 0) > 0 for benchmark in record.benchmarks)
    assert converted(recorded.ALL[name], name=name).benchmarks == record.benchmarks


@pytest.mark.parametrize("name", ["pyperf", "criterion"])
def test_a_file_is_named_with_its_hash_where_there_can_be_threads_and_where_not(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read() -> list[ForeignFile]:
        return converted(recorded.ALL[name]).provenance.files

    with_threads = read()
    assert all(file.sha256 == sha256(Path(file.name).read_bytes()).hexdigest() for file in with_threads)
    monkeypatch.setattr("steelyard.subjects.formats.recognise.Thread.start", refuse)
    assert read() == with_threads


def refuse(thread: object) -> None:
    raise RuntimeError(f"can't start new thread {thread}")


def test_the_values_are_those_of_the_file() -> None:
    def first(path: Path) -> float:
        return converted(path).benchmarks[0].values[0][0]

    def told(path: Path) -> Any:
        return json.loads(path.read_bytes())

    google = told(recorded.GOOGLE_BENCHMARK)["benchmarks"][0]
    assert first(recorded.GOOGLE_BENCHMARK) == pytest.approx(google["real_time"], rel=1e-3)
    assert first(recorded.PYPERF) == told(recorded.PYPERF)["benchmarks"][0]["runs"][1]["values"][0]
    assert first(recorded.HYPERFINE) == told(recorded.HYPERFINE)["results"][0]["times"][0]
    assert first(recorded.PYTEST_BENCHMARK) == told(recorded.PYTEST_BENCHMARK)["benchmarks"][0]["stats"]["data"][0]
    assert first(recorded.JMH) == told(recorded.JMH)[0]["primaryMetric"]["rawData"][0][0]
    sample = told(recorded.CRITERION / "sum" / "new" / "sample.json")
    assert first(recorded.CRITERION / "sum") == pytest.approx(sample["times"][0] / sample["iters"][0])
    assert first(recorded.GO) == 546.2
    assert first(recorded.SWIFT_LOG) == 37.125


def test_the_median_agrees_with_the_tool_s_own() -> None:
    told = json.loads(recorded.HYPERFINE.read_bytes())["results"]
    for benchmark, one in zip(converted(recorded.HYPERFINE).benchmarks, told, strict=True):
        values = sorted(value for (value,) in benchmark.values)
        assert (values[1] + values[2]) / 2 == pytest.approx(one["median"])
        assert benchmark.seconds == pytest.approx(sum(one["times"]))


def test_the_machine_is_as_the_file_describes_it() -> None:
    assert converted(recorded.PYPERF).machine["processor"] == "AMD EPYC"
    assert converted(recorded.PYTEST_BENCHMARK).machine["cores"] == "2"
    assert converted(recorded.JMH).machine["jdk"] == "17.0.15"
    assert converted(recorded.GO).machine == {"system": "linux/amd64", "processor": "AMD EPYC"}
    assert converted(recorded.HYPERFINE).machine == {}


def test_jmh_s_modes_are_benchmarks_of_their_own() -> None:
    path = recorded.FOLDER / "jmh-1.37-all-modes.json"
    (left_out,) = converted(path).findings
    assert left_out.code == "left-out"
    assert "keeps a histogram" in left_out.message
    assert "keeps a histogram" in refusal(path, patterns=["*[[]sample]"])
    record = converted(path, patterns=["*n=1000", "*[[]thrpt]", "*[[]ss]"])
    found = {one.name.rpartition("1000")[2]: (one.unit, one.higher_is_better) for one in record.benchmarks}
    assert found == {" [thrpt]": ("ops/us", True), "": ("us/op", False), " [ss]": ("us/op", False)}
    assert record.benchmarks[0].params == {"n": "1000"}


def test_failures_are_never_numbers() -> None:
    failed = recorded.FOLDER / "google-benchmark-1.7-error.json"
    assert "it failed (" in refusal(failed, patterns=["bad"])
    assert "optimised away" in refusal(failed, patterns=["empty"])
    assert shapes(converted(failed, patterns=["sum*"])) == {"sum/1000": [2]}
    others = converted(failed, patterns=["!empty"])
    assert set(shapes(others)) == {"sum/1000", "three times/repeats:3"}
    messages = [finding.message for finding in others.findings if finding.code == "left-out"]
    assert any(message.startswith("bad left out: it failed (") for message in messages)
    without = converted(failed, patterns=["!empty", "!bad"])
    assert not any(finding.message.startswith("bad ") for finding in without.findings)
    assert "leaves out all" in refusal(failed, patterns=["!*"])
    assert "'!none' fits none of the files' benchmarks" in refusal(failed, patterns=["!none"])
    assert "aggregates" in refusal(recorded.FOLDER / "google-benchmark-1.7-aggregates.json")
    ignored = converted(recorded.FOLDER / "hyperfine-1.15-ignored-failure.json")
    assert "3 launches" in ignored.findings[0].message


def test_a_name_of_hyperfine_that_has_the_values_by_chance_is_told_apart_by_them(saved: Save) -> None:
    results = [{"command": "fib10", "times": [0.1], "parameters": {"n": value}} for value in ("1", "10")]
    assert list(shapes(converted(saved({"results": results})))) == ["fib10:n=1", "fib10:n=10"]


def test_what_is_said_of_a_benchmark_is_left_out_with_it(saved: Save) -> None:
    failed = {"command": "bad", "times": [0.1], "exit_codes": [1]}
    good = {"command": "good", "times": [0.2], "exit_codes": [0]}
    path = saved({"results": [failed, good]})
    assert [finding.code for finding in converted(path).findings] == ["failed"]
    assert converted(path, patterns=["good"]).findings == []


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("google-benchmark", 'it has "sum/1000" 2 times, and a name has to tell which'),
        ("pyperf", 'the program wrote "sum" twice: each benchmark needs a name of its own'),
        ("pytest-benchmark", 'it has "bench/test_sums.py::test_sum[10]" 2 times, and a name has to tell which'),
        ("jmh", 'it has "bench.Sums.sum:n=1000 [thrpt]" 2 times, and a name has to tell which'),
    ],
)
def test_two_benchmarks_of_one_name(saved: Save, name: str, says: str) -> None:
    told = json.loads(recorded.ALL[name].read_bytes())
    entries = told if isinstance(told, list) else told["benchmarks"]
    entries += entries[:1]
    assert says in refusal(saved(told))


def test_a_name_that_google_benchmark_lists_twice_can_be_left_out(saved: Save) -> None:
    told = json.loads(recorded.GOOGLE_BENCHMARK.read_bytes())
    twice = told["benchmarks"][0]["run_name"]
    told["benchmarks"] += [entry for entry in told["benchmarks"] if entry["run_name"] == twice]
    path = saved(told)
    assert "2 times" in refusal(path)
    assert twice not in shapes(converted(path, patterns=[f"!{twice}"]))


def test_criterion_s_folders(tmp_path: Path) -> None:
    flat = recorded.CRITERION / "group" / "flat" / "1000"
    for path in (flat, flat / "new", flat / "new" / "sample.json", flat / "new" / "benchmark.json"):
        record = converted(path)
        assert list(shapes(record)) == ["group/flat/1000"]
        assert record.benchmarks[0].params == {"value": "1000"}
    assert "no new/sample.json" in refusal(tmp_path)
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "sample.json").write_text('{"iters": [1.0], "times": [5.0]}')
    assert "benchmark.json" in refusal(tmp_path)
    assert "give its folder" in refusal(recorded.HYPERFINE, name="criterion")


def test_gzip_and_other_encodings(tmp_path: Path) -> None:
    text = recorded.HYPERFINE.read_text()
    for name, data in (
        ("a.gz", gzip.compress(text.encode())),
        ("b", text.encode("utf-16")),
        ("c", text.encode("utf-8-sig")),
    ):
        (tmp_path / name).write_bytes(data)
        assert len(converted(tmp_path / name).benchmarks) == 4


# --- Go's and Swift's texts may hold several processes


def test_a_file_that_several_processes_of_go_appended_to(saved: Save) -> None:
    text = recorded.GO.read_text() * 3
    record = converted(saved(text))
    assert set(map(tuple, shapes(record).values())) == {(4, 4, 4)}
    assert record.findings == []
    record = converted(saved("".join(line for line in text.splitlines(True) if line.startswith("Benchmark"))))
    assert shapes(record)["BenchmarkJoin-2"] == [24]
    assert record.findings[0].message.startswith("no PASS stands after BenchmarkSub/b_2-2: ")


def test_what_a_program_of_go_prints_around_its_benchmarks_is_no_process_that_was_cut(saved: Save) -> None:
    whole = "setup\n" + recorded.GO.read_text().replace("PASS\n", "PASS\nteardown\ncoverage: 50.0% of statements\n")
    assert converted(saved(whole)).findings == []
    (finding,) = converted(saved(f"{whole}goos: linux\npkg: example.com/other\nBenchmarkA\n")).findings
    assert finding.message.startswith("no PASS stands after the beginning of example.com/other: ")


def test_go_s_failed_benchmark_is_left_out(saved: Save) -> None:
    failed = "--- FAIL: BenchmarkJoin-2\n    b_test.go:3: no\nFAIL"
    record = converted(saved(recorded.GO.read_text().replace("PASS", failed)))
    assert "left-out" in [finding.code for finding in record.findings]
    assert "it says FAIL" in " ".join(finding.message for finding in record.findings)


@pytest.mark.parametrize("line", ["     100\t         3.0 widgets", " 100 1,5 ns/op"])
def test_go_s_benchmark_without_a_time_is_left_out_with_a_note(saved: Save, line: str) -> None:
    said = f"BenchmarkOwn-2\t{line}\nBenchmarking 10 of them\n"
    record = converted(saved(recorded.GO.read_text().replace("PASS", f"{said}PASS")))
    assert len(record.benchmarks) == len(converted(recorded.GO).benchmarks)
    (finding,) = record.findings
    assert finding.message.endswith("BenchmarkOwn-2 left out: it tells no time (ns/op), or none that is a number")


def test_google_benchmark_s_fit_of_complexity_is_no_benchmark_that_was_left_out(saved: Save) -> None:
    entry = {"name": "a/8", "run_type": "iteration", "iterations": 1, "time_unit": "ns", "real_time": 3.0}
    fits = [{"run_name": "a", "run_type": "aggregate", "aggregate_name": name, "rms": 0.1} for name in ("BigO", "RMS")]
    assert converted(saved({"context": {}, "benchmarks": [entry, *fits]})).findings == []


def test_google_benchmark_tells_parts_of_a_ns(saved: Save) -> None:
    entry = {"name": "a", "run_type": "iteration", "iterations": 1, "time_unit": "ns"}
    (one,) = converted(saved({"context": {}, "benchmarks": [{**entry, "real_time": 12.34}]})).benchmarks
    assert [list(values) for values in one.values] == [[12.34]]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("PASS", "panic: no\n\ngoroutine 1 [running]:", "panic: no"),
        (
            "cpu: AMD EPYC\nBenchmarkJoin-2   \t     200\t       322.1",
            "cpu: other\nBenchmarkJoin-2 \t 200\t 3.1",
            "machines",
        ),
    ],
)
def test_go_that_cannot_be_trusted(saved: Save, old: str, new: str, says: str) -> None:
    assert old in recorded.GO.read_text()
    assert says in refusal(saved(recorded.GO.read_text().replace(old, new)))


@pytest.mark.parametrize("time", ["NaN", "0", "-3"])
def test_go_s_benchmark_with_a_time_that_is_none_is_left_out(saved: Save, time: str) -> None:
    (finding,) = converted(saved(recorded.GO.read_text().replace("546.2 ns/op", f"{time} ns/op"))).findings
    assert "BenchmarkJoin-2 left out: it has the value" in finding.message


def test_statistics_of_pytest_benchmark_without_rounds(saved: Save) -> None:
    report = json.loads(recorded.PYTEST_BENCHMARK.read_text())
    for one in report["benchmarks"]:
        del one["stats"]["data"]
    path = saved(report)
    said = refusal(path)
    assert said.startswith(f"cannot import {path} as pytest-benchmark: it has statistics alone")
    assert "--benchmark-json=FILE or, when it saves, --benchmark-save-data" in said


def test_logs_of_swift(saved: Save) -> None:
    body = recorded.SWIFT_LOG.read_text()
    assert shapes(converted(saved(body * 2))) == {"AngryPhonebook": [3, 3]}
    assert shapes(converted(recorded.SWIFT / "run-1.txt")) == {"Array2D": [3]}
    twice = body.replace("Total performance tests executed: 1", body.partition("--- DATA ---")[2])
    assert "2 times in one process" in refusal(saved(twice))


# --- what is none, or was damaged


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"{", "cut"),
        (b"[" * 100_000, "cut"),
        (b"{}", "none of the formats"),
        (b"[]", "none of the formats"),
        (b"null", "none of the formats"),
        (b'{"benchmarks": []}', "none of the formats"),
        (b'{"context": {}, "benchmarks": []}', "no benchmark"),
        (b'{"results": [{"command": "true"}]}', "not the times"),
        (b'{"results": [{"command": "true", "times": []}]}', "no value"),
        (b'{"results": [{"command": "", "times": [1]}]}', "no name"),
        (b'{"results": [{"command": "\\ud800", "times": [1]}]}', "no name"),
        (b'{"results": [{"command": "a", "times": [1], "exit_codes": [null]}]}', "signal"),
        (b'{"results": [{"command": "a", "times": [1]}, {"command": "a", "times": [1]}]}', "2 times"),
        (b'{"results": [{"command": "a", "times": [1%s]}]}' % (b"0" * 5000), "cut, or no JSON"),
        (b'{"results": [{"command": "a", "times": [1%s]}]}' % (b"0" * 400), "above 0"),
        (b'{"format": "steelyard", "version": 2}', "steelyard show"),
        (b"\x00\x01\xff\xfe garbage", "none of the formats"),
        (b"\x1f\x8b broken", "gzip"),
        (b"BenchmarkX 10 5", "none of the formats"),
        (b"command,mean,stddev,median,user,system,min,max\n", "give what --export-json writes"),
        (b"| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |\n", "give what --export-json writes"),
        (b'{"Time":"2026-11-27T13:50:39Z","Action":"start","Package":"a"}\n{}', "give it without -json"),
        (b'{"Action":"start","Package":"a"}\n', "give it without -json"),
        (b"name,iterations,real_time,cpu_time,time_unit,", "give what --benchmark_out_format=json writes"),
        (b'"Benchmark","Mode","Threads","Samples","Score"', "give what -rf json writes"),
    ],
    ids=lambda value: repr(value[:40]),
)
def test_what_is_no_result(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    assert says in refusal(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (name, value)
        for name in ("hyperfine", "pyperf", "pytest-benchmark", "jmh", "google-benchmark")
        for value in (float("nan"), float("inf"), 0, -1, 1e-12, True, None, "1.0", [1], 10**400)
        if (name, value) != ("jmh", 1e-12)  # a valid throughput
    ],
    ids=lambda item: repr(item)[:20],
)
def test_a_benchmark_with_a_value_that_is_no_result_is_left_out(saved: Save, name: str, value: object) -> None:
    told = json.loads(recorded.ALL[name].read_bytes())
    plant: dict[str, Callable[[], None]] = {
        "hyperfine": lambda: told["results"][1]["times"].__setitem__(2, value),
        "pyperf": lambda: told["benchmarks"][1]["runs"][2]["values"].__setitem__(1, value),
        "pytest-benchmark": lambda: told["benchmarks"][1]["stats"]["data"].__setitem__(3, value),
        "jmh": lambda: told[1]["primaryMetric"]["rawData"][2].__setitem__(1, value),
        "google-benchmark": lambda: told["benchmarks"][1].__setitem__("real_time", value),
    }
    plant[name]()
    try:
        record = converted(saved(told))
    except UsageError:
        assert value == 10**400  # which not all can add up
        return
    assert len(record.benchmarks) == len(EXPECTED[name][0]) - 1
    assert " left out: it " in record.findings[0].message


def test_a_benchmark_without_values_is_left_out(saved: Save) -> None:
    told = json.loads(recorded.PYPERF.read_bytes())
    for run in told["benchmarks"][0]["runs"]:
        run.pop("values", None)  # as of one that only calibrated
    path = saved(told)
    record = converted(path)
    assert [one.name for one in record.benchmarks] == ["sorted"]
    assert [finding.message for finding in record.findings] == ["sum left out: it has no value"]
    assert "no value" in refusal(path, patterns=["sum"])


@pytest.mark.parametrize("name", recorded.FILES)
def test_a_file_that_was_cut_gives_no_other_numbers(tmp_path: Path, name: str) -> None:
    whole = recorded.FILES[name].read_bytes().rstrip()
    known = {
        one.name: {value for values in one.values for value in values}
        for one in converted(recorded.FILES[name]).benchmarks
    }
    path = tmp_path / "cut"
    chance = random.Random(1)
    for end in {*chance.sample(range(len(whole)), 150), len(whole) - 1}:
        path.write_bytes(whole[:end])
        try:
            record = converted(path)
        except UsageError:
            continue
        assert name in ("go", "swift")
        for one in record.benchmarks:
            assert {value for values in one.values for value in values} <= known[one.name]


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_fields_of_other_versions_are_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """With any one value of the JSON replaced by anything, there is a sentence or a record, never anything else."""
    name = data.draw(st.sampled_from(["google-benchmark", "pyperf", "hyperfine", "pytest-benchmark", "jmh"]))
    told = json.loads(recorded.ALL[name].read_bytes())
    spot: Any = told
    while True:
        key = data.draw(st.sampled_from(list(spot) if isinstance(spot, dict) else range(len(spot))))
        if not isinstance(spot[key], dict | list) or not spot[key] or data.draw(st.integers(0, 3)) == 0:
            break
        spot = spot[key]
    if data.draw(st.booleans()) and isinstance(spot, dict):
        del spot[key]
    else:
        spot[key] = data.draw(
            st.sampled_from(
                [None, True, 0, -1, 10**400, float("nan"), 1e308, "", "x", "\ud800", [], [[]], {}, [{}], {"x": 1}]
            )
        )
    path = tmp_path_factory.getbasetemp() / "mutated"
    path.write_text(json.dumps(told))
    for options in ({}, {"name": name}):
        with suppress(UsageError):
            record = converted(path, **options)
            assert validated(ForeignResults, fields_in_file(record))


@pytest.mark.parametrize(
    ("path", "name", "processed"),
    [
        ("go-1.26.txt", "example.org/demo.BenchmarkSub/a=1-2", [Processed(unit="bytes", amount=100)]),
        ("go-1.26.txt", "example.org/demo.BenchmarkJoin-2", []),
        ("criterion-0.8", "group/flat/1000", [Processed(unit="items", amount=1000)]),
        ("criterion-0.8", "sum", []),
    ],
)
def test_what_an_iteration_processes_is_kept(path: str, name: str, processed: list[Processed]) -> None:
    found = {one.name: one for one in converted(recorded.FOLDER / path).benchmarks}
    assert found[name].processed == processed
