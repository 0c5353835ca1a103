"""What harnesses write, print and leave in files: read in linear time, up to a limit, and never believed blindly."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from steelyard.design.runner.target import Target
from steelyard.model.errors import LaunchError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.rows import Sample
from steelyard.subjects.adapters import catch2, go, jmh, pyperf, rust, swift
from steelyard.subjects.adapters.criterion import Criterion, check_unit
from steelyard.subjects.adapters.divan import rows_in
from steelyard.subjects.adapters.google_benchmark import GoogleBenchmark
from steelyard.subjects.adapters.jmh import Jmh
from steelyard.subjects.adapters.nanobench import results_from
from steelyard.subjects.adapters.shell import Shell, printed_ns
from steelyard.subjects.formats.contents import Opened
from steelyard.subjects.formats.recognise import FORMATS, format_named
from steelyard.subjects.harness import Harness, Work
from steelyard.subjects.protocol import ProtocolHarness
from steelyard.subjects.responses import MOST_BYTES, file_holds, file_written
from tests.hostile.fuzzing import limited
from tests.world import measured

MANY = 40_000
# Many lines or one long line each, of a kind that a program may well print.
LONG = {
    "running": "Running x\n" * MANY,
    "running-on-a-line": "Running x " * MANY,
    "benchmarks": "Benchmark" * MANY + "\t",
    "benchmark-lines": "BenchmarkX\n" * MANY,
    "tabs": "BenchmarkX" + "\t1 1" * MANY + " x",
    "blanks": " " * MANY * 10,
    "blank-lines": "\n" * MANY * 10,
    "indented-lines": " \n" * MANY,
    "digits": "1234567890" * MANY,
    "numbers": "1.5 " * MANY,
    "table": "│ 1.5 ns " * MANY,
    "branches": "│  ├─ x\n" * MANY,
    "braces": '{ "results": [' * MANY,
    "brackets": "1,a,[" * MANY,
    "times": "time: [1 " * MANY,
    "panics": "thread 'main' panicked at " * MANY,
    "marks": "\x16=== RUN   x\n" * MANY,
    "errors": "ERROR: " * MANY,
    "params": '  param "x" = {' * MANY,
}
READERS: dict[str, Callable[[str], object]] = {
    **{
        f"recognise {name}": lambda text, one=one: one.recognises(Opened(Path("x"), text.encode()))  # type: ignore[misc]
        for name, one in zip(FORMATS, map(format_named, FORMATS), strict=True)
    },
    "import go": lambda text: format_named("go").read(Opened(Path("x"), text.encode())),
    "import swift": lambda text: format_named("swift").read(Opened(Path("x"), b"--- DATA ---" + text.encode())),
    "go": go.results_in,
    "go list": go.names_in,
    "go complaint": lambda text: go.Go().complaint(measured(1, stdout=text.encode(), stderr=text.encode())),
    "swift": swift.results_in,
    "swift list": lambda text: list(swift.listed_in(f"# Test [Tags]\n{text}")),
    "divan": lambda text: list(rows_in(f"{DIVAN_HEAD}\n{text}")),
    "rust list": rust.listed_in,
    "rust complaint": lambda text: rust.complaint_of(measured(1, stdout=text.encode(), stderr=text.encode())),
    "criterion unit": check_unit,
    "jmh list": lambda text: jmh.benchmarks_of(f"Benchmarks:\n{text}"),
    "jmh complaint": lambda text: Jmh().complaint(measured(1, stderr=text.encode())),
    "nanobench": results_from,
    "shell": printed_ns,
    "catch2": catch2.results_from,
}
DIVAN_HEAD = "x    fastest       │ slowest       │ median        │ mean          │ samples │ iters"


@pytest.mark.parametrize("reader", READERS)
def test_long_output_takes_no_time(reader: str) -> None:
    """If the time grew with the square of the length, these would take minutes."""
    with limited(30):
        for text in LONG.values():
            with suppress(LaunchError):
                READERS[reader](text)


def test_sections_within_sections() -> None:
    report = "<Catch><TestCase name='t'>" + "<Section name='s'>" * 3000 + "</Section>" * 3000 + "</TestCase></Catch>"
    with pytest.raises(LaunchError, match="more than 250 sections within each other"):
        catch2.results_from(report)


def test_entities_that_multiply() -> None:
    with pytest.raises(LaunchError, match="declarations of its own"):
        catch2.results_from('<!DOCTYPE x [<!ENTITY a "aaaa">]><Catch><TestCase name="&a;"/></Catch>')


def test_products_without_end() -> None:
    params = "\n".join(f'  param "p{number}" = {{{", ".join("0123456789")}}}' for number in range(10))
    with pytest.raises(LaunchError, match="products of its parameters"):
        jmh.benchmarks_of(f"Benchmarks:\nbench.Sum\n{params}\n")


# --- files


@pytest.fixture
def strange(tmp_path: Path) -> dict[str, Path]:
    """Paths that are not the files that they should be."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(1 << 42)
    names = ("pipe", "folder", "huge", "missing")
    return {**{name: tmp_path / name for name in names}, "zero": Path("/dev/zero")}


