"""Divan (docs/adapters/divan.md): an executable of `cargo bench`, and the table that it prints."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from steelyard.model.errors import LaunchError, SelectionError, VanishedError
from steelyard.report.figures import count
from steelyard.subjects.adapters.options import check_options
from steelyard.subjects.adapters.rust import check_built, complaint_of, lacking, listed_in
from steelyard.subjects.responses import (
    amounts,
    arguments_of,
    check_only,
    file_holds,
    nearest_whole,
    printed_by,
    sample_of,
    shown,
    with_arguments,
)
from steelyard.subjects.still_clock import StillHarness

if TYPE_CHECKING:
    from steelyard.model.launch_spec import LaunchSpec
    from steelyard.model.measured import Measured
    from steelyard.model.rows import Sample
    from steelyard.subjects.harness import Listed, Work

# How many samples a launch takes, unless they take too long. The table has only their median.
_SAMPLES, _LONGEST_S = 15, 0.3
_MOST_LOOPS = 2**32 - 1
# The words of a command that make Divan read the processor's counter.
_COUNTER = frozenset({"--timer=tsc", "tsc"})
# With these it measures nothing, or refuses our own.
_CONTRADICTING = frozenset({"--exact", "--list", "--test", "--format", "--ignored", "--sample-count", "--sample-size"})
# Divan subtracts the time of an empty loop and tells whole picoseconds: a remainder of less than a cycle is no time. On
# one machine 0.12 to 0.17 ns are left of a body without instructions; a cycle at 5 GHz takes 0.2.
_SHORTEST_NS, _SURE_LOOPS = 0.2, 1000

_UNITS = {
    "ps": 1e-3,
    "ns": 1.0,
    "\u00b5s": 1e3,  # the micro sign
    "\u03bcs": 1e3,  # the Greek letter
    "us": 1e3,
    "ms": 1e6,
    "s": 1e9,
    "m": 60e9,
    "h": 3600e9,
    "d": 86400e9,
}
_BAR = " *│ "
# The times of a row take no more of its line; before them are the name and what the benchmark itself prints.
_MOST_TIMES = 300
_VALUE = rf"([0-9.]+) ({'|'.join(_UNITS)})"
_TIMES = re.compile(_BAR.join([_VALUE] * 4 + ["([0-9]{1,18})"] * 2) + "$")
# Below a row of times, each counter has a row of rates: the third is that at the median.
_PREFIXES, _COUNTERS = " KMGTPE", {"B/s": "bytes", "item/s": "items", "char/s": "chars", "Hz": "cycles"}
_RATE = r"[0-9.]+ [KMGTPE]?i?(?:B/s|item/s|char/s|Hz)"
_RATES = re.compile(
    _BAR.join([_RATE, _RATE, r"([0-9.]+) ([KMGTPE]?)(i?)(B/s|item/s|char/s|Hz)", _RATE]) + _BAR + "[ │]*$"
)
_HEADER = re.compile(_BAR.join(["fastest", "slowest", "median", "mean", "samples", "iters"]) + "$")
_BRANCH = re.compile("((?:│  |   )*)(?:├─ |╰─ )(.*)")
_IGNORED = "(ignored)"
# The names of the rows of a benchmark that runs with several numbers of threads.
_THREADS = re.compile("t=[0-9]+")


@dataclass(frozen=True)
class Row:
    """A benchmark in the table; its times are of one iteration."""

    name: str
    median_ns: float
    samples: int
    loops: int
    """The iterations of all its samples."""
    processed: dict[str, float] = field(default_factory=dict)
    """How much an iteration processes, by unit, as far as its counters tell."""


class Divan(StillHarness):
    """Drives executables with Divan's main. A launch gives one sample, the median of those that it took."""

    samples_a_launch = 1
    tells = frozenset({"active"})

    def recognises(self, launch: LaunchSpec) -> bool:
        """Return whether the program knows Divan's environment variables."""
        return file_holds(launch.program, b"DIVAN_SAMPLE_COUNT", b"DIVAN_SKIP_EXT_TIME")

    def listing(self, launch: LaunchSpec) -> LaunchSpec:
        """Return the launch that lists the benchmarks, as cargo-nextest does.

        Raises UsageError for cargo itself, and for options that contradict ours.
        """
        check_built(launch)
        check_options(launch, _CONTRADICTING)
        return with_arguments(launch, *lacking(launch, "--list", "--format=terse"), env={"NEXTEST": "1"}, stdout=True)

    def listed(self, measured: Measured) -> list[Listed]:
        """Return the listed benchmarks, in their order; raises LaunchError for anything else than a list."""
        return listed_in(printed_by(measured))

    def complaint(self, measured: Measured) -> str | None:
        """Return the panic that ended the launch, or the word that it refused."""
        message = complaint_of(measured)
        if message and "unexpected argument" in message:
            return f"{message} (Divan lists its benchmarks from 0.1.19 on: is it older?)"
        return message

    def running(self, launch: LaunchSpec, work: Work) -> LaunchSpec:
        """Return the launch that does the work; raises VanishedError for more iterations than Divan can run."""
        if work.loops > _MOST_LOOPS:
            raise VanishedError(
                f"{shown(work.name)} would need {work.loops:,} iterations for a sample, and Divan runs up to "
                f"{_MOST_LOOPS:,}: does the compiler remove its body?"
            )
        # With `tsc` (x86), each process measures the clock's rate anew, and all its times may be 0.1 % off.
        arguments = lacking(launch, "--bench", "--timer=os", "--min-time=0", f"--max-time={_LONGEST_S}")
        amount = (f"--sample-count={_SAMPLES}", f"--sample-size={work.loops}")
        # The processor's counter goes on while the system's clock stands still.
        still = work.still and _COUNTER.isdisjoint(arguments_of(launch))
        launch_of_benchmark = with_arguments(launch, *arguments, *amount, "--exact", "--", work.name, stdout=True)
        return self.with_still_clock(launch_of_benchmark, replace(work, still=still))

    def samples(self, measured: Measured, work: Work) -> tuple[Sample, ...]:
        """Return the median of its samples; raises LaunchError if it is missing, another benchmark's, or no time."""
        printed = printed_by(measured)
        row = only_row(rows_in(printed), printed, work.name)
        if row.loops != row.samples * work.loops:
            raise LaunchError(
                f"ran {count(row.loops, 'iteration')} in {count(row.samples, 'sample')}, where samples of "
                f"{work.loops:,} were asked for"
            )
        if row.median_ns < _SHORTEST_NS and work.loops >= _SURE_LOOPS:
            raise VanishedError(
                f"took {row.median_ns:g} ns an iteration, less than Divan can tell from an empty loop: does the "
                "compiler remove its body?"
            )
        return self.without_waits([sample_of(work.loops, row.median_ns * work.loops)], work)

    def processed(self, measured: Measured, work: Work) -> dict[str, float]:
        """Return what its counters say."""
        return next((row.processed for row in rows_in(printed_by(measured)) if row.name == work.name), {})

    def amount_error(self, measured: Measured) -> float:
        """Return what the four digits of a rate, and those of a time, leave open."""
        return 2 * 0.0005


