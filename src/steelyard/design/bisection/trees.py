"""Commits as folders in which their program runs: checked out and built, each once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from steelyard.design.runner.failure import Interrupted
from steelyard.design.runner.runner import LaunchServer, Runner
from steelyard.model.bisection import Commit
from steelyard.model.errors import MeasurementError, SteelyardError, UsageError
from steelyard.model.launches import LaunchSpec
from steelyard.subjects.commits import Ended, Repository

_SHELL = "/bin/sh"
_MOST_OF_A_LOG = 1 << 16
_TAIL_LINES, _TAIL_CHARACTERS = 5, 600
# They say where a repository is, to whatever git runs: a hook's own is not ours.
_OF_A_HOOK = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR")


class NotBuiltError(MeasurementError):
    """A commit that cannot be checked out or built: it can be skipped."""


@dataclass(frozen=True)
class Commands:
    """Runs what is not measured to its end, on the launch server: interrupted and cleaned up behind as a launch is."""

    launcher: LaunchServer
    interrupted: Callable[[], bool]
    environment: Mapping[str, str]
    folder: Path
    """For what they print, and what they make."""

    def __call__(self, argv: Sequence[str], place: Path, log: Path | None = None) -> Ended:
        """Run a command; all that it prints goes to the `log`, if there is one. Raises Interrupted."""
        printed = log or self.folder / "printed"
        measured = Runner(self.launcher, self.interrupted).run(
            LaunchSpec(
                program=os.fsencode(argv[0]),
                argv=tuple(os.fsencode(word) for word in argv),
                env=tuple(
                    os.fsencode(f"{name}={value}") for name, value in self.environment.items() if name not in _OF_A_HOOK
                ),
                cwd=os.fsencode(place),
                stdout=os.fsencode(printed),
                stderr=4096 if log is None else os.fsencode(log),
            )
        )
        status = measured.exit_code if measured.exit_code is not None else 128 + (measured.signal or 0)
        out = _end_of(printed, None if log is None else _MOST_OF_A_LOG)
        return Ended(status, out, os.fsdecode(measured.stderr or b""))


def _end_of(file: Path, most: int | None) -> str:
    """What is in a file, or the end of it; nothing if it could not be made."""
    try:
        with file.open("rb") as printed:
            if most is not None:
                printed.seek(max(0, printed.seek(0, os.SEEK_END) - most))
            return os.fsdecode(printed.read())
    except OSError:
        return ""


def git_of(environment: Mapping[str, str]) -> str:
    """The program git; raises UsageError where there is none."""
    found = shutil.which("git", path=environment.get("PATH"))
    if found is None:
        raise UsageError("git was not found on PATH: bisect checks commits out with it, so install it")
    return found


@dataclass
class Trees:
    """The folders of commits: worktrees of one repository, which are removed in the end."""

    commands: Commands
    git: str
    repository: Repository
    build: str | None
    made: dict[str, Path] = field(default_factory=dict)
    """Where the command runs, by the hash of a tree: commits that hold the same files share it."""

    def of(self, commit: Commit) -> Path:
        """The folder in which the command of a commit runs, which is made the first time.

        Raises NotBuiltError where that fails, Interrupted if the user asked to stop.
        """
        if self.commands.interrupted():
            raise Interrupted
        if commit.tree not in self.made:
            tree = self._checked_out(commit)
            place = tree / self.repository.prefix
            if not place.is_dir():
                raise NotBuiltError(f"{commit.short} has no folder {self.repository.prefix}")
            if self.build is not None:
                self._build(commit, place)
            self.made[commit.tree] = place
        return self.made[commit.tree]

    def remove(self) -> None:
        """Remove all of them, and what the repository notes of them; also when the user has asked to stop."""
        self.commands.launcher.forget_cancel()
        commands = replace(self.commands, interrupted=lambda: False)
        with suppress(Interrupted, SteelyardError):  # what went before says more
            for tree in self.commands.folder.glob("*/"):
                self._git(commands, "worktree", "remove", "--force", "--force", str(tree))

    def _checked_out(self, commit: Commit) -> Path:
        # Hashes are of one length, and so are the paths of all commits.
        tree = self.commands.folder / commit.hash
        ended = self._git(self.commands, "worktree", "add", "--quiet", "--force", "--detach", str(tree), commit.hash)
        if ended.status:
            raise NotBuiltError(f"{commit.short} cannot be checked out: {ended.last_words}")
        return tree

    def _git(self, commands: Commands, *words: str) -> Ended:
        # Nobody asked for what the user's hooks do after a checkout.
        return commands([self.git, "-c", "core.hooksPath=/dev/null", *words], self.repository.top)

    def _build(self, commit: Commit, place: Path) -> None:
        log = self.commands.folder / f"{commit.hash}.log"
        ended = self.commands([_SHELL, "-c", self.build or ""], place, log)
        if ended.status:
            raise NotBuiltError(f"{commit.short} does not build (exit status {ended.status}){_tail(ended.out)}")


def _tail(printed: str) -> str:
    lines = printed.strip().splitlines()[-_TAIL_LINES:]
    return f": {' | '.join(line.strip() for line in lines)[-_TAIL_CHARACTERS:]}" if lines else ""
