"""A whole weighing or run, from a request to a kept record: prepare, stages, judge, keep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from steelyard.design.benchmarks_inside import with_benchmarks_inside, with_harness_hint_if_too_long
from steelyard.design.command_findings import (
    placeholder_findings,
    shell_words_findings,
    shim_findings,
    starting_tool_findings,
    unread_output_findings,
)
from steelyard.design.control import with_control
from steelyard.design.counters import check_counters
from steelyard.design.extra_budget import ExtraBudget, used_s
from steelyard.design.findings import (
    NOT_CLEANED_UP,
    chosen_processor_finding,
)
from steelyard.design.hidden_variables import hidden_variables_finding
from steelyard.design.identical import identical_record, is_identical, known_findings, lacks_baseline
from steelyard.design.keeping import (
    keep_in_place,
    named_if_insisted,
    unmeasured_outcome,
    unmeasured_record,
    unstarted_outcome,
)
from steelyard.design.layouts import digest_of, equal_layouts_findings, values_given
from steelyard.design.libraries import with_libraries
from steelyard.design.outcome import Outcome, judge_outcome
from steelyard.design.preliminaries import with_preliminaries
from steelyard.design.request import Request
from steelyard.design.resumption import check_programs, in_launch_folder, lacking_variables_finding, load_resumable
from steelyard.design.runner.clean_up import CleanUp
from steelyard.design.runner.failure import Interrupted
from steelyard.design.runner.interrupt import Interrupt
from steelyard.design.runner.running_clock import RunningClock
from steelyard.design.runner.survivors import set_up_left_running_finding, unseen_orphans_finding
from steelyard.design.runner.targets import Targets, hooks_of, targets_of
from steelyard.design.stages import Session, needs_counting, stages
from steelyard.design.stderr_notes import set_up_findings, without_secret_values
from steelyard.design.suite.selection import Selection
from steelyard.design.surroundings import with_isolation, with_tuning
from steelyard.design.world import World
from steelyard.model.collector import without_collection
from steelyard.model.errors import InterruptedBeforeStart, MeasurementError, SteelyardError, UnwrittenError, UsageError
from steelyard.model.findings import Finding
from steelyard.model.journal import Journal, is_journal
from steelyard.model.placeholders import PLACEHOLDER
from steelyard.model.progress import Watch
from steelyard.model.records import Run, Weighing
from steelyard.model.settings import Settings
from steelyard.model.subject import Subject
from steelyard.subjects.command import shared_environment
from steelyard.subjects.programs import weighed_file


def measure(request: Request, watch: Watch, world: World) -> Outcome:
    """Weigh candidates against a baseline, or measure one subject alone, and keep the record in the user's store.

    Raises SteelyardError if it cannot even start.
    """
    until_one_changed = request.until_one_changed
    with open_session(world, watch, request.settings, request.jobs, until_one_changed=until_one_changed) as session:
        if is_identical(request):
            return unmeasured_outcome(identical_record(_header(request, session)), world)
        if lacks_baseline(request):
            return unmeasured_outcome(_header(request, session), world)
        found = set_up(request.settings, request.subjects, session)
        header = _header(replace(request, findings=[*request.findings, *found]), session)
        outcome = _measure_record(header, session, selection=request.selection)
    is_late = session.interrupt.is_requested() and "interrupted" not in outcome.record.stop
    return replace(outcome, stop_came_late=is_late)


def resume(
    path: Path,
    watch: Watch,
    world: World,
    *,
    around: Callable[[Weighing, Sequence[Finding]], AbstractContextManager[None]],
    trusted: bool = False,
    more: ExtraBudget | None = None,
) -> Outcome:
    """Carry on a weighing that was interrupted or killed, by the same plan, and keep the whole of it.

    With `more` of a budget, one that ended undecided goes on, in a record of its own. It is measured within the context
    that `around` makes for the record and the findings on its being carried on. Raises UsageError for a record that is
    no weighing, came to another end, is of another machine or program, or that others may have written and that is not
    `trusted`.
    """
    record = load_resumable(path, trusted=trusted, more=more)
    with Journal.resumed(path) if more is None and is_journal(path) else nullcontext() as journal:
        if journal is not None:
            record = load_resumable(path, trusted=trusted)  # again, now that nobody else writes it
        if world.facts().key != record.machine.key:
            raise UsageError(f"{path} was measured on another machine: pairs of two machines cannot be mixed")
        shared_environment(record.settings, world.environment)  # it asks for values that no record holds
        lacking = lacking_variables_finding(record, world.environment)
        record = record.with_findings(one for one in lacking if one not in record.findings)
        with (
            in_launch_folder(record, path),
            around(record, lacking),
            open_session(world, watch, record.settings) as session,
        ):
            if record.settings.setup:
                found = set_up(record.settings, record.subjects, session)
                check_programs(record, path)
                record = record.with_findings([finding for finding in found if finding not in record.findings])
            return _measure_record(record, session, resumed_journal=journal)


def attempt(request: Request, watch: Watch, world: World) -> Outcome:
    """As `measure`, but what fails before its first launch is an outcome too, with a record that says why.

    Whoever reads the file that was asked for then finds this failure, not an earlier success.
    """
    try:
        return measure(request, watch, world)
    except MeasurementError as error:
        return unstarted_outcome(request, error, world)


@contextmanager
def open_session(
    world: World, watch: Watch, settings: Settings, jobs: int | None = None, *, until_one_changed: bool = False
) -> Iterator[Session]:
    """Start what launches need; an error that ends the context cleans up, as does `cleaning` at the end of the work."""
    cancels: list[Callable[[], None]] = []
    world.sweep()
    with (
        Interrupt(cancels, world.clock) as interrupt,  # first, so that what is made below is undone, too
        RunningClock(world.clock) as clock,
        world.isolated(settings.cpu) if settings.isolate else nullcontext() as isolated,
        world.launcher() as launcher,
        world.launcher() if settings.setup else nullcontext() as starter,
        without_collection(),
    ):
        if isolated is not None:
            isolated.admit(launcher.server_pid)

        launcher.waiting = lambda _: clock.while_waiting(watch)
        check_counters(settings, launcher.missing_counters)
        cancels += [one.cancel for one in (launcher, starter) if one is not None]
        cleaning = CleanUp(launcher, world.launcher, cancels, watch)
        try:
            yield Session(
                world, watch, clock, launcher, starter, interrupt, cleaning, isolated, jobs, until_one_changed
            )
        except Exception:  # whatever it is, what needs to be cleaned up is there
            with suppress(SteelyardError, Interrupted):  # the first error says more
                cleaning.run()
            raise


def _measure_record(
    header: Weighing | Run,
    session: Session,
    *,
    selection: Selection | None = None,
    resumed_journal: Journal | None = None,
) -> Outcome:
    """Measure and keep the record; a `resumed_journal` holds the header's launches, and is continued."""
    store = session.world.store()
    header, targets = _prepare(with_tuning(header, session.world), session, selection)
    rows = header.launches.rows()
    record_path = (
        store.new_name(header.kind) if resumed_journal is None else store.name_of(resumed_journal.path, header.kind)
    )
    new_journal = record_path.with_name(f"{record_path.name}.journal")
    with (
        nullcontext(resumed_journal) if resumed_journal else Journal(new_journal, header, rows) as journal,
        named_if_insisted(header, journal.path, record_path),
    ):
        if journal is not resumed_journal:
            store.admit(journal.path)
        record, error = header, None
        spent_s = header.preparing_s if _has_budget_for_all(header.settings, selection) else 0.0
        for stage in stages(header, targets, journal, rows, session, spent_s):
            if session.interrupt.is_requested():
                record = _as_interrupted(record, header)
                break
            record, error = stage(record)
            if error is not None:
                record = _as_cut_short(record, header, error) if isinstance(error, UnwrittenError) else record
                break
        error = with_harness_hint_if_too_long(error, record)
        record, error = _clean_up(with_benchmarks_inside(record), header, error, session)
        record = with_isolation(record, session.isolated)
        findings = without_secret_values(
            record.findings, shared_environment(record.settings, session.world.environment)
        )
        record = record.model_copy(update={"findings": findings})
        with suppress(MeasurementError):  # the record says it too
            journal.end(record.model_dump(mode="json", include={"stop", "seconds", "findings", "isolation"}))
    with named_if_insisted(record, journal.path, record_path):
        return keep_in_place(judge_outcome(record, error), journal.path, record_path, store)


