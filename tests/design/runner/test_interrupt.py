from __future__ import annotations

import signal
import threading
import time

import pytest

from steelyard.design.runner.interrupt import Interrupt


def test_the_first_signal_asks_and_cancels_and_the_second_insists() -> None:
    cancelled: list[bool] = []
    now_s = 100.0
    with Interrupt([lambda: cancelled.append(True)] * 2, lambda: now_s) as interrupt:
        assert not interrupt.is_requested()
        signal.raise_signal(signal.SIGTERM)
        assert interrupt.is_requested()
        now_s = 100.2
        signal.raise_signal(signal.SIGINT)  # a wrapper's copy of the first signal
        now_s = 100.35
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert cancelled == [True, True], "each of them once"


def test_what_is_around_it_hears_of_the_signal_at_its_end() -> None:
    cancelled: list[bool] = []
    with Interrupt([lambda: cancelled.append(True)], time.monotonic) as outer:
        with Interrupt((), time.monotonic):
            pass
        assert not outer.is_requested()
        with Interrupt((), time.monotonic):
            signal.raise_signal(signal.SIGTERM)
            assert not outer.is_requested()
        assert outer.is_requested()
    assert cancelled == [True]


def test_what_was_ignored_stays_ignored_and_what_was_there_comes_back() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Interrupt([lambda: pytest.fail("cancelled")], time.monotonic) as interrupt:
            signal.raise_signal(signal.SIGHUP)
            assert not interrupt.is_requested()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGHUP, before)


def test_what_a_host_of_python_does_at_a_signal_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python knows of a handler that is not its own only that there is one, and cannot restore it."""
    before = signal.getsignal(signal.SIGINT)
    with monkeypatch.context() as patch:
        patch.setattr(signal, "getsignal", lambda number: None if number == signal.SIGTERM else before)
        asked: list[signal.Signals] = []
        patch.setattr(signal, "signal", lambda number, _: asked.append(number))
        with Interrupt((), time.monotonic):
            pass
    assert asked == [signal.SIGINT, signal.SIGHUP, signal.SIGINT, signal.SIGHUP]


def test_on_another_thread_no_signal_is_taken_and_nothing_is_in_the_way() -> None:
    seen: list[object] = []

    def enter() -> None:
        with Interrupt((), time.monotonic):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]
