"""Revisions from a program, with real git and real builds; the launches are scripted."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import steelyard
from steelyard.model.progress import Progress
from steelyard.model.records import Run, Weighing
from tests.repositories import BUILD, Repo, slower_work_tree
from tests.world import ScriptedWorld

pytestmark = pytest.mark.real


@pytest.fixture
def repo(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository whose work tree is slower than `main`, and in which this process is."""
    return slower_work_tree(scripted, monkeypatch)


def test_a_weighing_is_that_of_the_command_line(
    scripted: ScriptedWorld, repo: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[Progress] = []
    found = steelyard.compare(
        "./program", base="main", build=BUILD, pairs=12, progress=told.append, world=scripted.outside()
    )
    assert capsys.readouterr() == ("", ""), "nothing is printed"
    assert found.verdict == "slower"
    assert "build" in {one.noun for one in told}
    scripted.seconds, scripted.launches = 1000.0, 0
    scripted("compare", "--base", "main", "--build", BUILD, "./program", "--pairs", "12", "-o", "../cli.json")
    theirs = steelyard.load("../cli.json", world=scripted.outside())
    assert isinstance(theirs.data, Weighing)
    assert theirs.data.model_dump_json() == found.data.model_dump_json()
    assert found.data.subjects[0].name == f"main ({repo.git('rev-parse', 'main')[:7]})"


@pytest.mark.usefixtures("repo")
def test_one_alone_also_on_another_thread(scripted: ScriptedWorld) -> None:
    found: list[steelyard.Record[Run]] = []

    def measure() -> None:
        options = {"base": "main", "build": BUILD, "build_timeout": "1m"}
        found.append(steelyard.run("./program", launches=5, name="it", world=scripted.outside(), **options))  # type: ignore[arg-type]

    thread = threading.Thread(target=measure)
    thread.start()
    thread.join()
    (subject,) = found[0].data.subjects
    assert subject.name == "it"
    assert subject.revision is not None
    assert subject.revision.build == BUILD


def test_a_check_is_that_of_the_command_line_with_what_is_to_be_known_of_the_revision(
    scripted: ScriptedWorld, repo: Repo
) -> None:
    """Findings have no other place than the record: nothing is printed."""
    (repo.folder / "a.o").write_bytes(b"\x7fELF")
    found = steelyard.check("./program", build=BUILD, max_time=1, world=scripted.outside())
    assert [one.code for one in found.findings] == ["built-files"]
    assert ": a.o</p>" in steelyard.page(found, world=scripted.outside())
    scripted.seconds, scripted.launches = 1000.0, 0
    done = scripted("check", "./program", "--build", BUILD, "--max-time", "1", "-o", "../cli.json")
    assert b"built files too: a.o" in done.err
    found.save("../mine.json")
    assert Path("../mine.json").read_bytes() == Path("../cli.json").read_bytes()
    base = steelyard.check("./program", base="main", build=BUILD, max_time=1, world=scripted.outside())
    assert base.findings == []


def test_crates_that_cargo_chose_anew_for_each_side_are_noted(scripted: ScriptedWorld, repo: Repo) -> None:
    """As where a library's Cargo.lock is ignored, and the base was built weeks before."""
    repo.commit("ignored", **{".gitignore": "program\nCargo.lock\n", "source": "#!/bin/sh\necho old\n"})
    repo.write("source", "#!/bin/sh\necho new\n")
    lock = 'printf \'[[package]]\nname = "rand"\nversion = "%s"\nsource = "x"\n\' $(./program) > Cargo.lock'
    found = steelyard.compare("./program", base="main", build=f"{BUILD} && {lock}", pairs=12, world=scripted.outside())
    (note,) = (one for one in found.data.findings if one.code == "unlike-crates")
    assert note.message.endswith(": rand old -> new")


@pytest.mark.usefixtures("repo")
def test_a_build_that_fails_is_an_exception(scripted: ScriptedWorld) -> None:
    with pytest.raises(steelyard.MeasurementError, match="does not build: exit 1 failed"):
        steelyard.compare(["./program"], base="main", build="exit 1", world=scripted.outside())
    with pytest.raises(steelyard.UsageError, match=r"^base 'nothing' is no revision"):
        steelyard.run("./program", base="nothing", world=scripted.outside())
    assert not scripted.kept()
