from __future__ import annotations

from steelyard.design.bisection.weighing import choice
from tests.report.records import verdict


def test_of_several_benchmarks_that_is_advised_which_changed_most() -> None:
    suite = [
        verdict(benchmark="same", verdict="same", change=0.001),
        verdict(benchmark="slow", verdict="slower", change=0.05),
        verdict(benchmark="slow too", verdict="slower", change=0.16),
        verdict(benchmark="fast", verdict="faster", change=-0.2),
        verdict(benchmark="open", verdict="undecided", change=0.3),
    ]
    assert choice(suite, "slower") == "--benchmark 'slow too', which is slower by most: +16.0 %"
    assert choice(suite, "faster") == "--benchmark fast, which is faster by most: -20.0 %"
    assert choice(suite[:1], "slower") == "--benchmark same"
