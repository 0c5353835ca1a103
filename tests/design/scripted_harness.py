"""Scripted harnesses: on the scripted machine, they answer the driver's arguments as a script says."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar
from zlib import crc32

import numpy as np
import pytest

from steelyard.design.runner.runner import Runner
from steelyard.design.runner.targets import targets_of
from steelyard.design.suite.planner import Planner
from steelyard.design.suite.selection import Selection
from steelyard.design.timing.experiment import Experiment
from steelyard.design.timing.kept_rows import KeptRows
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.numbers import NUMBERS
from steelyard.model.progress import Watch
from steelyard.model.records import Run, Weighing
from tests.design.scripted import PLAIN, Machine, recorder, run_alone, subject, weighing, without_files

START_NS = 10_000_000


@dataclass(frozen=True)
class Asked:
    """What a call asks for."""

    program: str
    name: str
    loops: int
    samples: int
    seed: int
    alone: bool = False
    """Whether it is to compute on one processor, in tests of a harness that can be asked to."""

    @classmethod
    def of_words(cls, spec: LaunchSpec, words: Sequence[str]) -> Asked:
        """Return what the arguments of a launch ask for."""
        said = dict(word.removeprefix("--steelyard-").split("=", 1) for word in words if "=" in word)
        loops, samples, seed = (int(said[name]) for name in ("loops", "samples", "seed"))
        return cls(spec.program.decode(), said["run"], loops, samples, seed, "alone" in said)


# body(asked) -> what a call that runs a benchmark gives: the lines of its answer, or fields of the launch's numbers.
Body = Callable[[Asked], "Sequence[Mapping[str, Any]] | Mapping[str, Any]"]


def steady(each_ns: float = 1000.0, within: float = 0.002, between: float = 0.002, seed: int = 1) -> Body:
    """Return a body: iterations of `each_ns` with lognormal noise `within` a launch and `between` launches."""
    random = np.random.default_rng(seed)

    def body(asked: Asked) -> list[dict[str, int]]:
        level = asked.loops * each_ns * np.exp(between * random.standard_normal())
        times = np.maximum(1, level * np.exp(within * random.standard_normal(asked.samples))).astype(int).tolist()
        return [{"loops": asked.loops, "ns": ns, "cpu_ns": ns, "delay_ns": 0} for ns in times]

    return body


def repeatable(each_ns: float = 1000.0, noise: float = 0.01) -> Body:
    """Return a body whose noise depends on the call alone, so that a repeated plan repeats its numbers."""

    def body(asked: Asked) -> list[dict[str, int]]:
        random = np.random.default_rng(crc32(repr(asked).encode()))
        times = asked.loops * each_ns * np.exp(noise * random.standard_normal(asked.samples))
        return [{"loops": asked.loops, "ns": int(ns), "cpu_ns": int(ns), "delay_ns": 0} for ns in times]

    return body


def fails(how: Mapping[str, Any], body: Body | None = None, when: Callable[[Asked], bool] = lambda _: True) -> Body:
    """Return a body whose launch ends badly for the calls that `when` accepts; it measures `how` then."""
    good = body or steady()
    return lambda asked: how if when(asked) else good(asked)


Bodies = Mapping[str, Body]


@dataclass
class Suites(Machine):
    """The scripted machine, whose programs (`baseline`, `candidate` ...) are harnesses with the given benchmarks."""

    suites: Mapping[str, Bodies] = field(default_factory=dict)
    tags: Mapping[str, list[str]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    together: list[list[str]] = field(default_factory=list)
    """The benchmarks of each call that ran several."""
    is_shared: bool = False
    """Whether such a call is being answered."""
    can_share: ClassVar[bool] = False
    """Whether one start can serve several benchmarks."""
    start: Callable[[list[str]], Measured | None] | None = None
    """start(names of the benchmarks) -> what such a call measures if it fails as a whole, else None."""
    listed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By program: what else its list tells of each of its benchmarks."""

    def answer(self, _: int, spec: LaunchSpec) -> Measured:
        """Return what one call measures."""
        given = [word.decode().partition("=") for word in spec.argv if word.startswith(b"--steelyard-")]
        words = {key.removeprefix("--steelyard-"): value for key, _, value in given}
        if "each" in words:
            return self._answer_each(spec, [_words_of(value) for key, _, value in given if key == "--steelyard-each"])
        bodies = self.suites[spec.program.decode()]
        if "list" in words:
            told = self.listed.get(spec.program.decode(), {})
            listed = [{"benchmark": name, "tags": self.tags.get(name, ["made up"]), **told} for name in bodies]
            return _wrote(listed, START_NS, each=self.can_share)
        asked = Asked.of_words(spec, [word.decode() for word in spec.argv])
        self.asked.append(asked)
        found = bodies[asked.name](asked)
        if isinstance(found, Mapping):
            return replace(PLAIN, **{"wall_ns": START_NS, **found})
        cpu_ns = START_NS + sum(line.get("cpu_ns") or line.get("ns") or 0 for line in found)
        return replace(_wrote(found, START_NS + sum(line.get("ns") or 0 for line in found)), user_ns=cpu_ns)

    def _answer_each(self, spec: LaunchSpec, each: Sequence[Sequence[str]]) -> Measured:
        """Return what a call of several benchmarks measures, or what `start` has it measure as a failure."""
        self.together.append([Asked.of_words(spec, words).name for words in each])
        if self.start is not None and (ends := self.start(self.together[-1])) is not None:
            return ends
        self.is_shared = True
        parts = [self.answer(0, replace(spec, argv=tuple(map(str.encode, words)))) for words in each]
        self.is_shared = False
        # The start times alternate with those of the other side, whose n-th benchmark ran beside this side's.
        own = [
            replace(part, wall_ns=part.wall_ns - START_NS + 1, start_ns=2 * number + _turn(words))
            for number, (part, words) in enumerate(zip(parts, each, strict=True))
        ]
        lines = [
            {"numbers": {name: getattr(part, name) for name in NUMBERS}, "results": (part.results or b"").decode()}
            for part in own
        ]
        return _wrote(lines, START_NS + sum(part.wall_ns for part in own))

    def of(self, name: str, program: str | None = None) -> list[Asked]:
        """Return the calls that ran one benchmark."""
        return [asked for asked in self.asked if asked.name == name and program in (None, asked.program)]