# --- prepare


def set_up(settings: Settings, subjects: Sequence[Subject], session: Session) -> list[Finding]:
    """Run the set-up commands; return findings on what they said and what they left running.

    Raises InterruptedBeforeStart, MeasurementError.
    """
    if session.starter is None:
        return []
    shared = shared_environment(settings, session.world.environment)
    hooks = hooks_of(settings, shared, subjects)
    session.cleaning.set_hooks(hooks)
    runner = session.runner(hooks, session.starter)
    try:
        runner.set_up()
    except Interrupted:
        raise InterruptedBeforeStart(
            "interrupted before anything was measured: --setup had not ended; "
            "what is to go on runs in its background, as in './server &'"
        ) from None
    # Before a journal has it: a kill leaves that as it is.
    findings = without_secret_values(set_up_findings(runner.set_up_stderr), shared)
    return [*findings, *set_up_left_running_finding(runner.not_killed)]


def _header(request: Request, session: Session) -> Weighing | Run:
    """Return the record when nothing is known yet but what was asked for."""
    subjects = [with_libraries(one, request.settings) for one in _with_new_digests(request)]
    findings = [
        *known_findings(request, subjects),
        *chosen_processor_finding(request.settings),
        *equal_layouts_findings(subjects, request.settings),
        *shell_words_findings(subjects, request.settings),
        *placeholder_findings(subjects, request.benchmarks, request.settings),
        *shim_findings(subjects),
        *starting_tool_findings(subjects, request.settings),
        *hidden_variables_finding(subjects, request.settings, session.world.environment),
        *unread_output_findings(subjects, request.settings),
        *unseen_orphans_finding(session.launcher.offers),
    ]
    completed = replace(
        request, subjects=subjects, settings=_supported_settings(request.settings, session), findings=findings
    )
    machine = session.world.facts().model_copy(update={"offers": session.launcher.offers})
    return unmeasured_record(completed, "interrupted", machine, session.world)  # as a journal without an end


