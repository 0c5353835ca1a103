"""Why another metric was judged than the one asked for, where that is undefined for some launches."""

from __future__ import annotations

from typing import TypeVar

from steelyard.model.derived import Summary, Verdict
from steelyard.model.findings import Finding
from steelyard.model.records import Run, Weighing

_Derived = TypeVar("_Derived", Verdict, Summary)

# These tell what a benchmark waited wherever one thread did all of its work. The SDKs do so, too, but not everything
# that speaks their protocol.
_HARNESSES_WITH_WAITS = ("pytest-benchmark",)
_WAITS_UNKNOWN = (
    "the harness does not tell how long it waited for a processor, so wall time was judged instead of active"
)
_NOT_FOLLOWED_FINDING = Finding(
    code="metric-fallback",
    message="other threads or processes did some of the work, or its times are by a clock of its own, so wall time "
    "was judged instead of active",
    remedy="that is right for such benchmarks, but time spent waiting for a processor is not taken out",
)

_CLOCK_WENT_ON_FINDING = Finding(
    code="metric-fallback",
    message="when it was tried, its clock did not stand still while it waited for a processor, as happens where "
    "another thread asks for the time too: so all launches use the plain clock, and wall time was judged instead of "
    "active",
    remedy="a program in which only one thread asks for the time is timed without its waits",
)


def fallback_finding(
    record: Weighing | Run, benchmark: int, requested_metric: str, shown_metric: str
) -> Finding | None:
    """Return a finding that says why `active` was not judged, if something else was in its place."""
    if requested_metric == shown_metric:
        return None
    if not record.machine.offers.get("schedstat", True):
        why = "this machine does not tell how long a process waits for a processor"
        return Finding(code="metric-fallback", message=f"{why}, so wall time was judged instead of active")
    if record.settings.harness is not None:
        if record.benchmarks[benchmark].clock == "plain":
            return _CLOCK_WENT_ON_FINDING
        return _harness_fallback_finding(record)
    why = "other threads or child processes did some of the work"
    if shown_metric == "cpu":
        return Finding(code="metric-fallback", message=f"{why}, so the processor time of all was judged, not active")
    remedy = "that is right for such programs, but time spent waiting for a processor is not taken out"
    if not record.machine.offers.get("switches", True):
        remedy += ": steelyard doctor says what it takes here to follow all threads"
    return Finding(code="metric-fallback", message=f"{why}, so wall time was judged instead of active", remedy=remedy)


def _harness_fallback_finding(record: Weighing | Run) -> Finding:
    if record.settings.harness in _HARNESSES_WITH_WAITS:
        return _NOT_FOLLOWED_FINDING
    remedy = "--metric cpu, which other work moves less, if the benchmark itself waits for nothing"
    return Finding(code="metric-fallback", message=_WAITS_UNKNOWN, remedy=remedy if _has_cpu_times(record) else None)


def with_corrected_fallbacks(record: Weighing | Run, found: list[_Derived]) -> list[_Derived]:
    """Return the same, with what keeps a harness from telling one benchmark's wait if it tells that of others."""
    is_any_unknown = any(finding.message == _WAITS_UNKNOWN for each in found for finding in each.findings)
    if not is_any_unknown or not _has_some_waits(record):
        return found
    return [
        each.model_copy(
            update={
                "findings": [_NOT_FOLLOWED_FINDING if one.message == _WAITS_UNKNOWN else one for one in each.findings]
            }
        )
        for each in found
    ]


def _has_cpu_times(record: Weighing | Run) -> bool:
    """Whether all samples of a harness tell their processor time."""
    return all(sample[2] is not None for launch in record.launches.samples for sample in launch)


def _has_some_waits(record: Weighing | Run) -> bool:
    """Whether some samples of a harness have their wait for a processor, as the harness itself tells it."""
    launches, clocks = record.launches, [one.clock for one in record.benchmarks]
    each = zip(launches.benchmark, launches.samples, strict=False)
    return any(sample[3] is not None for number, samples in each if clocks[number] is None for sample in samples)
