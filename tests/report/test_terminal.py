from __future__ import annotations

import io
import re
from collections.abc import Callable
from functools import partial

import pytest
from rich.cells import cell_len
from rich.console import Console

from steelyard.model.derived import Side, Verdict
from steelyard.model.findings import SHARED, Finding
from steelyard.model.launches import Launches
from steelyard.model.records import Weighing
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark
from steelyard.report import figures, terminal
from steelyard.report.bounds import MOST_BENCHMARKS
from steelyard.report.sentences import status_sentence
from steelyard.report.strip import ZERO
from steelyard.report.verdicts import print_exit_status_note

from . import records
from .records import (
    FASTER,
    LEANING,
    SAME,
    SAME_BUT_REAL,
    SLOWER,
    SUMMARY,
    TOO_FEW,
    UNDECIDED,
    flat,
    on_screen,
    verdict,
)

HOSTILE = "\x1b[2J\x9b31m\u202e\udcff\n名前|`<b>" + "x" * 90
SUITE = ("parse", "emit", "a-benchmark-with-quite-a-long-name[param=17,other=abc]", "sort")


def suite_verdicts() -> list[Verdict]:
    examples = (SLOWER, FASTER, SAME, UNDECIDED)
    members = enumerate(zip(examples, SUITE, strict=True))
    return [each.model_copy(update={"benchmark": name, "index": index}) for index, (each, name) in members]


def weighed(*verdicts: Verdict, width: int = 80, record: Weighing | None = None) -> str:
    record = record or records.weighing()
    return on_screen(lambda console: terminal.weighing(console, record, list(verdicts)), width)


def test_throughput_stands_below_a_table_that_has_no_room_for_it() -> None:
    rates = [{"items": 135.3}, {"items": 129.7}]
    sides = [Side(median=7.4e6, spread=0.01, launches=33, per_second=each) for each in rates]
    names = tuple(f"n={number}" for number in range(12))
    verdicts = [verdict(benchmark=name, baseline=sides[0], candidate=sides[1]) for name in names]
    record = records.weighing(benchmarks=names)
    wide = weighed(*verdicts, width=140, record=record)
    assert wide.count("135.3 items/s -> 129.7 items/s") == 12
    assert not re.search("^throughput", wide, re.MULTILINE)
    for width in (40, 80):
        text = flat(weighed(*verdicts, width=width, record=record))
        assert "throughput n=0: 135.3 items/s -> 129.7 items/s n=1: 135.3" in text
        assert text.count("135.3 items/s -> 129.7 items/s") == 10
        assert "and 2 more: --markdown FILE has all of them" in text
    plain = [verdict(benchmark=name) for name in names]
    assert "throughput" not in weighed(*plain, record=record)


FINDING = Finding(code="governor", message="the clock\x07 is\nnot fixed", remedy="run\x1b `steelyard tune`")
EXAMPLES: dict[str, Callable[[Console], None]] = {
    "slower": lambda c: terminal.weighing(c, records.weighing(findings=(FINDING,)), [SLOWER]),
    "faster": lambda c: terminal.weighing(c, records.weighing(-0.01), [FASTER]),
    "same": lambda c: terminal.weighing(c, records.weighing(0), [SAME]),
    "real": lambda c: terminal.weighing(c, records.weighing(0.003), [SAME_BUT_REAL]),
    "undecided": lambda c: terminal.weighing(c, records.weighing(0.004, stop="time"), [UNDECIDED]),
    "leaning": lambda c: terminal.weighing(c, records.weighing(0.004, stop="futile"), [LEANING]),
    "interrupted": lambda c: terminal.weighing(c, records.weighing(stop="interrupted", pairs=4), [TOO_FEW]),
    "hostile": lambda c: terminal.weighing(c, records.weighing(names=(HOSTILE, HOSTILE)), [SLOWER]),
    "metrics": lambda c: terminal.weighing(c, records.weighing(), [SLOWER, verdict(metric="max_rss")]),
    "suite": lambda c: terminal.weighing(c, records.weighing(benchmarks=SUITE), suite_verdicts()),
    "hostile suite": lambda c: terminal.weighing(
        c, records.weighing(benchmarks=(HOSTILE, "sort")), [verdict(benchmark=HOSTILE), UNDECIDED]
    ),
    "empty": lambda c: terminal.weighing(c, records.weighing(pairs=0, stop="interrupted"), []),
    "run": lambda c: terminal.run(c, records.run(), [SUMMARY, SUMMARY.model_copy(update={"metric": "wall"})]),
    "hostile run": lambda c: terminal.run(c, records.run(name=HOSTILE, benchmarks=("sort", HOSTILE)), [SUMMARY]),
    "empty run": lambda c: terminal.run(c, records.run(stop="failed"), []),
}


