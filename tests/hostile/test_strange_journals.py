"""Journals that are carried on elsewhere, that run something other than they seem to, or that others wrote."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from steelyard.design.resumption import _check_owner
from steelyard.model.errors import UsageError
from steelyard.model.files import load
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests.hostile.tool import edit
from tests.tool import announced
from tests.world import Killed, LaunchScript, ScriptedWorld, at_launch, kill, measured, program_of

EVIL = "\x1b]0;evil\x07\x9b31m\u202e\n"


def steady(spec: LaunchSpec, number: int) -> Measured:
    return measured((18 if program_of(spec) == "new" else 12) * (1 + number * 1e-6))


def killed(world: ScriptedWorld, *words: str) -> Path:
    """Return the journal of a weighing that was killed in its ninth launch."""
    world.script = at_launch(world.launches + 9, kill, steady)
    with pytest.raises(Killed):
        world("compare", *(words or ("./old", "./new")), "--pairs", "12")
    world.script = steady
    return next(kept for kept in world.kept() if kept.suffix == ".journal")


def launched(world: ScriptedWorld) -> set[tuple[str, str]]:
    """Return (folder, program) of the launches."""
    return {(os.fsdecode(spec.cwd or b""), os.fsdecode(spec.program)) for spec in world.launched}


# --- elsewhere


@pytest.fixture
def elsewhere(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another folder, which is the current one and holds other programs of the same names."""
    for name in ("old", "new"):
        scripted.executable(f"elsewhere/{name}", "another program")
    monkeypatch.chdir("elsewhere")
    return scripted.folder / "elsewhere"


def test_it_goes_on_in_the_folder_where_it_began(scripted: ScriptedWorld, elsewhere: Path) -> None:
    os.chdir(scripted.folder)
    journal = killed(scripted)
    os.chdir(elsewhere)
    done = scripted("compare", "--resume", os.path.relpath(journal), "--json", "record.json")
    assert done.status == 1, done
    assert launched(scripted) == {(str(scripted.folder), "./old"), (str(scripted.folder), "./new")}
    assert f"in {scripted.folder}; it runs" in announced(done.err)
    assert load(elsewhere / "record.json").settings.directory == str(scripted.folder)
    assert Path.cwd() == elsewhere
    (record,) = scripted.kept()
    assert load(record) == load(elsewhere / "record.json")


def test_programs_are_looked_at_where_they_are_run(scripted: ScriptedWorld, elsewhere: Path) -> None:
    os.chdir(scripted.folder)
    journal = killed(scripted)
    for name in ("old", "new"):
        (elsewhere / name).write_bytes((scripted.folder / name).read_bytes())
    scripted.executable("new", "which was built anew")
    os.chdir(elsewhere)
    assert "./new is not the program that" in scripted.refuses("compare", "--resume", journal)
    assert scripted.launched == []
    assert Path.cwd() == elsewhere


def rebuilding(world: ScriptedWorld, name: str, script: LaunchScript) -> LaunchScript:
    """Return the script, with a program that is another one after each launch."""

    def rebuild(spec: LaunchSpec, number: int) -> Measured:
        world.executable(name, f"which is built anew {number}")
        return script(spec, number)

    return rebuild


def test_a_program_that_is_replaced_there_meanwhile_is_noticed(scripted: ScriptedWorld, elsewhere: Path) -> None:
    os.chdir(scripted.folder)
    journal = killed(scripted)
    os.chdir(elsewhere)
    scripted.script = rebuilding(scripted, "new", steady)
    done = scripted("compare", "--resume", journal)
    assert done.status == 3
    assert b"./new was replaced while it was measured" in done.err


def test_a_program_that_env_starts_is_the_one_that_must_stay(scripted: ScriptedWorld) -> None:
    for folder in ("a", "b"):
        scripted.executable(f"{folder}/program", folder)
    commands = [f"env -C {folder} ./program" for folder in ("a", "b")]
    journal = killed(scripted, *commands)
    scripted.executable("b/program", "which was built anew")
    assert "b/./program is not the program that" in scripted.refuses("compare", "--resume", journal)
    scripted.script = rebuilding(scripted, "b/program", steady)
    done = scripted("compare", *commands)
    assert done.status == 3
    assert b"b/./program was replaced while it was measured" in done.err


