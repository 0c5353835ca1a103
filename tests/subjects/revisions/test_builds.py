"""Both sides are built once, in folders of their own, and held while they are used."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from steelyard.model.errors import InterruptedBeforeStart, MeasurementError, SteelyardError, UsageError
from steelyard.model.progress import Progress
from steelyard.subjects.revisions.builds import Built, built
from steelyard.subjects.revisions.cache import Cache
from steelyard.subjects.revisions.checkout import NotBuiltError
from steelyard.subjects.revisions.git import repository_of
from steelyard.subjects.revisions.recipe import Job, Recipe
from steelyard.subjects.revisions.revision import resolve_sides
from steelyard.subjects.revisions.toolchain import fingerprint
from tests.repositories import BUILD, Repo, script

pytestmark = pytest.mark.real

COUNTED = f"{BUILD} && echo built >> ../../built"


class Builder:
    """Builds revisions of a repository in a cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.repo = Repo.made(folder / "project")
        self.cache = Cache(folder / "cache")
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        self.seen: list[Progress] = []
        self.when: dict[str, Callable[[], None]] = {}
        """What is done when the progress begins with this word; without an entry nothing may wait."""

    @contextmanager
    def __call__(
        self,
        base: str | None = None,
        candidate: str | None = None,
        *,
        recipes: Sequence[Recipe] = (Recipe(COUNTED),),
        within: str = ".",
    ) -> Iterator[list[Built]]:
        repository = repository_of(self.repo.folder / within, self.environment)
        with ExitStack() as holding:
            revisions = resolve_sides(repository, base, candidate, holding)
            jobs = [Job(revision, recipes[min(n, len(recipes) - 1)]) for n, revision in enumerate(revisions)]
            yield holding.enter_context(built(repository, jobs, self.cache, self.watch, self.environment))

    def watch(self, progress: Progress) -> None:
        self.seen.append(progress)
        word = progress.benchmark.partition(" ")[0]
        if word in self.when:
            self.when[word]()
        elif word == "waiting":
            pytest.fail("it would wait for ever")

    def refusal(self, kind: type[SteelyardError] = NotBuiltError, **asked: object) -> SteelyardError:
        with pytest.raises(kind) as caught, self(**asked):  # type: ignore[arg-type]
            pass
        return caught.value

    def made(self) -> list[str]:
        """Return the revisions that were checked out to be built since the last call."""
        begin = "checking out "
        said = [one.benchmark for one in self.seen if one.benchmark.startswith(begin)]
        self.seen = [one for one in self.seen if not one.benchmark.startswith(begin)]
        return [one.removeprefix(begin) for one in said]

    def times(self) -> int:
        """Return how often something was built."""
        path = self.cache.folder / "built"
        return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.fixture
def build(tmp_path: Path) -> Builder:
    builder = Builder(tmp_path)
    builder.repo.write("source", script("new"))
    return builder


def test_each_side_is_built_from_its_own_files(build: Builder) -> None:
    before = build.repo.contents()
    with build() as sides:
        assert [(side.folder / "program").read_text() for side in sides] == [script("old"), script("new")]
        assert len({len(str(side.folder)) for side in sides}) == 1
        assert build.made() == [side.revision.label for side in sides]
        assert all(side.tracked() is side.tracked() is not None for side in sides)  # git is asked once
    said = [one.allowance for one in build.seen if one.allowance]
    assert said == [f"building {side.revision.label}: {COUNTED}" for side in sides]
    assert build.repo.contents() == before
    assert build.repo.git("worktree", "list").count("\n") == 0


def test_nothing_is_built_twice(build: Builder) -> None:
    for expected in (2, 0):
        with build():
            assert len(build.made()) == expected
    assert build.times() == 2
    build.repo.write("source", script("newer"))
    with build():
        assert build.made() == ["work tree"]
    assert build.times() == 3


@pytest.mark.parametrize(("end", "timeout_s"), [("exit 1", 60.0), ("sleep 60", 0.2), ("exit 0", 60.0)])
def test_what_compilers_leave_among_the_temporary_files_goes(build: Builder, end: str, timeout_s: float) -> None:
    recipe = Recipe(f"mktemp >> ../../left && {end}", timeout_s=timeout_s)
    with suppress(NotBuiltError), build(recipes=[recipe]):
        pass
    left = [Path(line) for line in (build.cache.folder / "left").read_text().splitlines()]
    assert left
    assert [path for path in left if path.exists()] == []
    assert [path.parent for path in left if path.parent.exists()] == []


