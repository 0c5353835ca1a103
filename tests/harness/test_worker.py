"""Samples: what they include, and what is around them."""

from __future__ import annotations

import gc
import hashlib
import os
import resource
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from steelyard.harness import worker
from steelyard.harness.loop import Text
from steelyard.harness.worker import Work, samples_of
from tests.harness.conftest import Clock


def work(body: Any, **more: Any) -> Work:
    return Work(Text("body()", names=["body"]), (body,), **more)


def test_the_time_is_that_of_the_iterations_alone(clock: Clock) -> None:
    text = Text("go(7)", "go(1_000)", names=["go"])
    found = samples_of(Work(text, (clock.go,), draw=lambda: clock.go(100)), loops=20, samples=3)
    assert [(sample.loops, sample.ns) for sample in found] == [(20, 140)] * 3


@pytest.mark.usefixtures("clock")
def test_a_time_is_never_nothing() -> None:
    assert samples_of(work(int), 1, 1)[0].ns == 1


def test_clocks_that_a_test_has_stand_still_are_not_those_of_its_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("perf_counter_ns", "thread_time_ns", "process_time_ns"):
        monkeypatch.setattr(time, name, lambda: 5)
    (sample,) = samples_of(work(lambda: sum(range(100_000))), 1, 1)
    assert sample.ns > 1
    assert sample.cpu_ns


def test_the_time_on_the_processor_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker.clocks, "process_time_ns", time.thread_time_ns)  # the test process has other threads

    def busy() -> None:
        until = time.thread_time_ns() + 300_000  # less than a tick of the kernel's clock
        while time.thread_time_ns() < until:
            pass

    for sample in samples_of(work(busy), 2, 5):
        assert sample.cpu_ns is not None
        assert sample.cpu_ns >= 600_000
        assert sample.delay_ns is not None
        assert sample.delay_ns >= 0


@pytest.mark.usefixtures("clock")
def test_without_the_scheduler_s_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_SCHEDSTAT", "/nowhere")
    sample = samples_of(work(int), 1, 1)[0]
    assert (sample.cpu_ns, sample.delay_ns) == (0, None)


def test_a_process_that_was_just_forked_has_not_worked_yet_and_tells_its_waits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "schedstat").write_text("0 13000 1\n")
    monkeypatch.setattr(worker, "_SCHEDSTAT", str(tmp_path / "schedstat"))
    assert samples_of(work(int), 1, 1)[0].delay_ns == 0


def test_a_scheduler_that_keeps_no_numbers(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "schedstat").write_text("0 0 0\n")
    monkeypatch.setattr(worker, "_SCHEDSTAT", str(tmp_path / "schedstat"))
    assert samples_of(work(int), 1, 1)[0].delay_ns is None


def test_other_threads_leave_the_numbers_out() -> None:
    def busy() -> None:
        until = time.thread_time_ns() + 20_000_000
        while time.thread_time_ns() < until:
            pass

    def in_a_thread() -> None:
        thread = threading.Thread(target=busy)
        thread.start()
        thread.join()

    sample = samples_of(work(in_a_thread), 1, 1)[0]
    assert (sample.cpu_ns, sample.delay_ns) == (None, None)


def test_threads_that_are_still_at_their_start_are_waited_for() -> None:
    """For example those of numpy's OpenBLAS, which are not part of what is measured."""
    starting = threading.Thread(target=hashlib.pbkdf2_hmac, args=("sha256", b"", b"", 20_000))
    starting.start()
    sample = samples_of(work(lambda: sum(range(50_000))), 10, 1)[0]
    starting.join()
    assert sample.cpu_ns is not None


@pytest.mark.parametrize(("elsewhere", "told"), [(999_999, True), (1_100_000, False)])
def test_a_little_work_elsewhere_is_nothing(clock: Clock, elsewhere: int, told: bool) -> None:
    def busy() -> None:
        clock.go(1_000_000)
        clock.elsewhere += elsewhere

    assert (samples_of(work(busy), 1, 1)[0].delay_ns is not None) == told


def test_the_garbage_collector_is_off_and_comes_back() -> None:
    on: list[bool] = []
    samples_of(work(lambda: on.append(gc.isenabled())), 1, 2)
    assert on == [False, False]
    assert gc.isenabled()


def test_the_garbage_collector_stays_on_where_that_is_wanted() -> None:
    on: list[bool] = []
    samples_of(work(lambda: on.append(gc.isenabled()), collect=True), 1, 2)
    assert on == [True, True]


def test_garbage_is_collected_before_the_first_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(gc, "collect", lambda: done.append("collected"))
    samples_of(work(lambda: done.append("body")), 1, 2)
    assert done == ["collected", "body", "body"]


def test_an_exception_comes_through_and_the_collector_comes_back() -> None:
    def bad() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        samples_of(work(bad), 1, 1)
    assert gc.isenabled()


def test_counting_begins_and_ends_around_each_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(worker, "counter", lambda: (lambda: done.append("begin"), lambda: done.append("end")))
    samples_of(work(lambda: done.append("body")), 2, 2)
    assert done == ["begin", "body", "body", "end"] * 2


@pytest.mark.usefixtures("clock")
def test_what_a_sample_waited_is_what_the_scheduler_tells_more_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    told = iter([b"1 2 3", b"10 40 100", b"20 45 200", b"30 60 300", b"40 60 400"])
    monkeypatch.setattr(os, "pread", lambda *_: next(told))
    assert [sample.delay_ns for sample in samples_of(work(int), 1, 2)] == [5, 0]


def test_no_file_is_left_open(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = len([*Path("/proc/self/fd").iterdir()])
    samples_of(work(int), 1, 1)
    (tmp_path / "schedstat").write_text("0 0 0\n")
    monkeypatch.setattr(worker, "_SCHEDSTAT", str(tmp_path / "schedstat"))
    samples_of(work(int), 1, 1)
    assert len([*Path("/proc/self/fd").iterdir()]) == before


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    ("user_s", "sys_s", "told"), [(0.002, 0.0, False), (0.0, 0.002, False), (0.0006, 0.0006, False), (4e-4, 4e-4, True)]
)
def test_the_work_of_children_leaves_the_numbers_out(
    user_s: float, sys_s: float, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = iter(
        [SimpleNamespace(ru_utime=1.0, ru_stime=2.0), SimpleNamespace(ru_utime=1.0 + user_s, ru_stime=2.0 + sys_s)]
    )
    monkeypatch.setattr(resource, "getrusage", lambda _: next(used))
    (sample,) = samples_of(work(int), 1, 1)
    assert (sample.cpu_ns is not None) is told
