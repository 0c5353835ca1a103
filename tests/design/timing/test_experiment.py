from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from steelyard.design.judging.judgement import verdicts
from steelyard.design.runner.draws import draw_pair, first_side
from steelyard.design.runner.target import Hooks, Target
from steelyard.design.runner.targets import Targets
from steelyard.design.timing import benchmark
from steelyard.design.timing.benchmark import OpenBenchmark
from steelyard.design.timing.experiment import Experiment
from steelyard.design.timing.kept_rows import KeptRows
from steelyard.model.errors import MeasurementError, SteelyardError
from steelyard.model.launch_spec import Draw, LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.progress import Progress
from steelyard.model.records import StopReason, Weighing
from steelyard.model.rows import DISTURBED, ROLES, USED, WARM_UP, LaunchRow, Place
from steelyard.subjects.programs import Programs
from tests.design.scripted import PLAIN, Machine, experiment, noisy, recorder, target, weigh, weighing

SHORT = {"pairs": 20, "warm_up": 0, "margin": 0.0001}


def roles(rows: Sequence[int]) -> Counter[str]:
    return Counter(ROLES[role] for role in rows)


class TestThePlan:
    def test_launches_come_in_pairs_in_the_drawn_order_with_the_drawn_surroundings(self) -> None:
        record, machine = weigh(noisy(), pairs=30, seed=5, warm_up=0, margin=0.0001)
        launches = record.launches
        for place in range(0, len(launches), 2):
            pair = launches.pair[place]
            assert launches.pair[place + 1] == pair
            assert [launches.side[place], launches.side[place + 1]] == [
                first_side(5, 0, pair),
                1 - first_side(5, 0, pair),
            ]
            assert [launches.order[place], launches.order[place + 1]] == [0, 1]
            draw = draw_pair(5, 0, pair)
            expected = (f"{draw.hash_seed}/{draw.padding_bytes}".encode(),)
            assert machine.specs[place].env == machine.specs[place + 1].env == expected

    def test_every_launch_is_kept_before_the_next_starts(self) -> None:
        _, machine = weigh(noisy(), pairs=15, margin=0.0001)
        assert machine.events[::2] == [event for event in machine.events if event.startswith("launch")]
        assert machine.events[1::2] == [event for event in machine.events if event.startswith("keep")]

    def test_the_same_seed_repeats_the_plan(self) -> None:
        one, other = (weigh(noisy(seed=seed), pairs=20, margin=0.0001, seed=9)[0].launches for seed in (1, 2))
        assert (one.side, one.hash_seed, one.padding_bytes) == (other.side, other.hash_seed, other.padding_bytes)
        assert one.wall_ns != other.wall_ns

    def test_warm_up_is_kept_and_not_judged(self) -> None:
        record, _ = weigh(noisy(), pairs=12, warm_up=3, margin=0.0001)
        assert roles(record.launches.role) == {WARM_UP: 6, USED: 24}
        assert verdicts(record)[0].pairs == 12


