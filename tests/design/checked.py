"""Scripted benchmarks for `steelyard check`: each says how long its samples take, and the machine adds its noise."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np

from steelyard.design.check.checker import Checker
from steelyard.design.runner.runner import Runner
from steelyard.design.world import World
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.soundness import Looked
from steelyard.subjects.protocol import ProtocolHarness
from tests.design.scripted import PLAIN, Machine, OneByOne

START_NS = 2_000_000
EACH_NS = 1_000.0


@dataclass(frozen=True)
class Call:
    """What one launch is asked for, and what it finds in its surroundings."""

    loops: int
    samples: int
    hash_seed: int
    before: tuple[str, ...]
    fixed: bool
    number: int


# body(call) -> (times of the samples in ns, memory in bytes)
Body = Callable[[Call], tuple[list[float], int]]
# noise(now in seconds) -> the factor by which a launch takes longer
Noise = Callable[[float], float]

RSS = 30 << 20


def plain(call: Call) -> tuple[list[float], int]:
    """A sound benchmark."""
    return [EACH_NS * call.loops] * call.samples, RSS


def lognormal(spread: float = 0.02, seed: int = 1) -> Noise:
    """Return noise that is drawn for each launch independently."""
    random = np.random.default_rng(seed)
    return lambda _: float(np.exp(spread * random.standard_normal()))


def bursts(factor: float = 1.4, seed: int = 1, spread: float = 0.02) -> Noise:
    """Return the noise of other work that comes and goes as in benchmarks/load.py, beside which all takes longer."""
    random = np.random.default_rng(seed)
    ends = 1000 + np.cumsum(random.uniform(0.05, 1.5, 4000))
    beside = _by_turns(factor, ends)
    return lambda now: float(beside(now) * np.exp(spread * random.standard_normal()))


def _by_turns(factor: float, ends: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Noise:
    return lambda now: factor if np.searchsorted(ends, now) % 2 else 1.0


def neighbours(factor: float = 1.7, seed: int = 1, spread: float = 0.02) -> Noise:
    """Return the noise of a neighbour on the same core, who comes and goes from launch to launch.

    Nobody waits for a processor.
    """
    random = np.random.default_rng(seed)
    return lambda _: float((factor if random.random() < 0.5 else 1.0) * np.exp(spread * random.standard_normal()))


def steady(_: float) -> float:
    """Change nothing within a launch."""
    return 1.0


def comes_and_goes(factor: float, shortest: float, longest: float, seed: int = 1) -> Noise:
    """Return the noise of a neighbour on the core who comes and goes within a launch, too.

    The neighbour stays, and then stays away, for `shortest` to `longest` seconds at a time.
    """
    random = np.random.default_rng(seed)
    ends = 1000 + np.cumsum(random.uniform(shortest, longest, round(400 / (shortest + longest))))
    return _by_turns(factor, ends)


def recorded(values: np.ndarray[tuple[int], np.dtype[np.float64]], start: int) -> Noise:
    """Return the noise of a trace's launches, one after the other, from number `start` on."""
    factors = iter(np.roll(values / np.median(values), -start))
    return lambda _: float(next(factors))


class ChoosesLoops(ProtocolHarness):
    """Takes `loops` as a multiple of its usual amount, as the adapters of Google Benchmark and others do."""

    fixes_loops = False
    most_amounts = 16


class Fixed(ProtocolHarness):
    """Chooses its loops and its number of samples itself."""

    fixes_loops = False
    samples_a_launch = 11


