"""Commands that are not measured: they run to their end, or are killed with all that they started if they hang."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from steelyard.measure import tools
from steelyard.measure.tools import Command, Ended, run, run_all
from steelyard.model.errors import InterruptedBeforeStart, MeasurementError
from tests.tool import wait_until

pytestmark = pytest.mark.real

_FOR_EVER = "while :; do sleep 1; done"


def shell(folder: Path, text: str, log: str | None = None, timeout_s: float | None = None) -> Command:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    return Command(["sh", "-c", text], folder, environment, folder / log if log else None, timeout_s)


def started_in(folder: Path) -> list[str]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("HOME") == str(folder) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(process.cmdline()))
        except psutil.Error:
            continue
    return found


def test_what_it_prints_and_how_it_ends(tmp_path: Path) -> None:
    assert run(shell(tmp_path, "pwd; echo oops >&2; exit 3")) == Ended(3, f"{tmp_path}\n", "oops\n")
    assert run(shell(tmp_path, "kill -9 $$")).status == -9


def test_it_finds_no_input_and_the_environment_that_is_given(tmp_path: Path) -> None:
    assert run(shell(tmp_path, "cat; env | grep -c STEELYARD")).out == "0\n"


def test_both_outputs_go_to_the_log(tmp_path: Path) -> None:
    assert run(shell(tmp_path, "echo a; echo b >&2", "log")).out == ""
    assert (tmp_path / "log").read_text() == "a\nb\n"


def test_of_independent_commands_only_one_that_is_late_ends_the_others(tmp_path: Path) -> None:
    failing, slow = shell(tmp_path, "exit 3"), shell(tmp_path, "sleep 0.1; echo done")
    assert [(one.status, one.out) for one in run_all([failing, slow], are_independent=True)] == [(3, ""), (0, "done\n")]
    late = shell(tmp_path, _FOR_EVER, timeout_s=0.1)
    ended = run_all([late, shell(tmp_path, _FOR_EVER)], are_independent=True)
    assert [(one.status, one.is_late) for one in ended] == [(None, True), (None, False)]


def test_commands_run_side_by_side(tmp_path: Path) -> None:
    meet = "mkfifo mine; : > mine"
    wait = "until [ -p mine ]; do :; done; cat mine"
    assert [ended.status for ended in run_all([shell(tmp_path, wait), shell(tmp_path, meet)])] == [0, 0]


def test_one_that_fails_cuts_the_others_short(tmp_path: Path) -> None:
    failed, other = run_all([shell(tmp_path, "exit 2"), shell(tmp_path, _FOR_EVER)])
    assert (failed.status, other.status, other.is_late) == (2, None, False)
    wait_until(lambda: not started_in(tmp_path), "all that was started has gone")


def test_one_that_fails_or_takes_too_long_is_noticed_while_those_before_it_go_on(tmp_path: Path) -> None:
    other, failed = run_all([shell(tmp_path, _FOR_EVER), shell(tmp_path, "exit 2")])
    assert (failed.status, other.status) == (2, None)
    other, late = run_all([shell(tmp_path, _FOR_EVER), shell(tmp_path, "sleep 60", timeout_s=0.1)])
    assert (late.is_late, other.is_late, other.status) == (True, False, None)


def test_one_that_takes_too_long_is_killed_with_what_it_started(tmp_path: Path) -> None:
    ended = run(shell(tmp_path, f"({_FOR_EVER}) & {_FOR_EVER}", timeout_s=0.05))
    assert (ended.status, ended.is_late) == (None, True)
    wait_until(lambda: not started_in(tmp_path), "all that was started has gone")


@pytest.mark.parametrize("hidden", ["", "setsid "])
def test_nothing_outlives_a_build(tmp_path: Path, hidden: str) -> None:
    command = shell(tmp_path, f"{hidden}sh -c '{_FOR_EVER}' & echo begun")
    assert run_all([command], is_tidied=True)[0].status == 0
    wait_until(lambda: not started_in(tmp_path), "all that was started has gone")


def test_children_that_were_there_before_stay(tmp_path: Path) -> None:
    ours = psutil.Popen(["sleep", "60"])
    try:
        run_all([shell(tmp_path, "true")], is_tidied=True)
        assert ours.is_running()
        assert ours.status() != psutil.STATUS_ZOMBIE
    finally:
        ours.kill()
        ours.wait()


def test_children_of_other_threads_stay(tmp_path: Path) -> None:
    found: list[psutil.Popen] = []

    def start() -> None:
        wait_until((tmp_path / "begun").exists, "it builds")
        found.append(psutil.Popen(["sleep", "60"]))
        (tmp_path / "started").touch()

    other = threading.Thread(target=start)
    other.start()
    try:
        run_all([shell(tmp_path, "touch begun; while [ ! -e started ]; do sleep 0.01; done")], is_tidied=True)
        assert found[0].is_running()
        assert found[0].status() != psutil.STATUS_ZOMBIE
    finally:
        other.join()
        found[0].kill()
        found[0].wait()


def test_ctrl_c_ends_all_of_it(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)

    def press() -> None:
        while not (tmp_path / "begun").exists():
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press).start()
    with pytest.raises(InterruptedBeforeStart):
        run_all([shell(tmp_path, f"touch begun; setsid sh -c '{_FOR_EVER}' & {_FOR_EVER}")], is_tidied=True)
    wait_until(lambda: not started_in(tmp_path), "all that was started has gone")
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_in_the_moment_in_which_it_ends_is_heard(tmp_path: Path) -> None:
    with pytest.raises(InterruptedBeforeStart):
        run(shell(tmp_path, f"kill -INT {os.getpid()}"))


def test_a_build_does_not_outlive_a_driver_that_is_killed(tmp_path: Path) -> None:
    program = f"""
from pathlib import Path
from steelyard.measure.tools import Command, run_all
here = Path({str(tmp_path)!r})
run_all([Command(["sh", "-c", "touch begun; {_FOR_EVER} & {_FOR_EVER}"], here, {{"HOME": str(here)}})], is_tidied=True)
"""
    driver = psutil.Popen([sys.executable, "-c", program])
    wait_until((tmp_path / "begun").exists, "it builds")
    driver.kill()
    driver.wait()
    wait_until(lambda: not started_in(tmp_path), "nothing of it is left")


def test_what_waits_for_all_its_children_waits_for_its_own_alone(tmp_path: Path) -> None:
    waits = "import os\ntry:\n    os.wait()\nexcept ChildProcessError:\n    print('none')"
    ended = run_all([Command([sys.executable, "-c", waits], tmp_path, {}, timeout_s=30)], is_tidied=True)[0]
    assert (ended.status, ended.out) == (0, "none\n")


def test_a_folder_that_cannot_be_entered_is_not_taken_for_a_program_that_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match=r"^sh does not start in \S+/missing \(No such .*.*this folder is there"):
        run(shell(tmp_path / "missing", "exit 0"))


def test_one_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match="missing does not start"):
        run(Command(["missing"], tmp_path, {}))


def test_what_a_host_of_python_does_at_a_signal_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(signal, "getsignal", lambda number: None if number == signal.SIGTERM else signal.SIG_DFL)
        asked: list[signal.Signals] = []
        patch.setattr(signal, "signal", lambda number, _: asked.append(number))
        with tools._interruptible():
            pass
    assert asked == [signal.SIGINT, signal.SIGHUP, signal.SIGINT, signal.SIGHUP]
