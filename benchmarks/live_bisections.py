"""Whole bisections on this machine: `steelyard bisect` over 64 commits, one of them 2 % slower, among bursts of work.

    python benchmarks/live_bisections.py [BISECTIONS] [--commits N] [--change 2%] [--max-time SECONDS]
    python benchmarks/live_bisections.py [BISECTIONS] --project FOLDER --plant PATCH --build CMD --command CMD
        [--options WORDS]

Each has its own history of the demo's 12 ms program, in which every commit changes a comment, and one the program's
work. With `--project` the history is the newest commits of an existing repository, unchanged up to one of them and with
a patch on top of each from there on; the patch has to fit all of those. As for a user, each bisection is a process, and
each commit is built where it is checked out. At least 20 bisections are needed: 19 or more have to name the commit, and
none another one.
"""

from __future__ import annotations

import argparse
import random
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.load import Bursts
from benchmarks.processes import STEELYARD, WORK, read_record, stoppable, with_own_store
from benchmarks.simulation import table

ROUNDS = 2800
_BUILD = "cc -O2 -DROUNDS=$(cat rounds) -o work work.c"
_GIT = ("git", "-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost", "-c", "commit.gpgsign=false")


@dataclass
class Tally:
    """The bisections so far."""

    words: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)

    def report(self) -> str:
        """The table so far."""
        words = ("found", "wrong", "range", "wrong range", "nothing", "undecided")
        row = [
            sum(self.words.values()),
            *(self.words[word] for word in words),
            f"{statistics.median(self.seconds):.0f}",
        ]
        return table(("bisections", *words, "seconds"), [row]) + "\n"


def history(folder: Path, commits: int, slow: int, change: float) -> str:
    """Make a repository of a good commit and `commits` after it; return the hash of the slow one."""
    _git(folder, "init", "--quiet")
    for number in range(commits + 1):
        rounds = round(ROUNDS * (1 + change)) if number >= slow else ROUNDS
        (folder / "work.c").write_text(f"/* {number} */\n{WORK.read_text()}")
        (folder / "rounds").write_text(f"{rounds}\n")
        _git(folder, "add", "work.c", "rounds")
        _git(folder, "commit", "--quiet", "--message", f"Change {number}")
    return _git(folder, "rev-parse", f"HEAD~{commits - slow}")


def planted(folder: Path, project: Path, patch: Path, commits: int, slow: int) -> str:
    """Make a repository of a project's newest commits, with the patch from one of them on; return the hash of that one.

    They are its first parents, with their own messages.
    """
    _git(folder, "clone", "--quiet", "--shared", "--bare", str(project), ".")
    chain = _git(folder, "rev-list", "--first-parent", "--reverse", f"--max-count={commits + 1}", "HEAD").split()
    parent, *after = chain
    found = ""
    for number, commit in enumerate(after, start=1):
        tree = f"{commit}^{{tree}}" if number < slow else _patched(folder, commit, patch)
        message = _git(folder, "log", "-1", "--format=%s", commit)
        parent = _git(folder, "commit-tree", "-p", parent, "-m", message, tree)
        found = parent if number == slow else found
    _git(folder, "update-ref", "HEAD", parent)
    return found


def _patched(folder: Path, commit: str, patch: Path) -> str:
    """The tree of a commit with the patch applied."""
    _git(folder, "read-tree", commit)
    _git(folder, "apply", "--cached", str(patch.resolve()))
    return _git(folder, "write-tree")


def _git(folder: Path, *words: str) -> str:
    ended = subprocess.run([*_GIT, *words], cwd=folder, check=False, capture_output=True, text=True)
    if ended.returncode:
        raise SystemExit(f"git {words[0]} ended with status {ended.returncode}: {ended.stderr}")
    return ended.stdout.strip()


def environment_of(folder: Path, project: Path | None) -> dict[str, str]:
    """Where a bisection keeps its files: in its own folder for a made-up history, whose builds nobody needs again."""
    own = {} if project else {"XDG_CACHE_HOME": str(folder / "cache")}
    return {**with_own_store(folder), **own}


def bisect(folder: Path, words: argparse.Namespace, tally: Tally) -> None:
    """Search one history."""
    slow = random.randint(1, words.commits)
    repository, record = folder / "repository", folder / "found.json"
    repository.mkdir()
    if words.project:
        bare, repository = repository, folder / "clone"
        culprit = planted(bare, words.project, words.plant, words.commits, slow)
        _git(folder, "clone", "--quiet", "--shared", str(bare), str(repository))
    else:
        culprit = history(repository, words.commits, slow, float(words.change.rstrip("%")) / 100)
    command = [STEELYARD, "bisect", "--good", f"HEAD~{words.commits}", "--build", words.build, words.command]
    command += ["--max-time", str(words.max_time), *shlex.split(words.options), "--json", str(record)]
    environment = environment_of(folder, words.project)
    ended = subprocess.run(command, cwd=repository, env=environment, check=False, capture_output=True)
    if ended.returncode not in (0, 1, 4):
        raise SystemExit(f"the bisection ended with status {ended.returncode}: {ended.stderr.decode()}")
    found = read_record(record)
    suspects = [one["hash"] for one in found["suspects"]]
    missed = found["end"] in ("found", "range") and culprit not in suspects
    word = {"found": "wrong", "range": "wrong range"}[found["end"]] if missed else found["end"]
    tally.words[word] += 1
    tally.seconds.append(found["seconds"])


def main(words: argparse.Namespace) -> None:
    """Print the tally so far after each bisection."""
    tally = Tally()
    with stoppable(), Bursts():
        for _ in range(words.bisections):
            with tempfile.TemporaryDirectory() as name:
                bisect(Path(name), words, tally)
            print(tally.report(), flush=True)


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Whole bisections on this machine, under bursts.")
    parser.add_argument("bisections", nargs="?", type=int, default=20)
    parser.add_argument("--commits", type=int, default=64, metavar="N")
    parser.add_argument("--change", default="2%", metavar="PERCENT")
    parser.add_argument("--max-time", type=float, default=60.0, metavar="SECONDS", help="of each weighing")
    parser.add_argument("--project", type=Path, metavar="FOLDER", help="a repository, its newest commits as they are")
    parser.add_argument("--plant", type=Path, metavar="PATCH", help="what makes one of them slow")
    parser.add_argument("--build", default=_BUILD, metavar="CMD", help="builds a commit")
    parser.add_argument("--command", default="./work", metavar="CMD", help="what is weighed")
    parser.add_argument("--options", default="", metavar="WORDS", help="more of bisect's, in quotes: '--stdin FILE'")
    return parser.parse_args()


if __name__ == "__main__":
    main(_words())
