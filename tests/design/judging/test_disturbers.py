from __future__ import annotations

from typing import Any

import pytest

from steelyard.design.judging.disturbers import disturbers
from steelyard.design.judging.judgement import verdicts
from steelyard.model.launches import Launches
from steelyard.model.records import Part, Weighing
from steelyard.model.rows import LaunchRow
from steelyard.model.subject import Benchmark
from steelyard.model.watch import Beside, Disturber, Interrupting, Stretch, Watch
from tests.model.samples import DISTURBED, MACHINE, TRIED, WARM_UP, pairs, row, run, weighing

MS = 1_000_000
# A launch of 10 ms every 20 ms from 1 s on, and a stretch of the watch each 100 ms, so with five launches in it.
BEGIN, LENGTH = 1_000 * MS, 100 * MS


def stretch(number: int, *programs: tuple[str, float], **others: Any) -> Stretch:
    """Return stretch `number`, with (program, share of a processor that it took)."""
    start_ns = BEGIN + number * LENGTH
    beside = [Beside(name=name, processes=1, ran_ns=round(share * LENGTH)) for name, share in programs]
    return Stretch(start_ns=start_ns, end_ns=start_ns + LENGTH, beside=beside, **others)


def told(stretches: list[Stretch], rows: list[LaunchRow] | None = None) -> list[Disturber]:
    return disturbers(Launches.of_rows(pairs(10) if rows is None else rows), 0, Watch(stretches=stretches))


def counts(found: list[Disturber]) -> list[tuple[str, str, int, int]]:
    return [(one.kind, one.name, one.launches, one.of) for one in found]


def test_a_program_is_tied_to_the_launches_of_its_time() -> None:
    (found,) = told([stretch(0), stretch(1, ("cc1plus", 0.8)), stretch(2), stretch(3)])
    assert counts([found]) == [("program", "cc1plus", 5, 20)]
    assert found.share == pytest.approx(0.8)


def test_what_took_most_is_told_first_and_what_took_next_to_nothing_not_at_all() -> None:
    quiet = ("cron", 0.05)
    found = told([stretch(0, ("a", 0.4), quiet), stretch(1, ("a", 0.4)), stretch(2, ("b", 1.5)), stretch(3, quiet)])
    assert [name for _, name, *_ in counts(found)] == ["b", "a"]


