"""The Rust SDK driven as docs/protocol.md says, with a suite made for these tests: sdk/rust/examples/cases.rs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.sdk import driving
from tests.sdk.driving import FD, PLAIN, Response

ROOT = Path(__file__).resolve().parent.parent.parent
SDK, EXAMPLE = ROOT / "sdk" / "rust", ROOT / "examples" / "rust"

pytestmark = pytest.mark.skipif(shutil.which("cargo") is None, reason="there is no cargo (https://rustup.rs)")
needs_valgrind = pytest.mark.skipif(shutil.which("valgrind") is None, reason="there is no valgrind")
needs_schedstat = pytest.mark.skipif(
    not Path("/proc/thread-self/schedstat").exists(), reason="this kernel does not keep schedstat"
)

ODD_NAME = "say \"é\" \\ 漢, 'so' = 1/2"
HELLO = {"steelyard": 1, "harness": "steelyard-bench 0.1.0", "language": "Rust", "before": True, "lockstep": True}
ASKED = {"protocol": "1", "loops": "10", "samples": "3", "seed": "7"}


def drive(
    command: Sequence[str], arguments: Mapping[str, str], environment: Mapping[str, str] | None = None
) -> Response:
    """Call a program with the protocol's arguments, given by key."""
    return driving.drive(
        command, [FD, *(f"--steelyard-{key}={value}" for key, value in arguments.items())], environment
    )


def refused(command: Sequence[str], arguments: Mapping[str, str], status: int) -> str:
    """Return the error that a program tells both the driver and on stderr."""
    response = drive(command, arguments)
    assert response.error in response.stderr
    assert (response.status, response.stdout) == (status, "")
    return response.error


def list_of(program: str, *others: str) -> list[dict[str, Any]]:
    """Return the benchmarks that a program lists, with other arguments before those of the protocol."""
    response = drive([program, *others, "--steelyard-list"], {"protocol": "1"})
    assert (response.stdout, response.stderr, response.lines[0]) == ("", "", HELLO)
    return response.samples


def run(program: str, name: str, loops: int = 10, samples: int = 3, seed: int = 7) -> Response:
    """Return the response with the samples of one benchmark."""
    asked = {"run": name, "loops": str(loops), "samples": str(samples), "seed": str(seed)}
    response = drive([program], {**ASKED, **asked})
    assert (response.stderr, response.lines[0]) == ("", HELLO)
    assert len(response.samples) == samples
    return response


def cargo(folder: Path, *arguments: str) -> list[dict[str, Any]]:
    """Build within the folder, from which Cargo reads its settings; return the messages on the executables."""
    command = ["cargo", *arguments, "--offline", "--locked", "--message-format=json"]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return [message for message in map(json.loads, built.stdout.splitlines()) if message.get("executable")]


@cache
def suite_of_cases() -> str:
    """Return the suite of cases, optimised like benchmarks."""
    (built,) = cargo(SDK, "build", "--release", "--example", "cases")
    return str(built["executable"])


@pytest.fixture(scope="module")
def cases() -> str:
    return suite_of_cases()


@cache
def suite(*features: str) -> str:
    built = cargo(EXAMPLE, "bench", "--no-run", "--bench", "suite", *features)
    (program,) = [message["executable"] for message in built if message["target"]["name"] == "suite"]
    return str(program)


# Both calls


def test_the_list_has_every_field(cases: str) -> None:
    listed = list_of(cases)
    for benchmark in listed:
        assert list(benchmark) == ["benchmark", "params", "tags", "source"]
        assert re.fullmatch(r"examples/cases\.rs:[1-9]\d*", benchmark["source"])
    names = [benchmark["benchmark"] for benchmark in listed]
    assert names[:7] == ["sum_of_ten", "sum/n=100", "sum/n=1000", "a 1", "a 2", "b 1", "b 2"]
    assert [benchmark["params"] for benchmark in listed[:4]] == [
        {},
        {"n": "100"},
        {"n": "1000"},
        {"kind": "a", "n": "1"},
    ]
    assert [benchmark["tags"] for benchmark in listed[:4]] == [["numbers"], *[["numbers", "slow"]] * 2, []]
    assert ODD_NAME in names


