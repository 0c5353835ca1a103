"""Several candidates, ranked: on a terminal and in Markdown."""

from __future__ import annotations

from steelyard.model.derived import Verdict
from steelyard.model.findings import CONTROL_ALARM, Finding
from steelyard.model.records import Weighing
from steelyard.model.subject import Benchmark
from steelyard.report import ranking
from steelyard.report.sheet import Sheet
from tests.report import records
from tests.report.records import on_screen, verdict


def weighed(*sizes: str, **told: tuple[str, float, tuple[float, float] | None]) -> tuple[Weighing, list[Verdict]]:
    """Return a weighing of candidates with these names and results, at these sizes, and its verdicts."""
    plain = records.weighing()
    subjects = [records.subject(name) for name in ("old", *told)]
    benchmarks, verdicts = list[Benchmark](), list[Verdict]()
    for size in sizes or ("",):
        for candidate, (name, (word, change, interval)) in enumerate(told.items(), start=1):
            params = {"n": size} if size else {}
            benchmarks.append(Benchmark(name=f"{name}{size}", params=params, candidate=candidate))
            found = verdict(benchmark=name, index=len(verdicts), verdict=word, change=change, interval=interval)
            verdicts.append(found)
    stop = ["decided"] * len(benchmarks)
    return plain.model_copy(update={"subjects": subjects, "benchmarks": benchmarks, "stop": stop}), verdicts


def printed(record: Weighing, verdicts: list[Verdict], width: int = 80) -> str:
    return on_screen(lambda console: ranking.show(Sheet(console), record, verdicts), width)


FAST = ("faster", -0.4, (-0.42, -0.38))
SLOW = ("slower", 0.5, (0.48, 0.52))
OPEN = ("undecided", 0.01, (-0.02, 0.04))


def test_the_fastest_comes_first_and_ties_are_said_to_be_ties() -> None:
    lines = printed(*weighed(slow=SLOW, fast=FAST, open=OPEN, other=OPEN)).splitlines()
    assert lines[1:] == [
        "ranking      1  fast   -40.0 %, 1.67 times as fast as the baseline",
        "           2-4  old    the baseline",
        "           2-4  open   +1.00 %, undecided",
        "           2-4  other  +1.00 %, undecided",
        "             5  slow   +50.0 %, 1.50 times as long as the baseline",
        "           overlapping places are ties: which is faster is undecided",
    ]


def test_long_names_are_told_apart() -> None:
    names = [f"./a-folder-with-a-long-name/sort-{which}-version --input data/words.txt" for which in ("new", "newer")]
    lines = printed(*weighed(**{names[0]: FAST, names[1]: SLOW})).splitlines()
    assert "…sort-new-version --input" in lines[1]
    assert any("…sort-newer-version --input" in line for line in lines)


def test_without_ties_nothing_is_said_of_them() -> None:
    text = printed(*weighed(slow=SLOW, fast=FAST))
    assert "ties" not in text
    assert "2-" not in text


def test_what_a_control_withholds_is_not_ranked_by_its_intervals_either() -> None:
    record, verdicts = weighed(fast=("undecided", -0.4, (-0.42, -0.38)), slow=("undecided", 0.5, (0.48, 0.52)))
    alarm = Finding(code=CONTROL_ALARM, message="the control found the baseline slower than itself")
    text = printed(record, [one.model_copy(update={"findings": [alarm]}) for one in verdicts])
    assert text.count("1-3  ") == 3
    assert printed(record, verdicts).count("1-3  ") == 1


def test_one_candidate_is_not_ranked() -> None:
    assert printed(*weighed(fast=FAST)) == ""


def test_each_combination_of_parameters_has_its_own_and_many_are_left_out() -> None:
    text = printed(*weighed("1", "2", fast=FAST, slow=SLOW))
    assert text.index("n=1") < text.index("n=2")
    many = weighed(*map(str, range(14)), fast=FAST, slow=SLOW)
    assert "4 more rankings" in printed(*many)
    assert len(ranking.markdown(*many)) == 14


def test_a_control_is_not_among_them_and_what_is_not_known_is_said() -> None:
    record, verdicts = weighed(fast=FAST, none=("undecided", 0.0, None))
    verdicts[1] = verdicts[1].model_copy(update={"change": None})
    assert "nothing is known of it" in printed(record, verdicts)
    verdicts[1] = verdicts[1].model_copy(update={"control": True})
    assert printed(record, verdicts) == ""


def test_in_markdown_names_are_code() -> None:
    record, verdicts = weighed(**{"<b>": FAST, "slow": SLOW})
    (said,) = ranking.markdown(record, verdicts)
    assert said.startswith("ranking: 1. <code>&#60;b&#62;</code> (-40.0 %, 1.67 times as fast as the baseline); 2. ")