def test_a_smaller_share_of_a_longer_launch_may_have_taken_more() -> None:
    rows = [row(0, 0, start_ns=BEGIN, wall_ns=LENGTH // 4), row(0, 1, start_ns=BEGIN + LENGTH, wall_ns=LENGTH)]
    assert [one.name for one in told([stretch(0, ("a", 0.9)), stretch(1, ("b", 0.4))], rows)] == ["b", "a"]


def test_a_launch_over_many_stretches_has_their_mean() -> None:
    long = [row(0, side, start_ns=BEGIN + side * 2 * LENGTH, wall_ns=2 * LENGTH) for side in (0, 1)]
    found = told([stretch(0, ("a", 0.5)), stretch(1), stretch(2, ("a", 0.5)), stretch(3, ("b", 0.3))], long)
    assert {(one.name, one.launches, round(one.share, 3)) for one in found} == {("a", 2, 0.25), ("b", 1, 0.15)}


def test_only_launches_that_were_watched_count() -> None:
    assert counts(told([stretch(1, ("a", 1.0)), stretch(2)])) == [("program", "a", 5, 10)]


def test_a_launch_counts_as_watched_from_half_of_its_time_on() -> None:
    places = [BEGIN + 40 * MS, BEGIN + 2 * LENGTH + 60 * MS]
    rows = [row(0, side, start_ns=start_ns, wall_ns=LENGTH) for side, start_ns in enumerate(places)]
    assert counts(told([stretch(0, ("a", 1.0)), stretch(2, ("a", 1.0))], rows)) == [("program", "a", 1, 1)]


def test_repeated_pairs_count_and_those_that_are_no_measurement_do_not() -> None:
    roles = {0: WARM_UP, 1: DISTURBED, 2: TRIED}
    rows = [row(pair, side, role=roles.get(pair, row().role)) for pair in range(5) for side in (0, 1)]
    assert counts(told([stretch(0, ("a", 1.0)), stretch(1, ("a", 1.0))], rows)) == [("program", "a", 6, 6)]


def test_what_the_machine_did_is_told_by_its_kind() -> None:
    found = told(
        [
            stretch(0, mhz=3000.0, steal_ns=30 * MS),
            stretch(1, mhz=3000.0, stopped_ns=5 * MS),
            stretch(2, mhz=3000.0, slowed=2),
            stretch(3, mhz=3010.0, hidden_ns=80 * MS),
        ]
    )
    assert {(one.kind, one.launches) for one in found} == {
        ("steal", 5),
        ("limit", 5),
        ("heat", 5),
        ("hidden", 5),
    }


def test_what_stood_still_is_tied_to_the_launches_of_that_time_alone() -> None:
    rows = [row(0, 0), row(0, 1, start_ns=BEGIN + 20 * MS, wall_ns=120 * MS), row(1, 0, start_ns=BEGIN + 150 * MS)]
    long = Stretch(start_ns=BEGIN, end_ns=BEGIN + 140 * MS, still_ns=110 * MS)
    (found,) = told([long, Stretch(start_ns=long.end_ns, end_ns=BEGIN + 2 * LENGTH)], rows)
    assert counts([found]) == [("still", "", 1, 3)]
    assert found.share == pytest.approx(11 / 12)


@pytest.mark.parametrize(
    ("kind", "share"), [("program", 0.1), ("hidden_ns", 0.5), ("steal_ns", 0.05), ("stopped_ns", 0.01)]
)
def test_less_than_that_of_a_long_stretch_is_next_to_nothing(kind: str, share: float) -> None:
    def of_a_second(ms: float) -> Stretch:
        ns = round(ms * MS)
        what: dict[str, Any] = (
            {"beside": [Beside(name="a", processes=1, ran_ns=ns)]} if kind == "program" else {kind: ns}
        )
        return Stretch(start_ns=BEGIN, end_ns=BEGIN + 1000 * MS, **what)

    assert told([of_a_second(950 * share)]) == []
    assert [one.launches for one in told([of_a_second(1050 * share)])] == [20]


WORK_NS = [1000, 1010, 1060, 1070, *[1005] * 12]
LAUNCHES = [1.0, 1.0, 1.05, 1.05, *[1.0] * 12]


def longer_rows(times: list[float]) -> list[LaunchRow]:
    """Return five launches per stretch, of times[stretch] * 10 ms."""
    return [
        row(number // 2, number % 2, wall_ns=round(10 * MS * times[number // 5]) + 50 * number)
        for number in range(5 * len(times))
    ]


def slower(work_ns: list[int], launches: list[float]) -> list[Disturber]:
    """Return what is told if fixed work took work_ns[stretch], and the five launches launches[stretch] * 10 ms."""
    return told([stretch(place, work_ns=ns) for place, ns in enumerate(work_ns)], longer_rows(launches))


def test_where_fixed_work_and_launches_took_longer_together_the_processor_was_slower() -> None:
    (found,) = slower(WORK_NS, LAUNCHES)
    assert counts([found]) == [("speed", "", 10, 80)]
    assert found.share == pytest.approx(0.05, abs=0.005)


@pytest.mark.parametrize(
    ("work_ns", "launches"),
    [
        ([1000, 1010, 1020, 1025, *[1005] * 12], LAUNCHES),  # the work took no longer than at any time
        (WORK_NS, [1.05, 1.05, *[1.0] * 14]),  # other launches took longer
        (WORK_NS, [1.0, 1.0, 1.004, 1.004, *[1.0] * 12]),  # the launches took hardly longer
        (WORK_NS, [1.0, 1.0, 0.9, 0.9, *[1.0] * 12]),
        ([1060], [1.05]),
    ],
)
def test_it_is_not_told_without_both(work_ns: list[int], launches: list[float]) -> None:
    assert slower(work_ns, launches) == []


def storms(per_stretch: list[dict[str, int]]) -> list[Stretch]:
    return [
        stretch(place, interrupting=[Interrupting(source=source, times=times) for source, times in found.items()])
        for place, found in enumerate(per_stretch)
    ]


def stormy(per_stretch: list[dict[str, int]], launches: list[float]) -> list[Disturber]:
    """Return what is told of these interrupts per stretch, if its five launches took launches[stretch] * 10 ms."""
    return told(storms(per_stretch), longer_rows(launches))


STORM = [{}, {"the timer": 120}, {"the timer": 120, "the disk nvme0": 500}, {"the disk nvme0": 400}, *[{}] * 12]


def test_where_interrupts_and_launches_took_longer_together_they_are_told() -> None:
    (found,) = stormy(STORM, LAUNCHES)
    assert counts([found]) == [("interrupts", "the disk nvme0", 10, 80)]
    assert found.share == pytest.approx(0.05, abs=0.005)


@pytest.mark.parametrize(
    ("per_stretch", "launches"),
    [
        (STORM, [1.0] * 16),
        (STORM, [1.05, 1.05, *[1.0] * 14]),  # other launches took longer
        ([{"the disk nvme0": 4000}] * 16, LAUNCHES),  # no more interrupts than at any time
        ([{"the disk nvme0": 4150 if 2 <= n < 4 else 4000} for n in range(16)], LAUNCHES),  # hardly more interrupts
    ],
)
def test_interrupts_are_not_told_without_both(per_stretch: list[dict[str, int]], launches: list[float]) -> None:
    assert stormy(per_stretch, launches) == []


def test_what_the_launches_beside_them_waited_is_not_put_down_to_interrupts() -> None:
    work = longer_rows([1.0] * 16)
    rows = [
        one._replace(delay_ns=one.wall_ns - own.wall_ns) for one, own in zip(longer_rows(LAUNCHES), work, strict=True)
    ]
    assert told(storms(STORM), rows) == []


def test_a_slower_side_that_had_more_of_them_is_not_put_down_to_interrupts() -> None:
    usual = longer_rows([1.0] * 16)
    sides = [int(number // 5 in (2, 3) or number % 10 == 5) for number in range(len(usual))]
    rows = [
        one._replace(pair=number, side=side, wall_ns=one.wall_ns + side * MS)
        for number, (one, side) in enumerate(zip(usual, sides, strict=True))
    ]
    assert told(storms(STORM), rows) == []


def test_of_many_sources_each_has_to_be_the_clearer() -> None:
    # By chance, one source is as clear as this at one of 80 shifts, two sources at two.
    alone = [{"a": 500} if 2 <= n < 4 else {} for n in range(16)]
    assert counts(stormy(alone, LAUNCHES)) == [("interrupts", "a", 10, 80)]
    another = [{"b": 500} if 6 <= n < 8 else found for n, found in enumerate(alone)]
    assert stormy(another, LAUNCHES) == []


def test_where_interrupts_are_told_a_slower_processor_is_no_news() -> None:
    stretches = [
        stretch(place, work_ns=ns, interrupting=[Interrupting(source="a", times=500)] if ns > 1050 else [])
        for place, ns in enumerate(WORK_NS)
    ]
    assert counts(told(stretches, longer_rows(LAUNCHES))) == [("interrupts", "a", 10, 80)]


@pytest.mark.parametrize(("launches", "expected"), [(LAUNCHES, [("clock", "", 10, 80)]), ([1.0] * 16, [])])
def test_a_low_clock_rate_is_told_where_launches_took_longer(launches: list[float], expected: list[Any]) -> None:
    """Read of a processor on which nothing runs, it is low though the launches' own is as it was."""
    stretches = [stretch(place, mhz=2000.0 if 2 <= place < 4 else 3000.0) for place in range(16)]
    assert counts(told(stretches, longer_rows(launches))) == expected


def test_of_a_low_clock_rate_it_is_no_news() -> None:
    rows = [row(n // 2, n % 2, wall_ns=10 * MS + 50 * n + (MS if 10 <= n < 20 else 0)) for n in range(80)]
    slow = [2 <= place < 4 for place in range(16)]
    stretches = [
        stretch(place, work_ns=1100 if is_slow else 1000, mhz=2500.0 if is_slow else 3000.0)
        for place, is_slow in enumerate(slow)
    ]
    assert counts(told(stretches, rows)) == [("clock", "", 10, 80)]


def test_a_tick_or_two_of_a_short_stretch_say_nothing() -> None:
    short = Stretch(start_ns=BEGIN, end_ns=BEGIN + 20 * MS, beside=[Beside(name="a", processes=1, ran_ns=20 * MS)])
    stolen = Stretch(start_ns=short.end_ns, end_ns=BEGIN + LENGTH, steal_ns=10 * MS, hidden_ns=20 * MS)
    assert told([short, stolen]) == []


def test_what_the_ticks_of_many_programs_are_rounded_by_is_not_hidden() -> None:
    short = Stretch(start_ns=BEGIN, end_ns=BEGIN + 60 * MS, hidden_ns=50 * MS)
    assert told([short, Stretch(start_ns=short.end_ns, end_ns=BEGIN + LENGTH, hidden_ns=0)]) == []


def test_a_clock_that_began_anew_ties_nothing() -> None:
    beside = ("a", 1.0)
    rows = [*pairs(5), row(5, 0, start_ns=BEGIN), row(5, 1, start_ns=BEGIN + 20 * MS)]
    assert told([stretch(0, beside), stretch(1)], rows) == []
    assert told([stretch(2, beside), stretch(1, beside)]) == []


def test_of_launches_in_tandem_either_may_have_begun_first() -> None:
    rows = [row(pair, side, start_ns=BEGIN + (20 * pair + 5 * (1 - side)) * MS) for pair in range(5) for side in (0, 1)]
    assert counts(told([stretch(0, ("a", 1.0)), stretch(1)], rows)) == [("program", "a", 10, 10)]


def test_without_a_watch_or_launches_there_is_nothing_to_tell() -> None:
    assert disturbers(Launches.of_rows(pairs(3)), 0, None) == []
    assert told([]) == []
    assert told([stretch(0, ("a", 1.0))], [row(0, 0, benchmark=1)]) == []


def watched(**changes: Any) -> Weighing:
    return weighing(pairs(20), **changes)


def test_a_verdict_has_them_and_how_often_another_was_given_the_processor() -> None:
    watch = Watch(stretches=[stretch(number, ("make", 0.5 if number < 4 else 0.0)) for number in range(8)])
    (verdict,) = verdicts(watched(watch=watch))
    assert counts(verdict.disturbers) == [("program", "make", 20, 40)]
    assert verdict.switches_per_s == pytest.approx(5 / 0.010, rel=0.01)  # five in each launch of 10 ms
    assert verdicts(watched())[0].disturbers == []


def test_of_merged_weighings_each_benchmark_has_those_of_its_machine() -> None:
    def part(name: str, benchmarks: list[int]) -> Part:
        watch = Watch(stretches=[stretch(number, (name, 1.0)) for number in range(8)])
        machine = {"created": "2026-01-01", "tool": "0", "machine": MACHINE, "seed": 1, "seconds": 1.0}
        return Part.model_validate({**machine, "benchmarks": benchmarks, "watch": watch})

    parts = [part("other", [1]), part("mine", [0])]
    benchmarks = [Benchmark(name="one"), Benchmark(name="two")]
    rows = [*pairs(20), *(one._replace(benchmark=1) for one in pairs(20))]
    record = weighing(rows, parts=parts, benchmarks=benchmarks, stop=["decided", "decided"])
    assert [[one.name for one in verdict.disturbers] for verdict in verdicts(record)] == [["mine"], ["other"]]


def test_a_run_has_them_too() -> None:
    watch = Watch(stretches=[stretch(0, ("make", 0.5))])
    record = run(watch=watch)
    assert record.watch_of(0) is watch
    assert counts(disturbers(record.launches, 0, record.watch_of(0))) == [("program", "make", 2, 2)]