class TestSeveralAtOnce:
    """Several launches in one request, of which the launch server keeps all rows but the last."""

    @staticmethod
    def begun(
        machine: Machine,
        cut: SteelyardError | None = None,
        at: int = -1,
        header: Weighing | None = None,
        **options: object,
    ) -> Experiment:
        """Return a weighing whose series ends after launch number `at`, or with `cut` in its place."""
        begun = experiment(machine, header or weighing(1, **SHORT), **options)

        def series(
            places: Sequence[Place], specs: Sequence[LaunchSpec], behind: LaunchSpec | None
        ) -> list[Measured | SteelyardError]:
            if behind is not None:
                assert behind == specs[1]
                machine.events.append("behind its like")
            machine.events.append(f"series of {len(specs)}")
            results: list[Measured | SteelyardError] = []
            for one, place in zip(specs, places, strict=True):
                if len(machine.specs) == at and cut is not None:
                    return [*results, cut]
                results.append(machine.launch(one))
                if len(machine.specs) == at + 1:
                    break
                if place != places[-1]:
                    machine.events.append(f"server keeps {place.pair}.{place.side}")
            return results

        begun._recorder.series = series
        return begun

    def test_the_plan_and_the_record_are_those_of_single_launches(self) -> None:
        apart, at_once = Machine(noisy()), Machine(noisy())
        single = experiment(apart, weighing(1, **SHORT)).run()
        assert self.begun(at_once).run() == single
        assert at_once.specs == apart.specs
        # Four pairs of 24 ms fit into one request. The first pair is alone, because its length is not known yet; looks
        # are due at 12, 13, 14, 15, 17 and 19 pairs, and the end is at 20.
        pairs = [int(event.split()[-1]) // 2 for event in at_once.events if event.startswith("series")]
        assert pairs == [1, 4, 4, 3, 1, 1, 1, 2, 2, 1]
        ends = [number - 1 for number in itertools.accumulate(pairs)]
        last = [event for event in at_once.events if event.startswith("keep")]
        assert last == [f"keep {pair}.{1 - first_side(1, 0, pair)}" for pair in ends]
        assert sum(event.startswith("server keeps") for event in at_once.events) == 40 - len(last)

    def test_long_launches_and_those_of_several_benchmarks_come_pair_by_pair(self) -> None:
        long, several = Machine(noisy(wall_ns=60e6)), Machine(noisy())
        self.begun(long).run()
        self.begun(several, header=weighing(3, **SHORT)).run()
        for machine in (long, several):
            assert {event for event in machine.events if event.startswith("series")} == {"series of 2"}

    def test_short_ones_run_behind_one_of_the_side_that_is_second(self) -> None:
        short, long = Machine(noisy(wall_ns=12e6)), Machine(noisy(wall_ns=21e6))
        for machine in (short, long):
            self.begun(machine).run()
        # How long the first pair takes is not known yet.
        assert short.events.count("behind its like") == sum(event.startswith("series") for event in short.events) - 1
        assert "behind its like" not in long.events

    @pytest.mark.parametrize("lost_ns", [None, 1_000_000])
    def test_what_its_main_thread_waited_while_a_child_slept_makes_none_short(self, lost_ns: int | None) -> None:
        one = replace(PLAIN, wall_ns=25_000_000, delay_ns=8_000_000, others_ns=3_000_000, lost_ns=lost_ns)
        first = self.begun(Machine(lambda *_: one))._recorder
        first.launch(Place(0, 0, 0, 0, ROLES.index(WARM_UP), *draw_pair(1, 0, 0)))
        assert not first.begins_with_unkept_launch(0)

    def test_what_it_waited_itself_makes_none_long(self) -> None:
        first = self.begun(Machine(lambda *_: replace(PLAIN, wall_ns=25_000_000, delay_ns=8_000_000)))._recorder
        first.launch(Place(0, 0, 0, 0, ROLES.index(WARM_UP), *draw_pair(1, 0, 0)))
        assert first.begins_with_unkept_launch(0)

    def test_so_do_those_of_a_weighing_that_is_carried_on(self) -> None:
        first = self.begun(Machine(noisy()))._recorder
        assert not first.begins_with_unkept_launch(0)
        first.launch(Place(0, 0, 0, 0, ROLES.index(WARM_UP), *draw_pair(1, 0, 0)))
        carried_on = replace(first, _latest_ns={})
        assert carried_on.begins_with_unkept_launch(0)
        assert not replace(carried_on, series=None).begins_with_unkept_launch(0)

    def test_one_that_fails_takes_no_other_along(self) -> None:
        failed = [replace(PLAIN, exit_code=3), replace(PLAIN, exit_code=None, signal=9)]
        for one in failed:
            first = self.begun(Machine(lambda *_, one=one: one))._recorder
            first.targets = Targets(lambda *place: replace(target(*place), ignore_failure=True))
            first.launch(Place(0, 0, 0, 0, ROLES.index(WARM_UP), *draw_pair(1, 0, 0)))
            assert not first.begins_with_unkept_launch(0)

    @pytest.mark.parametrize("at", [8, 9])
    def test_a_launch_that_was_not_kept_is_kept_here_and_the_rest_launched_alone(self, at: int) -> None:
        machine = Machine(noisy())
        record = self.begun(machine, at=at).run()
        assert len(record.launches) == len(machine.specs) == 40
        assert record == experiment(Machine(noisy()), weighing(1, **SHORT)).run()
        cut = machine.events.index(f"keep {at // 2}.{machine.rows[1].side}")
        following = [event for event in machine.events[cut + 1 :] if not event.startswith("behind")]
        assert following[0].startswith("launch" if at == 8 else "series")

    @pytest.mark.parametrize(("at", "left"), [(8, 8), (9, 9)])
    def test_a_launch_that_could_not_be_leaves_those_before_it_in_the_record(self, at: int, left: int) -> None:
        one = self.begun(Machine(noisy()), MeasurementError("no such program"), at=at)
        record = one.run()
        assert str(one.error) == "no such program"
        assert (record.stop, len(record.launches)) == (["failed"], left)

    def test_a_program_that_a_launch_replaced_is_noticed_and_named(self) -> None:
        machine = Machine(noisy())

        class Replaced(Programs):
            def check(self, program: str, name: str) -> None:
                if len(machine.specs) > 4:
                    raise MeasurementError(f"{name}: {program} is another program now")

        files = Targets(lambda *place: replace(target(*place), program="work"))
        one = self.begun(machine, MeasurementError("no such program"), at=8, targets=files, programs=Replaced())
        record = one.run()
        assert str(one.error) in [f"{side}: work is another program now" for side in ("baseline", "candidate")]
        assert (record.stop, len(record.launches)) == (["failed"], 8)

    def test_disturbed_pairs_among_them_are_repeated(self) -> None:
        def script(number: int, spec: LaunchSpec) -> Measured:
            stolen = 20_000_000 if number in (4, 5, 13) else 0
            plain = noisy(seed=number)(number, spec)
            return replace(plain, wall_ns=plain.wall_ns + stolen, steal_ns=stolen)

        at_once, apart = Machine(script), Machine(script)
        record = self.begun(at_once).run()
        assert record == experiment(apart, weighing(1, **SHORT)).run()
        assert [event for event in at_once.events if "discard" in event] == ["discard 0.2", "discard 0.6"]

    def test_nothing_is_launched_once_the_user_has_interrupted(self) -> None:
        machine = Machine(noisy())
        record = self.begun(machine, interrupted=lambda: len(machine.specs) >= 6).run()
        assert (record.stop, len(machine.specs)) == (["interrupted"], 10)

    def test_the_time_is_not_overrun_by_a_series(self) -> None:
        header = weighing(1, max_time_s=1.0, warm_up=0, margin=0.0001)
        one, other = Machine(noisy(wall_ns=5e6)), Machine(noisy(wall_ns=5e6))
        assert self.begun(one, header=header).run().seconds <= 1.0
        experiment(other, header).run()
        assert len(one.specs) == len(other.specs)


class TestStopping:
    @pytest.mark.parametrize(("change", "word"), [(0.05, "slower"), (-0.05, "faster")])
    def test_a_clear_change_stops_at_the_first_look(self, change: float, word: str) -> None:
        record, _ = weigh(noisy(change, 0.005))
        assert record.stop == ["decided"]
        assert (verdicts(record)[0].verdict, verdicts(record)[0].pairs) == (word, 12)

    def test_no_change_stops_when_it_is_known_to_be_small(self) -> None:
        record, _ = weigh(noisy(0, 0.003))
        assert record.stop == ["decided"]
        assert verdicts(record)[0].verdict == "same"

    def test_pairs_are_a_limit(self) -> None:
        record, _ = weigh(noisy(0, 0.03), pairs=20, max_time_s=None)
        assert record.stop == ["pairs"]
        assert roles(record.launches.role)[USED] == 40

    def test_time_is_a_limit_that_no_pair_oversteps(self) -> None:
        record, machine = weigh(noisy(0.004, 0.01, wall_ns=1e9), max_time_s=60)
        assert record.stop == ["time"]
        assert 55 < machine.now - 1000 <= 60.5

    def test_a_weighing_that_cannot_be_decided_in_time_stops_early_and_says_what_would(self) -> None:
        record, machine = weigh(noisy(0, 0.1, wall_ns=1e8), max_time_s=30)
        verdict = verdicts(record)[0]
        assert record.stop == ["futile"]
        assert machine.now - 1000 < 29
        assert verdict.verdict == "undecided"
        assert verdict.pairs_needed is not None
        assert verdict.pairs_needed > 150

    def test_what_was_seen_live_is_what_is_derived_again(self) -> None:
        for seed in range(8):
            shown: list[Progress] = []
            machine, header = Machine(noisy(0.006, 0.01, seed)), weighing(max_time_s=20.0)
            record = Experiment(header, recorder(machine), machine.clock, shown.append).run()
            verdict = verdicts(record)[0]
            assert shown[-1].done == verdict.pairs
            assert (shown[-1].change, shown[-1].interval) == (verdict.change, verdict.interval)

    def test_the_first_launch_is_told_of_before_it_begins(self) -> None:
        machine, header = Machine(noisy()), weighing(pairs=8, max_time_s=None)
        begun, shown = machine.clock(), []
        rows = recorder(machine)
        Experiment(header, rows, machine.clock, lambda now: shown.append((now.is_first, machine.clock()))).run()
        assert shown[0] == (True, begun)
        assert not any(is_first for is_first, _ in shown[1:])
        shown.clear()
        Experiment(header, rows, machine.clock, lambda now: shown.append((now.is_first, machine.clock()))).run()
        assert not any(is_first for is_first, _ in shown)

    @pytest.mark.parametrize(
        ("settings", "given_up_s"),
        [({"max_time_s": 20.0}, 40.0), ({"max_time_s": 20.0, "timeout_s": 3.0}, 3.0), ({"max_time_s": None}, None)],
    )
    def test_with_it_is_told_after_how_long_it_is_given_up(self, settings: Any, given_up_s: float | None) -> None:
        machine, shown = Machine(noisy()), list[Progress]()
        Experiment(weighing(pairs=2, **settings), recorder(machine), machine.clock, shown.append).run()
        assert shown[0].is_first
        assert shown[0].seconds_left == given_up_s

    def test_false_alarms_of_whole_weighings(self) -> None:
        """Alpha is so large that few weighings suffice: if it holds, over 5 alarms in 24 have a chance of 0.1 %."""
        records = [weigh(noisy(0, 0.01, seed), pairs=24, max_time_s=None, alpha=0.05)[0] for seed in range(24)]
        words = Counter(verdicts(record)[0].verdict for record in records)
        assert words["slower"] + words["faster"] <= 5


class TestSeveralBenchmarks:
    def test_a_round_visits_all_and_a_decided_one_stops(self) -> None:
        def script(number: int, spec: LaunchSpec) -> Measured:
            clear, unclear = quick(number, spec), slow(number, spec)
            return clear if spec.argv[1] == b"0" else unclear

        quick, slow = noisy(0.2, 0.001), noisy(0.0, 0.02)
        record, _ = weigh(script, 3, pairs=29, max_time_s=None, warm_up=0)
        counts = Counter(record.launches.benchmark)
        assert counts == {0: 30, 1: 58, 2: 58}
        assert record.stop == ["decided", "pairs", "pairs"]
        first_rounds = [tuple(record.launches.benchmark[place : place + 6 : 2]) for place in range(0, 90, 6)]
        assert all(sorted(visited) == [0, 1, 2] for visited in first_rounds)
        assert len(set(first_rounds)) > 2

    def test_one_that_is_left_has_the_time_of_those_that_are_decided(self) -> None:
        """That time also decides whether it is given up as undecided long before the budget ends."""

        def script(number: int, spec: LaunchSpec) -> Measured:
            return (unclear if spec.argv[1] == b"0" else clear)(number, spec)

        unclear, clear = noisy(0.0, 0.02), noisy(0.3, 0.001)
        machine, shown = Machine(script), list[Progress]()
        launches = recorder(machine, interrupted=lambda: len(machine.specs) >= 110)
        record = Experiment(weighing(3, max_time_s=60), launches, machine.clock, shown.append).run()
        assert record.stop == ["interrupted", "decided", "decided"]
        limits = [one.limit for one in shown if one.limit is not None]
        # A pair of those that are decided takes 15 % longer than one of what is left, so that of all 10 %.
        assert limits[-1] == pytest.approx(3 * 1.1 * limits[0], rel=0.05)


class TestDisturbance:
    @staticmethod
    def stealing(every: int) -> Machine:
        plain = noisy(0, 0.02)

        def script(number: int, spec: LaunchSpec) -> Measured:
            stolen = 20_000_000 if number % every == 0 else 0
            return replace(plain(number, spec), steal_ns=stolen)

        return Machine(script)

    def test_a_disturbed_pair_is_repeated_and_stays_in_the_record(self) -> None:
        machine = self.stealing(every=20)
        record = experiment(machine, weighing(pairs=30, max_time_s=None, warm_up=0)).run()
        assert roles(record.launches.role) == {USED: 60, DISTURBED: 8}
        assert len([event for event in machine.events if event.startswith("discard")]) == 4
        verdict = verdicts(record)[0]
        assert (verdict.pairs, verdict.repeated) == (30, 4)

    def test_what_was_repeated_before_an_interrupt_is_none_of_the_pairs_that_were_asked_for(self) -> None:
        machine = self.stealing(every=20)
        header = weighing(pairs=30, max_time_s=None, warm_up=0)
        begun = experiment(machine, header, interrupted=lambda: len(machine.specs) >= 46).run()
        assert roles(begun.launches.role) == {USED: 40, DISTURBED: 6}
        rows = KeptRows(begun.launches.rows())
        ended = Experiment(begun, recorder(machine, rows=rows), machine.clock, lambda _: None).run()
        assert ended.stop == ["pairs"]
        assert roles(ended.launches.role) == {USED: 60, DISTURBED: 8}

    def test_on_a_machine_that_is_never_quiet_repeats_are_few(self) -> None:
        record = experiment(self.stealing(every=1), weighing(pairs=29, max_time_s=None, warm_up=0)).run()
        repeated = roles(record.launches.role)[DISTURBED] / 2
        assert roles(record.launches.role)[USED] == 58
        assert 1 <= repeated <= 8

    def test_an_extreme_value_alone_disturbs_nothing(self) -> None:
        def script(number: int, spec: LaunchSpec) -> Measured:  # noqa: ARG001
            return replace(PLAIN, wall_ns=PLAIN.wall_ns * (1000 if number == 7 else 1))

        record, _ = weigh(script, pairs=12, max_time_s=None)
        assert DISTURBED not in roles(record.launches.role)


class TestEndsBadly:
    @staticmethod
    def failing(at: int, **how: object) -> Machine:
        plain = noisy(0, 0.02)
        return Machine(lambda number, spec: replace(plain(number, spec), **(how if number == at else {})))  # type: ignore[arg-type]

    def test_a_failed_launch_stops_the_weighing_with_an_error_and_no_verdict(self) -> None:
        machine = self.failing(9, exit_code=3, stderr=b"first\nno such table\n")
        one = experiment(machine, weighing())
        record = one.run()
        assert record.stop == ["failed"]
        assert len(record.launches) == 9
        assert "exit status 3" in str(one.error)
        assert "no such table" in str(one.error)

    def test_a_signal_and_a_time_out_are_named(self) -> None:
        for how, word in (({"exit_code": None, "signal": 11}, "SIGSEGV"), ({"timed_out": True}, "--timeout")):
            one = experiment(self.failing(4, **how), weighing())
            one.run()
            assert word in str(one.error)

    def test_failures_can_be_accepted(self) -> None:
        machine = self.failing(9, exit_code=3)
        lenient = Targets(lambda *place: replace(target(*place), ignore_failure=True))
        one = experiment(machine, weighing(pairs=12), targets=lenient)
        assert one.run().stop == ["pairs"]
        assert one.error is None

    def test_an_interrupt_keeps_whole_pairs_and_judges_the_last_look(self) -> None:
        machine = self.failing(41, cancelled=True)
        record = experiment(machine, weighing(warm_up=0)).run()
        assert record.stop == ["interrupted"]
        assert len(record.launches) == 41
        assert verdicts(record)[0].pairs == 19

    def test_an_interrupt_between_launches_starts_no_other(self) -> None:
        machine = Machine(noisy())
        record = experiment(machine, weighing(), interrupted=lambda: len(machine.specs) == 6).run()
        assert (record.stop, len(machine.specs)) == (["interrupted"], 6)

    def test_processes_that_cannot_be_killed_are_named_with_their_numbers(self) -> None:
        machine = self.failing(3, left_behind=("77 sleeper",), not_killed=("78 of-root",))
        record = experiment(machine, weighing(pairs=12)).run()
        assert [finding.code for finding in record.findings] == ["left-behind", "not-killed"]
        assert "killed unless they ended by themselves: sleeper" in record.findings[0].message
        assert "left 1 process behind that could not be killed and may go on: 78 of-root" in record.findings[1].message

    def test_processes_left_behind_are_named_once(self) -> None:
        machine = self.failing(3, left_behind=("77 sleeper",))
        record = experiment(machine, weighing(pairs=12)).run()
        assert [finding.code for finding in record.findings] == ["left-behind"]
        assert "sleeper" in record.findings[0].message


def test_a_benchmark_that_failed_when_it_was_counted_is_not_timed_by_a_weighing_that_goes_on() -> None:
    machine = Machine(noisy(0.0))
    header = weighing(2, pairs=12).model_copy(update={"stop": ["failed", "interrupted"]})
    stopped: list[StopReason] = ["interrupted", "interrupted"]
    weighed = Experiment(header, recorder(machine), machine.clock, lambda _: None, stopped=stopped)
    record = weighed.run()
    assert record.stop == ["failed", "pairs"]
    assert {*record.launches.benchmark} == {1}


def test_who_goes_on_looks_at_each_row_once_however_many_benchmarks_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[LaunchRow] = []

    def resumed(number: int, header: Weighing, rows: Iterable[LaunchRow]) -> OpenBenchmark:
        own = list(rows)
        seen.extend(own)
        return benchmark.open_benchmark(number, header, own)

    record = weigh(noisy(), 5, pairs=12, max_time_s=None)[0]
    monkeypatch.setattr("steelyard.design.timing.experiment.open_benchmark", resumed)
    machine, rows = Machine(noisy()), record.launches.rows()
    Experiment(record, recorder(machine, rows=KeptRows(rows)), machine.clock, lambda _: None)
    assert sorted(seen) == sorted(rows)


def launched_with(hooks: Hooks) -> list[str]:
    machine = Machine(noisy())
    experiment(machine, weighing(pairs=12, warm_up=0), targets=Targets(target, hooks)).run()
    return [event.removeprefix("launch ") for event in machine.events if event.startswith("launch")]


def test_prepare_runs_before_each_launch() -> None:
    launched = launched_with(Hooks(prepare=[LaunchSpec(f"prepare {side}".encode(), (b"x",), ()) for side in "ab"]))
    before = {"baseline": "prepare a", "candidate": "prepare b"}
    assert all(launched[place] == before[target] for place, target in enumerate(launched[1:]) if target in before)
    assert len(launched) == 4 * 12


def test_conclude_runs_after_each_launch_of_its_side() -> None:
    launched = launched_with(Hooks(conclude=[LaunchSpec(f"conclude {side}".encode(), (b"x",), ()) for side in "ab"]))
    after = {"baseline": "conclude a", "candidate": "conclude b"}
    assert [after[name] for name in launched[::2]] == launched[1::2]
    assert len(launched) == 48


def test_a_launch_is_kept_before_what_concludes_it_and_fails_for_its_own_reason() -> None:
    def fails(program: bytes) -> Machine:
        return Machine(lambda _, spec: replace(PLAIN, exit_code=1 if program in (spec.program, b"all") else 0))

    targets = Targets(target, Hooks(conclude=[LaunchSpec(b"hook", (b"hook",), ())]))
    one = experiment(fails(b"hook"), weighing(), targets=targets)
    record = one.run()
    assert (record.stop, len(record.launches)) == (["failed"], 1)
    assert "--conclude" in str(one.error)
    machine = fails(b"all")
    one = experiment(machine, weighing(), targets=targets)
    assert one.run().stop == ["failed"]
    assert "--conclude" not in str(one.error)
    assert [event for event in machine.events if "hook" in event], "it is run after a launch that failed as well"


def test_a_failing_hook_is_an_error_that_names_it() -> None:
    machine = Machine(lambda number, spec: replace(PLAIN, exit_code=1 if spec.program == b"hook" else 0))  # noqa: ARG005
    targets = Targets(target, Hooks(prepare=[LaunchSpec(b"hook", (b"hook",), ())]))
    one = experiment(machine, weighing(), targets=targets)
    assert one.run().stop == ["failed"]
    assert "--prepare" in str(one.error)


def test_benchmarks_that_came_no_further_than_their_warm_up_are_named() -> None:
    record, _ = weigh(noisy(wall_ns=1e9), 3, max_time_s=8.5)
    judged = {row.benchmark for row in record.launches.rows() if ROLES[row.role] == USED}
    (cold,) = [finding for finding in record.findings if finding.code == "cold"]
    names = [benchmark.name for number, benchmark in enumerate(record.benchmarks) if number not in judged]
    assert len(names) == 2
    assert cold.message.startswith(f"only the warm-up of {', '.join(names)} was measured, ")
    assert not [one for one in weigh(noisy(wall_ns=1e9), max_time_s=3)[0].findings if one.code == "cold"]


def test_so_are_they_where_it_was_interrupted_until_it_is_carried_on() -> None:
    machine = Machine(noisy())
    record = experiment(machine, weighing(3, pairs=12), interrupted=lambda: len(machine.specs) == 8).run()
    assert record.stop == ["interrupted"] * 3
    (cold,) = [finding for finding in record.findings if finding.code == "cold"]
    names = [benchmark.name for benchmark in record.benchmarks]
    assert f"only the warm-up of {names[1]}, {names[2]} was measured" in cold.message
    carried_on = Experiment(record, recorder(machine), machine.clock, lambda _: None).run()
    assert not [finding for finding in carried_on.findings if finding.code == "cold"]


def test_a_command_that_takes_all_the_time_costs_the_others_nothing() -> None:
    def script(number: int, spec: LaunchSpec) -> Measured:
        return replace(PLAIN, wall_ns=(20 if spec.argv[1] == b"1" else 1) * 10**9 + number)

    header = weighing(2, max_time_s=8.0)
    limited = partial(_within, 8.0)
    machine = Machine(script)
    one = experiment(machine, header, targets=Targets(limited))
    record = one.run()
    assert (record.stop, one.error) == (["time", "time"], None)
    assert [verdict.change is None for verdict in verdicts(record)] == [False, True]
    assert [finding.code for finding in record.findings] == ["cut-short", "cold", "not-measured"]
    stuck = experiment(Machine(script), weighing(2, max_time_s=8.0, timeout_s=8.0), targets=Targets(limited)).run()
    assert stuck.stop == ["failed", "failed"]


@pytest.mark.parametrize(("sizes", "stop"), [("11", ["failed"] * 2), ("112", ["time"] * 3)])
def test_nobody_waits_twice_for_a_baseline_that_hangs(sizes: str, stop: list[str]) -> None:
    def script(_: int, spec: LaunchSpec) -> Measured:
        hangs = spec.program == b"baseline" and sizes[int(spec.argv[1])] == "1"
        return replace(PLAIN, wall_ns=(500 if hangs else 1) * 10**9)

    header, machine = weighing(len(sizes), max_time_s=8.0), Machine(script)
    named = [one.model_copy(update={"params": {"n": n}}) for one, n in zip(header.benchmarks, sizes, strict=True)]
    header = header.model_copy(update={"benchmarks": named})
    assert experiment(machine, header, targets=Targets(partial(_within, 8.0))).run().stop == stop
    assert sum(one.program == b"baseline" and sizes[int(one.argv[1])] == "1" for one in machine.specs) == 1


def test_a_command_that_was_measured_and_then_hangs_is_an_error() -> None:
    machine = Machine(lambda number, _: replace(PLAIN, wall_ns=(1 if number < 6 else 20) * 10**9))
    one = experiment(machine, weighing(max_time_s=8.5), targets=Targets(partial(_within, 8.5)))
    assert one.run().stop == ["failed"]
    assert "did not end within" in str(one.error)


def _within(seconds: float, benchmark: int, side: int, draw: Draw) -> Target:
    return target(benchmark, side, draw).within(seconds)
