from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path

import pytest
from benchmarks.processes import ROOT, cpu_of_targets, peer, run, stoppable, with_own_store


@pytest.mark.real
def test_cpu_is_that_of_the_process_and_of_what_it_waited_for() -> None:
    spin = "import time\nwhile time.process_time() < 0.2: pass"
    below = f"import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', {spin!r}], check=True)"
    ended = run([sys.executable, "-S", "-c", below], os.environ)
    assert ended.cpu_s >= 0.2
    assert ended.seconds > 0


@pytest.mark.real
def test_an_exit_status_that_is_accepted_is_returned_and_another_ends_the_benchmark_with_its_last_words() -> None:
    command = ["/bin/sh", "-c", "echo no scales >&2; exit 4"]
    assert run(command, os.environ, accept=(0, 4)).status == 4
    with pytest.raises(SystemExit, match="status 4: no scales"):
        run(command, os.environ)


def test_cpu_of_targets_is_all_user_and_system_time() -> None:
    assert cpu_of_targets({"launches": {"user_ns": [500_000_000, 250_000_000], "sys_ns": [0, 250_000_000]}}) == 1.0


def test_a_peer_is_where_it_is_said_to_be_and_its_absence_says_how_to_get_it(tmp_path: Path) -> None:
    program = tmp_path / "hyperfine"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert peer("hyperfine", str(program)) == str(program)
    with pytest.raises(SystemExit, match="pip install pyperf"):
        peer("pyperf", str(tmp_path / "absent"))


def test_records_of_a_benchmark_stay_off_the_store_of_the_user(tmp_path: Path) -> None:
    assert with_own_store(tmp_path) == {**os.environ, "XDG_STATE_HOME": str(tmp_path)}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_benchmark_can_be_stopped_and_goes_on_to_its_end(number: signal.Signals) -> None:
    before = signal.getsignal(signal.SIGTERM)
    reached = False
    with stoppable():
        os.kill(os.getpid(), number)
        signal.sigtimedwait([], 0.1)
        reached = True
    assert not reached
    assert signal.getsignal(signal.SIGTERM) == before


# Commands that keep a record in the user's store, from which the oldest records are then removed.
_KEEPING = re.compile(r'(?:STEELYARD\)?|\*steelyard), "(?:compare|run|count|bisect|timeit|import)"')


@pytest.mark.parametrize("file", sorted((ROOT / "benchmarks").glob("*.py")), ids=lambda file: file.stem)
def test_none_keeps_its_records_on_the_user_s_own_store(file: Path) -> None:
    text = file.read_text()
    assert not _KEEPING.search(text) or re.search(r"with_own_store\(|XDG_STATE_HOME", text)
    assert "gettempdir()" not in text


@pytest.mark.parametrize("file", sorted((ROOT / "benchmarks").glob("*.py")), ids=lambda file: file.stem)
def test_each_that_is_run_answers_what_it_is_asked(file: Path) -> None:
    text = file.read_text()
    is_run = re.search(rf"^ *python benchmarks/{file.name}(?! +until)", text, re.M)
    assert not is_run or "ArgumentParser(" in text or "whole_numbers(" in text
