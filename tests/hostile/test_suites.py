"""Several benchmarks in one weighing, and the options that change what a launch is."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from steelyard.cli.app import run
from steelyard.model.files import load
from steelyard.model.records import Weighing
from tests.hostile.tool import Tool
from tests.tool import sh, wait_until

SHORT = ("--pairs", "12", "--json", "record.json")
HUGE = "9" * 400


def weighing(tool: Tool) -> Weighing:
    record = load(tool.folder / "record.json")
    assert isinstance(record, Weighing)
    return record


# --- parameters


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-L"], "takes 2 words"),
        (["-L", "n"], "takes 2 words"),
        (["-L", "n", "--margin"], "takes 2 words"),
        (["-Ln", "a,b"], "'a,b' was not found"),
        (["--parameter-list=n", "a,b"], "'a,b' was not found"),
        (["-L", "", "a,b"], "is no name"),
        (["-L", "n-1", "a,b"], "is no name"),
        (["-L", "n", "a,b,a"], "names a value twice"),
        (["-L", "n", ","], "names a value twice"),
        (["-L", "m", "a,b"], "used in no command"),
        (["-L", "n", "a", "-L", "n", "b"], "given twice"),
        (["-L", "n", "a", "-P", "n", "1", "2", "1"], "given twice"),
        (["-P", "n", "1", "2"], "takes 4 words"),
        (["-P", "n", "x", "2", "1"], "have to be numbers"),
        (["-P", "n", "", "", ""], "have to be numbers"),
        (["-P", "n", "1", "2", "0"], "never arrives"),
        (["-P", "n", "1", "2", "-1"], "never arrives"),
        (["-P", "n", "2", "1", "1"], "never arrives"),
        (["-P", "n", "nan", "nan", "nan"], "never arrives"),
        (["-P", "n", "snan", "1", "1"], "never arrives"),
        (["-P", "n", "-inf", "inf", "1"], "never arrives"),
        (["-P", "n", "1", "1e5", "1"], "more than 10000"),
        (["-P", "n", "0", "1", "1e-20"], "more than 10000"),
        (["-P", "n", "0", "1e999999", "1e-999999"], "25 digits at most"),
        (["-P", "n", "1e999999999", "1e999999999", "1"], "25 digits at most"),
        (["-P", "n", HUGE, HUGE, HUGE], "25 digits at most"),
        (["-P", "n", "1", "200", "1", "-L", "m", "1,2"], "used in no command"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)
def test_parameters_that_make_no_sense(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "echo {n}", "echo {n}", *words]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert says in printed.err
    assert printed.err.count("\n") == 1
    assert len(printed.err) < 3 * len(HUGE) + 200


def test_too_many_combinations(tool: Tool) -> None:
    words = ["-P", "n", "1", "200", "1", "-P", "m", "1", "200", "1"]
    assert "more than 10000 benchmarks" in tool.refuses("compare", "echo {n}", "echo {m}", *words)


def test_every_combination_with_every_candidate(tool: Tool) -> None:
    words = ["-L", "what", "a b,$(exit 1),c\\,d", "-P", "n", "1", "0", "-0.5"]
    done = tool("compare", *[f"echo {number} {{what}} {{n}}" for number in range(3)], *words, "--pairs", "8")
    assert done.status in (0, 1)
    (kept,) = tool.kept()
    record = load(kept)
    assert isinstance(record, Weighing)
    assert len(record.benchmarks) == 2 * 3 * 3
    assert {benchmark.params["what"] for benchmark in record.benchmarks} == {"a b", "$(exit 1)", "c,d"}
    assert [benchmark.params["n"] for benchmark in record.benchmarks[:6:2]] == ["1.0", "0.5", "0.0"]


def test_a_parameter_may_name_the_program(tool: Tool) -> None:
    for name in ("one", "two"):
        tool.write(name, "#!/bin/sh\n")
    assert tool("compare", "./{which}", "./{which} again", "-L", "which", "one,two", *SHORT).status in (0, 1)
    sentence = tool.refuses("compare", "./{which}", "true", "-L", "which", "one,three")
    assert "./three" in sentence
    assert "No such file" in sentence


def test_one_of_several_benchmarks_fails(tool: Tool) -> None:
    failing = sh("test {n} != 2 || exit 9")
    sentence = tool.refuses("compare", failing, "true", "-L", "n", "1,2", status=3)
    assert "(n=2) failed with exit status 9" in sentence


# --- control, reference output


def test_a_control_is_weighed_and_shown(tool: Tool) -> None:
    done = tool("compare", "true", "true", "true", "--control", *SHORT)
    assert done.status in (0, 1)
    assert [benchmark.control for benchmark in weighing(tool).benchmarks] == [False, False, True]
    assert "control" in done.out


def test_the_same_output_is_weighed(tool: Tool) -> None:
    assert tool("compare", "echo a", sh("echo a"), "--reference-output", *SHORT).status in (0, 1)


def test_another_output_is_an_error(tool: Tool) -> None:
    words = ("compare", sh("seq 100000"), sh("seq 99999; echo 100001"), "--reference-output")
    assert "print different things, first in line 100000" in tool.refuses(*words, status=3)
    for baseline, candidate in (("echo a", "true"), ("true", "echo a"), ("printf a", "echo a")):
        sentence = tool.refuses("compare", baseline, candidate, "--reference-output", status=3)
        assert "first in line 1" in sentence
    assert not tool.kept()


@pytest.mark.parametrize("sides", [("false", "true"), ("true", "false")])
def test_a_side_that_fails_at_its_reference_output(tool: Tool, sides: tuple[str, str]) -> None:
    assert "false failed with exit status 1" in tool.refuses("compare", *sides, "--reference-output", status=3)


def test_a_reference_output_that_never_ends(tool: Tool) -> None:
    sentence = tool.refuses("compare", "true", "sleep 600", "--reference-output", "--timeout", "0.5", status=3)
    assert "sleep 600 did not end within" in sentence


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_before_the_first_pair(tool: Tool, number: int) -> None:
    process = tool.start("compare", sh("touch started; sleep 600"), "true", "--reference-output")
    wait_until((tool.folder / "started").exists, "the first output is made")
    process.send_signal(number)
    done = tool.end(process)
    assert (done.status, done.sentence) == (130, "interrupted before anything was measured")
    assert not tool.kept()
    assert not list(tool.folder.glob("steelyard-*"))  # where the outputs were


# --- repeat, quiet, output, shell


def test_a_launch_of_several_processes(tool: Tool) -> None:
    counting = sh("echo x >> log")
    done = tool("compare", counting, "true", "--repeat", "3", "--warmup", "0", *SHORT)
    assert done.status in (0, 1)
    assert weighing(tool).settings.repeat == 3
    launches = weighing(tool).launches.side.count(0)
    assert len((tool.folder / "log").read_text().splitlines()) == 3 * launches


def test_a_failure_among_several_processes(tool: Tool) -> None:
    failing = sh("echo x >> log; test $(wc -l < log) -ne 2 || exit 7")
    sentence = tool.refuses("compare", failing, "true", "--repeat", "3", status=3)
    assert "failed with exit status 7" in sentence


def test_waiting_for_a_quiet_machine(tool: Tool) -> None:
    assert tool("compare", "true", "true", "--wait-quiet", "1", *SHORT).status in (0, 1)
    assert "--wait-quiet" in tool.refuses("compare", "true", "true", "--wait-quiet", "-1")


def test_an_interrupt_while_waiting_for_a_quiet_machine(tool: Tool) -> None:
    if not Path("/proc/pressure/cpu").exists():
        pytest.skip("not tested without /proc/pressure: nothing would be waited for")
    process = tool.start("compare", "sleep 0.1", "sleep 0.1", "--wait-quiet", "60")
    wait_until(lambda: len(tool.processes()) > 1, "the server runs")
    process.send_signal(signal.SIGINT)
    assert tool.end(process).status == 130


def test_the_output_goes_to_a_file(tool: Tool) -> None:
    assert tool("compare", "echo a", "echo a", "--output", "out", *SHORT).status in (0, 1)
    assert (tool.folder / "out").read_text() == "a\n"


@pytest.mark.parametrize("place", ["missing/out", ".", "/proc/out", "out/out"])
def test_an_output_that_cannot_be_written(tool: Tool, place: str) -> None:
    (tool.folder / "out").touch()
    sentence = tool.refuses("compare", "true", "true", "--output", place)
    assert place.partition("/")[0] in sentence
    assert not tool.kept()


def test_an_output_that_goes_away(tool: Tool) -> None:
    (tool.folder / "there").mkdir()
    removing = sh("rm -r there")
    sentence = tool.refuses("compare", removing, "true", "--output", "there/out", status=3)
    assert "there/out" in sentence
    assert "No such file or directory" in sentence


def test_an_output_that_nobody_reads(tool: Tool) -> None:
    os.mkfifo(tool.folder / "pipe")
    done = tool("compare", "echo a", "echo a", "--output", "pipe", "--timeout", "1")
    assert done.status in (2, 3)
    assert "pipe" in done.sentence


def test_a_shell_command_that_fails(tool: Tool) -> None:
    sentence = tool.refuses("compare", "true | false", "true", "--shell", status=3)
    assert "true | false failed with exit status 1" in sentence
    sentence = tool.refuses("compare", "true", "no-such-command", "--shell", status=3)
    assert "no-such-command failed with exit status 127" in sentence
    assert "not found" in sentence
    sentence = tool.refuses("compare", "true", "'", "--shell", status=3)
    assert "failed with exit status" in sentence
    work = "seq 1000 | sort | tail -n 1"
    assert tool("compare", work, f"{work}; exit 3", "--shell", "-i", *SHORT).status in (0, 1)
