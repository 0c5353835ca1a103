"""Each kind of record in each format: it is written, or refused with the names of the formats that can hold it."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pyperf
import pytest

from steelyard.api.exports import FORMATS, exported
from steelyard.api.record import Record
from steelyard.design.conversion import convert_files
from steelyard.model.bisection import Bisection, Commit, Compared, Step
from steelyard.model.documents import Document, load_document
from steelyard.model.errors import UsageError
from steelyard.model.findings import Finding
from steelyard.model.foreign import ForeignResults
from steelyard.model.launches import Launches
from steelyard.model.records import Part, Weighing
from steelyard.model.rows import Sample
from steelyard.model.settings import Settings
from steelyard.model.soundness import Soundness
from steelyard.model.subject import Benchmark
from steelyard.subjects.formats.recognise import format_named
from tests.calibrations import calibration
from tests.foreign import CREATED, fields_in_file, foreign_results
from tests.report.data.test_samples import counted_run
from tests.report.records import MACHINE, pair_rows, row, run, weighing
from tests.report.test_check import looked, trouble


def check() -> Soundness:
    found = [looked(), trouble(code="modes"), looked(code="names", outcome="untried", finding="there is no time")]
    return Soundness(tool="0", command="./x", benchmarks=["sort"], launches=9, seconds=1.0, looked=found)


RECORDS: dict[str, Document] = {
    "weighing": weighing(pairs=6),
    "run": run(),
    "counted": counted_run(),
    "import": foreign_results({"a": [[0.5, 0.25], [1.0]]}),
    "throughput": foreign_results({"a": [[5.0]]}, unit="ops/s", higher_is_better=True),
    "check": check(),
    "calibration": calibration(),
}
TIMED = {"pyperf", "hyperfine", "google-benchmark"}
HOLDS = {
    "weighing": TIMED | {"junit"},
    "run": TIMED,
    "import": TIMED,
    "check": {"junit"},
}


def written(record: Document, format_: str, **options: Any) -> bytes:
    found = exported(record, format_, **options)
    return found if isinstance(found, bytes) else b"".join(found)


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("kind", RECORDS)
def test_it_is_written_or_refused_with_the_way_out(kind: str, format_: str) -> None:
    if format_ == "parquet":
        pytest.importorskip("pyarrow")
    side = "baseline" if kind == "weighing" and format_ in TIMED else None
    if format_ in {"csv", "json-lines", "parquet"} | HOLDS.get(kind, set()):
        assert written(RECORDS[kind], format_, side=side)
        return
    with pytest.raises(UsageError) as refused:
        exported(RECORDS[kind], format_, side=side)
    assert "csv, json-lines" in str(refused.value)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    ("record", "format_", "options", "said"),
    [
        ("weighing", "xls", {}, "choose from csv, json-lines, parquet, pyperf"),
        ("weighing", "pyperf", {}, "--side has to say which one a file of pyperf holds: baseline or candidate"),
        ("weighing", "csv", {"side": "baseline"}, "chooses from a weighing for pyperf"),
        ("run", "pyperf", {"side": "baseline"}, "chooses from a weighing for pyperf"),
        ("weighing", "pyperf", {"side": "left"}, "choose from baseline, candidate"),
        ("import", "pyperf", {"metric": "wall"}, "of a weighing or run"),
        ("run", "pyperf", {"metric": "walls"}, "choose from active, wall"),
        ("run", "pyperf", {"metric": "cost"}, "cost is counted"),
        ("run", "hyperfine", {"metric": "max_rss"}, "max_rss is none"),
        ("run", "pyperf", {"metric": "major_faults"}, "takes 0 for no measurement"),
        ("weighing", "openmetrics", {}, "; OpenMetrics is written by steelyard gate --metrics"),
    ],
)
def test_what_is_refused(record: str, format_: str, options: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        exported(RECORDS[record], format_, **options)


# --- pyperf


def suite(text: bytes) -> Any:
    return pyperf.BenchmarkSuite.loads(text.decode())


def test_pyperf_loads_a_side_with_its_unit_and_runs() -> None:
    record = RECORDS["weighing"]
    assert isinstance(record, Weighing)
    (found,) = suite(written(record, "pyperf", side="candidate")).get_benchmarks()
    values = record.launches.metric("active")[1::2] * 1e-9
    assert found.get_values() == pytest.approx(tuple(values))
    assert (found.get_name(), found.get_unit(), found.get_nrun()) == ("sort", "second", 6)
    assert found.get_metadata()["steelyard_metric"] == "active"
    (memory,) = suite(written(record, "pyperf", side="baseline", metric="max_rss")).get_benchmarks()
    assert (memory.get_unit(), set(memory.get_values())) == ("byte", {9 * 2**20})


def of_harness() -> Weighing:
    told = (Sample(10, 2000, 1500, 100), Sample(10, 1000, 900, 50), Sample(10, 1200, 900, 50))
    launches = [row(pair, side, 10**6)._replace(samples=told) for pair in range(2) for side in (0, 1)]
    benchmark = Benchmark(name="a", params={"n": "1"}, loops=10)
    settings = Settings(harness="protocol", metrics=["wall"])
    update = {"launches": Launches.of_rows(launches), "benchmarks": [benchmark], "settings": settings}
    return weighing().model_copy(update=update)


def test_a_harness_has_a_run_a_launch_with_its_first_sample_as_the_warm_up() -> None:
    (found,) = suite(written(of_harness(), "pyperf", side="baseline")).get_benchmarks()
    assert found.get_values() == pytest.approx((100e-9, 120e-9) * 2)
    assert [one.warmups for one in found.get_runs()] == [((10, pytest.approx(200e-9)),)] * 2
    assert found.get_loops() == 10
    assert found.get_metadata()["param_n"] == "1"


def test_pyperf_loads_names_that_it_would_refuse() -> None:
    benchmark = Benchmark(name="a\nb\x1b", params={"n": "", "m": "\r"})
    (found,) = suite(
        written(weighing(pairs=3).model_copy(update={"benchmarks": [benchmark]}), "pyperf", side="baseline")
    ).get_benchmarks()
    assert found.get_name().isprintable()


DOCUMENT: dict[str, Any] = {
    "version": "1.0",
    "metadata": {"hostname": "h", "cpu_count": 2, "unit": "second", "python_version": "3.11"},
    "benchmarks": [
        {
            "metadata": {"name": "a", "loops": 8, "inner_loops": 2, "description": "x"},
            "runs": [
                {"metadata": {"calibrate_loops": 8}, "warmups": [[1, 1e-5], [8, 1.1e-5]]},
                {"metadata": {"date": "2026-01-01 00:00:00"}, "warmups": [[8, 1.2e-5]], "values": [1.0e-5, 1.1e-5]},
                {"values": [0.1 + 0.2]},
            ],
        },
        {"metadata": {"name": "m", "unit": "byte"}, "runs": [{"values": [4096, 8192]}]},
    ],
}


def imported(tmp_path: Any, *documents: Any, **options: Any) -> ForeignResults:
    paths = [tmp_path / f"{number}.json" for number in range(len(documents))]
    for path, document in zip(paths, documents, strict=True):
        path.write_text(json.dumps(document))
    return convert_files(paths, created=CREATED, **options)


def test_an_import_from_pyperf_comes_out_as_it_went_in(tmp_path: Any) -> None:
    record = imported(tmp_path, DOCUMENT)
    text = written(record, "pyperf")
    assert json.loads(text) == DOCUMENT
    assert b"[4096, 8192]" in text
    assert suite(text).get_benchmark("m").get_values() == (4096, 8192)
    again = json.loads(written(imported(tmp_path, json.loads(text)), "pyperf"))
    assert again == DOCUMENT


def test_of_chosen_benchmarks_and_of_several_files(tmp_path: Any) -> None:
    chosen = json.loads(written(imported(tmp_path, DOCUMENT, patterns=["m"]), "pyperf"))
    assert chosen == {**DOCUMENT, "benchmarks": DOCUMENT["benchmarks"][1:]}
    other = json.loads(json.dumps(DOCUMENT).replace("4096", "5000"))
    both = suite(written(imported(tmp_path, DOCUMENT, other), "pyperf"))
    assert both.get_benchmark("m").get_values() == (4096, 8192, 5000, 8192)
    assert both.get_benchmark("a").get_loops() == 8
    assert both.get_benchmark("a").get_metadata()["hostname"] == "h"


def test_an_older_import_is_written_by_its_values(tmp_path: Any) -> None:
    record = replace(imported(tmp_path, DOCUMENT), originals=[])
    assert suite(written(record, "pyperf")).get_benchmark("a").get_values() == (1.0e-5, 1.1e-5, 0.1 + 0.2)


@pytest.mark.parametrize("damaged", ["AAAA", "no base64", "eJyrrgUAAXUA+Q=="])
def test_what_was_kept_of_the_file_may_be_damaged(tmp_path: Any, damaged: str) -> None:
    record = replace(imported(tmp_path, DOCUMENT), originals=[damaged])
    with pytest.raises(UsageError, match=r"damaged|does not fit"):
        exported(record, "pyperf")


# --- the other tools


def test_hyperfine_has_both_sides_with_times_in_seconds() -> None:
    record = RECORDS["weighing"]
    assert isinstance(record, Weighing)
    first, second = json.loads(written(record, "hyperfine"))["results"]
    assert (first["command"], second["command"]) == ("./sort-old data.bin", "./sort-new data.bin")
    assert first["times"] == pytest.approx(list(record.launches.metric("active")[::2] * 1e-9))
    assert first["min"] <= first["median"] <= first["max"]
    assert first["exit_codes"] == [0] * 6
    assert second["memory_usage_byte"] == [9 * 2**20] * 6
    (only,) = json.loads(written(record, "hyperfine", side="candidate"))["results"]
    assert only == second
    names = [one["command"] for one in json.loads(written(of_harness(), "hyperfine"))["results"]]
    assert names == ["a (baseline)", "a (candidate)"]


def test_a_result_of_hyperfine_has_the_values_of_its_parameters() -> None:
    benchmark = Benchmark(name="n=1", params={"n": "1"})
    subjects = [one.model_copy(update={"command": f"{one.command} {{n}}"}) for one in weighing().subjects]
    record = weighing(pairs=2).model_copy(update={"benchmarks": [benchmark], "subjects": subjects})
    first = json.loads(written(record, "hyperfine"))["results"][0]
    assert (first["command"], first["parameters"]) == ("./sort-old data.bin 1", {"n": "1"})


def test_a_value_in_braces_is_no_other_parameters_value() -> None:
    benchmark = Benchmark(name="n={m}, m=1", params={"n": "{m}", "m": "1"})
    subjects = [one.model_copy(update={"command": "./sort {n} {m}"}) for one in weighing().subjects]
    record = weighing(pairs=2).model_copy(update={"benchmarks": [benchmark], "subjects": subjects})
    first = json.loads(written(record, "hyperfine"))["results"][0]
    assert first["command"] == "./sort {m} 1 (baseline)"


def test_results_of_hyperfine_have_names_of_their_own() -> None:
    subjects = [*weighing().subjects, weighing().subjects[1]]
    benchmarks = [Benchmark(name=name, candidate=number) for number, name in enumerate("bc", start=1)]
    rows = [*pair_rows(0.0, 2), *pair_rows(0.0, 2, benchmark=1)]
    record = weighing().model_copy(
        update={"subjects": subjects, "benchmarks": benchmarks, "launches": Launches.of_rows(rows)}
    )
    names = [one["command"] for one in json.loads(written(record, "hyperfine"))["results"]]
    assert names[0] == "./sort-old data.bin (baseline of b)"
    assert len(set(names)) == 4


@pytest.mark.parametrize("format_", sorted(TIMED))
def test_a_file_that_would_hold_nothing_is_refused(format_: str) -> None:
    record = weighing().model_copy(update={"launches": Launches.of_rows(pair_rows(0.0, 1)[:1])})
    with pytest.raises(UsageError, match="would hold nothing, as no launch of that side"):
        exported(record, format_, side="candidate")


@pytest.mark.parametrize(
    ("launch", "metric"), [({"others_ns": 10**7}, "wall"), ({"others_ns": 10**7, "order": 2}, "cpu"), ({}, "active")]
)
def test_where_active_is_not_defined_another_metric_is_written(launch: dict[str, int], metric: str) -> None:
    rows = [row(0, side, 10**7)._replace(**launch) for side in (0, 1)]
    record = weighing().model_copy(update={"launches": Launches.of_rows(rows)})
    assert json.loads(written(record, "pyperf", side="baseline"))["metadata"]["steelyard_metric"] == metric
    if metric == "cpu":
        with pytest.raises(UsageError, match="has a value of wall: choose another by --metric"):
            exported(record, "hyperfine", metric="wall")


def test_google_benchmark_has_a_repetition_a_sample() -> None:
    found = json.loads(written(of_harness(), "google-benchmark", side="baseline"))["benchmarks"]
    assert [one["real_time"] for one in found] == pytest.approx([100, 120] * 2)
    assert [one["cpu_time"] for one in found] == pytest.approx([90] * 4)
    assert [one["repetition_index"] for one in found] == [0, 1, 2, 3]
    assert {(one["run_name"], one["repetitions"], one["iterations"], one["time_unit"]) for one in found} == {
        ("a", 4, 10, "ns")
    }


def test_google_benchmark_names_the_program_of_the_side_that_it_holds() -> None:
    record = weighing(pairs=2)
    subjects = [one.model_copy(update={"program": f"./{place}"}) for place, one in enumerate(record.subjects)]
    control = Benchmark(name="control", candidate=0, control=True)
    record = record.model_copy(update={"subjects": subjects, "benchmarks": [*record.benchmarks, control]})
    found = [json.loads(written(record, "google-benchmark", side=side)) for side in ("baseline", "candidate")]
    assert [one["context"]["executable"] for one in found] == ["./0", "./1"]


@pytest.mark.parametrize(("format_", "where"), [("google-benchmark", "context"), ("pyperf", "metadata")])
def test_what_the_machines_of_a_merged_weighing_differ_in_is_told_of_none(format_: str, where: str) -> None:
    machines = [MACHINE, MACHINE.model_copy(update={"cores_logical": 64})]
    parts = [Part(created="", tool="", machine=one, seed=0, seconds=1.0, benchmarks=[]) for one in machines]
    told = [
        json.loads(written(weighing(pairs=2).model_copy(update={"parts": of}), format_, side="candidate"))[where]
        for of in (parts[:1], parts)
    ]
    assert {*told[0]} - {*told[1]} == {"num_cpus" if where == "context" else "cpu_count"}


@pytest.mark.parametrize("format_", sorted(TIMED))
def test_what_is_exported_can_be_imported_again(tmp_path: Any, format_: str) -> None:
    path = tmp_path / "theirs.json"
    path.write_bytes(written(RECORDS["weighing"], format_, side="baseline"))
    found = convert_files([path], created=CREATED)
    assert found.provenance.format == format_named(format_).name
    values = [value for process in found.benchmarks[0].values for value in process]
    record = RECORDS["weighing"]
    assert isinstance(record, Weighing)
    scale = 1.0 if found.benchmarks[0].unit == "ns" else 1e-9
    assert values == pytest.approx(list(record.launches.metric("active")[::2] * scale))


# --- verdicts, rules, and what is read


def test_junit_has_a_case_for_each_verdict_or_rule() -> None:
    (case,) = ElementTree.fromstring(written(weighing(0.1), "junit", name="it.json")).iter("testcase")
    assert (case.get("classname"), case.get("name")) == ("sort", "active")
    assert case.find("failure") is not None
    cases = list(ElementTree.fromstring(written(check(), "junit")).iter("testcase"))
    assert [[child.tag for child in one] for one in cases] == [[], ["failure"], ["skipped"]]
    failure = cases[1].find("failure")
    assert failure is not None
    assert failure.get("message") == "it is steady; warm up"


def test_a_check_and_a_calibration_have_rows_of_their_own() -> None:
    rows = list(csv.DictReader(io.StringIO(written(check(), "csv").decode())))
    assert [(one["rule"], one["outcome"], one["figure"]) for one in rows][:2] == [
        ("drift", "sound", ""),
        ("modes", "trouble", "0.3"),
    ]
    points = list(csv.DictReader(io.StringIO(written(calibration(), "csv").decode())))
    assert {one["metric"] for one in points} == {"cpu_before", "cpu_with", "cpu", "l1_hits", "ll_hits", "ram_hits"}


def test_a_bisection_is_a_row_for_each_pair_of_commits() -> None:
    commit = Commit(hash="a" * 40, parents=[], tree="t", author="A", date="2026-01-01", subject="s")
    compared = Compared(
        baseline="a", candidate="b", verdict="slower", change=0.1, interval=(0.05, 0.15), metric="active", pairs=12
    )
    steps = [
        Step(kind="ends", commit="b", low="a", high="b", left=2, compared=[compared]),
        Step(kind="skip", commit="c", low="a", high="b", left=1, why="it does not build"),
    ]
    seen = Finding(code="shared", message="both run one interpreter")
    record = Bisection(
        tool="0", repository="r", command="x", build=None, metric="active", margin=0.01, alpha=0.01, end="range",
        good=commit, bad=commit, commits=2, steps=steps, seconds=1.0, findings=[seen],
    )  # fmt: skip
    assert Record(record).findings == [seen]
    rows = list(csv.DictReader(io.StringIO(written(record, "csv").decode())))
    assert [(row["kind"], row["verdict"], row["change_low"], row["why"]) for row in rows] == [
        ("ends", "slower", "0.05", ""),
        ("skip", "", "", "it does not build"),
    ]


@pytest.mark.parametrize("kind", ["check", "calibration", "weighing", "import"])
def test_every_kind_is_read_again(tmp_path: Any, kind: str) -> None:
    path = tmp_path / "kept.json"
    record = RECORDS[kind]
    told = fields_in_file(record) if isinstance(record, ForeignResults) else record.model_dump(mode="json")
    path.write_text(json.dumps(told))
    assert type(load_document(path)) is type(record)


def test_what_is_damaged_is_refused(tmp_path: Any) -> None:
    path = tmp_path / "kept.json"
    path.write_text(json.dumps({"format": "steelyard-check", "version": 7}))
    with pytest.raises(UsageError, match=r"kept.json has format version 7; this steelyard reads 1"):
        load_document(path)
    path.write_text('{"format": "steelyard-check", ')
    with pytest.raises(UsageError, match="truncated"):
        load_document(path)


def test_counts_that_were_set_aside_are_not_judged() -> None:
    record = counted_run()
    assert record.counting
    first = record.counting.counts[0]
    counts = [first.model_copy(update={"events": {**first.events, "Ir": count}}) for count in (300, 200, 100, 100)]
    counting = record.counting.model_copy(update={"counts": counts})
    found = list(csv.DictReader(io.StringIO(written(record.model_copy(update={"counting": counting}), "csv").decode())))
    instructions = [one for one in found if one["metric"] == "instructions" and one["level"] == "launch"]
    assert [(one["value"], one["judged"]) for one in instructions] == [
        ("300.0", "false"),
        ("200.0", "false"),
        ("100.0", "true"),
        ("100.0", "true"),
    ]
