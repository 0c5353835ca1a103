"""Scripted programs: what a launch of them takes, prints, counts, allocates and answers."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from math import exp
from statistics import NormalDist
from typing import Any

from steelyard.model.errors import SteelyardError

# What happens in one launch: it measures this instead, it cannot be started at all, or a function is called meanwhile.
Event = Mapping[str, Any] | SteelyardError | Callable[[], object]
Words = Sequence[str]
# What a function costs: its instructions, or these followed by all events of the caches.
Costs = int | tuple[int, ...]

_NORMAL = NormalDist()
_START_NS = 10_000_000
_CACHE_EVENTS = ("I1mr", "ILmr", "Dr", "D1mr", "DLmr", "Dw", "D1mw", "DLmw")
_ONE_IN = (1000, 10_000, 4, 100, 1000, 8, 200, 2000)


def noise(*key: object) -> float:
    """Return a standard normal number that depends on the key alone, on any machine."""
    number = int.from_bytes(blake2b(repr(key).encode(), digest_size=6).digest(), "little")
    return _NORMAL.inv_cdf((number + 0.5) / 2**48)


@dataclass(frozen=True)
class Allocations:
    """What a launch asks of the heap."""

    blocks: int
    freed: int
    moved: int = 0
    size: int = 64
    ns: int = 50_000
    """The time spent in the allocator."""

    def times(self, many: int) -> Allocations:
        return Allocations(self.blocks * many, self.freed * many, self.moved * many, self.size, self.ns * many)


@dataclass(frozen=True)
class Bench:
    """One benchmark of a harness: the times of its samples, and what an iteration counts and allocates."""

    each_ns: float = 1000.0
    noise: float = 0.003
    """The relative noise of launches; the samples within one differ by a sixth of that."""
    tags: tuple[str, ...] = ()
    error: str | None = None
    kernel: bool = True
    """Whether its samples tell the kernel's times, too (`cpu_ns`, `delay_ns`)."""
    set_up_ns: float = 0.0
    """Set-up that each sample times, though it should not."""
    at: Mapping[int, Event] = field(default_factory=dict)
    """Events, by the number of the launch that runs this benchmark, from 1."""
    counts: Callable[[int], int] = lambda number: 100  # noqa: ARG005
    heap: Allocations = Allocations(2, 2)


@dataclass(frozen=True)
class Program:
    """A command, or a harness where it has `benchmarks`."""

    wall_ns: Callable[[Words], float] = lambda words: 12e6  # noqa: ARG005
    noise: float = 0.003
    modes: tuple[float, ...] = (1.0,)
    """Factors on the time, of which each launch has one at random."""
    always: Mapping[str, Any] = field(default_factory=dict)
    """What every launch measures beside its time."""
    at: Mapping[int, Event] = field(default_factory=dict)
    """Events, by the number of the program's launch, from 1."""
    prints: Callable[[Words], str] = lambda words: ""  # noqa: ARG005
    counts: Callable[[Words, int], Mapping[str, Costs]] = lambda words, number: {"main": 10_000}  # noqa: ARG005
    """counts(arguments, number of the launch) -> costs by function, the first of which calls the others."""
    heap: Allocations | None = Allocations(100, 90, 5)
    """None for a program that the library is not loaded into."""
    heaps: Mapping[int, Allocations] = field(default_factory=dict)
    """Other allocations, by the number of the launch."""
    benchmarks: Mapping[str, Bench] = field(default_factory=dict)