@pytest.mark.parametrize(
    ("command", "variables"),
    [
        ("cc-13 -O2", {}),
        ("true && cc-13", {}),
        ("{bin}/cc-13", {}),
        ("$CC -O2", {"CC": "cc-13"}),
        ("$CC -O2", {"CC": "ccache {bin}/cc-13"}),
        ("make", {"CMAKE_C_COMPILER": "{bin}/cc-13"}),
    ],
)
def test_a_program_that_the_build_names_is_looked_at_whatever_it_is_called(
    tmp_path: Path, command: str, variables: dict[str, str]
) -> None:
    tool = tmp_path / "cc-13"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    source = {"PATH": f"{tmp_path}:/bin"} | {name: value.format(bin=tmp_path) for name, value in variables.items()}
    asked = command.format(bin=tmp_path)
    before = fingerprint(source, {}, asked)
    tool.write_text("#!/bin/sh\n# a newer one\n")
    assert fingerprint(source, {}, asked) != before
    # A relative path names what is in the tree, or was built from it.
    path, in_tree = {"PATH": source["PATH"]}, "./cc-13; sub/cc-13"
    before = fingerprint(path, {}, in_tree)
    tool.write_text("#!/bin/sh\n# a third one\n")
    assert fingerprint(path, {}, in_tree) == before


def test_tools_are_those_of_the_path_that_a_build_is_given(tmp_path: Path) -> None:
    tool = tmp_path / "cc"
    tool.write_text("#!/bin/sh\n")
    wanted = {"PATH": f"{tmp_path}:/bin"}
    before = fingerprint({"PATH": "/bin"}, wanted, "make")
    tool.write_text("#!/bin/sh\n# a newer one\n")
    assert fingerprint({"PATH": "/bin"}, wanted, "make") != before


@pytest.mark.parametrize(
    "file",
    [".cargo/config.toml", "rust/settings.toml", ".config/go/env", "pyenv/version", ".tool-versions"],
)
def test_what_files_of_the_user_s_tell_tools_is_looked_at(tmp_path: Path, file: str) -> None:
    source = {"PATH": f"{tmp_path}/pyenv/shims:/bin", "HOME": str(tmp_path), "RUSTUP_HOME": f"{tmp_path}/rust"}
    before = fingerprint(source, {}, "make")
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text("3.12.1")
    with_file = fingerprint(source, {}, "make")
    (tmp_path / file).write_text("3.13.0")
    assert len({*map(tuple, (before, with_file, fingerprint(source, {}, "make")))}) == 3


def test_a_folder_that_is_on_the_path_twice_changes_no_build(tmp_path: Path) -> None:
    (tmp_path / "cc").write_text("a compiler")
    once, twice = (
        fingerprint({"PATH": path}, {}, "make") for path in (f"{tmp_path}:/bin", f"{tmp_path}:/bin:{tmp_path}")
    )
    assert once == twice
    assert fingerprint({"PATH": f"/bin:{tmp_path}"}, {}, "make") != once