def test_the_list_is_the_same_each_time_whatever_other_arguments_there_are(cases: str) -> None:
    assert list_of(cases) == list_of(cases, "mine", "--bench", "--steelyard-later=x", "--steelyard-soon")


@needs_schedstat
def test_a_run_gives_each_sample_with_every_field(cases: str) -> None:
    response = run(cases, "sum_of_ten", loops=1000, samples=5)
    assert response.stdout == ""
    for sample in response.inner:
        assert list(sample) == ["loops", "ns", "cpu_ns", "delay_ns"]
        assert all(type(value) is int for value in sample.values())
        assert sample["loops"] == 1000
        assert sample["ns"] > 0
        assert min(sample["cpu_ns"], sample["delay_ns"]) >= 0


@needs_schedstat
def test_time_on_a_processor_is_told_and_is_within_the_whole(cases: str) -> None:
    samples = run(cases, "sum/n=1000", loops=500_000, samples=3).inner
    for sample in samples:
        # They are read around the readings of the clock, and the thread may have waited in between.
        assert 0 < sample["cpu_ns"] + sample["delay_ns"] <= sample["ns"] + 20e6


def test_the_most_samples_all_arrive(cases: str) -> None:
    run(cases, "polynomial", loops=1, samples=10_000)


def test_others_run_before_in_the_same_process(cases: str) -> None:
    response = drive([cases], {**ASKED, "run": "a 1", "before": "5:seeds"})
    assert [line["loops"] for line in response.samples] == [10] * 3
    assert len(response.stdout.split()) == 2  # its seed, and that of its one sample
    assert "absent" in refused([cases], {**ASKED, "run": "a 1", "before": "5:absent"}, 2)
    assert "before=0" in refused([cases], {**ASKED, "run": "a 1", "before": "0:seeds"}, 2)


def test_any_name_runs(cases: str) -> None:
    for name in ("a 1", ODD_NAME):
        run(cases, name)


def test_inputs_are_drawn_from_the_seed_and_anew_for_each_sample(cases: str) -> None:
    def drawn(seed: int, samples: int) -> list[int]:
        return [int(line) for line in run(cases, "seeds", samples=samples, seed=seed).stdout.split()]

    first = drawn(2**64 - 1, 4)
    assert first[0] == 2**64 - 1
    assert len(set(first)) == 5
    assert drawn(2**64 - 1, 2) == first[:3]
    assert not set(drawn(1, 4)) & set(first)


@pytest.mark.parametrize("name", ["threads", "threads unsaid", "children"])
def test_where_others_do_the_work_this_threads_time_is_left_out(cases: str, name: str) -> None:
    assert all(list(sample) == ["loops", "ns"] for sample in run(cases, name).inner)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="there is no /proc/self/fd to see a child's descriptors")
def test_no_child_holds_the_descriptor(cases: str) -> None:
    # 3 is the folder that `ls` itself opens.
    assert run(cases, "child").stdout.split() == ["0", "1", "2", "3"]


# What goes wrong


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("run", "sum_of_ten ", "no benchmark is called 'sum_of_ten '"),
        ("run", "", "no benchmark is called ''"),
        ("loops", "0", "--steelyard-loops=0 has to be a whole number from 1 to 9007199254740992"),
        ("loops", "abc", "--steelyard-loops=abc has to be a whole number"),
        ("loops", str(2**53 + 1), f"--steelyard-loops={2**53 + 1} has to be a whole number"),
        ("samples", "0", "--steelyard-samples=0 has to be a whole number from 1 to 10000"),
        ("samples", "10001", "--steelyard-samples=10001 has to be a whole number"),
        ("seed", "-1", "--steelyard-seed=-1 has to be a whole number"),
        ("seed", str(2**64), f"--steelyard-seed={2**64} has to be a whole number"),
        ("protocol", "2", 'speaks version 1 of the harness protocol, and is asked for "2"'),
        ("protocol", "abc", "speaks version 1"),
        ("list", "", "exclude each other"),
    ],
)
def test_wrong_arguments_are_refused(cases: str, key: str, value: str, message: str) -> None:
    assert message in refused([cases], {**ASKED, "run": "sum_of_ten", key: value}, 2)


