"""Ask git about a repository, without the variables that would make it look elsewhere."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from steelyard.measure.tools import Command, Ended, run
from steelyard.model.errors import MeasurementError, UsageError
from steelyard.report.endings import how_status_failed

# Git sets the first of these within a hook; by the last, paths with a meaning of their own would be mere names.
_DROPPED_VARIABLES = frozenset(
    {
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_PREFIX",
        "GIT_NAMESPACE",
        "GIT_QUARANTINE_PATH",
        "GIT_LITERAL_PATHSPECS",
        "GIT_ICASE_PATHSPECS",
    }
)
_OWN_VARIABLES = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
# Keeps the user's hooks, daemons and settings out of what is looked at or checked out here.
_OPTIONS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.sparseCheckout=false",
    "core.quotePath=false",
    "core.safecrlf=false",
    "core.splitIndex=false",
    "diff.ignoreSubmodules=none",
    "status.showUntrackedFiles=normal",
    "submodule.recurse=false",
    "advice.addEmbeddedRepo=false",
    "gc.auto=0",
)
# Git's own advice, which names the top of the repository, wherever in it the user is.
_TRUST_ADVICE = re.compile(r"git config --global --add safe\.directory .+")
# These follow what says more: the errors about the files themselves, and those of a filter that did not start.
_UNSPECIFIC_ERRORS = frozenset({"fatal: adding files failed", "fatal: the remote end hung up unexpectedly"})
_SHALLOW_REMEDY = "fetch all of it (git fetch --unshallow; fetch-depth: 0 of actions/checkout, GIT_DEPTH: 0 of GitLab)"


@dataclass(frozen=True)
class Git:
    """Git in a folder."""

    program: str
    folder: Path
    environment: Mapping[str, str]

    @classmethod
    def find(cls, folder: Path, environment: Mapping[str, str]) -> Git:
        """Look for it on the environment's PATH; raises UsageError where there is none."""
        program = shutil.which("git", path=environment.get("PATH"))
        if program is None:
            raise UsageError("weighing revisions needs git, which was not found on PATH: install it")
        passed_on = {name: value for name, value in environment.items() if name not in _DROPPED_VARIABLES}
        return cls(program, folder, {**passed_on, **_OWN_VARIABLES})

    def within(self, folder: Path, variables: Mapping[str, str] | None = None) -> Git:
        """Return the same git in another folder, with more variables."""
        return Git(self.program, folder, {**self.environment, **(variables or {})})

    def ask(self, *words: str) -> Ended:
        """Run it, whatever its exit status; raises InterruptedBeforeStart, MeasurementError if it does not start."""
        options = [word for option in _OPTIONS for word in ("-c", option)]
        return run(Command([self.program, *options, *words], self.folder, self.environment))

    def answer(self, *words: str) -> str | None:
        """Return what git prints, without the last line's end; None if it fails."""
        ended = self.ask(*words)
        return ended.out.removesuffix("\n") if ended.status == 0 else None

    def entries(self, *words: str) -> list[str] | None:
        """Return what git lists where words such as `-z` end each entry with a NUL; None if it fails."""
        listing = self.answer(*words)
        return None if listing is None else [*filter(None, listing.split("\0"))]

    def commit_of(self, name: str) -> str | None:
        """Return the hash of the commit that a name stands for; None if there is no such commit here."""
        found = self.answer("rev-parse", "--verify", "--quiet", name)  # first: `:/text` takes what follows for the text
        return found and self.answer("rev-parse", "--verify", "--quiet", f"{found}^{{commit}}")

    def do(self, what: str, *words: str) -> str:
        """Return what git prints; raises MeasurementError that begins with `what` and ends with git's last words."""
        ended = self.ask(*words)
        if ended.status != 0:
            raise MeasurementError(f"{what}: git says {last_words(ended)}")
        return ended.out.removesuffix("\n")


@dataclass(frozen=True)
class Repository:
    """A repository, and the folder in it that the user is in."""

    git: Git
    """Git in the top folder of the work tree, or in the bare repository."""
    common: Path
    """The folder of its objects and references."""
    index: Path
    is_bare: bool
    is_shallow: bool
    directory: Path
    """The user's, relative to the top of the work tree."""

    @property
    def root(self) -> Path:
        """The top of the work tree, or the bare repository."""
        return self.git.folder

    @property
    def here(self) -> Path:
        """The folder that the user is in."""
        return self.root / self.directory

    @property
    def remedy_if_shallow(self) -> str:
        """What to add to an error about a missing commit if the clone is shallow; else empty."""
        return f"; this clone is shallow: {_SHALLOW_REMEDY}" if self.is_shallow else ""


def repository_of(start: Path, environment: Mapping[str, str]) -> Repository:
    """Return the repository that a folder is in; raises UsageError if it is in none, or within a .git."""
    git = Git.find(start, environment)
    ended = git.ask(
        "rev-parse", "--is-bare-repository", "--is-inside-work-tree", "--is-shallow-repository", "--git-dir"
    )
    if ended.status != 0:
        message = last_words(ended)
        if "not a git repository" in message:
            raise UsageError(
                f"{start} is in no git repository, of which revisions could be weighed: change to one, or make one "
                "(git init, git add, git commit)"
            )
        advice = _TRUST_ADVICE.search(ended.err)
        remedy = f"; if you trust it: {advice[0]}" if "dubious" in message and advice else ""
        raise UsageError(f"the repository of {start} cannot be used: git says {message}{remedy}")
    bare, inside, shallow, git_dir = ended.out.removesuffix("\n").split("\n", 3)
    git_folder = (start / git_dir).resolve()
    common = (start / (git.answer("rev-parse", "--git-common-dir") or git_dir)).resolve()
    if inside == "true":
        root = Path(git.do(f"{start} cannot be looked at", "rev-parse", "--show-toplevel"))
        directory = Path(os.path.relpath(os.path.realpath(start), os.path.realpath(root)))
    elif bare == "true":
        root, directory = common, Path()
    else:
        raise UsageError(f"{start} is within the .git of a repository: change to its work tree")
    return Repository(git.within(root), common, git_folder / "index", bare == "true", shallow == "true", directory)


def last_words(ended: Ended) -> str:
    """Return the last line of git's output that says what failed."""
    lines = [line.strip() for line in ended.err.splitlines() if line.strip()]
    lines = [line for line in lines if line not in _UNSPECIFIC_ERRORS] or lines
    place = next((n for n, line in reversed([*enumerate(lines)]) if line.startswith(("fatal: ", "error: "))), -1)
    said = "".join(lines[place:][:1])
    if said.endswith(":"):  # a list follows
        said = f"{said} {', '.join(lines[place:][1:])}"
    said = said.removeprefix("fatal: ").removeprefix("error: ")
    return said or f"nothing, and {how_status_failed(ended.status or 0)}"
