"""The benchmarks inside programs: which both sides have, and how much of each a launch runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from steelyard.design.budgets import fewest_pairs
from steelyard.design.findings import new_suite_finding, not_measured_finding, process_time_finding, skipped_findings
from steelyard.design.numbering import without_benchmarks
from steelyard.design.runner.draws import draw_pair
from steelyard.design.runner.runner import Runner
from steelyard.design.runner.tandem import gains_beside
from steelyard.design.runner.target import LIST_REMEDY, STATEMENT_REMEDY, no_benchmark_error
from steelyard.design.runner.targets import missing_file_remedy, subjects_in_first_layout, with_time_limit
from steelyard.design.suite.in_common import one_sided_findings, shared_benchmarks
from steelyard.design.suite.loops import Amounts
from steelyard.design.suite.pilot_time import PilotTime
from steelyard.design.suite.pilots import Pilots
from steelyard.design.suite.processed import no_amounts_finding, other_work_finding
from steelyard.design.suite.selection import Selection, deal_shard, with_tags_of_all
from steelyard.design.suite.trials import Trials
from steelyard.measure.still import can_stand_still
from steelyard.model.counters import events_of
from steelyard.model.errors import LaunchError, MeasurementError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.metrics import counted, timed
from steelyard.model.progress import Watch
from steelyard.model.records import Run, StopReason, Weighing
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark, Subject
from steelyard.model.throughput import Processed, processed_of
from steelyard.subjects.command import launch_spec
from steelyard.subjects.harness import AUTO, Harness, Listed, check_counts, harness_named, recognised_harness
from steelyard.subjects.suite import CONTROL_NAME

# A benchmark whose launches are slow to start gets time for this many pairs, or for the fewest that can show anything
# among all the benchmarks, if that is more.
_FEWEST_PAIRS_PLANNED = 12


@dataclass(frozen=True)
class Planner:
    """Asks the subjects of a record for their benchmarks, and tries them."""

    record: Weighing | Run
    shared: Mapping[str, str]
    runner: Runner
    watch: Watch
    time: PilotTime = field(default_factory=lambda: PilotTime(lambda: 0.0))

    def plan(self, selection: Selection) -> Weighing | Run:
        """Return the record with its harness, recognised if need be, and its benchmarks, their loops and samples.

        A benchmark that fails is in it as `failed`, one for which there was no time as stopped by `time`. Raises
        LaunchError if a harness does not list its benchmarks, UsageError if none is left, Interrupted.
        """
        if self.record.settings.harness == AUTO:
            return self._with_recognised_harness(selection).plan(selection)
        if self.record.settings.clock is None and self._can_stand_still():
            return self._with_settings(clock="still").plan(selection)
        started = self.time.clock()
        lists = with_tags_of_all(self.list_all(selection.not_in_baseline))
        self.time.begin(sum(map(len, lists)) if self._harness.lists_by_running else len(lists), started)
        if not lists[0]:
            return self._as_new_suite(lists, selection)
        benchmarks, settings = self._choose(lists, selection)
        trials = self._make_trials(shares_starts=self._shares_starts(selection))
        trials.pilots.processed.update(
            {(place, one.name): one.processed for place, of in enumerate(lists) for one in of}
        )
        trials.try_all(benchmarks)
        benchmarks = [
            _with_amounts(one, trials, selection.processed) for one in benchmarks if one.entry not in trials.skipped
        ]
        if not benchmarks and settings.shard is None:  # else merge needs this part beside the others
            raise MeasurementError(skipped_findings(trials.skipped)[0].message)
        tried = [one for one in benchmarks if one.entry in trials.known]
        findings = [
            *one_sided_findings(self.record, list(map(selection.matching, lists))),
            *trials.findings,
            *trials.failed_or_skipped(),
        ]
        if not selection.processed:
            chosen = {one.entry for one in benchmarks}
            findings += no_amounts_finding(one for listed in lists for one in listed if one.name in chosen)
        findings += [*other_work_finding(tried), *process_time_finding(tried)]
        if not timed(settings.metrics):  # else the timing of the others names those that were not reached
            findings += not_measured_finding(trials.missed, of_harness=True)
        return self.record.model_copy(
            update={
                "settings": settings.model_copy(update=self._found_settings(settings, selection, trials, tried)),
                "benchmarks": benchmarks,
                "stop": [_stop_reason(one, trials) for one in benchmarks],
                "findings": [*self.record.findings, *findings],
            }
        )

    def _as_new_suite(self, lists: Sequence[Sequence[Listed]], selection: Selection) -> Weighing | Run:
        """Return the record if the baseline has no benchmark yet: it names the candidate's, which are not measured.

        The program is known to be the right one only of one command in two revisions, where the candidate's lists
        benchmarks; raises MeasurementError for any other, and UsageError as where benchmarks are chosen.
        """
        subjects = self.record.subjects
        new = [one for listed in lists[1:] for one in listed]
        if not new or any(subject.revision is None for subject in subjects):
            raise no_benchmark_error(subjects[0])
        names = [one.name for one in selection.choose(new, "the candidate's")]
        finding = new_suite_finding(subjects[0].name, subjects[1].name, names, selection.not_in_baseline)
        return self.record.with_findings([finding])

    def _choose(self, lists: Sequence[Sequence[Listed]], selection: Selection) -> tuple[list[Benchmark], Settings]:
        """Return the benchmarks that were asked for, and the settings, with the part of the suite that they are."""
        known = {one.name for one in lists[0]}
        new = [one for listed in lists[1:] for one in listed if one.name not in known]
        chosen = selection.choose(lists[0], "the baseline's" if isinstance(self.record, Weighing) else "its", new)
        benchmarks, settings = shared_benchmarks(self.record, lists, chosen), self.record.settings
        if selection.shard is not None:
            benchmarks, shard = deal_shard(benchmarks, selection.shard)
            settings = settings.model_copy(update={"shard": shard})
        if selection.control:
            benchmarks.append(benchmarks[0].model_copy(update={"name": CONTROL_NAME, "candidate": 0, "control": True}))
        return benchmarks, settings

    def plan_resumed(self) -> Weighing | Run:
        """Return a record that is carried on, with its open benchmarks tried for which there was no time before.

        Raises LaunchError if a harness no longer lists its benchmarks, Interrupted.
        """
        if self._harness.lists_first:
            self.list_all()
        stops = dict(enumerate(self.record.stop))
        missed = [
            number
            for number, one in enumerate(self.record.benchmarks)
            if stops[number] == "interrupted" and one.is_untried
        ]
        if not missed:
            return self.record
        begun, benchmarks = self.time.clock(), list(self.record.benchmarks)
        self.time.begin(0, begun)
        trials = self._make_trials(shares_starts=False)
        launches = self.record.launches
        for number, one in enumerate(benchmarks):
            if not one.is_untried:
                trials.known[one.entry or ""] = Amounts(one.loops, one.samples, one.clock)
                if stops[number] == "interrupted":
                    self.time.add_pair_time(2 * float(launches.taken_ns().sum()) / 1e9 / max(1, len(launches)))
        trials.try_all([benchmarks[number] for number in missed])
        for number in missed:
            benchmarks[number] = _with_amounts(benchmarks[number], trials, benchmarks[number].processed)
            stops[number] = _stop_reason(benchmarks[number], trials)
        record = self.record.model_copy(
            update={
                "benchmarks": benchmarks,
                "stop": [*stops.values()],
                "findings": [*self.record.findings, *trials.failed_or_skipped()],
                "preparing_s": self.record.preparing_s + self.time.clock() - begun,
            }
        )
        return without_benchmarks(record, {one for one in missed if benchmarks[one].entry in trials.skipped})

    def _shares_starts(self, selection: Selection) -> bool:
        """Whether benchmarks may be measured out of shared starts: nothing is to be done for each launch."""
        settings = self.record.settings
        is_free = selection.any_pairing and not selection.own_starts
        is_plain = settings.pairing == "adjacent" and not settings.has_hooks_around
        is_told_apart = bool(timed(settings.metrics)) and not events_of(settings.metrics)
        can_share = isinstance(self.record, Weighing) and self._harness.shares_starts
        return can_share and is_free and is_plain and is_told_apart

    def _may_time_processes(self) -> bool:
        """Whether launches of a suite may be timed by their processor time."""
        settings, times = self.record.settings, timed(self.record.settings.metrics)
        is_wanted = "wall" not in times and not {"active", "cpu"}.isdisjoint(times)
        return self._harness.times_processes and is_wanted and not settings.has_hooks_around

    def _make_trials(self, *, shares_starts: bool) -> Trials:
        by_process = self._may_time_processes()
        settings, harness = self.record.settings, self._harness
        pilots = Pilots(settings, harness, self._subjects, self._spec, self.runner, self.time, by_process)
        return Trials(pilots, self.watch, shares_starts)

    def _found_settings(
        self, settings: Settings, selection: Selection, trials: Trials, tried: Sequence[Benchmark]
    ) -> dict[str, Any]:
        """Return how those that were tried are to be measured, and for how long, as settings."""
        found: dict[str, Any] = {"starts": "shared"} if trials.shares_starts else {}
        # In either case benchmarks of whatever kind are known to be weighed sooner beside their like.
        is_better_beside = trials.pilots.times_processes or gains_beside(settings, self.record.machine.offers)
        if selection.any_pairing and isinstance(self.record, Weighing) and is_better_beside:
            found["pairing"] = "auto"
        if selection.seconds_each is not None and settings.max_time_s is not None:
            members = len(tried) if settings.shard is None else len(settings.shard.suite)
            pairs = max(_FEWEST_PAIRS_PLANNED, fewest_pairs(settings.alpha, settings.reserve, max(1, members)))
            seconds_each = [
                max(selection.seconds_each, pairs * trials.pilots.pair_s.get(one.entry or "", 0.0)) for one in tried
            ]
            found["max_time_s"] = max(settings.max_time_s, sum(seconds_each))
        return found

    def list_all(self, not_in_baseline: str | None = None) -> list[list[Listed]]:
        """Return what each subject lists; nothing for a baseline that fails, if it lacks the file its command names."""
        baseline, *candidates = self._subjects
        first = self._list(0, baseline) if not_in_baseline is None else self._list_if_present(baseline)
        return [first, *(self._list(number, subject) for number, subject in enumerate(candidates, 1))]

    def _list_if_present(self, baseline: Subject) -> list[Listed]:
        if not Path(baseline.program).exists():
            return []
        try:
            return self._list(0, baseline)
        except LaunchError:
            return []

    def _with_recognised_harness(self, selection: Selection) -> Planner:
        """Return a planner for the same record, with the harness that its programs are of; raises UsageError.

        The baseline is not looked at if it lacks the file that the command names.
        """
        subjects = self._subjects if selection.not_in_baseline is None else self._subjects[1:]
        name = recognised_harness([self._spec(subject) for subject in subjects])
        check_counts(name, counted(self.record.settings.metrics))
        return self._with_settings(harness=name)

    def _with_settings(self, **update: str) -> Planner:
        settings = self.record.settings.model_copy(update=update)
        return replace(self, record=self.record.model_copy(update={"settings": settings}))

    def _can_stand_still(self) -> bool:
        """Whether the elapsed time that a harness tells is wanted without waits for a processor, and can be had so."""
        times = timed(self.record.settings.metrics)
        is_wanted = self._harness.stands_still and "active" in times and "wall" not in times
        return is_wanted and all(can_stand_still(Path(subject.program)) for subject in self._subjects)

    def _list(self, number: int, subject: Subject) -> list[Listed]:
        usual = STATEMENT_REMEDY if subject.is_statement() else LIST_REMEDY
        remedy = missing_file_remedy(subject, self.record.settings) or usual
        return self.runner.list_benchmarks(self._harness, self._spec(subject), subject.name, remedy, number)

    @cached_property
    def _subjects(self) -> list[Subject]:
        """The subjects as they are asked and tried: of several layouts the first."""
        return subjects_in_first_layout(self.record)

    @cached_property
    def _harness(self) -> Harness:
        return harness_named(self.record.settings.harness or "")

    def _spec(self, subject: Subject) -> LaunchSpec:
        settings = self.record.settings
        # In a suite many benchmarks may hang: none has the longer time that slow launches are granted unasked.
        usual = self.record.model_copy(update={"settings": settings.model_copy(update={"longest_time_s": None})})
        return launch_spec(subject, with_time_limit(usual), self.shared, draw_pair(settings.seed, 0, 0))


def _with_amounts(benchmark: Benchmark, trials: Trials, processed: Sequence[Processed]) -> Benchmark:
    """Return a benchmark with what its launches run and process: as the user says, else as its sides tell."""
    entry = benchmark.entry or ""
    if not processed:
        places = (benchmark.baseline, benchmark.candidate)
        told, errors = trials.pilots.processed, trials.pilots.amount_errors
        error = sum(errors.get((place, entry), 0.0) for place in places)
        processed = processed_of(*(told.get((place, entry), {}) for place in places), error=error)
    amounts = trials.known.get(entry, Amounts()).fields_for_candidate(benchmark.candidate)
    return benchmark.model_copy(update={**amounts, "processed": [*processed]})


def _stop_reason(benchmark: Benchmark, trials: Trials) -> StopReason:
    """Return why a benchmark stopped before it was measured, or `interrupted` if it has not."""
    if benchmark.entry not in trials.known:
        return "time"
    return "failed" if benchmark.entry in trials.failures else "interrupted"