def test_what_changes_a_build_has_it_made_anew(build: Builder, tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "cc"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    build.environment["PATH"] = f"{tool.parent}:{build.environment['PATH']}"
    build.repo.write("below/file", "x")
    build.repo.commit("below")
    recipe = Recipe("echo {layout}")

    def made(recipe: Recipe, within: str = ".") -> int:
        build.made()
        with build("HEAD", recipes=[recipe], within=within):
            return len(build.made())  # of both sides, which are one tree

    assert made(recipe) == 1
    build.environment["EDITOR"] = "has nothing to do with it"
    assert made(recipe) == 0
    for changed in (
        replace(recipe, command="echo other"),
        replace(recipe, environment={"MODE": "fast"}),
        replace(recipe, layout=1),
        replace(recipe, layout=2),
    ):
        assert made(changed) == 1, changed
    assert made(recipe, within="below") == 1
    build.environment["CFLAGS"] = "-O3"
    assert made(recipe) == 1
    tool.write_text("#!/bin/sh\n# a newer one\n")
    assert made(recipe) == 1


def test_what_a_build_finds(build: Builder) -> None:
    read = {"CFLAGS": "-O3", "FC": "f", "PKG_CONFIG_LIBDIR": "/p", "NIX_CFLAGS_COMPILE": "-I/n", "CUDA_HOME": "/c"}
    build.environment |= {**read, "API_TOKEN": "x", "CARGO_REGISTRY_TOKEN": "x", "OTHER": "x", "GIT_DIR": "x"}
    recipe = Recipe("env; echo layout {layout}", {"MODE": "fast"}, layout=7)
    with build(recipes=[recipe]) as sides:
        said = sides[0].log.read_text()
        assert "layout 7\n" in said
        assert {"MODE=fast", *(f"{name}={value}" for name, value in read.items())} <= set(said.split("\n"))
        assert not any(name in said for name in ("TOKEN", "OTHER", "GIT_DIR"))
        assert sides[0].facts().layout == 7


def test_a_build_fetches_packages_from_where_the_user_does(build: Builder) -> None:
    sources = {"GOPRIVATE": "a.com/*", "PIP_INDEX_URL": "https://a.com/simple", "REQUESTS_CA_BUNDLE": "/a.pem"}
    build.environment |= {**sources, "PIP_EXTRA_INDEX_URL": "https://me:secret@a.com/simple"}
    with build(recipes=[Recipe("env")]) as sides:
        said = sides[0].log.read_text()
        assert {f"{name}={value}" for name, value in sources.items()} <= set(said.split("\n"))
        assert "secret" not in said


def test_builds_share_no_folder_that_they_write_to(build: Builder) -> None:
    names = ("CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "CARGO_BUILD_BUILD_DIR")
    build.environment |= dict.fromkeys(names, "/anywhere")
    with build(recipes=[Recipe("env")]) as sides:
        assert not any(name in sides[0].log.read_text() for name in names)
    with build(recipes=[Recipe("env", dict.fromkeys(names, "target/other"))]) as sides:
        assert {f"{name}=target/other" for name in names} <= set(sides[0].log.read_text().splitlines())
    for name in names:
        assert f"{name}=/anywhere is one folder for all builds" in str(
            build.refusal(UsageError, recipes=[Recipe("env", {name: "/anywhere"})])
        )


def test_git_works_in_a_build(build: Builder) -> None:
    build.repo.git("tag", "--annotate", "v1", "--message", "v1", "main")
    with build(recipes=[Recipe("git describe --dirty; git status --porcelain")]) as sides:
        assert [side.log.read_text() for side in sides] == ["v1\n", "v1-dirty\nM  source\n"]


def test_when_it_was_built_is_known_also_where_the_build_removes_git_s_files(build: Builder) -> None:
    begun = time.time()
    for command, is_known in (("rm -rf .git", True), ("rm -rf .git ../git", False)):
        for _ in ("built", "kept"):
            with build("main", recipes=[Recipe(command)]) as sides:
                for one in sides:
                    assert (begun - 1 <= one.span_s[0] <= one.span_s[1] <= time.time()) is is_known


def test_one_tree_is_one_build(build: Builder) -> None:
    with build("main", "HEAD") as sides:
        assert len({side.folder for side in sides}) == 1
    assert build.times() == 1


def test_without_a_command_there_is_a_checkout(build: Builder) -> None:
    with build(recipes=[Recipe()]) as sides:
        assert [(side.folder / "source").read_text() for side in sides] == [script("old"), script("new")]


def test_it_runs_in_the_folder_below_where_the_user_stands(build: Builder) -> None:
    build.repo.commit("below", **{"below/file": "x"})
    with build("HEAD", recipes=[Recipe("pwd")], within="below") as sides:
        assert sides[0].folder.name == "below"
        assert sides[0].log.read_text() == f"{sides[0].folder}\n"


# --- what goes wrong


def test_a_base_that_does_not_build(build: Builder) -> None:
    error = build.refusal(recipes=[Recipe("seq 30; echo no; exit 2"), Recipe(COUNTED)])
    assert "merge base with main" in str(error)
    assert "does not build: seq 30; echo no; exit 2 failed with exit status 2; its log is " in str(error)
    assert error.lines[-2:] == ("  | 30", "  | no")
    assert len(error.lines) == 12
    log = Path(str(error).rpartition(" ")[2])
    assert log.read_text().startswith("1\n2\n")
    assert sorted(path.name for path in log.parent.iterdir()) == ["lock", "log"]


def test_a_failure_is_tried_again_and_what_was_built_beside_it_is_kept(build: Builder) -> None:
    ok = Recipe(COUNTED)
    waits = Recipe("until [ -s ../../built ]; do sleep 0.01; done; test -e ../../mended")
    build.refusal(recipes=[waits, ok])
    (build.cache.folder / "mended").touch()
    build.made()
    with build(recipes=[waits, ok]) as sides:
        assert build.made() == [sides[0].revision.label]


def test_a_build_that_takes_too_long(build: Builder) -> None:
    error = build.refusal(recipes=[Recipe("sleep 60", timeout_s=0.05)])
    assert "did not end within 50 ms; allow more with --build-timeout" in str(error)


def test_a_build_that_leaves_processes(build: Builder) -> None:
    with build(recipes=[Recipe("setsid sleep 60 & echo $!")]) as sides:
        for side in sides:
            assert not Path(f"/proc/{side.log.read_text().strip()}").exists()


def test_a_work_tree_that_changes_meanwhile_is_built_as_it_was(build: Builder, tmp_path: Path) -> None:
    def change() -> None:
        build.repo.write("source", script("newer"))
        build.repo.write("log", "that somebody writes")

    build.when["checking"] = change
    same = Repo.made(tmp_path / "same", source=script("new"))
    with build() as (_, side):
        assert (side.folder / "program").read_text() == script("new")
        assert not (side.folder / "log").exists()
        assert side.facts().tree == same.git("rev-parse", "HEAD^{tree}")
    assert (build.repo.folder / "source").read_text() == script("newer")


def test_a_full_disk_is_said_to_be_cleared_whatever_cannot_be_written(
    build: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    said = str(build.refusal(MeasurementError))
    assert f"nothing can be built in {build.cache.folder}: No space left on device; steelyard cache --clear" in said


def test_a_folder_that_one_side_has_not(build: Builder) -> None:
    build.repo.write("below/file", "x")
    for recipe in (Recipe(), Recipe(may_be_new=True), Recipe()):
        if recipe.may_be_new:  # which makes the folder, and keeps it
            with build("main", within="below", recipes=[recipe]) as sides:
                assert sides[0].folder.is_dir()
            continue
        error = build.refusal(UsageError, base="main", within="below", recipes=[recipe])
        assert str(error).startswith("main (")
        assert "has no folder below" in str(error)


def test_a_folder_that_may_be_new_is_empty_and_nothing_is_built_in_it(build: Builder) -> None:
    build.repo.write("below/source", script("new"))
    recipes = Recipe(BUILD, may_be_new=True), Recipe(BUILD)
    with build(base="main", within="below", recipes=recipes) as (baseline, candidate):
        assert [*baseline.folder.iterdir()] == []
        assert (candidate.folder / "program").exists()
    error = build.refusal(base="main", recipes=(Recipe("false", may_be_new=True), recipes[1]))
    assert "does not build: false failed with exit status 1" in str(error)
    assert str(error).endswith(
        "; if it lacks what is weighed, let the command end well without that (steelyard docs ci)"
    )


def test_a_cache_that_cannot_be_written_to(build: Builder) -> None:
    build.cache.folder.write_text("a file in its place")
    assert "set XDG_CACHE_HOME" in str(build.refusal(MeasurementError))


def test_what_was_cut_short_is_made_anew(build: Builder) -> None:
    with build() as sides:
        entry = sides[0].log.parent
    build.made()
    (entry / "facts.json").write_text("{")
    (entry / "tree" / "half").touch()
    with build() as sides:
        assert build.made() == [sides[0].revision.label]
        assert not (entry / "tree" / "half").exists()


@pytest.mark.parametrize("is_folder_left", [True, False])
def test_one_whose_files_something_else_removed_is_made_anew(build: Builder, *, is_folder_left: bool) -> None:
    with build() as sides:
        top = sides[0].top
    build.made()
    shutil.rmtree(top)
    if is_folder_left:  # as by a cleaner of caches that removes files alone
        top.mkdir()
    with build() as sides:
        assert build.made() == [sides[0].revision.label]
        assert (sides[0].folder / "program").exists()


def test_a_build_that_is_killed_says_so_as_a_launch_does(build: Builder) -> None:
    error = str(build.refusal(recipes=[Recipe("kill -9 $$")]))
    assert "kill -9 $$ was killed by SIGKILL, as by the kernel where memory runs out" in error
    assert "; its log is " in error


def test_ctrl_c_in_a_checkout_leaves_a_cache_that_works(build: Builder) -> None:
    build.repo.git("config", "filter.slow.smudge", f"kill -INT {os.getpid()}; sleep 60")
    build.repo.write(".gitattributes", "source filter=slow\n")
    build.refusal(InterruptedBeforeStart)
    build.repo.git("config", "filter.slow.smudge", "cat")
    build.made()
    with build():
        assert len(build.made()) == 2


def test_ctrl_c_in_a_build_leaves_a_cache_that_works(build: Builder) -> None:
    build.refusal(InterruptedBeforeStart, recipes=[Recipe(f"kill -INT {os.getpid()}; sleep 60"), Recipe(COUNTED)])
    build.made()
    with build() as sides:
        assert sides[0].revision.label in build.made()


# --- several at once


def test_what_is_used_is_not_removed(build: Builder) -> None:
    with build():
        assert build.cache.clear() == []
    assert len(build.cache.clear()) == 2


def test_a_gate_waits_for_another_that_builds_the_same(build: Builder) -> None:
    with build() as sides:
        key = sides[0].log.parent.name
    with ExitStack() as building:
        building.enter_context(build.cache.held(key, exclusive=True))
        build.when["waiting"] = building.close
        build.seen.clear()
        with build():
            assert build.made() == []
    assert [one.allowance for one in build.seen] == [
        f"waiting for another steelyard, which has the build of {sides[0].revision.label}"
    ]


def test_what_another_has_made_is_shared_before_the_next_is_waited_for(build: Builder) -> None:
    with build() as sides:
        first, second = sorted(side.log.parent for side in sides)
    whole, aside = first / "facts.json", first / "aside"
    whole.rename(aside)
    with ExitStack() as looking, ExitStack() as building:
        looking.enter_context(build.cache.held(first.name, exclusive=False))
        building.enter_context(build.cache.held(second.name, exclusive=True))

        def is_made() -> None:
            build.when["waiting"] = look
            aside.rename(whole)
            looking.close()

        def look() -> None:
            with build.cache.held(first.name, exclusive=False, waiting=lambda: pytest.fail("it is not shared")):
                building.close()

        build.when["waiting"] = is_made
        with build():
            assert build.seen[-1].benchmark.startswith("waiting")


def test_two_gates_use_one_build_at_once(build: Builder) -> None:
    with build() as one, build() as other:
        assert [side.folder for side in one] == [side.folder for side in other]


def test_a_cache_in_the_work_tree_is_no_part_of_it(build: Builder) -> None:
    build.cache = Cache(build.repo.folder / "cache")
    with build() as one, build() as other:
        assert [side.folder for side in one] == [side.folder for side in other]
        assert one[1].folder.is_relative_to(build.cache.folder)
        assert not (one[1].folder / "cache").exists()


# --- submodules and large files


def test_submodules_are_checked_out_from_what_is_here(build: Builder, tmp_path: Path) -> None:
    inner = Repo.made(tmp_path / "inner", data="1")
    middle = Repo.made(tmp_path / "middle", data="2")
    middle.git("submodule", "--quiet", "add", inner.folder, "inner")
    middle.commit("inner")
    build.repo.git("submodule", "--quiet", "add", middle.folder, "middle")
    build.repo.git("submodule", "--quiet", "update", "--init", "--recursive")
    build.repo.commit("middle")
    for gone in (inner, middle):
        gone.folder.rename(gone.folder.with_suffix(".gone"))
    with build("HEAD~1", recipes=[Recipe()]) as (base, candidate):
        assert not (base.folder / "middle").exists()
        assert (candidate.folder / "middle/inner/data").read_text() == "1"
        assert not candidate.notes
    before = build.repo.contents()
    build.cache.clear()
    with build("HEAD", recipes=[Recipe("git -C middle/inner log --format=%s")]) as sides:
        assert sides[0].log.read_text() == "first\n"
    assert build.repo.contents() == before


NOT_HERE = "the submodule {} is not here and was left out: git submodule update --init, if it is needed"


def test_a_submodule_that_is_not_here_is_said(build: Builder, tmp_path: Path) -> None:
    inner = Repo.made(tmp_path / "inner", data="1")
    build.repo.git("submodule", "--quiet", "add", inner.folder, "sub")
    build.repo.commit("sub")
    build.repo = cloned(build.repo, tmp_path / "clone")
    with build("HEAD", recipes=[Recipe()]) as sides:
        assert sides[0].notes == [NOT_HERE.format("sub")]
    failed = build.refusal(base="HEAD", recipes=[Recipe("cat sub/data")])
    assert str(failed).endswith(f"; {NOT_HERE.format('sub')}"), "which is why"


@pytest.mark.parametrize("path", ["sub/", "./sub"])
def test_the_path_of_a_submodule_may_be_written_by_hand(build: Builder, tmp_path: Path, path: str) -> None:
    inner = Repo.made(tmp_path / "inner", data="1")
    build.repo.git("submodule", "--quiet", "add", inner.folder, "sub")
    build.repo.git("config", "--file", ".gitmodules", "submodule.sub.path", path)
    build.repo.commit("sub")
    with build("HEAD", recipes=[Recipe()]) as sides:
        assert (sides[0].folder / "sub/data").read_text() == "1"


def test_a_repository_within_that_is_no_submodule_is_said(build: Builder) -> None:
    Repo.made(build.repo.folder / "within", data="1")
    failed = build.refusal(base="HEAD", recipes=[Recipe("test ! -e within || cat within/data")])
    assert "git keeps none of the files of within, a repository within this one that is no submodule" in str(failed)


def test_a_shallow_submodule_without_the_commit_is_fetched_whole(build: Builder, tmp_path: Path) -> None:
    inner = Repo.made(tmp_path / "inner", data="1")
    older = inner.git("rev-parse", "HEAD")
    inner.commit("later", data="2")
    build.repo.git("submodule", "--quiet", "add", "--depth=1", f"file://{inner.folder}", "a sub")
    build.repo.git("update-index", "--cacheinfo", f"160000,{older},a sub")
    build.repo.git("commit", "--quiet", "--message", "sub")
    with pytest.raises(UsageError) as error, build("HEAD", "HEAD", recipes=[Recipe()]):
        pass
    told = str(error.value).partition(f"a sub at {older[:7]}, which is not here: git ")[2]
    build.repo.git(*shlex.split(told))
    build.repo.git("-C", "a sub", "cat-file", "-e", older)


@pytest.mark.parametrize("name", ["{elsewhere}", "../../../elsewhere"])
def test_the_name_of_a_submodule_leads_nowhere_else(build: Builder, tmp_path: Path, name: str) -> None:
    elsewhere = Repo.made(tmp_path / "elsewhere", data="1").folder
    (build.repo.folder / ".git/modules").mkdir()
    build.repo.write(".gitmodules", f'[submodule "{name.format(elsewhere=elsewhere / ".git")}"]\n\tpath = sub\n')
    commit = Repo(elsewhere).git("rev-parse", "HEAD")
    build.repo.git("update-index", "--add", "--cacheinfo", f"160000,{commit},sub")
    build.repo.git("add", ".gitmodules")
    build.repo.git("commit", "--quiet", "--message", "sub")
    before = Repo(elsewhere).contents()
    with pytest.raises(UsageError, match=r"the submodule sub has the name .* leads out"), build("HEAD"):
        pass
    assert Repo(elsewhere).contents() == before


def cloned(repo: Repo, folder: Path) -> Repo:
    repo.git("clone", "--quiet", repo.folder, folder)
    return Repo(folder)


def test_a_submodule_that_has_come_since_is_in_the_next_build(build: Builder, tmp_path: Path) -> None:
    inner, middle = Repo.made(tmp_path / "inner", data="1"), Repo.made(tmp_path / "middle", data="2")
    middle.git("submodule", "--quiet", "add", inner.folder, "inner")
    middle.commit("inner")
    build.repo.git("submodule", "--quiet", "add", middle.folder, "middle")
    build.repo.commit("middle")
    build.repo = cloned(build.repo, tmp_path / "clone")
    build.repo.write("source", "changed, so that the work tree is no commit")
    recipe = Recipe("cat middle/data middle/inner/data; true")
    logs = []
    for words in ([], ["--init"], ["--init", "--recursive"]):
        if words:
            build.repo.git("submodule", "--quiet", "update", *words)
        with build("HEAD", recipes=[recipe]) as sides:
            logs.append([(side.notes, side.log.read_text().replace("cat: ", "")) for side in sides])
        with build("HEAD", recipes=[recipe]) as again:
            assert [side.folder for side in again] == [side.folder for side in sides]
    for first, second, third in zip(*logs, strict=True):
        assert first[0] == [NOT_HERE.format("middle")]
        assert second[0] == [NOT_HERE.format("inner")]
        assert second[1].startswith("2")
        assert third == ([], "21")


def test_files_that_lfs_has_not_brought_are_named(build: Builder) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    build.repo.commit("large", **{".gitattributes": "*.bin filter=lfs -text\n", "a.bin": pointer, "b.bin": "brought"})
    with build("HEAD", recipes=[Recipe()]) as sides:
        (note,) = sides[0].notes
        assert note.startswith("Git LFS has not brought a.bin, which")


@pytest.mark.parametrize("variable", ["GIT_LITERAL_PATHSPECS", "GIT_ICASE_PATHSPECS"])
def test_they_are_named_however_git_is_told_to_read_paths(build: Builder, variable: str) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    build.repo.commit("large", **{".gitattributes": "*.bin filter=lfs -text\n", "a.bin": pointer})
    build.environment[variable] = "1"
    with build() as (side, _):
        assert len(side.notes) == 1


def test_files_that_lfs_brings_since_are_in_the_next_build(build: Builder) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    build.repo.commit("large", **{".gitattributes": "*.bin filter=lfs -text\n", "a.bin": pointer})
    with build("HEAD", recipes=[Recipe()]) as sides:
        assert sides[0].notes
    # As `git lfs install` does, with another program.
    build.repo.git("config", "filter.lfs.smudge", "sed 's/.*/brought/'")
    build.repo.git("config", "filter.lfs.clean", f"printf '{pointer}'".replace("\n", "\\n"))
    with build("HEAD", recipes=[Recipe()]) as sides:
        assert not sides[0].notes
        assert (sides[0].folder / "a.bin").read_text().startswith("brought")


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [("core.autocrlf", "true", b"a\r\n"), ("filter.own.smudge", "tr a b", b"b\n")],
)
def test_how_git_changes_files_when_it_checks_them_out_is_part_of_a_build(
    build: Builder, name: str, value: str, found: bytes
) -> None:
    build.repo.commit("text", **{".gitattributes": "*.txt filter=own\n", "a.txt": "a\n"})
    with build("HEAD", "HEAD", recipes=[Recipe()]) as sides:
        assert (sides[0].folder / "a.txt").read_bytes() == b"a\n"
    build.repo.git("config", name, value)
    with build("HEAD", "HEAD", recipes=[Recipe()]) as sides:
        assert (sides[0].folder / "a.txt").read_bytes() == found


@pytest.mark.parametrize(
    ("log", "told"),
    [
        (
            ["cc -Wfatal-errors -c a.c", "a.c:1:5: error: 'x'", " 1 | x", "make: *** [all] Error 1"],
            "a.c:1:5: error: 'x'",
        ),
        (["  CC a.c", "ninja: build stopped"], "ninja: build stopped"),
    ],
)
def test_what_does_not_build_says_why_in_a_line(log: list[str], told: str) -> None:
    assert NotBuiltError("it does not build", log).in_one_line == f"it does not build: {told}"
    assert NotBuiltError("it does not build").in_one_line == "it does not build"
