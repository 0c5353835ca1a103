"""Which two revisions are weighed; finding out touches nothing of the user's."""

from __future__ import annotations

import os
import re
from contextlib import ExitStack
from pathlib import Path

import pytest

from steelyard.measure.tools import Ended
from steelyard.model.errors import UsageError
from steelyard.subjects.revisions.git import Repository, last_words, repository_of
from steelyard.subjects.revisions.revision import Revision, resolve_alone, resolve_sides
from tests.repositories import Repo, script

pytestmark = pytest.mark.real


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.made(tmp_path / "project")


def seen(folder: Path, **environment: str) -> Repository:
    return repository_of(folder, {"PATH": os.environ["PATH"], "HOME": str(folder), **environment})


def both(repo: Repo, base: str | None = None, candidate: str | None = None) -> tuple[Revision, Revision]:
    return of(seen(repo.folder), base, candidate)


def of(repository: Repository, base: str | None = None, candidate: str | None = None) -> tuple[Revision, Revision]:
    with ExitStack() as holding:
        return resolve_sides(repository, base, candidate, holding)


def refusal(repo: Repo, base: str | None = None, candidate: str | None = None) -> str:
    with pytest.raises(UsageError) as caught:
        both(repo, base, candidate)
    return str(caught.value)


# --- the defaults


def test_a_branch_is_weighed_against_where_it_left_the_default_branch(repo: Repo) -> None:
    left = repo.git("rev-parse", "HEAD")
    repo.git("switch", "--quiet", "--create", "topic")
    repo.commit("ours", source=script("new"))
    repo.git("switch", "--quiet", "main")
    repo.commit("theirs", other="x")
    repo.git("switch", "--quiet", "topic")
    base, candidate = both(repo)
    assert (base.commit, base.label) == (left, f"merge base with main ({left[:7]})")
    assert candidate.label == f"work tree ({repo.git('rev-parse', 'HEAD')[:7]})"


def test_the_remote_s_own_default_goes_before_main(repo: Repo, tmp_path: Path) -> None:
    repo.git("branch", "trunk")
    repo.git("symbolic-ref", "HEAD", "refs/heads/trunk")
    clone = tmp_path / "clone"
    repo.git("clone", "--quiet", repo.folder, clone)
    base, _ = both(Repo(clone))
    assert base.name == "merge base with origin/trunk"


def test_a_branch_that_only_the_remote_has(repo: Repo, tmp_path: Path) -> None:
    clone = Repo(tmp_path / "clone")
    repo.git("clone", "--quiet", repo.folder, clone.folder)
    clone.git("switch", "--quiet", "--detach")
    clone.git("branch", "--delete", "main")
    base, _ = both(clone, "main")
    assert base.name == "origin/main"


def test_changes_are_part_of_the_work_tree_and_what_is_ignored_is_not(repo: Repo) -> None:
    clean = both(repo)[1]
    repo.write("program", "built")
    assert both(repo)[1] == clean
    repo.write("untracked", "x")
    untracked = both(repo)[1]
    assert (untracked.commit, untracked.label) == (None, "work tree")
    repo.write("source", script("changed"))
    assert len({clean.tree, untracked.tree, both(repo)[1].tree}) == 3


