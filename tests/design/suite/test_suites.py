"""Weighings of several benchmarks: the control, and a weighing that goes on where another one was cut off."""

from __future__ import annotations

from dataclasses import replace
from zlib import crc32

import pytest

from steelyard.design.judging.judgement import verdicts
from steelyard.design.timing.experiment import Experiment
from steelyard.design.timing.kept_rows import KeptRows
from steelyard.model.counting import Counting
from steelyard.model.derived import Verdict
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.launches import Launches
from steelyard.model.measured import Measured
from steelyard.model.records import Weighing
from steelyard.model.rows import DISTURBED, ROLES, USED
from steelyard.model.subject import Benchmark
from tests.design.counted import TOOL, counts
from tests.design.scripted import Machine, Script, experiment, noisy, recorder, weighing


def with_control(**settings: object) -> Weighing:
    header = weighing(2, **settings)
    benchmarks = [header.benchmarks[0], Benchmark(name="control", candidate=0, control=True)]
    return header.model_copy(update={"benchmarks": benchmarks})


def controlled(change: float, control_change: float, control_noise: float = 0.004) -> Script:
    """Return a script with the candidate's change, and the change that the control's second side falsely shows."""
    weighed, control = noisy(change, 0.004, 1), noisy(control_change, control_noise, 2)
    return lambda number, spec: (control if spec.argv[1] == b"1" else weighed)(number, spec)


class TestControl:
    def test_it_takes_part_in_every_round_until_the_others_have_stopped(self) -> None:
        record = experiment(Machine(controlled(0.02, 0.0)), with_control(warm_up=0)).run()
        benchmarks = record.launches.benchmark
        assert benchmarks.count(0) == benchmarks.count(1) == 24
        found = verdicts(record)
        assert (found[0].verdict, found[0].control) == ("slower", False)
        assert found[1].control

    @pytest.mark.parametrize(("control_change", "verdict"), [(0.0, "slower"), (0.02, "undecided")])
    def test_it_goes_on_until_it_alarms_or_excludes_what_was_found(self, control_change: float, verdict: str) -> None:
        record = experiment(Machine(controlled(0.02, control_change, 0.015)), with_control(warm_up=0)).run()
        others, controls = (record.launches.benchmark.count(number) for number in (0, 1))
        assert record.stop == ["decided", "decided"]
        assert 24 == others < controls < 100
        found = verdicts(record)
        assert found[0].verdict == verdict
        assert "control-open" not in {finding.code for finding in found[0].findings}

    def test_one_that_cannot_exclude_it_in_time_takes_none_of_it(self) -> None:
        header = with_control(warm_up=0, pairs=40, max_time_s=None)
        record = experiment(Machine(controlled(0.02, 0.0, 0.2)), header).run()
        assert 30 <= record.launches.benchmark.count(1) / 2 < 40
        assert "control-open" in {finding.code for finding in verdicts(record)[0].findings}

    @pytest.mark.parametrize(("pairs", "known"), [(12, "is undecided, ["), (7, "has too few pairs to tell")])
    def test_a_budget_that_ends_before_leaves_the_verdict_with_what_is_open(self, pairs: int, known: str) -> None:
        header = with_control(warm_up=0, pairs=pairs, max_time_s=None, alpha=0.05)
        record = experiment(Machine(controlled(0.02, 0.0, 0.04)), header).run()
        whole = record.launches.rows()
        if pairs == 7:  # and a control that did not get as far
            whole = [row for row in whole if row.benchmark == 0 or row.pair < 4]
        found = verdicts(record.model_copy(update={"launches": Launches.of_rows(whole)}))[0]
        assert found.verdict == "slower"
        (told,) = [finding for finding in found.findings if finding.code == "control-open"]
        assert known in told.message

    def test_an_alarm_of_the_control_withholds_the_verdict_and_says_why(self) -> None:
        found = verdicts(experiment(Machine(controlled(0.02, 0.03)), with_control()).run())
        assert found[0].verdict == "undecided"
        assert found[0].findings[0].code == "control-alarm"
        assert "slower than itself" in found[0].findings[0].message

    @staticmethod
    def counted_beside_an_alarm(candidate: int) -> tuple[Verdict, Verdict]:
        """Return the verdict by time, which is withheld, and the one by counts; the baseline counts 1,000."""
        record = experiment(Machine(controlled(0.02, 0.03)), with_control()).run()
        settings = record.settings.model_copy(update={"metrics": ["active", "instructions"]})
        counting = Counting(tool=TOOL, counts=counts([1000, 1000], [candidate, candidate]))
        deciding, counted, _ = verdicts(record.model_copy(update={"settings": settings, "counting": counting}))
        return deciding, counted

    def test_counts_disagree_with_no_verdict_that_is_withheld(self) -> None:
        deciding, counted = self.counted_beside_an_alarm(1000)
        assert (deciding.verdict, counted.verdict) == ("undecided", "same")
        assert "clocks-disagree" not in {finding.code for finding in deciding.findings}

    def test_a_count_stands_beside_an_alarm_as_noise_does_not_reach_it(self) -> None:
        deciding, counted = self.counted_beside_an_alarm(1100)
        assert (deciding.verdict, counted.verdict) == ("undecided", "slower")
        assert "control-alarm" in {finding.code for finding in deciding.findings}
        assert "control-alarm" not in {finding.code for finding in counted.findings}

    def test_it_does_not_count_among_the_benchmarks_that_share_alpha(self) -> None:
        plain = experiment(Machine(noisy(0.008, 0.004, 1)), weighing(warm_up=0)).run()
        beside = experiment(Machine(controlled(0.008, 0.0)), with_control(warm_up=0)).run()
        assert verdicts(beside)[0].pairs == verdicts(plain)[0].pairs


