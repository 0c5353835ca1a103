"""Printed counts: a run, a weighing, and the functions that a change comes from."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from steelyard.design.counting.judgement import count_summary, count_verdicts
from steelyard.model.counting import Count, Counting, CountSettings, Functions, Weights
from steelyard.model.findings import Finding
from steelyard.model.launches import Launches
from steelyard.model.records import Run, Weighing
from steelyard.model.subject import Benchmark
from steelyard.report import markdown, terminal
from tests.design.counted import TOOL, count, counted_run, counted_weighing, counts, functions

from .records import flat, row

HIT = {"I1mr": 0, "ILmr": 0, "Dr": 300, "D1mr": 4, "DLmr": 1, "Dw": 100, "D1mw": 1, "DLmw": 1}
# 1,395 hits in the first level, 3 in the last one, 2 in main memory: 1395 + 15 + 70 at the default weights.
COST = 1_480
OLD, NEW = {"hot": 900, "main": 100}, {"hot": 905, "main": 100, "fresh": 5}


def simulated(side: int, instructions: int = 1000) -> Count:
    return count(side, instructions, **HIT)


def by_level(side: int, instructions: Sequence[int]) -> Functions:
    names = {f"function {number}": own for number, own in enumerate(instructions)}
    part = functions(side, names)
    events = {"Ir": list(instructions), **{name: [each, *[0] * (len(names) - 1)] for name, each in HIT.items()}}
    return part.model_copy(update={"events": events})


def caches(**changed: Any) -> dict[str, Any]:
    return CountSettings(cache_simulation=True, **changed).model_dump()


def shown(record: Weighing | Run, width: int = 100, most: int = 10) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width)
    metrics, places = record.settings.metrics, list(range(len(record.benchmarks)))
    if isinstance(record, Weighing):
        verdicts = [verdict for metric in metrics for verdict in count_verdicts(record, places, metric)]
        terminal.weighing(console, record, verdicts, functions=most)
    else:
        summaries = [count_summary(record, place, metric) for place in places for metric in metrics]
        terminal.run(console, record, summaries, functions=most)
    assert all(cell_len(line) <= width for line in out.getvalue().splitlines())
    return out.getvalue()


def weighed(**settings: Any) -> Weighing:
    return counted_weighing(counts([1000] * 5, [1010] * 5), [functions(0, OLD), functions(1, NEW)], **settings)


# --- a run


def test_a_run_of_costs() -> None:
    record = counted_run(
        [simulated(0)] * 2, [by_level(0, [600, 400])], metrics=["cost", "instructions"], counting=caches()
    )
    text = flat(shown(record))
    assert f"{COST:,} median repeats exactly, 2 counts in 2 s" in text
    assert "cachegrind 3.19.0, caches article (I1, D1, last level 32 KiB, 32 KiB, 8 MiB)" in text
    assert "cost is l1 x 1 + ll x 5 + ram x 35 (default weights: a convention, not a time)" in text
    # Functions are shown with their own costs, which add up to the whole: all but 400 are the first one's.
    assert "1,080 73 % function 0" in text
    assert "400 27 % function 1" in text


@pytest.mark.parametrize(
    ("weights", "by_cost"), [(Weights(ll=5.0), True), (Weights(name="calibrated", ll=3.6, ram=40), False)]
)
def test_functions_are_shown_by_cost_only_where_that_adds_up_exactly(weights: Weights, by_cost: bool) -> None:
    record = counted_run(
        [simulated(0)] * 2, [by_level(0, [600, 400])], metrics=["cost"], counting=caches(weights=weights)
    )
    assert ("1,080" in shown(record)) is by_cost
    assert ("600" in shown(record)) is not by_cost


def test_one_loop_is_no_plural() -> None:
    record = counted_run([count(0, 1000)] * 2, counting=CountSettings(loops=1).model_dump())
    assert "1 loop alone: the counts of 2 minus those of 1" in flat(shown(record))


def test_a_run_of_instructions_says_how_they_were_counted() -> None:
    settings = CountSettings(tool="callgrind", loops=1000, body=True).model_dump()
    record = counted_run([count(0, 1000)] * 2, [functions(0, OLD)], counting=settings)
    text = flat(shown(record))
    assert "1,000 loops alone: the counts of 2,000 minus those of 1,000" in text
    assert "only what lies between the target's own start and stop requests" in text
    assert "caches" not in text
    assert "900 90 % hot" in text


def test_a_run_of_several_benchmarks_has_the_functions_of_each() -> None:
    made = [*[count(0, 10)] * 2, *[count(0, 20, 1)] * 2]
    record = counted_run(made, [functions(0, {"first": 100}), functions(0, {"second": 200}, 1)])
    several = [Benchmark(name="sort/n=1", loops=10), Benchmark(name="sort/n=2")]
    text = shown(record.model_copy(update={"benchmarks": several}))
    assert "functions  sort/n=1, in instructions, 10 iterations together\n100  100 %  first\n" in text
    assert "functions  sort/n=2, in instructions\n200  100 %  second\n" in text
    alone = shown(record.model_copy(update={"benchmarks": several[:1]}))
    assert "functions  in instructions, 10 iterations together\n100  100 %  first\n" in alone
    assert "functions" not in shown(counted_run(made[:2], [functions(0, {"first": 100})]))


def test_a_run_calls_functions_as_a_weighing_does() -> None:
    record = counted_run([count(0, 1000)] * 2, [functions(0, {"0x4010": 500, "???": 200, "sort.isra.0": 300})])
    assert [line.split() for line in shown(record).splitlines()[-2:]] == [
        ["700", "70", "%", "(no", "symbol)"],
        ["300", "30", "%", "sort"],
    ]


def test_the_markdown_of_a_run_has_its_functions_too() -> None:
    record = counted_run([count(0, 1000)] * 2, [functions(0, {"hot|": 700, "cold": 300})])
    summaries = [count_summary(record, 0, "instructions")]
    text = markdown.run(record, summaries)
    assert "in instructions:\n\n| own count | of all | function |\n" in text
    assert "| 700 | 70 % | <code>hot&#124;</code> |\n| 300 | 30 % | <code>cold</code> |\n" in text
    assert "cold" not in markdown.run(record, summaries, functions=1)
    assert "own count" not in markdown.run(record, summaries, functions=0)
    many = markdown.run(record, summaries * 14)
    assert (many.count("own count"), "the functions of 2 more benchmarks." in many) == (12, True)


def test_a_run_whose_counts_differ_shows_their_range() -> None:
    text = flat(shown(counted_run([count(0, number) for number in (900, 901, 1000, 1001, 1004, 1000, 1000)])))
    assert "1,000 median from 1,000 to 1,004, 5 counts" in text
    assert "repeats exactly" not in text


@pytest.mark.parametrize("width", [20, 40, 80])
def test_a_narrow_terminal_is_kept_to(width: int) -> None:
    record = counted_run([count(0, 10**12)] * 2, [functions(0, {"x" * 200: 10**12})])
    assert "x…x" in shown(record, width).replace("\n", "")


def test_no_functions_where_none_are_wanted() -> None:
    assert "hot" not in shown(counted_run([count(0, 1000)] * 2, [functions(0, OLD)]), most=0)
    assert "hot" not in shown(weighed(), most=0)


# --- a weighing


def test_a_weighing_says_where_the_change_comes_from() -> None:
    text = flat(shown(weighed()))
    assert "slower +1.00 % exactly, 5 counts a side in 10 s" in text
    assert "where the change comes from, in instructions" in text
    assert "+5 +0.50 % fresh new work.c:7" in text
    assert "+5 +0.50 % hot work.c:7" in text
    assert "+10 +1.00 % in all" in text


def test_a_change_of_cost_comes_from_costs() -> None:
    made = [simulated(side, own) for side, own in ((0, 1000), (1, 1100)) for _ in range(2)]
    record = counted_weighing(
        made, [by_level(0, [600, 400]), by_level(1, [700, 400])], metrics=["cost"], counting=caches()
    )
    text = flat(shown(record))
    assert "where the change comes from, in cost" in text
    assert "+100 +6.76 % function 0" in text


def test_no_change_comes_from_nowhere() -> None:
    record = counted_weighing(counts([1000] * 2, [1000] * 2), [functions(0, OLD), functions(1, OLD)])
    assert "where the change comes from" not in shown(record)


def test_functions_are_those_of_the_counts_that_are_judged() -> None:
    # A journal has the functions of the first count, too.
    made = counts([1500, 1000, *[1000] * 5], [1010] * 7)
    parts = [functions(0, {"compile": 500, **OLD}), functions(1, NEW), functions(0, OLD), functions(1, NEW)]
    text = shown(counted_weighing(made, parts))
    assert "compile" not in text
    assert "fresh" in text


def test_of_very_many_benchmarks_that_changed_those_without_their_functions_are_counted() -> None:
    made = [one for number in range(202) for one in counts([1000] * 2, [1010 + number] * 2, number)]
    parts = [part for number in range(202) for part in (functions(0, OLD, number), functions(1, NEW, number))]
    text = flat(shown(counted_weighing(made, parts, benchmarks=202)))
    assert text.count("where the change comes from") == 200
    assert "left out 2 more benchmarks, which changed less: --html FILE has all of them" in text


def test_functions_are_gone_through_once_however_many_benchmarks_there_are() -> None:
    class Watched(list[Functions]):
        times = 0

        def __iter__(self) -> Iterator[Functions]:
            Watched.times += 1
            return super().__iter__()

        def __reversed__(self) -> Iterator[Functions]:
            Watched.times += 1
            return super().__reversed__()

    made = [one for number in range(9) for one in counts([1000] * 2, [1010] * 2, number)]
    parts = Watched(part for number in range(9) for part in (functions(0, OLD, number), functions(1, NEW, number)))
    record = counted_weighing(made, benchmarks=9)
    assert record.counting is not None
    counting = record.counting.model_copy(update={"functions": parts})
    text = shown(record.model_copy(update={"counting": counting}))
    assert (text.count("where the change comes from"), Watched.times) == (9, 1)


def test_how_equal_the_counts_are() -> None:
    differing = shown(counted_weighing(counts([1000, 1001], [1010, 1012])))
    assert "noisy: counts that differ; the same program differs by 0.20 %" in flat(differing)
    assert "and 5 counts a side are needed to decide" in flat(differing)
    assert "exact: equal counts" in flat(shown(weighed()))


def test_a_weighing_of_too_few_counts_has_words_all_the_same() -> None:
    text = flat(shown(counted_weighing(counts([1000], []))))
    assert "undecided the change is not known, 0 counts a side" in text
    assert "too few counts for any verdict: let it run to its end" in text
    text = flat(shown(counted_weighing(counts([1000, 1001, 1000, 1000], [1000, 1001, 1000, 1000]))))
    assert "5 counts a side are needed to decide: let it run to its end" in text
    # Those of each side are equal, and not yet as many as confirm that the two differ.
    cut_short = counted_weighing(counts([1000] * 2, [1010] * 2)).model_copy(update={"stop": ["interrupted"]})
    text = flat(shown(cut_short))
    assert "5 counts a side are needed to decide: let it run to its end" in text
    assert "do not repeat" not in text


def test_a_table_of_counts_beside_launches_has_the_time_of_the_counts() -> None:
    made = [one for benchmark in (0, 1) for one in counts([1000] * 5, [1010] * 5, benchmark)]
    record = counted_weighing(made, benchmarks=2).model_copy(update={"seconds": 2.5, "stop": ["decided"] * 2})
    assert "2 slower in 2.5 s;" in shown(record)
    beside = record.model_copy(update={"launches": Launches.of_rows([row(0, 0, 100)])})
    assert "2 slower in 20 s of counts, added up" in flat(shown(beside))


def test_a_weighing_of_what_one_side_has_none_of() -> None:
    none = {**HIT, "DLmr": 0, "DLmw": 0}
    made = [count(side, 1000, **(none if side else HIT)) for side in (0, 1) for _ in range(2)]
    text = flat(shown(counted_weighing(made, metrics=["ram_hits"], counting=caches())))
    assert "ram_hits was 0 in some counts, so it has no relative change" in text
    assert "choose another metric" in text


# --- Markdown


def as_markdown(record: Weighing, **options: Any) -> str:
    places = list(range(len(record.benchmarks)))
    return markdown.weighing(record, count_verdicts(record, places, "instructions"), **options)


def test_the_markdown_of_a_weighing_has_its_functions() -> None:
    lines = as_markdown(weighed()).splitlines()
    start = lines.index("Where the change of <code>benchmark 0</code> comes from, in instructions:")
    assert lines[start + 1] == ""  # without it, Markdown would see no table
    assert lines[start + 2] == "| own change | of all | function |"
    assert lines[start + 4] == "| +5 | +0.50 % | <code>fresh</code>, **new**, <code>work.c&#58;7</code> |"
    assert lines[start + 6] == "| +10 | +1.00 % | in all |"
    assert lines[start + 7] == ""


def test_as_many_functions_as_are_wanted() -> None:
    assert "1 other function" in as_markdown(weighed(), functions=1)
    assert "function" not in as_markdown(weighed(), functions=0)


def test_markdown_without_counts_or_change_has_no_such_table() -> None:
    assert "comes from" not in as_markdown(counted_weighing([]))
    record = counted_weighing(counts([1000] * 2, [1000] * 2), [functions(0, OLD), functions(1, OLD)])
    assert "comes from" not in as_markdown(record)


def test_a_comment_has_room_for_some_benchmarks_only() -> None:
    made = [one for number in range(15) for one in counts([1000] * 2, [1010 + number] * 2, number)]
    parts = [part for number in range(15) for part in (functions(0, OLD, number), functions(1, NEW, number))]
    text = as_markdown(counted_weighing(made, parts, benchmarks=15))
    shown = [f"<code>benchmark {number}</code>" for number in range(3, 15)]
    assert re.findall(r"Where the change of (.+) comes from, in instructions", text) == shown
    assert "3 more benchmarks changed, and by less: the page of `steelyard report` has their functions." in text


def test_no_name_breaks_the_markdown() -> None:
    hostile = "a|b`<x>\n**"
    record = weighed()
    parts = [functions(0, {hostile: 5}), functions(1, {hostile: 7, f"{hostile}2": 1})]
    made = Counting(tool=TOOL, counts=record.counting.counts if record.counting else [], functions=parts)
    benchmark = record.benchmarks[0].model_copy(update={"name": hostile})
    note = Finding(code="x", message=hostile)
    text = as_markdown(record.model_copy(update={"counting": made, "benchmarks": [benchmark], "findings": [note]}))
    assert "`" not in text
    assert "<x>" not in text
    assert all(line.count("|") in (0, 4, 10) for line in text.splitlines())
