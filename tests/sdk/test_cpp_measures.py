"""What the C++ header times and counts."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests import builds
from tests.c_programs import need_valgrind
from tests.sdk.cpp_programs import EXAMPLES, SDK, STRICT, asked, called, driven, need, run

# --- what is timed ---------------------------------------------------------------------------------------------------


def test_the_loop_stays_even_around_nothing(harness: Path, c_harness: Path) -> None:
    # No processor does ten iterations in a nanosecond, and load only adds to the time.
    for program in (harness, c_harness):
        (sample,) = run(program, "nothing", loops=20_000_000, samples=1).samples
        assert sample["ns"] > 2_000_000


@pytest.mark.parametrize("name", ["sleeps_outside", "sleeps_before_each"])
def test_set_up_is_not_timed(harness: Path, name: str) -> None:
    # A sample takes little more than two readings of the clock; what is not timed sleeps for 100 ms.
    assert min(sample["ns"] for sample in run(harness, name, loops=1).samples) < 100_000_000


def test_inputs_are_prepared_once_a_sample(harness: Path) -> None:
    assert run(harness, "prepared", loops=10, samples=3).stdout == f"3 {10 * (1 + 2 + 3)}"


def test_inputs_are_prepared_for_each_iteration(harness: Path) -> None:
    assert run(harness, "prepared_each", loops=10, samples=3).stdout == "30 30"


@pytest.mark.parametrize("name", ["other_thread", "child"])
def test_the_scheduler_is_not_quoted_where_others_did_the_work(harness: Path, name: str) -> None:
    for sample in run(harness, name, loops=10).samples:
        assert set(sample) == {"loops", "ns", "elsewhere_ns"}
        assert sample["elsewhere_ns"] > 0


# --- counting --------------------------------------------------------------------------------------------------------


def instructions(program: Path, name: str, loops: int, folder: Path, **environment: str) -> int:
    """Return what Callgrind counts if it counts only what asks for it."""
    out = folder / "callgrind.out"
    tool = [need_valgrind(), "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
    response = run(program, name, loops=loops, samples=1, before=tool, environment=environment)
    assert len(response.samples) == 1
    (total,) = re.findall(r"^totals: (\d+)", out.read_text(), flags=re.MULTILINE)
    return int(total)


@pytest.mark.parametrize(
    ("built", "name", "least", "most"),
    [
        # A loop takes two instructions. If it were unrolled twice, it would take one and a half.
        ("harness", "nothing", 2, 2),
        ("c_harness", "nothing", 2, 2),
        # Twenty multiplications take at least twenty more, if they are not done beforehand.
        ("harness", "multiplies", 22, 200),
        ("harness", "stores", 10, 200),
        ("c_harness", "multiplies", 22, 200),
    ],
)
def test_the_count_of_an_iteration_is_exact_and_the_same_in_any_environment(
    request: pytest.FixtureRequest, tmp_path: Path, built: str, name: str, least: int, most: int
) -> None:
    program = request.getfixturevalue(built)
    one, two = (instructions(program, name, loops, tmp_path) for loops in (1000, 2000))
    four = instructions(program, name, 4000, tmp_path, SOMETHING="x" * 12345)
    each, rest = divmod(two - one, 1000)
    assert rest == 0
    assert least <= each <= most
    assert four - two == 2000 * each


def test_set_up_is_not_counted(harness: Path, tmp_path: Path) -> None:
    # A start-up alone takes more than a million instructions.
    assert instructions(harness, "nothing", 1, tmp_path) < 10_000


# --- the examples ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def suites() -> tuple[Path, Path]:
    """The example suite as it is, and with one benchmark made slower."""
    build = [need("g++"), "-std=c++17", *STRICT, "-O1"]

    def make(place: Path) -> None:
        common = place / "containers.o"
        called(*build, "-O0", "-c", EXAMPLES / "containers.cpp", "-o", common)  # only listed
        called(*build, common, EXAMPLES / "text.cpp", "-o", place / "plain")
        called(*build, "-DPLANTED", common, EXAMPLES / "text.cpp", "-o", place / "planted")

    made = builds.built("cpp-suites", make, *build, EXAMPLES, SDK)
    return made / "plain", made / "planted"


def test_the_suite_run_interactively(suites: tuple[Path, Path]) -> None:
    listed = [driven(suite, "--steelyard-list").samples for suite in suites]
    names = [line["benchmark"] for line in listed[0]]
    assert listed[0] == listed[1]
    assert len(names) >= 20
    # Running all benchmarks, the default, takes 10 s.
    done = subprocess.run([suites[0], "hash_fnv1a", "parse_i"], capture_output=True, text=True, check=True)
    *lines, hint = done.stdout.splitlines()
    chosen = [name for name in names if name in ("hash_fnv1a", "parse_integers")]
    assert [line.split(maxsplit=2)[2] for line in lines] == chosen
    assert len(chosen) == 2
    assert all(re.fullmatch(r" *\d+\.\d{3} (ns|us|ms|s)  \S+", line) for line in lines)
    assert hint == "for a look; weigh with: steelyard compare --harness protocol OLD NEW"


def test_a_look_that_cannot_be_written_is_an_error(suites: tuple[Path, Path]) -> None:
    name = driven(suites[0], "--steelyard-list").samples[0]["benchmark"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([suites[0], name], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "steelyard: cannot write what was found\n")


def test_run_interactively_it_tells_errors_on_stderr(harness: Path) -> None:
    response = asked(harness, environment={"STEELYARD_TEST_NAME": "nothing"})
    assert (response.status, response.stdout) == (2, "")
    assert response.stderr == 'steelyard: two benchmarks are called "nothing"\n'


FAILING = """
#include <csignal>
#include "steelyard.hpp"
STEELYARD_BENCH(bad) { state.fail("no data"); }
STEELYARD_BENCH(killed) { std::raise(SIGKILL); }
STEELYARD_BENCH(ended) { state.run([] { std::exit(0); }); }
STEELYARD_BENCH(left) { state.run([] { ::_exit(0); }); }
STEELYARD_BENCH(good) { state.run([] { if (::fork() == 0) std::exit(0); ::wait(nullptr); }); }
STEELYARD_MAIN()
"""


@pytest.fixture(scope="session")
def failing() -> Path:
    build = [need("g++"), "-std=c++17", *STRICT, "-O0"]  # it is not measured

    def make(place: Path) -> None:
        (place / "failing.cpp").write_text(FAILING)
        called(*build, place / "failing.cpp", "-o", place / "failing")

    return builds.built("cpp-failing", make, *build, FAILING, SDK) / "failing"


def test_run_interactively_a_list_and_help_run_none(failing: Path) -> None:
    def shown(*words: str) -> str:
        return subprocess.run([failing, *words], capture_output=True, text=True, check=True).stdout

    assert shown("--list") == "bad\nkilled\nended\nleft\ngood\n"
    assert shown("--list", "go") == "good\n"
    assert shown("--help") == shown("-h")
    assert shown("--help").startswith("usage: PROGRAM [PART...] [--list]")


def test_run_interactively_a_misspelt_option_runs_none(failing: Path) -> None:
    for words in (["--lst"], ["good", "--benchmark_filter=x"]):
        done = subprocess.run([failing, *words], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f'steelyard: there is no option "{words[-1]}"; see --help\n'
    assert driven(failing, "--lst", "--steelyard-list").samples


def test_run_interactively_one_that_fails_is_named_and_the_others_are_run(failing: Path) -> None:
    done = subprocess.run([failing], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "steelyard: bad: no data",
        "steelyard: killed: was killed by signal 9",
        "steelyard: ended: the benchmark ended the process",
        "steelyard: left: the benchmark ended the process",
    ]
    (line, _) = done.stdout.splitlines()
    assert line.endswith("  good")


def test_run_interactively_where_nobody_reads_no_more_are_run(failing: Path) -> None:
    read, written = os.pipe()
    os.close(read)
    done = subprocess.run([failing], stdout=written, stderr=subprocess.PIPE, text=True, check=False)
    os.close(written)
    assert done.returncode == 1
    assert done.stderr == "steelyard: bad: no data\nsteelyard: cannot write what was found\n"


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["nothing", "oo"], 0, ""),
        (["ba"], 1, "steelyard: bad: no data\n"),
        (["nothing"], 2, 'steelyard: no benchmark has "nothing" in its name\n'),
    ],
)
def test_run_interactively_words_choose_by_parts_of_names(
    failing: Path, words: list[str], status: int, said: str
) -> None:
    done = subprocess.run([failing, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (status, said)
    assert done.stdout.count("  good\n") == (status == 0)


@pytest.mark.parametrize(("name", "change"), [("hash_fnv1a", 0.02), ("hash_adler32", 0)])
def test_exactly_what_is_planted_is_slower(suites: tuple[Path, Path], tmp_path: Path, name: str, change: float) -> None:
    plain, planted = (instructions(suite, name, 20, tmp_path) for suite in suites)
    assert planted / plain - 1 == pytest.approx(change, abs=0.001 if change else 0)
