"""The experiment: random pairs, with looks as their number grows, until the verdict stands or the budget ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import expm1

from steelyard.design.budgets import count_members
from steelyard.design.findings import (
    COLD,
    cold_finding,
    cut_short_finding,
    findings_by_name,
    findings_not_repeated,
    longer_budget_finding,
    not_quiet_findings,
)
from steelyard.design.runner.draws import draw_places, round_order
from steelyard.design.runner.failure import Interrupted, TookTooLongError, with_tandem_hint
from steelyard.design.runner.targets import longest_at_first_s, longest_launch_s
from steelyard.design.timing.benchmark import OpenBenchmark, open_benchmark
from steelyard.design.timing.budget import Budget
from steelyard.design.timing.kept_rows import Pair
from steelyard.design.timing.looks import Looks
from steelyard.design.timing.pace import Pace
from steelyard.design.timing.pairing import Choice
from steelyard.design.timing.recorder import Recorder
from steelyard.design.timing.shared_starts import SharedStarts
from steelyard.design.timing.standing import Standing
from steelyard.model.errors import LaunchError, MeasurementError, NoRatioError, SteelyardError
from steelyard.model.findings import SAID, Finding
from steelyard.model.progress import Watch
from steelyard.model.records import StopReason, Weighing
from steelyard.model.rows import TRIED, USED, WARM_UP


class Experiment:
    """One weighing while it is measured; the recorder, the clock and the watcher come from outside.

    `spent_s` seconds of its budget were used before. Benchmarks that an earlier session `stopped` for good stay
    stopped.
    """

    def __init__(
        self,
        header: Weighing,
        recorder: Recorder,
        clock: Callable[[], float],
        watch: Watch,
        settle: Callable[[float], float] = lambda most_s: 0.0,  # noqa: ARG005
        spent_s: float = 0.0,
        stopped: Sequence[StopReason] = (),
        *,
        until_one_changed: bool = False,
    ) -> None:
        self._header, self._settings = header, header.settings
        self._recorder = recorder
        self._until_one_changed = until_one_changed
        self._open = [
            open_benchmark(number, header, recorder.rows.of(number)) for number in range(len(header.benchmarks))
        ]
        self._looks = Looks(header, recorder.rows, self._open)
        self._restore_stops(stopped)
        self._pace = self._start_pace(clock, spent_s)
        self._standing = Standing(header, self._open, self._pace, watch)
        self._starts = SharedStarts(header, recorder)
        self._settle, self._may_wait_s = settle, header.settings.wait_quiet_s
        self._findings: list[Finding] = []
        self._pairing_findings: list[tuple[str, Finding]] = []
        self.error: SteelyardError | None = None

    def run(self) -> Weighing:
        """Measure until every benchmark has stopped; the record holds all that was measured, however that ended.

        A failed launch does not raise: it stops the weighing with `failed`, and `error` says why.
        """
        try:
            self._wait_for_quiet()
            self._standing.tell_first()
            rows_before = len(self._recorder.rows)
            self._warm_up()
            if len(self._recorder.rows) > rows_before:
                self._recorder.files.note_states()
            self._standing.tell_allowance()
            for benchmark in self._open:
                if benchmark.kept >= benchmark.next_look_at and benchmark.stop is None:
                    self._stop_or_go_on(benchmark)  # the look that an interrupted weighing still owes
            rounds = max(benchmark.attempts for benchmark in self._open)
            while open_numbers := self._open_numbers():
                self._pace.begin_round([self._open[number] for number in open_numbers], self._open)
                groups = self._starts.groups(round_order(self._settings.seed, rounds, open_numbers))
                for group, following in zip(groups, [*groups[1:], []], strict=True):
                    self._standing.upcoming = following
                    self._advance_all([self._open[number] for number in group], rounds)
                    self._standing.tell_allowance()
                rounds += 1
                if not self._settings.warm_up:
                    self._recorder.files.note_states()
        except Interrupted:
            self._stop_all("interrupted")
        except SteelyardError as error:
            self.error = error
            self._findings.append(Finding(code="failed", message=str(error)))
            self._stop_all("failed")
        return self._final_record()

    def _restore_stops(self, stopped: Sequence[StopReason]) -> None:
        """Keep the benchmarks stopped that an earlier session stopped, or that failed since, while being counted."""
        for benchmark, reason in zip(self._open, stopped, strict=bool(stopped)):
            if benchmark.stop != "failed":
                benchmark.stop = None if reason == "interrupted" else reason
        self._looks.look_back(stopped)

    def _start_pace(self, clock: Callable[[], float], spent_s: float) -> Pace:
        """Return the pace, which continues that of an earlier session if there was one."""
        rows = self._recorder.rows
        # Without pairs, a record's seconds are those of its counting, which takes no part of the budget.
        earlier_s = self._header.seconds if len(rows) else 0.0
        began = clock() - max(earlier_s, rows.wall_s())
        budget = Budget(self._settings, began, spent_s, count_members(self._header))
        pace = Pace(budget, clock, len(rows) // 2)
        pace.begin_round([one for one in self._open if one.stop is None], self._open)
        return pace

    def _open_numbers(self) -> list[int]:
        """Return the numbers of the benchmarks to visit in this round.

        A control goes on for as long as any other benchmark does, and until it rules out that it differs by what was
        found.
        """
        if self._until_one_changed and any(benchmark.is_changed for benchmark in self._open):
            self._stop_all("decided")
        elif all(benchmark.stop is not None for benchmark in self._open if not benchmark.control):
            self._stop_controls()
        return [benchmark.number for benchmark in self._open if benchmark.stop is None]

    def _stop_controls(self) -> None:
        """Stop the controls that have ruled out the smallest change found, or cannot tell in time."""
        judgements = [benchmark.judgement for benchmark in self._open if benchmark.is_changed and not benchmark.control]
        size = min((abs(judgement.estimate.centre) for judgement in judgements if judgement is not None), default=None)
        for benchmark in self._open:
            if benchmark.stop is None and (size is None or not self._may_rule_out(benchmark, size)):
                benchmark.stop = "decided"

    def _may_rule_out(self, control: OpenBenchmark, size: float) -> bool:
        """Whether a control does not know yet, but may still tell, if it differs from itself by `size`, a log-ratio."""
        is_futile = self._looks.is_futile(control, self._pace.limit(control), margin=expm1(size))
        return not is_futile and self._looks.leaves_open(control, size)

    def _warm_up(self) -> None:
        for pair in range(self._settings.warm_up):
            cold = [one for one in self._open if one.warm_ups <= pair and one.stop is None]
            due = {one.number: self._replacement_number(one) if one.is_half_warm else pair for one in cold}
            while due := {number: pair for number, pair in due.items() if self._open[number].stop is None}:
                # Grouped anew until none is due: a benchmark that failed in a shared start starts by itself.
                for group in self._starts.groups([*due]):
                    if self._pace.pairs and self._pace.time_is_up(len(group), 0):
                        return  # with many benchmarks, not all may be reached
                    self._warm_up_group(group, due)

    def _warm_up_group(self, group: Sequence[int], due: dict[int, int]) -> None:
        """Warm up benchmarks that are launched together, each in the pair that is `due`; in another if that failed."""
        benchmarks = [self._open[number] for number in group]
        if benchmarks[0].stop is not None:
            return  # another one took too long, by what they have in common
        if not self._starts.serve(group[0]):
            number = due.pop(group[0])
            measured = self._measure(benchmarks[0], number, WARM_UP)
            benchmarks[0].pairing.note(*measured)
            benchmarks[0].warm_ups += len(measured)
            return
        pairs = {number: due[number] for number in group}
        for benchmark, _ in self._measure_together(benchmarks, pairs, due[group[0]], WARM_UP):
            benchmark.warm_ups += 1
            del due[benchmark.number]
        for benchmark in benchmarks:
            if benchmark.number in due:
                due[benchmark.number] = self._replacement_number(benchmark)

    def _replacement_number(self, benchmark: OpenBenchmark) -> int:
        """Return the number of another warm-up pair, as one side may have measured the one that was due."""
        benchmark.is_half_warm = False
        benchmark.attempts += 1
        return self._settings.warm_up + benchmark.attempts - 1

    def _advance_all(self, group: Sequence[OpenBenchmark], round_number: int) -> None:
        if self._starts.serve(group[0].number):
            for benchmark in group:
                benchmark.together = len(group)
            self._advance_together(group, self._settings.warm_up + round_number)
            return
        for benchmark in group:  # several, if a start that served others has failed since the round began
            benchmark.together = 1
            self._advance(benchmark)

    def _advance(self, benchmark: OpenBenchmark) -> None:
        """Measure one more pair of a benchmark, look if a look is due, and stop it if it has come to an end."""
        if self._pace.end(benchmark):
            self._stop_or_go_on(benchmark)  # with many benchmarks the time may be up in the middle of a round
            return
        choice = self._apply_choice(benchmark, benchmark.pairing.choose())
        number, number_of_pairs = self._settings.warm_up + benchmark.attempts, self._pairs_at_once(benchmark)
        pairs = self._measure(benchmark, number, choice.role, number_of_pairs, tandem=choice.tandem)
        for rows in pairs:
            self._count(benchmark, rows, choice.role)
        if pairs:
            self._stop_or_go_on(benchmark)
            self._standing.tell(benchmark)

    def _advance_together(self, group: Sequence[OpenBenchmark], round_number: int) -> None:
        """Advance several benchmarks by one pair each, out of one start per side."""
        for benchmark in group:
            if self._pace.end(benchmark):
                self._stop_or_go_on(benchmark)
        due = [benchmark for benchmark in group if benchmark.stop is None]
        pairs = {benchmark.number: self._settings.warm_up + benchmark.attempts for benchmark in due}
        for benchmark, rows in self._measure_together(due, pairs, round_number, USED) if due else []:
            self._count(benchmark, rows, USED)
            self._stop_or_go_on(benchmark)
            self._standing.tell(benchmark)

    def _measure_together(
        self, due: Sequence[OpenBenchmark], pairs: Mapping[int, int], round_number: int, role: str
    ) -> list[tuple[OpenBenchmark, Pair]]:
        longest_s = None if self._pace.pairs else longest_at_first_s(self._header)
        begun = self._pace.clock()
        measured = list(self._starts.measure(due, pairs, round_number, role, longest_s))
        self._pace.note([benchmark for benchmark, _ in measured], 1, begun)
        return measured

    def _count(self, benchmark: OpenBenchmark, rows: Pair, role: str) -> None:
        """Count a pair that was measured: it is judged, or repeated."""
        benchmark.attempts += 1
        still_ns = self._recorder.watched.still_ns
        if benchmark.repeats.is_to_repeat(*rows, (still_ns(rows[0]), still_ns(rows[1]))):
            self._recorder.discard_pair(benchmark.number, rows[0].pair)
            self._wait_for_quiet()
            return
        benchmark.pairing.note(rows)
        if role == TRIED:
            benchmark.repeats.set_aside()

    def _apply_choice(self, benchmark: OpenBenchmark, choice: Choice) -> Choice:
        """Set aside tandem pairs of a target that turned out unfit for tandem; note findings, each to be said once."""
        for pair in choice.set_aside:
            self._recorder.set_aside(benchmark.number, pair)
            benchmark.repeats.set_aside()
        name = self._header.benchmarks[benchmark.number].name
        self._pairing_findings += [(name, finding) for finding in choice.findings]
        return choice

    def _pairs_at_once(self, benchmark: OpenBenchmark) -> int:
        """Return how many pairs to measure before something else may be due: a look, another benchmark, an end."""
        if self._pace.visited > 1 or self._may_wait_s > 0 or not self._pace.pairs or not benchmark.pairing.is_settled:
            return 1
        return self._pace.pairs_at_once(benchmark, self._recorder.most_pairs())

    def _wait_for_quiet(self) -> None:
        """Use some of the time allowed for waiting; it does not count as measuring."""
        if self._may_wait_s > 0:
            waited = self._settle(self._may_wait_s)
            self._may_wait_s -= waited
            self._pace.pause(waited)

    def _measure(
        self, benchmark: OpenBenchmark, pair: int, role: str, number_of_pairs: int = 1, *, tandem: bool = False
    ) -> list[Pair]:
        """Measure some pairs, from number `pair` on; return none if that failed without ending the weighing."""
        longest_s = None if self._pace.pairs else longest_at_first_s(self._header)
        seed, layouts = self._settings.seed, self._settings.layouts
        places = [
            place
            for number in range(pair, pair + number_of_pairs)
            for place in draw_places(seed, benchmark.number, number, role, tandem=tandem, layouts=layouts)
        ]
        begun = self._pace.clock()
        try:
            measured = self._recorder.pairs(places, longest_s)
        except LaunchError as error:
            if tandem and benchmark.pairing.may_give_up:
                self._apply_choice(benchmark, benchmark.pairing.give_up(str(error)))
                benchmark.attempts += 1
            elif self._is_cut_short(benchmark, error):
                self._findings.append(cut_short_finding(longest_s or longest_launch_s(self._settings) or 0.0))
                for given_up in self._benchmarks_given_up(benchmark, error):
                    given_up.stop = "time"
            else:
                error = with_tandem_hint(error) if tandem else error
                self._fail(benchmark, error, str(error))
            return []
        self._pace.note([benchmark], number_of_pairs, begun)
        return measured

    def _is_cut_short(self, benchmark: OpenBenchmark, error: LaunchError) -> bool:
        """Whether a command that was never measured took all the time alone, so that the others keep their verdicts.

        Before the first pair of all, the others may still get theirs. But once two commands take so long, nobody waits
        for a third; and where one verdict is enough, all benchmarks are of one command, which is then the one that
        takes so long.
        """
        is_limited_by_budget = self._settings.timeout_s is None and self._settings.harness is None
        given_up = self._benchmarks_given_up(benchmark, error)
        others = [one.stop for one in self._open if one not in given_up and not one.control]
        is_alone = self._until_one_changed or not others or any(others)
        may_go_on = self._pace.pairs > 0 or not is_alone
        return (
            is_limited_by_budget
            and isinstance(error, TookTooLongError)
            and may_go_on
            and not self._has_any_pair(benchmark)
        )

    def _benchmarks_given_up(self, benchmark: OpenBenchmark, error: LaunchError) -> list[OpenBenchmark]:
        """Return the benchmarks that go unmeasured because this launch took too long.

        If it was of a baseline that no pair has yet, these are all benchmarks with that baseline; else only its own.
        """
        baselines = [(one.baseline, one.params) for one in self._header.benchmarks]
        own_baseline = baselines[benchmark.number]
        same_baseline = [one for one in self._open if baselines[one.number] == own_baseline]
        is_of_baseline = isinstance(error, TookTooLongError) and error.subject == own_baseline[0]
        return same_baseline if is_of_baseline and not any(map(self._has_any_pair, same_baseline)) else [benchmark]

    def _has_any_pair(self, benchmark: OpenBenchmark) -> bool:
        launches = self._recorder.rows.launches_of(benchmark.number)
        return any(len(launches.complete_pairs(benchmark.number, role)) for role in (USED, WARM_UP))

    def _fail(self, benchmark: OpenBenchmark, error: SteelyardError, message: str) -> None:
        """Stop one benchmark as failed; a failure of a command that others are compared with is raised again."""
        if not self._header.fails_one_by_one:
            raise error
        self.error = self.error or LaunchError(message)
        self._findings.append(self._recorder.fail(benchmark.number, message))
        benchmark.stop = "failed"

    def _stop_or_go_on(self, benchmark: OpenBenchmark) -> None:
        ended = self._pace.end(benchmark)
        if ended is None and benchmark.kept < benchmark.next_look_at:
            return
        try:
            self._looks.take(benchmark, ended=ended is not None)
        except MeasurementError as error:
            if isinstance(error, NoRatioError) and self._settings.harness is None:
                benchmark.stop = ended or "futile"  # more pairs have no ratio either
                return
            self._fail(benchmark, error, f"{self._header.benchmarks[benchmark.number].name}: {error}")
            return
        is_decided = benchmark.judgement is not None and benchmark.judgement.verdict != "undecided"
        if benchmark.control:
            benchmark.stop = ended
        elif is_decided:
            benchmark.stop = ended or "decided"
        elif ended is not None or self._looks.is_futile(benchmark, self._pace.limit(benchmark)):
            benchmark.stop = ended or "futile"

    def _stop_all(self, reason: StopReason) -> None:
        for benchmark in self._open:
            benchmark.stop = benchmark.stop or reason

    def _cold_findings(self, stop: Sequence[StopReason | None]) -> Iterable[Finding]:
        """Return a finding on those of several benchmarks shown by their warm-up; a single one's verdict says so."""
        cold = [
            self._header.benchmarks[number].name
            for number in self._recorder.cold_benchmarks(stop)
            if self._has_any_pair(self._open[number])
        ]
        return cold_finding(cold, len(self._open)) if len(self._open) > 1 else ()

    def _final_record(self) -> Weighing:
        stop = [benchmark.stop for benchmark in self._open]
        closing_findings = self._recorder.closing_findings(self._header, stop)
        is_said_anew = any(one.code in SAID for one in closing_findings)
        renewed_codes = {COLD, *(SAID if is_said_anew else ())}  # as it has been carried on since
        kept_findings = findings_not_repeated(self._header.findings, self._pairing_findings)
        pairing_findings = findings_by_name(self._pairing_findings, self._header.benchmarks)
        waiting_findings = not_quiet_findings(self._settings.wait_quiet_s, self._may_wait_s)
        found = [  # an earlier session may have found the same
            *(one for one in kept_findings if one.code not in renewed_codes),
            *self._findings,
            *pairing_findings,
            *self._starts.findings,
            *waiting_findings,
            *self._cold_findings(stop),
            *([longer_budget_finding(self._settings)] if self._pace.budget.is_extended else []),
            *closing_findings,
        ]
        return self._header.model_copy(
            update={
                "stop": stop,
                "seconds": self._pace.elapsed_s(),
                "findings": [*dict.fromkeys(found)],
                "launches": self._recorder.rows.launches(),
            }
        )
