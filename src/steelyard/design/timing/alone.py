"""One subject measured alone: launches until the budget ends. It describes; it reaches no verdict."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from steelyard.design.findings import survivors
from steelyard.design.runner.draws import draw_pair, round_order
from steelyard.design.runner.failure import Interrupted
from steelyard.design.timing.budget import Budget
from steelyard.design.timing.recorder import Recorder
from steelyard.model.errors import LaunchError, SteelyardError
from steelyard.model.launches import ROLES, USED, WARM_UP, Place
from steelyard.model.progress import Progress
from steelyard.model.records import Finding, Run, StopReason

# However long a launch takes, fewer than this describe nothing; a limit that the user set goes before it.
FEWEST_LAUNCHES = 10


class Measuring:
    """One run while it is measured; `run` has the shape of a weighing's."""

    def __init__(
        self,
        header: Run,
        recorder: Recorder,
        clock: Callable[[], float],
        watch: Callable[[Progress], None],
    ) -> None:
        self._header, self._settings = header, header.settings
        self._recorder, self._clock, self._watch = recorder, clock, watch
        self._budget = Budget(header.settings, clock())
        self.error: SteelyardError | None = None

    def run(self) -> Run:
        """Measure until the budget ends; the record holds all that was measured, however it ended."""
        findings: list[Finding] = []
        stop: dict[int, StopReason] = {
            number: "failed" for number, reason in enumerate(self._header.stop) if reason == "failed"
        }
        rest: StopReason = "interrupted"
        try:
            rest = self._measure(stop, findings)
        except Interrupted:
            rest = "interrupted"
        except SteelyardError as error:
            self.error, rest = error, "failed"
            findings.append(Finding(code="failed", message=str(error)))
        findings += survivors(self._recorder.runner.left_behind, self._recorder.runner.not_killed)
        return self._header.model_copy(
            update={
                "stop": [stop.get(number, rest) for number in range(len(self._header.benchmarks))],
                "seconds": self._clock() - self._budget.started,
                "findings": [*self._header.findings, *findings],
                "launches": self._recorder.rows.launches(),
            }
        )

    def _measure(self, stop: dict[int, StopReason], findings: list[Finding]) -> StopReason:
        """Launch every benchmark that has not stopped, in rounds; why they all ended at last."""
        warm_up, done = self._settings.warm_up, 0
        for number in itertools.count():
            still = [benchmark for benchmark in range(len(self._header.benchmarks)) if benchmark not in stop]
            for benchmark in round_order(self._settings.seed, number, still):
                self._launch(benchmark, number, USED if number >= warm_up else WARM_UP, stop, findings)
            if number < warm_up:
                continue
            done += 1
            now = self._clock()
            each = (now - self._budget.started) / (done + warm_up)
            self._tell(done, now, each)
            if self._settings.pairs is not None and done >= self._settings.pairs:
                return "pairs"
            if not still or (self._budget.time_is_up(now, each) and done >= FEWEST_LAUNCHES):
                return "time"
        raise AssertionError("counting has no end")

    def _tell(self, done: int, now: float, each: float) -> None:
        limit = self._budget.pairs_in_all(done, now, each)
        benchmarks = self._header.benchmarks
        name = benchmarks[0].name if len(benchmarks) == 1 else f"{len(benchmarks)} benchmarks"
        self._watch(Progress(name, done, limit, seconds_left=None if limit is None else (limit - done) * each))

    def _launch(
        self, benchmark: int, number: int, role: str, stop: dict[int, StopReason], findings: list[Finding]
    ) -> None:
        """Launch once; a failure ends only its benchmark where that is one of many in a harness."""
        try:
            draw = draw_pair(self._settings.seed, benchmark, number)
            self._recorder.launch(Place(benchmark, number, 0, 0, ROLES.index(role), *draw))
        except LaunchError as error:
            if self._settings.harness is None:
                raise
            self.error = self.error or error
            findings.append(self._recorder.fail(benchmark, str(error)))
            stop[benchmark] = "failed"
