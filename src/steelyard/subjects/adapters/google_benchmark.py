"""Google Benchmark: its own flags, and the JSON file that it writes beside what it prints."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from steelyard.model.errors import LaunchError, SelectionError, SkippedError, VanishedError
from steelyard.subjects.adapters.options import check_options
from steelyard.subjects.harness import Listed, Work
from steelyard.subjects.responses import (
    MOST_BYTES,
    MOST_CHARACTERS,
    RESULTS_FILE,
    amounts,
    check_count,
    check_name,
    check_only,
    checked_list,
    escaped,
    file_holds,
    is_number,
    json_of,
    printed_by,
    results_of,
    sample_of,
    shown,
    with_arguments,
)
from steelyard.subjects.still_clock import StillHarness

if TYPE_CHECKING:
    from steelyard.model.launch_spec import LaunchSpec
    from steelyard.model.measured import Measured
    from steelyard.model.rows import Sample

# A static program contains the flags; a dynamic one the library's first function, by its mangled name.
_SIGNS = (b"benchmark_list_tests", b"_ZN9benchmark10Initialize")

# Versions from 1.8 on take a number of iterations here. Older ones say at the start that this is no number, and go on;
# as a flag they would refuse it, and list nothing. Those before 1.5.1 read no variable; their help has this in it.
_PROBE = {"BENCHMARK_MIN_TIME": "1x", "BENCHMARK_BENCHMARK_MIN_TIME": "1x"}
_IS_OLD = b"BENCHMARK_MIN_TIME is expected to be a double"
_OLD_HELP = b"[--benchmark_min_time=<min_time>]"

_CONTRADICTING = frozenset({"--benchmark_list_tests", "--help"})

# If one iteration is asked for, every version is given this time instead: an old one, whose iterations cannot be fixed,
# needs it (or a multiple of it), and where a sample needs just one iteration, that one takes about as long.
_SAMPLE_S = 0.001

# An old version multiplies the iterations by ten until they take a tenth of its time or more: of a body that gets
# slower and slower it then runs as many in 1 ms as in 10 ms.
_MOST_AMOUNTS = 16

# Google Benchmark tries no more iterations than this (later versions: 10^12), however little time they took.
_MANY = 10**9

# What is special in a POSIX extended regular expression. `]` and `}` are not, and must not be escaped.
_SPECIAL = re.compile(r"[.\[\\()*+?{|^$]")

_THREADS = re.compile(r"/threads:([0-9]{1,6})(?:/|$)")

# The parts of a name that say which clock decides if it is not that of processor time.
_REAL_TIMES = frozenset({"real_time", "manual_time"})

_STATISTICS = frozenset({"mean", "median", "stddev", "cv", "BigO", "RMS"})

_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


@dataclass(frozen=True)
class Repetition:
    """One repetition of a benchmark, as reported: its sample, or else why there is none."""

    name: str
    repetitions: int | None
    """How many repetitions the benchmark has in all, if that is told."""
    sample: Sample | None = None
    error: str = ""
    skips: bool = False
    """Whether that is as its code wanted it (SkipWithMessage, from 1.8.1)."""
    processed: dict[str, float] = field(default_factory=dict)
    """How much an iteration processes, by unit, as far as its code tells."""
    iteration_ns: float = 0.0
    """The time of an iteration as told, whereas a sample has whole ns."""
    refusal: LaunchError | None = None
    """Why what is told cannot be a sample."""


class GoogleBenchmark(StillHarness):
    """Drives programs with Google Benchmark in them; a repetition is a sample."""

    tells = frozenset({"cpu"})

    def recognises(self, launch: LaunchSpec) -> bool:
        """Return whether Google Benchmark is part of the program, or is loaded by it."""
        return any(file_holds(launch.program, sign) for sign in _SIGNS)

    def listing(self, launch: LaunchSpec) -> LaunchSpec:
        """Return the launch that lists the benchmarks, and tells whether their iterations can be fixed.

        Raises UsageError for options with which nothing is ever measured.
        """
        check_options(launch, _CONTRADICTING)
        if file_holds(launch.program, _OLD_HELP):
            self._fixes_no_loops()
        arguments = ("--benchmark_list_tests=true", "--benchmark_format=console")
        # All of stderr is kept, as an old version's complaint comes first.
        return replace(with_arguments(launch, *arguments, env=_PROBE, stdout=True), stderr=MOST_BYTES)

    def listed(self, measured: Measured) -> list[Listed]:
        """Return the listed benchmarks, in their order; raises LaunchError for anything else than a list.

        Google Benchmark lets several have one name. Such a name is listed once, and is an error when it is run.
        """
        if _IS_OLD in (measured.stderr or b""):
            self._fixes_no_loops()
        names = dict.fromkeys(printed_by(measured).split("\n"))
        return checked_list(Listed(name) for name in names if name)

    def _fixes_no_loops(self) -> None:
        self.fixes_loops, self.most_amounts = False, _MOST_AMOUNTS

    def running(self, launch: LaunchSpec, work: Work) -> LaunchSpec:
        """Return the launch that does the work."""
        amount = f"{work.loops}x" if self.fixes_loops and work.loops > 1 else f"{work.loops * _SAMPLE_S:g}"
        launch_of_benchmark = with_arguments(
            launch,
            f"--benchmark_filter=^{escaped(work.name, _SPECIAL)}$",
            f"--benchmark_min_time={amount}",
            f"--benchmark_repetitions={work.samples}",
            "--benchmark_report_aggregates_only=false",
            f"--benchmark_out={RESULTS_FILE}",
            "--benchmark_out_format=json",
        )
        return self.with_still_clock(launch_of_benchmark, work)

    def threads(self, work: Work) -> int:
        """Return the number of threads in the name; newer versions add up what each of them took."""
        match = _THREADS.search(work.name)
        return int(match[1]) if match else 1

    def samples(self, measured: Measured, work: Work) -> tuple[Sample, ...]:
        """Return all samples that the launch took; raises LaunchError for anything else."""
        results = results_of(measured)
        # If no benchmark was selected, the file is empty, and stderr says why.
        repetitions = (
            repetitions_of(results) if results.strip() or b"Failed to match" not in (measured.stderr or b"") else []
        )
        check_only((repetition.name for repetition in repetitions), work.name)
        if failed := next((repetition for repetition in repetitions if repetition.error), None):
            said = f"says: {failed.error}"
            raise SkippedError(said, failed.error) if failed.skips else LaunchError(said)
        if refusal := next(filter(None, (repetition.refusal for repetition in repetitions)), None):
            raise refusal
        samples = tuple(repetition.sample for repetition in repetitions if repetition.sample)
        for sample in samples:
            _check_body(sample)
        # A benchmark whose code sets its number of repetitions takes no other.
        expected = repetitions[0].repetitions or work.samples
        if len(samples) > expected:
            raise SelectionError(
                f"ran {len(samples) // expected} benchmarks that are all called {shown(work.name)}: no filter can tell "
                "them apart, so give each a name of its own, or leave them out with --benchmark"
            )
        checked = check_count(samples, expected)
        # Times that the code itself sets may be of any clock.
        return checked if _has_manual_time(work.name) else self.without_waits(checked, work)

    def processed(self, measured: Measured, work: Work) -> dict[str, float]:
        """Return what its code says by SetBytesProcessed and SetItemsProcessed."""
        return next(
            (repetition.processed for repetition in repetitions_of(results_of(measured)) if repetition.processed), {}
        )


def repetitions_of(text: bytes | str) -> list[Repetition]:
    """Return all repetitions in a JSON report, without aggregates; raises LaunchError if it is no such report."""
    # The user's counters stand behind Google Benchmark's own fields, and may have the same names.
    report = json_of(text, "report of Google Benchmark", lambda pairs: dict(reversed(pairs)))
    entries = report.get("benchmarks") if isinstance(report, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise LaunchError('wrote JSON that is no report of Google Benchmark: it has no list of "benchmarks"')
    names = {str(entry.get("name")) for entry in entries}
    repetitions = [_repetition(entry) for entry in entries if _is_repetition(entry, names)]
    if entries and not repetitions:
        raise LaunchError(
            "reports aggregates of its repetitions only, as its code says (ReportAggregatesOnly): without that call "
            "each repetition can be read"
        )
    return repetitions


def _is_repetition(entry: dict[str, Any], names: Set[str]) -> bool:
    """Return whether an entry is no aggregate; before version 1.5 only the name tells that."""
    if "run_type" in entry:
        return bool(entry["run_type"] == "iteration")
    of, _, statistic = str(entry.get("name")).rpartition("_")
    return not (statistic in _STATISTICS and of in names)


def _repetition(entry: dict[str, Any]) -> Repetition:
    name = check_name(entry.get("run_name", entry.get("name")))
    count = entry.get("repetitions")
    repetitions = count if type(count) is int and count > 0 else None
    if entry.get("error_occurred") is True:  # a number is a counter of that name
        return Repetition(
            name, repetitions, error=str(entry.get("error_message") or "an error occurred")[:MOST_CHARACTERS]
        )
    if entry.get("skipped") is True:
        message = str(entry.get("skip_message") or "")[:MOST_CHARACTERS]
        return Repetition(name, repetitions, error=f"it skipped itself{message and f': {message}'}", skips=True)
    try:
        sample = _sample(entry, name)
    except LaunchError as refusal:
        return Repetition(name, repetitions, refusal=refusal)
    each_ns = entry["real_time"] * _NS[entry.get("time_unit", "ns")]
    return Repetition(name, repetitions, sample, processed=_processed(entry, name), iteration_ns=each_ns)


def _processed(entry: dict[str, Any], name: str) -> dict[str, float]:
    """Return how much an iteration processes: the rates are per time of the clock that the benchmark goes by."""
    by_clock = _REAL_TIMES & set(name.split("/"))
    time, unit = entry.get("real_time" if by_clock else "cpu_time"), _NS.get(entry.get("time_unit", "ns"), 0.0)
    rates = {"bytes": entry.get("bytes_per_second"), "items": entry.get("items_per_second")}
    if not is_number(time):
        return {}
    return amounts({of: rate * time * unit / 1e9 for of, rate in rates.items() if is_number(rate)})


def _sample(entry: dict[str, Any], name: str) -> Sample:
    """Return the sample of a repetition, whose reported times are those of one iteration."""
    loops, unit = entry.get("iterations"), entry.get("time_unit", "ns")
    if not isinstance(unit, str) or unit not in _NS:
        raise LaunchError(f"gave a time in {shown(unit)}, which is no unit that Google Benchmark has")
    ns, cpu = (_all_loops(entry.get(key), loops, _NS[unit]) for key in ("real_time", "cpu_time"))
    # With manual time the processor's clock ran all the while, also over what was not to be measured.
    if _has_manual_time(name) or not isinstance(cpu, float) or not isfinite(cpu) or cpu < 0:
        return sample_of(loops, ns)
    return sample_of(loops, ns, cpu_ns=round(cpu))


def _has_manual_time(name: str) -> bool:
    return "manual_time" in name.split("/")


def _all_loops(time: Any, loops: Any, ns: float) -> Any:
    return float(time) * ns * loops if is_number(time) and type(loops) is int else time


def _check_body(sample: Sample) -> None:
    """Raise LaunchError for a body that takes no time: an empty one runs 10^12 iterations at "0.000 ns"."""
    if sample.loops >= _MANY and sample.ns < sample.loops / 1000:
        raise VanishedError(
            f"took {sample.ns:,} ns for {sample.loops:,} iterations: the compiler removed its body (give the result "
            "to benchmark::DoNotOptimize)"
        )