@pytest.mark.parametrize("key", ["protocol", "run", "loops", "samples", "seed"])
def test_a_missing_argument_is_named(cases: str, key: str) -> None:
    arguments = {**ASKED, "run": "sum_of_ten"}
    del arguments[key]
    message = refused([cases], arguments, 2)
    assert f"--steelyard-{key}" in message
    assert message.endswith("is missing")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--steelyard-fd is missing"),
        (["--steelyard-fd=abc"], "--steelyard-fd=abc has to be a whole number"),
        (["--steelyard-fd=77"], "--steelyard-fd=77 cannot be written to"),
    ],
)
def test_without_a_descriptor_the_error_is_on_stderr(cases: str, arguments: list[str], message: str) -> None:
    command = [cases, "--steelyard-protocol=1", "--steelyard-list", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert message in ended.stderr
    assert ended.stdout == ""


def test_a_reader_that_has_gone_is_noticed(cases: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [cases, "--steelyard-protocol=1", "--steelyard-list", f"--steelyard-fd={writing}"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, pass_fds=[writing])
    os.close(writing)
    assert ended.returncode == 1
    assert "cannot write the results" in ended.stderr


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sum_of_ten", "two benchmarks are called 'sum_of_ten'"),
        ("", "a benchmark has an empty name"),
        ("a\nb", 'control characters: "a\\nb"'),
        ("a\x7f", "control characters"),
        ("é" * 250 + "x", "longer than 500 bytes"),
    ],
)
def test_what_is_no_name_is_refused_in_both_calls(cases: str, name: str, message: str) -> None:
    for call in ({"list": ""}, {"run": "sum_of_ten"}):
        said = refused([cases, f"--also={name}"], {**ASKED, **call}, 2)
        assert message in said
        assert re.search(r"\(examples/cases\.rs:\d+\)", said)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("panic", "'panic' panicked: no \"quoted\"\nlines"),
        ("idle", "'idle' took no samples"),
        ("twice", "'twice' panicked: `run` is called a second time"),
    ],
)
def test_a_benchmark_that_cannot_be_run_says_why(cases: str, name: str, message: str) -> None:
    assert message in refused([cases, f"--also={name}"], {**ASKED, "run": name}, 1)


@pytest.mark.parametrize("way", [[], ["--test"]])
def test_a_body_that_ends_the_process_by_hand_is_named(cases: str, way: list[str]) -> None:
    done = subprocess.run([cases, "--also=exit", "exit", *way], capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("steelyard-bench: 'exit' ended the process\n", 1)


# What is timed


@pytest.mark.parametrize("name", ["sum/n=1000", "polynomial", ODD_NAME])
def test_the_body_is_neither_removed_nor_done_once(cases: str, name: str) -> None:
    """A thousand times as many iterations take over 100 times as long: the clock has its share in the few."""

    def least(loops: int) -> int:
        taken: list[int] = [sample["ns"] for sample in run(cases, name, loops=loops, samples=10).inner]
        return min(taken)

    assert least(200_000) > 100 * least(200)


def test_set_up_and_tear_down_are_not_in_the_time(cases: str) -> None:
    # Set-up and tear-down sleep 0.3 s before the first sample, before each and after the last.
    assert sum(sample["ns"] for sample in run(cases, "slow set-up", samples=2).inner) < 0.2e9


# Counting


def counted(program: str, folder: Path, name: str, loops: int, environment: Mapping[str, str] = PLAIN) -> int:
    """Return the instructions between the requests of one sample."""
    kept = folder / "callgrind.out"
    valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={kept}"]
    arguments = {**ASKED, "run": name, "loops": str(loops), "samples": "1"}
    assert drive([*valgrind, program], arguments, environment).status == 0
    (total,) = re.findall(r"^totals: (\d+)$", kept.read_text(), re.MULTILINE)
    assert int(total) > 0
    return int(total)


@needs_valgrind
@pytest.mark.parametrize(
    ("name", "least"),
    # A polynomial multiplies and adds 20 times, and none of that may be done once for all iterations.
    [(ODD_NAME, 1), ("polynomial", 41), ("polynomial of its own", 41), ("polynomial of input", 41)],
)
def test_an_iteration_is_a_constant_number_of_instructions(cases: str, tmp_path: Path, name: str, least: int) -> None:
    other = {**PLAIN, "LONG": "x" * 5000, "LANG": "C"}
    one, two = (counted(cases, tmp_path, name, loops) for loops in (100, 200))
    each, rest = divmod(two - one, 100)
    assert rest == 0
    assert each >= least
    assert counted(cases, tmp_path, name, 533, other) - two == 333 * each


@needs_valgrind
def test_set_up_is_not_counted(cases: str, tmp_path: Path) -> None:
    """Starting the process takes hundreds of thousands of instructions, reading the clocks some hundreds."""
    assert counted(cases, tmp_path, ODD_NAME, 1) < 2_000


# Interactively


def shown(program: str, *arguments: str, environment: Mapping[str, str] = PLAIN) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *arguments], env=environment, capture_output=True, encoding="utf-8", check=False)


