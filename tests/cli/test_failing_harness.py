"""Harnesses that break the protocol in every way: one clear sentence, verdicts for the others, nothing lost."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from steelyard.model.records import Weighing
from tests.cli.answering import Answering, answer
from tests.in_process import InProcess, suite
from tests.loaded import run_in, weighing_in
from tests.tool import Done, Tool, ended, wait_until
from tests.world import at_launch, ctrl_c

FILES = ("--json", "record.json", "--markdown", "table.md", "--csv", "launches.csv")
SIDES = ("--names", "old,new")


# --- the list


NO_LIST: dict[str, tuple[str, str]] = {
    "nothing": ("nothing", "old lists no benchmark: is it the right program, and do the arguments that"),
    "exit-9@list": (
        "exit-9@list",
        "the list of old failed with exit status 9 (its last words: and its last words): is it a program",
    ),
    "segfault@list": (
        "segfault@list",
        "the list of old was killed by SIGSEGV, a segmentation fault: is it a program of the harness",
    ),
    "error@list": (
        "error@list",
        "the list of old failed with exit status 1 and says: the input is missing,\\nsee \\x1b[31mits manual",
    ),
    "newer": ("newer", "old speaks version 2 of the harness protocol, and this steelyard version 1: upgrade steelyard"),
    "older": (
        "older",
        "old speaks version 0 of the harness protocol, and this steelyard version 1: upgrade its harness library",
    ),
    "refuse": ("refuse", "the list of old failed with exit status 2 and speaks version 2 of the harness protocol"),
    "no-hello": ("no-hello", "old began its results with something else than the hello"),
    "cut-off": ("cut-off", "old cut its results off"),
    "half-a-line": ("half-a-line", "old wrote a result that is no JSON, in line 5: '{\"end\": tr'"),
    "silent": ("silent", "old wrote no results: it does not speak the harness protocol"),
    "no-json": ("no-json", "old wrote a result that is no JSON, in line 1: 'Running 3 benchmarks ...'"),
    "no-object": ("no-object", "old wrote a result that is no JSON object, in line 1: '[1, 2]'"),
    "no-utf-8": ("no-utf-8", "old wrote a result that is no JSON, in line 1: "),
    "deep": ("deep", "old wrote a result that is no JSON, in line 1: '[[[["),
}
# What only a real process does.
REAL_NO_LIST = {"segfault@list": NO_LIST["segfault@list"], "flood-results": ("flood-results", "old wrote 5,")}


def check_no_list(tool: InProcess | Answering, ways: str, says: str) -> None:
    sentence = tool.refuses("compare", "--harness", "protocol", suite(ways), suite(), *SIDES, *FILES, status=3)
    assert sentence.startswith(says), sentence
    assert len(sentence) < 500
    assert "--ignore-failure" not in sentence
    assert not tool.kept()
    record = tool.json()
    assert (record["benchmarks"], record["launches"]["pair"]) == ([], [])
    (found,) = record["findings"]
    assert found["code"] == "failed"
    assert found["message"].replace("\n", "\\n").replace("\x1b", "\\x1b") == sentence  # as a terminal may show it


@pytest.mark.parametrize(("ways", "says"), NO_LIST.values(), ids=NO_LIST)
def test_a_list_that_is_none(answers: Answering, ways: str, says: str) -> None:
    check_no_list(answers, ways, says)


@pytest.mark.parametrize(("ways", "says"), REAL_NO_LIST.values(), ids=REAL_NO_LIST)
def test_a_list_of_a_process_that_is_none(here: InProcess, ways: str, says: str) -> None:
    check_no_list(here, ways, says)


def test_the_candidate_s_list_is_looked_at_as_well(answers: Answering) -> None:
    words = ("compare", "--harness", "protocol", suite(), suite("cut-off"), *SIDES)
    assert answers.refuses(*words, status=3).startswith("new cut its results off")


def test_a_list_that_never_comes(here: InProcess) -> None:
    words = ("compare", "--harness", "protocol", suite("hang@list"), suite(), *SIDES, "--timeout", "0.1")
    sentence = here.refuses(*words, status=3)
    assert sentence.startswith("the list of old did not end within 0.1 s and was killed: does it wait for something?")
    assert "--timeout" in sentence


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["a", "b", "a"], 'lists "a" twice: each benchmark needs a name of its own'),
        (
            ["a", "b\x1b[31m"],
            'lists a benchmark called "b\\u001b[31m": a name is 1 to 500 bytes of text without control',
        ),
        (["a\nb"], 'lists a benchmark called "a\\nb": a name is'),
        (["\x7f"], 'lists a benchmark called "\\x7f": a name is'),
        ([""], 'lists a benchmark called "": a name is'),
        (["x" * 501], 'lists a benchmark called "xxx'),
    ],
    ids=["twice", "escape", "line feed", "delete", "empty", "long"],
)
def test_names_that_cannot_be(answers: Answering, names: list[str], says: str) -> None:
    assert f"old {says}" in answers.refuses(
        "run", "--harness", "protocol", suite("well", *names), "--name", "old", status=3
    )


@pytest.mark.parametrize("program", ["true", "/bin/true", "echo a b", "sh -c :"])
def test_a_plain_command_is_no_harness(here: InProcess, program: str) -> None:
    sentence = here.refuses("compare", "--harness", "protocol", program, program, status=3)
    assert sentence.startswith(f"{program} (1) wrote no results: it does not speak the harness protocol")
    assert "a plain command is measured without --harness" in sentence


@pytest.mark.parametrize("program", ["false", "ls", "cat /dev/null"])
def test_a_plain_command_that_fails_on_our_words(here: InProcess, program: str) -> None:
    sentence = here.refuses("run", "--harness", "protocol", program, status=3)
    assert sentence.startswith(f"the list of {program} failed with exit status ")
    assert "For a plain command leave --harness out" in sentence


def test_nothing_in_common(answers: Answering) -> None:
    words = ("compare", "--harness", "protocol", suite("well", "a", "b"), suite("well", "c"))
    assert answers.refuses(*words, status=3) == (
        "there is no benchmark to compare: the baseline has a, b, and the candidate has c; "
        "a benchmark is compared only if it has the same name on both sides"
    )


# --- one benchmark of several


BAD: dict[str, str] = {
    "exit-9": "failed with exit status 9 (its last words: and its last words): fix it, or choose others with --bench",
    "segfault": "was killed by SIGSEGV, a segmentation fault: fix it",
    "error": "failed with exit status 1 and says: the input is missing,\\nsee \\x1b[31mits manual",
    "newer": "speaks version 2 of the harness protocol",
    "no-hello": "began its results with something else than the hello",
    "cut-off": "cut its results off",
    "half-a-line": "wrote a result that is no JSON, in line",
    "silent": "wrote no results, though it has answered before: does what it measures end the process?",
    "deep": "wrote a result that is no JSON, in line 1: '[[[[",
    "nothing": "gave 0 samples where 1 was asked for",
    "nan": "gave a sample that took NaN ns",
    "infinity": "gave a sample that took Infinity ns",
    "null": "gave a sample that took null ns",
    "negative": "gave a sample that took -5 ns",
    "zero": "gave a sample that took 0 ns",
    "string": 'gave a sample that took "1000" ns',
    "boolean": "gave a sample that took true ns",
    "huge": "gave a sample that took 1000000000000000000",
    "long-text": 'gave a sample that took "99999999',
    "no-time": "gave a sample that took null ns",
    "bad-loops": "gave a sample with 0 loops",
    "bad-cpu": "gave a sample whose cpu_ns is -1",
    "bad-delay": "gave a sample whose delay_ns is 0.5",
    "missing": "gave 0 samples where 1 was asked for",
    "extra": "gave 2 samples where 1 was asked for",
    "never-longer": "takes no longer however often it is repeated",
}
REAL_BAD = {"segfault": BAD["segfault"], "flood-results": "wrote 5,"}


def check_bad(tool: InProcess | Answering, way: str, says: str) -> None:
    words = ("--launches", "1", "--warmup", "0", "--name", "old")
    done = tool("run", "--harness", "protocol", suite(f"{way}@bad", "bad", "good"), *words, *FILES)
    assert done.status == 3
    (sentence,) = done.err.decode().splitlines()
    assert sentence.startswith(f"steelyard: 1 of 2 benchmarks failed, the first: old (bad) {says}"), sentence
    assert len(sentence) < 700
    assert "--ignore-failure" not in sentence
    record = tool.json()
    assert record["stop"] == ["failed", "pairs"]
    assert [summary["benchmark"] for summary in record["derived"]["summaries"]] == ["good"]
    shown = tool("show")
    assert (shown.status, shown.out) == (3, done.out)


@pytest.mark.parametrize(("way", "says"), BAD.items(), ids=BAD)
def test_one_that_fails_is_named_and_the_other_is_measured(answers: Answering, way: str, says: str) -> None:
    check_bad(answers, way, says)


@pytest.mark.parametrize(("way", "says"), REAL_BAD.items(), ids=REAL_BAD)
def test_a_process_that_fails_is_named_and_the_other_is_measured(here: InProcess, way: str, says: str) -> None:
    check_bad(here, way, says)


def check_partial(here: InProcess | Answering, done: Done, failed: str, *good: str) -> None:
    """Check that every file and `show` name the failed benchmark and have the verdicts of the good ones."""
    assert done.status == 3
    (sentence,) = done.err.decode().splitlines()
    assert sentence.startswith(f"steelyard: 1 of {len(good) + 1} benchmarks failed, the first: {failed}"), sentence
    (kept,) = here.kept()
    assert str(kept) in sentence
    record = here.json()
    assert [one["benchmark"] for one in record["derived"]["verdicts"]] == list(good)
    assert record["stop"].count("failed") == 1
    assert failed in " ".join(done.text.split())
    assert f"1 of {len(good) + 1} benchmarks failed" in (here.folder / "table.md").read_text()
    header, *samples = here.lines("launches.csv")
    assert header.startswith("benchmark_name,")
    assert len(samples) == sum(map(len, record["launches"]["samples"])) > 0
    for words in ((), ("record.json",), (kept,)):
        shown = here("show", *words, "--json", "shown.json", "--markdown", "shown.md", "--csv", "shown.csv")
        assert (shown.status, shown.out) == (3, done.out)
        assert f"benchmarks failed, the first: {failed}" in shown.err.decode()
    for name, shown_name in (("record.json", "shown.json"), ("table.md", "shown.md"), ("launches.csv", "shown.csv")):
        assert (here.folder / name).read_bytes() == (here.folder / shown_name).read_bytes()


@pytest.mark.parametrize(
    ("sides", "failed"),
    [
        (("segfault@bad", "slower@b"), "old (bad) was killed by SIGSEGV, a segmentation fault"),
        (("well", "exit-9@bad,slower@b"), "new (bad) failed with exit status 9"),
        (("well", "nan@bad,slower@b"), "new (bad) gave a sample that took NaN ns"),
        (("idle@bad", "slower@b"), "bad: cpu was 0 or less in some launches"),
    ],
    ids=["in the trial", "while measuring", "an answer that is none", "a metric that is none"],
)
def test_a_weighing_of_which_one_fails(answers: Answering, sides: tuple[str, str], failed: str) -> None:
    commands = [suite(ways, "a", "bad", "b") for ways in sides]
    metric = ("--metric", "cpu") if "cpu" in failed else ()
    done = answers.weigh(*commands, *SIDES, *FILES, "--pairs", "12", *metric)
    check_partial(answers, done, failed, "a", "b")
    assert [one["verdict"] for one in answers.json()["derived"]["verdicts"]] == ["same", "slower"]


def test_what_is_undecided_beside_one_that_fails_goes_on(answers: Answering) -> None:
    commands = suite("segfault@bad", "a", "bad"), suite("well", "a", "bad")
    done = answers.weigh(*commands, "--pairs", "12", "--margin", "0.04%")
    assert done.status == 3
    assert "1 of 2 benchmarks failed, the first: " in done.err.decode()
    (kept,) = answers.kept()
    assert f"\ngo on      steelyard compare --resume {kept.name} --pairs " in done.text


@pytest.mark.parametrize("side", [0, 1])
def test_one_that_hangs(answers: Answering, side: int) -> None:
    ways = ["well", "well"]
    ways[side] = "hang@bad"
    done = answers.weigh(*(suite(way, "bad", "a") for way in ways), *SIDES, *FILES, "--timeout", "2")
    check_partial(answers, done, f"{('old', 'new')[side]} (bad) did not end within 2", "a")


@pytest.mark.parametrize(
    "sides", [("exit-9@run", "well"), ("well", "exit-9@run")], ids=["the baseline", "the candidate"]
)
@pytest.mark.parametrize("control", [[], ["--control"]], ids=["", "control"])
def test_all_fail(answers: Answering, sides: tuple[str, str], control: list[str]) -> None:
    done = answers.weigh(*(suite(way, "a", "b") for way in sides), *SIDES, *FILES, *control)
    assert done.status == 3
    assert "benchmarks failed, the first: " in done.sentence
    assert "(a) failed with exit status 9" in done.sentence
    # They fail in the trial, so nothing was measured.
    assert not answers.kept()
    record = answers.json()
    assert ({*record["stop"]}, record["launches"]["pair"]) == ({"failed"}, [])


def test_where_all_fail_another_reason_is_told_too(answers: Answering) -> None:
    done = answers.weigh(*[suite("exit-9@a,exit-9@b,segfault@c", "a", "b", "c")] * 2, *SIDES)
    assert done.sentence.startswith("all 3 benchmarks failed, the first: old (a) failed with exit status 9")
    assert "; another: old (c) was killed by SIGSEGV, a segmentation fault" in done.sentence
    assert "old (b)" not in done.sentence


def test_one_alone_that_fails_is_not_counted(answers: Answering) -> None:
    done = answers.weigh(suite("segfault@a", "a"), suite("well", "a"), *SIDES)
    assert done.sentence == (
        "old (a) was killed by SIGSEGV, a segmentation fault: fix it, or choose others with --benchmark. (A launch "
        "sees only a small environment: pass more with --env NAME or --inherit-env.)"
    )


def test_a_slower_one_does_not_hide_a_failure(answers: Answering) -> None:
    done = answers.weigh(suite("well", "a", "b"), suite("slower@a,exit-9@b", "a", "b"), "--strict")
    assert done.status == 3
    assert "1 slower" in done.text


# --- noise


def test_megabytes_on_stdout_and_stderr_are_not_in_the_way(here: InProcess) -> None:
    words = ("--launches", "2", "--json", "record.json")
    done = here("run", "--harness", "protocol", suite("flood-out,flood-err", "a"), *words)
    assert (done.status, done.err) == (0, b"")
    assert len(done.out) < 3000


def test_a_long_benchmark_is_one_sample(answers: Answering) -> None:
    done = answers("run", "--harness", "protocol", suite("long", "a"), "--launches", "2", "--json", "record.json")
    assert done.status == 0
    (benchmark,) = answers.json()["benchmarks"]
    assert (benchmark["loops"], benchmark["samples"]) == (1, 1)


def test_a_child_that_holds_the_results_open_is_not_waited_for(here: InProcess) -> None:
    begun = time.monotonic()
    done = here("run", "--harness", "protocol", suite("leave@a", "a", "b"), "--launches", "3", "--json", "record.json")
    assert time.monotonic() - begun < 30
    assert done.status == 0
    (finding,) = here.json()["findings"]
    assert finding["code"] == "left-behind"
    assert (
        finding["message"]
        == "launches left 4 processes behind, which were killed unless they ended by themselves: left-over"
    )
    assert "left-over" in done.text
    assert not here.processes()


# --- interrupted and killed


def stuck_words(count: int, *more: str) -> tuple[str, ...]:
    """Return the arguments of a weighing whose candidate hangs in launch `count`; the first launch is the list."""
    names = ("a", "bad", "b")
    sides = (suite("exit-9@bad", *names), suite(f"stuck-{count}", *names))
    limits = ("--pairs", "8", "--seed", "6", "--margin", "0.001")
    return ("compare", "--harness", "protocol", *sides, *SIDES, *limits, *FILES, *more)


def is_stuck(tool: Tool, count: int) -> Callable[[], bool]:
    def check() -> bool:
        log = tool.folder / "log"
        return log.exists() and len(log.read_bytes().splitlines()) == count

    return check


@contextmanager
def stuck(tool: Tool, count: int) -> Iterator[subprocess.Popen[bytes]]:
    """Yield that weighing once it is in the launch that hangs."""
    with tool.started(*stuck_words(count)) as process:
        wait_until(is_stuck(tool, count), "the launch that waits")
        yield process
    (tool.folder / "go").touch()


def hanging(tool: Tool, *words: str) -> bool:
    """Return whether a launch with all these words is running."""
    return any(all(word in line for word in words) for line in tool.processes() if "steelyard-fd" in line)


@pytest.mark.parametrize(
    ("way", "word", "number"),
    [
        ("hang@list", "--steelyard-list", signal.SIGINT),
        ("hang@b", "--steelyard-run=b", signal.SIGTERM),
    ],
    ids=["listing", "trying"],
)
def test_an_interrupt_before_anything_is_measured(tool: Tool, way: str, word: str, number: signal.Signals) -> None:
    with tool.started("compare", "--harness", "protocol", suite(way), suite(), *FILES) as process:
        wait_until(lambda: hanging(tool, word), "it hangs")
        process.send_signal(number)
        done = ended(process)
    assert (done.status, done.sentence) == (130, "interrupted before anything was measured")
    assert not tool.kept()
    assert not (tool.folder / "record.json").exists()


def check_resumed(tool: Tool | Answering, begun: Weighing, file: Path) -> None:
    """Carry a weighing on: its loops and samples must stay the same, and what had failed must still have failed."""
    done = tool("compare", "--resume", file, "--json", "whole.json")
    assert done.status == 3
    assert "1 of 3 benchmarks failed, the first: old (bad) failed with exit status 9" in done.err.decode()
    whole = weighing_in(tool.folder / "whole.json")
    assert whole.benchmarks == begun.benchmarks
    assert whole.settings == begun.settings
    assert whole.stop[1] == "failed"
    assert "interrupted" not in whole.stop
    assert whole.launches.rows()[: len(begun.launches)] == begun.launches.rows()
    pairs = set(zip(whole.launches.benchmark, whole.launches.pair, whole.launches.side, strict=True))
    assert len(pairs) == len(whole.launches) >= 2 * 2 * 9
    assert {len(samples) for samples in whole.launches.samples} <= {one.samples for one in whole.benchmarks}
    assert [finding.message for finding in whole.findings if finding.code == "failed"] == [
        finding.message for finding in begun.findings if finding.code == "failed"
    ]
    calls = [json.loads(line) for line in tool.lines()]
    amounts = {one.entry: (one.loops, one.samples) for one in begun.benchmarks}
    measured = [call for call in calls if "run" in call and call["samples"] != "1"]  # a trial takes one sample
    assert all((int(call["loops"]), int(call["samples"])) == amounts[call["run"]] for call in measured)
    assert sum("list" in call for call in calls) == 1


def test_an_interrupt_while_measuring_and_going_on(answers: Answering) -> None:
    answers.script = at_launch(30, ctrl_c, answer)
    done = answers(*stuck_words(199))
    assert done.status == 130
    assert b"interrupted: this is what was measured until then" in done.out
    assert b"old (bad) failed with exit status 9" in b" ".join(done.out.split())
    record = weighing_in(answers.folder / "record.json")
    assert record.stop == ["interrupted", "failed", "interrupted"]
    assert len(record.launches) >= 8
    assert all(record.launches.samples)
    shown = answers("show")
    assert (shown.status, shown.out) == (0, done.out)
    check_resumed(answers, record, Path("record.json"))


def test_a_kill_leaves_a_journal_with_its_samples_and_it_goes_on(tool: Tool, here: InProcess) -> None:
    with stuck(tool, 9) as process:
        process.kill()
        assert ended(process).status == -signal.SIGKILL
    wait_until(lambda: not tool.processes(), "every process has gone")
    (journal,) = tool.kept()
    assert journal.suffix == ".journal"
    begun = weighing_in(journal)
    assert begun.stop == ["interrupted", "failed", "interrupted"]
    assert len(begun.launches) >= 8
    for row in begun.launches.rows():
        assert len(row.samples) == begun.benchmarks[row.benchmark].samples
        assert {sample.loops for sample in row.samples} == {begun.benchmarks[row.benchmark].loops}
    assert here("show").status == 0
    check_resumed(tool, begun, journal)
    (kept,) = tool.kept()
    assert kept.name.endswith(".json.gz")


def test_an_interrupted_run_keeps_what_it_has(tool: Tool, here: InProcess) -> None:
    words = ("run", "--harness", "protocol", suite("stuck-18", "a", "b"), "--launches", "1000", "--json", "record.json")
    with tool.started(*words) as process:
        wait_until(is_stuck(tool, 18), "the launch that waits")
        process.send_signal(signal.SIGINT)
        done = ended(process)
    assert done.status == 130
    record = run_in(tool.folder / "record.json")
    assert record.stop == ["interrupted"] * 2
    assert len(record.launches) >= 1
    assert here("show").out == done.out


def test_beside_a_kept_run_what_did_not_fail_is_compared_and_what_is_not_is_said(answers: Answering) -> None:
    few = ("run", "--harness", "protocol", "--launches", "3")
    answers(*few, suite("well", "bad", "good"), "--save-baseline", "main")
    done = answers(*few, suite("exit-9@bad", "bad", "good"), "--baseline", "main", "--save-baseline", "newer")
    assert done.status == 3
    compared = done.text.partition("measured apart")
    assert compared[1], done.text
    assert "good" in compared[0].rpartition("baseline")[2] + compared[2]
    assert "not kept as the baseline newer, as not all was measured" in done.err.decode()
    assert "not compared" not in done.err.decode()
    assert done.err.decode().splitlines()[-1].startswith("steelyard: 1 of 2 benchmarks failed")
    done = answers(*few, suite("exit-9@bad", "bad"), "--baseline", "main")
    assert "not compared with the baseline main, as not all was measured" in done.err.decode()
