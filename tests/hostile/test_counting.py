"""Counting with the real Valgrind among programs and on machines that mean no good: one sentence, and nothing lost."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.model.files import load
from steelyard.model.records import Run, Weighing
from tests import c_programs
from tests.c_programs import compiled, need_valgrind
from tests.hostile.tool import Tool, kill
from tests.tool import sh, wait_until

Mounting = Callable[..., list[str]]

# Waits for ever in its third launch; the others do the same work each time.
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
LATER = WAITS.replace("return 0;\n}", "for (volatile int i = 0; i < 9000; i++) {}\n    return 0;\n}")


@pytest.fixture
def counting(tool: Tool) -> Tool:
    """The command line, where there is a Valgrind."""
    need_valgrind()
    return tool


def refused(tool: Tool, *words: str, status: int = 3, **options: object) -> str:
    """Count what cannot be counted: one sentence, and nothing is kept of it."""
    sentence = tool.refuses("count", *words, status=status, **options)
    assert not tool.kept()
    return sentence


def counted(tool: Tool, *words: str) -> Run:
    """Count what can be, and return the record."""
    done = tool("count", *words, "-o", "record.json")
    assert (done.status, done.err) == (0, "")
    record = load(tool.folder / "record.json")
    assert isinstance(record, Run)
    return record


def codes(record: Run | Weighing) -> set[str]:
    return {finding.code for finding in record.findings}


# --- a Valgrind that is none


def on_path(tool: Tool, script: str) -> dict[str, str]:
    """An environment in which `valgrind` is a shell script that says a version, and otherwise does this."""
    (tool.folder / "bin").mkdir()
    tool.write("bin/valgrind", f'#!/bin/sh\n[ "$1" = --version ] && {{ echo valgrind-3.19.0; exit; }}\n{script}\n')
    return {"PATH": f"{tool.folder}/bin:{os.environ['PATH']}"}


def test_no_valgrind(tool: Tool) -> None:
    (tool.folder / "bin").mkdir()
    sentence = refused(tool, "/bin/true", env={"PATH": f"{tool.folder}/bin"})
    assert "counting needs valgrind, which was not found on PATH: install valgrind" in sentence


def test_an_old_valgrind(tool: Tool) -> None:
    (tool.folder / "bin").mkdir()
    tool.write("bin/valgrind", "#!/bin/sh\necho valgrind-3.14.0\n")
    sentence = refused(tool, "/bin/true", env={"PATH": f"{tool.folder}/bin"})
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
def test_a_valgrind_that_counts_nothing(tool: Tool, script: str, says: str) -> None:
    assert says in refused(tool, "/bin/true", env=on_path(tool, script))
    assert not list(tool.folder.glob("steelyard-count-*"))


# --- targets


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (c_programs.AVX512, "does not know an instruction of"),
        (c_programs.SEGFAULT, "was killed by SIGSEGV: mend the command"),
        (c_programs.UNDEFINED_INSTRUCTION, "was killed by SIGILL: mend the command"),
        ("int main(void) { return 3; }", "failed with exit status 3: mend the command"),
    ],
    ids=["AVX-512", "segfault", "ud2", "status 3"],
)
def test_a_target_that_fails(counting: Tool, source: str, says: str) -> None:
    compiled(counting.folder, "target", source)
    assert says in refused(counting, "./target")


def test_last_words_name_the_program_as_the_user_does(counting: Tool) -> None:
    counting.write("target", "#!/bin/sh\nno-such-command\n")
    sentence = refused(counting, "./target")
    assert "./target failed with exit status 127 (its last words: ./target: 2: no-such-command: not found)" in sentence


@pytest.mark.parametrize("content", ["", "echo\n", "\x7fELF"])
def test_what_the_kernel_would_not_execute_is_not_counted_as_a_shell(counting: Tool, content: str) -> None:
    counting.write("target", content)
    assert "cannot execute ./target: Exec format error" in refused(counting, "./target")


def test_an_interpreter_that_is_not_there(counting: Tool) -> None:
    counting.write("target", "#!/no/such/interpreter\n")
    assert "the interpreter that its first line names is not there" in refused(counting, "./target")


def test_a_setuid_target(counting: Tool) -> None:
    shutil.copy("/bin/true", counting.folder / "target")
    (counting.folder / "target").chmod(0o4755)
    assert "a setuid program cannot be counted: count a copy" in refused(counting, "./target")


def test_a_target_that_never_ends(counting: Tool) -> None:
    compiled(counting.folder, "target", c_programs.DEAF)
    sentence = refused(counting, "./target", "--timeout", "1")
    assert "./target did not end within 1" in sentence
    assert "raise --timeout" in sentence


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (c_programs.FORKS, "forked"),
        (c_programs.DAEMON, "left-behind"),
        (c_programs.TRIES_AVX512, "went-around"),
        (c_programs.CLOCK, "counts-differ"),
    ],
    ids=["forks", "daemon", "tries AVX-512", "clock"],
)
def test_a_target_that_is_counted_with_a_note(counting: Tool, source: str, code: str) -> None:
    compiled(counting.folder, "target", source)
    assert code in codes(counted(counting, "./target"))


@pytest.mark.parametrize("source", [c_programs.AGAIN, c_programs.CLOSES_ALL, c_programs.FLOODS])
def test_a_target_that_is_counted_all_the_same(counting: Tool, source: str) -> None:
    compiled(counting.folder, "target", source)
    assert not codes(counted(counting, "./target"))


def test_a_target_of_threads(counting: Tool) -> None:
    compiled(counting.folder, "target", c_programs.THREADS)
    record = counted(counting, "./target")
    assert record.counting is not None
    assert len(record.counting.counts) in (2, 7)
    if len(record.counting.counts) == 7:
        (note,) = [finding for finding in record.findings if finding.code in ("counts-differ", "set-aside")]
        assert "how threads or processes are scheduled" in note.message or note.code == "set-aside"


def test_a_static_target(counting: Tool) -> None:
    compiled(counting.folder, "target", c_programs.LOOP, "-static")
    assert codes(counted(counting, "./target")) == {"not-pinned"}
    (counting.folder / "record.json").unlink()
    for kept in counting.kept():
        kept.unlink()
    assert "nothing of ./target was counted: --after-start takes" in refused(counting, "./target", "--after-start")


def test_a_shell_script(counting: Tool) -> None:
    counting.write("target", "#!/bin/sh\n/bin/true\n")
    record = counted(counting, "./target")
    assert record.counting is not None
    assert [process.command for process in record.counting.counts[0].processes][1] == "/bin/true"


def test_a_body_that_nobody_marks(counting: Tool) -> None:
    compiled(counting.folder, "target", c_programs.LOOP)
    assert "leave --body out" in refused(counting, "./target", "--body")


def test_more_loops_that_are_no_more_work(counting: Tool) -> None:
    assert "twice the loops executed no more instructions" in refused(counting, "/bin/true {loops}", "--loops", "1000")


def test_what_was_counted_before_a_failure_is_kept(counting: Tool) -> None:
    failing = sh("echo x >> log; test $(wc -l < log) -lt 3 || exit 7")
    done = counting("count", failing, "--jobs", "1", "-o", "record.json")
    assert done.status == 3
    assert "failed with exit status 7" in done.err
    assert "The launches measured before that are kept in" in done.err
    record = load(counting.folder / "record.json")
    assert record.counting is not None
    assert len(record.counting.counts) == 2


# --- places for files


def test_a_folder_for_temporary_files_with_a_name_of_its_own(counting: Tool) -> None:
    place = counting.folder / "50% of it"
    place.mkdir()
    done = counting("count", "/bin/true", env={"TMPDIR": str(place)})
    assert (done.status, done.err) == (0, "")
    assert not list(place.iterdir())


def test_a_full_disk_for_temporary_files(counting: Tool, mounting: Mounting) -> None:
    (counting.folder / "small").mkdir()
    within = mounting("mount -t tmpfs -o size=8k none small")
    sentence = refused(counting, "/bin/true", within=within, env={"TMPDIR": str(counting.folder / "small")})
    assert "disk is not full" in sentence


def test_a_folder_for_temporary_files_that_cannot_be_written(counting: Tool, mounting: Mounting) -> None:
    (counting.folder / "fixed").mkdir()
    within = mounting("mount -t tmpfs -o ro none fixed")
    sentence = refused(counting, "/bin/true", within=within, env={"TMPDIR": str(counting.folder / "fixed")})
    assert "set TMPDIR to a folder that can be written" in sentence


def test_a_full_disk_for_the_journal(counting: Tool, mounting: Mounting) -> None:
    (counting.folder / "state").mkdir()
    within = mounting("mount -t tmpfs -o size=8k none state")
    done = counting("count", "/bin/true", within=within)
    assert done.status == 3
    assert "cannot write the journal" in done.err
    assert "No space left on device" in done.err


# --- the end by others


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_before_anything_is_counted(counting: Tool, number: int) -> None:
    process = counting.start("count", sh("touch started; sleep 600"))
    wait_until((counting.folder / "started").exists, "the first launch is under way")
    process.send_signal(number)
    done = counting.end(process)
    assert (done.status, done.sentence) == (130, "interrupted before anything was measured")
    assert not counting.kept()
    assert not list(counting.folder.glob("steelyard-count-*"))


@pytest.fixture
def waiting(counting: Tool) -> list[str]:
    """A weighing whose third launch waits."""
    compiled(counting.folder, "one", WAITS)
    compiled(counting.folder, "two", LATER)
    return ["compare", "./one", "./two", "--metric", "instructions", "--jobs", "1", "--functions", "3"]


def launches(tool: Tool) -> int:
    log = tool.folder / "log"
    return log.stat().st_size if log.exists() else 0


def test_an_interrupted_counting_is_shown_and_carried_on(counting: Tool, waiting: list[str]) -> None:
    process = counting.start(*waiting)
    wait_until(lambda: launches(counting) == 3, "the third launch is under way")
    process.send_signal(signal.SIGINT)
    done = counting.end(process)
    assert done.status == 130
    assert "interrupted: this is what was measured until then" in done.words
    (kept,) = counting.kept()
    again = counting("compare", "--resume", kept, "--json", "record.json")
    assert again.status == 1, again.err
    record = load(counting.folder / "record.json")
    assert record.counting is not None
    assert len(record.counting.counts) == 2 * 5
    assert record.stop == ["decided"]


def test_a_killed_counting_is_readable_and_carried_on(counting: Tool, waiting: list[str]) -> None:
    process = counting.start(*waiting)
    wait_until(lambda: launches(counting) == 3, "the third launch is under way")
    kill(process)
    (journal,) = counting.kept(".journal")
    shown = counting("show", journal)
    assert (shown.status, shown.err) == (0, "")
    assert "1 count" in shown.words
    wait_until(lambda: not counting.processes(), "what it ran has ended")
    done = counting("compare", "--resume", journal)
    assert done.status == 1, done.err
    assert "slower" in done.words


def test_a_counting_is_not_carried_on_by_another_valgrind(counting: Tool, waiting: list[str]) -> None:
    process = counting.start(*waiting)
    wait_until(lambda: launches(counting) == 3, "the third launch is under way")
    kill(process)
    (journal,) = counting.kept(".journal")
    (counting.folder / "bin").mkdir()
    counting.write("bin/valgrind", "#!/bin/sh\necho valgrind-3.99.0\n")
    env = {"PATH": f"{counting.folder}/bin:{os.environ['PATH']}"}
    sentence = counting.refuses("compare", "--resume", journal, env=env)
    assert "was counted with another valgrind" in sentence
    assert "3.99.0 now" in sentence
    assert counting.kept() == [journal]


def test_the_counts_of_one_command_cannot_be_carried_on(counting: Tool) -> None:
    compiled(counting.folder, "one", WAITS)
    process = counting.start("count", "./one", "--jobs", "1", "--loops", "1")
    assert "--loops" in counting.end(process).sentence
    counting.write("two", "#!/bin/sh\necho x >> log\n[ $(wc -l < log) -lt 2 ] || exec sleep 600\n")
    process = counting.start("count", "./two", "--jobs", "1")
    log = counting.folder / "log"
    wait_until(lambda: log.exists() and log.read_text().count("x") == 2, "the second launch is under way")
    kill(process)
    (journal,) = counting.kept(".journal")
    assert "only a weighing can be resumed" in counting.refuses("compare", "--resume", journal)


def test_a_target_that_kills_what_counts_it(counting: Tool) -> None:
    done = counting("count", sh("kill -9 $$"))
    assert done.status == 3
    assert "was killed by SIGKILL" in done.sentence


def test_no_file_is_left_of_a_journal_by_a_failure_at_once(counting: Tool) -> None:
    refused(counting, "/bin/false")
    assert not list(Path(counting.folder).glob("state/steelyard/*.journal"))
