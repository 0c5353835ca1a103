"""Targets of a project with builds of their own: real git and real builds; the launches are scripted."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import steelyard
from steelyard.api.recipe import known_targets
from steelyard.subjects.revisions.git import repository_of
from steelyard.subjects.revisions.revision import resolve_name
from tests.repositories import Repo
from tests.target_builds import SOURCE, TARGET, TWO, built, two_targets
from tests.world import ScriptedWorld, measured

pytestmark = pytest.mark.real

NEW = TARGET.format(name="new")
COMPARE = ("compare", "--pairs", "14")


@pytest.fixture
def repo(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A project with two targets, and a work tree in which nothing got slower."""
    made = two_targets(scripted)
    monkeypatch.chdir(made.folder)
    scripted.script = lambda *_: measured(12)
    return made


def test_only_what_is_weighed_is_built(repo: Repo, scripted: ScriptedWorld) -> None:
    done = scripted(*COMPARE, "--target", "sort", "-o", "sort.json")
    assert (done.status, built(scripted)) == (0, ["sort"] * 2)
    assert done.err.decode().startswith(
        "steelyard: steelyard.toml says what is run:\n  sort, build  sh build sort\n  sort         ./sort.out\n"
    )
    assert "command    ./sort.out, in each revision, built by sh build sort\n" in done.text
    done = scripted(*COMPARE, "-o", "all.json")
    assert (done.status, built(scripted)) == (0, ["sort"] * 2 + ["parse"] * 2)
    assert "each command, in each revision, with a build of its own" in " ".join(done.text.split())
    found = [one["revision"]["build"] for one in json.loads(Path("all.json").read_text())["subjects"]]
    assert found == ["sh build sort"] * 2 + ["sh build parse"] * 2
    assert (scripted(*COMPARE, "--target", "parse").status, built(scripted)) == (0, [])
    assert scripted("cache").text.count("sh build sort; sh build parse\n") == 2
    repo.write("steelyard.toml", f'[build]\ncommand = "true"\n{TWO}')
    done = scripted(*COMPARE, "--target", "parse", "-o", "parse.json")
    assert "built by true; sh build parse\n" in done.text


@pytest.mark.usefixtures("repo")
def test_what_the_command_line_builds_with_replaces_all(scripted: ScriptedWorld) -> None:
    command = "for one in sort parse; do sh build $one; done"
    done = scripted(*COMPARE, "--target", "sort", "--build", command)
    assert (done.status, sorted(built(scripted))) == (0, ["parse", "parse", "sort", "sort"])
    assert done.err.decode().splitlines()[1:2] == ["  sort  ./sort.out"]


@pytest.mark.parametrize("words", [COMPARE, ("check",)], ids=" ".join)
def test_what_ends_the_builds_of_several_is_shown_once(
    repo: Repo, scripted: ScriptedWorld, words: tuple[str, ...]
) -> None:
    both = "".join(TARGET.format(name=name).replace(f"sh build {name}", "sh build parse") for name in ("sort", "parse"))
    repo.write("steelyard.toml", both)
    (repo.folder / "parse.in").unlink()
    said = scripted(*words).err.decode()
    assert [said.count(f"{name}: target {name} of work tree does not build: ") for name in ("sort", "parse")] == [1, 1]
    assert len([line for line in said.splitlines() if line.startswith("  | ")]) == 1


