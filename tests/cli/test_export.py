"""`steelyard export`: where it reads from, where it writes to, and what it refuses."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pyperf
import pytest

from steelyard.api import exports
from steelyard.cli import export, inputs
from tests.tool import Tool
from tests.world import ScriptedWorld, measured, steady


@pytest.fixture
def weighed(scripted: ScriptedWorld) -> ScriptedWorld:
    scripted("compare", "./old", "./new", "--pairs", "12", "-o", "w.json")
    return scripted


def test_standard_output_is_the_usual_place(weighed: ScriptedWorld) -> None:
    done = weighed("export", "w.json", "--format", "csv")
    assert done.status == 0
    assert not done.err
    assert done.out.startswith(b"benchmark,params,")
    assert weighed("export", "w.json", "--format", "csv", "-o", "-").out == done.out
    assert weighed("export", "--format", "csv").out == done.out, "the last one measured"


@pytest.mark.parametrize("format_", [one.name for one in exports.FORMATS.values() if not one.is_binary])
def test_a_file_holds_what_is_printed(weighed: ScriptedWorld, format_: str) -> None:
    words = ["export", "w.json", "--format", format_]
    words += ["--side", "candidate"] if exports.FORMATS[format_].holds_samples else []
    assert weighed(*words, "-o", "file").out == b""
    assert weighed(*words).out == (weighed.folder / "file").read_bytes() != b""


def test_the_ending_of_its_name_says_as_what(weighed: ScriptedWorld) -> None:
    for name, begin in (("a.csv", b"benchmark,"), ("a.jsonl", b'{"benchmark"'), ("a.XML", b"<?xml")):
        weighed("export", "w.json", "-o", name)
        assert (weighed.folder / name).read_bytes().startswith(begin)
    assert "--format says as what" in weighed.refuses("export", "w.json", "-o", "a.json")
    assert "--format says as what" in weighed.refuses("export", "w.json")


def test_a_journal_standard_input_and_names_are_read(weighed: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    weighed("run", "./old", "--launches", "5", "--save-baseline", "main", "-o", "run.json")
    assert weighed("export", "main", "-f", "csv").out == weighed("export", "run.json", "-f", "csv").out
    monkeypatch.setattr(inputs, "_STDIN_PATH", Path("w.json"))
    assert weighed("export", "-", "-f", "csv").out == weighed("export", "w.json", "-f", "csv").out


def test_a_check_is_exported_too(weighed: ScriptedWorld) -> None:
    weighed.script = steady({"old": 12.0, "true": 1.0})
    weighed("check", "./old", "--max-time", "1s", "-o", "check.json")
    assert weighed("export", "check.json", "-f", "csv").out.startswith(b"rule,benchmark,outcome")
    assert "pyperf holds no check: csv, json-lines, parquet and junit do" in weighed.refuses(
        "export", "check.json", "-f", "pyperf"
    )


def test_what_is_refused(weighed: ScriptedWorld) -> None:
    assert "would be overwritten" in weighed.refuses("export", "w.json", "-f", "csv", "-o", "w.json")
    assert "cannot read nowhere.json" in weighed.refuses("export", "nowhere.json", "-f", "csv")
    assert "choose from csv, json-lines" in weighed.refuses("export", "w.json", "-f", "xls")
    said = weighed.refuses("export", "w.json", "-f", "pyperf", "-o", "x")
    assert said == "--side has to say which one a file of pyperf holds: baseline or candidate"
    assert not (weighed.folder / "x").exists()
    assert "there is no folder" in weighed.refuses("export", "w.json", "-f", "csv", "-o", "no/where.csv")


@pytest.mark.parametrize("good", [0, 1])  # the baseline's warm-up alone, which is not judged
def test_what_failed_before_anything_was_timed_says_where_to_look(scripted: ScriptedWorld, good: int) -> None:
    scripted.script = lambda _, number: measured(12, exit_code=int(number >= good))
    scripted.refuses("compare", "./old", "./new", "-o", "failed.json", status=3)
    said = scripted.refuses("export", "failed.json", "-f", "hyperfine")
    assert said == (
        "nothing was timed to its end, so hyperfine has nothing to hold: steelyard show says what was in the way"
    )


def test_no_file_is_called_as_another_format(weighed: ScriptedWorld) -> None:
    assert weighed.refuses("export", "w.json", "-o", "w.csv", "-f", "parquet") == (
        "w.csv is called as csv, and would be parquet: leave --format out, or give -o another name"
    )
    assert not (weighed.folder / "w.csv").exists()
    assert weighed("export", "w.json", "-o", "w.data", "-f", "csv").status == 0
    assert weighed("export", "w.json", "-o", "w.ndjson", "-f", "json-lines").status == 0


def test_parquet_goes_into_a_file_or_a_pipe(weighed: ScriptedWorld) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    weighed("export", "w.json", "-o", "w.parquet")
    with weighed.printed() as printed:
        assert weighed.status_of(["export", "w.json", "-f", "parquet"]) == 0
    assert printed[0] == (weighed.folder / "w.parquet").read_bytes()
    assert parquet.read_table(weighed.folder / "w.parquet").num_rows == 26 * 12


def test_what_is_no_text_is_not_written_to_a_terminal(weighed: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "is_terminal", lambda: True)
    assert weighed.refuses("export", "w.json", "-f", "parquet") == (
        "parquet is no text for a terminal: give -o FILE, or a pipe"
    )


def test_pyperf_compares_both_sides_of_a_weighing(weighed: ScriptedWorld, tool: Tool) -> None:
    for side in ("baseline", "candidate"):
        weighed("export", "w.json", "-f", "pyperf", "--side", side, "-o", f"{side}.json")
    files = [str(weighed.folder / f"{side}.json") for side in ("baseline", "candidate")]
    (old,), (new,) = (pyperf.BenchmarkSuite.load(file).get_benchmarks() for file in files)
    assert (old.mean(), new.mean()) == pytest.approx((0.012, 0.018), rel=1e-3)
    command = [sys.executable, "-m", "pyperf", "compare_to", *files]
    assert b"1.50x slower" in subprocess.run(command, capture_output=True, check=True, env=tool.environment).stdout
    assert weighed.json("baseline.json")["metadata"]["steelyard_metric"] == "active"


def test_of_repeated_processes_each_file_has_the_mean(scripted: ScriptedWorld) -> None:
    scripted("run", "./old", "--launches", "3", "--repeat", "5", "-o", "r.json")
    told = json.loads(scripted("export", "r.json", "-f", "pyperf").text)
    (run, *_) = told["benchmarks"][0]["runs"]
    assert run["metadata"]["loops"] == 5
    assert run["values"] == [pytest.approx(0.012, rel=1e-3)]
    (result,) = json.loads(scripted("export", "r.json", "-f", "hyperfine").text)["results"]
    assert (result["mean"], result["user"]) == pytest.approx((0.012, 0.012), rel=1e-3)


def test_what_is_called_gz_is_compressed_once(weighed: ScriptedWorld) -> None:
    names = ("w.json.gz", "w.csv.gz", "w.md.gz", "w.html.gz")
    options = dict(zip(("--json", "--csv", "--markdown", "--html"), names, strict=True))
    assert weighed("show", "w.json", *(word for pair in options.items() for word in pair)).status == 0
    assert weighed("export", "w.json", "-o", "x.csv.gz").status == 0
    assert weighed("list", "--json", "list.json.gz").status == 0
    text = {name: gzip.decompress(Path(name).read_bytes()) for name in (*names, "x.csv.gz", "list.json.gz")}
    assert text["w.csv.gz"] == weighed("show", "w.json", "--csv", "-").out
    assert text["x.csv.gz"] == weighed("export", "w.json", "-f", "csv").out
    assert json.loads(text["w.json.gz"])["kind"] == "weighing"
    assert weighed("show", "w.json.gz").status == 0
    assert "is called as csv" in weighed.refuses("export", "w.json", "-f", "parquet", "-o", "y.csv.gz")
    assert "no reader opens it as .gz" in weighed.refuses("export", "w.json", "-o", "z.parquet.gz")
    assert not Path("z.parquet.gz").exists()
