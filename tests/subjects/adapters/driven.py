"""What the adapters' tests drive, as a weighing would: C++ programs, built once, and any command."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from steelyard.measure.launch import Launcher
from steelyard.model.errors import LaunchError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import Sample
from steelyard.subjects.harness import Harness, Listed, Work
from steelyard.subjects.process_time import timed_by_process
from tests import builds
from tests.builds import ROOT
from tests.design.scripted import PLAIN

SOURCES = ROOT / "tests/adapters"
# As few pairs as can be judged, for long launches and planted changes that are many times as large as any noise.
FEW_PAIRS = ("--warmup", "0", "--pairs", "4", "--alpha", "0.2")
OFFERED = ROOT / "build/adapters"


def built(name: str, source: Path, *words: str, needs: str, level: str = "-O2") -> Path:
    """Return the program built from a source file; skips the test if it cannot be built."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("there is no g++: install it")

    def make(place: Path) -> None:
        command = [compiler, "-std=c++17", level, "-o", str(place / name), str(source), *words]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode and "No such file or directory" in done.stderr:
            pytest.skip(f"{source.name} cannot be built: install {needs}")
        assert done.returncode == 0, done.stderr

    program = builds.built(f"{source.parent.name}-{name}", make, source, level, *words) / name
    return offered(program, f"{source.parent.name}/{name}")


def offered(program: Path, place: str) -> Path:
    """Link to a program from a fixed place, where `benchmarks/adapter_agreement.py` finds it; return the program."""
    link = OFFERED / place
    link.parent.mkdir(parents=True, exist_ok=True)
    aside = link.with_name(f".{link.name}-{os.getpid()}")
    aside.symlink_to(program)
    aside.rename(link)
    return program


def folder_of(variable: str) -> Path | None:
    """Return the folder that an environment variable names, if any, for another version than the system's."""
    named = os.environ.get(variable)
    return Path(named) if named else None


def spec(*words: str | Path, env: tuple[str, ...] = ()) -> LaunchSpec:
    """Return the launch of a command."""
    argv = tuple(os.fsencode(word) for word in words)
    return LaunchSpec(argv[0], argv, tuple(map(os.fsencode, env)), timeout_ns=60_000_000_000)


def that_printed(text: str | bytes) -> Measured:
    """Return a launch that printed this, and ended well."""
    data = text.encode() if isinstance(text, str) else text
    return replace(PLAIN, stdout=data, stdout_bytes=len(data))


def that_wrote(text: str | bytes) -> Measured:
    """Return a launch that wrote this where results are kept, and ended well."""
    data = text.encode() if isinstance(text, str) else text
    return replace(PLAIN, results=data, results_bytes=len(data))


@contextmanager
def refused(says: str = "") -> Iterator[None]:
    """Expect that an answer is refused, with these words and in a sentence of a sensible length."""
    with pytest.raises(LaunchError) as caught:
        yield
    assert says in str(caught.value)
    assert len(str(caught.value)) < 300


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

    def run(self, name: str, loops: int = 1, samples: int = 2, *, still: bool = False) -> tuple[Sample, ...]:
        work = Work(name, loops, samples, still=still)
        return self.harness.samples(self._ended(self.harness.running(self.launch, work)), work)

    def run_by_process(self, name: str, loops: int) -> Sample:
        """Return one sample, timed by the processor time of its launch."""
        work = Work(name, loops, 1, by_process=True)
        start = self.harness.starting(self.launch, work)
        assert start is not None
        started, whole = self._ended(start.spec), self._ended(self.harness.running(self.launch, work))
        (sample,) = timed_by_process(self.harness.samples(whole, work), whole, started, start.loops)
        return sample

    def stands_still(self, name: str) -> bool:
        """Return whether samples are those of a still clock if they are asked to be; others must not be."""
        plain, still = (self.run(name, still=asked) for asked in (False, True))
        assert plain
        assert still
        assert {sample.delay_ns for sample in plain} == {None}
        return {sample.delay_ns for sample in still} == {0}

    def _ended(self, launch: LaunchSpec) -> Measured:
        self.measured = self.launcher.launch(launch)
        assert not self.measured.has_failed(), self.measured
        return self.measured
