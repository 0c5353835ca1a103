"""Ctrl-C and similar signals, at any moment: status 130, no traceback, no process left, nothing lost."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from contextlib import suppress

import psutil
import pytest

from steelyard.model.files import load
from tests.in_process import InProcess
from tests.loaded import weighing_in
from tests.tool import SOME_TIME, Done, Tool, announced, ended, name_of, sh, status_of, wait_until

# Six launches that end soon (a warm-up pair and two pairs), and a seventh that never ends.
STUCK = sh(f"{SOME_TIME}; echo x >> log; test $(wc -l < log) -lt 7 || exec sleep 600")
STUCK_WORDS = ("compare", STUCK, STUCK, "--json", "record.json", "--csv", "launches.csv")
# So small a margin and so large a budget that neither a verdict nor hopelessness can end the weighing early.
ENDLESS = ("--max-time", "1000000", "--margin", "0.05%", "--alpha", "1e-5")


def is_stuck(tool: Tool) -> bool:
    return "sleep 600" in tool.processes()


def servers(driver: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Return the launch server and the process that guards it."""
    return [child for child in psutil.Process(driver.pid).children(recursive=True) if "launch" in name_of(child)]


def check_ended_well(done: Done) -> None:
    assert done.status == 130
    assert b"Traceback" not in done.err
    assert b"Exception ignored" not in done.err
    assert done.err.count(b"\n") <= 1, done.err


# From before the first import until it measures, which takes 0.1 to 0.5 s, and longer on a busy machine.
MOMENTS = [0.0, 0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7]


@pytest.mark.parametrize(
    ("number", "moment"),
    [
        *[(signal.SIGINT, moment) for moment in MOMENTS],
        *[(signal.SIGTERM, moment) for moment in MOMENTS[::4]],
        *[(signal.SIGHUP, moment) for moment in MOMENTS[2::4]],
    ],
)
def test_an_interrupt_at_any_moment(tool: Tool, here: InProcess, number: signal.Signals, moment: float) -> None:
    with tool.started_afresh("compare", "true", "true", "--json", "record.json", *ENDLESS) as process:
        time.sleep(moment)
        process.send_signal(number)
        done = ended(process)
    check_ended_well(done)
    wait_until(lambda: not tool.processes(), "every process has gone")
    assert (tool.folder / "record.json").exists() == bool(tool.kept())
    if tool.kept():
        check_is_kept(tool, here, done)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_while_it_measures(tool: Tool, here: InProcess, number: signal.Signals) -> None:
    with tool.started("compare", "true", "true", "--json", "record.json", *ENDLESS) as process:
        # The journal has a first line, and then one per launch; for a moment it is empty.
        wait_until(lambda: any(kept.read_bytes().count(b"\n") > 4 for kept in tool.kept()), "some were measured")
        process.send_signal(number)
        done = ended(process)
    check_ended_well(done)
    wait_until(lambda: not tool.processes(), "every process has gone")
    check_is_kept(tool, here, done)


def check_is_kept(tool: Tool, here: InProcess, done: Done) -> None:
    """Check that what was measured is in the file that was asked for and in the store, and that `show` agrees."""
    record = weighing_in(tool.folder / "record.json")
    assert [record] == [weighing_in(kept) for kept in tool.kept()]
    assert record.stop == ["interrupted"]
    assert len(record.launches) > 0
    assert b"interrupted" in done.out
    shown = here("show")
    assert (shown.status, shown.out) == (0, done.out)


def test_the_launch_in_flight_is_cut_short_and_all_before_it_is_kept(tool: Tool) -> None:
    with tool.started(*STUCK_WORDS) as process:
        wait_until(lambda: is_stuck(tool), "the seventh launch")
        process.send_signal(signal.SIGINT)
        done = ended(process)
    check_ended_well(done)
    assert not tool.processes()
    assert b"interrupted" in done.out
    record = weighing_in(tool.folder / "record.json")
    assert record.stop == ["interrupted"]
    assert len(record.launches) == 6
    assert len(tool.lines("launches.csv")) == 7
    assert record == weighing_in(tool.kept()[0])


