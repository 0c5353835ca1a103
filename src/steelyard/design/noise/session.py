"""A whole measurement of this machine's noise: probes, turns, what follows."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import get_args

from steelyard.design.noise.advice import pairing_of, processor_of
from steelyard.design.noise.measuring import Measuring
from steelyard.design.noise.plan import MEASURED_S, Two, plan
from steelyard.design.noise.probes import Probes
from steelyard.design.noise.spreads import kinds, spreads
from steelyard.design.runner.collector import no_collector
from steelyard.design.runner.failure import Interrupted
from steelyard.design.runner.interrupt import Interrupt
from steelyard.design.runner.pool import WorkerPool
from steelyard.design.runner.runner import Runner
from steelyard.design.world import World
from steelyard.model.errors import InterruptedBeforeStart
from steelyard.model.noise import Beside, Counted, Noise, Work
from steelyard.model.progress import Progress

# A probe of no iterations takes about this much longer than none, when the length asked for is hardly its start.
_SHORTEST = 0.9
_NOTHING = "interrupted before anything was measured"


def measure_noise(world: World, watch: Callable[[Progress], None], announce: Callable[[], None]) -> Noise:
    """Measure for MEASURED_S, `announced` when the probes are known to run; if the user stops it, judge what there is.

    Raises InterruptedBeforeStart if that is nothing, MeasurementError where the probes are missing or fail.
    """
    probes, timer, started = Probes(world.environment), world.timer(), world.clock()
    processors = world.processors()
    with world.launcher() as launcher, WorkerPool(world.launcher, 2) as pool:

        def cancel() -> None:
            launcher.cancel()
            pool.cancel()

        with Interrupt(cancel, world.clock) as interrupt, no_collector(), Path(os.devnull).open("wb") as nowhere:
            launcher.keep_rows_in(nowhere.fileno())  # nobody carries this on
            runner = Runner(launcher, interrupt.is_requested)
            try:
                rates = {work: probes.rate(work, runner) for work in get_args(Work)}
            except Interrupted:
                raise InterruptedBeforeStart(_NOTHING) from None
            shortest = {work: _SHORTEST * rate.start_ns / 1e6 for work, rate in rates.items()}
            tells_waits = launcher.offers.get("schedstat", False)
            tasks = plan(processors, world.cores(), shortest, tells_waits=tells_waits)
            measuring = Measuring(
                tasks, probes, rates, launcher, runner, pool, world.clock, watch, world.new_seed(), len(processors)
            )
            announce()
            before, since = world.counted(), world.clock()
            measuring.run(MEASURED_S)
            after, took = world.counted(), world.clock() - since
    found = spreads(measuring)
    if not found:
        raise InterruptedBeforeStart(_NOTHING)
    return Noise(
        seconds=world.clock() - started,
        interrupted=measuring.is_interrupted,
        timer=timer,
        interrupts_per_s=_interrupts_per_s(before, after, took),
        stolen=_stolen(before, after),
        spreads=found,
        beside=[
            Beside(work=turn.task.work, cpus=turn.task.cpus, alone_ns=turn.alone_ns, beside_ns=turn.beside_ns)
            for turn in measuring.turns
            if isinstance(turn.task, Two) and turn.alone_ns
        ],
        expected=[one for kind in kinds(found).values() for one in kind.expected(measuring.seed)],
        pairing=pairing_of(kinds(found)),
        cpu=processor_of(found),
    )


def _interrupts_per_s(before: Counted, after: Counted, seconds: float) -> dict[int, float]:
    return {
        processor: (number - before.interrupts[processor]) / max(seconds, 1e-9)
        for processor, number in after.interrupts.items()
        if processor in before.interrupts
    }


def _stolen(before: Counted, after: Counted) -> float | None:
    spent = {name: ticks - before.ticks.get(name, 0) for name, ticks in after.ticks.items()}
    return max(0, spent["steal"]) / sum(spent.values()) if "steal" in spent and sum(spent.values()) > 0 else None
