from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from steelyard.design.judging.judgement import verdicts
from steelyard.design.judging.summaries import summaries
from steelyard.design.timing.alone import RunMeasurement
from steelyard.model.derived import Verdict
from steelyard.model.errors import MeasurementError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.launches import Launches
from steelyard.model.measured import Measured
from steelyard.model.records import Run, StopReason
from steelyard.model.rows import IN_TANDEM, LaunchRow
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark
from tests.design.scripted import PLAIN, Machine, Script, noisy, recorder, run_header, weigh
from tests.model.samples import WARM_UP, row, run, weighing


def scripted(**fields: object) -> Script:
    plain = noisy(0.05, 0.005)
    return lambda number, spec: replace(plain(number, spec), **fields)  # type: ignore[arg-type]


def codes(verdict: Verdict) -> list[str]:
    return [finding.code for finding in verdict.findings]


def test_active_is_what_is_left_of_wall_without_the_waiting() -> None:
    plain = noisy(0.05, 0.001)

    def waiting(number: int, spec: LaunchSpec) -> Measured:
        measured, wait = plain(number, spec), (number * 7919 % 10) * 1_000_000
        return replace(measured, wall_ns=measured.wall_ns + wait, delay_ns=wait)

    verdict = verdicts(weigh(waiting)[0])[0]
    assert verdict.metric == "active"
    assert verdict.change == pytest.approx(0.05, abs=0.002)
    assert verdict.worst_delay is not None
    assert verdict.worst_delay > 0.3
    assert verdict.disturbed > 0


def test_waits_behind_the_last_look_are_in_no_verdict() -> None:
    """As behind a verdict that another metric went on from, or behind the last look of a second budget."""
    plain = noisy(0.005, 0.02)

    def script(number: int, spec: LaunchSpec) -> Measured:
        measured, wait = plain(number, spec), 10**6 if number > 40 else 0
        return replace(measured, wall_ns=measured.wall_ns + wait, delay_ns=wait, involuntary_switches=wait)

    active, memory = verdicts(weigh(script, metrics=["active", "max_rss"], pairs=45, max_time_s=None)[0])
    assert active.pairs > memory.pairs == 12
    assert active.disturbed > 0
    assert (memory.disturbed, memory.worst_delay, memory.switches_per_s) == (0, 0.0, 0.0)


def test_threads_or_children_make_it_fall_back_to_wall_and_say_so() -> None:
    verdict = verdicts(weigh(scripted(others_ns=5_000_000))[0])[0]
    assert (verdict.metric, verdict.verdict) == ("wall", "slower")
    assert "metric-fallback" in codes(verdict)


@pytest.mark.parametrize(("is_followed", "remedy"), [(True, "not taken out"), (False, "to follow all threads")])
def test_where_they_cannot_be_followed_doctor_is_named(is_followed: bool, remedy: str) -> None:
    record = weigh(scripted(others_ns=5_000_000))[0]
    machine = record.machine.model_copy(update={"offers": {"switches": is_followed}})
    (verdict,) = verdicts(record.model_copy(update={"machine": machine}))
    (found,) = [finding.remedy or "" for finding in verdict.findings if finding.code == "metric-fallback"]
    assert found.endswith(remedy)
    assert ("steelyard doctor" in found) is not is_followed


def test_threads_and_children_that_were_followed_are_corrected_too() -> None:
    plain = noisy(0.05)

    def script(number: int, spec: LaunchSpec) -> Measured:
        measured, lost_ns = plain(number, spec), number * 7919 % 13 * 10**6
        return replace(measured, wall_ns=measured.wall_ns + lost_ns, lost_ns=lost_ns, others_ns=5_000_000)

    verdict = verdicts(weigh(script)[0])[0]
    assert (verdict.metric, verdict.verdict) == ("active", "slower")
    assert not {"metric-fallback", "pinned-threads"} & set(codes(verdict))
    assert "pinned-threads" in codes(verdicts(weigh(script, cpu=0)[0])[0])


def test_a_thread_that_shows_late_changes_the_metric_of_later_looks_only() -> None:
    plain = noisy(0.004, 0.02)

    def script(number: int, spec: LaunchSpec) -> Measured:
        return replace(plain(number, spec), others_ns=5_000_000 if number > 60 else 0)

    assert verdicts(weigh(script, pairs=24, max_time_s=None)[0])[0].metric == "active"
    assert verdicts(weigh(script, pairs=45, max_time_s=None)[0])[0].metric == "wall"


