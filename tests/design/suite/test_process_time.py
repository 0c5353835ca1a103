"""Benchmarks that are timed by the processor time of their launches: which ones, and what is launched for that."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from steelyard.design.judging.judgement import verdicts
from steelyard.design.runner.runner import Runner
from steelyard.design.suite.loops import computes_alone, process_amounts
from steelyard.design.suite.pilot_time import PilotTime
from steelyard.design.suite.planner import Planner
from steelyard.design.suite.selection import Selection
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import ROLES, USED, Sample
from steelyard.subjects.harness import Starting, Work
from steelyard.subjects.protocol import ProtocolHarness
from tests.design.scripted_harness import (
    START_NS,
    Asked,
    Bodies,
    Body,
    Suites,
    fails,
    header,
    machine,
    plan,
    planner,
    run_header,
    steady,
    weigh,
)
from tests.design.suite.made import CRASH, both, messages, verdicts_of

START_LOOPS, PART = 2, 8
either_way = pytest.mark.parametrize("any_pairing", [True, False], ids=["at once", "one after the other"])


@pytest.fixture(autouse=True)
def _can_be_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    running = ProtocolHarness.running

    def marked(harness: ProtocolHarness, launch: LaunchSpec, work: Work) -> LaunchSpec:
        spec = running(harness, launch, work)
        return replace(spec, argv=(*spec.argv, b"--steelyard-alone=1")) if work.by_process else spec

    def starting(harness: ProtocolHarness, launch: LaunchSpec, work: Work) -> Starting | None:
        if launch.program == b"fixed":
            return None
        part = max(START_LOOPS, work.loops // PART)
        first, spec = (harness.running(launch, replace(work, loops=loops)) for loops in (START_LOOPS, part))
        return Starting(spec, part, first)

    monkeypatch.setattr(ProtocolHarness, "times_processes", True)
    monkeypatch.setattr(ProtocolHarness, "tells", frozenset({"active", "cpu"}))
    monkeypatch.setattr(ProtocolHarness, "keeps_step", False)
    monkeypatch.setattr(ProtocolHarness, "starting", starting)
    monkeypatch.setattr(ProtocolHarness, "running", marked)


def waiting(share: float, busy: Body | None = None) -> Body:
    """Return a body that spends a share of its time without a processor, of which its harness does not tell."""
    inner = busy or steady()

    def body(asked: Asked) -> list[dict[str, Any]]:
        lines: Any = inner(asked)
        return [{"loops": one["loops"], "ns": round(one["ns"] / (1 - share)), "cpu_ns": one["ns"]} for one in lines]

    return body


def where(alone: Body, usual: Body) -> Body:
    """Return a body that is `alone` if it computes on one processor, else `usual`."""
    return lambda asked: alone(asked) if asked.alone else usual(asked)


def test_one_that_computes_is_and_its_report_says_so() -> None:
    record = plan(both(one=waiting(0.0)), header())
    (benchmark,) = record.benchmarks
    assert (benchmark.clock, benchmark.samples) == ("process", 1)
    assert benchmark.loops == pytest.approx(90_000, rel=0.05)
    (said,) = messages(record, "process-time")
    assert said.startswith("launches have one processor to compute on, and are timed by their time on it")


def test_of_several_those_are_named() -> None:
    record = plan(both(one=waiting(0.0), two=waiting(0.5)), header())
    assert [one.clock for one in record.benchmarks] == ["process", None]
    assert messages(record, "process-time")[0].startswith("one: launches have one processor")


def test_of_those_that_are_not_nobody_says_that_several_threads_worked() -> None:
    record = weigh(both(one=waiting(0.0), two=waiting(0.5)), Selection(any_pairing=False), pairs=12)
    said = {one.benchmark: [found.message for found in one.findings] for one in verdicts(record)}
    untold = "the harness does not tell how long it waited for a processor, so wall time was judged instead of active"
    assert untold in said["two"]
    assert untold not in said["one"]


@pytest.mark.parametrize(
    "body",
    [
        waiting(0.3),
        where(waiting(0.0, steady(2000)), waiting(0.0)),
        where(fails(CRASH), waiting(0.0)),
        where(fails({"timed_out": True}), waiting(0.0)),
        waiting(0.0, steady(20e6)),
        waiting(0.0, steady(200e6)),
    ],
    ids=["waits", "has less of one processor", "fails", "hangs", "is long", "is very long"],
)
def test_others_are_not(body: Body) -> None:
    record = plan(both(one=body), header())
    assert record.benchmarks[0].clock is None
    assert record.stop == ["interrupted"]
    assert messages(record, "process-time") == []


@pytest.mark.parametrize(("lists_by_running", "clock"), [(True, "process"), (False, None)])
def test_a_list_that_runs_every_benchmark_does_not_tell_how_long_one_takes(
    monkeypatch: pytest.MonkeyPatch, *, lists_by_running: bool, clock: str | None
) -> None:
    monkeypatch.setattr(ProtocolHarness, "lists_by_running", lists_by_running)
    suites = both(**{f"b{number}": waiting(0.0) for number in range(10)})
    listing_ns = 3_000_000_000

    def script(number: int, spec: LaunchSpec) -> Measured:
        answer = suites.answer(number, spec)
        return replace(answer, wall_ns=listing_ns) if any(b"-list" in word for word in spec.argv) else answer

    suites.script = script
    time = PilotTime(suites.clock, suites.clock() + 30)
    found = Planner(header(max_time_s=30), {}, Runner(suites), lambda _: None, time).plan(Selection(only=["b1"]))
    assert [one.clock for one in found.benchmarks] == [clock]


def test_all_parts_of_a_suite_run_their_pairs_alike_whatever_is_in_them() -> None:
    assert {plan(both(one=waiting(share)), header()).settings.pairing for share in (0.0, 0.5)} == {"auto"}


def test_a_run_has_no_pairs() -> None:
    record = planner(both(one=waiting(0.0)), run_header()).plan(Selection())
    assert record.benchmarks[0].clock == "process"
    assert record.settings.pairing == "adjacent"


def test_both_sides_have_to_compute() -> None:
    suites = machine(baseline={"one": waiting(0.0)}, candidate={"one": waiting(0.3)})
    assert plan(suites, header()).benchmarks[0].clock is None


@pytest.mark.parametrize("longer", [6, 11], ids=["repeated", "repeated more often where nothing else is against it"])
def test_a_trial_that_other_work_has_made_longer_is_repeated(longer: int) -> None:
    left = iter([True] * longer)
    body = where(waiting(0.0), lambda asked: (waiting(0.4) if next(left, False) else waiting(0.0))(asked))
    assert plan(both(one=body), header()).benchmarks[0].clock == "process"


def test_its_iterations_are_as_many_as_its_least_times_allow() -> None:
    left = iter([True] * 12)
    body = where(waiting(0.0), lambda asked: (waiting(0.99) if next(left, False) else waiting(0.0))(asked))
    (benchmark,) = plan(both(one=body), header()).benchmarks
    assert benchmark.clock == "process"
    assert benchmark.loops == pytest.approx(90_000, rel=0.05)


@pytest.mark.parametrize(
    ("program", "settings"),
    [
        ("candidate", {"metrics": ["wall"]}),
        ("candidate", {"metrics": ["active", "wall"]}),
        ("candidate", {"prepare": ["sync"]}),
        ("fixed", {}),
    ],
    ids=["wall", "both", "prepare", "command"],
)
def test_what_is_asked_for_may_forbid_it(program: str, settings: dict[str, Any]) -> None:
    asked = header(program)
    asked = asked.model_copy(update={"settings": asked.settings.model_copy(update=settings)})
    suites = machine(**{"baseline": {"one": waiting(0.0)}, program: {"one": waiting(0.0)}})
    assert plan(suites, asked).benchmarks[0].clock is None


def test_waiting_is_left_out_of_what_is_judged() -> None:
    waits = iter(range(10_000))

    def body(each_ns: float) -> Body:
        inner = steady(each_ns)
        return lambda asked: waiting(0.3 + 0.1 * (next(waits) % 5) if asked.samples == 1 else 0, inner)(asked)

    suites = machine(baseline={"one": body(1000)}, candidate={"one": body(1030)})
    record = weigh(suites, Selection(any_pairing=False), pairs=12)
    assert verdicts_of(record) == {"one": "slower"}
    assert record.launches.metric("active") == pytest.approx(1015, rel=0.03)
    assert record.launches.metric("wall").min() > 1200


def test_each_launch_is_behind_a_part_of_it_and_that_behind_a_start() -> None:
    suites = both(one=waiting(0.0))
    record = weigh(suites, Selection(any_pairing=False), pairs=8)
    asked = suites.of("one")[-16 * 3 :]
    loops = record.benchmarks[0].loops or 0
    assert [one.loops for one in asked] == [START_LOOPS, loops // PART, loops] * 16
    each = [[(one.program, one.seed) for one in asked[place::3]] for place in range(3)]
    assert each[0] == each[1] == each[2]
    assert {one.samples for one in asked} == {1}
    assert len(record.launches) == 16 + 2


@either_way
def test_what_a_start_takes_more_behind_other_work_is_on_no_side(
    *, any_pairing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, is_warm = Suites.answer, dict[bytes, bool]()

    def cold(suites: Suites, number: int, spec: LaunchSpec) -> Measured:
        measured = answer(suites, number, spec)
        more_ns = 5_000_000 if spec.program == b"candidate" and not is_warm.get(spec.program) else 0
        is_warm[spec.program] = measured.wall_ns < 50_000_000
        return replace(measured, user_ns=measured.user_ns + more_ns)

    monkeypatch.setattr(Suites, "answer", cold)
    record = weigh(both(one=waiting(0.0)), Selection(any_pairing=any_pairing), pairs=20)
    assert verdicts_of(record) == {"one": "same"}


@either_way
def test_what_a_program_does_once_is_on_no_side(*, any_pairing: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Suites.answer

    def once(suites: Suites, number: int, spec: LaunchSpec) -> Measured:
        measured = answer(suites, number, spec)
        # It comes some ms after the start, and takes more of the candidate's launches.
        is_over = spec.program == b"baseline" and measured.wall_ns < START_NS + 8_000_000
        return replace(measured, user_ns=measured.user_ns + (0 if is_over else 2_000_000))

    monkeypatch.setattr(Suites, "answer", once)
    record = weigh(both(one=waiting(0.1)), Selection(any_pairing=any_pairing), pairs=20)
    assert verdicts_of(record) == {"one": "same"}


def test_both_of_a_pair_run_at_once_unless_the_user_says_how() -> None:
    suites = both(one=waiting(0.0), two=waiting(0.5))
    record = weigh(suites, pairs=8)
    orders: dict[str, set[int]] = {name: set() for name in ("one", "two")}
    for benchmark, order, role in zip(
        record.launches.benchmark, record.launches.order, record.launches.role, strict=True
    ):
        if ROLES[role] == USED:
            orders[record.benchmarks[benchmark].name].add(order)
    assert orders == {"one": {2, 3}, "two": {0, 1}}
    assert record.settings.pairing == "auto"
    loops = record.benchmarks[0].loops or 0
    assert [one.loops for one in suites.of("one")[-4:]] == [loops // PART] * 2 + [loops] * 2
    assert messages(record, "adjacent") == []


@either_way
def test_what_outlives_a_start_is_named(*, any_pairing: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Suites.answer

    def left(suites: Suites, number: int, spec: LaunchSpec) -> Measured:
        is_start = f"--steelyard-loops={START_LOOPS}".encode() in spec.argv
        return replace(answer(suites, number, spec), left_behind=("77 sleeper",) if is_start else ())

    monkeypatch.setattr(Suites, "answer", left)
    record = weigh(both(one=waiting(0.0)), Selection(any_pairing=any_pairing), pairs=8)
    assert "sleeper" in messages(record, "left-behind")[0]


@pytest.mark.parametrize("pairing", ["tandem", "adjacent"])
def test_the_user_may_say_how(pairing: str) -> None:
    asked = header(pairing=pairing)
    record = plan(both(one=waiting(0.0)), asked, Selection(any_pairing=False))
    assert record.benchmarks[0].clock == "process"
    assert record.settings.pairing == pairing


def test_what_fails_beside_its_like_runs_by_itself() -> None:
    suites = machine()
    body: Bodies = {"one": lambda asked: CRASH if suites.is_paired else waiting(0.0)(asked)}
    suites.suites = {"baseline": body, "candidate": body}
    record = weigh(suites, pairs=8)
    assert record.stop == ["pairs"]
    assert set(record.launches.order) == {0, 1}
    assert "(one)" in messages(record, "adjacent")[0]


def test_a_start_that_fails_ends_the_benchmark_and_names_it() -> None:
    calls = iter(range(10_000))
    good = waiting(0.0)

    def body(asked: Asked) -> Any:
        return CRASH if asked.loops == START_LOOPS and next(calls) > 12 else good(asked)

    record = weigh(both(one=body), Selection(any_pairing=False), pairs=20)
    assert record.stop == ["failed"]
    assert "(one)" in messages(record, "failed")[0]


@pytest.mark.parametrize(
    ("each_ns", "amounts"),
    [
        ([1000.0, 1100.0], (90_000, 1)),
        ([400_000.0, 600_000.0], (225, 1)),
        ([11e6, 9e6], None),
        ([1000.0, 4100.0], None),
        ([0.3, 1.5], (300_000_000, 1)),
    ],
)
def test_amounts(each_ns: list[float], amounts: tuple[int, int] | None) -> None:
    assert process_amounts(each_ns) == amounts


@pytest.mark.parametrize(
    ("cpu_ns", "ns", "usual_ns", "alone_ns", "fits"),
    [
        (100, 100, 100.0, 100.0, True),
        (130, 300, 100.0, 100.0, True),
        (100, 100, 75.0, 100.0, False),
        (70, 100, 100.0, 100.0, False),
        (140, 110, 100.0, 100.0, False),
    ],
    ids=["alike", "beside others", "has threads", "waits", "leaves work out"],
)
def test_what_computes_alone(cpu_ns: int, ns: int, usual_ns: float, alone_ns: float, fits: bool) -> None:
    whole = Sample(1000, 1000 * ns, 1000 * cpu_ns)
    assert computes_alone(whole, usual_ns, alone_ns) is fits
