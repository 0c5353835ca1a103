"""How much of a budget slow commands get, and what is shown if it is too short."""

from __future__ import annotations

import pytest

from steelyard.design.judging.judgement import verdicts
from steelyard.design.timing.experiment import Experiment
from steelyard.design.timing.kept_rows import KeptRows
from steelyard.model.counting import Counting, CountTool
from steelyard.model.progress import Progress
from steelyard.model.records import StopReason
from tests.design.scripted import Machine, noisy, recorder, weigh, weighing


@pytest.mark.parametrize(
    ("seconds", "pairs", "took", "codes"),
    [(1.0, 14, 30, []), (10.0, 8, 180, ["longer"]), (45.0, 5, 540, ["longer"]), (120.0, 1, 480, ["longer"])],
)
def test_the_usual_budget_goes_on_to_the_fewest_pairs_that_can_decide(
    seconds: float, pairs: int, took: float, codes: list[str]
) -> None:
    slow = noisy(0.0, 0.1, wall_ns=seconds * 1e9)
    record, _ = weigh(slow, max_time_s=30, longest_time_s=600)
    assert (record.stop, verdicts(record)[0].pairs) == (["time"], pairs)
    assert record.seconds == pytest.approx(took, rel=0.15)
    assert [finding.code for finding in record.findings] == codes


def test_what_hangs_ends_long_before_the_longest_time() -> None:
    record, machine = weigh(noisy(wall_ns=1e13), max_time_s=30, longest_time_s=600)
    assert (record.stop, machine.now - 1000) == (["failed"], 150)


def test_the_fewest_pairs_decide_a_clear_change() -> None:
    record, _ = weigh(noisy(0.05, 0.001, wall_ns=1e10), max_time_s=30, longest_time_s=600)
    assert (verdicts(record)[0].verdict, verdicts(record)[0].pairs) == ("slower", 8)


def test_benchmarks_that_share_alpha_get_the_time_for_a_verdict_too() -> None:
    record, _ = weigh(noisy(0.05, 0.001, wall_ns=1e8), 14, max_time_s=30, longest_time_s=600)
    found = verdicts(record)
    assert {verdict.verdict for verdict in found} == {"slower"}
    assert max(verdict.pairs for verdict in found) == 12
    assert [finding.code for finding in record.findings] == ["longer"]


def test_a_budget_below_the_fewest_pairs_is_used_all_the_same() -> None:
    record, _ = weigh(noisy(0.05, 0.001, wall_ns=4e9), max_time_s=30)
    verdict = verdicts(record)[0]
    assert (record.stop, verdict.pairs, verdict.verdict, verdict.interval) == (["time"], 2, "undecided", None)
    assert verdict.change == pytest.approx(0.05, abs=0.01)


def test_without_a_pair_the_warm_up_says_what_it_can() -> None:
    record, _ = weigh(noisy(0.05, 0.001, wall_ns=20e9), max_time_s=30)
    verdict = verdicts(record)[0]
    assert (record.stop, verdict.pairs, verdict.pairs_needed) == (["time"], 0, 12)
    assert verdict.change == pytest.approx(0.05, abs=0.01)
    assert verdict.baseline is not None
    assert verdict.baseline.median == pytest.approx(20e9, rel=0.01)
    assert verdict.seconds_needed == pytest.approx(13 * 41, rel=0.01)


@pytest.mark.parametrize(
    ("settings", "limit_s"), [({"max_time_s": 3}, 6), ({"timeout_s": 7}, None), ({"max_time_s": None}, None)]
)
def test_only_of_the_first_pair_a_launch_may_take_more_than_the_budget(
    settings: dict[str, object], limit_s: int | None
) -> None:
    _, machine = weigh(noisy(), 1, **{"pairs": 12, **settings})
    # The other launches have the plan's limit, and here there is none.
    limits = [spec.timeout_ns for spec in machine.specs]
    assert (set(limits[:2]), set(limits[2:])) == ({limit_s and limit_s * 10**9}, {None})


def test_what_was_counted_before_takes_nothing_of_the_time() -> None:
    machine = Machine(noisy())
    header = weighing(1, max_time_s=5.0, margin=0.0001).model_copy(update={"seconds": 100.0})
    told: list[Progress] = []
    record = Experiment(header, recorder(machine), machine.clock, told.append).run()
    assert len(record.launches) > 100
    assert not any(one.allowance for one in told)