def _supported_settings(settings: Settings, session: Session) -> Settings:
    """Return the settings without shared addresses if this machine cannot give them: nobody needs them."""
    can_be_shared = session.launcher.offers.get("addresses", False)
    return settings if can_be_shared else settings.model_copy(update={"addresses": None})


def _with_new_digests(request: Request) -> list[Subject]:
    """Return the subjects with the digests of what set-up commands may have rebuilt, or {name} stands for."""
    is_rebuilt = bool(request.settings.setup)
    return [
        one.model_copy(update={"digest": digest_of(one, request.settings, values_given(request.benchmarks, number))})
        if is_rebuilt or PLACEHOLDER.search(weighed_file(one))
        else one
        for number, one in enumerate(request.subjects)
    ]


def _prepare(header: Weighing | Run, session: Session, selection: Selection | None) -> tuple[Weighing | Run, Targets]:
    """Return the record with its benchmarks and what is found before its first launch; and what it launches.

    A harness is asked for the benchmarks of the `selection`; if that is None, they are known.
    """
    world, settings, started_s = session.world, header.settings, session.clock()
    shared = shared_environment(settings, world.environment)
    if settings.heap is not None or settings.heap_shuffle:
        from steelyard.design.heap import check_heap

        check_heap(header)
    hooks = hooks_of(settings, shared, header.subjects)
    session.cleaning.set_hooks(hooks)
    try:
        if settings.harness is not None:
            from steelyard.design.suite.pilot_time import PilotTime
            from steelyard.design.suite.planner import Planner

            left_s = (settings.max_time_s or 0.0) - used_s(header)
            pilot_time = PilotTime(
                session.clock, started_s + left_s if _has_budget_for_all(settings, selection) else None
            )
            planner = Planner(header, shared, session.runner(hooks), session.watch, pilot_time)
            if selection is None:
                header = planner.plan_resumed()
            else:
                header = planner.plan(selection)
                header = header.model_copy(update={"preparing_s": session.clock() - started_s})
        header, targets = with_control(header, targets_of(header, shared, hooks), shared, session.runner(hooks))
        header = with_preliminaries(header, targets, session.runner())
    except Interrupted:
        raise InterruptedBeforeStart from None
    if needs_counting(header):
        from steelyard.design.counting.tool import with_tool

        header = with_tool(header, session.valgrind)
    return header, targets


def _has_budget_for_all(settings: Settings, selection: Selection | None) -> bool:
    """Whether the budget, which the user gave, also pays for listing and trying the benchmarks of a harness.

    A weighing that is carried on had such a budget if it has no longer one beside it, as those have that nobody gave.
    """
    was_given = settings.longest_time_s is None if selection is None else selection.seconds_each is None
    return was_given and settings.max_time_s is not None


# --- ends


def _clean_up(
    record: Weighing | Run, header: Weighing | Run, error: SteelyardError | None, session: Session
) -> tuple[Weighing | Run, SteelyardError | None]:
    """Run the clean-up commands; return the record with what they left, and their error if there was none before."""
    findings: Iterable[Finding] = []
    try:
        runner = session.cleaning.run()
        if runner is not None:
            findings = runner.survivor_findings()
    except (Interrupted, KeyboardInterrupt):  # the latter where an interrupt before it has ended the measuring
        record = _as_interrupted(record, header) if isinstance(record, Run) else record
        findings = [NOT_CLEANED_UP]
    except SteelyardError as failure:
        findings = [Finding(code="failed", message=str(failure))]
        if "interrupted" not in record.stop:
            error = error or failure
    return record.with_findings(findings), error


def _as_interrupted(record: Weighing | Run, header: Weighing | Run) -> Weighing | Run:
    """Return the record as interrupted, but for benchmarks that had ended before this session or failed in it."""
    places = zip(record.stop, header.stop, strict=True)
    return record.model_copy(update={"stop": ["failed" if now == "failed" else before for now, before in places]})


def _as_cut_short(record: Weighing | Run, header: Weighing | Run, error: UnwrittenError) -> Weighing | Run:
    """Return the record as one that can be carried on, as nothing that was measured has failed."""
    return record.model_copy(
        update={
            "stop": header.stop,
            "findings": [finding for finding in record.findings if finding.message != str(error)],
        }
    )