@pytest.mark.parametrize("width", [8, 20, 33, 50, 80, 120])
@pytest.mark.parametrize("name", EXAMPLES)
def test_no_line_is_too_wide_and_nothing_unprintable_is_printed(name: str, width: int) -> None:
    lines = on_screen(EXAMPLES[name], width).split("\n")
    assert len(lines) > 1
    for line in lines:
        assert cell_len(line) <= width
        assert line == line.rstrip()
        assert line.isprintable()


@pytest.mark.parametrize("name", EXAMPLES)
def test_ascii_streams_get_ascii(name: str) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", newline="")
    EXAMPLES[name](Console(file=stream, width=80))
    stream.flush()
    text = raw.getvalue().decode("ascii")
    assert all(cell_len(line) <= 80 for line in text.splitlines())
    assert "\x1b" not in text


@pytest.mark.parametrize("width", [20, 80])
def test_slower_says_all_that_it_rests_on(width: int) -> None:
    text = flat(weighed(SLOWER, width=width))
    for said in (
        "./sort-old data.bin",
        "./sort-new data.bin",
        "12.81 ms",
        "12.94 ms",
        "varies by 1.2 %",
        "33 launches",
        "slower +1.02 % [+0.61 %, +1.40 %] at 99 % confidence, 33 pairs in 0.9 s",
        "active: wall time less the time spent waiting for a processor",
        "a change of 0.71 % would have been found 9 times out of 10",
        "14 of 66 launches waited for a processor, the worst for 43 % of its time",
        ZERO,
    ):
        assert said in text


def test_a_number_is_never_torn_from_its_unit() -> None:
    for width in range(20, 60):
        text = weighed(UNDECIDED, width=width, record=records.weighing(stop="time", settings=Settings(max_time_s=3)))
        assert not re.search(r"\d\n *(%|ms\b|s\b)", text)
        assert "[-0.40 %, +1.20 %]" in text
        assert "--max-time\n" not in text


@pytest.mark.parametrize(
    ("example", "name", "code"),
    [(SLOWER, "slower", "1;31"), (FASTER, "faster", "1;32"), (SAME, "same", "1;36"), (UNDECIDED, "undecided", "1;33")],
)
def test_the_verdict_and_its_change_have_their_colour_and_nothing_else(
    example: Verdict, name: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=True, color_system="standard")
    terminal.weighing(console, records.weighing(), [example])
    coloured = "".join(re.findall(rf"\x1b\[{code}m(.*?)\x1b\[0m", out.getvalue()))
    assert coloured.split() == [name, *figures.change(example.change or 0.0).split()]
    assert re.search(r"\x1b\[1m./sort-old data.bin\x1b\[0m  median", out.getvalue()), (
        "a name is bold, its numbers are not"
    )


def test_a_small_but_real_change_is_named_with_the_margin() -> None:
    text = flat(weighed(SAME_BUT_REAL))
    assert "same +0.30 %" in text
    assert "smaller than your margin of 0.5 %" in text