def test_what_a_compiler_made_is_told_and_no_pipe_is_read(repo: Repo, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("object", "text"):
        (repo.folder / name).write_bytes(b"\x7fELF" if name == "object" else b"text")
    (repo.folder / "link").symlink_to(tmp_path / "pipe")
    pipe = os.open(tmp_path / "pipe", os.O_RDWR)
    try:
        os.write(pipe, b"\x7fELF" * 1000)  # without data a reader would wait
        assert both(repo)[1].built_files == ("object",)
    finally:
        os.close(pipe)


def test_nothing_of_the_user_s_is_written_to(repo: Repo) -> None:
    repo.write("staged", "x")
    repo.git("add", "staged")
    repo.write("source", script("changed"))
    before = repo.contents()
    assert both(repo, "main")[1].commit is None
    assert repo.contents() == before


def test_an_index_that_is_split_stays_as_it_is(repo: Repo) -> None:
    repo.git("config", "core.splitIndex", "true")
    repo.git("update-index", "--split-index")
    repo.write("new", "x")
    before = {path: content for path, (content, _) in repo.contents().items()}  # whoever reads it sets its time
    assert both(repo, "main")[1].commit is None
    assert {path: content for path, (content, _) in repo.contents().items()} == before


def test_a_file_that_git_is_told_to_pass_over_is_taken_as_git_has_it(repo: Repo) -> None:
    tracked = repo.git("ls-files").split()
    repo.git("update-index", "--skip-worktree", *tracked)
    repo.write("source", script("mine alone"))
    assert both(repo)[1].commit == repo.git("rev-parse", "HEAD")


def test_a_change_in_the_same_tick_as_the_index_is_seen(repo: Repo) -> None:
    repo.git("config", "core.trustCtime", "false")
    source, index = repo.folder / "source", repo.folder / ".git/index"
    tick = (1_000_000_000, 1_000_000_000)
    os.utime(source, tick)
    repo.git("update-index", "--refresh")
    os.utime(index, tick)
    source.write_text(script("new"))  # of the same length as before
    os.utime(source, tick)
    assert both(repo)[1].commit is None


def test_line_ends_that_git_would_refuse_to_commit_do_no_harm_here(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "input")
    repo.git("config", "core.safecrlf", "true")
    repo.write("windows", "x\r\n")
    assert both(repo)[1].commit is None


def test_a_revision_in_a_folder_below(repo: Repo) -> None:
    repo.write("a/b/file", "x")
    assert seen(repo.folder / "a/b").directory == Path("a/b")
    assert of(seen(repo.folder / "a/b"), "main")[1] == both(repo, "main")[1]


def test_git_in_a_hook_says_another_index(repo: Repo) -> None:
    expected = both(repo, "main")
    found = seen(repo.folder, GIT_DIR="/nowhere", GIT_INDEX_FILE="/nowhere/index", GIT_WORK_TREE="/")
    assert of(found, "main") == expected


# --- names


@pytest.mark.parametrize("name", ["$(touch${IFS}x)", "a;b", "`x`", "ü&|<b>", "feature/{x}"])
def test_a_branch_may_have_any_name_that_git_allows(repo: Repo, name: str) -> None:
    repo.git("update-ref", f"refs/heads/{name}", "HEAD")
    base, _ = both(repo, name)
    assert base.commit == repo.git("rev-parse", "HEAD")
    assert not (repo.folder / "x").exists()


def test_a_commit_is_called_by_its_hash_once(repo: Repo) -> None:
    commit = repo.git("rev-parse", "HEAD")
    assert both(repo, commit)[0].label == both(repo, commit[:10])[0].label == commit[:7]
    assert both(repo, "HEAD")[0].label == f"HEAD ({commit[:7]})"


@pytest.mark.parametrize("name", [":/fir", "HEAD^{/fir}", "HEAD@{0}", "@"])
def test_every_way_to_name_a_commit_is_git_s(repo: Repo, name: str) -> None:
    assert both(repo, name)[0].commit == repo.git("rev-parse", "HEAD")


@pytest.mark.parametrize("name", ["", "-x", "--all", "^main", "a\nb", "a\0b"])
def test_what_is_no_name_is_refused(repo: Repo, name: str) -> None:
    assert "is no name of a revision" in refusal(repo, name)


@pytest.mark.parametrize("name", ["missing", ":/missing", "HEAD:source", "main^9", "main..HEAD", "$(true)"])
def test_a_revision_that_is_not_there(repo: Repo, name: str) -> None:
    assert f"--base {name!r} is no revision that" in refusal(repo, name)
    assert f"--candidate {name!r}" in refusal(repo, "main", name)


# --- repositories of which little is to be had


def test_a_git_that_is_killed_has_said_nothing(repo: Repo, tmp_path: Path) -> None:
    git = tmp_path / "git"
    git.write_text("#!/bin/sh\nkill -9 $$\n")
    git.chmod(0o755)
    with pytest.raises(UsageError, match="git says nothing, and was killed by SIGKILL, as by the kernel"):
        seen(repo.folder, PATH=str(tmp_path))


def test_a_filter_that_does_not_start_is_named() -> None:
    said = "git-lfs filter-process: 1: git-lfs: not found\nfatal: the remote end hung up unexpectedly\n"
    assert last_words(Ended(status=128, out="", err=said)).endswith("git-lfs: not found")


def test_what_git_lists_below_its_sentence_is_told() -> None:
    said = "fatal: unknown repository extensions found:\n\trefstorage\n\tothers\n"
    assert last_words(Ended(status=128, out="", err=said)).endswith("extensions found: refstorage, others")


def test_no_repository(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is in no git repository.*git init"):
        seen(tmp_path)


def test_a_repository_of_somebody_else(repo: Repo) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(repo.folder), "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
    (repo.folder / "below").mkdir()
    for start in (repo.folder, repo.folder / "below"):
        with pytest.raises(UsageError, match=f"git config --global --add safe.directory {repo.folder}$"):
            repository_of(start, environment)


def test_no_git(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs git, which was not found"):
        repository_of(tmp_path, {"PATH": str(tmp_path)})


def test_within_git_s_own_folder(repo: Repo) -> None:
    with pytest.raises(UsageError, match=r"within the \.git"):
        seen(repo.folder / ".git")


def test_a_bare_repository_has_revisions_and_no_work_tree(repo: Repo, tmp_path: Path) -> None:
    bare = Repo(tmp_path / "bare.git")
    repo.git("clone", "--quiet", "--bare", repo.folder, bare.folder)
    assert "name a --candidate" in refusal(bare)
    base, candidate = both(bare, candidate="main")
    assert base.commit == candidate.commit
    assert resolve_alone(seen(bare.folder), "main", ExitStack()) == candidate
    with pytest.raises(UsageError, match="has no work tree: name a --base"):
        resolve_alone(seen(bare.folder), None, ExitStack())


def test_a_shallow_clone_says_how_to_fetch_the_rest(repo: Repo, tmp_path: Path) -> None:
    repo.commit("second", other="1")
    repo.git("switch", "--quiet", "--create", "topic", "HEAD~1")
    repo.commit("ours", source=script("new"))
    shallow = Repo(tmp_path / "shallow")
    repo.git("switch", "--quiet", "main")
    options = ("--depth=1", "--no-single-branch", "--branch=topic")
    repo.git("clone", "--quiet", *options, f"file://{repo.folder}", shallow.folder)
    said = refusal(shallow)
    assert said.startswith("no merge base with origin/")
    assert "fetch-depth: 0" in said
    assert "fetch-depth: 0" in refusal(shallow, "topic~1")


def test_no_default_branch_and_no_commit(tmp_path: Path, repo: Repo) -> None:
    repo.git("branch", "--move", "main", "trunk")
    assert "the default branch is not known" in refusal(repo)
    empty = Repo(tmp_path / "empty")
    empty.folder.mkdir()
    empty.git("init", "--quiet", "--initial-branch=main")
    for base in (None, "HEAD", "main"):
        assert re.search("has no commit yet.*git commit", refusal(empty, base))


def test_two_histories(repo: Repo) -> None:
    repo.git("switch", "--quiet", "--orphan", "another")
    repo.commit("alone", source=script("new"))
    assert "no history in common" in refusal(repo)


def test_a_submodule_with_changes_of_its_own(repo: Repo, tmp_path: Path) -> None:
    inner = Repo.made(tmp_path / "inner", data="1")
    repo.git("submodule", "--quiet", "add", inner.folder, "sub")
    repo.commit("with a submodule")
    assert both(repo)[1].commit is not None
    repo.write("sub/data", "2")
    assert "the submodule sub has changes that are not committed" in refusal(repo)


def test_a_submodule_with_new_files_of_its_own(repo: Repo, tmp_path: Path) -> None:
    inner = Repo.made(tmp_path / "inner", data="1")
    repo.git("submodule", "--quiet", "add", inner.folder, "sub")
    repo.commit("with a submodule")
    repo.write("sub/built", "by make")
    assert "the submodule sub has new files that are not committed" in refusal(repo)
    for setting, value in (("status.showUntrackedFiles", "no"), ("diff.ignoreSubmodules", "all")):  # of what is shown
        repo.git("config", setting, value)
        repo.git("-C", "sub", "config", setting, value)
        assert "the submodule sub has new files that are not committed" in refusal(repo)
    repo.git("config", "--file", ".gitmodules", "submodule.sub.ignore", "untracked")
    repo.commit("which are to be ignored")
    assert both(repo)[1].commit is not None
    repo.write("sub/data", "2")
    assert "the submodule sub has changes that are not committed" in refusal(repo)


def test_what_git_cannot_take_is_named(repo: Repo) -> None:
    (repo.folder / "sub").mkdir()
    repo.git("-C", "sub", "init", "--quiet")
    repo.write("sub/data", "1")
    assert refusal(repo).endswith("'sub/' does not have a commit checked out; mend it, or have git ignore it")
    repo.write(".gitignore", "sub\n")
    assert both(repo)[1].commit is None
