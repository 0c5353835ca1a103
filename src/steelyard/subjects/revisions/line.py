"""A line of commits in a git repository, from a good to a bad one, or from an old to a new one."""

from __future__ import annotations

from steelyard.model.bisection import Commit, Sought, word_of
from steelyard.model.errors import UsageError
from steelyard.subjects.revisions.git import Repository
from steelyard.subjects.revisions.revision import Revision, resolve_name

_FIELDS = "%H%x00%P%x00%T%x00%an%x00%aI%x00%s"


def commits_between(repository: Repository, good: str, bad: str, sought: Sought = "slower") -> list[Commit]:
    """Return the commits from good to bad, including both, along first parents; `sought` is what is searched for.

    Raises UsageError for an unknown revision, for two that are the same, and if no line leads from good to bad.
    """
    older, newer = f"--{word_of('good', sought)}", f"--{word_of('bad', sought)}"
    first, last = (
        resolve_name(repository, option, name).commit or "" for option, name in ((older, good), (newer, bad))
    )
    if first == last:
        raise UsageError(f"{older} {good} and {newer} {bad} are the same commit, {first[:10]}: give two that differ")
    _check_ancestor(repository, (f"{older} {good}", first), (f"{newer} {bad}", last), sought)
    commits = _commits_of_log(repository, "--first-parent", "--reverse", f"{first}..{last}")
    if commits[0].parents[:1] != [first]:
        met = commits[0].parents[0][:10] if commits[0].parents else commits[0].short
        raise UsageError(
            f"{older} {good} came into {newer} {bad} by a merge, and the line of first parents does not pass it: give "
            f"{older} {met}, from where that line goes on, or a {newer} before the merge"
        )
    return [*_commits_of_log(repository, "-1", first), *commits]


def merged_lines(repository: Repository, merge: Commit) -> list[tuple[str, str]]:
    """Return for each line that a commit merged where it left the others and where it ends, for `commits_between`.

    Where it left them is not the merge base if the main line had been merged into it before.
    """
    lines = []
    for tip in merge.parents[1:]:
        listing = repository.git.answer("rev-list", "--first-parent", "--parents", f"{merge.parents[0]}..{tip}", "--")
        oldest = (listing or "").rpartition("\n")[2].split(" ")
        lines += [(parent[:10], tip[:10]) for parent in oldest[1:2]]
    return lines


def revision_of(commit: Commit) -> Revision:
    """Return a commit as a revision to build."""
    return Revision(commit.short, commit.hash, commit.tree)


def _check_ancestor(repository: Repository, older: tuple[str, str], newer: tuple[str, str], sought: Sought) -> None:
    """Raise UsageError unless one is an ancestor of the other; each is (what the user gave, its commit)."""
    git, (good, first), (bad, last) = repository.git, older, newer
    if git.ask("merge-base", "--is-ancestor", first, last).status == 0:
        return
    if git.ask("merge-base", "--is-ancestor", last, first).status == 0:
        raise UsageError(f"{bad} is older than {good}: exchange them, as it looks for what became {sought} since")
    if repository.is_shallow:
        raise UsageError(f"no line of commits leads from {good} to {bad}{repository.remedy_if_shallow}")
    base = git.answer("merge-base", first, last)
    option = good.partition(" ")[0]
    way_out = f"they part at {base[:10]}: try {option} {base[:10]}" if base else "they share no commit"
    raise UsageError(f"{good} is no ancestor of {bad}; {way_out}")


def _commits_of_log(repository: Repository, *words: str) -> list[Commit]:
    """Return the commits of git's log, without anything that the user's settings would add to it."""
    log = repository.git.do(
        "the commits cannot be listed",
        *("-c", "log.showSignature=false", "log", "--encoding=UTF-8", f"--format=format:{_FIELDS}", *words, "--"),
    )
    return [_parse_commit(line) for line in log.split("\n")]


def _parse_commit(line: str) -> Commit:
    name, parents, tree, author, date, subject = line.split("\0", 5)
    return Commit(hash=name, parents=parents.split(), tree=tree, author=author, date=date, subject=subject)