def test_a_weighing_that_was_interrupted_can_be_carried_on(tool: Tool, here: InProcess) -> None:
    with tool.started(*STUCK_WORDS, "--seed", "3", "--pairs", "12") as process:
        wait_until(lambda: is_stuck(tool), "the seventh launch")
        process.send_signal(signal.SIGTERM)
        check_ended_well(ended(process))
    begun = weighing_in(tool.folder / "record.json")
    (tool.folder / "log").unlink()
    (tool.folder / "log").symlink_to("/dev/null")  # so that no more lines are counted
    done = tool("compare", "--resume", "record.json", "--json", "whole.json")
    announced(done.err)
    assert done.status == status_of(tool.json("whole.json"))
    whole = weighing_in(tool.folder / "whole.json")
    assert whole.launches.rows()[:6] == begun.launches.rows()
    assert whole.settings == begun.settings
    assert len(whole.stop) == 1
    assert whole.stop[0] in ("pairs", "decided")
    assert len({(*place,) for place in zip(whole.launches.pair, whole.launches.side, strict=True)}) >= 2 * 13
    assert "it ran to its end" in here.refuses("compare", "--resume", "whole.json")


def test_the_first_launch_of_all_is_cut_short(tool: Tool) -> None:
    (tool.folder / "record.json").write_text("of an earlier weighing")
    with tool.started("run", "sleep 600", "--json", "record.json") as process:
        wait_until(lambda: is_stuck(tool), "the first launch")
        process.send_signal(signal.SIGINT)
        done = ended(process)
    check_ended_well(done)
    assert "before anything was measured" in done.sentence
    assert not tool.processes()
    assert not tool.kept()
    assert (tool.folder / "record.json").read_text() == "of an earlier weighing"


@pytest.mark.parametrize("option", ["--setup", "--prepare", "--conclude", "--cleanup"])
def test_a_hook_is_cut_short(tool: Tool, option: str) -> None:
    with tool.started("run", "true", "--launches", "2", option, "sleep 600") as process:
        wait_until(lambda: is_stuck(tool), "the hook")
        process.send_signal(signal.SIGINT)
        check_ended_well(ended(process))
    assert not tool.processes()


def test_a_second_interrupt_cuts_the_clean_up_short_and_what_was_measured_is_told(tool: Tool) -> None:
    with tool.started(*STUCK_WORDS, "--cleanup", "sleep 601") as process:
        wait_until(lambda: is_stuck(tool), "the seventh launch")
        process.send_signal(signal.SIGINT)
        wait_until(lambda: "sleep 601" in tool.processes(), "the clean-up")
        time.sleep(0.4)  # sooner, it would be taken for the first one
        process.send_signal(signal.SIGINT)
        done = ended(process)
    check_ended_well(done)
    assert "--cleanup was interrupted" in " ".join(done.text.split())
    assert b"to carry on: steelyard compare --resume record.json" in done.err
    assert not tool.processes()
    assert len(weighing_in(tool.folder / "record.json").launches) == 6


@pytest.mark.parametrize("pause", [0.0, 0.001, 0.05])
def test_a_second_interrupt_harms_nothing(tool: Tool, here: InProcess, pause: float) -> None:
    with tool.started(*STUCK_WORDS) as process:
        wait_until(lambda: is_stuck(tool), "the seventh launch")
        for _ in range(4):
            process.send_signal(signal.SIGINT)
            time.sleep(pause)
        done = ended(process)
    check_ended_well(done)
    wait_until(lambda: not tool.processes(), "every process has gone")
    (kept,) = tool.kept()  # the record, or the journal if there was no time to write it
    assert len(weighing_in(kept).launches) == 6
    assert here("show").status == 0


def test_a_second_interrupt_ends_it_even_if_the_server_does_not_answer(tool: Tool) -> None:
    with tool.started(*STUCK_WORDS) as process:
        wait_until(lambda: is_stuck(tool), "the seventh launch")
        asleep = servers(process)
        for server in asleep:
            server.suspend()
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.5)
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        for server in asleep:
            with suppress(psutil.NoSuchProcess):
                server.resume()
        done = ended(process)
    check_ended_well(done)
    wait_until(lambda: not tool.processes(), "every process has gone")
    assert len(weighing_in(tool.kept()[0]).launches) == 6