def test_no_schedstat_falls_back_to_wall() -> None:
    absent = scripted(cpu_ns=None, delay_ns=None, timeslices=None, others_ns=None)
    assert verdicts(weigh(absent)[0])[0].metric == "wall"
    constant = verdicts(weigh(absent, metrics=["cpu"], pairs=12)[0])[0]  # user + sys: the same in every launch
    assert (constant.change, constant.verdict) == (0.0, "undecided")


def test_a_metric_that_the_machine_cannot_measure_is_an_error_when_it_decides_and_a_note_when_not() -> None:
    absent = scripted(cpu_ns=None, delay_ns=None, timeslices=None, others_ns=None)
    record = weigh(absent, metrics=["wall", "delay"])[0]
    deciding, other = verdicts(record)
    assert (deciding.verdict, other.change, codes(other)) == ("slower", None, ["undefined"])
    failed, _ = weigh(absent, metrics=["delay"])
    assert failed.stop == ["failed"]


def test_a_metric_that_is_zero_here_and_there_has_no_relative_change() -> None:
    plain = noisy()

    def script(number: int, spec: LaunchSpec) -> Measured:
        return replace(plain(number, spec), major_faults=number % 3)

    record = weigh(script, metrics=["major_faults"])[0]
    assert record.stop == ["futile"], "more pairs have none either"
    (verdict,) = verdicts(record)
    assert (verdict.verdict, verdict.change, verdict.interval) == ("undecided", None, None)
    assert codes(verdict) == ["undefined"]
    assert "major_faults was 0 or less in some launches" in verdict.findings[0].message
    assert verdict.baseline is not None
    assert verdict.candidate is not None
    assert verdict.baseline.launches == verdict.candidate.launches == verdict.pairs > 0
    assert {verdict.baseline.median, verdict.candidate.median} <= {0, 0.5, 1, 1.5, 2}


@pytest.mark.parametrize("metrics", [["major_faults"], ["wall", "major_faults"]])
def test_a_warm_up_alone_may_have_no_relative_change_either(metrics: list[str]) -> None:
    def script(number: int, spec: LaunchSpec) -> Measured:
        return replace(noisy()(number, spec), major_faults=5 * (spec.program == b"candidate"))

    record = weigh(script, pairs=12, max_time_s=None, warm_up=2, metrics=metrics)[0]
    warm_up = Launches.of_rows(record.launches.rows()[:4])
    *_, found = verdicts(record.model_copy(update={"launches": warm_up, "stop": ["interrupted"]}))
    assert (found.metric, found.verdict, found.pairs, found.change) == ("major_faults", "undecided", 0, None)
    assert (found.baseline, found.candidate) == (None, None)
    assert "major_faults was 0 or less in some launches" in found.findings[0].message


def test_equal_counts_are_the_same_even_when_all_are_zero() -> None:
    verdict = verdicts(weigh(noisy(), metrics=["major_faults"])[0])[0]
    assert (verdict.verdict, verdict.change) == ("same", 0.0)
    assert verdicts(weigh(noisy(), metrics=["max_rss"])[0])[0].verdict == "same"


def test_a_clock_of_one_millisecond_cannot_say_same() -> None:
    def script(number: int, spec: LaunchSpec) -> Measured:  # noqa: ARG001
        return replace(noisy_value, wall_ns=(12 + number % 2) * 10**6)

    noisy_value = noisy()(0, LaunchSpec(b"baseline", (b"baseline", b"0"), ()))
    verdict = verdicts(weigh(script, metrics=["wall"], pairs=60, max_time_s=None)[0])[0]
    assert verdict.verdict == "undecided"
    assert "coarse-clock" in codes(verdict)


