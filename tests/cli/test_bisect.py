from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steelyard.design.bisection.search import Searching
from steelyard.model.errors import MeasurementError
from steelyard.model.files import load
from steelyard.model.launches import LaunchSpec, Measured
from tests.in_process import InProcess
from tests.scripted_git import AUTHOR, ScriptedGit, name_of
from tests.tool import Done
from tests.world import ScriptedWorld, ctrl_c, program_of

FAST, SLOW = 10.0, 10.3


@pytest.fixture
def git(scripted: ScriptedWorld) -> Callable[..., ScriptedGit]:
    """A repository of so many commits, slow from one of them on."""

    def make(commits: int = 9, slow: int = 6, **options: Any) -> ScriptedGit:
        options.setdefault("ms", [SLOW if number >= slow else FAST for number in range(commits)])
        return ScriptedGit(scripted, **options)

    return make


def bisect(scripted: ScriptedWorld, *words: str) -> Done:
    return scripted("bisect", "--good", "c0", "./prog", "--pairs", "40", *words)


def test_the_commit_is_named_with_its_change(scripted: ScriptedWorld, git: Callable[..., ScriptedGit]) -> None:
    repository = git(commits=17, slow=11)
    done = bisect(scripted, "--json", "found.json")
    assert done.status == 1, done
    assert f"slower     {name_of(11)}\n" in done.text
    assert "Change number 11" in done.text
    assert AUTHOR in done.text
    assert "against its parent 0a0a0a0a0a" in done.text
    found = json.loads(Path("found.json").read_text())
    assert (found["end"], found["found"]["hash"]) == ("found", name_of(11))
    assert found["change"]["interval"][0] < 0.03 < found["change"]["interval"][1]
    assert [step["kind"] for step in found["steps"]] == ["ends", "step", "step", "step", "step", "last"]
    # On the way each decision is a line.
    assert done.err.decode().count("\n") == len(found["steps"]) + 1
    # Each weighing is a record of its own, of the commits' own folders.
    assert sorted(step["record"] for step in found["steps"]) == [str(path) for path in scripted.kept()]
    assert not repository.trees


def test_no_weighing_keeps_alpha_for_going_on(scripted: ScriptedWorld, git: Callable[..., ScriptedGit]) -> None:
    """Where one stays open there is a range of commits, which no other budget is asked for."""
    git()
    assert bisect(scripted).status == 1
    assert {load(path).settings.reserve for path in scripted.kept()} == {0}


def test_each_commit_is_built_once_and_in_its_own_folder(
    scripted: ScriptedWorld, git: Callable[..., ScriptedGit]
) -> None:
    repository = git()
    assert bisect(scripted, "--build", "make -j2").status == 1
    assert len(set(repository.built)) == len(repository.built) > 3
    folders = {len(spec.cwd or b"") for spec in scripted.launched if program_of(spec) == "prog"}
    assert len(folders) == 1  # a longer path would be another program to some


def test_commits_that_do_not_build_or_run_are_skipped(scripted: ScriptedWorld, git: Callable[..., ScriptedGit]) -> None:
    git(commits=17, slow=11, broken={8}, without={9}, failing={7})
    done = bisect(scripted, "--build", "make")
    assert done.status == 1
    assert name_of(11) in done.text
    said = done.err.decode()
    assert "skipped: 0808080808 does not build (exit status 2): work.c:1: error: no such thing" in said
    assert "3 commits that could not be weighed" in done.text


def test_where_the_slow_one_hides_among_those_that_are_skipped_a_range_is_named(
    scripted: ScriptedWorld, git: Callable[..., ScriptedGit]
) -> None:
    git(broken={5, 6})
    done = bisect(scripted, "--build", "make", "--json", "found.json")
    assert done.status == 4
    assert "after 0404040404, up to 0707070707: 3 commits" in done.text
    found = json.loads(Path("found.json").read_text())
    assert found["found"] is None
    assert [one["hash"] for one in found["suspects"]] == [name_of(5), name_of(6), name_of(7)]


