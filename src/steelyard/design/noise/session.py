"""A whole measurement of this machine's noise: probes, turns, what follows."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from steelyard.design.noise.advice import pairing_of, processor_of
from steelyard.design.noise.measuring import NoiseMeasurement
from steelyard.design.noise.plan import MEASURED_S, NeighbourTask, plan
from steelyard.design.noise.probes import Probes
from steelyard.design.noise.spreads import kinds, spreads
from steelyard.design.runner.failure import Interrupted
from steelyard.design.runner.interrupt import Interrupt
from steelyard.design.runner.pool import WorkerPool
from steelyard.design.runner.runner import Runner
from steelyard.design.runner.running_clock import RunningClock
from steelyard.design.runner.tandem import has_short_turns
from steelyard.design.world import World
from steelyard.model.collector import without_collection
from steelyard.model.errors import InterruptedBeforeStart
from steelyard.model.noise import Beside, Counted, Noise, Work
from steelyard.model.progress import Watch

# The shortest programs take hardly more than the start of a probe, which itself varies by this much.
_SHORTEST_FACTOR = 0.9


def measure_noise(world: World, watch: Watch, announce: Callable[[], None]) -> Noise:
    """Measure for MEASURED_S; `announce` is called once the probes are known to run.

    If the user stops it, it judges what there is. Raises InterruptedBeforeStart if that is nothing, MeasurementError if
    the probes are missing or fail.
    """
    started, timer = world.clock(), world.timer()
    measuring, meanwhile = _measure(world, watch, announce)
    found = spreads(measuring)
    if not found:
        raise InterruptedBeforeStart
    of_kinds = kinds(found)
    return Noise(
        seconds=world.clock() - started,
        interrupted=measuring.is_interrupted,
        timer=timer,
        interrupts_per_s=meanwhile.interrupts_per_s(),
        stolen=meanwhile.stolen(),
        spreads=found,
        beside=[
            Beside(work=turn.task.work, cpus=turn.task.cpus, alone_ns=turn.alone_ns, beside_ns=turn.beside_ns)
            for turn in measuring.turns
            if isinstance(turn.task, NeighbourTask) and turn.alone_ns
        ],
        expected=[one for kind in of_kinds.values() for one in kind.expected(measuring.seed)],
        pairing=pairing_of(of_kinds, begins_beside=has_short_turns(measuring.launcher.offers)),
        cpu=processor_of(found),
    )


def _measure(world: World, watch: Watch, announce: Callable[[], None]) -> tuple[NoiseMeasurement, _Meanwhile]:
    probes = Probes(world.environment)
    with (
        world.launcher() as launcher,
        WorkerPool(world.launcher, 2) as pool,
        Interrupt((launcher.cancel, pool.cancel), world.clock) as interrupt,
        RunningClock(world.clock) as clock,
        without_collection(),
        Path(os.devnull).open("wb") as nowhere,
    ):
        launcher.keep_rows_in(nowhere.fileno())  # nobody carries this on
        launcher.waiting = lambda _: clock.while_waiting(watch)
        runner = Runner(launcher, interrupt.is_requested)
        try:
            rates = {work: probes.rate(work, runner) for work in get_args(Work)}
        except Interrupted:
            raise InterruptedBeforeStart from None
        processors, tells_waits = world.processors(), launcher.offers.get("schedstat", False)
        shortest = {work: _SHORTEST_FACTOR * rate.start_ns / 1e6 for work, rate in rates.items()}
        beside = has_short_turns(launcher.offers)
        tasks = plan(processors, world.cores(), shortest, tells_waits=tells_waits, begins_beside=beside)
        measuring = NoiseMeasurement(
            tasks, probes, rates, launcher, runner, pool, clock, watch, world.new_seed(), len(processors)
        )
        announce()
        before, since = world.counted(), world.clock()
        measuring.run(MEASURED_S)
        return measuring, _Meanwhile(before, world.counted(), world.clock() - since)


@dataclass(frozen=True)
class _Meanwhile:
    """What the system counted between two moments."""

    before: Counted
    after: Counted
    seconds: float

    def interrupts_per_s(self) -> dict[int, float]:
        """Return the interrupts per second of each processor."""
        return {
            processor: (number - self.before.interrupts[processor]) / max(self.seconds, 1e-9)
            for processor, number in self.after.interrupts.items()
            if processor in self.before.interrupts
        }

    def stolen(self) -> float | None:
        """Return the share of the processors' time that a hypervisor gave to others; None if nothing tells it."""
        spent = {name: ticks - self.before.ticks.get(name, 0) for name, ticks in self.after.ticks.items()}
        in_all = sum(spent.values())
        return max(0, spent["steal"]) / in_all if "steal" in spent and in_all > 0 else None