@dataclass
class Doctor:
    """A machine with benchmarks, and the check of them."""

    bodies: Mapping[str, Body]
    noise: Noise
    can_run_before: bool = True
    seconds: float = 60.0
    seed: int = 0
    within: Noise = steady
    """Noise that changes from sample to sample, on top of the noise of each launch."""
    harness: Callable[[], ProtocolHarness] = ProtocolHarness
    slice_ns: int | None = None
    """After so long on a processor, others have it for four times as long, which no sample tells; None: never."""
    start_feels: float = 1.0
    """The power of the machine's noise that the start of a process feels: its work may use the caches less."""
    told: float = 1.0
    """How many ns the samples tell for each ns that passes."""

    def looked(self, *names: str) -> list[Looked]:
        """Return all findings about these benchmarks, by default about all of them."""
        self.set_up()
        runner = Runner(self.machine)
        checker = Checker(self._spec, runner, self.seconds, lambda _: None, self.seed, self.machine.clock)
        harness = self.harness()
        harness.listed(self.machine.launch(harness.listing(self._spec(None))))
        return checker.benchmarks(harness, list(self.bodies), list(names or self.bodies))

    def set_up(self) -> Machine:
        """Make a new machine for the next check, and return it."""
        self.machine = Machine(script=self._answer)
        return self.machine

    def troubles(self, *names: str) -> list[tuple[str, str]]:
        """Return (benchmark, code) of each trouble."""
        return [(one.benchmark, one.code) for one in self.looked(*names) if one.outcome == "trouble"]

    program: ClassVar[tuple[bytes, ...]] = (b"suite",)

    def _spec(self, draw: object) -> LaunchSpec:
        seed = getattr(draw, "hash_seed", 0)
        return LaunchSpec(b"suite", self.program, (f"PYTHONHASHSEED={seed}".encode(),))

    def _answer(self, number: int, spec: LaunchSpec) -> Measured:
        words = [word.decode().removeprefix("--steelyard-").partition("=") for word in spec.argv[len(self.program) :]]
        given = {key: value for key, _, value in words}
        hello = json.dumps({"steelyard": 1, "before": self.can_run_before})
        if "list" in given:
            return _wrote([hello, *(json.dumps({"benchmark": name}) for name in self.bodies)], START_NS, RSS)
        if given["run"] not in self.bodies:
            return replace(_wrote([hello, '{"error": "no such benchmark"}'], START_NS, RSS), exit_code=2)
        before = tuple(value.partition(":")[2] for key, _, value in words if key == "before")
        seed = next(int(entry[15:]) for entry in spec.env if entry.startswith(b"PYTHONHASHSEED="))
        call = Call(int(given["loops"]), int(given["samples"]), seed, before, spec.fixed_layout, number)
        times, memory = self.bodies[given["run"]](call)
        factor = self.noise(self.machine.now)
        start = round(START_NS * (factor * self.within(self.machine.now)) ** self.start_feels)
        taken: list[int] = []
        for ns in times:
            now = self.machine.now + (start + sum(taken)) / 1e9
            taken.append(max(1, round(ns * factor * self.within(now))))
        if self.slice_ns is not None:
            return self._interrupted(self.slice_ns, hello, start, taken, memory)
        lines = [f'{{"ns": {max(1, round(self.told * ns))}, "delay_ns": 0}}' for ns in taken]
        return _wrote([hello, *lines], start + sum(taken), memory)

    def _interrupted(self, slice_ns: int, hello: str, start: int, taken: Sequence[int], memory: int) -> Measured:
        begins = np.random.default_rng(len(self.machine.specs)).integers(slice_ns)
        ends = start + begins + np.cumsum([0, *taken])
        slices = [int(end) // slice_ns for end in ends]
        waits = [4 * slice_ns * (after - before) for before, after in pairwise(slices)]
        lines = [f'{{"ns": {ns + wait}}}' for ns, wait in zip(taken, waits, strict=True)]
        measured = _wrote([hello, *lines], start + sum(taken) + sum(waits), memory)
        return replace(measured, delay_ns=sum(waits))


@dataclass
class Server(OneByOne):
    """A launch server that runs a machine's launches, and whose user presses Ctrl-C during one of them."""

    machine: Machine
    interrupted_at: int | None = None
    """The number of the launch that is cut short, from 0."""
    cancelled: bool = False

    def launch(self, spec: LaunchSpec, waiting: Callable[[float], None] | None = None) -> Measured:  # noqa: ARG002
        if len(self.machine.specs) == self.interrupted_at:
            signal.raise_signal(signal.SIGINT)
        measured = self.machine.launch(spec)
        return replace(measured, cancelled=True, signal=9, exit_code=None) if self.cancelled else measured

    def cancel(self) -> None:
        self.cancelled = True

    def forget_cancel(self) -> None:
        self.cancelled = False

    def world(self) -> World:
        """Return everything that a check takes from outside."""
        return World(
            launcher=lambda: nullcontext(self), environment={"PATH": "/usr/bin:/bin"}, clock=self.machine.clock
        )


def _wrote(lines: Sequence[str], wall_ns: int, memory: int) -> Measured:
    answer = "\n".join([*lines, '{"end": true}', ""]).encode()
    return replace(PLAIN, wall_ns=wall_ns, max_rss_bytes=memory, results=answer, results_bytes=len(answer))
