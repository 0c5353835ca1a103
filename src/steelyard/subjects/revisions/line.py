"""A line of commits in a git repository, from a good one to a bad one."""

from __future__ import annotations

from steelyard.model.bisection import Commit
from steelyard.model.errors import UsageError
from steelyard.subjects.revisions.git import Repository
from steelyard.subjects.revisions.revision import Revision, named

_FIELDS = "%H%x00%P%x00%T%x00%an%x00%aI%x00%s"


def line_of(repository: Repository, good: str, bad: str) -> list[Commit]:
    """The commits from good to bad, both among them, along first parents.

    Raises UsageError for a revision that is not known, for two that are the same, and where none leads to the other.
    """
    first, last = (named(repository, option, name).commit or "" for option, name in (("--good", good), ("--bad", bad)))
    if first == last:
        raise UsageError(f"--good {good} and --bad {bad} are the same commit, {first[:10]}: give two that differ")
    _check_ancestor(repository, good, bad, first, last)
    commits = _logged(repository, "--first-parent", "--reverse", f"{first}..{last}")
    if commits[0].parents[:1] != [first]:
        met = commits[0].parents[0][:10] if commits[0].parents else commits[0].short
        raise UsageError(
            f"--good {good} came into --bad {bad} by a merge, and the line of first parents does not pass it: give "
            f"--good {met}, from where that line goes on, or a --bad before the merge"
        )
    return [*_logged(repository, "-1", first), *commits]


def revision_of(commit: Commit) -> Revision:
    """What is built of a commit."""
    return Revision(commit.short, commit.hash, commit.tree)


def _check_ancestor(repository: Repository, good: str, bad: str, first: str, last: str) -> None:
    git = repository.git
    if git.ask("merge-base", "--is-ancestor", first, last).status == 0:
        return
    if git.ask("merge-base", "--is-ancestor", last, first).status == 0:
        raise UsageError(
            f"--bad {bad} is older than --good {good}: exchange them, as it looks for what became slower since"
        )
    if repository.is_shallow:
        raise UsageError(f"no line of commits leads from --good {good} to --bad {bad}{repository.remedy_if_shallow}")
    base = git.answer("merge-base", first, last)
    way_out = f"they part at {base[:10]}: try --good {base[:10]}" if base else "they share no commit"
    raise UsageError(f"--good {good} is no ancestor of --bad {bad}; {way_out}")


def _logged(repository: Repository, *words: str) -> list[Commit]:
    """Commits as git's log has them, whatever the user's settings add to it elsewhere."""
    log = repository.git.do(
        "the commits cannot be listed",
        *("-c", "log.showSignature=false", "log", "--encoding=UTF-8", f"--format=format:{_FIELDS}", *words, "--"),
    )
    return [_read(line) for line in log.split("\n")]


def _read(line: str) -> Commit:
    name, parents, tree, author, date, subject = line.split("\0", 5)
    return Commit(hash=name, parents=parents.split(), tree=tree, author=author, date=date, subject=subject)