@pytest.mark.parametrize("counted", [False, True])
def test_what_an_earlier_session_used_is_used_whether_it_counted_or_not(counted: bool) -> None:
    """Its launches took less time than everything between them."""
    begun, _ = weigh(noisy(), pairs=12, warm_up=0, margin=0.0001)
    settings = begun.settings.model_copy(update={"pairs": None, "max_time_s": 5.0, "longest_time_s": None})
    tool = CountTool(tool="callgrind", version="3.19.0", program="valgrind", flags=[])
    counting = Counting(tool=tool) if counted else None
    update = {"settings": settings, "seconds": 4.9, "stop": ["interrupted"], "counting": counting}
    header, machine = begun.model_copy(update=update), Machine(noisy())
    rows = KeptRows(begun.launches.rows())
    record = Experiment(header, recorder(machine, rows=rows), machine.clock, lambda _: None).run()
    assert len(machine.specs) < 10
    assert record.stop == ["time"]


def allowances(benchmarks: int, **settings: object) -> list[str]:
    """Return what is said about the budget as soon as the first pairs have shown their time."""
    told: list[Progress] = []
    machine = Machine(noisy(wall_ns=1e8))
    Experiment(weighing(benchmarks, **settings), recorder(machine), machine.clock, told.append).run()
    return [one.allowance for one in told if one.allowance]


def test_too_few_pairs_are_said_as_pairs() -> None:
    (said,) = allowances(3, pairs=8, max_time_s=60)
    assert (
        said == "8 pairs are too few for verdicts that share alpha 0.01, which take 10; with some to spare: --pairs 14"
    )


def test_the_time_to_name_is_that_of_all_benchmarks_also_those_that_there_was_no_time_to_try() -> None:
    told: list[Progress] = []
    machine, header = Machine(noisy(wall_ns=1e9)), weighing(19, max_time_s=10)
    stopped: list[StopReason] = ["interrupted" if number < 2 else "time" for number in range(19)]
    Experiment(header, recorder(machine), machine.clock, told.append, stopped=stopped).run()
    (said,) = [one.allowance for one in told if one.allowance]
    assert said.startswith("a pair of each of the 2 benchmarks that there was time to try took 4 s; at that pace there")
    asked_s = int(said.partition("with some to spare for all 19: --max-time ")[2])
    assert 19 * 2 * 14 < asked_s < 19 * 2 * 14 * 2


@pytest.mark.parametrize(
    ("budget", "too_few"), [({"max_time_s": 5.0}, "too few for a verdict at"), ({"pairs": 7}, "7 pairs are too few")]
)
def test_a_weighing_that_is_carried_on_is_not_told_an_option_that_it_refuses(
    budget: dict[str, object], too_few: str
) -> None:
    begun, _ = weigh(noisy(wall_ns=5e8), pairs=2)
    settings = begun.settings.model_copy(update={"pairs": None, **budget})
    header, told, machine = begun.model_copy(update={"settings": settings}), list[Progress](), Machine(noisy(5e8))
    rows = KeptRows(begun.launches.rows())
    Experiment(header, recorder(machine, rows=rows), machine.clock, told.append, stopped=["interrupted"]).run()
    (said,) = [one.allowance for one in told if one.allowance]
    assert too_few in said
    assert said.endswith("which takes 8; it may go on once this has ended")


def test_a_warm_up_that_the_budget_cut_off_takes_its_time_of_a_longer_one() -> None:
    (said,) = allowances(1, max_time_s=1, warm_up=50)
    # 50 pairs of the warm-up and a dozen more, 0.2 s each, and two in five to spare.
    assert said.endswith("too few for a verdict at alpha 0.01, which takes 8; with some to spare: --max-time 18")


def test_a_control_beside_one_candidate_shares_no_alpha() -> None:
    told: list[Progress] = []
    machine, header = Machine(noisy(wall_ns=1e9)), weighing(2, max_time_s=10)
    control = header.benchmarks[1].model_copy(update={"candidate": 0, "control": True})
    header = header.model_copy(update={"benchmarks": [header.benchmarks[0], control]})
    Experiment(header, recorder(machine), machine.clock, told.append).run()
    (said,) = [one.allowance for one in told if one.allowance]
    assert said.startswith("a pair of each of the 2 benchmarks took 4 s")
    assert "too few for a verdict at alpha 0.01, which takes 8" in said


def test_too_little_time_for_several_is_said_as_time() -> None:
    (said,) = allowances(3, max_time_s=3)
    assert "too few for verdicts that share alpha 0.01, which take 10; with some to spare: --max-time" in said
    (said,) = allowances(3, max_time_s=3, alpha=0.01 / 3)
    assert "that share alpha 0.00333, which take" in said
