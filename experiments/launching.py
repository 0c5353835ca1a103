"""What experiments launch: commands in rounds, programs that they build, the installed `steelyard`."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import expm1, log
from pathlib import Path
from random import Random

from benchmarks.processes import STEELYARD, run, with_own_store

from steelyard.measure.launch import Launcher
from steelyard.model.errors import MeasurementError
from steelyard.model.files import load
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.launches import FloatArray, Launches
from steelyard.model.measured import Measured
from steelyard.model.records import Run, Weighing
from steelyard.report import figures
from steelyard.stats.signed_rank import estimate

# The same for every user, unlike the environment that `steelyard` passes on.
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
HERE = Path(__file__).resolve().parent
CALLS = HERE / "calls.py"
HEADERS = HERE.parent / "sdk" / "cpp"


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """Yield a temporary folder for what is built and kept."""
    with tempfile.TemporaryDirectory(prefix="steelyard-") as name:
        yield Path(name)


def built(source: Path, program: Path) -> Path:
    """Compile a program in C, or benchmarks in C++; raises MeasurementError if that fails."""
    is_c = source.suffix == ".c"
    compiler = os.environ.get("CC", "cc") if is_c else os.environ.get("CXX", "c++")
    options = ["-O2"] if is_c else ["-O2", "-std=c++17", "-I", str(HEADERS)]
    compiled(source, [compiler, *options, str(source), "-o", str(program)])
    return program


def compiled(source: Path, words: Sequence[str]) -> None:
    """Run a compiler's command line on a source; raises MeasurementError if that fails."""
    try:
        subprocess.run(words, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise MeasurementError(f"{source.name} cannot be built by {words[0]} ({error}): install gcc and g++") from error


def launch_of(
    words: Sequence[str | Path],
    environment: Mapping[str, str] = ENVIRONMENT,
    *,
    named: str | None = None,
    directory: Path | None = None,
    fixed: bool = False,
    processor: int | None = None,
) -> LaunchSpec:
    """Return the launch of a command; `named` replaces its program's path as its argv[0].

    With `fixed`, addresses are the same each time.
    """
    argv = [os.fsencode(word) for word in words]
    return LaunchSpec(
        program=argv[0],
        argv=(argv[0] if named is None else os.fsencode(named), *argv[1:]),
        env=tuple(os.fsencode(f"{name}={value}") for name, value in environment.items()),
        cwd=None if directory is None else os.fsencode(directory),
        fixed_layout=fixed,
        cpus=None if processor is None else (processor,),
        timeout_ns=120_000_000_000,
    )


def launched(launcher: Launcher, spec: LaunchSpec) -> Measured:
    """Make one launch; raises MeasurementError, with the program's words, if it fails."""
    measured = launcher.launch(spec)
    if measured.has_failed():
        words = (measured.stderr or b"").decode(errors="replace").strip()
        raise MeasurementError(f"{os.fsdecode(spec.program)} failed: {words or 'it said nothing'}")
    return measured


def in_rounds(
    launcher: Launcher, launches: Mapping[str, LaunchSpec], rounds: int, seed: int = 1
) -> dict[str, list[Measured]]:
    """Make each launch once per round, in an order drawn for each round, so that drift affects all of them alike."""
    random = Random(seed)
    found: dict[str, list[Measured]] = {name: [] for name in launches}
    for _ in range(rounds):
        for name in random.sample(list(launches), len(launches)):
            found[name].append(launched(launcher, launches[name]))
    return found


def active_ns(measured: Measured) -> float:
    """Return the elapsed time of a launch, less its wait for a processor as far as the machine tells that."""
    return float(measured.wall_ns - (measured.delay_ns or 0))


@dataclass(frozen=True)
class Change:
    """A relative change with its interval."""

    change: float
    low: float
    high: float

    def is_certain(self) -> bool:
        """Return whether the interval excludes "no change"."""
        return self.low > 0 or self.high < 0

    def told(self) -> list[str]:
        """Return the change as cells of a table."""
        return [figures.change(self.change), f"{figures.change(self.low)} to {figures.change(self.high)}"]


def changes(times: Mapping[str, Sequence[float]], alpha: float = 0.01) -> dict[str, Change]:
    """Return how the others differ from the first, round by round; that any interval misses has a chance of alpha."""
    first, *others = times
    level = alpha / max(1, len(others))
    found = {}
    for name in others:
        ratios = [log(two / one) for one, two in zip(times[first], times[name], strict=True)]
        known = estimate(ratios, level)
        found[name] = Change(*map(expm1, (known.centre, known.lower, known.upper)))
    return found


@dataclass(frozen=True)
class Tool:
    """The installed `steelyard`, with a store of its own."""

    folder: Path

    def run(self, *words: str) -> Run:
        """Return what `steelyard run` measures."""
        record = self._record("run", *words)
        assert isinstance(record, Run)
        return record

    def compare(self, *words: str) -> Weighing:
        """Return what `steelyard compare` finds, slower or not."""
        record = self._record("compare", *words)
        assert isinstance(record, Weighing)
        return record

    def _record(self, *words: str) -> Run | Weighing:
        place = self.folder / "record.json"
        run([STEELYARD, *words, "--json", str(place)], with_own_store(self.folder / "state"), accept=(0, 1))
        return load(place)


def judged(run: Launches, values: FloatArray) -> list[float]:
    """Return the values of the launches that are judged, which leaves out the warm-up."""
    return [float(value) for value in values[run.judged(0)]]


def calls(rounds: int) -> str:
    """Return the command of the workload in Python; with -S, because installed packages would start with it."""
    return shlex.join([sys.executable, "-S", str(CALLS), str(rounds)])