def _in_full(costs: Costs) -> tuple[int, ...]:
    return costs if isinstance(costs, tuple) else (costs, *(costs // part for part in _ONE_IN))


@dataclass(frozen=True)
class Call:
    """One launch of a program: its number among the program's launches, and its arguments."""

    name: str
    program: Program
    number: int
    words: Words
    run_number: int
    """Its number among the launches of the same benchmark of a harness."""

    @cached_property
    def asked(self) -> dict[str, str]:
        """What a harness is asked for, by option."""
        given = (word.removeprefix("--steelyard-").partition("=") for word in self.words if word.startswith("--steel"))
        return {key: value for key, _, value in given}

    @property
    def bench(self) -> Bench | None:
        return self.program.benchmarks.get(self.asked.get("run", ""))

    @property
    def knows_all_before(self) -> bool:
        """Whether the program has each benchmark that it is asked to run before the measured one."""
        asked = (
            word.partition("=")[2].partition(":")[2] for word in self.words if word.startswith("--steelyard-before")
        )
        return all(name in self.program.benchmarks for name in asked)

    @property
    def iterations(self) -> int:
        return int(self.asked["loops"]) * int(self.asked["samples"])

    def event(self) -> Event | None:
        found = self.program.at.get(self.number)
        return found if found is not None or self.bench is None else self.bench.at.get(self.run_number)

    def measured(self) -> dict[str, Any]:
        """Return what the launch measures if no event happens."""
        if self.program.benchmarks:
            return self._answered()
        program = self.program
        mode = program.modes[int(1e6 * abs(noise(self.name, self.number, "mode"))) % len(program.modes)]
        wall_ns = program.wall_ns(self.words) * mode * exp(program.noise * noise(self.name, self.words, self.number))
        return {"wall_ns": round(wall_ns / 1000) * 1000, **program.always}

    def _answered(self) -> dict[str, Any]:
        lines: list[dict[str, Any]] = []
        status = 0
        if "list" in self.asked:
            lines = [{"benchmark": name, "tags": list(one.tags)} for name, one in self.program.benchmarks.items()]
        elif self.asked.get("protocol") != "1" or self.bench is None or self.bench.error or not self.knows_all_before:
            said = self.bench.error if self.bench else None
            status, lines = 1, [{"error": said or f"no benchmark is called {self.asked.get('run')!r}"}]
        else:
            lines = [self._sample(self.bench, place) for place in range(int(self.asked["samples"]))]
        ns = _START_NS + sum(line.get("ns", 0) for line in lines)
        hello = {"steelyard": 1, "harness": "scripted", "before": True}
        text = "".join(f"{json.dumps(line)}\n" for line in (hello, *lines, {"end": True}))
        return {"wall_ns": ns, "exit_code": status, "results": text.encode(), "results_bytes": len(text)}

    def _sample(self, bench: Bench, place: int) -> dict[str, Any]:
        loops = int(self.asked["loops"])
        place_of = (self.name, self.asked["run"], self.run_number)
        factor = exp(bench.noise * (noise(*place_of) + noise(*place_of, place) / 6))
        ns = max(1, int((bench.set_up_ns + bench.each_ns * loops) * factor))
        return {"loops": loops, "ns": ns, **({"cpu_ns": ns, "delay_ns": 0} if bench.kernel else {})}

    def profile(self, words: Words, *, tool: str, cached: bool, calls: bool) -> str:
        """Return the file that Valgrind writes; `words` are the command as it was executed."""
        if self.bench is not None:
            functions: Mapping[str, Costs] = {
                "body": self.bench.counts(self.run_number) * self.iterations,
                "loop": 40,
            }
        else:
            functions = self.program.counts(self.words, self.number)
        events = ["Ir", *(_CACHE_EVENTS if cached else ())]
        costs = {name: _in_full(count)[: len(events)] for name, count in functions.items()}
        total = " ".join(str(sum(column)) for column in zip(*costs.values(), strict=True))
        first, *others = costs
        lines = [f"cmd: {' '.join(words)}", f"events: {' '.join(events)}", "fl=work.c"]
        if tool == "callgrind":
            lines = [
                "creator: callgrind-3.19.0",
                lines[0],
                "part: 1",
                "positions: line",
                lines[1],
                "ob=/work",
                lines[2],
            ]
        for place, (name, cost) in enumerate(costs.items(), start=1):
            lines += [f"fn={name}", f"{10 * place} {' '.join(map(str, cost))}"]
            if calls and name == first:
                for other in others:
                    lines += [f"cfn={other}", "calls=1 0", f"11 {' '.join(map(str, costs[other]))}"]
        return "\n".join([*lines, f"{'totals' if tool == 'callgrind' else 'summary'}: {total}", ""])

    def heap(self) -> bytes | None:
        """Return the file that the preloaded library writes, laid out as in `native/heap/src/block.rs`, if any."""
        asked = self.program.heaps.get(self.number, self.program.heap)
        if self.bench is not None:
            asked = self.bench.heap.times(self.iterations)
        if asked is None:
            return None
        live = (asked.blocks - asked.freed) * asked.size
        size = (asked.blocks + asked.moved) * asked.size
        head = struct.pack("=8s6q", b"STEELYH1", 0, 0, 0, 0, live, live + 4096)
        slot = struct.pack("=6q24x2q", asked.blocks, asked.freed, asked.moved, size, 0, 0, asked.ns, 10)
        return head.ljust(128, b"\0") + slot.ljust(128, b"\0")
