"""A git repository on a scripted machine: a line of commits, each with a program that takes so long."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.model.launches import LaunchSpec, Measured
from tests.golden.programs import Call, Program
from tests.golden.world import _count, _parted
from tests.world import ScriptedWorld, measured, program_of

AUTHOR, DATE = "A U Thor", "2026-01-02T03:04:05+01:00"


def name_of(number: int) -> str:
    """The hash of a commit."""
    return f"{number:02x}" * 20


@dataclass
class ScriptedGit:
    """Commits 0, 1, ... of a repository in the world's folder; `git` and `/bin/sh` do what is scripted here."""

    world: ScriptedWorld
    ms: Sequence[float]
    broken: set[int] = field(default_factory=set)
    """Those that do not build."""
    without: set[int] = field(default_factory=set)
    """Those that lack the program."""
    failing: set[int] = field(default_factory=set)
    """Those whose program fails."""
    wobbling: set[int] = field(default_factory=set)
    """Those whose counts do not repeat."""
    same_files: dict[int, int] = field(default_factory=dict)
    apart: set[int] = field(default_factory=set)
    """Those that no other is an ancestor of."""
    refusal: str = ""
    """What git says of this folder, if it is no repository."""
    shallow: bool = False
    bare: bool = False
    merged: bool = False
    """Whether the line of first parents passes by commit 0."""
    subject: str = "Change number"
    said: list[list[str]] = field(default_factory=list)
    built: list[int] = field(default_factory=list)
    trees: set[Path] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.world.executable("bin/git")
        self.world.script = self.script

    def script(self, spec: LaunchSpec, number: int) -> Measured:
        """What a launch measures."""
        words = [os.fsdecode(word) for word in spec.argv]
        if program_of(spec) == "git":
            return self._git(words[3:] if words[1] == "-c" else words[1:], spec)
        commit = int(Path(os.fsdecode(spec.cwd or b"")).name[:2], 16)
        if program_of(spec) == "sh":
            self.built.append(commit)
            ill = commit in self.broken
            self._print(spec, "work.c:1: error: no such thing\n" if ill else "")
            return measured(50, exit_code=2 if ill else 0)
        if program_of(spec) == "valgrind":
            flags, words = _parted(words)
            instructions = round(self.ms[commit] * 1e5) + (number * 37 % 11 if commit in self.wobbling else 0)
            program = Program(counts=lambda *_: {"main": instructions})
            _count(Call("prog", program, number, words[1:], number), words, flags)
        return measured(self.ms[commit] * (1 + number % 7 * 1e-4), exit_code=1 if commit in self.failing else 0)

    def _git(self, words: list[str], spec: LaunchSpec) -> Measured:
        self.said.append(words)
        found = self._answer(words)
        if found is None:
            return measured(1, exit_code=128, stderr=f"fatal: {self.refusal or 'no'}\n".encode())
        self._print(spec, found)
        return measured(1)

    def _print(self, spec: LaunchSpec, text: str) -> None:
        assert isinstance(spec.stdout, bytes)
        Path(os.fsdecode(spec.stdout)).write_text(text)

    def _answer(self, words: list[str]) -> str | None:  # noqa: C901 - one line a question
        match words:
            case ["rev-parse", "--is-inside-work-tree"]:
                return None if self.refusal else "false\n" if self.bare else "true\n"
            case ["rev-parse", "--show-toplevel"]:
                return f"{self.world.folder}\n"
            case ["rev-parse", "--show-prefix"]:
                return "\n"
            case ["rev-parse", "--is-shallow-repository"]:
                return f"{str(self.shallow).lower()}\n"
            case ["rev-parse", "--verify", "--quiet", name]:
                return self._named(name.removesuffix("^{commit}"))
            case ["merge-base", "--is-ancestor", one, other]:
                return "" if self._number(one) <= self._number(other) and not self._apart(one, other) else None
            case ["merge-base", one, other]:
                return f"{name_of(0)}\n" if self._apart(one, other) else f"{min(one, other)}\n"
            case ["log", *_, line, "--"]:
                first, _, last = line.partition("..")
                numbers = range(self._number(first) + 1, self._number(last) + 1) if last else [self._number(first)]
                return "\n".join(map(self._line, numbers))
            case ["worktree", "add", *_, place, name]:
                return self._checked_out(Path(place), self._number(name))
            case ["worktree", "remove", *_, place]:
                self.trees.remove(Path(place))
                shutil.rmtree(place)
                return ""
        raise AssertionError(words)

    def _named(self, name: str) -> str | None:
        if name == "HEAD":
            return f"{name_of(len(self.ms) - 1)}\n"
        if name.removeprefix("c").isdigit() and int(name.removeprefix("c")) < len(self.ms):
            return f"{name_of(int(name.removeprefix('c')))}\n"
        return None

    def _number(self, name: str) -> int:
        return int(name[:2], 16)

    def _apart(self, *names: str) -> bool:
        return bool(self.apart & set(map(self._number, names)))

    def _line(self, number: int) -> str:
        parents = [name_of(number - 1)] if number else []
        if self.merged and number == 1:
            parents = [name_of(200)]
        tree = name_of(self.same_files.get(number, number))
        return "\0".join([name_of(number), " ".join(parents), tree, AUTHOR, DATE, f"{self.subject} {number}"])

    def _checked_out(self, place: Path, number: int) -> str:
        place.mkdir()
        self.trees.add(place)
        if number not in self.without:
            program = place / "prog"
            program.write_text(f"#!/bin/sh\n# {number}\n")
            program.chmod(0o755)
        return ""
