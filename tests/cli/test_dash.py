"""`-` in the place of a file: only data on standard output, results from standard input."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.cli import inputs
from tests.foreign import hyperfine
from tests.in_process import InProcess
from tests.tool import Tool
from tests.world import ScriptedWorld, measured, steady

WEIGHING = ("compare", "./old", "./new")
TWELVE = ("--launches", "12")


def test_a_record_on_stdout_is_all_that_is_there(scripted: ScriptedWorld) -> None:
    done = scripted(*WEIGHING, "--json", "-")
    assert done.status == 1
    assert json.loads(done.out)["verdict"] == "slower"
    assert b"slower     +50.0 %" in done.err
    assert not list(scripted.folder.glob("-*"))
    (scripted.folder / "kept.json").write_bytes(done.out)
    assert scripted("show", "kept.json").out == done.err


@pytest.mark.parametrize("option", ["--json", "--csv", "--markdown"])
def test_it_is_what_the_file_would_hold(scripted: ScriptedWorld, option: str) -> None:
    scripted("run", "./old", *TWELVE, "-o", "run.json")
    for words in (("show", "run.json"), ("show", "run.json", *(() if option == "--json" else ("--json", "copy.json")))):
        scripted(*words, option, "file")
        done = scripted(*words, option, "-")
        assert done.out == (scripted.folder / "file").read_bytes()
        assert done.err == scripted("show", "run.json").out
    assert (scripted.folder / "copy.json").exists() is (option != "--json")


def test_every_command_that_writes_data_can_print_it(scripted: ScriptedWorld) -> None:
    scripted.script = steady({"old": 12.0, "true": 1.0})
    for name, level in (("a", 1.0), ("b", 1.1)):
        scripted("run", "./old", *TWELVE, "-o", f"{name}.json")
        hyperfine(scripted.folder / f"{name}-theirs.json", x=[level] * 9)
        scripted("import", f"{name}-theirs.json", "-o", f"{name}-kept.json")
    for words in (
        ("run", "./old", *TWELVE, "--csv", "-"),
        ("check", "./old", "-o", "-"),
        ("diff", "a.json", "b.json", "--markdown", "-"),
        ("diff", "a-kept.json", "b-kept.json", "--markdown", "-", "--force", "--same-conditions"),
        ("import", "a-theirs.json", "--markdown", "-"),
        ("show", "a-kept.json", "--csv", "-"),
        ("show", "a.json", "--json", "-"),
        ("list", "--json", "-"),
    ):
        option = words.index("-") - 1
        printed = scripted(*words)
        report = scripted(*words[:option], *words[option + 2 :])
        assert printed.out, words
        assert printed.status == report.status
        if words[0] not in ("run", "check"):  # these measure anew, so their reports differ
            assert printed.err == report.out, words


def test_data_stand_alone_however_it_ends(scripted: ScriptedWorld) -> None:
    scripted.script = lambda _, number: measured(12 if number % 3 else 13)
    done = scripted(*WEIGHING, "--pairs", "9", "--json", "-")
    assert json.loads(done.out)["verdict"] == "undecided"
    assert b"undecided" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "true", "true", "-o", "-", "--csv", "-"),
        ("run", "true", "--markdown", "-", "--csv", "-"),
        ("show", "--json", "-", "--markdown", "-"),
        ("calibrate", "--json", "-", "--chart", "-"),
    ],
)
def test_two_at_once_are_refused(asked: InProcess, words: tuple[str, ...]) -> None:
    assert asked.refuses(*words) == "two outputs would go to standard output: give one of them a file"
    assert not asked.kept()


def test_what_fails_prints_no_data(scripted: ScriptedWorld) -> None:
    scripted.script = lambda *_: measured(10, exit_code=3)
    done = scripted(*WEIGHING, "--json", "-")
    assert (done.status, done.out) == (3, b"")


def test_a_record_comes_through_a_socket(scripted: ScriptedWorld) -> None:
    scripted("compare", "./old", "./new", "-o", "w.json")
    shown = scripted("show", "w.json").out
    ours, theirs = socket.socketpair()
    usual = os.dup(0)
    with ours, theirs:
        theirs.sendall(Path("w.json").read_bytes())
        theirs.shutdown(socket.SHUT_WR)
        os.dup2(ours.fileno(), 0)
        try:
            assert scripted("show", "-").out == shown
        finally:
            os.dup2(usual, 0)
            os.close(usual)


def test_results_are_read_from_stdin(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        scripted("run", "./old", *TWELVE, "-o", f"{name}.json")
    hyperfine(scripted.folder / "theirs.json", x=[1.0] * 9)

    def piped(file: str, *words: str) -> str:
        monkeypatch.setattr(inputs, "_STDIN_PATH", Path(file))
        return scripted(*words).text

    assert piped("a.json", "show", "-") == scripted("show", "a.json").text
    assert piped("a.json", "diff", "-", "b.json") == scripted("diff", "a.json", "b.json").text
    assert piped("b.json", "diff", "a.json", "-") == scripted("diff", "a.json", "b.json").text
    assert piped("theirs.json", "import", "-") == scripted("import", "theirs.json").text
    assert json.loads(piped("theirs.json", "import", "-", "-o", "-"))["kind"] == "import"
    for words in (("diff", "-", "-"), ("import", "-", "-")):
        assert "read from standard input" in scripted.refuses(*words)


def test_an_installed_command_in_a_pipe(tool: Tool) -> None:
    theirs = hyperfine(tool.folder / "theirs.json", x=[1.0] * 9).read_bytes()
    imported = tool("import", "-", "-o", "-", input=theirs, stdin=None)
    assert imported.status == 0
    shown = tool("show", "-", input=imported.out, stdin=None)
    assert (shown.status, shown.out, shown.err) == (0, imported.err, b"")


# --- data on standard input that nobody reads


UNREAD = (
    b"steelyard: what comes on standard input reaches no launch: put it into a file, and give that by --stdin FILE\n"
)


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The writing end of a pipe whose other end is standard input."""
    read, write = os.pipe()
    monkeypatch.setattr(inputs, "_STDIN_NUMBER", read)
    yield write
    os.close(read)
    os.close(write)


@pytest.mark.parametrize("words", [WEIGHING, ("run", "./old", *TWELVE)], ids=["compare", "run"])
def test_data_that_reach_no_launch_are_told_once(scripted: ScriptedWorld, piped: int, words: tuple[str, ...]) -> None:
    assert scripted(*words).err == b""
    os.write(piped, b"data\n")
    assert scripted(*words).err == UNREAD
    (scripted.folder / "data").write_text("data\n")
    assert scripted(*words, "--stdin", "data").err == b""


def test_a_file_with_more_to_be_read_is_told_too(
    scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "data").write_text("data\n")
    with (tmp_path / "data").open("rb") as file:
        monkeypatch.setattr(inputs, "_STDIN_NUMBER", file.fileno())
        assert scripted("run", "./old", *TWELVE).err == UNREAD
        os.lseek(file.fileno(), 0, os.SEEK_END)
        assert scripted("run", "./old", *TWELVE).err == b""


def test_an_input_that_cannot_be_asked_needs_no_words(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "_STDIN_NUMBER", 12345)
    assert scripted("run", "./old", *TWELVE).err == b""