def test_a_time_of_each_and_the_way_to_weigh_are_shown(cases: str) -> None:
    by_cargo = {**PLAIN, "CARGO": "cargo"}
    for ended in (shown(cases, "sum"), shown(cases, "--bench", "sum", environment=by_cargo)):
        assert ended.returncode == 0
        lines = ended.stdout.splitlines()
        assert lines[-1].endswith("weigh with: steelyard compare --harness protocol OLD NEW")
        names = ["sum_of_ten", "sum/n=100 ", "sum/n=1000"]
        for line, name in zip(lines[:3], names, strict=True):
            assert re.fullmatch(rf"{name} +\d+\.\d\d (ns|µs|ms)", line)
        assert lines[3:-1] == [""]


def test_cargo_test_runs_each_body_once(cases: str) -> None:
    ended = shown(cases, environment={**PLAIN, "CARGO": "cargo"})
    assert ended.returncode == 0
    lines = ended.stdout.splitlines()
    assert next(line for line in lines if line.endswith(" ... ok")) == "sum_of_ten ... ok"
    assert f"{len(list_of(cases))} passed, 0 failed" in lines[-1]


def test_its_options_are_told_and_nothing_runs(cases: str) -> None:
    told = [shown(cases, "--bench", flag).stdout for flag in ("--help", "-h")]
    assert told[0].startswith("usage: cargo bench -- [PART...] ")
    assert [len(text.splitlines()) for text in told] == [5, 5]


@pytest.mark.parametrize("flag", ["--bench", "--test"])
def test_a_list_is_that_of_rust_s_own_harness_and_runs_nothing(cases: str, flag: str) -> None:
    """As cargo-nextest and editors ask for it, which then run each by its whole name."""
    ended = shown(cases, "--also=panic", flag, "--list", "--format", "terse")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines() == [f"{each['benchmark']}: benchmark" for each in list_of(cases, "--also=panic")]
    assert shown(cases, "--list", "--ignored").stdout == ""
    assert shown(cases, "--exact", "sum", "--test").stdout.startswith("\n0 passed")


@pytest.mark.parametrize("flag", ["--bench", "--test"])
def test_what_fails_is_shown(cases: str, flag: str) -> None:
    ended = shown(cases, "--also=panic", "panic", flag)
    assert ended.returncode == 1
    assert "'panic' panicked: no \"quoted\"" in ended.stdout


def test_what_is_wrong_with_the_names_is_shown(cases: str) -> None:
    ended = shown(cases, "--also=sum_of_ten")
    assert ended.returncode == 2
    assert "two benchmarks are called 'sum_of_ten'" in ended.stderr


# The example


def test_the_example_has_many_benchmarks_and_each_runs() -> None:
    program = suite()
    names = [benchmark["benchmark"] for benchmark in list_of(program)]
    assert len(names) >= 20
    for name in names:
        run(program, name, loops=1, samples=1)


@needs_valgrind
def test_the_planted_change_is_in_one_benchmark(tmp_path: Path) -> None:
    plain, planted = suite(), suite("--features=planted")

    def counts(name: str, loops: int) -> tuple[int, int]:
        of_plain, of_planted = (counted(program, tmp_path, name, loops) for program in (plain, planted))
        return of_plain, of_planted

    (once, planted_once), (twice, planted_twice) = (counts("hash/fnv1a", loops) for loops in (1, 2))
    assert planted_twice - planted_once == pytest.approx(1.02 * (twice - once), rel=1e-4)
    for name in ("hash/adler32", "parse/csv", "hash_map/insert/n=100"):
        one, other = counts(name, 2)
        assert one == other
