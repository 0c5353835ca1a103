"""Check out a revision into a folder of its own: a linked work tree that the user's repository does not know about.

`git worktree add` would write into the user's repository, and leave its entry there when the folder is removed. The few
files that make a linked work tree (gitrepository-layout(5)) are written here instead. The folder shares objects,
references and configuration with the repository, so that `git describe` in a build, LFS and other filters work; HEAD
and index are its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.model.errors import MeasurementError, UsageError
from steelyard.model.typed import typed
from steelyard.report.endings import first_failure_line
from steelyard.subjects.revisions.git import Git, Repository, last_words
from steelyard.subjects.revisions.revision import Revision, Submodule, submodules, submodules_of

_POINTER = b"version https://git-lfs"
# Git's settings that change the files of a tree when they are checked out: Git LFS and other filters, ends of lines.
_CONVERSION = r"^(filter\.|core\.(autocrlf|eol|symlinks)$)"


class NotBuiltError(MeasurementError):
    """A revision cannot be checked out or built; the last lines of its log follow the sentence."""

    def __init__(self, sentence: str, log: Sequence[str] = ()) -> None:
        super().__init__(sentence)
        self.log, self.lines = log, tuple(f"  | {line}" for line in log)

    @property
    def in_one_line(self) -> str:
        """The sentence with the line of the log that says why, which precedes make's, or else with the last line."""
        line = first_failure_line(self.log)
        return ": ".join([str(self), *([line.strip()] if line else self.log[-1:])])


@dataclass(frozen=True)
class Places:
    """The folders of a checkout: its files, and what git keeps about it."""

    files: Path
    git: Path


def check_out(repository: Repository, revision: Revision, places: Places) -> list[str]:
    """Put a revision's files into a folder that does not exist yet; return what the user should know about them.

    Raises UsageError for a submodule whose commit is not here, MeasurementError.
    """
    commit = revision.commit or repository.git.commit_of("HEAD")
    git = revision.git or repository.git  # the objects of uncommitted changes are only there
    _link(places, repository.common, commit)
    _fill(git.within(places.files, {"GIT_INDEX_FILE": str(places.git / "index")}), revision.tree, revision.label)
    checkout, modules = repository.git.within(places.files), submodules_of(repository, revision)
    notes = [*_lfs_pointer_notes(checkout), *_embedded_repository_notes(checkout, modules)]
    for module in modules:
        notes += _check_out_submodule(repository.git, repository.root, repository.common, module, places, revision)
    return notes


def _link(places: Places, common: Path, commit: str | None) -> None:
    """Create an empty linked work tree."""
    places.git.mkdir(parents=True)
    places.files.mkdir(parents=True, exist_ok=True)
    # Before the first commit, HEAD names a branch that does not exist yet.
    for file, text in (
        (places.git / "HEAD", commit or "ref: refs/heads/main"),
        (places.git / "commondir", str(common)),
        (places.git / "gitdir", str(places.files / ".git")),
        (places.files / ".git", f"gitdir: {places.git}"),
    ):
        file.write_bytes(os.fsencode(f"{text}\n"))  # a path need not be UTF-8


def _fill(git: Git, tree: str, label: str) -> None:
    ended = git.ask("read-tree", "--reset", "-u", tree)
    if ended.status != 0:
        raise NotBuiltError(f"{label} cannot be checked out: git says {last_words(ended)}")


def _check_out_submodule(
    git: Git, root: Path, common: Path, module: Submodule, places: Places, revision: Revision
) -> list[str]:
    """Put the files of a submodule, and of those in it, into their places; nothing is fetched."""
    git_folders = _git_folders_of(git, root, common, module)
    if not git_folders:
        return [
            f"the submodule {module.path} is not here and was left out: git submodule update --init, if it is needed"
        ]
    submodule_git = _git_with_commit(git, git_folders, module)
    if submodule_git is None:
        raise UsageError(
            f"{revision.label} has the submodule {module.path} at {module.commit[:7]}, which is not here: "
            f"git -C {typed(Path(module.path))} fetch{' --unshallow' if _is_shallow(git_folders) else ''}"
        )
    inner = Places(places.files / module.path, places.git / "modules" / module.name)
    _link(inner, submodule_git.folder, module.commit)
    _fill(git.within(inner.files), module.commit, f"the submodule {module.path}")
    checkout, inner_modules = git.within(inner.files), submodules(submodule_git, module.commit)
    notes = [*_lfs_pointer_notes(checkout), *_embedded_repository_notes(checkout, inner_modules)]
    for inner_module in inner_modules:
        notes += _check_out_submodule(git, root / module.path, submodule_git.folder, inner_module, inner, revision)
    return notes