@pytest.mark.parametrize("name", ["pipe", "folder", "huge", "missing", "zero"])
def test_what_a_harness_leaves_instead_of_a_file(strange: dict[str, Path], name: str) -> None:
    with pytest.raises(LaunchError, match=r"did not write its |wrote [0-9,]+ bytes to its huge"):
        file_written(strange[name])
    assert not file_holds(strange["folder"] if name == "huge" else strange[name], b"pyperf")


def test_a_list_and_samples_that_are_pipes() -> None:
    launch = LaunchSpec(program=b"x", argv=(b"x",), env=())
    harness = pyperf.Pyperf()
    harness.listing(launch)
    os.mkfifo(harness._list)
    with pytest.raises(LaunchError, match="it is no file"):
        harness.listed(measured(1))
    criterion = Criterion()
    criterion.running(launch, Work("x", 1, 1))
    latest = criterion._folder / "x" / "new"
    latest.mkdir(parents=True)
    (latest / "benchmark.json").write_text('{"title": "x"}')
    os.mkfifo(latest / "sample.json")
    with pytest.raises(LaunchError, match=r"did not write its sample\.json"):
        criterion.samples(measured(1, stdout=b"", stderr=b""), Work("x", 1, 15))


def test_a_file_as_long_as_is_read(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_bytes(b"x" * MOST_BYTES)
    assert len(file_written(tmp_path / "list.json")) == MOST_BYTES


# --- times


def told(harness: Harness, *samples: Sample, name: str = "x", **launch: float) -> tuple[Sample, ...]:
    """Return the samples that are believed, in a launch of 100 ms with these other numbers."""
    harness.samples = lambda *_: samples  # type: ignore[method-assign]
    spec = LaunchSpec(program=b"x", argv=(b"x",), env=())
    return Target("it", spec, harness=harness, work=Work(name, 1, 1)).samples(measured(100, **launch))


MS = 1_000_000


def test_samples_that_fill_their_launch_are_believed() -> None:
    assert len(told(ProtocolHarness(), Sample(1, 60 * MS), Sample(1, 40 * MS))) == 2


def test_samples_that_are_longer_than_their_launch_are_none() -> None:
    with pytest.raises(LaunchError, match=re.escape("it told of 0.12 s in its samples, and its launch took 0.1 s")):
        told(ProtocolHarness(), Sample(1, 60 * MS), Sample(1, 60 * MS))


def test_processor_time_of_threads_is_held_against_that_of_the_launch() -> None:
    sample = Sample(1, 50 * MS, cpu_ns=190 * MS)
    assert told(ProtocolHarness(), sample, user_ns=180 * MS, sys_ns=15 * MS) == (sample,)
    with pytest.raises(LaunchError, match=r"0\.19 s on a processor"):
        told(ProtocolHarness(), sample, user_ns=100 * MS)


def test_waits_since_the_start_instead_of_those_in_a_sample() -> None:
    """Waits may be longer than their samples, as they may be outside these; but here each sample tells them again."""
    hello, end = '{"steelyard": 1}', '{"end": true}'
    wait = '{"ns": 5, "delay_ns": 40000000}'
    answers = {many: "\n".join([hello, *[wait] * many, end]).encode() for many in (2, 3)}
    assert len(ProtocolHarness().samples(measured(100, results=answers[2]), Work("x", 1, 2))) == 2
    with pytest.raises(
        LaunchError, match=re.escape("0.12 s of waits in its samples (delay_ns), and its launch took 0.1")
    ):
        ProtocolHarness().samples(measured(100, results=answers[3]), Work("x", 1, 3))


def test_threads_that_a_name_tells_of_may_add_up() -> None:
    sample = Sample(1, 350 * MS)
    assert told(GoogleBenchmark(), sample, name="x/threads:4/real_time") == (sample,)
    with pytest.raises(LaunchError, match="does it tell in another unit"):
        told(GoogleBenchmark(), sample, name="x/threads:2")


def test_where_only_the_time_of_an_iteration_is_told() -> None:
    for harness in (Shell(), Jmh()):
        assert told(harness, Sample(1_000_000, 500 * MS))  # half a µs per iteration
        with pytest.raises(LaunchError, match="its launch took"):
            told(harness, Sample(1, 3000 * MS))
