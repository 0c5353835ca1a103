"""`steelyard import`, and `show` and `diff` of what it has kept."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from steelyard.model.files import save
from tests.design.unpaired.test_runs import A
from tests.foreign import foreign_results, hyperfine, processes
from tests.in_process import InProcess
from tests.subjects.formats import recorded
from tests.tool import Tool

# Taken before a test sets its own environment: compilers keep what they have compiled in the home folder.
ENVIRONMENT = {**os.environ, "GOFLAGS": "-p=1"}


@pytest.mark.parametrize("name", recorded.ALL)
def test_what_is_imported_is_shown_and_kept(asked: InProcess, name: str) -> None:
    done = asked("import", recorded.ALL[name], "-o", "kept.json.gz")
    assert (done.status, done.err) == (0, b"")
    assert "imported, not measured by Steelyard" in " ".join(done.text.split())
    assert "median" in done.text
    assert asked("show", "kept.json.gz").text == done.text
    assert list(asked.folder.glob("*")) == [asked.folder / "kept.json.gz"]


def test_the_direction_is_shown(asked: InProcess) -> None:
    assert "ops/ms median, higher is better" in asked("import", recorded.JMH).text
    assert "ns/op median, lower is better" in asked("import", recorded.GO).text


def test_its_tables(asked: InProcess) -> None:
    asked("import", recorded.JMH, "-o", "a.json", "--markdown", "a.md", "--csv", "a.csv")
    asked("show", "a.json", "--markdown", "b.md", "--csv", "b.csv", "--json", "b.json")
    for one, other in (("a.md", "b.md"), ("a.csv", "b.csv"), ("a.json", "b.json")):
        assert (asked.folder / one).read_text() == (asked.folder / other).read_text()
    rows = list(csv.DictReader((asked.folder / "a.csv").read_text().splitlines()))
    assert len(rows) == 24
    told = json.loads(recorded.JMH.read_bytes())[1]["primaryMetric"]["rawData"][2][3]
    assert (float(rows[-1]["value"]), rows[-1]["process"], rows[-1]["unit"]) == (told, "2", "ops/ms")
    assert "higher" in (asked.folder / "a.md").read_text()


def test_through_a_pipe(tool: Tool) -> None:
    done = tool("import", "/dev/stdin", input=recorded.GO.read_bytes(), stdin=None)
    assert done.status == 0, done
    assert "BenchmarkJoin-2" in done.text


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["missing.json"], "cannot read missing.json"),
        (["."], "no new/sample.json"),
        (["empty"], "empty"),
        (["times.json", "--format", "xml"], "known are"),
        (["times.json", "--format", "pyperf"], "as pyperf"),
        (["times.json", "-b", "x"], "none of the files' benchmarks"),
        (["times.json", "times.json"], "holds the same"),
        (["times.json", "-o", "./times.json"], "overwritten"),
        (["times.json", "-o", "no/folder.json"], "cannot write"),
        (["kept.json"], "is steelyard's own"),
        (["run.json"], "is steelyard's own: look at it with steelyard show run.json"),
        (["check.json"], "is steelyard's own: look at it with steelyard report check.json"),
        ([], "FILE... is missing"),
    ],
)
def test_mistakes_are_one_sentence(asked: InProcess, words: list[str], says: str) -> None:
    (asked.folder / "empty").touch()
    hyperfine(asked.folder / "times.json", a=[1.0])
    save(A, asked.folder / "run.json")
    (asked.folder / "check.json").write_text(json.dumps({"format": "steelyard-check"}))
    asked("import", "times.json", "-o", "kept.json")
    before = (asked.folder / "times.json").read_bytes()
    assert says in asked.refuses("import", *words)
    assert (asked.folder / "times.json").read_bytes() == before


@pytest.mark.parametrize(
    ("factor", "words", "status", "word"),
    [
        (1.5, [], 0, "undecided"),
        (1.5, ["--strict"], 4, "undecided"),
        (1.5, ["--same-conditions"], 1, "slower"),
        (0.5, ["--same-conditions"], 0, "faster"),
        (1.0, ["--same-conditions"], 0, "undecided"),
        (1.0, ["--same-conditions", "--strict"], 4, "undecided"),
        (1.0, ["--same-conditions", "--strict", "--margin", "20%"], 0, "same"),
    ],
)
def test_two_imports(asked: InProcess, factor: float, words: list[str], status: int, word: str) -> None:
    for name, level, seed in (("a", 1.0, 1), ("b", factor, 2)):
        times = [value for values in processes(50, level, seed=seed, samples=1) for value in values]
        asked("import", hyperfine(asked.folder / f"{name}.txt", **{f"./{name}": times}), "-o", f"{name}.json")
    done = asked("diff", "a.json", "b.json", "--markdown", "d.md", *words)
    assert done.status == status
    assert f"\n{word}" in done.text
    assert done.text.startswith("imported ")
    assert f"**{word}**" in (asked.folder / "d.md").read_text()


def test_of_two_commands_of_one_file_both_are_named(asked: InProcess) -> None:
    both = hyperfine(asked.folder / "both.txt", **{"./old 1": [1.0] * 5, "./new 1": [1.1] * 5})
    for name in ("old", "new"):
        asked("import", both, "-b", f"./{name} 1", "-o", f"{name}.json")
    done = asked("diff", "old.json", "new.json", "--markdown", "d.md")
    assert all(
        re.search(rf"\n{side} +\S*both.txt\n +./{name} 1\n", done.text) for side, name in [("A", "old"), ("B", "new")]
    )
    assert "</code>: <code>./old 1</code>, B <code>" in (asked.folder / "d.md").read_text()


def test_an_import_and_a_run_are_not_compared(asked: InProcess) -> None:
    save(foreign_results({"x": processes(20)}), asked.folder / "import.json")
    save(A, asked.folder / "run.json")
    for words in (("import.json", "run.json"), ("run.json", "import.json")):
        assert "two imports or two runs" in asked.refuses("diff", *words)
    assert "--metric" in asked.refuses("diff", "import.json", "import.json", "--metric", "wall")
    assert "both A and B" in asked.refuses("diff", "import.json", "import.json")
    assert "--same-conditions" in asked.refuses("diff", "run.json", "run.json", "--same-conditions")
    assert "not measured by steelyard" in asked.refuses("compare", "--resume", "import.json")


def test_names_cannot_steer_a_terminal(asked: InProcess) -> None:
    for name in ("a", "b"):
        path = hyperfine(asked.folder / f"{name}\x1b[2J.txt", **{"\x1b]0;x\x07 \u202e": [1.0] * (ord(name) % 5 + 1)})
        assert asked("import", path, "-o", f"{name}.json").status == 0
    assert "no interval" in asked("diff", "a.json", "b.json").text


# --- the tools themselves, where they are installed


def test_hyperfine_itself(here: InProcess) -> None:
    program = shutil.which("hyperfine")
    if program is None:
        pytest.skip("hyperfine is not installed: its export was not tried, only a recorded one")
    words = [program, "-N", "-r", "5", "--style", "none", "--export-json", "h.json", "true"]
    subprocess.run(words, check=True, capture_output=True)
    done = here("import", "h.json")
    assert "5 processes, 5 samples" in done.text


def test_pyperf_itself(here: InProcess) -> None:
    if find_spec("pyperf") is None:
        pytest.skip("pyperf is not installed: its JSON was not tried, only a recorded one")
    words = [
        sys.executable,
        "-m",
        "pyperf",
        "timeit",
        "-p",
        "3",
        "-n",
        "2",
        "-w",
        "0",
        "-l",
        "10",
        "-o",
        "p.json",
        "pass",
    ]
    subprocess.run(words, check=True, capture_output=True)
    assert "3 processes, 6 samples" in " ".join(here("import", "p.json").text.split())


def test_pytest_benchmark_itself(here: InProcess, tmp_path: Path) -> None:
    if find_spec("pytest_benchmark") is None:
        pytest.skip("pytest-benchmark is not installed: its JSON was not tried, only a recorded one")
    body = "def test_it(benchmark):\n    benchmark.pedantic(sum, args=([1],), rounds=7, iterations=10)\n"
    (tmp_path / "test_own.py").write_text(body)
    plugins = ("-p", "pytest_benchmark.plugin", "-p", "no:cacheprovider")
    words = [sys.executable, "-m", "pytest", "-q", *plugins, "--benchmark-json=b.json", "test_own.py"]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    subprocess.run(words, check=True, capture_output=True, env=alone)
    assert "1 process, 7 samples" in here("import", "b.json").text


def test_go_itself(here: InProcess, tmp_path: Path) -> None:
    program = shutil.which("go")
    if program is None:
        pytest.skip("Go is not installed: what go test prints was not tried, only a recording of it")
    (tmp_path / "go.mod").write_text("module demo\n\ngo 1.20\n")
    body = "func BenchmarkIt(b *testing.B) { for i := 0; i < b.N; i++ { _ = string(make([]byte, 100)) } }\n"
    (tmp_path / "it_test.go").write_text(f'package demo\n\nimport "testing"\n\n{body}')
    words = [program, "test", "-bench", ".", "-benchtime", "1000x", "-count", "3"]
    done = subprocess.run(words, check=True, capture_output=True, env=ENVIRONMENT, cwd=tmp_path)
    (tmp_path / "go.txt").write_bytes(done.stdout)
    assert "demo.BenchmarkIt" in here("import", "go.txt").text
