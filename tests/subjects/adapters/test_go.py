"""Go's benchmarks, driven for real: tests/adapters/go, and a package of the standard library."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from steelyard.measure.launch import Launcher
from steelyard.model.errors import LaunchError, UsageError
from steelyard.model.rows import Sample
from steelyard.subjects.adapters.go import Go, GoResult, names_in, processed_in, results_in
from steelyard.subjects.harness import Work
from tests import builds
from tests.design.scripted import PLAIN
from tests.in_process import InProcess
from tests.subjects.adapters.driven import FEW_PAIRS, SOURCES, Driver, offered, spec, that_printed
from tests.tool import rows

MODULE = SOURCES / "go"
PACKAGE = MODULE / "awkward"
FILES = ("--names", "old,new", "--json", "record.json")
SUBS = [
    "with_spaces,_and_a_comma",
    "a",
    "a/b",
    "a/b/c",
    "dup",
    "dup#01",
    "dup#01#01",
    "#00",
    "n=10-2",
    "n=10",
    "-2",
    "-",
    ".*^$|(regex)+?",
    "*[glob]?{a,b}",
    "[",
    "(",
    "back\\slash",
    "|",
    "größe/日本語/🦀",
    "tab_nul\\x00zero\\u200bwidth",
    "'single'_\"double\"_`back`",
    "/",
    "trailing/",
    "--flag",
    "$HOME;#<&>%s%n{n}",
    "x" * 450,
    "Benchmark",
    "BenchmarkNames_100_5_ns/op",
]
NAMES = [
    *(f"Benchmark{name}" for name in ("Sum", "Steady", "Größe", "Metrics", "Parallel", "Reads")),
    *(f"BenchmarkNames/{name}" for name in SUBS),
    *(f"BenchmarkDeep/{outer}/{inner}" for outer in ("one", "two") for inner in ("one", "two")),
    *(f"Benchmark{name}" for name in ("Prints", "Fails", "FailsLater", "SkipsLater", "HidesItsTime", "IgnoresN")),
    "BenchmarkLoops",
]


def compiler() -> str:
    found = shutil.which("go", path=f"{os.environ['PATH']}{os.pathsep}/usr/local/go/bin")
    if found is None:
        pytest.skip("there is no go: install Go 1.24, or a newer one")
    return found


def built(name: str, package: str, *words: str) -> Path:
    """Return the test binary of a package."""
    go = compiler()

    def make(place: Path) -> None:
        environment = os.environ | {"GOTOOLCHAIN": "local", "GOPROXY": "off", "GOFLAGS": ""}
        command = [go, "test", "-c", "-p", "1", *words, "-o", str(place / name), package]
        subprocess.run(command, cwd=MODULE, env=environment, check=True, capture_output=True)

    return offered(builds.built(f"go-{name}", make, MODULE, go, package, *words) / name, f"go/{name}")


@pytest.fixture(scope="session")
def awkward() -> Path:
    return built("awkward.test", "./awkward")


@pytest.fixture(scope="session")
def slower() -> Path:
    return built("slower.test", "./awkward", "-ldflags", "-X steelyard.test/awkward/awkward.slower=yes")


@pytest.fixture(scope="session")
def panics() -> Path:
    return built("panics.test", "./panics")


def driver_of(launcher: Launcher, program: Path, *words: str, env: tuple[str, ...] = (), cwd: Path = PACKAGE) -> Driver:
    return Driver(Go(), replace(spec(program, *words, env=env), cwd=os.fsencode(cwd)), launcher)


@pytest.fixture
def driver(awkward: Path, launcher: Launcher) -> Driver:
    return driver_of(launcher, awkward)


# --- the list


def test_it_lists_what_runs_and_what_fails(driver: Driver) -> None:
    assert driver.names() == NAMES


@pytest.mark.parametrize("words", [("-test.cpu", "1"), ("-test.cpu=3",), ("-test.v",)])
def test_the_number_of_processors_is_in_no_name(launcher: Launcher, awkward: Path, words: tuple[str, ...]) -> None:
    driver = driver_of(launcher, awkward, *words)
    assert driver.names() == NAMES
    for name in ("BenchmarkNames/n=10", "BenchmarkNames/n=10-2", "BenchmarkNames/-"):
        assert len(driver.run(name, loops=10)) == 2


def test_flags_of_the_user(launcher: Launcher, awkward: Path) -> None:
    driver = driver_of(launcher, awkward, "-test.skip=Names|Fails|Reads", "-test.benchmem")
    assert driver.names() == [name for name in NAMES if not any(word in name for word in ("Names", "Fails", "Reads"))]
    assert len(driver.run("BenchmarkSum", loops=10)) == 2
    for flag in ("-test.bench", "--test.bench=Sum"):
        with pytest.raises(UsageError, match="choose with --benchmark"):
            Go().listing(spec(awkward, flag, "Sum"))
    with pytest.raises(UsageError, match="build once, with go test -c"):
        Go().listing(spec("/usr/bin/go", "test", "./..."))
    two = driver_of(launcher, awkward, "-test.cpu=1,2")
    assert two.names() == NAMES
    with pytest.raises(LaunchError, match=r"give -test\.cpu just one"):
        two.run("BenchmarkSum")


def test_what_ends_its_process_does_not_hide_the_others(launcher: Launcher, panics: Path) -> None:
    driver = driver_of(launcher, panics)
    assert driver.names() == [f"Benchmark{name}" for name in ("Panics", "Good", "Parent/before", "Parent/exits")]
    assert len(driver.run("BenchmarkGood", loops=10)) == 2
    with pytest.raises(LaunchError, match="or end its process"):
        driver.run("BenchmarkParent/exits")


def test_only_test_binaries_are_recognised(awkward: Path) -> None:
    assert Go().recognises(spec(awkward))
    for other in (compiler(), "/bin/sh", "/nowhere"):
        assert not Go().recognises(spec(other))


LISTS = {
    "": [],
    "hello\nBenchmarkX\n": [],
    "\x16=== RUN   BenchmarkX\nBenchmarkX\nBenchmarkX-8 \t 1\t 5 ns/op\n\x16PASS\n\x16=== END   .\n": ["BenchmarkX"],
    "a\x16=== RUN   BenchmarkX\nBenchmarkX\nbBenchmarkX \t 1\t 5 ns/op\n\x16=== END   .\n": ["BenchmarkX"],
    "\x16=== RUN   BenchmarkX\n\x16--- SKIP: BenchmarkX\n\x16PASS\n\x16=== END   .\n": [],
    "\x16=== RUN   BenchmarkX\nfatal\n\x16=== END   BenchmarkX\n": ["BenchmarkX"],
}


@pytest.mark.parametrize(("text", "names"), LISTS.items())
def test_lists(text: str, names: list[str]) -> None:
    assert names_in(text) == names


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("\x16=== RUN   BenchmarkX\nBenchmarkX\n", "cut its list off: "),
        ("usage\n\x16=== END   BenchmarkX\n", "began no benchmark when it was asked to (-test.v=test2json): 'usage"),
    ],
)
def test_lists_that_are_none(text: str, says: str) -> None:
    with pytest.raises(LaunchError) as caught:
        names_in(text)
    assert str(caught.value).startswith(says)


# --- one benchmark


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith(("BenchmarkNames", "BenchmarkDeep"))])
def test_exactly_the_one_that_is_asked_for_runs(driver: Driver, name: str) -> None:
    found = driver.run(name, loops=37, samples=3)
    assert [sample.loops for sample in found] == [37] * 3


@pytest.mark.parametrize("name", ["BenchmarkSum", "BenchmarkGröße", "BenchmarkMetrics", "BenchmarkParallel"])
def test_loops_and_samples_are_as_asked(driver: Driver, name: str) -> None:
    for loops, samples in ((1, 1), (1, 3), (200_000 if name == "BenchmarkGröße" else 2000, 2)):
        assert [sample.loops for sample in driver.run(name, loops, samples)] == [loops] * samples


def test_the_time_is_the_one_that_go_reports(driver: Driver) -> None:
    found = driver.run("BenchmarkSteady", loops=2000, samples=9)
    assert driver.measured is not None
    lines = (driver.measured.stdout or b"").decode().splitlines()
    theirs = [float(line.split()[2]) for line in lines if line.startswith("BenchmarkSteady")]
    assert [sample.ns / sample.loops for sample in found] == pytest.approx(theirs)
    # What is timed is within the launch, and most of it, as far as a busy machine can show.
    assert 0.01 * driver.measured.wall_ns < sum(sample.ns for sample in found) < driver.measured.wall_ns


@pytest.mark.parametrize("name", ["BenchmarkSteady", "BenchmarkLoops"])
def test_the_processor_time_of_a_launch_is_that_of_its_iterations(driver: Driver, name: str) -> None:
    """With b.Loop, too, which calls the function once for all iterations; with b.N one iteration is tried before."""
    few, many = (driver.run_by_process(name, loops) for loops in (50_000, 150_000))
    assert many.cpu_ns is not None
    assert few.cpu_ns is not None
    assert many.cpu_ns < 1.5 * many.ns, "all of them tried before would make it twice as much"
    assert 2 < many.cpu_ns / few.cpu_ns < 4.5
    assert driver.measured is not None
    assert f"{name}-".encode() not in (driver.measured.stdout or b""), "it has one processor"


@pytest.mark.parametrize(
    ("words", "env", "can"),
    [
        ((), (), True),
        (("-test.cpu=1", "-test.cpuprofile=x"), ("GOMAXPROCS=1",), True),
        (("-test.cpu=4",), (), False),
        (("--test.cpu", "1"), (), False),
        ((), ("GOMAXPROCS=2",), False),
    ],
)
def test_whoever_says_how_many_processors_go_has_is_timed_by_go(
    words: tuple[str, ...], env: tuple[str, ...], can: bool
) -> None:
    work = Work("BenchmarkX", 100, 1, by_process=True)
    start = Go().starting(spec("old.test", *words, env=env), work)
    assert (start is not None) is can


@pytest.mark.parametrize("words", [(), ("-test.cpu=1",)])
def test_what_runs_in_parallel_says_so_however_busy_the_processors_are(
    launcher: Launcher, awkward: Path, words: tuple[str, ...]
) -> None:
    driver = driver_of(launcher, awkward, *words)
    work = Work("BenchmarkParallel", 400_000, 1, by_process=True, tries_process=True)
    measured = launcher.launch(driver.harness.running(driver.launch, work))
    if words:  # the user said that one processor is right
        assert driver.harness.samples(measured, work)
        return
    with pytest.raises(LaunchError, match=r"by b\.RunParallel"):
        driver.harness.samples(measured, work)


def test_what_one_thread_computes_may_be_timed_by_its_process(driver: Driver) -> None:
    work = Work("BenchmarkSum", 100_000, 1, by_process=True, tries_process=True)
    assert driver.harness.samples(driver.launcher.launch(driver.harness.running(driver.launch, work)), work)


def test_what_is_printed_meanwhile_is_no_result(driver: Driver) -> None:
    found = driver.run("BenchmarkPrints", loops=100, samples=4)
    assert [sample.loops for sample in found] == [100] * 4


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("BenchmarkHidesItsTime", 'gave no result of "BenchmarkHidesItsTime": did it skip itself'),
        ("BenchmarkSkips", 'gave no result of "BenchmarkSkips": did it skip itself'),
        ("BenchmarkSkipsLater", "ran 0 iterations where 5 were asked for: it skipped itself"),
        ("BenchmarkNames", 'gave no result of "BenchmarkNames"'),
        ("BenchmarkNames/none", 'gave no result of "BenchmarkNames/none"'),
    ],
)
def test_what_gives_no_time(driver: Driver, name: str, says: str) -> None:
    with pytest.raises(LaunchError) as caught:
        driver.run(name, loops=5)
    assert str(caught.value).startswith(says)


# --- what is printed

HEAD = "goos: linux\ngoarch: amd64\npkg: a/b\ncpu: A Fine One\n"
ALL = {"ns/op": 12.5, "MB/s": 80.0, "apples/op": 3.5, "B/op": 1024.0, "allocs/op": 1.0}
LINE = "BenchmarkX/n=1-8 \t     100\t        12.50 ns/op\t  80.00 MB/s\t 3.500 apples/op\t 1024 B/op\t 1 allocs/op"


@pytest.mark.parametrize(
    "text",
    [
        LINE,
        f"{HEAD}{LINE}\nPASS\nok  \ta/b\t1.2s\n",
        f"BenchmarkX/n=1\n{LINE}\r\n",
        f"no end of line{LINE}",
        LINE.replace("\t", " "),
        LINE.replace("\t", "\thello\n 7", 1),
        LINE.replace("\t", "\t5\t6 items\nBenchmarks of mine\n", 1),
        f"{LINE}\n--- BENCH: BenchmarkX/n=1-8\n    x_test.go:5: 100 5 ns/op\n",
    ],
    ids=range(8),
)
def test_results(text: str) -> None:
    assert results_in(text) == [GoResult("BenchmarkX/n=1-8", 100, ALL)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "PASS",
        "BenchmarkX-8",
        "BenchmarkX-8 \t 100\n",
        "BenchmarkX-8 \t 100\t 12.5 ns",
        "BenchmarkX-8 \t 100\t 5 apples/op",
        "BenchmarkX-8 \t 100\t twelve ns/op",
        "     100\t 12.5 ns/op",
        "\x00\ufffdgarbage\t\t\n",
    ],
)
def test_what_is_no_result(text: str) -> None:
    assert results_in(text) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", 'gave no result of "BenchmarkX"'),
        (HEAD, 'gave no result of "BenchmarkX"'),
        ("BenchmarkX-8 \t 100\t 5 ns/op", "gave 1 sample where 2 were asked for"),
        ("BenchmarkX-8 \t 100\t 5 ns/op\n" * 3, "gave 3 samples where 2"),
        ("BenchmarkX-8 \t 100\t 5 ns/op\nBenchmarkX-8 \t 10", "gave 1 sample where 2"),
        ("BenchmarkX-8 \t 99\t 5 ns/op\n" * 2, "ran 99 iterations where 100 were asked for"),
        ("BenchmarkX-8 \t 100\t NaN ns/op\n" * 2, "gave a sample that took NaN ns"),
        ("BenchmarkX-8 \t 100\t 0.0000000 ns/op\n" * 2, "gave a sample that took 0.0 ns"),
        ("BenchmarkX-8 \t 100\t -5 ns/op\n" * 2, "gave a sample that took -500.0 ns"),
        ("BenchmarkX-8 \t 100\t +Inf ns/op\n" * 2, "gave a sample that took Infinity ns"),
        ("BenchmarkX/y-8 \t 100\t 5 ns/op\n" * 2, 'ran "BenchmarkX/y-8" where only "BenchmarkX" was asked for'),
        ("BenchmarkX-8 \t 100\t 5 ns/op\nBenchmarkX-a \t 100\t 5 ns/op\n", 'ran "BenchmarkX", "BenchmarkX-a" where'),
        ("BenchmarkX \t 100\t 5 ns/op\nBenchmarkX-2 \t 100\t 5 ns/op\n", "ran with several numbers of processors"),
    ],
)
def test_answers_that_are_none(text: str, says: str) -> None:
    with pytest.raises(LaunchError) as caught:
        Go().samples(that_printed(text), Work("BenchmarkX", 100, 2))
    assert str(caught.value).startswith(says)


def test_a_fraction_of_a_ns_is_kept() -> None:
    text = b"BenchmarkX-8 \t 5000000\t 0.3012 ns/op\n"
    assert Go().samples(that_printed(text), Work("BenchmarkX", 5_000_000, 1)) == (Sample(5_000_000, 1_506_000),)


# --- weighed


def test_a_planted_slowdown(here: InProcess, awkward: Path, slower: Path) -> None:
    words = (str(awkward), str(slower), "-b", "BenchmarkSum", *FEW_PAIRS)
    done = here("compare", "--harness", "go", *words, *FILES)
    assert (done.status, done.err) == (1, b"")
    record = here.json()
    (verdict,) = record["derived"]["verdicts"]
    assert (verdict["benchmark"], verdict["verdict"]) == ("BenchmarkSum", "slower")
    assert 0.5 < verdict["change"] < 2
    (benchmark,) = record["benchmarks"]
    for (samples,) in rows(record, "samples"):
        assert [sample[0] for sample in samples] == [benchmark["loops"]] * benchmark["samples"]


def test_of_what_one_thread_computes_both_of_a_pair_share_a_processor(here: InProcess, awkward: Path) -> None:
    words = ("-b", "BenchmarkSteady", *FEW_PAIRS, "--margin", "0.001%")
    assert here("compare", "--harness", "go", str(awkward), str(awkward), *words, *FILES).status in (0, 1)
    record = here.json()
    (benchmark,) = record["benchmarks"]
    assert benchmark["clock"] == "process"
    assert {order for order, role in rows(record, "order", "role") if role == 1} == {2, 3}


def test_those_that_fail_are_named(here: InProcess, awkward: Path, slower: Path) -> None:
    names = ("Steady", "Fails", "FailsLater", "Reads", "HidesItsTime", "IgnoresN")
    chosen = [word for name in names for word in ("-b", f"Benchmark{name}")]
    done = here("compare", "--harness", "go", str(awkward), str(slower), *chosen, *FILES, *FEW_PAIRS)
    assert done.status == 3
    record = here.json()
    assert [one["benchmark"] for one in record["derived"]["verdicts"]] == ["BenchmarkSteady"]
    failed = [finding["message"] for finding in record["findings"] if finding["code"] == "failed"]
    said = {message.split(" (")[1].split(")")[0]: message for message in failed}
    assert said["BenchmarkFails"].endswith("exit status 1 and says: awkward_test.go:121: the input is missing")
    assert said["BenchmarkFailsLater"].endswith("only once awkward_test.go:127: and no more")
    # It runs in the folder of the command line, not in that of the package.
    assert "open testdata/input.txt: no such file" in said["BenchmarkReads"]
    assert "hide its time" in said["BenchmarkHidesItsTime"]
    # Its time, divided by more and more iterations, is finally printed as 0.
    assert "a time has to be a number above 0" in said["BenchmarkIgnoresN"]


def test_a_panic_is_told(here: InProcess, panics: Path) -> None:
    words = ("run", "--harness", "go", shlex.quote(str(panics)), "--name", "old", "--launches", "1", *FILES[2:])
    done = here(*words, "-b", "BenchmarkPanics", "-b", "BenchmarkGood")
    assert done.status == 3
    assert "old (BenchmarkPanics) failed with exit status 2 and says: panic: as it was meant to" in done.err.decode()


def test_each_side_may_have_its_folder(here: InProcess, awkward: Path) -> None:
    command = shlex.join(["env", "-C", str(PACKAGE), str(awkward)])
    done = here("run", "--harness", "go", command, "-b", "BenchmarkReads", "--launches", "2")
    assert (done.status, done.err) == (0, b"")


@pytest.mark.parametrize("flag", ["-bench=.", "-benchmem"])
def test_a_flag_of_go_test_is_said_to_have_another_name(here: InProcess, awkward: Path, flag: str) -> None:
    sentence = here.refuses("run", "--harness", "go", f"{awkward} {flag}", status=3)
    name = flag.partition("=")[0]
    assert f"says: flag provided but not defined: {name} (go test's own flags begin with -test. here" in sentence


def test_what_is_no_test_binary(here: InProcess) -> None:
    assert "lists no benchmark: is it the right program?" in here.refuses("run", "--harness", "go", "true", status=3)
    assert "failed with exit status" in here.refuses("run", "--harness", "go", "ls", status=3)


def test_a_list_that_takes_too_long(here: InProcess, awkward: Path) -> None:
    slow = here.folder / "slow"
    slow.write_text(f'#!/bin/sh\ncase $* in *test.list*) exec {awkward} "$@";; esac\nsleep 50\n')
    slow.chmod(0o755)
    sentence = here.refuses("run", "--harness", "go", str(slow), "--timeout", "0.2", status=3)
    assert "did not end within 0.2 s and was killed" in sentence


def test_the_standard_library(launcher: Launcher) -> None:
    root = Path(
        subprocess.run([compiler(), "env", "GOROOT"], capture_output=True, text=True, check=True).stdout.strip()
    )
    program = built("container_heap.test", "container/heap")
    driver = driver_of(launcher, program, cwd=root / "src/container/heap")
    assert driver.names() == ["BenchmarkDup"]
    assert len(driver.run("BenchmarkDup", loops=2, samples=3)) == 3


def test_the_bytes_of_an_iteration_are_a_whole_number_whatever_the_digits_of_the_rate() -> None:
    lines = ["BenchmarkX \t 200\t 54.88 ns/op\t1822.16 MB/s", "BenchmarkX \t 200\t 321.9 ns/op\t 310.67 MB/s"]
    assert processed_in(results_in("\n".join(lines))) == {"bytes": 100.0}
    assert processed_in(results_in("BenchmarkX \t 200\t 54.88 ns/op")) == {}
    for rate in ("NaN", "+Inf", "-1"):
        assert processed_in(results_in(f"BenchmarkX \t 200\t 54.88 ns/op\t{rate} MB/s")) == {}


@pytest.mark.parametrize(
    ("time", "rate", "error"),
    [("419012", "12.51", 0.005 / 12.51 + 0.5 / 419012), ("54.88", "1822.16", 0.0005 + 0.005 / 1822.16)],
)
def test_the_digits_of_a_rate_and_of_a_time_leave_an_error(time: str, rate: str, error: float) -> None:
    line = f"BenchmarkX \t 10\t {time} ns/op\t {rate} MB/s\n"
    assert Go().amount_error(replace(PLAIN, stdout=line.encode())) == pytest.approx(error)
    assert Go().amount_error(replace(PLAIN, stdout=b"BenchmarkX \t 10\t 54.88 ns/op\n")) == 0
