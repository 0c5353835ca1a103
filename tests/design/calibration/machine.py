"""A machine whose probes take the time of their cache hits and nothing else, timed or under a scripted Valgrind."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event

from steelyard.design.calibration.sweep import PATTERNS
from steelyard.design.world import World
from steelyard.measure.count.valgrind import Valgrind
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests.design.scripted import MACHINE, PLAIN, OneByOne

START_NS = 900_000
L1_NS, LL_NS, RAM_NS = 0.2, 1.0, 8.0
VALGRIND = Valgrind(Path("/usr/bin/valgrind"), "3.19.0")
# The caches that the machine reports.
CACHES = {"L1i": "32K", "L1d": "32K", "L2": "8M"}
# Far longer than it takes to answer a signal.
_PATIENCE_S = 60

Rates = tuple[float, float, float]
"""(L1, LL, RAM) hits per iteration."""


def walked(spec: LaunchSpec) -> tuple[int, int]:
    """Return (elements, iterations) of a launch, under Valgrind or not."""
    return int(spec.argv[-2]), int(spec.argv[-1])


def rates(spec: LaunchSpec) -> Rates:
    """Return the rates of a launch: the larger its array, the further out its hits."""
    return (16.0, 4.0, 0.0) if walked(spec)[0] < 100_000 else (16.0, 1.0, 3.0)


def rates_beyond(last_level: int) -> Callable[[LaunchSpec], Rates]:
    """Return what gives the rates on a machine whose last level has so many bytes."""

    def found(spec: LaunchSpec) -> Rates:
        size = walked(spec)[0] * PATTERNS[spec.argv[-3].decode()]
        if size <= 32 << 10:
            return 20.0, 0.0, 0.0
        return (16.0, 4.0, 0.0) if size <= last_level else (16.0, 1.0, 3.0)

    return found


def shared(has: int) -> dict[str, Callable[[LaunchSpec], Rates]]:
    """Return the rates of a machine that really has this much of the last level, whatever it reports."""
    return {"timed_rates": rates_beyond(has), "counted_rates": lambda spec: rates_beyond(simulated(spec))(spec)}


def simulated(spec: LaunchSpec) -> int:
    """Return the size of the last level that a launch under Valgrind simulates."""
    return next(int(word[5:].split(b",")[0]) for word in spec.argv if word.startswith(b"--LL="))


@dataclass
class ProbeMachine(OneByOne):
    """The launch server of such a machine; the user may press Ctrl-C during a launch of it."""

    specs: list[LaunchSpec] = field(default_factory=list)
    """The launches that were timed."""
    counted: list[LaunchSpec] = field(default_factory=list)
    timed_rates: Callable[[LaunchSpec], Rates] = rates
    counted_rates: Callable[[LaunchSpec], Rates] = rates
    disturb: Callable[[int], int] = lambda _: 0
    """By how many ns a timed launch takes longer, given its number from 0."""
    measured: Measured = PLAIN
    without_cpu: bool = False
    interrupted_after: int | None = None
    """How many launches end before the first Ctrl-C."""
    fails_after: int | None = None
    """How many launches end before they begin to fail."""
    insisted_after: int | None = None
    """How many launches end before the second Ctrl-C, which raises KeyboardInterrupt."""
    servers: int = 0
    """How many launch servers were opened."""
    cancelled: Event = field(default_factory=Event)

    def launch(self, spec: LaunchSpec, waiting: Callable[[float], None] | None = None) -> Measured:  # noqa: ARG002
        ended = len(self.specs) + len(self.counted)
        if ended == self.insisted_after:
            raise KeyboardInterrupt
        if ended == self.fails_after:
            return replace(self.measured, exit_code=1)
        if ended == self.interrupted_after:
            os.kill(os.getpid(), signal.SIGINT)
            assert self.cancelled.wait(_PATIENCE_S), "nobody answered to the signal"
        if self.cancelled.is_set():
            return replace(self.measured, cancelled=True, signal=9, exit_code=None)
        return self._count(spec) if spec.program == os.fsencode(VALGRIND.program) else self._time(spec)

    def _time(self, spec: LaunchSpec) -> Measured:
        elements, iterations = walked(spec)
        each = sum(hit * ns for hit, ns in zip(self.timed_rates(spec), (L1_NS, LL_NS, RAM_NS), strict=True))
        cpu = round(START_NS + elements + iterations * each) + self.disturb(len(self.specs))
        self.specs.append(spec)
        if self.without_cpu:
            return replace(self.measured, cpu_ns=None, user_ns=cpu - 1000, sys_ns=1000)
        return replace(self.measured, cpu_ns=cpu)

    def _count(self, spec: LaunchSpec) -> Measured:
        self.counted.append(spec)
        _, iterations = walked(spec)
        l1, ll, ram = (round(rate * iterations) for rate in self.counted_rates(spec))
        # In Valgrind's terms: a miss in the first level is a hit further out.
        events = {"Ir": l1, "I1mr": 100, "ILmr": 50, "Dr": ll, "D1mr": ll, "DLmr": 0, "Dw": ram, "D1mw": ram}
        events["DLmw"] = ram
        counts = " ".join(map(str, events.values()))
        lines = ["cmd: probe", f"events: {' '.join(events)}", "fl=walk.rs", "fn=walk", f"1 {counts}"]
        output = next(word for word in spec.argv if word.startswith(b"--cachegrind-out-file=")).partition(b"=")[2]
        profile = Path(os.fsdecode(output.replace(b"%p", b"1")))
        profile.write_text("\n".join([*lines, f"summary: {counts}", ""]))
        return self.measured

    def cancel(self) -> None:
        self.cancelled.set()

    @contextmanager
    def server(self) -> Iterator[ProbeMachine]:
        self.servers += 1
        yield self

    def world(self, home: Path) -> World:
        """Return everything that a calibration takes from outside; it keeps its files in `home`."""
        return World(
            launcher=self.server,
            environment={"XDG_STATE_HOME": str(home), "PATH": "/usr/bin:/bin"},
            clock=lambda: 7.0,
            facts=lambda: MACHINE.model_copy(update={"caches": CACHES}),
            valgrind=lambda _: VALGRIND,
            new_seed=lambda: 1,
            processors=lambda: {0, 1},
        )