def _turn(words: Sequence[str]) -> int:
    """Return 1 if a benchmark of a shared start runs after that of the other side, else 0."""
    return int(next((word[-1] for word in words if word.startswith("--steelyard-lockstep=")), "0"))


def _words_of(line: str) -> list[str]:
    """Return the arguments that ask for a benchmark alone, given the line that asks for it among several."""
    loops, samples, seed, orders, name = line.split(":", 4)
    said = {"run": name, "loops": loops, "samples": samples, "seed": seed} | (
        {"lockstep": f"4:{orders}"} if orders else {}
    )
    return [f"--steelyard-{key}={value}" for key, value in said.items()]


def _wrote(lines: Sequence[Mapping[str, Any]], wall_ns: int, **able: bool) -> Measured:
    whole = [{"steelyard": 1, **able}, *lines, {"end": True}]
    answer = "".join(f"{json.dumps(line)}\n" for line in whole).encode()
    return replace(PLAIN, wall_ns=wall_ns, cpu_ns=wall_ns, results=answer, results_bytes=len(answer))


def share_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have these suites serve several benchmarks by one start."""
    monkeypatch.setattr(Suites, "can_share", True)


def machine(**suites: Bodies) -> Suites:
    """Return the machine with these harnesses."""
    found = Suites(script=lambda number, spec: found.answer(number, spec), suites=suites)
    return found


def header(*candidates: str, **settings: Any) -> Weighing:
    """Return a weighing of harnesses that have not been asked for anything yet."""
    plain = weighing(0, **{"harness": "protocol", **settings})
    names = ["baseline", *(candidates or ["candidate"])]
    return plain.model_copy(update={"subjects": [subject(name) for name in names]})


def run_header(**settings: Any) -> Run:
    """Return a run of the baseline alone."""
    return run_alone(header(**settings))


def planner(
    machine: Suites,
    record: Weighing | Run,
    watch: Watch = lambda _: None,
    interrupted: Callable[[], bool] = lambda: False,
) -> Planner:
    return Planner(record, {}, Runner(machine, interrupted), watch)


def plan(machine: Suites, record: Weighing, selection: Selection | None = None) -> Weighing:
    """Return the weighing with its benchmarks."""
    planned = planner(machine, record).plan(selection or Selection())
    assert isinstance(planned, Weighing)
    return planned


def experiment(machine: Suites, record: Weighing, watch: Watch = lambda _: None, **options: Any) -> Experiment:
    """Return the experiment of a planned weighing."""
    targets = without_files(targets_of(record, {}))
    rows = KeptRows(record.launches.rows())
    return Experiment(record, recorder(machine, targets=targets, rows=rows, **options), machine.clock, watch)


def weigh(machine: Suites, selection: Selection | None = None, **settings: Any) -> Weighing:
    """Run a whole weighing of `baseline` and `candidate`."""
    return experiment(machine, plan(machine, header(**settings), selection)).run()
