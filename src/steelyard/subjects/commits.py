"""A line of commits in a git repository, from a good one to a bad one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from steelyard.model.bisection import Commit
from steelyard.model.errors import UsageError


class Ended(NamedTuple):
    """What came of a command that was run to its end."""

    status: int
    out: str
    err: str

    @property
    def last_words(self) -> str:
        """The last line on stderr."""
        return (self.err.strip().splitlines() or [f"exit status {self.status}"])[-1].strip()


Git = Callable[..., Ended]
"""git(*words): runs `git` with these words, in the user's folder."""

_FIELDS = "%H%x00%P%x00%T%x00%an%x00%aI%x00%s"


@dataclass(frozen=True)
class Repository:
    """Where the commits are."""

    top: Path
    prefix: str
    """Of the user's folder below the top; empty, or with a slash at its end."""


def repository_of(git: Git) -> Repository:
    """The repository around the user's folder; raises UsageError where there is none, or one without a work tree."""
    found = git("rev-parse", "--is-inside-work-tree")
    if found.status:
        raise UsageError(f"bisect works in a git repository: {found.last_words}; change to one")
    if found.out.strip() != "true":
        raise UsageError(
            "bisect needs a work tree, and here is none, as in a bare repository: go to a clone that has one"
        )
    top, prefix = git("rev-parse", "--show-toplevel").out.rstrip("\n"), git("rev-parse", "--show-prefix").out
    return Repository(Path(top), prefix.rstrip("\n"))


def line_of(git: Git, good: str, bad: str) -> list[Commit]:
    """The commits from good to bad, both among them, along first parents.

    Raises UsageError for a revision that is not known, for two that are the same, and where none leads to the other.
    """
    first, last = (_commit(git, option, name) for option, name in (("--good", good), ("--bad", bad)))
    if first == last:
        raise UsageError(f"--good {good} and --bad {bad} are the same commit, {first[:10]}: give two that differ")
    _check_ancestor(git, good, bad, first, last)
    commits = _logged(git, "--first-parent", "--reverse", f"{first}..{last}")
    if commits[0].parents[:1] != [first]:
        met = commits[0].parents[0][:10] if commits[0].parents else commits[0].short
        raise UsageError(
            f"--good {good} came into --bad {bad} by a merge, and the line of first parents does not pass it: give "
            f"--good {met}, from where that line goes on, or a --bad before the merge"
        )
    return [*_logged(git, "-1", first), *commits]


def _commit(git: Git, option: str, name: str) -> str:
    found = git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}") if _may_be_name(name) else None
    if found is None or found.status:
        shallow = " (the clone is shallow: git fetch --unshallow gets the rest)" if _is_shallow(git) else ""
        raise UsageError(f"{option} {name!r} is no commit of this repository{shallow}: check its name with git log")
    return found.out.strip()


def _may_be_name(name: str) -> bool:
    """Whether git would not take it for an option."""
    return bool(name) and not name.startswith("-") and "\0" not in name


def _is_shallow(git: Git) -> bool:
    return git("rev-parse", "--is-shallow-repository").out.strip() == "true"


def _check_ancestor(git: Git, good: str, bad: str, first: str, last: str) -> None:
    if git("merge-base", "--is-ancestor", first, last).status == 0:
        return
    if git("merge-base", "--is-ancestor", last, first).status == 0:
        raise UsageError(
            f"--bad {bad} is older than --good {good}: for what became faster, give them the other way round"
        )
    if _is_shallow(git):
        raise UsageError(
            f"no line of commits leads from --good {good} to --bad {bad} in this shallow clone: git fetch --unshallow"
        )
    base = git("merge-base", first, last).out.strip()
    way_out = f"they part at {base[:10]}: try --good {base[:10]}" if base else "they share no commit"
    raise UsageError(f"--good {good} is no ancestor of --bad {bad}; {way_out}")


def _logged(git: Git, *words: str) -> list[Commit]:
    """Commits as git's log has them, whatever the user's settings add to it elsewhere."""
    log = git("-c", "log.showSignature=false", "log", "--encoding=UTF-8", f"--format=format:{_FIELDS}", *words, "--")
    return [_read(line) for line in log.out.rstrip("\n").split("\n")]


def _read(line: str) -> Commit:
    name, parents, tree, author, date, subject = line.split("\0", 5)
    return Commit(hash=name, parents=parents.split(), tree=tree, author=author, date=date, subject=subject)