def _git_folders_of(git: Git, root: Path, common: Path, module: Submodule) -> list[Path]:
    """Return the git folders here that have objects of a submodule of the work tree `root`."""
    folder, folders = root / module.path, [common / "modules" / module.name]
    if (folder / ".git").exists() and (common_dir := git.within(folder).answer("rev-parse", "--git-common-dir")):
        folders.insert(0, (folder / common_dir).resolve())
    return [git_folder for git_folder in folders if (git_folder / "objects").is_dir()]


def _git_with_commit(git: Git, git_folders: Sequence[Path], module: Submodule) -> Git | None:
    """Return a git in the first of the places that has the submodule's commit; None if none has."""
    for git_folder in git_folders:
        submodule_git = git.within(git_folder, {"GIT_DIR": str(git_folder)})
        if submodule_git.commit_of(module.commit):
            return submodule_git
    return None


def _is_shallow(git_folders: Sequence[Path]) -> bool:
    """Return whether a submodule's clone is shallow: a plain fetch would not bring its older commits."""
    return any((folder / "shallow").exists() for folder in git_folders)


def checkout_inputs(repository: Repository, revisions: Iterable[Revision]) -> dict[Revision, list[str]]:
    """Return what a checkout depends on besides the tree: how git changes files, and which submodules are not here."""
    git, root, common = repository.git, repository.root, repository.common
    conversion = git.answer("config", "--get-regexp", _CONVERSION) or ""
    skipped = git.environment.get("GIT_LFS_SKIP_SMUDGE", "")
    return {
        one: [conversion, skipped, *_missing_submodules(git, root, common, submodules_of(repository, one), "")]
        for one in revisions
    }


def _missing_submodules(git: Git, root: Path, common: Path, modules: Sequence[Submodule], prefix: str) -> Iterator[str]:
    """Yield the paths of submodules that are not here, also of those within the others."""
    for module in modules:
        path, git_folders = f"{prefix}{module.path}", _git_folders_of(git, root, common, module)
        submodule_git = _git_with_commit(git, git_folders, module)
        if not git_folders:
            yield path
        elif submodule_git is not None:  # else its commit is not here, and the checkout is refused
            inner_modules = submodules(submodule_git, module.commit)
            yield from _missing_submodules(git, root / module.path, submodule_git.folder, inner_modules, f"{path}/")


def _lfs_pointer_notes(git: Git) -> list[str]:
    """Return a note if files that Git LFS keeps were left as pointers."""
    paths = git.entries("ls-files", "-z", "--", ":(attr:filter=lfs)") or ()
    pointers = [path for path in paths if _is_pointer(git.folder / path)]
    if not pointers:
        return []
    return [
        f"Git LFS has not brought {_first_of(pointers)}, which are mere pointers in what is weighed: "
        "git lfs install && git lfs pull"
    ]


def _embedded_repository_notes(git: Git, modules: Sequence[Submodule]) -> list[str]:
    """Return a note if there are repositories within this one of which git keeps the commit alone."""
    entries = git.entries("ls-files", "--stage", "-z") or ()
    commits = [entry.partition("\t")[2] for entry in entries if entry.startswith("160000 ")]
    embedded = [path for path in commits if path not in {module.path for module in modules}]
    if not embedded:
        return []
    return [
        f"git keeps none of the files of {_first_of(embedded)}, a repository within this one that is no submodule, so "
        "they were left out: git submodule add, if they are needed"
    ]


def _first_of(paths: Sequence[str]) -> str:
    return paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"


def _is_pointer(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_POINTER)) == _POINTER
    except OSError as error:
        raise MeasurementError(f"cannot read {path}: {error.strerror}") from error