def test_undecided_names_its_bounds_and_the_budget_that_would_decide() -> None:
    record = records.weighing(0.004, stop="time", settings=Settings(max_time_s=3))
    text = flat(weighed(UNDECIDED, record=record))
    assert "not slower by more than 1.20 %, not faster by more than 0.40 %" in text
    assert "about 240 pairs, 6.3 s, would decide; with some to spare: --max-time 9" in text


def test_the_last_line_of_an_open_end_names_strict() -> None:
    assert flat(on_screen(partial(print_exit_status_note, sentence=status_sentence()))) == (
        "exit status 0, as nothing was found slower; with --strict it is 4, as the result is undecided"
    )


def test_many_undecided_benchmarks_are_named_and_their_budget_is_said_once() -> None:
    names = tuple(f"b{number}" for number in range(13))
    told = [UNDECIDED.model_copy(update={"benchmark": name, "index": place}) for place, name in enumerate(names)]
    text = flat(weighed(*told, record=records.weighing(benchmarks=names, stop="time", settings=Settings(max_time_s=3))))
    assert "undecided b0: not slower by more than 1.20 %" in text
    assert text.count("not slower by more than 1.20 %") == 10
    assert "and 3 more: --markdown FILE has all of them" in text
    assert text.count("--max-time 9") == 1


def test_a_run_of_several_says_once_what_the_metric_is_and_what_is_not_known() -> None:
    told = [
        SUMMARY.model_copy(update={"benchmark": name, "index": place, "worst_delay": None, "disturbed": 0})
        for place, name in enumerate(("sort", "parse", "emit"))
    ]
    text = flat(
        on_screen(lambda console: terminal.run(console, records.run(benchmarks=("sort", "parse", "emit")), told))
    )
    assert text.count("wall time less the time spent waiting") == 1
    assert text.count("this machine does not tell") == 1


def test_of_very_many_benchmarks_of_a_run_those_that_are_not_shown_are_counted() -> None:
    names = tuple(f"b{number:03}" for number in range(MOST_BENCHMARKS + 5))
    record = records.run(benchmarks=names)
    record = record.model_copy(update={"settings": Settings(metrics=["active", "max_rss"])})
    told = [SUMMARY.model_copy(update={"benchmark": name, "index": place}) for place, name in enumerate(names)][3:]
    text = flat(on_screen(lambda console: terminal.run(console, record, told)))
    assert text.count("benchmark b") == MOST_BENCHMARKS
    assert "left out 2 more benchmarks" in text


def test_interrupted_says_so_first() -> None:
    text = weighed(TOO_FEW, record=records.weighing(stop="interrupted"))
    assert "interrupted: this is what was measured until then" in text.splitlines()[0]


def test_findings_come_with_their_remedies_and_their_lines() -> None:
    text = on_screen(EXAMPLES["slower"])
    assert re.search(r"note +the clock\\x07 is\n +not fixed\n +run\\x1b `steelyard tune`", text)


def test_other_metrics_get_a_line_each() -> None:
    memory = verdict(metric="max_rss", change=0.03, interval=(0.029, 0.031), verdict="slower")
    wall = verdict(metric="wall", verdict="undecided", interval=(-0.1, 0.1))
    lines = weighed(SLOWER, memory, wall).splitlines()
    assert re.match(r"max_rss +slower +\+3.00 % +\[\+2.90 %, \+3.10 %\]", lines[-3])
    assert re.match(r"wall +undecided +\+1.02 % +\[-10.0 %, \+10.0 %\]", lines[-2])


def test_medians_that_have_no_room_are_left_out_whole() -> None:
    memory = verdict(metric="involuntary_switches", change=-0.5, interval=(-0.99, 2.5))
    assert "medians" in weighed(SLOWER, memory, width=120)
    assert "medians" not in weighed(SLOWER, memory, width=76)