@pytest.mark.parametrize("broken", [0, 8])
def test_an_end_that_does_not_build(scripted: ScriptedWorld, git: Callable[..., ScriptedGit], broken: int) -> None:
    git(broken={broken})
    done = bisect(scripted, "--build", "make")
    assert done.status == 3
    assert f"{name_of(broken)[:10]} does not build" in done.err.decode()
    assert "give a --good and a --bad that build" in done.err.decode()


def test_an_end_without_the_command(scripted: ScriptedWorld, git: Callable[..., ScriptedGit]) -> None:
    git(without={0})
    done = bisect(scripted)
    assert done.status == 2
    assert "in 0000000000 the baseline command" in done.err.decode()


@pytest.mark.parametrize("wobbling", [set(), {4}])
def test_counts_that_repeat_exactly_are_compared_with_one_end(
    scripted: ScriptedWorld, git: Callable[..., ScriptedGit], wobbling: set[int]
) -> None:
    git(ms=[10.0] * 6 + [10.01] * 3, wobbling=wobbling)
    words = ("--metric", "instructions", "--margin", "0.05%", "--json", "found.json")
    done = scripted("bisect", "--good", "c0", "./prog", *words)
    assert done.status == 1, done
    assert "slower +0.10 % exactly" in done.text
    found = json.loads(Path("found.json").read_text())
    assert found["found"]["hash"] == name_of(6)
    compared = [len(step["compared"]) for step in found["steps"]]
    # Once counts differ from launch to launch, both ends are asked.
    assert compared == ([1, 2, 2, 2, 1] if wobbling else [1] * 5)


def test_what_fails_on_the_way_leaves_the_range(scripted: ScriptedWorld, git: Callable[..., ScriptedGit]) -> None:
    repository = git()

    def failing(spec: LaunchSpec, number: int) -> Measured:
        if number > 100 and program_of(spec) == "prog":
            raise MeasurementError("the launch server ended unexpectedly")
        return repository.script(spec, number)

    scripted.script = failing
    done = bisect(scripted)
    assert done.status == 3
    assert "undecided  after" in done.text
    assert "the launch server ended unexpectedly" in done.err.decode()
    assert not repository.trees


def test_nothing_to_find(scripted: ScriptedWorld, git: Callable[..., ScriptedGit]) -> None:
    git(slow=99)
    done = bisect(scripted)
    assert done.status == 0
    assert "nothing to find: bad is the same as good" in done.text


def test_what_became_faster_is_nothing_to_find(scripted: ScriptedWorld, git: Callable[..., ScriptedGit]) -> None:
    git(ms=[FAST, 9.0, 9.0])
    done = bisect(scripted)
    assert done.status == 0
    assert "bad is faster than good" in done.text


def test_the_same_files_are_not_weighed(scripted: ScriptedWorld, git: Callable[..., ScriptedGit]) -> None:
    repository = git(same_files={4: 0})
    done = bisect(scripted)
    assert done.status == 1
    assert "0404040404 holds the same files as a good one" in done.err.decode()
    assert not any(name_of(4) in word for words in repository.said for word in words if words[0] == "worktree")


def test_a_subject_line_steers_no_terminal(scripted: ScriptedWorld, git: Callable[..., ScriptedGit]) -> None:
    git(commits=2, slow=1, subject="\x1b[31m\u202ered [bold]")
    done = bisect(scripted)  # which looks for control characters
    assert "\\x1b[31m\\u202ered [bold] 1" in done.text


@pytest.mark.parametrize("launch", [25, 120])
def test_ctrl_c_leaves_the_range_so_far(scripted: ScriptedWorld, git: Callable[..., ScriptedGit], launch: int) -> None:
    repository = git()

    def interrupted(spec: LaunchSpec, number: int) -> Measured:
        if number == launch:
            ctrl_c()
        return repository.script(spec, number)

    scripted.script = interrupted
    done = bisect(scripted, "--json", "found.json")
    assert done.status == 130, done
    assert not repository.trees
    if launch == 120:
        assert json.loads(Path("found.json").read_text())["end"] == "interrupted"
        assert "commits" in done.text
    else:
        assert done.out == b""