class TestUntilOneChanged:
    @pytest.mark.parametrize("until_one_changed", [False, True])
    def test_the_first_that_is_found_changed_ends_all(self, until_one_changed: bool) -> None:
        machine, header = Machine(controlled(0.05, 0.003)), weighing(2, warm_up=0, pairs=40, max_time_s=None)
        record = Experiment(
            header, recorder(machine), machine.clock, lambda _: None, until_one_changed=until_one_changed
        ).run()
        first, second = (record.launches.benchmark.count(number) for number in (0, 1))
        assert first < 40
        assert (second == first) is until_one_changed
        assert verdicts(record)[0].verdict == "slower"


def cut(record: Weighing, launches: int) -> Weighing:
    rows = record.launches.rows()[:launches]
    return record.model_copy(update={"launches": Launches.of_rows(rows), "stop": ["interrupted"] * len(record.stop)})


class TestResume:
    @staticmethod
    def undisturbed() -> tuple[Weighing, Script]:
        def by_place(number: int, spec: LaunchSpec) -> Measured:  # noqa: ARG001
            """Measure what depends on the draw alone, so that a repeated plan repeats its numbers."""
            return noisy(0.003, 0.01, seed=crc32(b"".join(spec.env) + spec.program))(0, spec)

        return experiment(Machine(by_place), weighing(pairs=70, max_time_s=None)).run(), by_place

    @pytest.mark.parametrize("launches", [0, 1, 2, 3, 25, 26, 27, 60, 61, 100])
    def test_it_ends_with_the_verdict_of_the_whole(self, launches: int) -> None:
        whole, script = self.undisturbed()
        begun = cut(whole, launches)
        machine = Machine(script)
        rows = begun.launches.rows()
        record = Experiment(begun, recorder(machine, rows=KeptRows(rows)), machine.clock, lambda _: None).run()
        assert Weighing.model_validate(record.model_dump())
        again = len(machine.specs)
        if launches % 2 == 0:
            assert record.launches.wall_ns == whole.launches.wall_ns
            assert verdicts(record)[0].model_dump(exclude={"seconds"}) == verdicts(whole)[0].model_dump(
                exclude={"seconds"}
            )
            assert again == len(whole.launches) - launches
        else:
            assert verdicts(record)[0].pairs == verdicts(whole)[0].pairs
            assert record.launches.wall_ns[:launches] == whole.launches.wall_ns[:launches]

    def test_a_pair_cut_in_two_stays_unused_and_the_next_draws_anew(self) -> None:
        whole, script = self.undisturbed()
        begun, machine = cut(whole, 31), Machine(script)
        record = Experiment(
            begun, recorder(machine, rows=KeptRows(begun.launches.rows())), machine.clock, lambda _: None
        ).run()
        lonely = record.launches.pair[30]
        assert record.launches.pair.count(lonely) == 1
        assert lonely + 1 in record.launches.pair

    def test_the_time_used_before_counts(self) -> None:
        script = noisy(0.004, 0.01, wall_ns=1e9)
        whole = experiment(Machine(script), weighing(max_time_s=60)).run()
        begun, machine = cut(whole, 40), Machine(script)
        Experiment(begun, recorder(machine, rows=KeptRows(begun.launches.rows())), machine.clock, lambda _: None).run()
        assert machine.now - 1000 < 21

    def test_repeats_go_on_counting(self) -> None:
        def stolen(number: int, spec: LaunchSpec) -> Measured:
            return replace(noisy(0, 0.02, number)(number, spec), steal_ns=20_000_000)

        whole = experiment(Machine(stolen), weighing(pairs=20, max_time_s=None, warm_up=0)).run()
        begun, machine = cut(whole, 16), Machine(stolen)
        record = Experiment(
            begun, recorder(machine, rows=KeptRows(begun.launches.rows())), machine.clock, lambda _: None
        ).run()
        roles = [ROLES[role] for role in record.launches.role]
        assert roles.count(USED) == 40
        assert roles.count(DISTURBED) == [ROLES[role] for role in whole.launches.role].count(DISTURBED)


class TestWaitQuiet:
    def test_it_waits_at_the_start_and_after_disturbed_pairs_within_its_bound(self) -> None:
        asked: list[float] = []

        def settle(most_s: float) -> float:
            asked.append(most_s)
            return 2.0

        def stolen(number: int, spec: LaunchSpec) -> Measured:
            return replace(noisy(0, 0.02, number)(number, spec), steal_ns=20_000_000 if number // 2 % 4 == 0 else 0)

        machine, header = Machine(stolen), weighing(pairs=20, max_time_s=None, wait_quiet_s=5)
        Experiment(header, recorder(machine), machine.clock, lambda _: None, settle).run()
        assert asked == [5, 3, 1]

    @pytest.mark.parametrize(("waits_s", "is_said"), [(4.95, True), (4.0, False)])
    def test_what_it_waited_in_vain_is_said(self, waits_s: float, is_said: bool) -> None:
        machine, header = Machine(noisy()), weighing(pairs=12, wait_quiet_s=5)
        done = Experiment(header, recorder(machine), machine.clock, lambda _: None, lambda _: waits_s).run()
        assert ("not-quiet" in {one.code for one in done.findings}) == is_said

    def test_without_the_option_it_never_waits(self) -> None:
        machine, header = Machine(noisy()), weighing(pairs=12)
        Experiment(header, recorder(machine), machine.clock, lambda _: None, lambda _: pytest.fail("waited")).run()
