"""One subject measured alone: launches until the budget ends. It describes; it reaches no verdict."""

from __future__ import annotations

from collections.abc import Callable

from steelyard.design.budget import Budget
from steelyard.design.draws import draw_pair
from steelyard.design.findings import left_behind_finding
from steelyard.design.recorder import InterruptedByUser, Recorder
from steelyard.model.errors import SteelyardError
from steelyard.model.launches import USED, WARM_UP
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
        try:
            stop = self._measure()
            self._recorder.clean_up()
        except InterruptedByUser:
            stop = "interrupted"
        except SteelyardError as error:
            self.error, stop = error, "failed"
            findings.append(Finding(code="failed", message=str(error)))
        findings += left_behind_finding(self._recorder.left_behind)
        return self._header.model_copy(
            update={
                "stop": [stop],
                "seconds": self._clock() - self._budget.started,
                "findings": [*self._header.findings, *findings],
                "launches": self._recorder.rows.launches(),
            }
        )

    def _measure(self) -> StopReason:
        for launch in range(self._settings.warm_up):
            self._launch(launch, WARM_UP)
        done = 0
        while True:
            self._launch(self._settings.warm_up + done, USED)
            done += 1
            now = self._clock()
            each = (now - self._budget.started) / (done + self._settings.warm_up)
            limit = self._budget.pairs_in_all(done, now, each)
            name = self._header.benchmarks[0].name
            self._watch(Progress(name, done, limit, seconds_left=None if limit is None else (limit - done) * each))
            if self._settings.pairs is not None and done >= self._settings.pairs:
                return "pairs"
            if self._budget.time_is_up(now, each) and done >= FEWEST_LAUNCHES:
                return "time"

    def _launch(self, number: int, role: str) -> None:
        self._recorder.launch(0, number, 0, 0, role, draw_pair(self._settings.seed, 0, number))
