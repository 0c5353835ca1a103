"""Benchmarks inside programs: compare, run, diff and show with --harness, end to end on a made-up harness."""

from __future__ import annotations

import csv
import html
import json
import re
from importlib import resources
from itertools import zip_longest
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from steelyard.model.files import load, save
from steelyard.model.rows import Sample
from tests.cli.answering import Answering
from tests.in_process import InProcess, suite
from tests.tool import rows

FILES = ("--json", "record.json", "--markdown", "table.md", "--csv", "launches.csv")
SIDES = ("--names", "old,new")


def verdicts(record: dict[str, Any], metric: str | None = None) -> dict[str, str]:
    return {
        verdict["benchmark"]: verdict["verdict"]
        for verdict in record["derived"]["verdicts"]
        if metric in (None, verdict["metric"])
    }


def log(tool: Answering) -> list[dict[str, str]]:
    """Return the arguments of every call."""
    return [json.loads(line) for line in tool.lines("log")]


def test_a_suite_is_weighed_and_shown_again(answers: Answering) -> None:
    done = answers.weigh(suite(), suite("slower@b"), *SIDES, *FILES, "--pairs", "12")
    assert (done.status, done.err) == (1, b"")
    record = answers.json()
    assert verdicts(record) == {"a": "same", "b": "slower", "c": "same"}
    assert record["derived"]["verdicts"][1]["change"] == pytest.approx(0.5, abs=0.01)
    assert "of one iteration" in done.text
    assert "1 slower, 2 same" in done.text
    shown = answers("show", "record.json")
    assert (shown.status, shown.out) == (0, done.out)
    assert answers("show").out == done.out

    jsonschema.validate(record, json.loads((resources.files("steelyard.model") / "record.schema.json").read_text()))
    assert record["settings"]["harness"] == "protocol"
    for benchmark, name in zip(record["benchmarks"], "abc", strict=True):
        assert (benchmark["name"], benchmark["entry"], benchmark["tags"]) == (name, name, ["fake"])
        assert 700 < benchmark["loops"] < 3200
        assert 4 <= benchmark["samples"] <= 41
    for place, samples in rows(record, "benchmark", "samples"):
        benchmark = record["benchmarks"][place]
        assert len(samples) == benchmark["samples"]
        assert {sample[0] for sample in samples} == {benchmark["loops"]}

    with (answers.folder / "launches.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    columns = ("sample", *(f"sample_{name}" for name in Sample._fields))
    expected = [
        dict(zip_longest(columns, [str(number), *map(str, sample)], fillvalue=""))
        for (each,) in rows(record, "samples")
        for number, sample in enumerate(each)
    ]
    assert [{name: row[name] for name in columns} for row in found] == expected
    table = (answers.folder / "table.md").read_text()
    assert "**1 slower, 2 same**" in table
    assert "| <code>b</code> | active | **slower**, 1.50 times as long |" in table


def test_both_sides_of_a_pair_are_asked_the_same(answers: Answering) -> None:
    assert answers.weigh(suite("log", "a", "b"), suite("log,slower", "a", "b"), *FILES, "--seed", "7").status == 1
    calls, record = log(answers), answers.json()
    assert [set(call) for call in calls[:2]] == [{"protocol", "fd", "list"}] * 2
    assert all(call["protocol"] == "1" and call["fd"] == "3" for call in calls)
    measured = calls[-len(record["launches"]["pair"]) :]
    amounts = {one["entry"]: (one["loops"], one["samples"]) for one in record["benchmarks"]}
    assert all((int(call["loops"]), int(call["samples"])) == amounts[call["run"]] for call in measured)
    seeds = [(call["run"], call["seed"]) for call in measured]
    assert seeds[::2] == seeds[1::2]
    assert len(set(seeds)) == len(seeds) // 2
    assert [int(seed) for _, seed in seeds] == record["launches"]["hash_seed"]


AWKWARD = [
    "with spaces, and a comma",
    "'single' \"double\" `back`",
    "a/b\\c/../..",
    ".*^$|(regex)+?",
    "*[glob]?{a,b}",
    "sort[n=10]",
    "[bold]no markup[/bold] :smile:",
    "größe/日本語/🦀",
    "--steelyard-list",
    "$HOME;#<&>%s%n{n}",
    "e\u0301\u200d\u202e\u00a0",
    "x" * 500,
]


def test_names_of_any_kind_are_measured_and_shown(answers: Answering) -> None:
    command = suite("well", *(name for name in AWKWARD if not name.startswith("--steelyard")))
    done = answers("run", "--harness", "protocol", command, "--launches", "1", "--warmup", "0", *FILES)
    assert (done.status, done.err) == (0, b"")
    names = [name for name in AWKWARD if not name.startswith("--steelyard")]
    assert [benchmark["entry"] for benchmark in answers.json()["benchmarks"]] == names
    for name in names[:8]:
        assert name in done.text
    assert "\\u202e\\xa0" in done.text
    with (answers.folder / "launches.csv").open(newline="") as file:
        found = {row["benchmark_name"] for row in csv.DictReader(file)}
    assert found >= set(names[:8])
    assert len(found) == len(names)
    assert answers("show").out == done.report


@pytest.mark.parametrize(
    ("patterns", "chosen"),
    [(["sort[n=1]"], ["sort[n=1]"]), (["sort*"], ["sort[n=1]", "sort[n=2]"]), (["*2*", "a b"], ["sort[n=2]", "a b"])],
    ids=str,
)
def test_only_the_benchmarks_that_are_wanted(answers: Answering, patterns: list[str], chosen: list[str]) -> None:
    command = suite("exit-9@other", "other", "sort[n=1]", "sort[n=2]", "a b")
    wanted = [word for pattern in patterns for word in ("-b", pattern)]
    words = ("--launches", "1", "--warmup", "0", "--json", "record.json")
    assert answers("run", "--harness", "protocol", command, *wanted, *words).status == 0
    assert [benchmark["name"] for benchmark in answers.json()["benchmarks"]] == chosen


def test_benchmarks_of_one_side_are_noted(answers: Answering) -> None:
    done = answers.weigh(suite("well", "old", "both", "older"), suite("well", "new", "both"), *SIDES, *FILES)
    assert done.status == 0
    assert verdicts(answers.json()) == {"both": "same"}
    table = html.unescape((answers.folder / "table.md").read_text())
    for note in ("not in new, so not compared: old, older", "only in new, so not compared: new"):
        assert note in " ".join(done.text.split())
        assert note in table


def test_a_control_is_weighed_beside_the_others(answers: Answering) -> None:
    done = answers.weigh(suite("well", "a"), suite("slower", "a"), "--control", *FILES)
    assert done.status == 1
    assert verdicts(answers.json()) == {"a": "slower", "control": "same"}
    assert "no alarm" in done.text


def test_several_candidates(answers: Answering) -> None:
    words = (suite("well", "a", "b"), suite("slower@b", "a", "b"), suite("slower@a", "a"), "--names", "old,new,newer")
    done = answers.weigh(*words, *FILES, "--pairs", "12")
    assert done.status == 1
    assert verdicts(answers.json()) == {"new, a": "same", "new, b": "slower", "newer, a": "slower"}
    assert "not in newer, so not compared: b" in " ".join(done.text.split())


def test_several_metrics(here: InProcess) -> None:
    done = here.weigh(suite("well", "a"), suite("slower", "a"), "--metric", "wall,cpu,max_rss", *FILES)
    assert done.status == 1
    record = here.json()
    assert [one["metric"] for one in record["derived"]["verdicts"]] == ["wall", "cpu", "max_rss"]
    changes = [one["change"] for one in record["derived"]["verdicts"]]
    assert changes[:2] == pytest.approx([0.5, 0.5], abs=0.01)
    assert abs(changes[2]) < 0.1
    assert "wall, of one iteration: " in done.text


def test_a_harness_that_only_tells_wall_time(answers: Answering) -> None:
    done = answers.weigh(suite("wall-only", "a"), suite("wall-only", "a"), "--json", "record.json")
    assert done.status == 0
    assert answers.json()["derived"]["verdicts"][0]["metric"] == "wall"
    assert "the harness does not tell how long it waited" in " ".join(done.text.split())


def test_the_same_seed_repeats_the_plan(answers: Answering) -> None:
    plans = []
    for number in range(2):
        (answers.folder / "log").unlink(missing_ok=True)
        words = ("--seed", "11", "--warmup", "0", "--json", f"{number}.json")
        assert answers.weigh(suite("log", "a"), suite("log", "a"), *words).status == 0
        plan = rows(answers.json(f"{number}.json"), "benchmark", "pair", "side", "order", "hash_seed", "padding_bytes")
        plans.append(set(plan))
    assert plans[0] == plans[1]
    assert len(plans[0]) == 20


def test_what_launches_need_is_prepared_for_each_call(here: InProcess) -> None:
    sides = (suite("need", "a"), suite("need,slower", "a"))
    assert here.weigh(*sides, "--prepare", "touch prepared").status == 1
    words = ("--prepare", "touch prepared", "--prepare", "true")
    sentence = here.refuses("compare", "--harness", "protocol", *sides, *SIDES, *words, status=3)
    assert sentence.startswith("the list of new failed with exit status 1")
    assert "--prepare" in here.refuses("compare", "--harness", "protocol", *sides, "--prepare", "false", status=3)


# --- runs, and two runs measured apart


def run_of(here: InProcess | Answering, command: str, file: str, *words: str) -> None:
    done = here("run", "--harness", "protocol", command, "--name", Path(file).stem, "--json", file, *words)
    assert done.status == 0, done


def test_a_run_describes_each_benchmark(answers: Answering) -> None:
    done = answers("run", "--harness", "protocol", suite("slower@b", "a", "b"), "--launches", "5", *FILES)
    assert (done.status, done.err) == (0, b"")
    record = answers.json()
    summaries = record["derived"]["summaries"]
    assert [(one["benchmark"], one["launches"]) for one in summaries] == [("a", 5), ("b", 5)]
    assert [one["median"] for one in summaries] == pytest.approx([1000, 1500], rel=0.01)
    assert not any(word in done.text for word in ("slower,", "faster", "undecided"))
    assert answers("show").out == done.out
    assert re.search(r"\| <code>b</code> \| active \| 1\.(49|50)", (answers.folder / "table.md").read_text())


def test_two_runs_are_compared_by_the_names_of_their_benchmarks(answers: Answering) -> None:
    run_of(answers, suite("well", "gone", "b"), "one.json", "--launches", "16")
    run_of(answers, suite("slower@b", "b", "added"), "two.json", "--launches", "16")
    for file in ("one.json", "two.json"):  # stretched in time, so that they are long enough to be judged
        record = load(answers.folder / file)
        starts = [record.launches.start_ns[0] + 10**10 * number for number in range(len(record.launches))]
        save(
            record.model_copy(update={"launches": record.launches.model_copy(update={"start_ns": starts})}),
            answers.folder / file,
        )
    done = answers("diff", "one.json", "two.json", "--margin", "20", "--markdown", "diff.md")
    assert done.status == 1, done
    text = " ".join(done.text.split())
    assert re.search(r"slower \+(49\.9|50\.)", text), text
    assert "active, of one iteration: " in text
    assert "measured in A only, so not compared: gone" in text
    assert "measured in B only, so not compared: added" in text
    table = (answers.folder / "diff.md").read_text()
    assert "<code>b</code>" in table
    assert "<code>gone</code>" not in table
    again = answers("diff", "one.json", "two.json", "--metric", "wall", "--margin", "20")
    assert again.status == 1
    assert re.search(r"slower \+(49\.9|50\.).*wall, of one iteration: ", " ".join(again.text.split()))


def test_a_single_benchmark_is_not_compared_with_one_of_another_name(answers: Answering) -> None:
    run_of(answers, suite("well", "a"), "one.json", "--launches", "2")
    run_of(answers, suite("well", "b"), "two.json", "--launches", "2")
    said = answers.refuses("diff", "one.json", "two.json")
    assert "no benchmark in common: A has a, and B b: measure the same" in said


def test_a_harness_is_not_compared_with_a_command(here: InProcess) -> None:
    run_of(here, suite("well", "a"), "one.json", "--launches", "2")
    assert here("run", "true", "--launches", "2", "--json", "two.json").status == 0
    for words in (("one.json", "two.json"), ("two.json", "one.json")):
        assert "in a harness, and the other did not: measure both alike" in here.refuses("diff", *words)


def test_a_run_of_which_some_failed_is_compared_in_the_others(answers: Answering) -> None:
    run_of(answers, suite("well", "a", "b"), "one.json", "--launches", "3")
    words = ("--harness", "protocol", suite("exit-9@b", "a", "b"), "--launches", "3", "--json", "two.json")
    assert answers("run", *words).status == 3
    done = answers("diff", "one.json", "two.json")
    assert done.status == 0
    assert "measured in A only, so not compared: b" in " ".join(done.text.split())
    assert answers("run", "--harness", "protocol", suite("exit-9"), "--json", "three.json").status == 3
    assert [one["code"] for one in answers.json("three.json")["findings"]] == ["failed"]


# --- what does not go together


@pytest.mark.parametrize(
    "words",
    [
        ["--shell"],
        ["--repeat", "2"],
        ["-L", "n", "1,2"],
        ["-P", "n", "1", "2", "1"],
        ["--reference-output"],
        ["--ignore-failure"],
        ["-i"],
    ],
    ids=" ".join,
)
def test_options_of_plain_commands(asked: InProcess, words: list[str]) -> None:
    sentence = asked.refuses("compare", "--harness", "protocol", suite(), suite(), *words)
    option = {"-i": "--ignore-failure", "-L": "--parameter-list", "-P": "--parameter-scan"}.get(words[0], words[0])
    assert sentence == f"{option} is for plain commands: leave out either it or --harness protocol"
    assert not asked.kept()


@pytest.mark.parametrize("words", [["--shell"], ["--repeat", "3"], ["--ignore-failure"]], ids=" ".join)
def test_options_of_plain_commands_in_a_run(asked: InProcess, words: list[str]) -> None:
    assert "is for plain commands" in asked.refuses("run", "--harness", "protocol", suite(), *words)


@pytest.mark.parametrize("name", ["", "Protocol", "abacus", "\x1b[31m\udcff"])
def test_a_harness_that_is_not_known(asked: InProcess, name: str) -> None:
    for command in (["compare", "true", "true"], ["run", "true"]):
        assert "is not known: choose from auto, " in asked.refuses(*command, "--harness", name)


def test_a_choice_without_a_harness(asked: InProcess) -> None:
    for command in (["compare", "true", "true"], ["run", "true"]):
        for option in ("--benchmark", "--tag"):
            sentence = asked.refuses(*command, option, "a")
            assert (
                sentence
                == f"{option} chooses from the benchmarks of a harness: say which harness, as by --harness auto"
            )


def test_one_subject_is_no_comparison(asked: InProcess) -> None:
    assert "two commands or more" in asked.refuses("compare", "--harness", "protocol", suite())


@pytest.mark.parametrize("pattern", ["x*", "["])
def test_a_pattern_that_fits_none(answers: Answering, pattern: str) -> None:
    sentence = answers.refuses("compare", "--harness", "protocol", suite(), suite(), "-b", "a", "-b", pattern)
    assert sentence == f"--benchmark '{pattern}' fits none of the baseline's benchmarks: a, b, c"


def test_a_program_that_is_missing(asked: InProcess) -> None:
    assert "./missing" in asked.refuses("compare", "--harness", "protocol", "./missing", suite())


def test_resuming_takes_the_harness_from_the_journal(asked: InProcess) -> None:
    for words in (["--harness", "protocol"], ["--benchmark", "a"]):
        assert f"leave {words[0]} out" in asked.refuses("compare", "--resume", "some.journal", *words)
