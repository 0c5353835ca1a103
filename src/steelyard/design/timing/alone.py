"""One subject measured alone: launches until the budget ends. It describes; it reaches no verdict."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from steelyard.design.findings import cut_short_finding
from steelyard.design.runner.draws import draw_pair, round_order
from steelyard.design.runner.failure import Interrupted, TookTooLongError
from steelyard.design.runner.targets import first_limit_s
from steelyard.design.timing.budget import Budget
from steelyard.design.timing.recorder import Recorder
from steelyard.model.errors import LaunchError, SteelyardError
from steelyard.model.findings import Finding
from steelyard.model.progress import Progress, Watch
from steelyard.model.records import Run, StopReason
from steelyard.model.rows import ROLES, USED, WARM_UP, Place

_SHORTEST_LIMIT_S = 1.0


class RunMeasurement:
    """One run while it is measured; its `run` has the shape of a weighing's.

    There is one launch, however long it takes; from then on the budget holds, of which `spent_s` were used before.
    """

    def __init__(
        self,
        header: Run,
        recorder: Recorder,
        clock: Callable[[], float],
        watch: Watch,
        spent_s: float = 0.0,
    ) -> None:
        self._header, self._settings = header, header.settings
        self._findings: list[Finding] = []
        self._stop_reasons: dict[int, StopReason] = {
            number: reason for number, reason in enumerate(header.stop) if reason in ("failed", "time")
        }
        self._recorder, self._clock, self._watch = recorder, clock, watch
        self._budget = Budget(header.settings, clock(), spent_s)
        self._launches_begun = 0
        self._launches_expected: int | None = header.settings.pairs
        self._seconds_left: float | None = None
        self.error: SteelyardError | None = None

    def run(self) -> Run:
        """Measure until the budget ends; the record holds all that was measured, however it ended."""
        reason: StopReason
        try:
            reason = self._measure()
        except Interrupted:
            reason = "interrupted"
        except SteelyardError as error:
            if self._is_cut_short(error):
                reason = "time"
                self._findings.append(cut_short_finding(self._longest_s() or 0.0))
            else:
                self.error, reason = error, "failed"
                self._findings.append(Finding(code="failed", message=str(error)))
        reasons = [self._stop_reasons.get(number, reason) for number in range(len(self._header.benchmarks))]
        self._findings += self._recorder.settle(self._header.benchmarks, reasons)
        self._findings += self._recorder.closing_findings(self._header, reasons)
        return self._header.model_copy(
            update={
                "stop": reasons,
                "seconds": self._clock() - self._budget.started,
                "findings": [*self._header.findings, *self._findings],
                "launches": self._recorder.rows.launches(),
            }
        )

    def _measure(self) -> StopReason:
        """Launch every benchmark that has not stopped, in rounds; return why the last of them ended."""
        warm_up, done = self._settings.warm_up, 0
        left_s = first_limit_s(self._header)
        names = [one.name for one in self._header.benchmarks]
        shown_name = names[0] if len(names) == 1 else f"{len(names)} benchmarks"
        self._watch(Progress(shown_name, 0, self._launches_expected, seconds_left=left_s, noun="launch", is_first=True))
        for number in itertools.count():
            open_benchmarks = [
                benchmark for benchmark in range(len(self._header.benchmarks)) if benchmark not in self._stop_reasons
            ]
            if number == max(1, warm_up):
                self._recorder.files.note_states()
            for benchmark in round_order(self._settings.seed, number, open_benchmarks):
                if not done and self._is_over():
                    return "time"
                self._launch(benchmark, number, USED if number >= warm_up else WARM_UP)
                if len(open_benchmarks) > 1:  # a round of them may take minutes
                    self._tell_progress(names[benchmark], done)
            if number < warm_up:
                continue
            done += 1
            now = self._clock()
            launch_s = (now - self._budget.started) / (done + warm_up)
            self._launches_expected = limit = self._budget.pairs_in_all(done, now, launch_s)
            self._seconds_left = None if limit is None else (limit - done) * launch_s
            self._tell_progress(shown_name, done)
            if self._settings.pairs is not None and done >= self._settings.pairs:
                return "pairs"
            if not open_benchmarks or self._budget.time_is_up(now, launch_s, done):
                return "time"
        raise AssertionError("counting has no end")

    def _is_over(self) -> bool:
        """Whether one more launch would end after the limit; never before the first launch."""
        now = self._clock()
        return self._launches_begun > 0 and self._budget.time_is_up(
            now, (now - self._budget.started) / self._launches_begun, 0
        )

    def _longest_s(self) -> float | None:
        """Return how long a launch may take within the budget; not too little, as a busy machine may delay it."""
        limit = self._settings.max_time_s if self._settings.timeout_s is None else None
        return None if limit is None else max(limit, _SHORTEST_LIMIT_S)

    def _is_cut_short(self, error: SteelyardError) -> bool:
        """Whether a launch was killed for the budget's sake, and not by a limit of its own."""
        return self._launches_begun > 1 and self._longest_s() is not None and isinstance(error, TookTooLongError)

    def _tell_progress(self, name: str, done: int) -> None:
        self._watch(Progress(name, done, self._launches_expected, seconds_left=self._seconds_left, noun="launch"))

    def _launch(self, benchmark: int, number: int, role: str) -> None:
        """Launch once; a failure ends only its benchmark where that is one of many in a harness."""
        try:
            draw = draw_pair(self._settings.seed, benchmark, number)
            # The first launch describes the program however long it takes; no later one may use up all the time again.
            longest_s = self._longest_s() if self._launches_begun else None
            self._launches_begun += 1
            self._recorder.launch(Place(benchmark, number, 0, 0, ROLES.index(role), *draw), longest_s)
        except LaunchError as error:
            if self._settings.harness is None or self._is_cut_short(error):
                raise
            self.error = self.error or error
            self._findings.append(self._recorder.fail(benchmark, str(error)))
            self._stop_reasons[benchmark] = "failed"
