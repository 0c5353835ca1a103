"""A line of commits in a real repository, each with a program whose time on a scripted machine is known."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests.golden.programs import Call, Program
from tests.golden.world import _count, _parted
from tests.repositories import Repo
from tests.world import ScriptedWorld, measured, program_of

AUTHOR, DATE = "A U Thor", "2026-01-02T03:04:05+01:00"
_PERSON = f"{AUTHOR} <author@example.org> 1767319445 +0100"
NUMBER = "number.h"
"""The file with the commit's number. It is a source file: a program may read any other file of its revision, so that
builds that differ in one are not identical."""
BUILD = "test ! -e broken || { echo 'work.c:1: error: no such thing'; exit 2; }; echo >> ../../built"
"""How commits are built; each build adds a line to a file beside the builds."""


@dataclass
class History:
    """Commits 0, 1, ... with the tags c0, c1, ..., in the world's folder; the last one is `main`."""

    world: ScriptedWorld
    ms: Sequence[float]
    broken: set[int] = field(default_factory=set)
    """The commits that do not build."""
    without: set[int] = field(default_factory=set)
    """The commits that lack the program."""
    failing: set[int] = field(default_factory=set)
    """The commits whose program fails."""
    lying: set[int] = field(default_factory=set)
    """The commits whose program only says that it failed, and ends well."""
    wobbling: set[int] = field(default_factory=set)
    """The commits whose counts are not the same each time."""
    same_files: dict[int, int] = field(default_factory=dict)
    subject: str = "Change number"

    def __post_init__(self) -> None:
        self.repo = Repo(self.world.folder)
        self.repo.git("init", "--quiet", "--initial-branch=main")
        self._import("".join(self._commits()))
        self.names = self.repo.git("log", "--reverse", "--format=%H", "main").splitlines()
        self.numbers = {name[:10]: number for number, name in enumerate(self.names)}
        self.world.script = self.script

    def short(self, number: int) -> str:
        """Return a commit's hash as it is printed."""
        return self.names[number][:10]

    def branch_off(self) -> None:
        """Make a branch `side` of one commit that starts from c0, and a branch `merged` that merges it into c3."""
        side = _commit("side", 901, "side", f"from {self.names[0]}")
        merged = _commit("merged", 902, "merged", f"from {self.names[3]}", "merge :901")
        self._import(f"{side}{merged}")

    def merge_branches(self) -> str:
        """Commit `met` to `main`, a merge of c3, `one` and `other` that is slow because of `other`; return its hash.

        c2 had been merged into `other` before: its commits are c0, `other~2`, the merge of c2, and `other`.
        """
        stream = [
            _commit("one", 911, "one", f"from {self.names[1]}"),
            _commit("other", 912, "other begins", f"from {self.names[0]}"),
            _commit("other", 913, "merge of the line", "from :912", f"merge {self.names[2]}"),
            _commit("other", 914, "other", "from :913") + _number(len(self.names) - 1),
            _commit("main", 915, "met", f"from {self.names[3]}", "merge :911", "merge :914")
            + _number(len(self.names) - 1),
        ]
        self._import("".join(stream))
        return self.repo.git("rev-parse", "main")

    def builds(self) -> int:
        """Return how many builds there were."""
        file = self.world.folder / ".cache/steelyard/builds/built"
        return len(file.read_text().splitlines()) if file.exists() else 0

    def script(self, spec: LaunchSpec, number: int) -> Measured:
        """Return what a launch measures."""
        words = [os.fsdecode(word) for word in spec.argv]
        commit = int((Path(os.fsdecode(spec.cwd or b"")) / NUMBER).read_text())
        if program_of(spec) == "valgrind":
            flags, words = _parted(words)
            instructions = round(self.ms[commit] * 1e5) + (number * 37 % 11 if commit in self.wobbling else 0)
            program = Program(counts=lambda *_: {"main": instructions})
            _count(Call("prog", program, number, words[1:], number), words, flags)
        if commit in self.lying:
            return measured(1 + number % 7 * 1e-4, stderr=b"prog: cannot open table\n")
        return measured(self.ms[commit] * (1 + number % 7 * 1e-4), exit_code=1 if commit in self.failing else 0)

    def _commits(self) -> Iterator[str]:
        for number in range(len(self.ms)):
            like = self.same_files.get(number, number)
            yield _commit("main", number + 1, f"{self.subject} {number}")
            yield f"deleteall\n{_number(like)}"
            if like not in self.without:
                yield f"M 755 inline prog\n{_data('#!/bin/sh')}"
            if like in self.broken:
                yield f"M 644 inline broken\n{_data('')}"
            yield f"reset refs/tags/c{number}\nfrom :{number + 1}\n\n"

    def _import(self, stream: str) -> None:
        words = ["git", "fast-import", "--quiet", "--force"]
        subprocess.run(words, cwd=self.repo.folder, input=stream.encode("utf-8", "surrogateescape"), check=True)


def _commit(branch: str, mark: int, message: str, *parents: str) -> str:
    lines = [f"commit refs/heads/{branch}", f"mark :{mark}", f"author {_PERSON}", f"committer {_PERSON}"]
    return "\n".join(lines) + "\n" + _data(message) + "".join(f"{parent}\n" for parent in parents)


def _number(number: int) -> str:
    return f"M 644 inline {NUMBER}\n{_data(str(number))}"


def _data(text: str) -> str:
    return f"data {len(text.encode('utf-8', 'surrogateescape'))}\n{text}\n"
