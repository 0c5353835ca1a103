from __future__ import annotations

import signal

import pytest

from steelyard.design.runner.running_clock import RunningClock
from tests.loaded import weighing_in
from tests.world import ScriptedWorld, alike, at_launch


def test_it_stands_still_with_the_process_since_it_was_looked_at_last() -> None:
    now_s, before = 100.0, signal.getsignal(signal.SIGCONT)
    with RunningClock(lambda: now_s) as clock:
        now_s = 101.0
        assert clock() == 101
        now_s = 161.0
        signal.raise_signal(signal.SIGCONT)
        now_s = 163.0
        assert clock() == 103
    assert signal.getsignal(signal.SIGCONT) == before


def test_one_within_another_stands_still_with_it_and_no_longer() -> None:
    now_s = 100.0
    with RunningClock(lambda: now_s) as outer, RunningClock(outer) as inner:
        now_s = 101.0
        assert inner() == 101
        now_s = 161.0
        signal.raise_signal(signal.SIGCONT)
        now_s = 163.0
        assert (inner(), outer()) == (103, 103)


def test_a_stop_takes_nothing_of_the_budget(scripted: ScriptedWorld) -> None:
    def stop() -> None:
        scripted.seconds += 1000
        signal.raise_signal(signal.SIGCONT)

    scripted.script = at_launch(9, stop, alike)
    done = scripted("compare", "./old", "./old", "--max-time", "20", "-o", "record.json")
    record = weighing_in("record.json")
    assert (done.status, record.stop) == (0, ["decided"])
    assert record.seconds < 20


@pytest.mark.parametrize("words", [("check", "./old"), ("doctor", "--measure")], ids=["check", "doctor"])
def test_a_stop_takes_nothing_of_what_has_its_own_time(scripted: ScriptedWorld, words: tuple[str, ...]) -> None:
    def stop() -> None:
        scripted.seconds += 1000
        signal.raise_signal(signal.SIGCONT)

    scripted.script = at_launch(60, stop, alike)
    assert scripted(*words).status in (0, 1)
    assert scripted.launches > 100
