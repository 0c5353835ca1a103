"""pytest-benchmark, driven for real: a pytest of its own, in a folder of its own."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from steelyard.measure.launch import Launcher
from steelyard.model.errors import LaunchError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import Sample
from steelyard.subjects.adapters.jmh import Jmh
from steelyard.subjects.adapters.pyperf import Pyperf
from steelyard.subjects.adapters.pytest_benchmark import PytestBenchmark, results_in
from steelyard.subjects.harness import Work
from tests.design.scripted import PLAIN
from tests.in_process import InProcess
from tests.subjects.adapters.driven import SOURCES, Driver, refused, spec, that_wrote

PYTEST = (sys.executable, "-m", "pytest")
WORK = "bench/bench_work.py"
BROKEN = "bench/bench_broken.py"
PEDANTIC = ("test_pedantic_with_setup", "test_pedantic")

STATE = """
made = []

def work(): sum(range(100))

def check(benchmark):
    assert not made
    made.append(1)
    benchmark(work)

def test_one(benchmark): check(benchmark)
def test_other(benchmark): check(benchmark)
def test_third(benchmark): check(benchmark)
"""
ENDS = """
import os, signal, sys

def test_killed(benchmark): benchmark(os.kill, os.getpid(), signal.SIGKILL)
def test_exits(benchmark): benchmark(sys.exit, 0)
def test_good(benchmark): benchmark(sum, range(100))
"""
FROZEN = """
import time

def test_frozen(benchmark, monkeypatch):
    for name in ("perf_counter", "thread_time_ns", "process_time_ns"):
        monkeypatch.setattr(time, name, lambda: 5)
    benchmark(sum, range(1000))
"""
THREADS = """
import threading
threading.Thread(target=threading.Event().wait, daemon=True).start()

