"""Determine the revisions to weigh: by default the merge base with the default branch, and the work tree as it is."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import PurePath

from steelyard.measure.scratch import scratch_folder
from steelyard.model.errors import UsageError
from steelyard.subjects.responses import beginning_of
from steelyard.subjects.revisions.git import Git, Repository, last_words

WORK_TREE = "work tree"
# In this order: what the remote calls its default branch, then the usual names.
_DEFAULTS = (
    "refs/remotes/origin/HEAD",
    "refs/heads/main",
    "refs/heads/master",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
)
_ABBREVIATED = 7
# The first bytes of programs and objects, of archives, and of Java classes.
_BINARY_MAGICS = (b"\x7fELF", b"!<arch>\n", b"\xca\xfe\xba\xbe")
_MOST_FILES_CHECKED = 1000


@dataclass(frozen=True)
class Submodule:
    """A submodule, as a tree describes it."""

    name: str
    path: str
    commit: str


@dataclass(frozen=True)
class Revision:
    """One side: a commit, or the work tree with all that is not committed."""

    name: str
    """As the user gave it, or as it was found."""
    commit: str | None
    """None for a work tree with changes."""
    tree: str
    """The hash of its contents."""
    built_files: tuple[str, ...] = ()
    """For a work tree with changes: compilers' output that git neither tracks nor ignores, so that it is part of it."""
    submodules: tuple[Submodule, ...] = ()
    """For a work tree with changes: its objects, which would tell, are gone once it is checked out."""
    git: Git | None = field(default=None, compare=False, repr=False)
    """For a work tree with changes: a git that knows its objects, for as long as its snapshot is held."""

    @property
    def label(self) -> str:
        """The name that is shown: `main (1a2b3c4)`."""
        if self.commit is None:
            return self.name
        short = self.commit[:_ABBREVIATED]
        return short if self.commit.startswith(self.name) else f"{self.name} ({short})"


def resolve_sides(
    repository: Repository, base: str | None, candidate: str | None, holding: ExitStack
) -> tuple[Revision, Revision]:
    """Return baseline and candidate.

    None for `base` is the merge base of the candidate with the default branch, None for `candidate` the work tree. The
    objects to check them out from exist for as long as `holding` is open. Raises UsageError for a revision that does
    not exist or cannot be determined.
    """
    if candidate is None and repository.is_bare:
        raise UsageError(f"{repository.root} is a bare repository and has no work tree: name a --candidate")
    candidate_revision = resolve_name(repository, "--candidate", candidate) if candidate is not None else None
    base_revision = (
        resolve_name(repository, "--base", base) if base is not None else _merge_base(repository, candidate_revision)
    )
    return base_revision, candidate_revision or work_tree(repository, holding)


def resolve_alone(repository: Repository, name: str | None, holding: ExitStack) -> Revision:
    """Return the one revision of `--base`; None is the work tree. Raises UsageError as `resolve_sides` does."""
    if name is None and repository.is_bare:
        raise UsageError(f"{repository.root} is a bare repository and has no work tree: name a --base")
    return work_tree(repository, holding) if name is None else resolve_name(repository, "--base", name)


def work_tree(repository: Repository, holding: ExitStack) -> Revision:
    """Return the work tree as it is, with what is neither committed nor ignored; raises UsageError if it is unreadable.

    It is a snapshot, held by `holding`: whatever is written there from then on is not part of it.
    """
    tree, git = holding.enter_context(_snapshot(repository))
    modules = submodules(git, tree)
    _refuse_dirty(repository, modules)
    head = repository.git.answer("rev-parse", "HEAD^{commit}", "HEAD^{tree}")
    commit, commit_tree = head.split("\n") if head else (None, None)
    if tree == commit_tree:
        return Revision(WORK_TREE, commit, tree)
    return Revision(WORK_TREE, None, tree, tuple(_built_files(repository)), tuple(modules), git)


def _built_files(repository: Repository) -> Iterator[str]:
    paths = repository.git.entries("ls-files", "-z", "--others", "--exclude-standard") or []
    for path in paths[:_MOST_FILES_CHECKED]:
        if beginning_of(repository.root / path, 8).startswith(_BINARY_MAGICS):
            yield path


@contextmanager
def _snapshot(repository: Repository) -> Iterator[tuple[str, Git]]:
    """Yield the tree of the work tree as it is, and a git that knows its objects; nothing of the user's is changed."""
    with scratch_folder("index") as folder:
        index, objects = folder / "index", folder / "objects"
        objects.mkdir()
        with suppress(FileNotFoundError):  # nothing was ever added
            # With its time, by which git knows which files may have changed since.
            shutil.copy2(repository.index, index)
        git = repository.git.within(
            repository.root,
            {
                "GIT_INDEX_FILE": str(index),
                "GIT_OBJECT_DIRECTORY": str(objects),
                "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(str(repository.common / "objects")),
            },
        )
        ended = git.ask("add", "--all")
        if ended.status != 0:
            raise UsageError(
                f"the work tree {repository.root} cannot be taken as it is: git says {last_words(ended)}; mend it, or "
                "have git ignore it"
            )
        yield git.do(f"the work tree {repository.root} cannot be taken as it is", "write-tree"), git


