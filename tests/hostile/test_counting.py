"""Counting with the real Valgrind, with hostile programs and on hostile machines: one sentence, and nothing lost."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.model.files import load
from steelyard.model.records import Run, Weighing
from tests import c_programs
from tests.c_programs import compiled, need_valgrind
from tests.hostile.tool import Tool, kill
from tests.in_process import InProcess
from tests.loaded import run_in
from tests.tool import sh, wait_until

Mounting = Callable[..., list[str]]

# Hangs in its third launch; the other launches do the same work each time.
WAITS = r"""
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
    struct stat found;
    int log = open("log", O_CREAT | O_APPEND | O_WRONLY, 0644);
    if (write(log, "x", 1) < 0 || fstat(log, &found)) return 1;
    if (found.st_size == 3) pause();
    return 0;
}
"""
WAITS_AT_ONCE = WAITS.replace("== 3", "== 1")
WAITS_SOON = WAITS.replace("== 3", "== 2")
# Does more each time, and fails in its third launch.
FAILS = WAITS.replace("pause();", "return 7;\n    for (volatile int i = 0; i < 1000 * found.st_size; i++) {}")
LATER = WAITS.replace("return 0;\n}", "for (volatile int i = 0; i < 9000; i++) {}\n    return 0;\n}")


@pytest.fixture
def counting(here: InProcess) -> InProcess:
    """The command line, if there is a Valgrind."""
    need_valgrind()
    return here


@pytest.fixture
def installed(tool: Tool) -> Tool:
    """The installed command, if there is a Valgrind."""
    need_valgrind()
    return tool


def refused(here: InProcess, *words: str, status: int = 3) -> str:
    """Try to count what cannot be counted, of which nothing may be kept; return the sentence."""
    sentence = here.refuses("count", *words, status=status)
    assert not here.kept()
    return sentence


def counted(here: InProcess, *words: str) -> Run:
    """Count what can be counted, and return the record."""
    done = here("count", *words, "-o", "record.json")
    assert (done.status, done.err) == (0, b"")
    return run_in(here.folder / "record.json")


def codes(record: Run | Weighing) -> set[str]:
    return {finding.code for finding in record.findings}


# --- a Valgrind that is none


def on_path(here: InProcess, *lines: str) -> None:
    """Put a shell script of these lines on the path as `valgrind`."""
    (here.folder / "bin").mkdir()
    here.write("bin/valgrind", "\n".join(["#!/bin/sh", *lines, ""]))
    here.environment["PATH"] = f"{here.folder}/bin:{os.environ['PATH']}"


def test_no_valgrind(here: InProcess) -> None:
    (here.folder / "bin").mkdir()
    here.environment["PATH"] = f"{here.folder}/bin"
    sentence = refused(here, "/bin/true")
    assert "counting needs valgrind, which was not found on PATH: install valgrind" in sentence


def test_an_old_valgrind(here: InProcess) -> None:
    on_path(here, "echo valgrind-3.14.0")
    sentence = refused(here, "/bin/true")
    assert "is version 3.14.0, and counting needs 3.15 or later" in sentence


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("exit 0", "valgrind wrote no counts of /bin/true"),
        ("kill -9 $$", "wrote no counts of /bin/true: was it killed from outside or for want of memory"),
        ('for word; do case $word in --cachegrind*) : > "${word#*=}.7";; esac; done', "is no profile of Cachegrind"),
        ('for word; do case $word in --cachegrind*) echo x > "${word#*=}.7";; esac; done', "is not what Cachegrind"),
    ],
    ids=["nothing", "killed", "an empty file", "nonsense"],
)
def test_a_valgrind_that_counts_nothing(here: InProcess, script: str, says: str) -> None:
    on_path(here, '[ "$1" = --version ] && { echo valgrind-3.19.0; exit; }', script)
    assert says in refused(here, "/bin/true")
    assert not list(here.folder.glob("steelyard-count-*"))


# --- targets


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (c_programs.AVX512, "does not know an instruction of"),
        (c_programs.SEGFAULT, "was killed by SIGSEGV, a segmentation fault: fix the command"),
    ],
    ids=["AVX-512", "segfault"],
)
def test_a_target_that_fails(counting: InProcess, source: str, says: str) -> None:
    compiled(counting.folder, "target", source)
    assert says in refused(counting, "./target")


def test_last_words_name_the_program_as_the_user_does(counting: InProcess) -> None:
    counting.write("target", "#!/bin/sh\nno-such-command\n")
    sentence = refused(counting, "./target")
    assert "./target failed with exit status 127 (its last words: ./target: 2: no-such-command: not found)" in sentence


@pytest.mark.parametrize("content", ["", "echo\n", "\x7fELF"])
def test_what_the_kernel_would_not_execute_is_not_counted_as_a_shell(counting: InProcess, content: str) -> None:
    counting.write("target", content)
    assert "cannot execute ./target: Exec format error" in refused(counting, "./target")


def test_an_interpreter_that_is_not_there(counting: InProcess) -> None:
    counting.write("target", "#!/no/such/interpreter\n")
    assert "the interpreter that its first line names is not there" in refused(counting, "./target")


def test_a_setuid_target(counting: InProcess) -> None:
    shutil.copy("/bin/true", counting.folder / "target")
    (counting.folder / "target").chmod(0o4755)
    assert "a setuid program cannot be counted: count a copy" in refused(counting, "./target")


def test_a_target_that_never_ends(counting: InProcess) -> None:
    compiled(counting.folder, "target", c_programs.DEAF)
    sentence = refused(counting, "./target", "--timeout", "0.3")
    assert "./target did not end within 0.3 s" in sentence
    assert "raise --timeout" in sentence


def test_a_target_that_is_counted_with_notes(counting: InProcess) -> None:
    """It forks, leaves a daemon behind, tries AVX-512, and does as much as the clock says."""
    compiled(counting.folder, "target", c_programs.NOTED)
    assert codes(counted(counting, "./target")) >= {"forked", "left-behind", "went-around", "counts-differ"}


def test_a_target_that_is_counted_all_the_same(counting: InProcess) -> None:
    """It executes itself anew, floods its output, and closes all that it was given."""
    compiled(counting.folder, "target", c_programs.UNRULY)
    assert not codes(counted(counting, "./target"))


def test_a_target_of_threads(counting: InProcess) -> None:
    compiled(counting.folder, "target", c_programs.THREADS)
    record = counted(counting, "./target")
    assert record.counting is not None
    counts = [count.events["Ir"] for count in record.counting.counts]
    if counts[0] == counts[1]:
        assert (len(counts), codes(record)) == (2, set())
        return
    # The scheduling of threads is not fixed; counts that differ are repeated five times.
    assert len(counts) == 7
    (note,) = record.findings
    said = {"counts-differ": "how threads or processes are scheduled", "set-aside": "set aside"}
    assert said[note.code] in note.message


def test_a_static_target(counting: InProcess) -> None:
    compiled(counting.folder, "target", c_programs.LOOP, "-static")
    assert codes(counted(counting, "./target")) == {"not-pinned"}
    (counting.folder / "record.json").unlink()
    for kept in counting.kept():
        kept.unlink()
    assert "nothing of ./target was counted: --after-start takes" in refused(counting, "./target", "--after-start")


def test_a_shell_script(counting: InProcess) -> None:
    counting.write("target", "#!/bin/sh\n/bin/true\n")
    record = counted(counting, "./target")
    assert record.counting is not None
    assert [process.command for process in record.counting.counts[0].processes][1] == "/bin/true"


def test_a_body_that_nobody_marks(counting: InProcess) -> None:
    compiled(counting.folder, "target", c_programs.LOOP)
    assert "leave --body out" in refused(counting, "./target", "--body")


def test_more_loops_that_are_no_more_work(counting: InProcess) -> None:
    assert "twice the loops executed no more instructions" in refused(counting, "/bin/true {loops}", "--loops", "1000")


def test_what_was_counted_before_a_failure_is_kept(counting: InProcess) -> None:
    compiled(counting.folder, "target", FAILS)
    done = counting("count", "./target", "--jobs", "1", "-o", "record.json")
    assert done.status == 3
    assert b"failed with exit status 7" in done.err
    assert b"The launches measured until then are kept in" in done.err
    record = load(counting.folder / "record.json")
    assert record.counting is not None
    assert len(record.counting.counts) == 2


# --- places for files


def test_a_folder_for_temporary_files_with_a_name_of_its_own(counting: InProcess) -> None:
    place = counting.folder / "50% of it"
    place.mkdir()
    counting.environment["TMPDIR"] = str(place)
    done = counting("count", "/bin/true")
    assert (done.status, done.err) == (0, b"")
    assert not list(place.iterdir())


@pytest.mark.parametrize(
    ("option", "said"),
    [("size=8k", "disk is not full"), ("ro", "set TMPDIR to a folder that can be written")],
    ids=["full", "read only"],
)
def test_a_disk_for_temporary_files_that_takes_none(
    installed: Tool, mounting: Mounting, option: str, said: str
) -> None:
    place = installed.folder / "place"
    place.mkdir()
    within = mounting(f"mount -t tmpfs -o {option} none place")
    assert said in installed.refuses("count", "/bin/true", status=3, within=within, env={"TMPDIR": str(place)})


def test_a_full_disk_for_the_journal(installed: Tool, mounting: Mounting) -> None:
    (installed.folder / "state").mkdir()
    within = mounting("mount -t tmpfs -o size=8k none state")
    done = installed("count", "/bin/true", within=within)
    assert done.status == 3
    assert "cannot write the journal" in done.err
    assert "No space left on device" in done.err


# --- the end by others


def test_an_interrupt_before_anything_is_counted(installed: Tool) -> None:
    compiled(installed.folder, "target", WAITS_AT_ONCE, "-static")
    process, log = installed.start("count", "./target"), installed.folder / "log"
    wait_until(lambda: log.exists() and log.stat().st_size >= 1, "the first launch is under way")
    process.send_signal(signal.SIGINT)
    done = installed.end(process)
    assert (done.status, done.sentence) == (130, "interrupted before anything was measured")
    assert not installed.kept()
    assert not list(installed.folder.glob("steelyard-count-*"))


@pytest.fixture
def waiting(installed: Tool) -> subprocess.Popen[bytes]:
    """A weighing whose third launch has begun, and hangs."""
    compiled(installed.folder, "one", WAITS, "-static")
    compiled(installed.folder, "two", LATER, "-static")
    words = ("--metric", "instructions", "--jobs", "1", "--functions", "3")
    process, log = installed.start("compare", "./one", "./two", *words), installed.folder / "log"
    wait_until(lambda: log.exists() and log.stat().st_size == 3, "the third launch is under way")
    return process


def test_an_interrupted_counting_is_shown_and_carried_on(installed: Tool, waiting: subprocess.Popen[bytes]) -> None:
    waiting.send_signal(signal.SIGINT)
    done = installed.end(waiting)
    assert done.status == 130
    assert "interrupted: this is what was measured until then" in done.words
    (kept,) = installed.kept()
    again = installed("compare", "--resume", kept, "--json", "record.json")
    assert again.status == 1, again.err
    record = load(installed.folder / "record.json")
    assert record.counting is not None
    assert len(record.counting.counts) == 2 * 5
    assert record.stop == ["decided"]


def test_a_killed_counting_is_readable_and_carried_on(installed: Tool, waiting: subprocess.Popen[bytes]) -> None:
    kill(waiting)
    (journal,) = installed.kept(".journal")
    shown = installed("show", journal)
    assert shown.status == 0
    assert shown.err.startswith("steelyard: to carry on: steelyard compare --resume ")
    assert "1 count" in shown.words
    wait_until(lambda: not installed.processes(), "what it ran has ended")
    done = installed("compare", "--resume", journal)
    assert done.status == 1, done.err
    assert "slower" in done.words


def test_a_counting_is_not_carried_on_by_another_valgrind(installed: Tool, waiting: subprocess.Popen[bytes]) -> None:
    kill(waiting)
    (journal,) = installed.kept(".journal")
    (installed.folder / "bin").mkdir()
    installed.write("bin/valgrind", "#!/bin/sh\necho valgrind-3.99.0\n")
    env = {"PATH": f"{installed.folder}/bin:{os.environ['PATH']}"}
    refused = installed("compare", "--resume", journal, env=env)
    assert (refused.status, refused.out) == (2, "")
    assert "was counted with another valgrind" in refused.err
    assert "3.99.0 now" in refused.err
    assert installed.kept() == [journal]


def test_the_counts_of_one_command_cannot_be_carried_on(installed: Tool) -> None:
    compiled(installed.folder, "one", WAITS, "-static")
    process = installed.start("count", "./one", "--jobs", "1", "--loops", "1")
    assert "--loops" in installed.end(process).sentence
    compiled(installed.folder, "two", WAITS_SOON, "-static")
    process, log = installed.start("count", "./two", "--jobs", "1"), installed.folder / "log"
    wait_until(lambda: log.exists() and log.stat().st_size == 2, "the second launch is under way")
    kill(process)
    (journal,) = installed.kept(".journal")
    assert "only a weighing can be resumed" in installed.refuses("compare", "--resume", journal)


def test_a_target_that_kills_what_counts_it(counting: InProcess) -> None:
    done = counting("count", sh("kill -9 $$"))
    assert done.status == 3
    assert "was killed by SIGKILL" in done.sentence


def test_no_file_is_left_of_a_journal_by_a_failure_at_once(counting: InProcess) -> None:
    refused(counting, "/bin/false")
    assert not list(Path(counting.folder).glob("state/steelyard/*.journal"))