def rows_in(text: str) -> list[Row]:
    """Return the benchmarks in what Divan printed, by their whole names, with the amounts that their counters tell."""
    path, width, rows = list[str](), 0, list[Row]()
    for line in text.splitlines():
        if header := _HEADER.search(line):
            path, width = [line[: header.start()].strip()], header.start()
        elif branch := _BRANCH.match(line):
            # What the benchmark itself prints follows the name on its line.
            del path[1 + len(branch[1]) // 3 :]
            path.append(line[branch.start(2) : width].strip())
        if times := _TIMES.search(line[-_MOST_TIMES:]):
            rows.append(_row("::".join(path), times.groups()))
        elif rows and (rates := _RATES.search(line[-_MOST_TIMES:])):
            rows[-1] = replace(rows[-1], processed={**rows[-1].processed, **_counted(rows[-1], rates)})
    return rows


def _counted(row: Row, rates: re.Match[str]) -> dict[str, float]:
    """Return what a counter counts in an iteration, a whole number, from its rate at the median (four digits)."""
    number, prefix, binary, unit = rates.groups()
    try:
        rate = float(number) * (1024 if binary else 1000) ** _PREFIXES.index(prefix or " ")
    except ValueError:
        return {}
    return amounts({_COUNTERS[unit]: nearest_whole(rate * row.median_ns / 1e9)})


def _row(name: str, columns: tuple[str, ...]) -> Row:
    try:
        _, _, median, _ = (float(columns[column]) * _UNITS[columns[column + 1]] for column in range(0, 8, 2))
    except ValueError as error:
        raise LaunchError(f"gave {shown(name)} a time that is no number: {shown(' '.join(columns))}") from error
    return Row(name, median, int(columns[8]), int(columns[9]))


def only_row(rows: list[Row], printed: str, name: str) -> Row:
    """Return the row of the requested benchmark; raises LaunchError, with the reason, unless it is the only one."""
    names = [row.name for row in rows]
    threads = [one.removeprefix(f"{name}::") for one in names]
    if threads and all(map(_THREADS.fullmatch, threads)):
        raise LaunchError(
            f"runs {shown(name)} with several numbers of threads ({', '.join(threads)}): choose one with --threads N "
            "at the end of the command"
        )
    if not rows and _IGNORED in printed:
        raise LaunchError(f"ignores {shown(name)}: to run what is ignored put --include-ignored after the command")
    if not rows and any(map(_HEADER.search, printed.splitlines())):
        raise LaunchError(f"gave no times of {shown(name)}: was its table cut off, or does it not use its Bencher?")
    check_only(names, name)
    if len(rows) > 1:
        raise SelectionError(
            f"gave {len(rows)} rows of times for {shown(name)}: each benchmark needs a name of its own"
        )
    return rows[0]
