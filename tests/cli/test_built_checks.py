"""`steelyard check` of what is built: real git and real builds; the launches are scripted, but in the last test."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.in_process import InProcess
from tests.repositories import Repo
from tests.target_builds import TARGET, TWO, built, two_targets
from tests.world import ScriptedWorld, measured, program_of

pytestmark = pytest.mark.real

CHECK = ("check", "--max-time", "1")


@pytest.fixture
def repo(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A project with two targets, and a work tree with a change that is not committed."""
    made = two_targets(scripted)
    monkeypatch.chdir(made.folder)
    scripted.script = lambda spec, _: measured(1 if program_of(spec) == "true" else 12)
    return made


def checked_sources(scripted: ScriptedWorld) -> set[str]:
    """Return the contents of the programs that were launched, apart from the empty process."""
    programs = {Path(os.fsdecode(spec.program)) for spec in scripted.launched}
    return {path.read_text() for path in programs if path.name != "true"}


def test_the_work_tree_is_built_as_for_a_weighing_and_once_for_both(repo: Repo, scripted: ScriptedWorld) -> None:
    before = repo.contents()
    done = scripted(*CHECK, "--target", "sort")
    assert (done.status, built(scripted), checked_sources(scripted)) == (0, ["sort"], {"#!/bin/sh\n# new\n"}), done.text
    said = done.err.decode()
    assert said.startswith("steelyard: steelyard.toml says what is run:\n  sort, build  sh build sort\n")
    scripted("compare", "--pairs", "14", "--target", "sort")
    assert built(scripted) == ["sort"], "only the baseline was not built yet"
    assert (scripted(*CHECK).status, built(scripted)) == (0, ["sort", "parse"])
    assert (scripted(*CHECK).status, built(scripted)) == (0, [])
    assert repo.contents() == before


def test_another_revision_is_checked_by_its_name(repo: Repo, scripted: ScriptedWorld) -> None:
    repo.write("parse.in", "gone")
    assert scripted(*CHECK, "--base", "main").status == 0
    assert checked_sources(scripted) == {"#!/bin/sh\n"}
    assert "--base 'gone' is no revision" in scripted(*CHECK, "--base", "gone").err.decode()


def test_a_target_that_another_revision_lacks_is_named_and_left_out(repo: Repo, scripted: ScriptedWorld) -> None:
    plain = '[[target]]\nname = "plain"\ncommand = "./plain.sh"\n'
    repo.write("steelyard.toml", TWO + TARGET.format(name="new") + plain)
    done = scripted(*CHECK, "--base", "main")
    assert (done.status, done.text.endswith("in all     no trouble in 2 checks\n")) == (0, True), done.err.decode()
    said = done.err.decode()
    assert "steelyard: new: not in main" in said
    assert "so it is not checked: its build fails there, and the project's file there does not have it yet" in said
    assert "steelyard: plain: not in main" in said
    done = scripted(*CHECK, "--base", "main", "--target", "new", "--target", "plain")
    assert (done.status, done.err.decode().splitlines()[-1]) == (2, "steelyard: there is nothing to check")
    assert "plain.sh' cannot be run" in scripted(*CHECK, "--target", "plain").err.decode()


@pytest.mark.parametrize("line", ["", 'harness = "protocol"\n'])
def test_a_target_whose_file_another_revision_lacks_is_left_out_too(
    repo: Repo, scripted: ScriptedWorld, line: str
) -> None:
    repo.write("bench.py", "pass")
    repo.write("steelyard.toml", TARGET.format(name="sort") + TARGET.format(name="new") + line)
    config = repo.folder / "steelyard.toml"
    config.write_text(config.read_text().replace("./new.out", "true bench.py").replace('build = "sh build new"\n', ""))
    done = scripted(*CHECK, "--base", "main")
    said = done.err.decode()
    assert (done.status, done.text.endswith("in all     no trouble in 1 check\n")) == (0, True), said
    assert "steelyard: new: not in main" in said
    assert "so it is not checked: there is no bench.py" in said


