"""pyperf, driven for real: the workers of a script with every kind of benchmark."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from steelyard.measure.launch import Launcher
from steelyard.model.errors import LaunchError, UsageError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.rows import Sample
from steelyard.subjects.adapters import pyperf as adapter
from steelyard.subjects.adapters.jmh import Jmh
from steelyard.subjects.adapters.pyperf import Pyperf, results_in
from steelyard.subjects.adapters.pytest_benchmark import PytestBenchmark
from steelyard.subjects.harness import Work
from tests.in_process import InProcess
from tests.subjects.adapters.driven import FEW_PAIRS, SOURCES, Driver, refused, spec, that_wrote

SCRIPT = SOURCES / "pyperf/bench_work.py"
NAMES = ["sum", "sum of more", "ten at once", "größe/日本 .*^$(a|b)[c]", "-l 'statement'", "command", "last"]
TIMEIT = (sys.executable, "-m", "pyperf", "timeit", "-s", "x = 3", "x + 1")

pytestmark = pytest.mark.skipif(importlib.util.find_spec("pyperf") is None, reason="pyperf is missing: pip install it")


def launch(*words: str, env: tuple[str, ...] = ()) -> LaunchSpec:
    return spec(*(words or (sys.executable, str(SCRIPT))), env=("LANG=C.UTF-8", *env))


@pytest.fixture(scope="module", autouse=True)
def _numbers(launcher: Launcher) -> None:
    """Find out the numbers by which it runs its benchmarks, before any test."""
    Driver(Pyperf(), launch(), launcher).names()


@pytest.fixture
def driver(launcher: Launcher) -> Driver:
    return Driver(Pyperf(), launch(), launcher)


def test_it_lists_the_benchmarks_and_leaves_nothing(driver: Driver) -> None:
    assert driver.names() == NAMES
    assert driver.names() == NAMES  # a second list is not added to the first
    folder = Path(os.fsdecode(driver.harness.listing(driver.launch).argv[-1].partition(b"=")[2])).parent
    assert folder.exists()
    del driver.harness
    assert not folder.exists()


def test_its_clock_stands_still_while_it_waits(driver: Driver) -> None:
    assert driver.stands_still("sum")


@pytest.mark.parametrize("name", [name for name in NAMES if name != "command"])
def test_one_with_any_name_runs_as_often_as_asked(driver: Driver, name: str) -> None:
    samples = driver.run(name, loops=20, samples=3)
    assert [sample.loops for sample in samples] == [20] * 3


@pytest.mark.parametrize(("asked", "taken"), [(1, 10), (10, 10), (11, 20)])
def test_inner_loops_are_iterations(driver: Driver, asked: int, taken: int) -> None:
    assert {sample.loops for sample in driver.run("ten at once", loops=asked)} == {taken}


def test_commands_and_statements(driver: Driver, launcher: Launcher) -> None:
    assert {sample.loops for sample in driver.run("command", loops=2)} == {2}
    timeit = Driver(Pyperf(), launch(*TIMEIT), launcher)
    assert timeit.names() == ["timeit"]
    assert [sample.loops for sample in timeit.run("timeit", loops=1000, samples=2)] == [1000, 1000]


def test_the_value_is_what_pyperf_says(driver: Driver, tmp_path: Path) -> None:
    file = tmp_path / "own.json"
    for name in ("sum of more", "ten at once"):
        ours = min(one.ns / one.loops for one in driver.run(name, loops=200, samples=9))
        assert driver.measured is not None
        file.write_bytes(driver.measured.results or b"")
        told = subprocess.run(
            [sys.executable, "-m", "pyperf", "stats", file], check=True, capture_output=True, text=True
        )
        least = next(line for line in told.stdout.splitlines() if line.startswith("Minimum"))
        amount, unit = least.split()[1:3]
        assert ours == pytest.approx(float(amount) * {"ns": 1, "us": 1e3, "ms": 1e6}[unit], rel=0.01)


def test_a_task_is_found_once_this_process_has_listed(driver: Driver) -> None:
    assert driver.harness.lists_first
    adapter._tasks.clear()
    with pytest.raises(LaunchError, match='ran no benchmark where "last" was asked for'):
        driver.run("last", loops=5, samples=2)
    driver.names()
    assert len(driver.run("last", loops=5, samples=2)) == 2


def test_another_layout_has_the_order_of_what_was_listed(driver: Driver, tmp_path: Path) -> None:
    driver.names()
    layout = Driver(driver.harness, replace(driver.launch, cwd=os.fsencode(tmp_path)), driver.launcher)
    assert len(layout.run("last", loops=5, samples=2)) == 2


def test_a_name_that_is_gone_runs_nothing(driver: Driver) -> None:
    with pytest.raises(LaunchError, match='ran no benchmark where "gone" was asked for'):
        driver.run("gone")


def test_a_script_that_changed_its_order_is_found_out(driver: Driver) -> None:
    driver.names()
    tasks = next(tasks for tasks in adapter._tasks.values() if "last" in tasks)
    tasks["last"], tasks["sum"] = tasks["sum"], tasks["last"]
    with pytest.raises(LaunchError, match='ran "sum" where only "last" was asked for'):
        driver.run("last")
    adapter._tasks.clear()


def test_words_that_contradict_are_told_of(driver: Driver) -> None:
    measured = driver.launcher.launch(driver.harness.listing(launch(sys.executable, str(SCRIPT), "--calibrate-loops")))
    assert measured.has_failed()
    assert driver.harness.complaint(measured) == "says: --loops=N is incompatible with --calibrate-loops"


@pytest.mark.parametrize("words", [("--python", "other"), ("--python=other",), ("--compare-to", "other")])
def test_another_python_than_the_command_s_is_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="begin each side's command with its own Python"):
        Pyperf().listing(launch(sys.executable, str(SCRIPT), *words))


def test_a_weighing_of_a_slower_one_beside_one_that_fails(here: InProcess) -> None:
    sides = [shlex.join(["env", "BROKEN=later", f"FACTOR={factor}", sys.executable, str(SCRIPT)]) for factor in (1, 5)]
    words = ("--harness", "pyperf", *sides, "-b", "sum", "-b", "fails later", *FEW_PAIRS)
    done = here("compare", *words, "--names", "old,new", "--json", "record.json")
    assert done.status == 3, done
    assert "old (fails later) failed with exit status 1 (its last words: ValueError" in " ".join(done.text.split())
    record = here.json()
    (verdict,) = record["derived"]["verdicts"]
    assert (verdict["benchmark"], verdict["verdict"]) == ("sum", "slower")
    sizes: dict[int, set[int]] = {0: set(), 1: set()}
    for side, samples in zip(record["launches"]["side"], record["launches"]["samples"], strict=True):
        sizes[side] |= {sample[0] for sample in samples}
    loops = record["benchmarks"][0]["loops"]
    assert sizes == {0: {loops}, 1: {record["benchmarks"][0].get("candidate_loops", loops)}}


# --- recognised


@pytest.mark.parametrize(
    ("words", "own"),
    [
        ((sys.executable, str(SCRIPT)), True),
        (("env", "A=1", sys.executable, str(SCRIPT), "--fast"), True),
        (TIMEIT, True),
        ((sys.executable, "-m", "pyperf", "command", "ls"), False),
        ((sys.executable, __file__ + ".gone.py"), False),
        ((sys.executable, str(SOURCES / "pytest_benchmark/bench/bench_work.py")), False),
        ((sys.executable, "-m", "pytest", str(SOURCES / "pytest_benchmark/bench")), False),
        (("pyperf",), False),
    ],
)
def test_it_is_recognised_by_its_script(words: tuple[str, ...], own: bool) -> None:
    found = launch(*words)
    assert Pyperf().recognises(found) is own
    if own:
        assert not PytestBenchmark().recognises(found)
        assert not Jmh().recognises(found)


# --- the format


def result(run: dict[str, Any] | None = None, **metadata: Any) -> str:
    runs = [{"values": [1e-6, 2e-6], **(run or {})}]
    facts = {"name": "a", "loops": 5, "inner_loops": 2, "unit": "second", **metadata}
    return json.dumps({"benchmarks": [{"runs": runs}], "metadata": facts, "version": "1.0"})


def test_times_become_those_of_all_iterations() -> None:
    (one,) = results_in(result())
    assert one.samples() == (Sample(10, 10_000), Sample(10, 20_000))
    (one,) = results_in(result({"metadata": {"loops": 7}}))
    assert one.samples() == (Sample(14, 14_000), Sample(14, 28_000))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "wrote no file of pyperf's results"),
        ("garbage", "is no JSON"),
        (result()[:-5], "is no JSON, or was cut"),
        ("{}", "is no file of pyperf's results"),
        ("[]", "is no file of pyperf's results"),
        ('{"benchmarks": [{}]}', "is no file of pyperf's results"),
        ('{"benchmarks": [{"runs": [{"values": [1.0]}]}]}', "is no file of pyperf's results"),
        (result(unit="byte"), 'measured "a" in "byte"s, which is no time'),
        (result(loops=0), "wrote 0 loops"),
        (result(inner_loops=1.5), "1.5 inner loops"),
        (result({"values": [0.0]}), "took 0.0 ns"),
        (result({"values": [-1.0]}), "a number above 0"),
        (result({"values": [math.nan]}), "took NaN ns"),
        (result({"values": ["1"]}), 'took "1" ns'),
        (result({"values": [None]}), "took null ns"),
    ],
)
def test_what_is_no_result(text: str, said: str) -> None:
    with refused(said):
        [one.samples() for one in results_in(text)]


@pytest.mark.parametrize(
    ("values", "said"), [([1e-6], "gave 1 sample where 2 were asked"), ([1e-6] * 3, "gave 3 samples where 2")]
)
def test_another_number_of_values_is_refused(values: list[float], said: str) -> None:
    written = result({"values": values}).encode()
    with pytest.raises(LaunchError, match=said):
        Pyperf().samples(that_wrote(written), Work("a", 10, 2))


def test_a_script_that_is_no_benchmark_lists_nothing(launcher: Launcher) -> None:
    driver = Driver(Pyperf(), launch(sys.executable, "-c", "print(1)"), launcher)
    with pytest.raises(LaunchError, match="wrote no file of pyperf's results"):
        driver.listed()
