"""A scripted machine for the parts of a weighing: a script says what launches take, and only they move the clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from steelyard.design.runner.runner import Runner
from steelyard.design.runner.target import Shared, Target
from steelyard.design.runner.targets import Targets
from steelyard.design.timing.experiment import Experiment
from steelyard.design.timing.kept_rows import KeptRows
from steelyard.design.timing.recorder import Recorder
from steelyard.model.launch_spec import Draw, LaunchSpec
from steelyard.model.launches import Launches
from steelyard.model.machine import MachineFacts
from steelyard.model.measured import Measured
from steelyard.model.records import Run, Weighing
from steelyard.model.rows import Frame, LaunchRow
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark, Subject
from steelyard.subjects.programs import Programs
from tests.world import measured

MACHINE = MachineFacts(key="0", cpu_model="scripted", architecture="none", cores_logical=1)
PLAIN = measured(11.9, wall_ns=12_000_000, max_rss_bytes=2**20, voluntary_switches=0, lost_ns=None)

# script(number of the launch, spec) -> what it measures
Script = Callable[[int, LaunchSpec], Measured]


def noisy(change: float = 0.0, noise: float = 0.01, seed: int = 1, wall_ns: float = 12e6) -> Script:
    """Return a script: launches of `wall_ns` with lognormal noise, the candidate's longer by the fraction `change`."""
    generator = np.random.default_rng(seed)

    def script(number: int, spec: LaunchSpec) -> Measured:  # noqa: ARG001
        factor = 1 + change if spec.program == b"candidate" else 1.0
        return replace(PLAIN, wall_ns=int(wall_ns * factor * np.exp(noise * generator.standard_normal())))

    return script


class OneByOne:
    """A base for launch servers that launch one by one, keep no rows, and launch nothing after a cancel."""

    version: str = "scripted"
    server_pid: int = 0
    offers: dict[str, bool] = {}
    missing_counters: Mapping[str, int] = {}
    waiting: Callable[[float], None] | None = None

    def forget_cancel(self) -> None:
        raise AssertionError("nothing is launched after a cancel")

    def keep_rows_in(self, journal: int) -> None:
        raise AssertionError(f"no rows are kept: {journal}")

    def launch_series(self, specs: Sequence[LaunchSpec], frames: Sequence[Frame | None]) -> Sequence[Measured]:
        raise AssertionError(f"all are launched one by one: {specs}, {frames}")

    def launch_together(
        self, first: LaunchSpec, second: LaunchSpec, *, second_begins: bool, followed: bool = False
    ) -> tuple[Measured, Measured]:
        raise AssertionError(f"all are launched one by one: {first}, {second}, {second_begins}, {followed}")


@dataclass
class Machine(OneByOne):
    """The launcher, the clock and the journal of one scripted weighing."""

    script: Script
    now: float = 1000.0
    specs: list[LaunchSpec] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    rows: list[LaunchRow] = field(default_factory=list)
    is_paired: bool = False
    """Whether two launches are being made at once."""

    def launch(self, spec: LaunchSpec, waiting: Callable[[float], None] | None = None) -> Measured:  # noqa: ARG002
        self.events.append(f"launch {spec.program.decode()}")
        measured = replace(self.script(len(self.specs), spec), start_ns=int(self.now * 1e9))
        if spec.timeout_ns is not None and measured.wall_ns > spec.timeout_ns:
            measured = replace(measured, wall_ns=spec.timeout_ns, timed_out=True, exit_code=None, signal=9)
        self.specs.append(spec)
        self.now += measured.wall_ns / 1e9
        return measured

    def launch_together(
        self,
        first: LaunchSpec,
        second: LaunchSpec,
        *,
        second_begins: bool,
        followed: bool = False,  # noqa: ARG002
    ) -> tuple[Measured, Measured]:
        """Launch one after the other: no test here asks what the two do to each other."""
        self.is_paired = True
        if second_begins:
            other, one = self.launch(second), self.launch(first)
        else:
            one, other = self.launch(first), self.launch(second)
        self.is_paired = False
        return one, other

    def cancel(self) -> None:
        raise AssertionError("nobody asks it to stop")

    def forget_cancel(self) -> None:
        """Go on: nobody asked it to stop."""

    def append(self, row: LaunchRow) -> None:
        self.events.append(f"keep {row.pair}.{row.side}")
        self.rows.append(row)

    def set_aside(self, benchmark: int, pair: int) -> None:
        raise AssertionError(f"no way of pairing is tried here: {benchmark}, {pair}")

    def discard(self, benchmark: int, pair: int) -> None:
        self.events.append(f"discard {benchmark}.{pair}")

    def fail(self, benchmark: int, message: str) -> None:  # noqa: ARG002
        self.events.append(f"fail {benchmark}")

    def clock(self) -> float:
        return self.now


def spec(benchmark: int, side: int, draw: Draw) -> LaunchSpec:
    program = (b"baseline", b"candidate")[side]
    return LaunchSpec(program, (program, str(benchmark).encode()), (f"{draw.hash_seed}/{draw.padding_bytes}".encode(),))


def target(benchmark: int, side: int, draw: Draw) -> Target:
    return Target(("baseline", "candidate")[side], spec(benchmark, side, draw), side)


def without_files(targets: Targets) -> Targets:
    """Return the same targets without their programs, so that no program's file is checked."""
    return replace(
        targets,
        of=lambda *place: replace(targets.of(*place), program=None),
        shared=None if targets.shared is None else lambda *place: _without_file(targets.shared, *place),
    )


def _without_file(shared: Callable[..., Shared] | None, *place: Any) -> Shared:
    assert shared is not None
    found = shared(*place)
    return replace(found, whole=replace(found.whole, program=None))


def subject(name: str) -> Subject:
    return Subject(name=name, command=name, argv=[name], program=name)


def weighing(benchmarks: int = 1, **settings: object) -> Weighing:
    """Return the header of a weighing of so many benchmarks, before anything is measured."""
    return Weighing(
        tool="test",
        created="2026-01-01T00:00:00+00:00",
        machine=MACHINE,
        settings=Settings.model_validate({"seed": 1, **settings}),
        subjects=[subject("baseline"), subject("candidate")],
        benchmarks=[Benchmark(name=f"benchmark {number}") for number in range(benchmarks)],
        stop=["interrupted"] * benchmarks,
        seconds=0,
        launches=Launches(),
    )


def run_header(**settings: object) -> Run:
    return run_alone(weighing(1, **settings))


def run_alone(header: Weighing) -> Run:
    """Return the header of a run of the baseline of a weighing."""
    fields = {name: getattr(header, name) for name in Run.model_fields if name not in ("kind", "derived", "subjects")}
    return Run(**fields, subjects=header.subjects[:1])


def recorder(
    machine: Machine,
    targets: Targets | None = None,
    interrupted: Callable[[], bool] = lambda: False,
    programs: Programs | None = None,
    rows: KeptRows | None = None,
) -> Recorder:
    launches = targets or Targets(target)
    runner = Runner(machine, interrupted, launches.hooks, programs or Programs())
    return Recorder(launches, runner, machine, rows or KeptRows())


def experiment(machine: Machine, header: Weighing, **options: Any) -> Experiment:
    return Experiment(header, recorder(machine, **options), machine.clock, lambda _: None)


def weigh(script: Script, benchmarks: int = 1, **settings: object) -> tuple[Weighing, Machine]:
    """Run a whole scripted weighing; return its record and the machine that it ran on."""
    machine = Machine(script)
    return experiment(machine, weighing(benchmarks, **settings)).run(), machine
