"""The claims of the statistics, tested by simulation; benchmarks/verdicts_on_traces.py prints the whole table.

Seeds are fixed, so a result does not change from run to run. The looks spend all of alpha, which is larger here than
usual, so that few weighings suffice: of 40, `MOST` may go wrong where the claim is that at most `ALPHA` do. If the
claim holds, more than that have a chance of 1 in 1,000. test_weighted.py and test_joint.py show over all flips of the
coin that the test is exact.
"""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import order, simulation
from benchmarks.going_on import is_alarm
from benchmarks.simulation import SYNTHETIC, TRACE_NAMES, Noise, Tally, simulate, trace, window_of

ALPHA, WEIGHINGS, MOST = 0.05, 40, 0.175
WRONG = ("slower", "faster")
SIX_EACH = [noise for noise in (*SYNTHETIC.values(), order.phases) for _ in range(6)]


def on_trace(
    name: str,
    metric: str,
    change: float,
    *,
    margin: float = 0.005,
    alpha: float = 0.01,
    pairs: int = 150,
    weighings: int = WEIGHINGS,
    roughly: bool = True,
) -> Tally:
    noise = window_of(trace(name, metric))
    return simulate(noise, change, margin=margin, alpha=alpha, pairs=pairs, weighings=weighings, roughly=roughly)


def false_alarms(noise: Noise, tick: float | None = None) -> float:
    """Return the share of alarms, where whatever a look rejects counts: no margin prevents an alarm."""
    return simulation.false_alarms(noise, alpha=ALPHA, pairs=40, weighings=WEIGHINGS, tick=tick)


@pytest.mark.parametrize("metric", ["cpu", "active", "wall"])
@pytest.mark.parametrize("name", TRACE_NAMES)
def test_false_alarms_on_every_trace(name: str, metric: str) -> None:
    assert false_alarms(window_of(trace(name, metric))) <= MOST


@pytest.mark.parametrize("name", ["bursts", "quiet"])
def test_false_alarms_of_weighings_that_go_on_whenever_they_are_undecided(name: str) -> None:
    """There would be 10 to 13 % if each end spent all of alpha (benchmarks/going_on.py)."""
    noise = window_of(trace("bursts", "active")) if name == "bursts" else SYNTHETIC["quiet"]
    generator = np.random.default_rng(1)
    alarms = [is_alarm(noise(generator, 40), int(generator.integers(8, 21)), ALPHA) for _ in range(WEIGHINGS)]
    assert np.mean(alarms) <= MOST


@pytest.mark.parametrize("effect", order.EFFECTS.values())
def test_false_alarms_where_the_order_makes_a_difference(effect: order.Effect) -> None:
    generator = np.random.default_rng(2)
    alarms = [order.is_rejected(*order.dealt(generator, noise, effect, 40, 0.0), [ALPHA])[0] for noise in SIX_EACH]
    assert np.mean(alarms) <= MOST


def test_an_effect_of_the_order_costs_few_pairs() -> None:
    generator = np.random.default_rng(3)
    drawn = [order.dealt(generator, SYNTHETIC["quiet"], order.two_percent, 150, 0.01) for _ in range(WEIGHINGS)]
    ended = [order.judged(*one) for one in drawn]
    assert np.mean([one.verdict == "slower" for one in ended]) >= 0.95
    assert np.median([one.look.pairs for one in ended]) <= 50  # 82 if the effect is not removed


@pytest.mark.parametrize("metric", ["cpu", "active"])
def test_one_percent_slower_is_found_under_bursts_in_few_pairs(metric: str) -> None:
    tally = on_trace("bursts", metric, 0.01)
    assert tally.share("slower") >= 0.95
    assert tally.median_pairs <= 30


@pytest.mark.parametrize("metric", ["cpu", "active"])
@pytest.mark.parametrize("name", TRACE_NAMES)
def test_half_a_percent_is_found_with_a_margin_of_a_fifth(name: str, metric: str) -> None:
    assert on_trace(name, metric, 0.005, margin=0.002, pairs=200, weighings=WEIGHINGS // 2).share("slower") >= 0.9


@pytest.mark.parametrize("change", [0.0, 0.01, 0.10])
def test_the_interval_covers_the_truth_at_the_stopping_look(change: float) -> None:
    for name in TRACE_NAMES:
        tally = on_trace(name, "active", change, alpha=ALPHA, pairs=40, roughly=False)
        assert tally.coverage >= 1 - MOST
        assert change or tally.share(*WRONG) <= MOST


@pytest.mark.parametrize("noise", SYNTHETIC.values(), ids=SYNTHETIC.keys())
def test_false_alarms_on_every_kind_of_noise(noise: Noise) -> None:
    assert false_alarms(noise) <= MOST


@pytest.mark.parametrize("tick", [0.08, 0.01, 0.001])
def test_ticks_cost_no_false_alarms_and_no_wrong_same(tick: float) -> None:
    assert false_alarms(SYNTHETIC["quiet"], tick) <= MOST
    changed = simulate(SYNTHETIC["quiet"], 0.01, alpha=ALPHA, pairs=20, tick=tick, weighings=WEIGHINGS // 2)
    assert changed.share("same", "faster") <= MOST
    assert changed.coverage >= 1 - MOST


def test_a_side_that_is_disturbed_more_is_not_the_procedure_s_doing() -> None:
    """The tests above can fail: without the random order, drift within a pair is a false alarm."""

    def always_first(generator, pairs):  # type: ignore[no-untyped-def]
        values = SYNTHETIC["quiet"](generator, pairs)
        values[:, 1] *= 1.01  # whatever runs second finds the caches cold
        return values

    assert false_alarms(always_first) > 0.9


def test_an_order_that_costs_and_noise_that_remembers_are_no_change() -> None:
    """Noise is AR(1) with 0.9, and the second launch of a pair is 2 % slower: that is what the coin is for."""

    def remembering(generator, pairs):  # type: ignore[no-untyped-def]
        noise = 0.01 * generator.standard_normal(2 * pairs)
        for launch in range(1, 2 * pairs):
            noise[launch] = 0.9 * noise[launch - 1] + (1 - 0.9**2) ** 0.5 * noise[launch]
        in_order = np.exp(noise.reshape(-1, 2)) * [1.0, 1.02]
        return np.where(generator.random((pairs, 1)) < 0.5, in_order[:, ::-1], in_order)

    assert false_alarms(remembering) <= MOST