def test_one(benchmark): benchmark(sum, range(100))
def test_other(benchmark): benchmark(sum, range(100))
"""

# Half the time of a start goes into the other plugins that are installed here.
ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "pytest_benchmark.plugin"}

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("pytest_benchmark") is None, reason="pytest-benchmark is missing: pip install it"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(tmp_path_factory.mktemp("tests"))


def copied(place: Path) -> Path:
    """Copy the tests to a folder, because pytest-benchmark makes a folder where it runs."""
    shutil.copytree(SOURCES / "pytest_benchmark", place, dirs_exist_ok=True)
    return place


def launch(folder: Path, *words: str, plugins: Mapping[str, str] = ALONE) -> LaunchSpec:
    env = ("LANG=C.UTF-8", *(f"{name}={value}" for name, value in plugins.items()))
    return replace(spec(*PYTEST, *(words or ("bench",)), env=env), cwd=str(folder).encode())


@pytest.fixture(scope="module")
def driver(folder: Path, launcher: Launcher) -> Driver:
    return Driver(PytestBenchmark(), launch(folder), launcher)


def test_it_lists_the_tests_that_use_the_fixture(driver: Driver) -> None:
    listed = {one.name: one for one in driver.listed()}
    names = [name.partition("::")[2] for name in listed if name.startswith(WORK) and "[" not in name]
    assert names == [
        "test_sum",
        "test_sum_of_more",
        "TestClass::test_marked",
        "test_pedantic",
        "test_pedantic_with_setup",
        "test_of_a_fixture",
        "test_in_another_thread",
    ]
    assert not any("plain" in name or "test_skipped" in name for name in listed)
    assert listed[f"{WORK}::TestClass::test_marked"].tags == ("heavy",)
    assert listed[f"{WORK}::test_text[a/b::c[d]-2.5]"].params == {"text": "a/b::c[d]", "n": "2.5"}
    assert sum("test_text[" in name for name in listed) == 14


def test_the_value_is_what_pytest_benchmark_says_with_the_time_on_a_processor(driver: Driver) -> None:
    samples = driver.run(f"{WORK}::test_sum", loops=50, samples=9)
    assert [one.loops for one in samples] == [50] * 9
    for one in samples:
        assert one.cpu_ns is not None
        assert one.delay_ns is not None
        assert one.delay_ns + one.cpu_ns < 2 * one.ns
    assert driver.measured is not None
    (own,) = json.loads(driver.measured.results or b"")["benchmarks"]
    times = [one.ns / one.loops for one in samples]
    assert [min(times), max(times)] == pytest.approx([own["stats"][name] * 1e9 for name in ("min", "max")], rel=1e-3)


def test_the_time_on_a_processor_is_not_told_where_another_thread_works(driver: Driver) -> None:
    assert {one.cpu_ns for one in driver.run(f"{WORK}::test_in_another_thread", loops=20)} == {None}


def test_clocks_that_a_test_has_stand_still_are_not_ours(driver: Driver, tmp_path: Path) -> None:
    (tmp_path / "test_frozen.py").write_text(FROZEN)
    own = Driver(driver.harness, launch(tmp_path, "."), driver.launcher)
    samples = own.run("test_frozen.py::test_frozen", loops=10, samples=3)
    assert all(one.ns > 1 and one.cpu_ns for one in samples)


def test_what_pedantic_fixes_is_left_to_it(driver: Driver) -> None:
    measured, works = each_of(driver, *(f"{WORK}::{name}" for name in PEDANTIC))
    loops = [[one.loops for one in samples] for samples in samples_of(driver, measured, works)]
    assert loops == [[1] * 5, [11] * 7]


@pytest.mark.parametrize(
    ("test", "said"),
    [
        (f"{BROKEN}::test_skips", "says: the test was skipped: not here"),
        (f"{BROKEN}::test_expects_an_exception", "says: what it measures raised an exception, which the test expects"),
        (f"{WORK}::test_plain", "says: no test that uses the benchmark fixture is called bench/bench_work.py::test_pl"),
    ],
)
def test_one_that_fails_says_why(driver: Driver, test: str, said: str) -> None:
    measured = driver.launcher.launch(driver.harness.running(driver.launch, Work(test, 1, 2)))
    assert measured.has_failed()
    assert said in (driver.harness.complaint(measured) or "")
    assert driver.harness.skips(measured) == test.endswith("::test_skips")


def each_of(driver: Driver, *tests: str) -> tuple[Measured, list[Work]]:
    """Launch several tests by one start; return the launch, and what each test was to do."""
    works = [Work(test, 3, 4) for test in tests]
    return driver.launcher.launch(driver.harness.running_each(driver.launch, works)), works


def samples_of(driver: Driver, measured: Measured, works: list[Work]) -> list[tuple[Sample, ...]]:
    """Return the samples of each test of such a launch, all of which must have gone well."""
    assert not measured.has_failed(), measured
    parts = driver.harness.apart(measured, works)
    assert not any(part.has_failed() for part in parts), parts
    return [driver.harness.samples(part, work) for part, work in zip(parts, works, strict=True)]


def test_several_of_any_name_have_a_start_in_common_and_a_process_each(driver: Driver) -> None:
    names = [
        "test_of_a_fixture",
        "test_sum",
        "TestClass::test_marked",
        "test_text[with space-1]",
        "test_text[a/b::c[d]-2.5]",
        r"test_text[gr\xf6\xdfe/\u65e5\u672c-1]",
        "test_text['quotes\" $HOME-2.5]",
    ]
    measured, works = each_of(driver, *(f"{WORK}::{name}" for name in names))
    assert [[one.loops for one in samples] for samples in samples_of(driver, measured, works)] == [[3] * 4] * 7
    parts = driver.harness.apart(measured, works)
    assert sum(part.wall_ns for part in parts) < measured.wall_ns
    assert parts[0].start_ns > measured.start_ns
    assert parts[1].cpu_ns is not None
    assert parts[1].delay_ns is not None
    slept = driver.harness.samples(parts[2], works[2])
    assert all((one.cpu_ns or 0) < one.ns / 2 for one in slept)


def both_of(driver: Driver, tests: Sequence[str], turns: str) -> list[list[tuple[Measured, tuple[Sample, ...]]]]:
    """Return what two launches beside each other measure of these tests; where `turns` has a 0, the first begins."""
    opposite = turns.translate(str.maketrans("01", "10"))
    works = [
        [Work(test, 2, 3, orders=turn * 3) for test, turn in zip(tests, of, strict=True)] for of in (turns, opposite)
    ]
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    specs = [replace(driver.harness.running_each(driver.launch, of), cpus=cpus) for of in works]
    found = []
    for measured, of in zip(driver.launcher.launch_together(*specs, second_begins=False), works, strict=True):
        assert not measured.has_failed(), measured
        parts = driver.harness.apart(measured, of)
        found.append([(part, driver.harness.samples(part, work)) for part, work in zip(parts, of, strict=True)])
    return found


def test_both_sides_take_their_samples_in_turn(driver: Driver) -> None:
    names = ("test_sum", "TestClass::test_marked", "test_sum_of_more", "test_sum", *PEDANTIC)
    one, other = both_of(driver, [f"{WORK}::{name}" for name in names], "001001")
    for place, turn in enumerate("0010"):
        assert [sample.order for sample in one[place][1]] == [int(turn)] * 3
        assert [sample.order for sample in other[place][1]] == [1 - int(turn)] * 3
    # What has rounds of its own has one turn.
    assert [[len(samples) for _, samples in side[4:]] for side in (one, other)] == [[5, 7]] * 2
    assert {sample.order for side in (one, other) for _, samples in side[4:] for sample in samples} == {None}
    for (part, _), (beside, _) in zip(one, other, strict=True):  # both exist at the same time
        assert part.start_ns < beside.start_ns + beside.wall_ns
        assert beside.start_ns < part.start_ns + part.wall_ns
    # The test sleeps 9 times: if both slept at the same time, they would take as long as one.
    slept = [sum(sample.ns for sample in side[1][1]) for side in (one, other)]
    assert max(one[1][0].wall_ns, other[1][0].wall_ns) > 0.9 * sum(slept)


def test_what_works_elsewhere_has_a_start_of_its_own(driver: Driver) -> None:
    measured, works = each_of(driver, f"{WORK}::test_in_another_thread", f"{WORK}::test_sum")
    elsewhere, here = driver.harness.apart(measured, works)
    assert "others do some of its work" in (driver.harness.complaint(elsewhere) or "")
    assert not here.has_failed()


def test_a_side_whose_partner_is_gone_goes_on_alone(driver: Driver) -> None:
    works = [Work(f"{WORK}::{test}", 2, 3, orders="111") for test in ("test_sum", "test_sum_of_more")]
    good = driver.harness.running_each(driver.launch, works)
    gone = driver.harness.running_each(driver.launch, [replace(works[0], name="gone.py::test")])
    left, ended = driver.launcher.launch_together(good, gone, second_begins=False)
    assert ended.has_failed()
    assert not left.has_failed(), left
    for part, work in zip(driver.harness.apart(left, works), works, strict=True):
        assert [sample.order for sample in driver.harness.samples(part, work)] == [None] * 3


def test_one_whose_partner_fails_goes_on_alone(driver: Driver) -> None:
    sides = [
        [Work(f"{folder}::{test}", 2, 3, orders=turn) for folder, test in tests]
        for tests, turn in (
            (((WORK, "test_sum"), (WORK, "test_sum_of_more")), "000"),
            (((BROKEN, "test_raises"), (WORK, "test_sum_of_more")), "111"),
        )
    ]
    specs = [driver.harness.running_each(driver.launch, works) for works in sides]
    both = driver.launcher.launch_together(*specs, second_begins=True)
    good, bad = (driver.harness.apart(one, works) for one, works in zip(both, sides, strict=True))
    assert [sample.order for sample in driver.harness.samples(good[0], sides[0][0])][1:] == [None] * 2
    assert bad[0].has_failed()
    for parts, works, order in ((good, sides[0], 0), (bad, sides[1], 1)):
        assert [sample.order for sample in driver.harness.samples(parts[1], works[1])] == [order] * 3


def test_two_launches_take_their_samples_in_turn(driver: Driver) -> None:
    works = [Work(f"{WORK}::test_sum", 2, 4, orders=order * 4) for order in "01"]
    both = driver.launcher.launch_together(
        *(driver.harness.running(driver.launch, work) for work in works), second_begins=False
    )
    for order, (measured, work) in enumerate(zip(both, works, strict=True)):
        assert [sample.order for sample in driver.harness.samples(measured, work)] == [order] * 4


def test_none_finds_what_another_one_left_behind_and_one_that_kills_its_process_is_told_of(
    driver: Driver, tmp_path: Path
) -> None:
    (tmp_path / "test_state.py").write_text(STATE)
    (tmp_path / "test_ends.py").write_text(ENDS)
    own = Driver(driver.harness, launch(tmp_path, "."), driver.launcher)
    states = (f"test_state.py::test_{name}" for name in ("one", "other", "one", "third"))
    measured, works = each_of(own, *states, *(f"test_ends.py::test_{name}" for name in ("killed", "exits", "good")))
    assert not measured.has_failed(), measured
    *four, killed, exits, good = own.harness.apart(measured, works)
    assert [part.exit_code for part in four] == [0] * 4
    assert killed.signal == 9
    assert "SystemExit" in (own.harness.complaint(exits) or "")
    assert len(own.harness.samples(good, works[-1])) == 4


def test_those_that_end_badly_leave_the_others_alone(driver: Driver) -> None:
    tests = ("test_fails", "test_skips", "test_expected", "test_raises", "test_unexpected", "test_never_calls")
    measured, works = each_of(
        driver, f"{WORK}::test_sum", *(f"{BROKEN}::{test}" for test in tests), f"{WORK}::test_sum"
    )
    first, *broken, never, last = driver.harness.apart(measured, works)
    for part, work in ((first, works[0]), (last, works[-1])):
        assert len(driver.harness.samples(part, work)) == 4
    said = [driver.harness.complaint(part) or "" for part in broken]
    assert all(part.exit_code == 1 for part in broken)
    assert [driver.harness.skips(part) for part in broken] == [False, True, True, False, False]
    causes = ("planted assert", "not here", "expected to fail", "ValueError", "test_unexpected: the test failed")
    for sentence, words in zip(said, causes, strict=True):
        assert words in sentence
    with pytest.raises(LaunchError, match=r"never called benchmark\(\)"):
        driver.harness.samples(never, works[-2])


def test_where_threads_run_no_process_is_forked(driver: Driver, tmp_path: Path) -> None:
    (tmp_path / "test_threads.py").write_text(THREADS)
    own = Driver(driver.harness, launch(tmp_path, "."), driver.launcher)
    measured, _ = each_of(own, "test_threads.py::test_one", "test_threads.py::test_other")
    assert measured.has_failed()
    assert "says: 2 threads run when the tests are loaded" in (own.harness.complaint(measured) or "")


def test_one_that_is_not_there_keeps_all_from_running(driver: Driver) -> None:
    measured, _ = each_of(driver, f"{WORK}::test_sum", f"{WORK}::test_gone")
    assert "no test that uses the benchmark fixture is called bench/bench_work.py::test_gone" in (
        driver.harness.complaint(measured) or ""
    )


def test_a_weighing_of_several_by_one_start_a_side(here: InProcess) -> None:
    here.environment.update(ALONE)
    copied(here.folder)
    sides = [shlex.join(["env", f"FACTOR={factor}", *PYTEST, "bench"]) for factor in (1, 5)]
    chosen = ("-b", f"{WORK}::test_sum", "-b", f"{WORK}::TestClass::test_marked", "-b", f"{BROKEN}::test_fails")
    words = (
        "--harness",
        "pytest-benchmark",
        *sides,
        *chosen,
        "--warmup",
        "0",
        "--pairs",
        "6",  # the fewest that decide, for one of two
        "--alpha",
        "0.2",
        "--json",
        "record.json",
    )
    done = here("compare", *words, "--names", "old,new")
    assert done.status == 3, done
    record = here.json()
    assert record["settings"]["starts"] == "shared"
    words_of = {one["benchmark"].rpartition("::")[2]: one["verdict"] for one in record["derived"]["verdicts"]}
    assert words_of["test_sum"] == "slower"
    assert "test_marked" in words_of
    assert f"old ({BROKEN}::test_fails) failed with exit status 1 and says" in " ".join(done.text.split())
    assert "planted assert" in done.text
    assert not [file for file in (here.folder / ".benchmarks").rglob("*") if file.is_file()]


def test_one_that_never_calls_it_measures_nothing(driver: Driver) -> None:
    with pytest.raises(LaunchError, match=r"never called benchmark\(\)"):
        driver.run(f"{BROKEN}::test_never_calls")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("bench", "-p", "no:benchmark"), f"says: pytest-benchmark is not installed for {sys.executable}, or"),
        (("bad",), "says: bad/bench_bad.py: ZeroDivisionError: division by zero"),
    ],
)
def test_a_list_that_fails_says_why(driver: Driver, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    folder = copied(tmp_path)
    plugins = ALONE
    (folder / "bad").mkdir()
    (folder / "bad/bench_bad.py").write_text("1 / 0\n")
    if "no:benchmark" in words:
        plugins = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        (folder / "pytest.ini").write_text("[pytest]\npython_files = bench_*.py\n")
    measured = driver.launcher.launch(driver.harness.listing(launch(folder, *words, plugins=plugins)))
    assert measured.has_failed()
    assert said in (driver.harness.complaint(measured) or ""), measured


def test_those_that_the_project_skips_by_default_are_measured(driver: Driver, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --benchmark-skip\n")
    (tmp_path / "test_state.py").write_text(STATE)
    own = Driver(driver.harness, launch(tmp_path, "."), driver.launcher)
    assert own.names() == [f"test_state.py::test_{name}" for name in ("one", "other", "third")]
    assert len(own.run("test_state.py::test_one", loops=3, samples=4)) == 4


def test_a_python_without_pythonpath_is_told_of(driver: Driver, folder: Path) -> None:
    isolated = replace(launch(folder), argv=tuple(map(str.encode, (sys.executable, "-I", "-m", "pytest", "bench"))))
    measured = driver.launcher.launch(driver.harness.listing(isolated))
    assert measured.has_failed()
    assert "-I or -E" in (driver.harness.complaint(measured) or "")


def test_it_may_be_loaded_without_all_other_plugins(driver: Driver, folder: Path) -> None:
    bare = replace(launch(folder, "bench", "-p", "pytest_benchmark.plugin"), env=(b"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1",))
    own = Driver(driver.harness, bare, driver.launcher)
    assert len(own.run(f"{WORK}::test_sum", loops=3, samples=4)) == 4


def test_the_user_s_pythonpath_stays(folder: Path) -> None:
    given = replace(launch(folder), env=(b"PYTHONPATH=/one:/two",))
    (path,) = (one for one in PytestBenchmark().listing(given).env if one.startswith(b"PYTHONPATH="))
    assert path.startswith(b"PYTHONPATH=/one:/two:")


# --- recognised


@pytest.mark.parametrize(
    ("words", "own"),
    [
        ((*PYTEST, "bench"), True),
        ((*PYTEST, f"{WORK}::test_sum"), True),
        ((*PYTEST,), True),
        (("pytest", "bench"), True),
        ((sys.executable, WORK), False),
        ((*PYTEST, "weigh"), False),
        ((*PYTEST, "plain"), False),
        ((*PYTEST, "bench", "weigh"), True),  # ours recognises it, too, so the user has to say which is meant
    ],
)
def test_it_is_recognised_by_its_words_and_its_tests(tmp_path: Path, words: tuple[str, ...], own: bool) -> None:
    folder = copied(tmp_path)
    for name, fixture in (("weigh", "weigh"), ("plain", "tmp_path")):
        place = folder / name
        place.mkdir()
        (place / "test_one.py").write_text(f"def test_one({fixture}):\n    pass  # no benchmark\n")
    found = replace(spec(*words), cwd=str(folder).encode())
    assert PytestBenchmark().recognises(found) is own
    assert not Jmh().recognises(found)
    assert not Pyperf().recognises(found)


# --- the format


def result(**changes: Any) -> str:
    stats = {"data": [1e-6, 2e-6], "iterations": 10, **changes}
    return json.dumps({"benchmarks": [{"fullname": "a.py::b", "stats": stats}]})


def test_times_become_those_of_all_iterations() -> None:
    (one,) = results_in(result())
    assert one.samples() == (Sample(10, 10_000), Sample(10, 20_000))


def test_a_wait_that_was_not_in_the_round_is_left_out() -> None:
    told = json.loads(result()) | {"steelyard": [[9_000, 2_000], [19_000, 2_000_000]]}
    (one,) = results_in(json.dumps(told))
    assert one.samples() == (Sample(10, 10_000, 9_000, 2_000), Sample(10, 20_000, 19_000, 0))


def test_rounds_of_a_warm_up_are_none_of_those_that_count() -> None:
    told = json.loads(result()) | {"steelyard": [[1_000, 0], [9_000, 500], [19_000, 0]]}
    (one,) = results_in(json.dumps(told))
    assert one.samples() == (Sample(10, 10_000, 9_000, 500), Sample(10, 20_000, 19_000, 0))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (json.dumps(json.loads(result()) | {"steelyard": [[1]]}), "without pytest-benchmark's data"),
        ("", "wrote no file of pytest-benchmark's results"),
        ("garbage", "is no JSON"),
        (result()[:-5], "is no JSON, or was cut"),
        ("{}", "without pytest-benchmark's data"),
        ("[]", "without pytest-benchmark's data"),
        ('{"benchmarks": [{"fullname": "a"}]}', "without pytest-benchmark's data"),
        (result(data=None), "without pytest-benchmark's data"),
        (result(data=[]), "wrote no round"),
        (result(data=[0.0]), "took 0.0 ns"),
        (result(data=[-1e-6]), "a number above 0"),
        (result(data=[math.nan]), "took NaN ns"),
        (result(data=[True]), "took true ns"),
        (result(data=["1"]), 'took "1" ns'),
        (result(iterations=0), "a number above 0"),
        (result(iterations=1.5), "they have to be an integer"),
        (result(iterations=None), "they have to be an integer"),
    ],
)
def test_what_is_no_result(text: str, said: str) -> None:
    with refused(said):
        [one.samples() for one in results_in(text)]


@pytest.mark.parametrize("written", ["", "x", "[]", "{}", '{"benchmarks": 1}', '{"benchmarks": [{"name": "a"}]}'])
def test_what_is_no_list(written: str) -> None:
    with pytest.raises(LaunchError):
        PytestBenchmark().listed(that_wrote(written))


def test_what_pytest_refuses_is_said_and_not_the_folders_that_it_names_behind_that() -> None:
    stderr = b"ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: --cov\n  rootdir: /x\n"
    complaint = PytestBenchmark().complaint
    assert complaint(replace(PLAIN, exit_code=4, stderr=stderr)) == "says: unrecognized arguments: --cov"
    assert complaint(replace(PLAIN, exit_code=1, stderr=stderr)) is None


def test_a_complaint_that_was_cut_is_none() -> None:
    for written in (b'{"error": "cut', b'{"error": 1}', b"\xff", b""):
        assert PytestBenchmark().complaint(replace(PLAIN, results=written, exit_code=1)) is None


def test_a_command_that_sets_pythonpath_itself_is_told_another_way() -> None:
    lacks = b"ImportError: Error importing plugin \"steelyard_in_pytest\": No module named 'steelyard_in_pytest'\n"
    said = PytestBenchmark().complaint(replace(PLAIN, stderr=lacks, exit_code=4))
    assert said is not None
    assert said.endswith("does it set PYTHONPATH itself? Then leave that to --env PYTHONPATH=FOLDER")


def test_a_traceback_through_the_plugin_does_not_say_that_it_is_missing() -> None:
    trace = b'  File "/x/steelyard_in_pytest/__init__.py", line 1, in f\nResourceWarning: unclosed <socket>\n'
    assert PytestBenchmark().complaint(replace(PLAIN, stderr=trace, exit_code=1)) is None


def test_another_one_that_answers_is_refused() -> None:
    measured = replace(PLAIN, results=result().encode(), results_bytes=1)
    with pytest.raises(LaunchError, match=r'ran "a\.py::b" where only "a\.py::c"'):
        PytestBenchmark().samples(measured, Work("a.py::c", 10, 2))
