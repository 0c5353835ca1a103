"""The programs that are weighed: of known length, they do nothing but loop, or walk over memory."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from steelyard.design.runner.draws import draw_pair
from steelyard.design.runner.runner import Runner
from steelyard.design.runner.target import PROBE_REMEDY, Target
from steelyard.measure import native
from steelyard.model.errors import MeasurementError
from steelyard.model.launch_spec import Draw, LaunchSpec
from steelyard.model.noise import Work
from steelyard.model.settings import Settings
from steelyard.subjects.command import command_subject, launch_maker, shared_environment

# The loop stays in the first level. The walk over 4 MiB needs the cache that processors share, or the last one of its
# own, and takes only 1 ms to set up.
_ELEMENTS: Final[Mapping[Work, tuple[str, int]]] = {"loop": ("linear-i32", 61), "memory": ("random-u64", 131_071)}
_TRIED_ITERATIONS = 500_000
_TRIES = 4
# Hundreds of times what a probe takes: one that takes longer hangs.
_LONGEST_S = 60.0


@dataclass(frozen=True)
class Rate:
    """How long the start of a probe takes, and each of its iterations."""

    start_ns: float
    each_ns: float

    def iterations(self, ms: float) -> int:
        """Return how many iterations make a launch take this long."""
        return max(0, round((ms * 1e6 - self.start_ns) / self.each_ns))


class Probes:
    """Launches of the probes; raises MeasurementError where they are missing."""

    def __init__(self, source: Mapping[str, str]) -> None:
        program = native.probes()
        self._source = source
        # Its digest is computed once, and not for each length.
        self._subject = command_subject(shlex.quote(str(program)), "probe", "probe", shell=False)

    def targets(self, work: Work, iterations: int, cpu: int | None = None) -> Callable[[Draw], Target]:
        """Return the launches of a probe, by what their pair draws; all on one processor, if that is given."""
        pattern, elements = _ELEMENTS[work]
        settings = Settings(timeout_s=_LONGEST_S, cpu=cpu, addresses="shared")  # as those of `compare`
        words = [pattern, str(elements), str(iterations)]
        subject = self._subject.model_copy(update={"argv": [*self._subject.argv, *words]})
        make: Callable[[Draw], LaunchSpec] = launch_maker(subject, settings, shared_environment(settings, self._source))
        return lambda draw: Target(f"the probe {pattern}", make(draw), program=subject.program, remedy=PROBE_REMEDY)

    def rate(self, work: Work, runner: Runner) -> Rate:
        """Return the rate, told from the shortest of some launches; raises as a launch does."""
        start, tried = (
            min(self._own_ns(work, iterations, runner) for _ in range(_TRIES)) for iterations in (0, _TRIED_ITERATIONS)
        )
        if tried <= start:
            raise MeasurementError("the probe takes no time here, or the clock stands still: nothing can be weighed")
        return Rate(start, (tried - start) / _TRIED_ITERATIONS)

    def _own_ns(self, work: Work, iterations: int, runner: Runner) -> float:
        measured = runner.trial(self.targets(work, iterations)(draw_pair(0, 0, 0))).measured
        return measured.wall_ns - (measured.delay_ns or 0)
