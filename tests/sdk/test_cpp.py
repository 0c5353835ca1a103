"""The C++ header, built by a real compiler and driven as the protocol says."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.sdk.cpp_programs import SDK, asked, driven, run
from tests.sdk.driving import FD

HELLO = {"steelyard": 1, "harness": "steelyard.hpp 0.1.0", "language": "C++", "before": True, "lockstep": True}


# --- the two calls ---------------------------------------------------------------------------------------------------


def test_others_run_before_in_the_same_process(harness: Path) -> None:
    asked_for = "map/n=10/kind=flat"
    response = run(harness, "nothing", before_it=[f"7:{asked_for}"])
    assert [line["loops"] for line in response.samples] == [100] * 3
    assert response.stdout == run(harness, asked_for).stdout != ""
    for before, said in (("7:absent", "absent"), ("0:nothing", "before=0"), ("nothing", "before=nothing")):
        assert said in run(harness, "nothing", before_it=[before]).error


def test_the_list_is_complete_and_the_same_at_each_call(harness: Path) -> None:
    response = driven(harness, "--steelyard-list")
    listed = {line["benchmark"]: line for line in response.samples}
    assert response == driven(harness, "--steelyard-list")
    assert response.lines[0] == HELLO
    assert len(listed) == len(response.samples) > 20
    assert set(listed["nothing"]) == {"benchmark", "source"}
    assert re.fullmatch(r".*cpp_harness\.cpp:\d+", listed["nothing"]["source"])
    assert [name for name in listed if name.startswith("map/")] == [
        f"map/n={n}/kind={kind}" for n in ("10", "-2000000000000") for kind in ("flat", '"q" é\\')
    ]
    combined = listed['map/n=-2000000000000/kind="q" é\\']
    assert combined["params"] == {"n": "-2000000000000", "kind": '"q" é\\'}
    assert combined["tags"] == ["containers", "odd \x01 � tag"]


def test_every_field_of_a_run(harness: Path) -> None:
    response = run(harness, "multiplies", loops=1000, samples=5)
    assert response.lines[0] == HELLO
    assert [sample["loops"] for sample in response.samples] == [1000] * 5
    for sample in response.samples:
        assert set(sample) == {"loops", "ns", "cpu_ns", "delay_ns"}
        assert all(type(value) is int for value in sample.values())
        assert sample["ns"] > 0
        # For such short samples the scheduler would tell 0, if it were not made to update its numbers.
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


def test_arguments_stand_in_any_order_among_those_of_the_user_and_of_later_versions(harness: Path) -> None:
    arguments = ["--steelyard-seed=1", "mine", "--steelyard-colour=red", "--steelyard-run=nothing"]
    arguments += ["--steelyard-samples=2", FD, "--steelyard-loops=007", "--steelyard-protocol=1", "--list"]
    assert [sample["loops"] for sample in asked(harness, *arguments).samples] == [7, 7]


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
def test_a_wrong_argument_is_an_error(harness: Path, key: str, value: str | None, said: str) -> None:
    given = {"protocol": "1", "run": "nothing", "loops": "1", "samples": "1", "seed": "1", key: value}
    arguments = [f"--steelyard-{key}={value}" for key, value in given.items() if value is not None]
    response = asked(harness, FD, *arguments)
    assert said in response.error
    assert response.status == 2


def test_listing_and_running_at_once_is_an_error(harness: Path) -> None:
    response = driven(harness, "--steelyard-list", "--steelyard-run=nothing")
    assert "either --steelyard-list or --steelyard-run=NAME" in response.error


@pytest.mark.parametrize("fd", [[], ["--steelyard-fd=77"], ["--steelyard-fd=abc"], ["--steelyard-fd="]])
def test_without_a_descriptor_the_error_is_told_on_stderr(harness: Path, fd: list[str]) -> None:
    response = asked(harness, "--steelyard-protocol=1", "--steelyard-list", *fd)
    assert (response.status, response.lines, response.stdout) == (2, [], "")
    assert "--steelyard-fd=N must name a descriptor" in response.stderr


def test_a_response_that_nobody_can_be_given_is_an_error(harness: Path) -> None:
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
    arguments = [f"--steelyard-{argument}" for argument in (call, "loops=1", "samples=1", "seed=1")]
    response = driven(harness, *arguments, environment={"STEELYARD_TEST_NAME": os.fsdecode(name)})
    assert fault in response.error
    assert response.status == 2


@pytest.mark.parametrize("name", ["x" * 500, "é" * 250, "\u00a0", "🙂", "' ; * ? = /"])
def test_any_other_name_is_fine(harness: Path, name: str) -> None:
    environment = {"STEELYARD_TEST_NAME": name}
    assert driven(harness, "--steelyard-list", environment=environment).samples[-1] == {"benchmark": name}
    assert len(run(harness, name, environment=environment).samples) == 3


def test_a_parameter_without_values_is_an_error(harness: Path) -> None:
    response = driven(harness, "--steelyard-list", environment={"STEELYARD_TEST_NO_VALUES": "1"})
    assert response.error == 'a parameter of benchmark "empty" has no value'


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
    response = run(harness, name)
    assert said in response.error
    assert response.status == 1


def test_one_version() -> None:
    (in_cmake,) = re.findall(r"project\(steelyard VERSION (\S+) ", (SDK / "CMakeLists.txt").read_text())
    (in_header,) = re.findall(r'version = "(.+)"', (SDK / "steelyard.hpp").read_text())
    assert in_cmake == in_header == HELLO["harness"].split()[1]  # type: ignore[attr-defined]
