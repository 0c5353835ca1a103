"""Several counters side by side: each task runs once, anybody can end them, nothing is left."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import psutil
import pytest

from steelyard.design.runner import pool as workers
from steelyard.design.runner.pool import WorkerPool
from steelyard.design.runner.runner import Runner
from steelyard.design.runner.target import Target
from steelyard.measure import launch as launching
from steelyard.measure.count.counter import Counted, Counter
from steelyard.measure.count.valgrind import Valgrind
from steelyard.measure.launch import Launcher
from steelyard.model.counting import CountSettings
from steelyard.model.errors import MeasurementError, UsageError
from steelyard.model.launch_spec import LaunchSpec
from tests.c_programs import need_valgrind
from tests.design.scripted import PLAIN
from tests.tool import name_of, wait_until

pytestmark = pytest.mark.real

COUNTED = Counted({"Ir": 1}, [], [], 0, PLAIN, 0.0)
SLEEP = LaunchSpec(b"/bin/sleep", (b"sleep", b"600"), (b"PATH=/bin",))


def pool(jobs: int = 2) -> WorkerPool:
    return WorkerPool(Launcher, jobs)


def asleep(runner: Runner) -> Counted:
    return replace(COUNTED, measured=runner.run(SLEEP))


def is_asleep() -> bool:
    children = psutil.Process(os.getpid()).children(recursive=True)
    return any(name_of(child) == "sleep" for child in children)


def after(condition: Callable[[], bool], action: Callable[[], None]) -> threading.Thread:
    def run() -> None:
        wait_until(condition, "it is time")
        action()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_every_task_is_done_once_whatever_the_number_of_counters() -> None:
    def numbered(number: int) -> Callable[[Runner], Counted]:
        return lambda _: replace(COUNTED, seconds=number)

    for jobs in (1, 3):
        with pool(jobs) as counting:
            found = dict(counting.do_all([numbered(n) for n in range(20)]))
        assert {number: counted.seconds for number, counted in found.items()} == {n: n for n in range(20)}


def test_no_two_tasks_share_a_counter() -> None:
    used: list[Runner] = []
    busy: set[int] = set()

    def task(runner: Runner) -> Counted:
        assert id(runner) not in busy
        busy.add(id(runner))
        time.sleep(0.01)
        busy.remove(id(runner))
        used.append(runner)
        return COUNTED

    with pool(2) as counting:
        assert len(list(counting.do_all([task] * 10))) == 10
    assert len({id(runner) for runner in used}) == 2


def test_a_cancel_ends_what_is_under_way_and_begins_nothing_more() -> None:
    with pool(2) as counting:
        thread = after(is_asleep, counting.cancel)
        assert list(counting.do_all([asleep] * 5)) == []
        thread.join()
        assert not is_asleep()
        assert list(counting.do_all([lambda _: COUNTED])) == []


def test_a_cancel_between_two_launches_of_a_task_is_not_lost() -> None:
    with pool(1) as counting:

        def task(runner: Runner) -> Counted:
            counting._cancelled = True  # as after a cancel that came too late for the launch before
            return asleep(runner)

        assert list(counting.do_all([task])) == []


@pytest.mark.parametrize("error", [MeasurementError("one"), UsageError("two"), OSError("three")])
def test_the_first_error_ends_all_others(error: Exception) -> None:
    def fails(_: Runner) -> Counted:
        wait_until(is_asleep, "the other one sleeps")
        raise error

    with pool(2) as counting, pytest.raises(type(error), match=str(error)):
        list(counting.do_all([asleep, fails, asleep]))
    assert not is_asleep()


def test_somebody_is_told_while_nothing_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_LONGEST_WAIT_S", 0.001)
    monkeypatch.setattr(launching, "_POLL_MS", 1)
    told = [threading.Event(), threading.Event()]

    def task(runner: Runner) -> Counted:
        launcher = runner.launcher
        assert isinstance(launcher, Launcher)

        def waiting(_: float) -> None:
            told[1].set()
            launcher.cancel()

        launcher.waiting = waiting
        runner.launcher.launch(SLEEP)
        assert told[0].wait(60)
        return COUNTED

    with pool(1) as counting:
        counting.waiting = told[0].set
        assert list(counting.do_all([task])) == [(0, COUNTED)]
    assert told[1].is_set()


def test_who_stops_listening_ends_it_too() -> None:
    def quick(_: Runner) -> Counted:
        wait_until(is_asleep, "the other one sleeps")
        return COUNTED

    with pool(2) as counting:
        found = counting.do_all([asleep, quick, asleep])
        assert next(found)[0] == 1
        found.close()
        assert not is_asleep()


def test_real_counts_side_by_side_are_those_of_one_alone() -> None:
    need_valgrind()
    spec = LaunchSpec(b"/bin/true", (b"true",), (b"PATH=/bin",))
    counter = Counter(Valgrind.found(), CountSettings())

    def count(runner: Runner) -> Counted:
        return runner.launch(Target("true", spec), counter, lambda reading: reading.value)

    found = []
    for jobs in (1, 2):
        with WorkerPool(Launcher, jobs) as counting:
            found += [counted.events for _, counted in counting.do_all([count] * 2)]
    assert len(found) == 4
    assert found.count(found[0]) == 4