def test_what_the_sides_share_stands_at_the_verdict() -> None:
    findings = (Finding(code="other", message="below"), Finding(code=SHARED, message="one", remedy="two"))
    text = weighed(SAME, record=records.weighing(findings=findings))
    assert text.index("note       one\n           two\n") < text.index("metric ") < text.index("note       below")
    text = weighed(*suite_verdicts(), record=records.weighing(benchmarks=SUITE, findings=findings))
    assert (
        text.index("in all ")
        < text.index("note       one")
        < text.index("\nundecided  ")
        < text.index("note       below")
    )


def test_several_benchmarks_get_a_row_each_and_a_tally() -> None:
    text = weighed(*suite_verdicts(), record=records.weighing(benchmarks=SUITE), width=120)
    assert re.search(r"^parse +slower +\+1.02 % +\[\+0.61 %, \+1.40 %\] +33 +12.81 ms +12.94 ms$", text, re.MULTILINE)
    assert re.search(r"^emit +faster +-1.02 %", text, re.MULTILINE)
    assert "1 slower, 1 faster, 1 same, 1 undecided" in text
    assert "56 launches waited" in text


def test_what_stayed_open_is_said_by_whatever_metric_it_is_judged() -> None:
    undecided = verdict(benchmark="sort", index=1, metric="wall", verdict="undecided")
    text = weighed(verdict(benchmark="parse"), undecided, record=records.weighing(benchmarks=("parse", "sort")))
    assert re.search(r"^undecided +sort: ", text, re.MULTILINE)


@pytest.mark.parametrize("width", [20, 45, 60, 80, 90])
def test_a_table_has_the_medians_however_long_the_names_are(width: int) -> None:
    names = [f"./a-folder-with-a-long-name/sort-{which}-version --input data/words.txt" for which in ("new", "newer")]
    record = records.weighing(benchmarks=tuple(names))
    text = weighed(*(verdict(benchmark=name, index=place) for place, name in enumerate(names)), record=record)
    lines = text.splitlines()
    assert lines[lines.index(names[0]) + 1].split()[-4:] == ["12.81", "ms", "12.94", "ms"]
    text = flat(weighed(*(verdict(benchmark=name) for name in names), width=width, record=record))
    assert text.count("12.81 ms") == text.count("12.94 ms") == 2
    assert "baseline and candidate are medians" in text


def test_a_long_table_has_one_line_a_row_and_says_where_the_medians_are() -> None:
    names = [f"containers/std::unordered_map<int>/insert/{number}" for number in range(100)]
    record = records.weighing(benchmarks=tuple(names), pairs=1)
    text = weighed(*(verdict(benchmark=name, index=place) for place, name in enumerate(names)), record=record)
    rows = [line for line in text.splitlines() if "[+0.61 %, +1.40 %]" in line]
    assert len({line.split()[0] for line in rows}) == 100
    assert all("  slower  " in line for line in rows)
    assert "in all     100 slower in 0.9 s; --markdown FILE has the medians" in text


def test_a_table_of_what_was_never_measured_promises_no_medians() -> None:
    nothing = {
        "verdict": "undecided",
        "change": None,
        "interval": None,
        "pairs": 0,
        "baseline": None,
        "candidate": None,
    }
    unmeasured = [verdict(**nothing, benchmark=name, index=index) for index, name in enumerate(SUITE)]
    text = flat(weighed(*unmeasured, record=records.weighing(benchmarks=SUITE)))
    assert "4 undecided in 0.9 s" in text
    assert "median" not in text


@pytest.mark.parametrize("width", [20, 60, 80])
def test_narrow_tables_keep_the_verdict_and_the_change(width: int) -> None:
    text = flat(weighed(*suite_verdicts(), record=records.weighing(benchmarks=SUITE), width=width))
    assert "emit faster -1.02 %" in text
    assert "sort undecided +0.42 %" in text


def test_the_strip_belongs_to_the_benchmark_and_the_metric() -> None:
    # Every pair of the example differs by about 30 %: the strip shows the launches, not the verdict.
    text = weighed(SLOWER, record=records.weighing(0.3))
    assert "0 < +2" in text


