"""Go's own benchmarks: the binary that `go test -c` builds, from Go 1.20 on (docs/adapters/go.md)."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import PurePath
from statistics import median
from typing import TYPE_CHECKING

from steelyard.model.errors import LaunchError, UsageError
from steelyard.report.figures import count
from steelyard.subjects.adapters.options import check_options
from steelyard.subjects.harness import Harness, Listed, Starting, Work
from steelyard.subjects.responses import (
    MOST_BYTES,
    MOST_CHARACTERS,
    RESULTS_FILE,
    amounts,
    arguments_of,
    check_count,
    check_only,
    checked_list,
    end_of_stderr,
    end_of_stdout,
    escaped,
    file_holds,
    nearest_whole,
    printed_by,
    quoted,
    results_of,
    sample_of,
    shown,
    were_asked_for,
    with_arguments,
)

if TYPE_CHECKING:
    from steelyard.model.launch_spec import LaunchSpec
    from steelyard.model.measured import Measured
    from steelyard.model.rows import Sample

# No flag lists sub-benchmarks: they are known only once their parent has run, so each benchmark runs once. If one ends
# the process, the others are asked for in processes of their own. -test.v=test2json writes every name without the
# -GOMAXPROCS after it, and after a character that no text contains. A benchmark that fails must not fail the list.
_LIST = r"""
set -f
once() {
    pattern=$1
    shift
    "$@" -test.run '^$' -test.bench "$pattern" -test.benchtime 1x -test.count 1 -test.v=test2json
}
names=$("$@" -test.list '^Benchmark') || exit
mark=$(printf '\026')
said=$(once . "$@")
case $said in
    *"${mark}PASS"* | *"${mark}FAIL"*) printf '%s\n%s=== END   .\n' "$said" "$mark"; exit 0 ;;
esac
for name in $names; do
    case $name in
        Benchmark*) once "^$name\$" "$@"; printf '\n%s=== END   %s\n' "$mark" "$name" ;;
    esac
