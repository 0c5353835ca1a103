"""The C++ header and its C macros, built by the real compilers and driven as the protocol says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.c_programs import need_valgrind

ROOT = Path(__file__).resolve().parents[2]
SDK = ROOT / "sdk" / "cpp"
EXAMPLES = ROOT / "examples" / "cpp"
HARNESS = Path(__file__).with_name("cpp_harness.cpp")
HELLO = {"steelyard": 1, "harness": "steelyard.hpp 0.1.0", "language": "C++", "before": True}
END = {"end": True}
STRICT = ("-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror", f"-I{SDK}", "-pthread")

C_BENCHMARKS = r"""
#include "steelyard.h"
STEELYARD_BENCH(nothing) { STEELYARD_RUN(state) {} }
STEELYARD_BENCH(multiplies) {
    const unsigned from = (unsigned)steelyard_seed(state);
    STEELYARD_RUN(state) {
        unsigned number = from;
        for (unsigned round = 0; round < 20; round++) {
            number = number * 31 + round;
            STEELYARD_KEEP(number);
        }
    }
}
STEELYARD_BENCH_NAMED(named, "another \"name\"") {
    double half = 0.5;
    struct { long left, middle, right; } large = {1, 2, 3};
    STEELYARD_SAMPLES(state) {
        half *= 2;
        STEELYARD_LOOP(state) { STEELYARD_KEEP(half); STEELYARD_KEEP(large); STEELYARD_CLOBBER(); }
    }
}
STEELYARD_BENCH_PARAM(sized, "n", 10, 1000) {
    if (steelyard_number(state, "n") == 1000) steelyard_fail(state, "too large");
    STEELYARD_RUN(state) {}
}
STEELYARD_MAIN()
"""
C_LEFT = r"""
STEELYARD_BENCH(breaks) { STEELYARD_RUN(state) { break; } }
STEELYARD_BENCH(returns) { STEELYARD_RUN(state) { return; } }
"""
IMPLEMENTATION = '#define STEELYARD_IMPLEMENTATION\n#include "steelyard.hpp"\n'

SMALL = '#include "steelyard.hpp"\nSTEELYARD_BENCH(small) { state.run([] {}); }\nSTEELYARD_MAIN()\n'
CMAKE = """
cmake_minimum_required(VERSION 3.14)
project(small LANGUAGES CXX)
{how}
add_executable(small small.cpp)
target_link_libraries(small PRIVATE steelyard::steelyard)
"""


@dataclass(frozen=True)
class Answer:
    """What a harness wrote and how it ended."""

    status: int
    lines: list[dict[str, Any]]
    stdout: str
    stderr: str

    @property
    def samples(self) -> list[dict[str, Any]]:
        """The lines between the hello and the end, of a run that went well."""
        assert (self.status, self.lines[0], self.lines[-1]) == (0, HELLO, END), self
        return self.lines[1:-1]

    @property
    def error(self) -> str:
        """What went wrong, of an answer that says nothing else."""
        assert [set(line) for line in self.lines] == [set(HELLO), {"error"}, {"end"}], self
        said: str = self.lines[1]["error"]
        return said


def asked(
    program: Path, *words: str, before: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> Answer:
    """Call a harness with a pipe; `{fd}` in its words stands for the pipe."""
    reads, writes = os.pipe()
    command = [*before, str(program), *(word.format(fd=writes) for word in words)]
    known = {"PATH": os.environ["PATH"], "STEELYARD_TEST_FD": str(writes), **(environment or {})}
    with subprocess.Popen(
        command, pass_fds=[writes], env=known, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        os.close(writes)
        with os.fdopen(reads, encoding="utf-8", newline="\n") as pipe:
            text = pipe.read()
        stdout, stderr = process.communicate(timeout=60)
    assert text == "" or text.endswith("\n")
    return Answer(process.returncode, [json.loads(line) for line in text.split("\n")[:-1]], stdout, stderr)


def driven(program: Path, *words: str, **options: Any) -> Answer:
    return asked(program, "--steelyard-protocol=1", "--steelyard-fd={fd}", *words, **options)


def run(
    program: Path,
    name: str,
    loops: int = 100,
    samples: int = 3,
    seed: int = 1,
    before_it: Sequence[str] = (),
    **options: Any,
) -> Answer:
    named = "--steelyard-run=" + name.replace("{", "{{").replace("}", "}}")
    given = {"loops": loops, "samples": samples, "seed": seed}
    earlier = [f"--steelyard-before={word}" for word in before_it]
    return driven(program, named, *(f"--steelyard-{key}={value}" for key, value in given.items()), *earlier, **options)


def need(*names: str) -> str:
    """Where the first of these programs is that there is; skips the test where there is none."""
    found = next((path for path in map(shutil.which, names) if path), None)
    if found is None:
        pytest.skip(f"not tested without {' or '.join(names)}")
    return found


def need_clang(*names: str) -> str:
    return need(*names, *(f"{name}-{version}" for name in names for version in range(22, 10, -1)))


def called(*command: str | Path, cwd: Path | None = None) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cpp")


@pytest.fixture(scope="module")
def harness(folder: Path) -> Path:
    program = folder / "harness"
    called(need("g++"), "-std=c++17", *STRICT, HARNESS, "-o", program)
    return program


@pytest.fixture(scope="module")
def c_harness(folder: Path) -> Path:
    source, implementation, program = folder / "bench.c", folder / "implementation.cpp", folder / "c_harness"
    source.write_text(C_BENCHMARKS + C_LEFT)
    implementation.write_text(IMPLEMENTATION)
    called(need("gcc"), "-std=c11", *STRICT, "-c", source, "-o", folder / "bench.o")
    called(need("g++"), "-std=c++17", *STRICT, implementation, folder / "bench.o", "-o", program)
    return program


# --- the two calls ---------------------------------------------------------------------------------------------------


def test_others_run_before_in_the_same_process(harness: Path) -> None:
    asked_for = "map/n=10/kind=flat"
    answer = run(harness, "nothing", before_it=[f"7:{asked_for}"])
    assert [line["loops"] for line in answer.samples] == [100] * 3
    assert answer.stdout == run(harness, asked_for).stdout != ""
    for words, said in (("7:absent", "absent"), ("0:nothing", "before=0"), ("nothing", "before=nothing")):
        assert said in run(harness, "nothing", before_it=[words]).error


def test_the_list_is_complete_and_the_same_at_each_call(harness: Path) -> None:
    answer = driven(harness, "--steelyard-list")
    listed = {line["benchmark"]: line for line in answer.samples}
    assert answer == driven(harness, "--steelyard-list")
    assert len(listed) == len(answer.samples) > 20
    assert set(listed["nothing"]) == {"benchmark", "source"}
    assert re.fullmatch(r".*cpp_harness\.cpp:\d+", listed["nothing"]["source"])
    assert [name for name in listed if name.startswith("map/")] == [
        f"map/n={n}/kind={kind}" for n in ("10", "-2000000000000") for kind in ("flat", '"q" é\\')
    ]
    combined = listed['map/n=-2000000000000/kind="q" é\\']
    assert combined["params"] == {"n": "-2000000000000", "kind": '"q" é\\'}
    assert combined["tags"] == ["containers", "odd \x01 � tag"]


def test_every_field_of_a_run(harness: Path) -> None:
    answer = run(harness, "multiplies", loops=1000, samples=5)
    assert [sample["loops"] for sample in answer.samples] == [1000] * 5
    for sample in answer.samples:
        assert set(sample) == {"loops", "ns", "cpu_ns", "delay_ns"}
        assert all(type(value) is int for value in sample.values())
        assert sample["ns"] > 0
        # Of such short samples the scheduler would say 0, were it not made to bring its numbers up to date.
        assert sample["cpu_ns"] > 0
        assert sample["delay_ns"] >= 0


def test_as_many_samples_as_are_asked_for_even_if_no_pipe_holds_them(harness: Path) -> None:
    assert len(run(harness, "nothing", loops=1, samples=10_000).samples) == 10_000


def test_the_seed_reaches_the_benchmark(harness: Path) -> None:
    for seed in (0, 1, 2**64 - 1):
        assert run(harness, "seed", seed=seed).stdout == str(seed)


def test_parameters_reach_the_benchmark(harness: Path) -> None:
    assert run(harness, 'map/n=-2000000000000/kind="q" é\\').stdout == '-2000000000000 "q" é\\'


def test_names_are_matched_exactly(harness: Path) -> None:
    name = 'an "odd" näme \\ of ✓ '
    assert name in [line["benchmark"] for line in driven(harness, "--steelyard-list").samples]
    assert len(run(harness, name).samples) == 3
    assert run(harness, name.strip()).error == 'no benchmark is called "an \\"odd\\" näme \\\\ of ✓"'


def test_words_stand_in_any_order_among_those_of_the_user_and_of_later_versions(harness: Path) -> None:
    words = ["--steelyard-seed=1", "mine", "--steelyard-colour=red", "--steelyard-run=nothing", "--steelyard-samples=2"]
    words += ["--steelyard-fd={fd}", "--steelyard-loops=007", "--steelyard-protocol=1", "--list"]
    assert [sample["loops"] for sample in asked(harness, *words).samples] == [7, 7]


def test_nothing_is_written_before_the_last_sample(harness: Path) -> None:
    assert len(run(harness, "writes_late").samples) == 3


def test_no_child_holds_the_descriptor(harness: Path) -> None:
    assert len(run(harness, "child_without_descriptor").samples) == 3


# --- what goes wrong -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("run", "sort/std ", 'no benchmark is called "sort/std "'),
        ("run", "", 'no benchmark is called ""'),
        *[
            ("loops", value, "--steelyard-loops=")
            for value in ("0", "abc", "", "-1", "1.0", "+1", " 1", str(2**53 + 1))
        ],
        ("loops", "1" * 100, "a whole number from 1 to 9007199254740992"),
        *[("samples", value, "a whole number from 1 to 10000") for value in ("0", "10001")],
        *[("seed", value, "a whole number from 0 to 18446744073709551615") for value in ("-1", str(2**64))],
        *[(key, None, f"--steelyard-{key} is missing") for key in ("loops", "samples", "seed")],
        ("run", None, "either --steelyard-list or --steelyard-run=NAME"),
        *[("protocol", value, "only version 1 of the protocol") for value in ("2", "", "11", None)],
    ],
)
def test_a_wrong_word_is_an_error(harness: Path, key: str, value: str | None, said: str) -> None:
    given = {"protocol": "1", "run": "nothing", "loops": "1", "samples": "1", "seed": "1", key: value}
    words = [f"--steelyard-{key}={value}" for key, value in given.items() if value is not None]
    answer = asked(harness, "--steelyard-fd={fd}", *words)
    assert said in answer.error
    assert answer.status == 2


def test_listing_and_running_at_once_is_an_error(harness: Path) -> None:
    answer = driven(harness, "--steelyard-list", "--steelyard-run=nothing")
    assert "either --steelyard-list or --steelyard-run=NAME" in answer.error


@pytest.mark.parametrize("word", [[], ["--steelyard-fd=77"], ["--steelyard-fd=abc"], ["--steelyard-fd="]])
def test_without_a_descriptor_the_error_is_told_on_stderr(harness: Path, word: list[str]) -> None:
    answer = asked(harness, "--steelyard-protocol=1", "--steelyard-list", *word)
    assert (answer.status, answer.lines, answer.stdout) == (2, [], "")
    assert "--steelyard-fd=N must name a descriptor" in answer.stderr


def test_an_answer_that_nobody_can_be_given_is_an_error(harness: Path) -> None:
    with Path(os.devnull).open() as unwritable:
        command = [str(harness), "--steelyard-protocol=1", "--steelyard-list", f"--steelyard-fd={unwritable.fileno()}"]
        done = subprocess.run(command, pass_fds=[unwritable.fileno()], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "cannot write to descriptor" in done.stderr


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        (b"", "is empty"),
        (b"x" * 501, "is longer than 500 bytes"),
        (b"two\nlines", "holds a control character"),
        (b"\x7f", "holds a control character"),
        ("\x85".encode(), "holds a control character"),
        (b"cut \xe2\x9c", "is not UTF-8"),
        (b"\xc0\xaf", "is not UTF-8"),
        (b"\xed\xa0\x80", "is not UTF-8"),
        (b"\xf4\x90\x80\x80", "is not UTF-8"),
        (b"nothing", 'two benchmarks are called "nothing"'),
    ],
)
@pytest.mark.parametrize("call", ["list", "run=multiplies"])
def test_a_faulty_name_is_an_error_at_both_calls(harness: Path, name: bytes, fault: str, call: str) -> None:
    words = [f"--steelyard-{word}" for word in (call, "loops=1", "samples=1", "seed=1")]
    answer = driven(harness, *words, environment={"STEELYARD_TEST_NAME": os.fsdecode(name)})
    assert fault in answer.error
    assert answer.status == 2


@pytest.mark.parametrize("name", ["x" * 500, "é" * 250, "\u00a0", "🙂", "' ; * ? = /"])
def test_any_other_name_is_fine(harness: Path, name: str) -> None:
    environment = {"STEELYARD_TEST_NAME": name}
    assert driven(harness, "--steelyard-list", environment=environment).samples[-1] == {"benchmark": name}
    assert len(run(harness, name, environment=environment).samples) == 3


def test_a_parameter_without_values_is_an_error(harness: Path) -> None:
    answer = driven(harness, "--steelyard-list", environment={"STEELYARD_TEST_NO_VALUES": "1"})
    assert answer.error == 'a parameter of benchmark "empty" has no value'


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("throws", 'benchmark "throws" threw: "no"\n more'),
        ("throws_a_number", 'benchmark "throws_a_number" threw something that is no std::exception'),
        ("runs_nothing", "never ran its body"),
        ("runs_twice", "in two places"),
        ("gives_up", "no input"),
        ("wants_what_is_not_there", 'the benchmark has no parameter "n"'),
        ("wants_a_number/n=many", 'parameter "n" is no whole number: "many"'),
    ],
)
def test_a_benchmark_that_fails_is_an_error_and_no_sample(harness: Path, name: str, said: str) -> None:
    answer = run(harness, name)
    assert said in answer.error
    assert answer.status == 1


# --- what is timed ---------------------------------------------------------------------------------------------------


def test_the_loop_stays_even_around_nothing(harness: Path, c_harness: Path) -> None:
    # No processor does ten iterations in a nanosecond, and load only adds to the time.
    for program in (harness, c_harness):
        (sample,) = run(program, "nothing", loops=20_000_000, samples=1).samples
        assert sample["ns"] > 2_000_000


@pytest.mark.parametrize("name", ["sleeps_outside", "sleeps_before_each"])
def test_set_up_is_not_timed(harness: Path, name: str) -> None:
    # Each sample is two readings of a clock apart; what is not timed sleeps for 300 ms.
    assert min(sample["ns"] for sample in run(harness, name, loops=1).samples) < 300_000_000


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
    """What Callgrind counts, when nothing is counted but what asks for it."""
    out = folder / "callgrind.out"
    tool = [need_valgrind(), "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
    answer = run(program, name, loops=loops, samples=1, before=tool, environment=environment)
    assert len(answer.samples) == 1
    (total,) = re.findall(r"^totals: (\d+)", out.read_text(), flags=re.MULTILINE)
    return int(total)


def of_an_iteration(program: Path, name: str, folder: Path, loops: int = 1000, **environment: str) -> float:
    """Instructions by the difference of 2 N and N loops."""
    counts = [instructions(program, name, times * loops, folder, **environment) for times in (1, 2)]
    return (counts[1] - counts[0]) / loops


@pytest.mark.parametrize(
    ("built", "name", "least"),
    # A loop takes two instructions, twenty multiplications at least twenty more: they are not done beforehand.
    [
        ("harness", "nothing", 2),
        ("harness", "multiplies", 22),
        ("harness", "stores", 10),
        ("c_harness", "nothing", 2),
        ("c_harness", "multiplies", 22),
    ],
)
def test_the_count_of_an_iteration_is_exact_and_the_same_in_any_environment(
    request: pytest.FixtureRequest, tmp_path: Path, built: str, name: str, least: int
) -> None:
    program = request.getfixturevalue(built)
    each = of_an_iteration(program, name, tmp_path)
    assert each == int(each) >= least
    assert each == of_an_iteration(program, name, tmp_path, loops=3000, SOMETHING="x" * 12345)


def test_set_up_is_not_counted(harness: Path, tmp_path: Path) -> None:
    # A start-up alone takes more than a million instructions.
    assert instructions(harness, "nothing", 1, tmp_path) < 10_000


# --- other ways to build ---------------------------------------------------------------------------------------------


# GCC compiles all of them as C++17 for the other tests, and must be as silent.
@pytest.mark.parametrize(("compiler", "standard"), [("g++", "c++20"), ("clang++", "c++17"), ("clang++", "c++20")])
def test_no_compiler_warns(folder: Path, compiler: str, standard: str) -> None:
    found = need_clang("clang++") if compiler == "clang++" else need("g++")
    implementation = folder / "strict.cpp"
    implementation.write_text(IMPLEMENTATION)
    called(found, f"-std={standard}", *STRICT, "-fsyntax-only", HARNESS, implementation, *EXAMPLES.glob("*.cpp"))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_no_c_compiler_warns(folder: Path, compiler: str) -> None:
    found = need_clang("clang") if compiler == "clang" else need("gcc")
    source = folder / "strict.c"
    source.write_text(C_BENCHMARKS)
    called(found, "-std=c11", *STRICT, "-fsyntax-only", source, *EXAMPLES.glob("**/*.c"))


def test_without_valgrinds_header_without_exceptions_and_unoptimised(folder: Path) -> None:
    source, program = folder / "small.cpp", folder / "small"
    source.write_text(SMALL)
    flags = [flag for flag in STRICT if flag != "-O2"]
    bare = ["-O0", "-fno-exceptions", "-fno-rtti", "-DSTEELYARD_NO_VALGRIND"]
    called(need("g++"), "-std=c++17", *flags, *bare, source, "-o", program)
    assert len(run(program, "small").samples) == 3
    assert b"callgrind" not in program.read_bytes()


def test_in_c(c_harness: Path) -> None:
    listed = driven(c_harness, "--steelyard-list").samples
    names = ["nothing", "multiplies", 'another "name"', "sized/n=10", "sized/n=1000", "breaks", "returns"]
    assert sorted(line["benchmark"] for line in listed) == sorted(names)
    (sized,) = (line for line in listed if line["benchmark"] == "sized/n=10")
    assert sized["params"] == {"n": "10"}
    assert re.fullmatch(r".*bench\.c:\d+", sized["source"])
    for name in names[:4]:
        assert [sample["loops"] for sample in run(c_harness, name).samples] == [100] * 3


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sized/n=1000", "too large"),
        ("breaks", "the timed loop was left before its end"),
        ("returns", "ended before its samples were taken"),
    ],
)
def test_in_c_errors_are_told_as_well(c_harness: Path, name: str, said: str) -> None:
    answer = run(c_harness, name)
    assert said in answer.error
    assert answer.status == 1


@pytest.mark.parametrize("how", ["add_subdirectory", "find_package"])
def test_by_cmake(tmp_path: Path, how: str) -> None:
    cmake = need("cmake")
    need("g++")
    line = f'add_subdirectory("{SDK}" steelyard)'
    if how == "find_package":
        called(cmake, "-S", SDK, "-B", tmp_path / "sdk", f"-DCMAKE_INSTALL_PREFIX={tmp_path / 'installed'}")
        called(cmake, "--install", tmp_path / "sdk")
        line = f'find_package(steelyard 0.1 REQUIRED PATHS "{tmp_path / "installed"}" NO_DEFAULT_PATH)'
    (tmp_path / "small.cpp").write_text(SMALL)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE.format(how=line))
    called(cmake, "-S", tmp_path, "-B", tmp_path / "build")
    called(cmake, "--build", tmp_path / "build")
    assert len(run(tmp_path / "build" / "small", "small").samples) == 3


def test_one_version() -> None:
    (in_cmake,) = re.findall(r"project\(steelyard VERSION (\S+) ", (SDK / "CMakeLists.txt").read_text())
    (in_header,) = re.findall(r'version = "(.+)"', (SDK / "steelyard.hpp").read_text())
    assert in_cmake == in_header == HELLO["harness"].split()[1]  # type: ignore[attr-defined]


# --- the examples ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def suites(folder: Path) -> tuple[Path, Path]:
    """The suite as it is, and with one benchmark made slower."""
    plain, planted = folder / "plain", folder / "planted"
    common, build = folder / "containers.o", [need("g++"), "-std=c++17", *STRICT]
    called(*build, "-c", EXAMPLES / "containers.cpp", "-o", common)
    called(*build, common, EXAMPLES / "text.cpp", "-o", plain)
    called(*build, "-DPLANTED", common, EXAMPLES / "text.cpp", "-o", planted)
    return plain, planted


def test_the_suite_run_by_a_person(suites: tuple[Path, Path]) -> None:
    listed = [driven(suite, "--steelyard-list").samples for suite in suites]
    names = [line["benchmark"] for line in listed[0]]
    assert listed[0] == listed[1]
    assert len(names) >= 20
    done = subprocess.run([suites[0]], capture_output=True, text=True, check=True)
    *lines, hint = done.stdout.splitlines()
    assert [line.split(maxsplit=2)[2] for line in lines] == names
    assert all(re.fullmatch(r" *\d+\.\d{3} (ns|us|ms|s)  \S+", line) for line in lines)
    assert hint == "for a look; weigh with: steelyard compare --harness protocol OLD NEW"


def test_a_person_is_told_errors_on_stderr(harness: Path) -> None:
    answer = asked(harness, environment={"STEELYARD_TEST_NAME": "nothing"})
    assert (answer.status, answer.stdout) == (2, "")
    assert answer.stderr == 'steelyard: two benchmarks are called "nothing"\n'


@pytest.mark.parametrize(("name", "change"), [("hash_fnv1a", 0.02), ("hash_adler32", 0), ("parse_integers", 0)])
def test_exactly_what_is_planted_is_slower(suites: tuple[Path, Path], tmp_path: Path, name: str, change: float) -> None:
    plain, planted = (of_an_iteration(suite, name, tmp_path, loops=20) for suite in suites)
    assert planted / plain - 1 == pytest.approx(change, abs=0.001 if change else 0)