def test_the_strip_of_samples_in_turn_shows_the_changes_that_were_judged() -> None:
    record = records.weighing().model_copy(update={"launches": Launches.of_rows(records.in_turn())})
    (strip,) = [line for line in weighed(SLOWER, record=record).splitlines() if line.startswith("pairs")]
    assert "+10" in strip
    assert "-45" not in strip


def test_a_run_shows_its_level_and_how_quiet_it_was() -> None:
    text = flat(on_screen(EXAMPLES["run"]))
    for said in (
        "subject ./sort data.bin",
        "active 12.81 ms median [12.70 ms, 12.95 ms] at 99 % confidence while it ran",
        "varies by 1.2 %, from 12.10 ms to 19.30 ms, over 50 launches in 2.1 s",
        "noisy: 5 of 50 launches waited",
        "the median",
    ):
        assert said in text
    assert "cluster" not in text


def test_a_run_that_varies_by_itself_is_noisy_though_nothing_waited() -> None:
    summary = SUMMARY.model_copy(update={"quality": "noisy", "disturbed": 0, "worst_delay": 0.0})
    text = flat(on_screen(lambda console: terminal.run(console, records.run(), [summary])))
    assert "noise noisy, though no launch waited long for a processor" in text


def test_a_run_is_not_called_quiet_where_nobody_tells() -> None:
    summary = SUMMARY.model_copy(update={"quality": "quiet", "disturbed": 0, "worst_delay": None})
    text = flat(on_screen(lambda console: terminal.run(console, records.run(), [summary])))
    assert "noise not known, this machine does not tell" in text
    assert "quiet" not in text
    noisy = summary.model_copy(update={"quality": "noisy"})
    assert "noise noisy: not known" in flat(on_screen(lambda console: terminal.run(console, records.run(), [noisy])))


def test_a_run_with_two_modes_points_at_them() -> None:
    summary = SUMMARY.model_copy(update={"modes": [12.7e6, 15e6]})
    text = flat(on_screen(lambda console: terminal.run(console, records.run(), [summary])))
    assert "cluster at 12.70 ms and 15.00 ms" in text


def test_a_metric_of_nothing_but_zeros_has_no_strip() -> None:
    text = weighed(verdict(metric="major_faults", verdict="undecided", change=None, interval=None))
    assert "major_faults" in text
    assert ZERO not in text


def weighed_and_run(benchmark: Benchmark, argv: tuple[str, ...] = ("./bench",)) -> list[str]:
    """Return what is printed of a weighing and of a run with this one benchmark."""
    sides = [records.subject("./bench").model_copy(update={"argv": [*argv]})] * 2
    weighing = records.weighing().model_copy(update={"benchmarks": [benchmark], "subjects": sides})
    run = records.run().model_copy(update={"benchmarks": [benchmark], "subjects": sides[:1]})
    slower, level = verdict(benchmark=benchmark.name), SUMMARY.model_copy(update={"benchmark": benchmark.name})
    return [weighed(slower, record=weighing), on_screen(lambda console: terminal.run(console, run, [level]))]


@pytest.mark.parametrize(
    "benchmark",
    [Benchmark(name="io::read", entry="io::read"), Benchmark(name="n=10", params={"n": "10"})],
    ids=["of a harness", "of a parameter"],
)
def test_of_one_benchmark_alone_that_has_a_name_it_is_told(benchmark: Benchmark) -> None:
    for text in weighed_and_run(benchmark):
        assert text.count(f"benchmark  {benchmark.name}\n") == 1


@pytest.mark.parametrize(
    ("benchmark", "argv"),
    [
        (Benchmark(name="./bench"), ("./bench",)),
        (Benchmark(name="timeit", entry="timeit"), ("python", "-m", "steelyard.harness", "--timeit", "pass")),
    ],
    ids=["a command", "a statement"],
)
def test_of_a_command_or_a_statement_the_subjects_say_all(benchmark: Benchmark, argv: tuple[str, ...]) -> None:
    for text in weighed_and_run(benchmark, argv):
        assert "benchmark  " not in text