def test_one_that_does_not_build_fails_alone(repo: Repo, scripted: ScriptedWorld) -> None:
    (repo.folder / "parse.in").unlink()
    done = scripted(*COMPARE, "--json", "out.json")
    assert done.status == 3
    said = "parse: target parse of work tree does not build: sh build parse failed with exit status 1; its log is "
    assert said in done.err.decode()
    assert "parse.in" in done.err.decode().splitlines()[-2]
    assert {spec.argv for spec in scripted.launched} == {(b"./sort.out",)}
    assert "1 undecided of 2" in done.text or "1 same of 2" in done.text
    assert scripted("gate", "out-sort.json", "out-parse.json").status == 3
    assert json.loads(Path("out-sort.json").read_text())["settings"]["alpha"] == 0.01, "it takes no part of alpha"
    with pytest.raises(steelyard.IncompleteError, match=r"^parse: target parse of work tree does not build") as failed:
        steelyard.compare_project(pairs=14, world=scripted.outside())
    assert (failed.value.exit_status, [one.benchmarks for one in failed.value.records]) == (3, [["sort"]])
    alone = scripted(*COMPARE, "--target", "parse")
    assert (alone.status, alone.out) == (3, b"")
    assert "steelyard: target parse of work tree does not build: " in alone.err.decode()


def test_one_that_is_new_is_named_and_left_out(repo: Repo, scripted: ScriptedWorld) -> None:
    repo.write("steelyard.toml", TWO + NEW)
    repo.write("new.in", SOURCE)
    for expected in (6, 0):
        done = scripted(*COMPARE)
        assert (done.status, len(built(scripted))) == (0, expected)
        said = "so it is not compared: its build fails there, and the project's file there does not have it yet"
        assert re.search(rf"new is not in merge base with main \(\w+\), {said} ", " ".join(done.text.split()))
    done = scripted(*COMPARE, "--target", "new", "-o", "new.json")
    assert done.status == 0
    assert "has no such command of steelyard.toml, so nothing is compared yet; new in work tree: new" in " ".join(
        done.text.split()
    )
    assert scripted("gate", "new.json").status == 0
    (repo.folder / "new.in").unlink()
    repo.commit("the base does not build what it has")
    repo.write("new.in", SOURCE)
    done = scripted(*COMPARE, "--target", "new")
    assert done.status == 3
    assert "target new of merge base with main" in done.err.decode()


def test_what_the_base_s_own_file_has_is_known(repo: Repo) -> None:
    repository = repository_of(repo.folder, {"PATH": "/usr/bin:/bin"})

    def known(**files: str) -> object:
        repo.git("rm", "-q", "--cached", "--ignore-unmatch", "steelyard.toml", "pyproject.toml")
        for name in ("steelyard.toml", "pyproject.toml"):
            (repo.folder / name).unlink(missing_ok=True)
        return known_targets(repository, resolve_name(repository, "--base", repo.commit("x", **files)))

    in_table = TWO.replace("[[target]]", "[[tool.steelyard.target]]")
    assert known(**{"steelyard.toml": TWO}) == known(**{"pyproject.toml": in_table}) == {"sort", "parse"}
    assert known(**{"steelyard.toml": f"\ufeff{TWO}"}) == {"sort", "parse"}, "as some editors write it"
    assert known() == set()
    assert known(**{"steelyard.toml": "target = 3"}) == set()
    assert known(**{"steelyard.toml": "target ="}) is None


def test_an_empty_build_is_refused(repo: Repo, scripted: ScriptedWorld) -> None:
    repo.write("steelyard.toml", TWO.replace("sh build parse", " "))
    assert (
        scripted.refuses("compare", "--target", "sort") == "steelyard.toml:8: build has to be a text that can be seen"
    )
    repo.write("steelyard.toml", TWO.replace('"sh build parse"', '["a"]'))
    assert scripted.refuses("compare") == "steelyard.toml:8: build has to be a text in quotes"


def test_layouts_need_their_number_in_what_builds_each_target(repo: Repo, scripted: ScriptedWorld) -> None:
    repo.write("steelyard.toml", TWO.replace("sh build sort", "sh build sort {layout}"))
    assert scripted(*COMPARE, "--layouts", "2", "--target", "sort").status == 0
    assert built(scripted) == ["sort"] * 4
    done = scripted("compare", "--layouts", "2")
    assert (done.status, built(scripted)) == (2, [])
    said = (
        "--layouts 2: './parse.out' has no {layout}, so that one layout alone would be weighed: write it in the command"
    )
    assert said in done.err.decode()
