"""How much each launch does, tried on made-up bodies and clocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest

from steelyard.design.suite.loops import (
    PILOT_LAUNCHES,
    PILOT_SAMPLES,
    TARGET_NS,
    TURN_NS,
    Pilot,
    answer_all,
    ask_for_loops,
    choose_loops,
    choose_samples,
    is_long,
    long_samples_in_step,
    shared_loops,
)
from steelyard.model.errors import LaunchError
from steelyard.model.rows import Sample


@dataclass
class Body:
    """A body whose iterations take `each_ns`, the first in a launch `cold_ns` more, on a clock of ticks."""

    each_ns: float
    cold_ns: float = 0.0
    tick_ns: int = 1
    noise: float = 0.01
    calls: list[tuple[int, int]] = field(default_factory=list)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(1)

    def take(self, loops: int, samples: int) -> list[Sample]:
        self.calls.append((loops, samples))
        now, found = float(self.random.random() * self.tick_ns), []
        for number in range(samples):
            begun = now
            now += loops * self.each_ns * float(np.exp(self.noise * self.random.standard_normal()))
            now += self.cold_ns if number == 0 else 0
            # A harness reports a time above 0, even if its clock has not moved.
            found.append(Sample(loops, max(1, (int(now) // self.tick_ns - int(begun) // self.tick_ns) * self.tick_ns)))
        self.seconds += now / 1e9
        return found


class TestLoops:
    @pytest.mark.parametrize(
        ("each_ns", "cold_ns"),
        [*product([0.3, 1.0, 33.0, 1e3, 50e3, 0.7e6], [0.0, 1e6, 50e6])],
    )
    def test_a_sample_takes_about_what_it_should(self, each_ns: float, cold_ns: float) -> None:
        body = Body(each_ns, cold_ns)
        loops = choose_loops(body.take)
        assert TARGET_NS / 2.2 <= loops * each_ns <= 2.2 * TARGET_NS
        assert len(body.calls) <= 7
        assert body.seconds < 0.5

    @pytest.mark.parametrize("each_ns", [0.3, 33.0, 50e3, 0.14e6])
    def test_in_turn_it_takes_less(self, each_ns: float) -> None:
        body = Body(each_ns, cold_ns=1e6)
        loops = answer_all(ask_for_loops(TURN_NS), lambda amount: body.take(*amount))
        assert TURN_NS / 2.2 <= loops * each_ns <= 2.2 * TURN_NS

    @pytest.mark.parametrize("each_ns", [2e6, 10e6, 90e6])
    def test_one_iteration_that_is_long_enough_is_a_sample(self, each_ns: float) -> None:
        body = Body(each_ns)
        assert choose_loops(body.take) == 1
        assert body.calls == [(1, 1), (1, 3)]

    def test_a_long_body_is_run_once(self) -> None:
        body = Body(2e9)
        assert choose_loops(body.take) == 1
        assert body.calls == [(1, 1)]

    @pytest.mark.parametrize("each_ns", [1.0, 1e3, 40e3, 0.4e6])
    def test_a_clock_that_ticks_each_ms(self, each_ns: float) -> None:
        body = Body(each_ns, tick_ns=1_000_000)
        loops = choose_loops(body.take)
        assert TARGET_NS / 4 <= loops * each_ns <= 3 * TARGET_NS
        assert body.seconds < 5

    @pytest.mark.parametrize("tick_ns", [15_600_000, 4_000_000])
    def test_a_clock_whose_ticks_are_longer_than_a_sample_should_be(self, tick_ns: int) -> None:
        loops = choose_loops(Body(1e3, tick_ns=tick_ns).take)
        assert TARGET_NS / 4 <= loops * 1e3 <= 4 * tick_ns

    @pytest.mark.parametrize("ns", [1, 40, 3000])
    def test_a_body_that_takes_no_longer_is_refused(self, ns: int) -> None:
        tried = []

        def take(loops: int, samples: int) -> list[Sample]:
            tried.append(loops)
            return [Sample(loops, ns)] * samples

        with pytest.raises(LaunchError, match=r"^takes no longer however often it is repeated: does the compiler"):
            choose_loops(take)
        assert max(tried) <= 1 << 45

    def test_a_body_that_never_settles_is_not_tried_for_ever(self) -> None:
        tried: list[int] = []

        def take(loops: int, samples: int) -> list[Sample]:
            tried.append(loops)
            return [Sample(loops, max(1, int(loops * 10 ** random.uniform(0, 6)))) for _ in range(samples)]

        for seed in range(50):
            random = np.random.default_rng(seed)
            tried.clear()
            assert choose_loops(take) <= TARGET_NS
            assert len(tried) < 15

    def test_the_loops_that_a_harness_ran_are_those_that_count(self) -> None:
        """This harness rounds them up to blocks of 1000."""
        body = Body(100.0)
        loops = choose_loops(lambda loops, samples: body.take(-(-loops // 1000) * 1000, samples))
        assert TARGET_NS / 2.2 <= -(-loops // 1000) * 1000 * 100 <= 2.2 * TARGET_NS

    def test_a_failure_is_passed_on(self) -> None:
        def take(loops: int, samples: int) -> Sequence[Sample]:
            raise LaunchError(f"crashed at {loops} loops, {samples} samples")

        with pytest.raises(LaunchError, match="crashed at 1 loops, 1 samples"):
            choose_loops(take)


def pilots(
    within: float = 0.0, between: float = 0.0, overhead_ns: float = 20e6, sample_ns: float = TARGET_NS, seed: int = 1
) -> list[Pilot]:
    random = np.random.default_rng(seed)
    found = []
    for _ in range(PILOT_LAUNCHES):
        level = sample_ns * np.exp(between * random.standard_normal())
        times = level * np.exp(within * random.standard_normal(PILOT_SAMPLES))
        times[0] *= 3  # cold caches
        found.append(Pilot(overhead_ns, [Sample(1000, int(time)) for time in times]))
    return found


def usual(**how: float) -> float:
    """Return the median number of samples over many sets of pilot launches."""
    return float(np.median([choose_samples(pilots(**how, seed=seed)) for seed in range(200)]))


class TestSamples:
    def test_noise_within_launches_takes_many_samples(self) -> None:
        assert usual(within=0.02, between=0.0) >= 10

    def test_noise_between_launches_takes_few(self) -> None:
        assert usual(within=0.001, between=0.05) == 4

    def test_more_of_it_takes_more(self) -> None:
        found = [usual(within=within, between=0.01) for within in (0.003, 0.01, 0.03, 0.1)]
        assert found == sorted(found)
        assert found[0] < found[-1]

    def test_launches_that_are_cheap_to_start_take_fewer(self) -> None:
        found = [usual(within=0.03, between=0.01, overhead_ns=ns) for ns in (0.1e6, 5e6, 200e6)]
        assert found == sorted(found)
        assert found[0] < found[-1]

    @pytest.mark.parametrize("sample_ns", [TARGET_NS, 90e6])
    @pytest.mark.parametrize("how", [{}, {"within": 0.3}, {"between": 0.3}, {"within": 0.3, "overhead_ns": 1e12}])
    def test_there_is_a_least_and_a_most(self, sample_ns: float, how: dict[str, float]) -> None:
        for seed in range(50):
            assert 4 <= choose_samples(pilots(**how, sample_ns=sample_ns, seed=seed)) <= 41

    def test_samples_that_are_all_alike(self) -> None:
        assert choose_samples([Pilot(20e6, [Sample(1, 1_500_000)] * PILOT_SAMPLES)] * PILOT_LAUNCHES) == 4

    def test_a_start_that_took_less_than_nothing(self) -> None:
        """The samples of several threads add up to more than their launch."""
        assert choose_samples(pilots(within=0.05, overhead_ns=-30e6)) == 4

    @pytest.mark.parametrize(
        ("ns", "samples"), [(100_000_000, 6), (110_000_000, 5), (240_000_000, 3), (260_000_000, 1), (2_000_000_000, 1)]
    )
    def test_long_ones_are_several_where_each_has_a_neighbour(self, ns: int, samples: int) -> None:
        assert long_samples_in_step([Sample(1, ns)]) == samples

    @pytest.mark.parametrize(("ns", "long"), [(99_000_000, False), (100_000_000, True), (2_000_000_000, True)])
    def test_what_is_long(self, ns: int, long: bool) -> None:
        assert is_long([Sample(1, ns)] * 3) == long
        assert is_long([Sample(1, 10 * ns), Sample(1, ns), Sample(1, 1)]) == long


def tried(each_ns: float, loops: int) -> list[Sample]:
    return [Sample(loops, round(each_ns * loops))]


@pytest.mark.parametrize(
    ("loops", "each_ns", "chosen"),
    [
        (1500, [1000, 1000], 1500),
        (1500, [1000, 3900], 1500),  # slower, but not by so much
        (1500, [1000, 10], 1500),
        (1500, [1000, 30_000], 50),
        (1500, [1000, 10_000], 150),  # the slower one's samples are as long as they should be
        (50_000, [30, 9000], 1667),  # the clock still has to resolve the baseline's samples
        (1, [2_000_000, 900_000_000], 1),
        # The faster one's samples are not too short, and the slower one's not too long.
        (1, [2_000_000, 46], 50),
        (32_600, [46, 2_000_000], 50),
        (32_600, [46, 1_000_000_000], 1),
        (2, [300_000, 3000], 17),
    ],
)
def test_a_side_that_is_far_slower_has_both_loop_less(loops: int, each_ns: list[float], chosen: int) -> None:
    assert shared_loops(loops, [tried(each, loops) for each in each_ns]) == chosen


def test_launches_of_the_slowest_side_do_not_become_too_long() -> None:
    samples = [Sample(1, 1_500_000 + jitter) for jitter in (0, 9000, 0, 8000, 1000, 9500)]
    pilots = [Pilot(1e9, samples)] * 3
    assert choose_samples(pilots) > 20
    # Overhead that each sample adds is no part of the start: here that is all of the overhead, then a tenth.
    assert choose_samples(pilots, brief=Pilot(1e9 / len(samples), samples[:1])) == 4
    assert choose_samples(pilots, brief=Pilot(0.9e9, samples[:1])) > 10
    assert choose_samples(pilots, slowest_ns=100e6) == 11
    assert choose_samples(pilots, slowest_ns=5e9) == 4


def test_a_shared_start_that_took_longer_once_is_no_cost_of_samples() -> None:
    samples = [Sample(1, TURN_NS + 1000 * number) for number in range(PILOT_SAMPLES)]
    pilots = [Pilot(4e6, samples, start_ns=10e6)] * PILOT_LAUNCHES
    alone = choose_samples([Pilot(14e6, samples)] * PILOT_LAUNCHES, in_step=True)
    for start_ns in (5e6, 15e6):
        assert choose_samples(pilots, brief=Pilot(4e6, samples[:1], start_ns), in_step=True) == alone


@pytest.mark.parametrize("many", [1, 3, 10])
def test_a_benchmark_that_says_itself_how_many_samples_it_takes_tells_nothing_of_what_each_costs(many: int) -> None:
    """As one of Google Benchmark with `Repetitions(3)`: it takes 3 samples, however few are asked for."""
    pilots = [Pilot(20e6, [Sample(1, 1_500_000 + 1000 * place) for place in range(many)])] * 3
    assert choose_samples(pilots, brief=pilots[0]) == choose_samples(pilots) >= 4


def test_medians_that_differ_by_what_their_samples_do_are_no_difference_between_launches() -> None:
    around = (0, -2000, 0, 2000, -2000, 2000)  # in 1/100,000: a variance of 0.00032; the first is not judged
    medians = (100_000, 103_000, 97_000)  # a variance of 0.0009, of which a fifth of 0.00032 comes from the samples
    pilots = [Pilot(1e9, [Sample(1, 15 * each * (100_000 + off) // 100_000) for off in around]) for each in medians]
    assert choose_samples(pilots) == 1 + round((0.00032 / (0.0009 - 0.00032 / 5) * 1e9 / 1_500_000) ** 0.5)


def test_what_a_launch_is_off_by_does_not_count_in_step() -> None:
    times = ((1.00, 1.01, 0.99), (1.30, 1.31, 1.29), (0.80, 0.81, 0.79))
    uneven = [Pilot(20e6, [Sample(1, round(1e6 * one)) for one in launch]) for launch in times]
    assert choose_samples(uneven) == 4
    assert choose_samples(uneven, in_step=True) > 20


def test_short_ones_in_turn_are_many() -> None:
    alike = [Pilot(60e6, [Sample(1, TURN_NS)] * PILOT_SAMPLES)] * PILOT_LAUNCHES
    jittery = [Pilot(60e6, [Sample(1, TURN_NS + 1000 * number) for number in range(PILOT_SAMPLES)])] * PILOT_LAUNCHES
    assert choose_samples(jittery, in_step=True) == 161
    assert choose_samples(jittery) <= 41
    assert choose_samples(alike, in_step=True) == 4