def test_ctrl_c_between_two_weighings(
    scripted: ScriptedWorld, git: Callable[..., ScriptedGit], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = git()
    judge = Searching._judge

    def interrupted(*words: Any) -> None:
        judge(*words)
        ctrl_c()

    monkeypatch.setattr(Searching, "_judge", interrupted)
    done = bisect(scripted)
    assert done.status == 130
    assert done.err.decode().count("\n") == 3  # the line of commits, the ends, and one step
    assert not repository.trees


def test_ctrl_c_while_a_commit_is_built(scripted: ScriptedWorld, git: Callable[..., ScriptedGit]) -> None:
    repository = git()

    def interrupted(spec: LaunchSpec, number: int) -> Measured:
        if program_of(spec) == "sh" and len(repository.built) == 3:
            ctrl_c()
        return repository.script(spec, number)

    scripted.script = interrupted
    done = bisect(scripted, "--build", "make")
    assert done.status == 130
    assert "interrupted" in done.text
    assert not repository.trees


@pytest.mark.parametrize(
    ("options", "words", "sentence"),
    [
        ({"refusal": "not a git repository"}, [], "bisect works in a git repository: fatal: not a git repository"),
        ({"bare": True}, [], "as in a bare repository"),
        ({}, ["--good", "nope"], "--good 'nope' is no commit of this repository: check its name"),
        ({"shallow": True}, ["--bad", "nope"], "git fetch --unshallow"),
        ({}, ["--good=--all"], "--good '--all' is no commit"),
        ({}, ["--bad", "c0"], "are the same commit"),
        ({}, ["--good", "c7", "--bad", "c3"], "the other way round"),
        ({"apart": {2}}, ["--bad", "c2"], "they part at 0000000000: try --good 0000000000"),
        ({"merged": True}, [], "the line of first parents does not pass it: give --good c8c8c8c8c8"),
        ({}, ["--pairs", "10"], "--pairs 10 can never tell commits apart"),
    ],
)
def test_bad_input(
    scripted: ScriptedWorld,
    git: Callable[..., ScriptedGit],
    options: dict[str, Any],
    words: list[str],
    sentence: str,
) -> None:
    git(**options)
    assert sentence in scripted.refuses("bisect", "--good", "c0", "./prog", *words)


def test_without_git(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    assert "git was not found on PATH" in scripted.refuses("bisect", "--good", "c0", "./prog")


def test_the_options_are_checked_before_anything_runs(asked: InProcess) -> None:
    assert "--good" in asked.refuses("bisect", "./prog")
    twice = ("--prepare", "true", "--prepare", "true")
    assert "--prepare was given twice" in asked.refuses("bisect", "--good", "x", "true", *twice)
    assert "--jobs" in asked.refuses("bisect", "--good", "x", "true", "--jobs", "0")


@pytest.mark.real
@pytest.mark.noisy
def test_a_real_repository(here: InProcess) -> None:
    """A planted step of half as much again in a history of 6, of which one does not build."""

    def git(*words: str) -> str:
        names = ("AUTHOR", "COMMITTER")
        people = {f"GIT_{who}_{what}": "someone@example.org" for who in names for what in ("NAME", "EMAIL")}
        surroundings = {**os.environ, **people, "GIT_CONFIG_GLOBAL": os.devnull}
        return subprocess.run(
            ["git", *words], cwd=here.folder, env=surroundings, check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "--quiet")
    for number, rounds in enumerate((400, 400, 400, 800, 800, 800)):
        (here.folder / "work.in").write_text(f"#!/bin/sh\ni=0\nwhile [ $i -lt {rounds} ]; do i=$((i+1)); done\n")
        (here.folder / "number").write_text(f"{number}")
        git("add", "work.in", "number")
        git("commit", "--quiet", "--message", f"Commit {number}")
    names = git("log", "--reverse", "--format=%H").splitlines()
    build = "test $(cat number) != 2 || exit 9; cp work.in work; chmod +x work"
    done = here("bisect", "--good", names[0], "--build", build, "./work", "--json", "found.json", "--max-time", "20")
    found = json.loads((here.folder / "found.json").read_text())
    assert done.status in (1, 4), done
    suspects = [one["hash"] for one in found["suspects"]]
    assert names[3] in suspects
    assert git("worktree", "list").count("\n") == 0  # ours alone
    assert git("status", "--porcelain").splitlines() == ["?? found.json", "?? state/"]