def test_a_driver_that_is_killed_takes_its_launch_along_and_leaves_its_journal(tool: Tool, here: InProcess) -> None:
    with tool.started(*STUCK_WORDS, "--pairs", "12") as process:
        wait_until(lambda: is_stuck(tool), "the seventh launch")
        process.kill()
        assert ended(process).status == -signal.SIGKILL
    wait_until(lambda: not tool.processes(), "every process has gone")
    (journal,) = tool.kept()
    assert journal.suffix == ".journal"
    assert len(weighing_in(journal).launches) == 6
    shown = here("show")
    assert shown.status == 0
    assert "interrupted" in shown.text
    # Carried on, the weighing ends, and the finished record takes the journal's place.
    begun = weighing_in(journal).launches.rows()
    (tool.folder / "log").unlink()
    (tool.folder / "log").symlink_to("/dev/null")
    done = tool("compare", "--resume", journal)
    (kept,) = tool.kept()
    assert kept.name.endswith(".json.gz")
    announced(done.err)
    assert done.status == status_of(tool.shown())
    assert weighing_in(kept).launches.rows()[:6] == begun


def test_a_server_that_is_killed_with_all_below_it_is_a_failed_measurement(tool: Tool) -> None:
    with tool.started(*STUCK_WORDS) as process:
        wait_until(lambda: is_stuck(tool), "the seventh launch")
        for child in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):  # the end of one process may end the next
                child.kill()
        done = ended(process)
    assert done.status == 3
    assert "the launch server ended unexpectedly" in done.sentence
    assert weighing_in(tool.folder / "record.json").stop == ["failed"]
    assert len(weighing_in(tool.folder / "record.json").launches) == 6


def test_a_full_disk_is_a_failed_measurement_and_keeps_what_there_is(tool: Tool) -> None:
    # A limit on the size of files (8 blocks of 512 bytes) makes the same call fail as a full disk does.
    tool.environment["PYTHONDONTWRITEBYTECODE"] = "1"  # Python does not check that it wrote a whole .pyc file
    command = 'ulimit -f 8; exec "$0" "$@"'
    done = tool.through("/bin/sh", "-c", command, "run", "true", "--launches", "1000")
    assert done.status == 3
    assert b"File too large" in done.err
    (kept,) = tool.kept()
    assert len(load(kept).launches) > 5
    assert tool("show").status == 0


def test_an_interrupt_before_the_verdict_was_shown_names_the_record(tool: Tool) -> None:
    program = """
import signal
from steelyard.cli import main, outcome

outcome._print_report = lambda *_, **options: signal.raise_signal(signal.SIGINT)
main.main()
"""
    words = [sys.executable, "-c", program, "run", "true", "--launches", "3"]
    done = subprocess.run(words, capture_output=True, **tool.surroundings)
    assert done.returncode == 130
    (record,) = tool.kept()
    assert done.stderr.decode().splitlines()[-1] == (
        f"steelyard: interrupted; what was measured is kept: steelyard show {record}"
    )
    assert tool("show", record).status == 0


@pytest.mark.parametrize(
    ("measure", "stage", "way_on"),
    [
        (("compare", "true", "echo", "--pairs", "9"), "stages", "kept; to carry on: steelyard compare --resume"),
        (("compare", "true", "echo", "--pairs", "9"), "judge_outcome", "kept: steelyard show"),
        (("run", "true", "--launches", "3"), "judge_outcome", "kept: steelyard show"),
    ],
)
def test_a_second_interrupt_that_insists_names_what_is_kept(
    tool: Tool, measure: tuple[str, ...], stage: str, way_on: str
) -> None:
    program = f"""
from steelyard.cli import main
from steelyard.design import session

def insisted(*_):
    raise KeyboardInterrupt  # as the second Ctrl-C does

session.{stage} = insisted
main.main()
"""
    words = [sys.executable, "-c", program, *measure]
    done = subprocess.run(words, capture_output=True, **tool.surroundings)
    assert done.returncode == 130
    (kept,) = tool.kept()
    assert done.stderr.decode().splitlines()[-1] == f"steelyard: interrupted; what was measured is {way_on} {kept}"