def submodules(git: Git, tree: str) -> list[Submodule]:
    """Return the submodules of a tree that its .gitmodules names.

    Raises UsageError for a name that leads elsewhere: it becomes the name of a folder, and the tree's author chose it.
    """
    config = git.entries("config", "--null", "--blob", f"{tree}:.gitmodules", "--get-regexp", r"^submodule\..*\.path$")
    paths: dict[str, str] = {}
    for entry in config or ():
        key, _, path = entry.partition("\n")
        paths[str(PurePath(path))] = key.removeprefix("submodule.").removesuffix(".path")
    found = []
    for entry in (git.entries("ls-tree", "-z", "--full-tree", tree, "--", *paths) if paths else None) or ():
        facts, _, path = entry.partition("\t")
        _, kind, commit = facts.split(" ")
        if kind == "commit":
            _check_name(paths[path], path)
            found.append(Submodule(paths[path], path, commit))
    return found


def _check_name(name: str, path: str) -> None:
    folder = PurePath(name)
    if folder.is_absolute() or ".." in folder.parts:
        raise UsageError(
            f"the submodule {path} has the name {name!r} in .gitmodules, which leads out of the folder of submodules: "
            "look who wrote that, and name it anew"
        )


def submodules_of(repository: Repository, revision: Revision) -> Sequence[Submodule]:
    """Return the submodules of a revision; raises UsageError as `submodules` does."""
    return revision.submodules if revision.commit is None else submodules(repository.git, revision.tree)


def _refuse_dirty(repository: Repository, modules: Sequence[Submodule]) -> None:
    for module in modules:
        folder = repository.root / module.path
        if not (folder / ".git").exists():
            continue
        cannot_hold = "that are not committed, which the tree around it cannot hold: commit them there,"
        if repository.git.within(folder).answer("status", "--porcelain", "--untracked-files=no"):
            raise UsageError(f"the submodule {module.path} has changes {cannot_hold} or name a --candidate")
        if _has_new_files(repository.git, module):
            raise UsageError(
                f"the submodule {module.path} has new files {cannot_hold} have git ignore them (ignore = untracked in "
                ".gitmodules), or name a --candidate"
            )


def _has_new_files(git: Git, module: Submodule) -> bool:
    """Return whether a submodule has files that git neither tracks nor is told to ignore, here or there."""
    states = git.entries("status", "--porcelain=v2", "-z", "--", f":(top,literal){module.path}") or ()
    return any(state.split(" ")[2].endswith("U") for state in states if state.startswith("1 "))


def resolve_name(repository: Repository, option: str, name: str) -> Revision:
    """Return the commit of a name that an option gave; it may be a branch that only the remote has, as on CI.

    Raises UsageError if there is no such commit.
    """
    if not name or name.startswith(("-", "^")) or not name.isprintable():
        raise UsageError(f"{option} {name!r} is no name of a revision: give a branch, a tag or a commit")
    for label, reference in ((name, name), (f"origin/{name}", f"refs/remotes/origin/{name}")):
        if commit := repository.git.commit_of(reference):
            return _revision_at(repository, label, commit)
    if not repository.git.answer("for-each-ref", "--count=1") and repository.git.commit_of("HEAD") is None:
        raise _no_commit_error(repository)
    raise UsageError(
        f"{option} {name!r} is no revision that {repository.root} has"
        + (repository.remedy_if_shallow or ": check the spelling, or fetch it")
    )


def _no_commit_error(repository: Repository) -> UsageError:
    return UsageError(
        f"{repository.root} has no commit yet, which the work tree could be weighed against: commit first (git add, "
        "git commit)"
    )


def _revision_at(repository: Repository, name: str, commit: str) -> Revision:
    tree = repository.git.do(f"{name} cannot be read", "rev-parse", "--verify", f"{commit}^{{tree}}")
    return Revision(name, commit, tree)


def _merge_base(repository: Repository, candidate: Revision | None) -> Revision:
    """Return the commit at which the candidate left the default branch."""
    commit = candidate.commit if candidate else repository.git.commit_of("HEAD")
    if commit is None:
        raise _no_commit_error(repository)
    name, default_commit = _default_branch(repository)
    base = repository.git.answer("merge-base", commit, default_commit)
    if not base:
        raise UsageError(
            f"no merge base with {name} was found"
            + (repository.remedy_if_shallow or ": the two have no history in common; name a --base")
        )
    return _revision_at(repository, f"merge base with {name}", base.split("\n")[0])


def _default_branch(repository: Repository) -> tuple[str, str]:
    listing = repository.git.answer(
        "for-each-ref", "--format=%(refname) %(objectname) %(refname:short) %(symref:short)", *_DEFAULTS
    )
    branches = {line.split(" ")[0]: line.split(" ")[1:] for line in (listing or "").splitlines()}
    for reference in _DEFAULTS:
        if reference in branches:
            commit, short, leads_to = branches[reference]
            return leads_to or short, commit
    raise UsageError(
        "the default branch is not known (no origin/HEAD, main or master)"
        + (repository.remedy_if_shallow or ": name a --base")
    )


def _quoted(path: str) -> str:
    """Quote a path for a list that separates paths by colons."""
    if ":" not in path and not path.startswith('"'):
        return path
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
