"""From two kept runs to verdicts: what may be compared at all, in which metric, and how the two differed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import ceil, expm1, isfinite
from pathlib import Path

import numpy as np

from steelyard.design.findings import coarse_clock_finding, some_names
from steelyard.design.judging.common import by_benchmark, describe_side, seconds_of
from steelyard.design.judging.left_out import little_memory_finding
from steelyard.design.judging.suite_means import Change, mean_of
from steelyard.design.judging.ticks import hidden_by_clock
from steelyard.design.unpaired.differences import difference_finding, left_out_findings, other_machine_finding
from steelyard.model.derived import SuiteMean
from steelyard.model.errors import MeasurementError, UsageError
from steelyard.model.foreign import ForeignResults
from steelyard.model.kept import Finding
from steelyard.model.launches import FloatArray
from steelyard.model.metrics import METRICS, NOISY_METRIC, of_one_process
from steelyard.model.ratios import with_rate
from steelyard.model.records import Run, Weighing
from steelyard.model.subject import Subject
from steelyard.model.typed import typed
from steelyard.model.unpaired import UnpairedReport, UnpairedVerdict
from steelyard.report.figures import count, seconds
from steelyard.stats.unpaired import (
    FEWEST_LAUNCHES,
    FEWEST_SECONDS,
    SHORT_SECONDS,
    RunValues,
    UnpairedJudgement,
    judge_unpaired,
    resolution,
)

# For a launch with threads or children, only the machine's pressure tells how long something waited, and it may have
# been others that did: no more than this share of a launch is put down to it.
_MOST_PRESSURE_SHARE = 0.9


_MACHINE_FIELDS = {
    "processor": "cpu_model",
    "microcode": "microcode",
    "memory": "memory_bytes",
    "kernel": "kernel",
    "C library": "libc",
    "virtualization": "virtualization",
    "governor": "governor",
    "clock source": "clock_source",
    "address randomisation": "aslr",
}
_SETTINGS_FIELDS = {
    "--cpu": "cpu",
    "--repeat": "repeat",
    "--stdin": "stdin",
    "--output": "output",
    "--setup": "setup",
    "--prepare": "prepare",
    "--conclude": "conclude",
    "--warmup": "warm_up",
    "--heap-shuffle": "heap_shuffle",
    "--isolate": "isolate",
    "--ignore-failure": "ignore_failure",
    "names passed on from the environment": "environment",
    "working directory": "directory",
}
# Counts do not depend on these.
_TIMING_SETTINGS = ("cpu", "repeat", "output", "warm_up", "heap_shuffle", "isolate")
_PROGRAM_PATH = "program's path"
_SUBJECT_FIELDS = {"command": "command", _PROGRAM_PATH: "program", "--shell": "shell"}


def require_run(record: Weighing | Run | ForeignResults, path: Path) -> Run:
    """Return the run in that file; raises UsageError, saying what to do, for what is none, failed, or is empty."""
    if isinstance(record, ForeignResults):
        raise UsageError(
            f"{path} was imported from {record.provenance.tool}, and the other was measured by steelyard: these do not "
            "measure the same, so compare two imports or two runs"
        )
    if not isinstance(record, Run):
        raise UsageError(
            f"{path} is a weighing, which has its verdict: look at it with steelyard show {typed(path)}; "
            "diff takes two runs, kept by steelyard run COMMAND -o FILE"
        )
    if all(reason == "failed" for reason in record.stop) or ("failed" in record.stop and not record.settings.harness):
        raise UsageError(f"{path} is a run that failed: measure it again with steelyard run")
    return record


def compare_runs(
    baseline: Run,
    candidate: Run,
    *,
    margin: float,
    alpha: float,
    metrics: list[str] | None = None,
    force: bool = False,
) -> UnpairedReport:
    """Judge the candidate run against the baseline run, each benchmark that both have, in each metric.

    `metrics` None takes the baseline's. Benchmarks share alpha evenly. Raises UsageError for runs of different
    machines (unless forced), for a run and itself, and for runs with no benchmark in common; MeasurementError where
    the first metric is undefined.
    """
    _check_comparable(baseline, candidate, force=force)
    shared = shared_benchmarks(baseline, candidate)
    parts = [by_benchmark(run) for run in (baseline, candidate)]
    views = {places: (parts[0][places[0]], parts[1][places[1]]) for places in shared}
    shared = [places for places in shared if _is_measured(*views[places], places)] or shared
    findings = [
        *_differences(baseline, candidate),
        *_clock_differences(baseline, candidate, shared),
        *unshared_findings(baseline, candidate, shared),
    ]
    requested_metrics = metrics or baseline.settings.metrics
    level = alpha / len(shared)
    verdicts = [
        _verdict(views[places], places, metric, margin, level) for places in shared for metric in requested_metrics
    ]
    return UnpairedReport(baseline, candidate, margin, level, verdicts, findings, _means(verdicts))


def _means(verdicts: Sequence[UnpairedVerdict]) -> list[SuiteMean]:
    metrics: dict[str, list[Change]] = defaultdict(list)
    for one in verdicts:
        metrics[one.metric].append((one.change, one.interval))
    # Drift from one run to the other is common to all benchmarks.
    return [mean for metric, changes in metrics.items() for mean in mean_of(metric, changes, independent=False)]


def _check_comparable(baseline: Run, candidate: Run, *, force: bool) -> None:
    if (baseline.created, baseline.launches) == (candidate.created, candidate.launches):
        raise UsageError("A and B are the same run: give two that were measured one after the other")
    if baseline.machine.key != candidate.machine.key and not force:
        models = (baseline.machine.cpu_model or "unknown", candidate.machine.cpu_model or "unknown")
        raise UsageError(
            f"A and B were measured on different machines ({models[0]}, {baseline.machine.key}; {models[1]}, "
            f"{candidate.machine.key}), which differ by more than most changes: measure both on one, or give --force"
        )


def shared_benchmarks(baseline: Run, candidate: Run) -> list[tuple[int, int]]:
    """Return the places of the benchmarks to compare, by name.

    A single command is compared with a single one whatever their names. Benchmarks of a harness that failed in either
    run are left out.
    """
    kinds = [run.settings.harness for run in (baseline, candidate)]
    if kinds[0] != kinds[1]:
        raise UsageError("one of A and B measured benchmarks in a harness, and the other did not: measure both alike")
    if kinds[0] is None and len(baseline.benchmarks) == len(candidate.benchmarks) == 1:
        return [(0, 0)]
    mine, theirs = (
        {benchmark.name: place for place, benchmark in enumerate(run.benchmarks) if place not in failed}
        for run, failed in ((baseline, _failed_places(baseline)), (candidate, _failed_places(candidate)))
    )
    shared = [(place, theirs[name]) for name, place in mine.items() if name in theirs]
    if not shared:
        raise UsageError(
            f"A and B have no benchmark in common: A has {some_names(list(mine)) or 'none'}, and B "
            f"{some_names(list(theirs)) or 'none'}: measure the same benchmarks in both"
        )
    return shared


def _failed_places(run: Run) -> set[int]:
    return {place for place, reason in enumerate(run.stop) if reason == "failed"}


def _is_measured(baseline: Run, candidate: Run, places: tuple[int, int]) -> bool:
    """Whether both runs have a launch to judge: one that was interrupted may not have come to all its benchmarks."""
    return all(len(run.launches.judged(place)) for run, place in zip((baseline, candidate), places, strict=True))


# --- what differs between the two


def unshared_findings(baseline: Run, candidate: Run, shared: list[tuple[int, int]]) -> Iterator[Finding]:
    """Yield findings that name the benchmarks that only one of the two has measured."""
    unshared = []
    for side, run in enumerate((baseline, candidate)):
        shared_places = {places[side] for places in shared} | _failed_places(run)
        unshared.append(
            [benchmark.name for place, benchmark in enumerate(run.benchmarks) if place not in shared_places]
        )
    yield from left_out_findings(unshared)


def _differences(baseline: Run, candidate: Run) -> Iterator[Finding]:
    if baseline.machine.key != candidate.machine.key:
        yield other_machine_finding()
    sources: tuple[tuple[dict[str, str], object, object], ...] = (
        (_MACHINE_FIELDS, baseline.machine, candidate.machine),
        (_SETTINGS_FIELDS, baseline.settings, candidate.settings),
        ({"Steelyard version": "tool"}, baseline, candidate),
    )
    yield from _subject_differences(baseline.subjects[0], candidate.subjects[0])
    for names, one, other in sources:
        yield from _field_differences(names, one, other)
    if (digests := (baseline.subjects[0].digest, candidate.subjects[0].digest))[0] != digests[1]:
        yield from _difference("program's digest (SHA-256)", *((digest or "unknown")[:12] for digest in digests))
    yield from _variable_differences(baseline, candidate)


def _subject_differences(one: Subject, other: Subject) -> Iterator[Finding]:
    names = dict(_SUBJECT_FIELDS)
    if one.revision is not None and other.revision is not None:
        del names[_PROGRAM_PATH]  # the folders that builds are kept in always differ, in paths of one length
        yield from _difference("--build", one.revision.build, other.revision.build)
    yield from _field_differences(names, one, other)


def counting_conditions_findings(baseline: Run, candidate: Run) -> Iterator[Finding]:
    """Yield what differs, beside the programs, of what counts depend on: the work, and what libraries choose by."""
    yield from _field_differences({"processor": "cpu_model"}, baseline.machine, candidate.machine)
    yield from _field_differences({"--shell": "shell"}, baseline.subjects[0], candidate.subjects[0])
    names = {what: field for what, field in _SETTINGS_FIELDS.items() if field not in _TIMING_SETTINGS}
    yield from _field_differences(names, baseline.settings, candidate.settings)
    yield from _variable_differences(baseline, candidate)


def _field_differences(names: dict[str, str], one: object, other: object) -> Iterator[Finding]:
    for what, field in names.items():
        yield from _difference(what, getattr(one, field), getattr(other, field))


def _variable_differences(baseline: Run, candidate: Run) -> Iterator[Finding]:
    changed = _changed_variables(baseline.settings.variables, candidate.settings.variables)
    if changed:  # their values may be secrets
        yield Finding(code="differs", message=f"environment variables set differently: {', '.join(changed)}")


def _clock_differences(baseline: Run, candidate: Run, shared: list[tuple[int, int]]) -> Iterator[Finding]:
    """Yield findings on benchmarks that were timed in different ways."""
    for mine, theirs in shared:
        name = candidate.benchmarks[theirs].name
        yield from _difference(f"clock of {name}", _clock(baseline, mine), _clock(candidate, theirs))


def _clock(run: Run, benchmark: int) -> str:
    own = run.benchmarks[benchmark].clock
    if own == "process":
        return own
    stands_still = run.settings.clock == "still" and own != "plain"
    return "one that stands still while it waits" if stands_still else "the harness's own"


def _difference(what: str, one: object, other: object) -> Iterator[Finding]:
    if one == other:
        return
    if isinstance(one, list) and isinstance(other, list):
        one, other = ([item for item in mine if item not in rest] for mine, rest in ((one, other), (other, one)))
        if not one and not other:
            one, other = "one order", "another order"
    yield difference_finding(what, _value_text(one), _value_text(other))


def _value_text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none of these"
    return "none" if value is None or value == "" else str(value)


def _changed_variables(one: dict[str, str | None], other: dict[str, str | None]) -> list[str]:
    known = [{name: value for name, value in each.items() if value is not None} for each in (one, other)]
    differing = {name for name in known[0].keys() & known[1].keys() if known[0][name] != known[1][name]}
    return sorted(differing | (one.keys() ^ other.keys()))  # of a value that no record holds nothing can be said


# --- the verdict


def _verdict(
    runs: tuple[Run, Run], places: tuple[int, int], metric: str, margin: float, alpha: float
) -> UnpairedVerdict:
    used = [_judged_positions(run, place) for run, place in zip(runs, places, strict=True)]
    shown_metric = _used_metric(runs, used, metric)
    values = [_values(run, chosen, shown_metric) for run, chosen in zip(runs, used, strict=True)]
    one, other = _positive_values(*values, metric=shown_metric)
    sides = [
        RunValues(
            np.log(each),
            seconds_of(run.launches, chosen),
            _log_times_without_waits(run, chosen) if shown_metric == "wall" else None,
        )
        for each, run, chosen in zip((one, other), runs, used, strict=True)
    ]
    little_memory = (
        little_memory_finding(float(np.median(side)) for side in (one, other)) if shown_metric == "max_rss" else None
    )
    hidden = hidden_by_clock(runs[0].launches, int(used[0][0]), shown_metric, one, other)
    judgement = judge_unpaired(sides[0], sides[1], margin, alpha, quantisation=hidden)
    known = isfinite(judgement.upper - judgement.lower)
    return UnpairedVerdict(
        benchmark=runs[1].benchmarks[places[1]].name,
        metric=shown_metric,
        verdict=judgement.verdict,
        change=expm1(judgement.shift.centre),
        interval=(expm1(judgement.lower), expm1(judgement.upper)) if known else None,
        block_spreads=(expm1(judgement.block_spreads[0]), expm1(judgement.block_spreads[1])) if known else None,
        assumed=judgement.floor,
        resolution=expm1(resolution(judgement, margin)) if known else None,
        baseline=with_rate(describe_side(one), runs[0].benchmarks[places[0]].processed, shown_metric, 0),
        candidate=with_rate(describe_side(other), runs[1].benchmarks[places[1]].processed, shown_metric, 0),
        findings=[
            *_findings(metric, shown_metric, judgement, sides, margin),
            *([little_memory] if little_memory else []),
        ],
    )


def _judged_positions(run: Run, benchmark: int) -> list[int]:
    positions: list[int] = run.launches.judged(benchmark).tolist()
    if not positions:
        raise UsageError("one of the runs has no launch that was measured to its end: measure it again")
    return positions


def _used_metric(runs: tuple[Run, Run], used: list[list[int]], metric: str) -> str:
    """Return the metric, or `wall` for both if `active` is undefined for a launch of one, as in a weighing."""
    if metric != "active":
        return metric
    known = [run.launches.metric("active")[chosen] for run, chosen in zip(runs, used, strict=True)]
    return "wall" if any(np.isnan(values).any() for values in known) else "active"


def _values(run: Run, chosen: list[int], metric: str) -> FloatArray:
    return of_one_process(run.launches.metric(metric)[chosen], metric, run.settings.repeat)


def _positive_values(one: FloatArray, other: FloatArray, *, metric: str) -> tuple[FloatArray, FloatArray]:
    if np.isnan(one).any() or np.isnan(other).any():
        raise MeasurementError(f"{metric} could not be measured in one of the runs: choose --metric wall")
    if not one.any() and not other.any():
        return one + 1, other + 1  # 0 in every launch of both: no change, of whatever size
    if (one <= 0).any() or (other <= 0).any():
        raise MeasurementError(
            f"{metric} was 0 in some launches, which has no relative change: choose another --metric"
        )
    return one, other


def _log_times_without_waits(run: Run, chosen: list[int]) -> FloatArray | None:
    """Return the logs of wall time without waits for a processor; None if the machine cannot tell."""
    launches = run.launches
    wall = launches.column("wall_ns")[chosen] - launches.of_shell_ns()[chosen]
    pressed = np.minimum(launches.column("pressure_ns")[chosen], _MOST_PRESSURE_SHARE * wall)
    waited = np.where(launches.knows_waits()[chosen], launches.waited_ns()[chosen], pressed)
    rest = (wall - waited) / run.settings.repeat
    if launches.samples:
        # A harness may tell how long its samples waited; else they waited for as large a share as the whole launch did.
        told = launches.metric("active")[chosen]
        rest = np.where(np.isnan(told), launches.metric("wall")[chosen] * rest / wall, told)
    return None if np.isnan(rest).any() or (rest <= 0).any() else np.log(rest)


def _measure_longer_remedy(seconds_each: int) -> str:
    return f"measure both for longer, each with --max-time {seconds_each}"


def _findings(
    requested_metric: str, shown_metric: str, judgement: UnpairedJudgement, sides: list[RunValues], margin: float
) -> Iterator[Finding]:
    if requested_metric != shown_metric:
        yield Finding(
            code="metric-fallback",
            message="in one of the runs other threads or child processes did some of the work, or the machine does not "
            "tell how long a process waits for a processor: wall time was judged in both instead of active",
        )
    if caution := METRICS[shown_metric].caution:
        yield Finding(code=NOISY_METRIC, message=caution)
    if coarse := coarse_clock_finding(judgement.quantisation, margin):
        yield coarse
    fewest, shortest = min(len(each.logs) for each in sides), min(each.seconds for each in sides)
    if fewest < FEWEST_LAUNCHES or shortest < FEWEST_SECONDS:
        short = f"has {count(fewest, 'launch')}: fewer than {FEWEST_LAUNCHES} do not show"
        if fewest >= FEWEST_LAUNCHES:
            took = min(shortest, FEWEST_SECONDS - 0.1)  # never rounded to what would be enough
            short = f"took {seconds(took)}: less than {seconds(FEWEST_SECONDS)} does not show"
        longest = max(each.seconds / len(each.logs) for each in sides)
        yield Finding(
            code="cannot-tell",
            message=f"the shorter run {short} how its level wanders, so no verdict can be given",
            remedy=_measure_longer_remedy(ceil(max(3 * SHORT_SECONDS, 2 * FEWEST_LAUNCHES * longest))),
        )
    elif not isfinite(judgement.allowance + judgement.shift.upper):
        yield Finding(code="cannot-tell", message="too few launches can never show anything at so small an --alpha")
    elif shortest < SHORT_SECONDS:
        yield Finding(
            code="short-run",
            message=f"the shorter run took {shortest:.1f} s: less than {SHORT_SECONDS:.0f} s does not show how a "
            "machine drifts, so more drift is assumed",
            remedy=_measure_longer_remedy(ceil(3 * SHORT_SECONDS)),
        )
    if judgement.waiting:
        yield Finding(
            code="waiting",
            message="the launches of the two runs waited for a processor for different times, which can explain it all",
            remedy="--metric active or cpu leaves the waiting out, for programs of one thread",
        )
