from __future__ import annotations

from steelyard.machine.pressure import wait_until_quiet


class Busy:
    """A machine on which tasks wait for a processor during its first `busy_steps` sleeps."""

    def __init__(self, busy_steps: int) -> None:
        self.now, self.busy_steps, self.waited = 0.0, busy_steps, 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        if self.busy_steps > 0:
            self.busy_steps -= 1
            self.waited += seconds

    def wait(self, most_s: float) -> float:
        return wait_until_quiet(most_s, read=lambda: self.waited, sleep=self.sleep, clock=lambda: self.now)


def test_it_goes_on_as_soon_as_the_machine_is_quiet() -> None:
    assert 0.5 < Busy(busy_steps=5).wait(60) < 0.7


def test_it_gives_up_at_its_bound() -> None:
    assert 1.8 < Busy(busy_steps=10**6).wait(2.0) <= 2.0


def test_a_quiet_machine_costs_one_step() -> None:
    assert Busy(busy_steps=0).wait(60) < 0.15


def test_a_machine_that_does_not_tell_is_not_waited_for() -> None:
    assert wait_until_quiet(60, read=lambda: None, sleep=lambda _: None, clock=lambda: 0.0) == 0
