"""The launch server itself: its end, and the end of what it runs."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil
import pytest

from steelyard.measure import launch
from steelyard.measure.launch import Launcher
from steelyard.model.errors import LaunchError, MeasurementError
from tests.measure.launching import SLEEPER, alarm, sh
from tests.tool import name_of


@dataclass
class Watched:
    """A launcher with its server, and the targets that were seen."""

    launcher: Launcher
    server: psutil.Process
    targets: list[psutil.Process] = field(default_factory=list)

    @contextmanager
    def once_it_sleeps(self, action: Callable[[], object]) -> Iterator[None]:
        """Call `action` in a signal handler, as soon as the server has a target."""
        looking = False

        # On a busy machine the next signal may come before a look has ended, interrupt it, and act first.
        def look() -> None:
            nonlocal looking
            if looking or self.targets:
                return
            looking = True
            if found := self.server.children():
                self.targets.extend(found)
                action()
            looking = False

        with alarm(0.02, look, again=0.02):
            yield

    def kill(self) -> None:
        self.server.kill()
        psutil.wait_procs([self.server, *self.targets])


def servers() -> set[psutil.Process]:
    """Return the processes that serve; each is the child of a process that guards it."""
    guards = {child for child in psutil.Process().children() if name_of(child) == "steelyard-launch"}
    return {server for guard in guards for server in guard.children()}


@pytest.fixture
def watched() -> Iterator[Watched]:
    before = servers()
    with Launcher() as launcher:
        (server,) = servers() - before
        yield Watched(launcher, server)


def test_the_server_ends_with_its_launcher(watched: Watched) -> None:
    watched.launcher.close()
    assert not watched.server.is_running()


def test_a_server_that_is_killed_while_it_waits_is_an_error(watched: Watched) -> None:
    with watched.once_it_sleeps(watched.kill), pytest.raises(MeasurementError, match="ended unexpectedly"):
        watched.launcher.launch(SLEEPER)
    with pytest.raises(MeasurementError, match="ended unexpectedly"):
        watched.launcher.launch(sh(b"exit 0"))


def test_a_cancel_that_finds_its_server_dead_is_no_error_of_its_own(watched: Watched) -> None:
    def kill_and_cancel() -> None:
        watched.kill()
        watched.launcher.cancel()

    with watched.once_it_sleeps(kill_and_cancel), pytest.raises(MeasurementError, match="ended unexpectedly"):
        watched.launcher.launch(SLEEPER)
    watched.launcher.cancel()
    with pytest.raises(MeasurementError, match="ended unexpectedly"):
        watched.launcher.launch(sh(b"exit 0"))


def test_an_exception_in_the_middle_of_a_launch_leaves_no_process(watched: Watched) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with watched.once_it_sleeps(interrupt), pytest.raises(KeyboardInterrupt):
        watched.launcher.launch(SLEEPER)
    watched.launcher.close()
    assert not watched.server.is_running()
    assert watched.targets
    assert not any(target.is_running() for target in watched.targets)


def test_what_came_of_a_launch_that_was_given_up_is_never_told_of_the_next(watched: Watched) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with watched.once_it_sleeps(interrupt), pytest.raises(KeyboardInterrupt):
        watched.launcher.launch(sh(b"sleep 0.3; exit 3"))
    with pytest.raises(MeasurementError, match="ended unexpectedly"):
        watched.launcher.launch(sh(b"exit 0"))


def test_a_server_that_is_stopped_with_its_guard_is_an_error_and_leaves_nothing(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "_MOST_POLLS_STOPPED", 1)
    guard = watched.server.parent()
    assert guard is not None

    def stop() -> None:
        for process in (guard, watched.server):
            process.suspend()

    with watched.once_it_sleeps(stop), pytest.raises(MeasurementError, match="was stopped by a signal"):
        watched.launcher.launch(replace(SLEEPER, timeout_ns=None))
    watched.launcher.close()
    assert not psutil.wait_procs([guard, watched.server, *watched.targets], timeout=10)[1]


def test_a_launch_that_lasts_is_waited_for_and_told_of_in_seconds(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "_POLL_MS", 2)
    told: list[float] = []
    measured = watched.launcher.launch(sh(b"sleep 0.1; exit 3"), told.append)
    assert measured.exit_code == 3
    assert len(told) > launch._MOST_POLLS_STOPPED
    assert told[:2] == [0.002, 0.004]


def test_a_server_that_does_not_answer_in_time_is_an_error(
    script: Callable[[str, int], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "_MOST_POLLS_LATE", 1)
    server = Path(os.fsdecode(script("#!/bin/sh\necho '{}' >&0; exec cat > /dev/null\n", 0o755)))
    with Launcher(server) as launcher, pytest.raises(MeasurementError, match="does not answer"):
        launcher.launch(replace(SLEEPER, timeout_ns=1))


def said_of(error: str, script: Callable[[str, int], bytes]) -> pytest.ExceptionInfo[MeasurementError]:
    """Return what a launch raises if the server answers with this error."""
    said = f"echo '{{}}' >&0; read request <&0; echo '{{\"error\": {error}}}' >&0; exec cat > /dev/null"
    server = Path(os.fsdecode(script(f"#!/bin/sh\n{said}\n", 0o755)))
    with Launcher(server) as launcher, pytest.raises(MeasurementError) as raised:
        launcher.launch(SLEEPER)
    return raised


def test_a_server_that_may_have_one_processor_says_so() -> None:
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        with Launcher() as confined:
            assert confined.offers["several_processors"] is False
    finally:
        os.sched_setaffinity(0, allowed)
    with Launcher() as usual:
        assert usual.offers["several_processors"] is (len(allowed) > 1)


def test_a_filter_that_refuses_processors_is_named_and_ends_no_more_than_tandem(
    script: Callable[[str, int], bytes],
) -> None:
    error = '{"stage": "affinity", "errno": 1, "message": "cannot run on CPUs [0]: Operation not permitted"}'
    raised = said_of(error, script)
    assert type(raised.value) is LaunchError
    assert "Operation not permitted: where a filter refuses sched_setaffinity, allow it" in str(raised.value)


def test_a_target_that_could_not_be_killed_is_said_to_go_on(script: Callable[[str, int], bytes]) -> None:
    error = '{"stage": "kill", "errno": 1, "message": "cannot kill process 7: Operation not permitted (os error 1)"}'
    raised = said_of(error, script)
    assert str(raised.value) == (
        "cannot kill process 7: Operation not permitted: it runs with another's rights, and goes on; end it by hand"
    )


@pytest.mark.parametrize("server", ["/no/where/steelyard-launch", "/etc/passwd", "/"])
def test_a_server_that_does_not_start_is_named(server: str) -> None:
    with pytest.raises(MeasurementError, match=f"{server} does not start .*; reinstall steelyard"):
        Launcher(Path(server))
    gc.collect()  # whatever was left open would cause a warning now


def test_a_system_without_dev_null_is_no_fault_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "devnull", "/no/where/null")
    with pytest.raises(MeasurementError, match=r"/no/where/null cannot be opened .*: have a /dev mounted"):
        Launcher()
    gc.collect()


@pytest.mark.parametrize("says", ["", "echo hello >&0"])
def test_a_server_that_is_none_is_an_error(script: Callable[[str, int], bytes], says: str) -> None:
    server = Path(os.fsdecode(script(f"#!/bin/sh\n{says}\n", 0o755)))
    with pytest.raises(
        MeasurementError, match=r"does not start, for the reason above.*a system call is refused, allow it"
    ):
        Launcher(server)
    gc.collect()