done
exit 0
"""
_CONTRADICTING = frozenset({"-test.list", "--test.list"})
_MARK, _RUN, _END = "\x16", "RUN", "END"
_PART = re.compile(rf"{_MARK}=== ({_RUN}|{_END}) +(\S+)\n")
_PROCS = r"(?:-[0-9]+)?"
# As Go writes it: a name and a tab, then the iterations and the values. What a program prints may come before the name
# and between the two; edited files have other white space.
_LINE = re.compile(r"(Benchmark\S*)\s+([0-9]{1,18})((?:\s+\S+\s+\S+)+)\s*")
_NAME = "Benchmark"
# A launch with few iterations ends before the runtime has done what it does once, some 6 ms after its start and for a
# ms or more. So the launch whose time is subtracted runs a part of the iterations.
_START_LOOPS, _PART_OF_LOOPS = 2, 8
# In a profile it is below whatever the goroutines of such a benchmark compute. On busy processors the times of one that
# has all of them and one that has one may be alike, and of one that waits for a lock they are.
_PARALLEL = b"testing.(*B).RunParallel"
_PROCESSORS = re.compile(rb"GOMAXPROCS=|--?test\.cpu(=|$)")
_ONE_PROCESSOR = re.compile(rb"GOMAXPROCS=1|--?test\.cpu=1")
_TIMED = re.compile(r"([0-9]{1,18})((?:\t *\S+ \S+)+)\s*")
# These are at the end of a line, which may begin with anything of any length.
_MOST_TIMED = 1000
_TIME, _RATE = "ns/op", "MB/s"
_FAILED = re.compile(r"--- FAIL: \S+\n((?:    .*\n?)+)")
_UNKNOWN_FLAG = re.compile(r"^flag provided but not defined: \S+", re.MULTILINE)
PANIC = re.compile(r"^(?:panic|fatal error): .*", re.MULTILINE)
_META = re.compile(r"[\\.+*?()|\[\]{}^$]")


@dataclass(frozen=True)
class GoResult:
    """A line of results: the name as printed (with -GOMAXPROCS), the iterations, and the values by unit."""

    name: str
    loops: int
    values: dict[str, float]


class Go(Harness):
    """Drives the test binaries of Go packages."""

    tells = frozenset({"active", "cpu"})
    times_processes = True
    lists_by_running = True

    def recognises(self, launch: LaunchSpec) -> bool:
        """Return whether the program is a test binary: only these contain the parts of package testing that run one."""
        return file_holds(launch.program, b"\xff Go buildinf:", b"testing.(*M).Run", b"testing.(*B).runN")

    def listing(self, launch: LaunchSpec) -> LaunchSpec:
        """Return the launch that runs every benchmark once; raises UsageError for flags that would choose for us."""
        arguments = arguments_of(launch)
        if PurePath(arguments[0]).name == "go":
            raise UsageError(
                "`go test` would build again in each launch: build once, with go test -c, and give the result"
            )
        if any(re.fullmatch(r"--?test\.bench(=.*)?", argument) for argument in arguments[1:]):
            raise UsageError(
                "-test.bench is steelyard's to give: choose with --benchmark, or leave out with -test.skip"
            )
        check_options(launch, _CONTRADICTING)
        return replace(
            with_arguments(launch, stdout=True),
            program=b"/bin/sh",
            argv=(b"sh", b"-c", _LIST.encode(), b"sh", launch.program, *launch.argv[1:]),
            stderr=MOST_BYTES,  # what is wrong with a flag comes first
        )

    def listed(self, measured: Measured) -> list[Listed]:
        """Return the benchmarks that gave a result or failed, in their order, without those that skipped themselves."""
        return checked_list(map(Listed, names_in(printed_by(measured))))

    def complaint(self, measured: Measured) -> str | None:
        """Return what it said by b.Fatal or b.Error, or why it panicked, rather than the end of a stack trace.

        Of a flag that it does not know it says so before its usage, which is long.
        """
        if unknown := _UNKNOWN_FLAG.search(end_of_stderr(measured)):
            return f"says: {unknown[0][:MOST_CHARACTERS]} (go test's own flags begin with -test. here, as in -test.cpu)"
        failed = _FAILED.search(end_of_stdout(measured))
        panic = PANIC.search(end_of_stderr(measured))
        message = " ".join(failed[1].split()) if failed else panic[0] if panic else None
        return message and f"says: {message[:MOST_CHARACTERS]}"

    def starting(self, launch: LaunchSpec, work: Work) -> Starting | None:
        """Return the launch with fewer iterations a sample; None if the user says how many processors Go may use."""
        words_given = [*launch.env, *launch.argv[1:]]
        if any(_PROCESSORS.match(word) and not _ONE_PROCESSOR.fullmatch(word) for word in words_given):
            return None
        # With one iteration Go would take the time of its first try, which comes before all others.
        few, part = _START_LOOPS, max(_START_LOOPS, work.loops // _PART_OF_LOOPS)
        first, spec = (self.running(launch, replace(work, loops=loops)) for loops in (few, part))
        return Starting(spec, part, first)

    def running(self, launch: LaunchSpec, work: Work) -> LaunchSpec:
        """Return the launch that does the work; if timed by its process, with one processor for Go.

        With more, the garbage collections before each sample, which use all of them, take varying amounts of time.
        """
        pattern = "/".join(f"^{escaped(element, _META)}$" for element in work.name.split("/"))
        return with_arguments(
            launch,
            *("-test.run", "^$", "-test.bench", pattern),
            *("-test.skip", f"{pattern}/"),  # X/a would also run X/a/b, which is another benchmark
            *("-test.benchtime", f"{work.loops}x", "-test.count", str(work.samples)),
            *(("-test.cpuprofile", RESULTS_FILE) if work.tries_process and self._may_be_parallel(launch) else ()),
            env={"GOMAXPROCS": "1"} if work.by_process else None,
            stdout=True,
        )

    def _may_be_parallel(self, launch: LaunchSpec) -> bool:
        """Return whether a program may run any in parallel; Go leaves out the functions that nothing calls."""
        if any(map(_ONE_PROCESSOR.fullmatch, [*launch.env, *launch.argv[1:]])):
            return False
        return not self.recognises(launch) or file_holds(launch.program, _PARALLEL)

    def samples(self, measured: Measured, work: Work) -> tuple[Sample, ...]:
        """Return all samples that the launch took; raises LaunchError for anything else."""
        if work.tries_process and _PARALLEL in _unpacked(results_of(measured)):
            raise LaunchError(f"runs {shown(work.name)} by b.RunParallel, which one processor would change")
        results = results_in(printed_by(measured))
        if not results:
            raise LaunchError(
                f"gave no result of {shown(work.name)}: did it skip itself (b.Skip), hide its "
                'time (b.ReportMetric(0, "ns/op")), panic, or end its process?'
            )
        # It was selected by its whole name, so what follows that is the number of processors, which Go adds.
        own_name = re.compile(re.escape(work.name) + _PROCS)
        check_only((work.name if own_name.fullmatch(result.name) else result.name for result in results), work.name)
        if len({result.name for result in results}) > 1:
            raise LaunchError("ran with several numbers of processors: give -test.cpu just one")
        return check_count(tuple(_sample(result, work) for result in results), work.samples)

    def processed(self, measured: Measured, work: Work) -> dict[str, float]:
        """Return what b.SetBytes says."""
        return processed_in(results_in(printed_by(measured)))

    def amount_error(self, measured: Measured) -> float:
        """Return what the two decimals of a rate, and the whole ns or the four digits of a time, leave open."""
        told = [one.values for one in results_in(printed_by(measured)) if one.values.get(_RATE, 0) > 0]
        return max((0.005 / one[_RATE] + min(0.5 / one[_TIME], 0.0005) for one in told if one[_TIME] > 0), default=0.0)


def _unpacked(profile: bytes) -> bytes:
    """Return the contents of a profile; nothing of one that is missing or cut."""
    try:
        return gzip.decompress(profile)
    except (OSError, EOFError, zlib.error):
        return b""


def processed_in(results: Iterable[GoResult]) -> dict[str, float]:
    """Return the bytes of an iteration, a whole number, computed from rates that are printed with two decimals."""
    amounts_told = [result.values[_RATE] * result.values[_TIME] / 1e3 for result in results if _RATE in result.values]
    return amounts({"bytes": nearest_whole(median(amounts_told))}) if amounts_told else {}


def names_in(text: str) -> list[str]:
    """Return the whole names of the benchmarks in what `listing` printed; raises LaunchError for anything else."""
    parts = list(_parts(text))
    if not parts:
        return []
    if parts[-1][0] != _END:
        raise LaunchError(f"cut its list off: {quoted(text[-MOST_CHARACTERS:])}")
    if len({kind for kind, _, _ in parts}) == 1 and not _has_ended(text):
        raise LaunchError(
            f"began no benchmark when it was asked to (-test.v=test2json): {quoted(text.strip())}; build it with go "
            "test -c of Go 1.20, or of a newer one"
        )
    return [
        name
        for (kind, name, output), (following, _, _) in pairwise(parts)
        if kind == _RUN and (_has_result(name, output) or (following == _END and not _has_ended(output)))
    ]


def _parts(text: str) -> Iterator[tuple[str, str, str]]:
    """Return (_RUN or _END, name, the text up to the next one) for each part."""
    pieces = _PART.split(text)
    return zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True)


def _has_result(name: str, output: str) -> bool:
    """Return whether it gave a result or failed, and so is a benchmark, neither a parent of others nor skipped."""
    result_line = re.escape(name) + _PROCS
    return bool(re.search(rf"{result_line} *\t *[0-9]+(?:\t|$)|{_MARK}--- FAIL: {result_line}$", output, re.MULTILINE))


def _has_ended(output: str) -> bool:
    """Return whether the process ran to its end; else the benchmark that ended it will say why in its own launches."""
    return f"{_MARK}PASS" in output or f"{_MARK}FAIL" in output


def results_in(text: str) -> list[GoResult]:
    """Return the results in what benchmarks printed; lines without a time (ns/op) are no results."""
    results = []
    name = ""
    for line in text.split("\n"):
        if (whole := _LINE.fullmatch(line)) and (values := _values(whole[3])):
            results.append(GoResult(whole[1], int(whole[2]), values))
            name = ""
            continue
        name = _name_in(line) or name
        if name and (timed := _timed(line)):
            results.append(GoResult(name, *timed))
            name = ""
    return results


def untimed_in(text: str) -> list[str]:
    """Return the benchmarks whose lines have numbers but no readable time: only metrics of their own."""
    lines = filter(None, map(_LINE.fullmatch, text.split("\n")))
    return [whole[1] for whole in lines if whole[3].split()[0][:1].isdigit() and not _values(whole[3])]


def _name_in(line: str) -> str:
    """Return the last name before a tab; empty if there is none."""
    for before in reversed(line.split("\t")[:-1]):
        last = before.rstrip(" ").split(" ")[-1]
        if (begins := last.find(_NAME)) >= 0 and not any(map(str.isspace, last[begins:])):
            return last[begins:]
    return ""


def _timed(line: str) -> tuple[int, dict[str, float]] | None:
    """Return the iterations and values at the end of a line; None if there are none."""
    line = line[-_MOST_TIMED:]
    for start in re.finditer(r"(?<![0-9])[0-9]", line):
        if (match := _TIMED.fullmatch(line, start.start())) and (values := _values(match[2])):
            return int(match[1]), values
    return None


def _values(text: str) -> dict[str, float]:
    """Return the values by unit; none if there is no time among them."""
    columns = text.split()
    try:
        values = {unit: float(value) for value, unit in zip(columns[::2], columns[1::2], strict=True)}
    except ValueError:
        return {}
    return values if _TIME in values else {}


def _sample(result: GoResult, work: Work) -> Sample:
    if result.loops != work.loops:
        skipped = "" if result.loops else ": it skipped itself (b.Skip), though not the first time"
        raise LaunchError(f"ran {count(result.loops, 'iteration')} where {were_asked_for(work.loops)}{skipped}")
    return sample_of(result.loops, result.values[_TIME] * result.loops)
