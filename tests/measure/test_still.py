"""The still clock in real programs: what it leaves out, and where it goes on as usual."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from steelyard.measure import still
from steelyard.measure.launch import Launcher
from steelyard.measure.still import StillUse, begin_account, check_kernel, standing_still, use_in
from steelyard.model.errors import MeasurementError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests import still_programs
from tests.c_programs import compiled

THREADED = "-pthread"
Timed = Callable[..., tuple[Measured, StillUse]]


@pytest.fixture
def timed(launcher: Launcher) -> Timed:
    """Run a command under the still clock, on processor `cpu` alone if given."""

    def timed(*words: str | Path, out: Path | None = None, cpu: int | None = None) -> tuple[Measured, StillUse]:
        argv = tuple(os.fsencode(word) for word in words)
        env = (b"PATH=" + os.fsencode(os.environ["PATH"]),)
        spec = LaunchSpec(
            argv[0],
            argv,
            env,
            stdout=None if out is None else os.fsencode(out),
            cpus=None if cpu is None else (cpu,),
            timeout_ns=60_000_000_000,
        )
        with standing_still(spec) as (launch, account):
            measured = launcher.launch(launch)
            use = use_in(account)
        assert not measured.has_failed(), measured
        assert use is not None
        return measured, use

    return timed


@pytest.fixture
def shared_cpu() -> Iterator[int]:
    """A processor on which another program works all the time."""
    cpu = min(os.sched_getaffinity(0))
    rival = os.posix_spawn("/bin/sh", ["sh", "-c", "while :; do :; done"], os.environ)
    try:
        os.sched_setaffinity(rival, {cpu})
        yield cpu
    finally:
        os.kill(rival, signal.SIGKILL)
        os.waitpid(rival, 0)


# --- what is left out


def test_a_program_that_shares_a_processor_sees_only_its_own_share(
    timed: Timed, tmp_path: Path, shared_cpu: int
) -> None:
    program, out = compiled(tmp_path, "works", still_programs.WORKS), tmp_path / "out"
    _, use = timed(program, "0.4", out=out, cpu=shared_cpu)
    told, elapsed, waited = map(float, out.read_text().split())
    assert waited > 0.1
    assert told == pytest.approx(elapsed - waited, abs=0.02)
    assert use.left_out_ns / 1e9 == pytest.approx(waited, abs=0.02)
    assert (use.programs, use.clocks, use.several, use.unknown) == (1, 1, 0, 0)


def test_a_child_goes_on_where_its_parent_was_and_is_counted_though_it_is_killed(timed: Timed, tmp_path: Path) -> None:
    _, use = timed(compiled(tmp_path, "forks", still_programs.FORKS))
    assert (use.programs, use.clocks, use.several) == (1, 2, 0)


def test_programs_that_it_starts_are_under_the_clock_too(timed: Timed) -> None:
    words = (
        "import subprocess, sys, time; time.monotonic(); subprocess.run([sys.executable, '-IS', '-c', sys.argv[1]])",
    )
    _, use = timed(sys.executable, "-IS", "-c", *words, "import time; time.perf_counter()")
    assert (use.programs, use.clocks, use.several) == (2, 2, 0)


# --- what it must bear


@pytest.mark.parametrize("name", ["THREADS", "DEADLINES", "CLOSES", "SIGNALS"])
def test_it_is_a_clock_whatever_a_program_does(timed: Timed, tmp_path: Path, name: str, shared_cpu: int) -> None:
    program = compiled(tmp_path, name.lower(), getattr(still_programs, name), THREADED)
    _, use = timed(program, cpu=shared_cpu)
    assert use.deadlines == (4 if name == "DEADLINES" else 0)
    assert (use.clocks, use.several) == (1, name == "THREADS")


def test_without_the_kernels_help_it_asks_at_every_question(timed: Timed, tmp_path: Path) -> None:
    program, out = compiled(tmp_path, "works", still_programs.WORKS), tmp_path / "out"
    _, use = timed("/usr/bin/env", "GLIBC_TUNABLES=glibc.pthread.rseq=0", program, "0.1", out=out)
    told, elapsed, waited = map(float, out.read_text().split())
    assert told == pytest.approx(elapsed - waited, abs=0.02)
    assert use.slow == 1


@pytest.mark.parametrize("words", [(), ("-static",)])
def test_who_does_not_ask_has_no_clock(timed: Timed, tmp_path: Path, words: tuple[str, ...]) -> None:
    _, use = timed(compiled(tmp_path, "silent", still_programs.SILENT, *words))
    assert (use.programs, use.clocks) == (0 if words else 1, 0)


# --- where no clock can stand still


@pytest.mark.parametrize("text", [None, "", "0 0 0\n", "what is this\n"])
def test_a_kernel_that_does_not_tell_is_refused(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "schedstat"
    if text is not None:
        file.write_text(text)
    with pytest.raises(MeasurementError, match="does not tell how long a process waits"):
        check_kernel(file)


def test_a_missing_library_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(still, "CLOCK", tmp_path / "steelyard-clock.so")
    assert not still.can_stand_still(Path(sys.executable))
    with pytest.raises(MeasurementError, match="reinstall steelyard"), standing_still(LaunchSpec(b"a", (b"a",), ())):
        pass


def test_no_folder_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    said = pytest.raises(MeasurementError, match=r"temporary files cannot be used \(No such file.*TMPDIR")
    with said, standing_still(LaunchSpec(b"/bin/true", (b"true",), ())):
        pass


@pytest.mark.parametrize("folder", ["a b", "a:b"])
def test_a_library_that_the_loader_would_not_find_cannot_be_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: str
) -> None:
    library = tmp_path / folder / "steelyard-clock.so"
    library.parent.mkdir()
    library.touch()
    monkeypatch.setattr(still, "CLOCK", library)
    assert not still.can_stand_still(Path(sys.executable))


@pytest.mark.real
def test_only_what_can_be_reached_can_stand_still(tmp_path: Path) -> None:
    assert still.can_stand_still(Path(sys.executable))
    assert not still.can_stand_still(compiled(tmp_path, "static", still_programs.SILENT, "-static"))


@pytest.mark.real
def test_a_program_of_musl_is_left_alone(tmp_path: Path) -> None:
    program = compiled(tmp_path, "musl", still_programs.SILENT, "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1")
    spec = LaunchSpec(os.fsencode(program), (b"musl",), (b"A=1",))
    with standing_still(spec) as (launch, _):
        assert launch == spec


def test_an_account_is_of_one_launch_and_none_where_it_was_spoilt(tmp_path: Path) -> None:
    account = tmp_path / "account"
    begin_account(account)
    with account.open("r+b") as of_one_before:
        begin_account(account)
        of_one_before.write(b"spoilt")
    assert use_in(account) == StillUse(0, 0, 0, 0, 0, 0, 0)
    with account.open("r+b") as of_this_one:
        of_this_one.write(b"spoilt")
    assert use_in(account) is None
    account.unlink()
    assert use_in(account) is None
    os.mkfifo(account)
    assert use_in(account) is None, "and is not waited for"
