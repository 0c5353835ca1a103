"""Projects on a scripted machine: a project's file, and programs that each side has in its own folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from steelyard.api import project, project_checks
from steelyard.api.project import Sides
from steelyard.api.project_checks import BuiltSide
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.subjects.revisions.sides import Side
from tests.golden.programs import Call, Program
from tests.world import ScriptedWorld, at_launch, ctrl_c, measured, program_of

TWO = """
[[target]]
name = "sort"
command = "./sort big"

[[target]]
name = "parse"
command = "./parse"
"""


class ProjectWorld(ScriptedWorld):
    """A scripted machine with a project, each side of which has a folder of its own."""

    ms: dict[str, tuple[float, float]]

    def says(self, text: str, name: str = "steelyard.toml") -> None:
        """Write the project's file."""
        (self.folder / name).write_text(text)

    def program(self, name: str, before: float, after: float) -> None:
        """Put a program into both sides, which takes `before` ms in the baseline and `after` ms in the candidate."""
        for side in ("base", "head"):
            (self.folder / side).mkdir(exist_ok=True)
            self.executable(f"{side}/{name}", f"{side} {name}")
        self.ms[name] = (before, after)

    def takes(self, spec: LaunchSpec, number: int) -> Measured:
        """Return what a launch measures, which depends on the folder that it runs in."""
        before, after = self.ms[program_of(spec)]
        return measured((after if spec.cwd == bytes(self.folder / "head") else before) * (1 + number * 1e-6))

    def press_ctrl_c(self, launch: int) -> None:
        """Press Ctrl-C in the middle of the launch of this number."""
        self.script = at_launch(launch, ctrl_c, self.takes)

    def drives(self, **suites: Program) -> None:
        """Make the programs of these names suites of a harness, the same on both sides."""

        def script(spec: LaunchSpec, number: int) -> Measured:
            words = [os.fsdecode(word) for word in spec.argv]
            call = Call(program_of(spec), suites[program_of(spec)], number, words[1:], number)
            return measured(0, **call.measured())

        self.script = script

    def ran(self) -> list[str]:
        """Return the commands of the launches, each once."""
        return [*dict.fromkeys(b" ".join(spec.argv).decode() for spec in self.launched)]

    def records(self, *names: str) -> list[dict[str, Any]]:
        """Return the records in these files."""
        return [self.json(name) for name in names]


def project_world(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> ProjectWorld:
    """Return a project with `./sort`, which gets slower, and `./parse`, which stays the same."""
    of_project = ProjectWorld(scripted.folder, scripted.script)
    of_project.ms = {}
    of_project.script = of_project.takes
    of_project.program("sort", 12, 18)
    of_project.program("parse", 7, 7)

    @contextmanager
    def folders(*_: object) -> Iterator[Sides]:
        yield Sides(Side("main", [of_project.folder / "base"]), Side("the work tree", [of_project.folder / "head"]))

    @contextmanager
    def folder(*_: object) -> Iterator[BuiltSide]:
        yield BuiltSide(Side("the work tree", [of_project.folder / "head"]))

    monkeypatch.setattr(project, "sides_of", folders)
    monkeypatch.setattr(project_checks, "side_of_project", folder)
    monkeypatch.setattr("tests.world.pool.ThreadPoolExecutor", of_project.executor)
    return of_project
