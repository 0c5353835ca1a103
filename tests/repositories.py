"""Tiny repositories of real git, whose programs and builds are shell scripts."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests.world import ScriptedWorld, measured

# Without what the machine's owner has configured for git.
_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    **{
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "A"), ("EMAIL", "a@b"))
    },
}
BUILD = "cp source program && chmod +x program"


@dataclass(frozen=True)
class Repo:
    """A repository with a branch `main`."""

    folder: Path

    @classmethod
    def made(cls, folder: Path, **files: str) -> Repo:
        """Make a repository whose first commit has these files, by default `source`."""
        folder.mkdir(parents=True, exist_ok=True)
        repo = cls(folder)
        repo.git("init", "--quiet", "--initial-branch=main")
        repo.write(".gitignore", "program\n")
        for name, content in (files or {"source": script("old")}).items():
            repo.write(name, content)
        repo.commit("first")
        return repo

    def git(self, *words: str | Path) -> str:
        """Run git in the repository; return what it prints."""
        options = ("-c", "protocol.file.allow=always")
        done = subprocess.run(
            ["git", *options, *words], cwd=self.folder, env=_ENVIRONMENT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done
        return done.stdout.strip()

    def write(self, name: str, content: str) -> Path:
        """Write a file in the work tree."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    def commit(self, message: str, **files: str) -> str:
        """Commit the work tree, with these files; return the commit's hash."""
        for name, content in files.items():
            self.write(name, content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    def contents(self) -> dict[str, tuple[bytes, int]]:
        """Return every file, git's own too, with its time: what nobody but the user may change.

        The times of objects are left out: git sets them when it is asked for an object.
        """
        return {
            str(path): (path.read_bytes(), 0 if "objects" in path.parts else path.stat().st_mtime_ns)
            for path in self.folder.rglob("*")
            if path.is_file()
        }


def script(name: str) -> str:
    """Return a script that prints its name."""
    return f"#!/bin/sh\necho {name}\n"


def slower_work_tree(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch, **files: str) -> Repo:
    """Make a repository, with these files too, whose work tree is slower than `main`; move this process into it."""
    made = Repo.made(scripted.folder / "project", **{"source": script("old"), "below/file": "x", **files})
    made.write("source", script("new"))
    monkeypatch.chdir(made.folder)

    def launch(spec: LaunchSpec, number: int) -> Measured:
        assert spec.cwd is not None
        is_new = b"echo new" in Path(os.fsdecode(spec.program)).read_bytes()
        return measured((18.0 if is_new else 12.0) * (1 + number * 1e-6))

    scripted.script = launch
    return made
