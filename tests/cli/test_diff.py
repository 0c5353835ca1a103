from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from steelyard.model.files import save
from tests.design.scripted import noisy, weigh
from tests.design.unpaired.test_counts import counted
from tests.design.unpaired.test_runs import AGAIN, A, B, machine, two
from tests.foreign import foreign_results, processes
from tests.in_process import InProcess
from tests.tool import Done, Tool


def write(folder: Path) -> None:
    save(A, folder / "a.json")
    save(B, folder / "b.json.gz")
    save(AGAIN, folder / "again.json")
    save(machine(B, key="other"), folder / "elsewhere.json")
    save(weigh(noisy(), pairs=12)[0], folder / "weighing.json")
    save(counted(1000), folder / "counted.json")
    (folder / "bisection.json").write_text('{"format": "steelyard-bisection"}')


@pytest.fixture
def diff(asked: InProcess) -> Callable[..., Done]:
    write(asked.folder)
    return partial(asked, "diff")


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["a.json", "b.json.gz"], 1),
        (["b.json.gz", "a.json"], 0),
        (["a.json", "again.json"], 0),
        (["a.json", "again.json", "--strict"], 4),
        (["a.json", "again.json", "--strict", "--margin", "10%"], 0),
        (["a.json", "elsewhere.json", "--force"], 1),
        (["a.json", "b.json.gz", "--metric", "wall,cpu"], 1),
        (["a.json", "b.json.gz", "--metric", "cpu,wall", "--strict"], 4),  # the first metric decides
    ],
)
def test_the_exit_status_is_the_verdict_s(diff: Callable[..., Done], words: list[str], status: int) -> None:
    done = diff(*words)
    assert (done.status, done.err) == (status, b"")
    assert "measured apart" in done.text.splitlines()[0]


def test_the_installed_command_exits_with_it(tool: Tool) -> None:
    write(tool.folder)
    done = tool("diff", "a.json", "b.json.gz")
    assert (done.status, done.err) == (1, b"")
    assert "measured apart" in done.text.splitlines()[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a.json"], "B"),
        (["a.json", "missing.json"], "missing.json"),
        (["a.json", "weighing.json"], "steelyard show"),
        (["a.json", "a.json"], "same run"),
        (["a.json", "counted.json"], "counted.json was counted, and not timed: steelyard run"),
        (["counted.json", "a.json"], "a.json was timed, and not counted: steelyard count"),
        (["a.json", "b.json.gz", "--metric", "instructions"], "a.json was timed, and not counted: steelyard count"),
        (["a.json", "bisection.json"], "is a bisection, and no weighing: steelyard report bisection.json makes a page"),
        (["a.json", "elsewhere.json"], "--force"),
        (["a.json", "b.json.gz", "--alpha", "0.5"], "--alpha"),
        (["a.json", "b.json.gz", "--margin", "x"], "--margin"),
        (["a.json", "b.json.gz", "--metric", "x"], "--metric"),
        (["a.json", "b.json.gz", "--markdown", "./a.json"], "overwritten"),
        (["a.json", "b.json.gz", "--metric", "steal"], "--metric"),
    ],
)
def test_mistakes_are_one_sentence(diff: Callable[..., Done], words: list[str], said: str) -> None:
    done = diff(*words)
    assert done.status == 2
    assert said in done.sentence


def test_markdown_is_written_and_real_runs_go_in(here: InProcess) -> None:
    for name in ("a.json", "b.json"):
        assert here("run", "true", "--launches", "12", "-o", name).status == 0
    # Fewer than 16 launches give no more than an estimate.
    done = here("diff", "a.json", "b.json", "--markdown", "report.md")
    assert (done.status, done.err) == (0, b"")
    assert re.search(r"undecided  [-+][\d.,]+ %, too few launches for an interval, 12 and 12 launches", done.text)
    report = (here.folder / "report.md").read_text()
    assert report.startswith("_measured apart")
    assert re.search(r"\*\*undecided\*\* .+ %, too few launches for an interval, 12 and 12 launches", report)


def test_a_suite_s_mean_stands_below_its_benchmarks(diff: Callable[..., Done], asked: InProcess) -> None:
    save(two(A, "parse", "sort"), asked.folder / "suite-a.json")
    save(two(B, "parse", "sort"), asked.folder / "suite-b.json")
    done = diff("suite-a.json", "suite-b.json", "--markdown", "report.md")
    assert re.search(r"^in all +geometric mean of 2 benchmarks: \+\d", done.text, re.MULTILINE)
    assert "\n- geometric mean of 2 benchmarks" in (asked.folder / "report.md").read_text()
    assert "geometric mean" not in diff("a.json", "b.json.gz").text


