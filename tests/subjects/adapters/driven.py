"""What the adapters' tests drive: C++ programs, built once, and any command, run as a weighing would."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from steelyard.measure.launch import Launcher
from steelyard.model.launches import LaunchSpec, Measured, Sample
from steelyard.subjects.harness import Harness, Listed, Work

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ROOT / "tests/adapters"
BUILDS = ROOT / "build/adapters"


def built(name: str, source: Path, *words: str, needs: str) -> Path:
    """The program of a source file; it is built if it is older than that, and the test skipped if that cannot be."""
    program = BUILDS / source.parent.name / name
    made_with = program.with_suffix(".words")
    if (
        program.exists()
        and program.stat().st_mtime > source.stat().st_mtime
        and made_with.read_text() == " ".join(words)
    ):
        return program
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("there is no g++: install it")
    program.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [compiler, "-std=c++17", "-O2", "-o", program, source, *words], capture_output=True, text=True
    )
    if done.returncode and "No such file or directory" in done.stderr:
        pytest.skip(f"{source.name} cannot be built: install {needs}")
    assert done.returncode == 0, done.stderr
    made_with.write_text(" ".join(words))
    return program


def folder_of(variable: str) -> Path | None:
    """The folder that an environment variable names, for another version than the system's."""
    named = os.environ.get(variable)
    return Path(named) if named else None


def spec(*words: str | Path, env: tuple[str, ...] = ()) -> LaunchSpec:
    """The launch of a command."""
    argv = tuple(os.fsencode(word) for word in words)
    return LaunchSpec(argv[0], argv, tuple(map(os.fsencode, env)), timeout_ns=60_000_000_000)


@dataclass
class Driver:
    """A harness and one of its programs, driven by hand."""

    harness: Harness
    launch: LaunchSpec
    launcher: Launcher
    measured: Measured | None = field(default=None, init=False)

    def listed(self) -> list[Listed]:
        return self.harness.listed(self._ended(self.harness.listing(self.launch)))

    def names(self) -> list[str]:
        return [one.name for one in self.listed()]

    def run(self, name: str, loops: int = 1, samples: int = 2) -> tuple[Sample, ...]:
        work = Work(name, loops, samples)
        return self.harness.samples(self._ended(self.harness.running(self.launch, work)), work)

    def _ended(self, launch: LaunchSpec) -> Measured:
        self.measured = self.launcher.launch(launch)
        assert not self.measured.has_failed(), self.measured
        return self.measured
