"""Several benchmarks in one weighing, and the options that change what a launch is."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path

import pytest

from steelyard.model.records import Weighing
from tests.hostile.tool import Tool
from tests.in_process import InProcess
from tests.loaded import weighing_in
from tests.tool import sh, wait_until

SHORT = ("--pairs", "12")
HUGE = "9" * 400


def weighed(here: InProcess, *words: str) -> Weighing:
    """Weigh and return the record; noise may decide the verdict, but the exit status must agree with it."""
    here.compared(*words)
    return weighing_in(here.folder / "record.json")


# --- parameters


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-L"], "takes 2 words"),
        (["--parameter-list"], "takes 2 words"),
        (["--parameter-list=n"], "takes 2 words"),
        (["-L", "n"], "takes 2 words"),
        (["-L", "n", "--margin"], "takes 2 words"),
        (["-Ln", "a,b"], "-L takes 2 words"),
        (["--parameter-list=n", "a,b"], "--parameter-list takes 2 words"),
        (["-L", "", "a,b"], "is no name"),
        (["-L", "n-1", "a,b"], "is no name"),
        (["-L", "two words", "1,2"], "is no name"),
        (["-L", "\x1b[31m", "1,2"], "is no name"),
        (["-L", "n", ",".join(map(str, range(10_001)))], "more than 10000"),
        (["-L", "n", "a,b,a"], "names a value twice"),
        (["-L", "n", ","], "names a value twice"),
        (["-L", "m", "a,b"], "used in no command"),
        (["-L", "n", "a", "-L", "n", "b"], "given twice"),
        (["-L", "n", "a", "-P", "n", "1", "2", "1"], "given twice"),
        (["-P", "n", "1"], "takes"),
        (["-P=n", "1", "2", "1"], "takes"),
        (["--parameter-scan=n", "1", "2", "1"], "takes"),
        (["-P", "n", "x", "2", "1"], "have to be numbers"),
        (["-P", "n", "", ""], "have to be numbers"),
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
def test_parameters_that_make_no_sense(asked: InProcess, words: list[str], says: str) -> None:
    sentence = asked.refuses("compare", "echo {n}", "echo {n}", *words)
    assert says in sentence
    assert len(sentence) < 3 * len(HUGE) + 200


def test_too_many_combinations(asked: InProcess) -> None:
    words = ["-P", "n", "1", "200", "1", "-P", "m", "1", "200", "1"]
    assert "more than 10000 benchmarks" in asked.refuses("compare", "echo {n}", "echo {m}", *words)


def test_every_combination_with_every_candidate(here: InProcess) -> None:
    words = ["-L", "what", "a b,$(exit 1),c\\,d", "-P", "n", "1", "0", "-0.5"]
    record = weighed(here, *[f"echo {number} {{what}} {{n}}" for number in range(3)], *words, "--pairs", "14")
    assert len(record.benchmarks) == 2 * 3 * 3
    assert {benchmark.params["what"] for benchmark in record.benchmarks} == {"a b", "$(exit 1)", "c,d"}
    assert [benchmark.params["n"] for benchmark in record.benchmarks[:6:2]] == ["1.0", "0.5", "0.0"]


def test_a_parameter_may_name_the_program(here: InProcess) -> None:
    for name in ("one", "two"):
        (here.folder / name).write_text(f"#!/bin/sh\necho {name} >> log\n")
        (here.folder / name).chmod(0o755)
    weighed(here, "./{which}", "./{which} again", "-L", "which", "one,two", *SHORT)
    assert Counter(here.lines()).keys() == {"one", "two"}
    sentence = here.refuses("compare", "./{which}", "true", "-L", "which", "one,three")
    assert "./three" in sentence
    assert "No such file" in sentence


def test_one_of_several_benchmarks_fails(here: InProcess) -> None:
    failing = sh("test {n} != 2 || exit 9")
    sentence = here.refuses("compare", failing, "true", "-L", "n", "1,2", status=3)
    assert "(n=2) failed with exit status 9" in sentence


# --- control, reference output


def test_a_control_is_weighed_and_shown(here: InProcess) -> None:
    record = weighed(here, "true", "true", "true", "--control", *SHORT)
    assert [benchmark.control for benchmark in record.benchmarks] == [False, False, True]
    assert "control" in here("show").text


def test_the_same_output_is_weighed(here: InProcess) -> None:
    assert len(weighed(here, "echo a", sh("echo a"), "--reference-output", *SHORT).launches) >= 2 * 13


def test_another_output_is_an_error(here: InProcess) -> None:
    words = ("compare", sh("seq 100000"), sh("seq 99999; echo 100001"), "--reference-output")
    assert "print different things, first in line 100000" in here.refuses(*words, status=3)
    for baseline, candidate in (("echo a", "true"), ("true", "echo a"), ("printf a", "echo a")):
        sentence = here.refuses("compare", baseline, candidate, "--reference-output", status=3)
        assert "first in line 1" in sentence
    assert not here.kept()


@pytest.mark.parametrize("sides", [("false", "true"), ("true", "false")])
def test_a_side_that_fails_at_its_reference_output(here: InProcess, sides: tuple[str, str]) -> None:
    assert "false failed with exit status 1" in here.refuses("compare", *sides, "--reference-output", status=3)


def test_a_reference_output_that_never_ends(here: InProcess) -> None:
    sentence = here.refuses("compare", "true", "sleep 600", "--reference-output", "--timeout", "0.5", status=3)
    assert "sleep 600 did not end within" in sentence


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_before_the_first_pair(tool: Tool, number: int) -> None:
    process = tool.start("compare", sh("touch started; sleep 600"), "true", "--reference-output")
    wait_until((tool.folder / "started").exists, "the first output is made")
    process.send_signal(number)
    done = tool.end(process)
    assert (done.status, done.sentence) == (130, "interrupted before anything was measured")
    assert not tool.kept()
    assert not list(tool.folder.glob("steelyard-*"))  # the folder of the outputs is gone


# --- repeat, quiet, output, shell


def test_a_launch_of_several_processes(here: InProcess) -> None:
    counting = sh("echo x >> log")
    record = weighed(here, counting, "true", "--repeat", "3", "--warmup", "0", *SHORT)
    assert record.settings.repeat == 3
    launches = record.launches.side.count(0)
    assert len(here.lines()) == 3 * launches >= 3 * 12


def test_a_failure_among_several_processes(here: InProcess) -> None:
    failing = sh("echo x >> log; test $(wc -l < log) -ne 2 || exit 7")
    sentence = here.refuses("compare", failing, "true", "--repeat", "3", status=3)
    assert "failed with exit status 7" in sentence


def test_waiting_for_a_quiet_machine(here: InProcess) -> None:
    assert weighed(here, "true", "true", "--wait-quiet", "1", *SHORT).settings.wait_quiet_s == 1
    assert "--wait-quiet" in here.refuses("compare", "true", "true", "--wait-quiet", "-1")


def test_an_interrupt_while_waiting_for_a_quiet_machine(tool: Tool) -> None:
    if not Path("/proc/pressure/cpu").exists():
        pytest.skip("not tested without /proc/pressure: nothing would be waited for")
    process = tool.start("compare", "sleep 0.1", "sleep 0.1", "--wait-quiet", "60")
    wait_until(lambda: len(tool.processes()) > 1, "the server runs")
    process.send_signal(signal.SIGINT)
    assert tool.end(process).status == 130


def test_the_output_goes_to_a_file(here: InProcess) -> None:
    weighed(here, "echo a", "echo a", "--output", "out", *SHORT)
    assert (here.folder / "out").read_text() == "a\n"


@pytest.mark.parametrize("place", ["missing/out", ".", "/proc/out", "out/out"])
def test_an_output_that_cannot_be_written(asked: InProcess, place: str) -> None:
    (asked.folder / "out").touch()
    sentence = asked.refuses("compare", "true", "true", "--output", place)
    assert place.partition("/")[0] in sentence
    assert not asked.kept()


def test_an_output_that_goes_away(here: InProcess) -> None:
    (here.folder / "there").mkdir()
    removing = sh("rm -r there")
    sentence = here.refuses("compare", removing, "true", "--output", "there/out", status=3)
    assert "there/out" in sentence
    assert "No such file or directory" in sentence


def test_an_output_that_nobody_reads(asked: InProcess) -> None:
    os.mkfifo(asked.folder / "pipe")
    sentence = asked.refuses("compare", "echo a", "echo a", "--output", "pipe", "--timeout", "1")
    assert "--output pipe" in sentence


def test_a_shell_command_that_fails(here: InProcess) -> None:
    sentence = here.refuses("compare", "true | false", "true", "--shell", status=3)
    assert "true | false failed with exit status 1" in sentence
    sentence = here.refuses("compare", "true", "no-such-command", "--shell", status=3)
    assert "no-such-command failed with exit status 127" in sentence
    assert "not found" in sentence
    sentence = here.refuses("compare", "true", "'", "--shell", status=3)
    assert "failed with exit status" in sentence
    work = "seq 1000 | sort | tail -n 1"
    record = weighed(here, work, f"{work}; exit 3", "--shell", "-i", *SHORT)
    assert set(zip(record.launches.side, record.launches.exit_code, strict=True)) == {(0, 0), (1, 3)}