def test_benchmarks_that_are_chosen_are_judged_as_strictly_as_among_all(
    diff: Callable[..., Done], asked: InProcess
) -> None:
    save(two(A, "parse", "sort"), asked.folder / "suite-a.json")
    save(two(B, "parse", "sort"), asked.folder / "suite-b.json")
    words = ("suite-a.json", "suite-b.json", "--json", "-")
    both, chosen = (json.loads(diff(*words, *choice).out) for choice in ((), ("-b", "s*")))
    assert chosen["verdicts"] == both["verdicts"][1:]
    assert (chosen["alpha"], chosen["means"]) == (both["alpha"], [])
    refused = diff(*words, "-b", "x")
    assert (refused.status, "--benchmark 'x' fits none of the common benchmarks: parse, sort" in refused.sentence) == (
        2,
        True,
    )


def test_benchmarks_of_imports_and_counts_are_chosen_alike(diff: Callable[..., Done], asked: InProcess) -> None:
    many = {name: processes(20, seed=number) for number, name in enumerate("ab")}
    for name in ("x", "y"):
        save(foreign_results(many, name=name), asked.folder / f"{name}.json")
    assert [
        one["benchmark"] for one in json.loads(diff("x.json", "y.json", "-b", "!a", "-o", "-").out)["verdicts"]
    ] == ["b"]
    save(counted(1010), asked.folder / "more.json")
    assert diff("counted.json", "more.json", "-b", "x").status == 2
    assert diff("counted.json", "more.json", "-b", "*").status == 1


def test_the_answer_is_json_for_scripts(diff: Callable[..., Done], asked: InProcess) -> None:
    done = diff("a.json", "b.json.gz", "--json", "-")
    answer = json.loads(done.out)
    assert (done.status, answer["verdict"], len(answer["verdicts"])) == (1, "slower", 1)
    assert answer["interval"][0] < answer["change"] < answer["interval"][1]
    assert b"measured apart" in done.err

    many = {name: processes(20, seed=number) for number, name in enumerate("ab")}
    for name in ("x", "y"):
        save(foreign_results(many, name=name, unit="ops/s", higher_is_better=True), asked.folder / f"{name}.json")
    assert not answer["verdicts"][0]["higher_is_better"]
    assert diff("x.json", "y.json", "-o", "answer.json").status == 0
    answer = json.loads((asked.folder / "answer.json").read_text())
    assert [(one["verdict"], one["higher_is_better"]) for one in answer["verdicts"]] == [("undecided", True)] * 2
    assert [mean["benchmarks"] for mean in answer["means"]] == [2]


def test_two_counts_are_kept_as_the_weighing_that_they_are(diff: Callable[..., Done], asked: InProcess) -> None:
    save(counted(1010), asked.folder / "more.json")
    assert diff("counted.json", "more.json", "-o", "weighing-of-both.json").status == 1
    assert json.loads((asked.folder / "weighing-of-both.json").read_text())["kind"] == "weighing"
    refused = asked.refuses("compare", "--resume", "weighing-of-both.json")
    assert refused.endswith("it ran to its end: look at it with steelyard show")  # no budget makes counts say more


def test_counts_that_are_not_compared_beside_times_are_named(diff: Callable[..., Done], asked: InProcess) -> None:
    for name, run in (("x", A), ("y", B)):
        settings = run.settings.model_copy(update={"metrics": ["active", "instructions"]})
        both = run.model_copy(update={"settings": settings, "counting": counted(1000).counting})
        save(both, asked.folder / f"{name}.json")
    done = diff("x.json", "y.json")
    assert "note       instructions not compared: times and counts of two runs" in done.text
    assert "steelyard diff --metric instructions does that" in done.text
    refused = diff("x.json", "counted.json")
    assert refused.sentence.endswith("times it; or leave the other metrics out, by --metric instructions")
    assert diff("x.json", "counted.json", "--metric", "instructions").status in (0, 1)
    apart = diff("x.json", "y.json", "--metric", "instructions,active").text
    assert "note       active not compared" in apart
    assert "not compared" not in diff("x.json", "y.json", "--metric", "instructions").text