@pytest.mark.parametrize(("candidate", "verdict", "is_told"), [((1, 2), "undecided", False), ((9, 10), "slower", True)])
def test_a_clock_whose_ticks_hide_all_tells_no_interval_of_what_it_leaves_open(
    candidate: tuple[int, int], verdict: str, is_told: bool
) -> None:
    def script(number: int, spec: LaunchSpec) -> Measured:
        ticks = candidate if spec.program == b"candidate" else (1, 2)
        return replace(PLAIN, wall_ns=10**6 * ticks[number // 2 % 2])

    (found,) = verdicts(weigh(script, metrics=["wall"], pairs=40, max_time_s=None)[0])
    assert (found.verdict, found.interval is not None, found.resolution is not None) == (verdict, is_told, is_told)


def test_metrics_follow_in_the_order_asked_for_and_the_first_decides() -> None:
    record = weigh(scripted(), metrics=["wall", "cpu", "max_rss"])[0]
    found = verdicts(record)
    assert [verdict.metric for verdict in found] == ["wall", "cpu", "max_rss"]
    assert [verdict.verdict for verdict in found] == ["slower", "undecided", "same"]


def test_short_launches_are_called_short() -> None:
    short = verdicts(weigh(noisy(0.05, 0.0001, wall_ns=1e6))[0])[0]
    (said,) = (finding.message for finding in short.findings if finding.code == "short-launch")
    assert said.startswith("a launch takes 1.02 ms with the start of its process")
    assert "short-launch" not in codes(verdicts(weigh(noisy(0.05, 0.001))[0])[0])


@pytest.mark.parametrize(
    ("delay_ns", "said", "why", "way_out"),
    [
        (0, "3.00 ms", "a change of the work inside is a little larger", "a larger input, or a loop inside"),
        (1_000_000, "2.00 ms", "a change of the work inside is a little larger", "a larger input, or a loop inside"),
        (2_000_000, "1.00 ms", "too short to time the work inside", "--repeat 30 would make a launch last 30 ms"),
        (3_000_000, None, "", ""),
    ],
)
def test_a_short_launch_is_told_without_its_waits(delay_ns: int, said: str | None, why: str, way_out: str) -> None:
    one = replace(PLAIN, wall_ns=3_000_000, delay_ns=delay_ns)
    found = verdicts(weigh(lambda *_: one, pairs=12)[0])[0].findings
    short = [(finding.message, finding.remedy) for finding in found if finding.code == "short-launch"]
    assert len(short) == (said is not None)
    for message, remedy in short:
        assert f"a launch takes {said} with the start of its process: {why}" in message
        assert way_out in str(remedy)


def test_a_change_in_storms_only_is_shown_beside_the_calm() -> None:
    """Ten calm pairs, then ten in a storm, in which the candidate takes 8 % longer, and so on."""
    generator = np.random.default_rng(2)

    def script(*, slower: float) -> Script:
        def launch(number: int, spec: LaunchSpec) -> Measured:
            storm = number // 20 % 2
            factor = 1 + slower * storm if spec.program == b"candidate" else 1.0
            noise = (0.003 + 0.03 * storm) * generator.standard_normal() + 0.3 * storm
            return replace(PLAIN, wall_ns=int(30e6 * factor * np.exp(noise)))

        return launch

    pairs: dict[str, Any] = {"pairs": 120, "max_time_s": None, "margin": 0.0002, "alpha": 1e-9}  # nothing decides these
    verdict = verdicts(weigh(script(slower=0.08), **pairs)[0])[0]
    (said,) = (finding.message for finding in verdict.findings if finding.code == "storms-differ")
    calm, storm = (float(word) for word in re.findall(r"([-+]\d+\.\d+) ?%", said))
    assert abs(calm) < 1
    assert 5 < storm < 11
    assert "storms-differ" not in codes(verdicts(weigh(script(slower=0.0), **pairs)[0])[0])


@pytest.mark.parametrize(("second", "told"), [(1.02, ["2 % longer"]), (0.97, ["3 % less"]), (1.002, [])])
def test_what_the_order_of_the_launches_makes_of_a_pair_is_told_where_it_matters(
    second: float, told: list[str]
) -> None:
    plain = noisy(noise=1e-5, wall_ns=50e6)

    def script(number: int, spec: LaunchSpec) -> Measured:
        measured = plain(number, spec)
        return replace(measured, wall_ns=int(measured.wall_ns * (second if number % 2 else 1.0)))

    verdict = verdicts(weigh(script, pairing="adjacent", pairs=30)[0])[0]
    found = [finding.message for finding in verdict.findings if finding.code == "order"]
    assert [message.split(":")[0] for message in found] == [
        f"the second launch of a pair takes {each} than the first" for each in told
    ]
    assert verdict.verdict == "same"


def test_a_failed_first_metric_is_never_a_verdict() -> None:
    record = weigh(scripted(), metrics=["wall"])[0]
    broken = record.model_copy(update={"settings": record.settings.model_copy(update={"metrics": ["delay"]})})
    launches = broken.launches.model_copy(update={"delay_ns": [None] * len(broken.launches)})
    with pytest.raises(MeasurementError, match="delay"):
        verdicts(broken.model_copy(update={"launches": launches}))


class TestRun:
    @staticmethod
    def measure(script: Script, **settings: object) -> RunMeasurement:
        header, machine = run_header(**settings), Machine(script)
        return RunMeasurement(header, recorder(machine), machine.clock, lambda _: None)

    def test_it_describes_what_was_measured(self) -> None:
        record = self.measure(noisy(noise=0.003), pairs=60, max_time_s=None).run()
        summary = summaries(record)[0]
        assert record.stop == ["pairs"]
        assert (summary.launches, summary.quality, len(summary.modes)) == (60, "quiet", 1)
        assert summary.median == pytest.approx(12e6, rel=0.002)
        assert summary.interval is not None
        assert summary.interval[0] <= summary.median <= summary.interval[1]

    def test_time_ends_it_but_not_before_one_launch(self) -> None:
        assert len(self.measure(noisy(), max_time_s=1.0, warm_up=0).run().launches) in range(75, 90)
        assert len(self.measure(noisy(wall_ns=9e9), max_time_s=1.0, warm_up=0).run().launches) == 1

    def test_two_crowds_are_told(self) -> None:
        plain = noisy(noise=0.002)

        def script(number: int, spec: LaunchSpec) -> Measured:
            measured = plain(number, spec)
            return replace(measured, wall_ns=int(measured.wall_ns * (1.1 if number % 3 == 0 else 1)))

        assert len(summaries(self.measure(script, pairs=100, max_time_s=None).run())[0].modes) == 2

    def test_a_thread_in_some_launches_is_judged_by_wall_in_all(self) -> None:
        plain = noisy()
        late = self.measure(
            lambda number, spec: replace(plain(number, spec), others_ns=5_000_000 * (number > 8)),
            pairs=20,
            max_time_s=None,
        )
        (summary,) = summaries(late.run())
        assert (summary.metric, summary.launches) == ("wall", 20)

    @pytest.mark.parametrize(("delay_ns", "quality"), [(2_000_000, "disturbed"), (0, "quiet"), (None, "quiet")])
    def test_its_quality_is_that_of_the_worst_wait(self, delay_ns: int | None, quality: str) -> None:
        measuring = self.measure(scripted(delay_ns=delay_ns), metrics=["wall"], pairs=20, max_time_s=None)
        (summary,) = summaries(measuring.run())
        assert (summary.quality, summary.worst_delay is None) == (quality, delay_ns is None)

    def test_failures_and_interrupts_keep_what_there_is(self) -> None:
        plain = noisy()
        failing = self.measure(lambda number, spec: replace(plain(number, spec), exit_code=int(number == 5)))
        assert (failing.run().stop, str(failing.error)[:8]) == (["failed"], "baseline")
        cut = self.measure(lambda number, spec: replace(plain(number, spec), cancelled=number == 5))
        assert (cut.run().stop, cut.error) == (["interrupted"], None)


def test_what_failed_does_not_count_among_those_that_share_alpha() -> None:
    record, _ = weigh(noisy(0.01), 8, pairs=14)
    record = record.model_copy(update={"stop": ["failed", *record.stop[1:]]})
    found = {finding.message for verdict in verdicts(record) for finding in verdict.findings}
    assert "the interval does not contain 0, but that is not sure enough for one of 7 benchmarks" in found


def test_of_a_run_that_came_to_nothing_nothing_is_shown() -> None:
    record = run_header().model_copy(update={"stop": ["time"]})
    with pytest.raises(MeasurementError, match="nothing was measured"):
        summaries(record)


def test_too_few_pairs_for_an_interval_say_all_the_same_what_each_side_took() -> None:
    (few,) = verdicts(weigh(noisy(0.05, 0.001), pairs=5, max_time_s=None)[0])
    assert (few.verdict, few.interval, few.pairs) == ("undecided", None, 5)
    assert few.change == pytest.approx(0.05, abs=0.003)
    assert few.baseline is not None
    assert few.candidate is not None
    assert (few.baseline.launches, few.candidate.launches) == (5, 5)
    assert few.candidate.median / few.baseline.median == pytest.approx(1.05, abs=0.003)


def test_of_a_warm_up_alone_its_noise_does_not_say_how_many_pairs_are_needed() -> None:
    record, _ = weigh(noisy(0.001, 0.05), pairs=12, max_time_s=None, warm_up=8)
    warm_up = Launches.of_rows(record.launches.rows()[:16])
    (found,) = verdicts(record.model_copy(update={"launches": warm_up, "stop": ["interrupted"]}))
    assert found.change is not None
    assert (found.pairs, found.pairs_needed) == (0, 12)


@pytest.mark.parametrize(("measured_s", "told_s"), [(0.05, 0.05), (0.0, 0.19), (9.0, 0.19)])
def test_a_pause_is_no_part_of_the_time_and_what_nobody_ended_took_as_long_as_its_launches(
    measured_s: float, told_s: float
) -> None:
    (found,) = verdicts(weighing([row(pair, side) for pair in range(5) for side in (0, 1)], seconds=measured_s))
    assert found.seconds == pytest.approx(told_s)


def test_how_often_another_was_given_the_processor_is_told_of_judged_launches_that_ran_alone() -> None:
    rows = [
        row(0, 0, role=WARM_UP, involuntary_switches=700),
        row(0, 1, role=WARM_UP, involuntary_switches=700),
        *(row(pair, side, involuntary_switches=2) for pair in (1, 2) for side in (0, 1)),
        *(row(3, side, order=IN_TANDEM + side, involuntary_switches=900) for side in (0, 1)),
    ]
    assert verdicts(weighing(rows))[0].switches_per_s == pytest.approx(2 / 0.010)


def runs(*benchmarks: list[LaunchRow], stop: list[StopReason], **settings: Any) -> Run:
    rows = [one._replace(benchmark=number) for number, launches in enumerate(benchmarks) for one in launches]
    names = [Benchmark(name=f"benchmark {number}") for number in range(len(benchmarks))]
    return run(rows, benchmarks=names, stop=stop, settings=Settings(**settings))


KNOWN, UNKNOWN = [row(0), row(1), row(2)], [row(0), row(1, delay_ns=None), row(2)]


@pytest.mark.parametrize("reason", ["pairs", "time"])
def test_what_one_launch_of_a_command_does_not_tell_is_no_number(reason: StopReason) -> None:
    with pytest.raises(MeasurementError, match="cannot measure delay"):
        summaries(runs(KNOWN, UNKNOWN, stop=["pairs", reason], metrics=["delay"]))


def test_a_benchmark_of_a_harness_that_does_not_tell_it_is_left_out_beside_others() -> None:
    several = runs(UNKNOWN, KNOWN, stop=["pairs", "pairs"], metrics=["delay"], harness="protocol")
    assert [one.benchmark for one in summaries(several)] == ["benchmark 1"]
    with pytest.raises(MeasurementError, match="cannot measure delay"):
        summaries(runs(UNKNOWN, UNKNOWN, stop=["pairs", "pairs"], metrics=["delay"], harness="protocol"))


@pytest.mark.parametrize("reason", ["time", "interrupted", "failed"])
def test_a_command_that_was_not_reached_is_left_out_beside_others(reason: StopReason) -> None:
    found = summaries(runs(KNOWN, [], stop=["pairs", reason], metrics=["delay"]))
    assert [one.benchmark for one in found] == ["benchmark 0"]


def test_that_another_metric_is_not_known_stands_beside_the_first() -> None:
    wall, cpu = summaries(runs(UNKNOWN, stop=["pairs"], metrics=["wall", "cpu", "delay"]))
    assert (wall.metric, cpu.metric) == ("wall", "cpu")
    codes = [[finding.code for finding in one.findings] for one in (wall, cpu)]
    assert [found.count("undefined") for found in codes] == [1, 0]