def test_one_that_does_not_build_fails_alone(repo: Repo, scripted: ScriptedWorld) -> None:
    (repo.folder / "sort.in").unlink()
    done = scripted(*CHECK)
    assert done.status == 3
    assert "steelyard: sort: target sort of work tree does not build: sh build sort failed" in done.err.decode()
    assert done.text.endswith("in all     no trouble in 1 check\nfailed     sort\n")


def test_what_all_share_ends_all_if_it_does_not_build(repo: Repo, scripted: ScriptedWorld) -> None:
    repo.write("steelyard.toml", f'[build]\ncommand = "false"\n{TWO}')
    repo.write("found-sort.json", "of yesterday")
    done = scripted(*CHECK, "--json", "found.json")
    assert (done.status, done.out, (repo.folder / "found-sort.json").exists()) == (3, b"", False)
    assert "steelyard: work tree does not build: false failed with exit status 1" in done.err.decode()


def test_one_layout_stands_for_all(repo: Repo, scripted: ScriptedWorld) -> None:
    shared = '[build]\ncommand = "cp sort.in sort-{layout}.out && chmod +x sort-{layout}.out"\nlayouts = 3\n'
    repo.write("steelyard.toml", shared + TARGET.format(name="sort").replace("./sort", "./sort-{layout}"))
    done = scripted(*CHECK)
    assert done.status == 0, done.err
    assert "checked    ./sort-1.out\n" in done.text


@pytest.mark.parametrize(
    ("line", "remedy"), [("", "give its absolute path"), ('harness = "protocol"\n', "name a folder that both have")]
)
@pytest.mark.parametrize("base", [(), ("--base", "main")])
def test_a_file_that_git_ignores_is_named(
    repo: Repo, scripted: ScriptedWorld, line: str, remedy: str, base: Sequence[str]
) -> None:
    repo.write("words.json", "[]")
    repo.write("steelyard.toml", TARGET.format(name="sort").replace("./sort.out", "true words.json") + line)
    scripted.script = lambda *_: measured(1, exit_code=1)
    said = scripted(*CHECK, *base).err.decode()
    assert f"words.json is in your folder and not in that revision, where it runs: {remedy}" in said


@pytest.mark.usefixtures("repo")
def test_a_command_is_built_by_the_options(scripted: ScriptedWorld) -> None:
    done = scripted(*CHECK, "./sort.out", "--build", "sh build sort", "--json", "found.json")
    assert (done.status, built(scripted), checked_sources(scripted)) == (0, ["sort"], {"#!/bin/sh\n# new\n"}), done.err
    found = scripted.json("project/found.json")
    assert (found["command"], found["benchmarks"]) == ("./sort.out", ["./sort.out"])
    scripted.launched.clear()
    assert scripted(*CHECK, "./sort.out", "--build", "sh build sort", "--base", "main").status == 0
    assert checked_sources(scripted) == {"#!/bin/sh\n"}
    done = scripted(*CHECK, "--build", "sh build sort", "--target", "sort")
    assert (done.status, built(scripted)) == (0, ["sort"])
    assert "sort, build" not in done.err.decode()


def test_it_runs(here: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    target = '[[target]]\nname = "{name}"\ncommand = "{command}"\n'
    project = target.format(name="wait", command="./wait.sh") + target.format(name="gone", command="false")
    repo = Repo.made(here.folder / "project", **{"steelyard.toml": project, "wait.in": "#!/bin/sh\nsleep 0.02\n"})
    repo.write("steelyard.toml", f'[build]\ncommand = "cp wait.in wait.sh && chmod +x wait.sh"\n{project}')
    monkeypatch.chdir(repo.folder)
    done = here("check", "--max-time", "0.3")
    assert done.status == 3, done.text
    assert "checking   wait\nchecked    ./wait.sh\n" in done.text
    assert "steelyard: gone: gone failed with exit status 1: fix the command." in done.err.decode()
    assert done.text.endswith("failed     gone\n")
