"""`steelyard count`, and `compare` by counts: they count what is asked for, and refuse what makes no sense."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest

from steelyard.history.calibrations import store
from steelyard.machine.facts import read_facts
from steelyard.model.counting import Caches
from steelyard.stats.counts import counts_needed
from tests import c_programs
from tests.c_programs import compiled, need_callgrind_header, need_valgrind
from tests.calibrations import calibration
from tests.cli.refusing import Refuses
from tests.in_process import InProcess
from tests.tool import environment_in, sh


@pytest.fixture
def loops(here: InProcess) -> InProcess:
    """The command line beside two programs; `more` executes 0.98 % more than `loop`.

    They are linked statically: Valgrind takes four times as long if it has to read the C library's symbols.
    """
    need_valgrind()
    compiled(here.folder, "loop", c_programs.LOOP, "-static")
    compiled(here.folder, "more", c_programs.LONGER_LOOP, "-static")
    return here


def record(here: InProcess, *words: str, status: int = 0) -> dict[str, Any]:
    """Return the record that a command line keeps."""
    done = here(*words, "-o", "record.json")
    assert done.status == status, done
    assert done.err == b""
    return here.json()


def test_alpha_says_how_many_counts_are_taken_that_differ(asked: InProcess) -> None:
    (said,) = re.findall(r"--alpha P +(.*?) +--", " ".join(asked("count", "--help").text.split()))
    assert "interval" not in said
    assert f"{counts_needed(0.01)} for 0.01" in said


# --- arguments that make no sense

VALUES = {
    "--caches": ["", "nonsense", "I1=1,1,1", "I1=32K,8", "L2=32K,8,64", "LL=4096M,16,64", "I1=32K,8,64:"],
    "--weights": ["", "nonsense", "1,2", "1,2,3,4", "0,0,0", "-1,5,35", "nan,1,1", "inf,1,1", "1,5,1e9"],
    "--loops": ["", "x", "0", "-5", "1.5", "1000000000001", "9" * 400],
    "--jobs": ["", "x", "0", "-1", "257", "9" * 400],
    "--functions": ["", "x", "-1", "1.5"],
    "--metric": ["", "speed", "wall", "instructions,wall", "Instructions"],
    "--alpha": ["0", "1", "x"],
    "--timeout": ["0", "-1", "x"],
}


@pytest.mark.parametrize(
    ("option", "value"),
    [(option, value) for option, values in VALUES.items() for value in values],
    ids=lambda value: ascii(value[:20]),
)
def test_a_value_that_is_malformed_or_out_of_range(refuses: Refuses, option: str, value: str) -> None:
    sentence = refuses("count", "true {loops}", f"{option}={value}")
    timed = option == "--metric" and "wall" in value
    assert ("count does not time" if timed else option) in sentence


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["count"], "COMMAND"),
        (["count", ""], "the command is empty"),
        (["count", "no-such-tool"], "not found on PATH"),
        (["count", "true", "--loops", "5"], "has no {loops}"),
        (["count", "true", "--body", "--after-start"], "give one of them"),
        (["count", "true", "--pairs", "5"], "--pairs"),
        (["count", "true", "--json", "missing/file"], "cannot write missing/file"),
        (["compare", "true", "true", "--metric", "cost", "--control"], "--control is for times"),
        (["compare", "true", "true", "--metric", "cost", "--loops", "5"], "has no {loops}"),
        (
            ["compare", "true", "true", "--caches", "foo"],
            "--caches applies to counting only: add --metric instructions",
        ),
        (
            ["compare", "true", "true", "--weights", "foo"],
            "--weights applies to counting only: add --metric instructions",
        ),
        (
            ["compare", "true", "true", "--metric", "cost", "--repeat", "3"],
            "--repeat is for times: counts are of one run",
        ),
        (["compare", "true", "true", "--loops", "0"], "--loops applies to counting only: add --metric instructions"),
        (["compare", "true", "true", "--jobs", "0"], "--jobs applies to counting only: add --metric instructions"),
        (["compare", "true", "true", "--body"], "--body applies to counting only: add --metric instructions"),
        (["compare", "true", "true", "--metric", "wall", "--jobs", "2"], "--jobs applies to counting only"),
        (["compare", "true", "true", "--call-graph"], "--call-graph applies to counting only"),
        (["count", "true", "--harness", "go"], "--harness go cannot count instructions"),
        (
            ["compare", "true", "true", "--harness", "criterion", "--metric", "active,cost"],
            "--harness criterion cannot count cost: only suites of steelyard's SDKs ask Valgrind to count their",
        ),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)
def test_words_that_make_no_sense(refuses: Refuses, words: list[str], says: str) -> None:
    assert says in refuses(*words)


# --- what is counted


def test_the_same_number_twice(loops: InProcess) -> None:
    compiled(loops.folder, "loop", c_programs.LOOP)  # with the loader and the C library as most programs have them
    done = loops("count", "./loop", "-o", "record.json")
    first, second = loops.json()["counting"]["counts"]
    assert first["events"] == second["events"]
    assert set(first["events"]) == {"Ir"}
    assert "repeats exactly, 2 counts" in " ".join(done.text.split())
    assert "hot" in done.text


def test_a_weighing_finds_which_function_it_is(loops: InProcess) -> None:
    words = ("compare", "./loop", "./more", "--metric", "instructions")
    found = record(loops, *words, "--markdown", "report.md", "--csv", "counts.csv", status=1)
    assert (found["verdict"], found["pairs"]) == ("slower", 5)
    assert found["interval"] == [found["change"]] * 2
    with (loops.folder / "counts.csv").open(newline="") as file:
        assert len(list(csv.reader(file))) == 1 + 2 * 5
    report = (loops.folder / "report.md").read_text()
    assert "comes from, in instructions:" in report
    # The share of all instructions, the C library's among them, whose number differs between its versions.
    (of_all,) = re.findall(r"\| \+8,000 \| \+(0\.\d\d) % \| <code>hot</code>", report)
    assert float(of_all) == pytest.approx(100 * found["change"], abs=0.02)


def test_the_cost_of_memory_accesses(loops: InProcess) -> None:
    found = record(loops, "count", "./loop", "--metric", "cost,ram_hits", "--caches", "small", "--weights", "1,10,100")
    cost, ram = found["derived"]["summaries"]
    assert cost["median"] > ram["median"] > 0
    assert "--LL=2097152,16,64" in found["counting"]["tool"]["flags"]
    assert found["settings"]["counting"]["weights"] == {"name": "own", "l1": 1, "ll": 10, "ram": 100}


def test_what_functions_call_is_beside_their_own_and_a_margin_gates_what_is_exact(loops: InProcess) -> None:
    words = ("--metric", "instructions", "--call-graph", "--margin", "1%", "-o", "record.json")
    done = loops("compare", "./loop", "./more", *words)
    assert (done.status, loops.json()["verdict"]) == (0, "same")
    assert "with callees" in done.text


def test_loops_alone(loops: InProcess) -> None:
    found = record(loops, "count", "./loop {loops}", "--loops", "10000")
    assert found["counting"]["counts"][0]["events"]["Ir"] == pytest.approx(80_000, rel=0.01)


def test_the_body_alone(loops: InProcess) -> None:
    need_callgrind_header()
    compiled(loops.folder, "body", c_programs.BODY, "-static")
    one, two = (record(loops, "count", command, "--body") for command in ("./body", "./body and more"))
    assert one["counting"]["counts"][0]["events"] == two["counting"]["counts"][0]["events"]


def test_no_functions_are_shown_where_none_are_wanted(loops: InProcess) -> None:
    assert "hot" not in loops("count", "./loop", "--functions", "0").text
    words = ("compare", "./more", "./loop", "--metric", "instructions", "--functions", "0", "--markdown", "report.md")
    done = loops(*words, "-o", "record.json")
    assert (done.status, loops.json()["verdict"]) == (0, "faster")
    assert "hot" not in done.text
    assert "hot" not in (loops.folder / "report.md").read_text()


def test_what_surrounds_each_launch(loops: InProcess) -> None:
    hooks = ("--prepare", sh("echo prepared >> log"), "--cleanup", sh("echo cleaned >> log"))
    record(loops, "count", "./loop", *hooks)
    assert loops.lines() == ["prepared", "prepared", "cleaned"]


def test_where_output_goes(loops: InProcess) -> None:
    compiled(loops.folder, "says", c_programs.SAYS, "-static")
    done = loops("compare", "./says", "./says", "--metric", "instructions", "--output", "out")
    assert (done.status, done.err) == (0, b"")
    assert (loops.folder / "out").read_text() == "a\n"


def test_input_is_there_for_every_launch(loops: InProcess) -> None:
    (loops.folder / "in").write_text("5\n" * 5)
    first, second = record(loops, "count", sh("read n; exit $n"), "--stdin", "in", "-i")["counting"]["counts"]
    assert first["events"] == second["events"]


def test_both_clocks(loops: InProcess) -> None:
    found = record(
        loops, "compare", "./loop", "./loop", "--metric", "instructions,wall", "--pairs", "12", "--margin", "50%"
    )
    assert [verdict["metric"] for verdict in found["derived"]["verdicts"]] == ["instructions", "wall"]
    assert found["verdict"] == "same"


def test_a_cache_that_the_first_launch_fills_is_no_change(loops: InProcess) -> None:
    compiled(loops.folder, "fills", c_programs.FILLS, "-static")
    (loops.folder / "a").touch()  # the baseline's file exists already
    commands = [f"./fills {name}" for name in ("a", "b")]
    # Even with many jobs, no side's second launch may begin before its first has ended.
    found = record(loops, "compare", *commands, "--metric", "instructions", "--margin", "0.05%", "--jobs", "4")
    assert (found["verdict"], found["pairs"]) == ("same", 5)
    assert [finding["code"] for finding in found["findings"]] == ["not-pinned", "set-aside"]  # statically linked


# --- weights of a calibration


@pytest.fixture
def calibrated(tmp_path: Path) -> Caches:
    """The caches that this machine was calibrated with."""
    caches = Caches(name="host", ll=(4 << 20, 16, 64))
    store(calibration().model_copy(update={"machine": read_facts().key, "caches": caches}), environment_in(tmp_path))
    return caches


def test_calibrated_weights_come_with_their_caches(loops: InProcess, calibrated: Caches) -> None:
    found = record(loops, "count", "./loop", "--metric", "cost", "--weights", "calibrated")["settings"]["counting"]
    assert found["weights"] == {"name": "calibrated", "l1": 1, "ll": 3.6, "ram": 40}
    assert found["caches"]["ll"] == list(calibrated.ll)


def test_the_same_caches_may_be_written_out(loops: InProcess, calibrated: Caches) -> None:
    words = ("--metric", "cost", "--weights", "calibrated", "--caches", "LL=4M,16,64")
    found = record(loops, "compare", "./loop", "./loop", *words)["settings"]["counting"]
    assert found["caches"]["ll"] == list(calibrated.ll)


@pytest.mark.usefixtures("calibrated")
@pytest.mark.parametrize("command", [["count", "true"], ["compare", "true", "true"]], ids=str)
@pytest.mark.parametrize("caches", ["article", "small"])
def test_calibrated_weights_of_other_caches_are_refused(asked: InProcess, command: list[str], caches: str) -> None:
    sentence = asked.refuses(*command, "--metric", "cost", "--weights", "calibrated", "--caches", caches)
    assert "fitted with the caches I1=32768,8,64:D1=32768,8,64:LL=4194304,16,64" in sentence
    assert f"not with --caches {caches}: leave --caches out" in sentence


def test_a_machine_that_was_not_calibrated(refuses: Refuses) -> None:
    assert "run steelyard calibrate first" in refuses("count", "true", "--metric", "cost", "--weights", "calibrated")