def test_hooks_parameters_and_path_mean_what_they_meant(
    scripted: ScriptedWorld, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.chdir(scripted.folder)
    path = {**scripted.environment, "PATH": "bin:/usr/bin:/bin"}
    monkeypatch.setattr(ScriptedWorld, "environment", path)
    monkeypatch.setenv("PATH", path["PATH"])
    for name in ("bin/tool", "ready", "new-1", "new-2"):
        scripted.executable(name)
    words = ("tool", "./new-{n}", "-L", "n", "1,2", "--prepare", "./ready")
    journal = killed(scripted, *words)
    os.chdir(elsewhere)
    done = scripted("compare", "--resume", journal)
    assert done.status == 0, done
    assert {program for _, program in launched(scripted)} == {"bin/tool", "./new-1", "./new-2", "./ready"}
    said = announced(done.err)
    assert re.search(r"^  candidate +'\./new-\{n\}'$", said, re.MULTILINE)
    assert re.search(r"^  \{n\} +1, 2$", said, re.MULTILINE)


def test_a_folder_that_is_gone_is_named(scripted: ScriptedWorld, elsewhere: Path) -> None:
    journal = killed(scripted)
    edit(journal, lambda header: header["settings"].update(directory="/nowhere/at/all"))
    sentence = scripted.refuses("compare", "--resume", journal)
    assert "was begun in /nowhere/at/all: No such file or directory" in sentence
    assert Path.cwd() == elsewhere


def test_it_is_carried_on_from_a_folder_that_is_gone(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = killed(scripted)
    (scripted.folder / "gone").mkdir()
    monkeypatch.chdir("gone")
    (scripted.folder / "gone").rmdir()
    assert scripted("compare", "--resume", journal).status == 1


# --- what it really runs

HIDDEN: dict[str, Callable[[Any], object]] = {
    "baseline     ./old --delete 'all of it'": lambda header: header["subjects"][0]["argv"].extend(
        ["--delete", "all of it"]
    ),
    "candidate    /bin/sh -c 'rm -rf ~' (called ./new)": lambda header: header["subjects"][1].update(
        argv=["./new", "-c", "rm -rf ~"], program="/bin/sh", digest=None
    ),
    "baseline     /bin/sh (called ./{x}/old)": lambda header: header["subjects"][0].update(
        argv=["./{x}/old"], program="/bin/sh", digest=None
    ),
    "candidate    /usr/bin/sort -u": lambda header: header["subjects"][1].update(
        argv=["sort", "-u"], program="/usr/bin/sort", digest=None
    ),
    "prepare      touch /tmp/pwned": lambda header: header["settings"].update(prepare=["touch /tmp/pwned"]),
    "cleanup      touch /tmp/pwned": lambda header: header["settings"].update(cleanup=["touch /tmp/pwned"]),
    "output       /etc/precious, overwritten": lambda header: header["settings"].update(output="/etc/precious"),
    "input        /etc/shadow": lambda header: header["settings"].update(stdin="/etc/shadow"),
    "environment  HOME LANG PATH LD_PRELOAD=./evil.so": lambda header: header["settings"].update(
        variables={"LD_PRELOAD": "./evil.so"}
    ),
    "{n}          1, /bin/evil": lambda header: [
        header["benchmarks"][0].update(params={"n": "1"}),
        header["benchmarks"].append({**header["benchmarks"][0], "params": {"n": "/bin/evil"}}),
        header["stop"].append("interrupted"),
    ],
    r"environment  HOME LANG PATH 'X=\x1b]0;evil\x07\x9b31m\u202e\n'": lambda header: header["settings"].update(
        variables={"X": EVIL}
    ),
    r"baseline     ./old '\x1b]0;evil\x07\x9b31m\u202e\n'": lambda header: header["subjects"][0].update(
        argv=["./old", EVIL]
    ),
}


@pytest.mark.parametrize("line", HIDDEN)
def test_what_it_runs_is_said_before_it_runs(scripted: ScriptedWorld, line: str) -> None:
    journal = killed(scripted)
    edit(journal, HIDDEN[line])
    before: list[bytes] = []

    def script(spec: LaunchSpec, number: int) -> Measured:
        buffer = sys.stderr.buffer
        assert isinstance(buffer, BytesIO)
        before.append(buffer.getvalue())
        return steady(spec, number)

    scripted.script = script
    done = scripted("compare", "--resume", journal)
    assert f"  {line}\n" in announced(done.err)
    assert before[0] == done.err


IMPOSSIBLE: list[Callable[[Any], object]] = [
    lambda header: header["subjects"][0].update(argv=[]),
    lambda header: header["subjects"][0].update(argv=["./old", "nul\0"]),
    lambda header: header["subjects"][0].update(argv=["./old", "\ud800"]),
    lambda header: header["subjects"][1].update(program="nul\0", digest=None),
    lambda header: header["subjects"][1].update(program="nul\0"),
    lambda header: header["benchmarks"][0].update(params={"n": "nul\0"}),
    lambda header: header["benchmarks"][0].update(entry="\ud800"),
    lambda header: header["settings"].update(directory="nul\0"),
    lambda header: header["settings"].update(directory="\ud800"),
    lambda header: header["settings"].update(output="nul\0"),
    lambda header: header["settings"].update(prepare=["nul\0"]),
    lambda header: header["settings"].update(environment=["nul\0"]),
    lambda header: header["settings"].update(variables={"nul\0": "1"}),
    lambda header: header["settings"].update(variables={"X": "nul\0"}),
]


@pytest.mark.parametrize("change", IMPOSSIBLE)
def test_what_no_command_can_be_made_of(scripted: ScriptedWorld, change: Callable[[Any], object]) -> None:
    journal = killed(scripted)
    edit(journal, change)
    assert "is damaged: no command can be made of" in scripted.refuses("compare", "--resume", journal)


def test_what_comes_from_a_harness_is_said(scripted: ScriptedWorld) -> None:
    journal = killed(scripted)
    edit(
        journal,
        lambda header: [
            header["settings"].update(harness="pytest-benchmark"),
            header["benchmarks"][0].update(entry="/tmp/evil.py::test", loops=1, samples=1),
        ],
    )
    said = scripted("compare", "--resume", journal).err.decode()
    assert "  benchmarks   /tmp/evil.py::test\n" in said
    assert "  harness      pytest-benchmark\n" in said


# --- whose it is


def a_stranger(monkeypatch: pytest.MonkeyPatch) -> None:
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)


@pytest.mark.parametrize("kind", ["journal", "record"])
def test_what_a_stranger_wrote_is_not_run(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    path = killed(scripted)
    if kind == "record":
        assert scripted("show", path, "--json", "record.json").status == 0
        path = scripted.folder / "record.json"
    before = path.read_bytes()
    a_stranger(monkeypatch)
    sentence = scripted.refuses("compare", "--resume", path)
    assert f"{path} belongs to " in sentence
    assert "add --trust-journal" in sentence
    assert scripted.launched == []
    assert path.read_bytes() == before
    done = scripted("compare", "--resume", path, "--trust-journal", "-o", "whole.json")
    assert done.status == 1
    assert done.err.startswith(b"steelyard: carrying on ")  # then, to any but root, that the store is another user's


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_root_does_not_run_what_users_wrote(scripted: ScriptedWorld) -> None:
    journal = killed(scripted)
    os.chown(journal, 12_345, -1)
    assert "belongs to user 12345, who decides what it runs" in scripted.refuses("compare", "--resume", journal)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give links away")
def test_a_link_of_somebody_else_is_not_followed(scripted: ScriptedWorld) -> None:
    journal, link = killed(scripted), scripted.folder / "link"
    link.symlink_to(journal)
    os.chown(link, 12_345, -1, follow_symlinks=False)
    assert "belongs to user 12345" in scripted.refuses("compare", "--resume", link)
    os.chown(link, os.geteuid(), -1, follow_symlinks=False)
    assert scripted("compare", "--resume", link).status == 1
    assert not journal.exists()  # its record has taken its place


@pytest.mark.parametrize(("mode", "runs"), [(0o666, False), (0o602, False), (0o664, True), (0o644, True)])
def test_what_everybody_may_write_to_is_not_run(scripted: ScriptedWorld, mode: int, *, runs: bool) -> None:
    journal = killed(scripted)
    journal.chmod(mode)
    if runs:
        assert scripted("compare", "--resume", journal).status == 1
    else:
        assert "every user may write to" in scripted.refuses("compare", "--resume", journal)
        assert scripted.launched == []


def test_nor_is_what_comes_through_a_pipe_that_everybody_may_write_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    pipe.chmod(0o622)
    with pytest.raises(UsageError, match="every user may write to"):
        _check_owner(pipe)  # before anything is read from it


def test_trust_is_for_journals_alone(scripted: ScriptedWorld) -> None:
    assert "--trust-journal is for what --resume" in scripted.refuses("compare", "./old", "./new", "--trust-journal")


# --- values that no record holds


def test_a_secret_is_asked_for_again(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = scripted.environment
    words = ("--env", "API_TOKEN=hunter2", "--env", "MODE=fast")
    journal = killed(scripted, "./old", "./new", *words)
    sentence = scripted.refuses("compare", "--resume", journal)
    assert "a value of API_TOKEN that no record holds, as it looks like a secret: set it in the environment" in sentence

    def environment(value: str) -> Mapping[str, str]:
        return {**plain, "API_TOKEN": value}

    monkeypatch.setattr(ScriptedWorld, "environment", environment("hunter2"))
    done = scripted("compare", "--resume", journal)
    assert done.status == 1, done
    assert "environment  HOME LANG PATH API_TOKEN MODE=fast\n" in announced(done.err)
    assert all({b"API_TOKEN=hunter2", b"MODE=fast"} <= set(spec.env) for spec in scripted.launched)
