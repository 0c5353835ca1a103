"""Benchmark_O (Onone, Osize) of the Swift project's benchmark suite, by its documentation (docs/adapters/swift.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from steelyard.model.errors import LaunchError
from steelyard.report.figures import count
from steelyard.subjects.harness import Harness, Listed, Work
from steelyard.subjects.responses import (
    check_count,
    check_only,
    checked_list,
    file_holds,
    printed_by,
    quoted,
    sample_of,
    shown,
    were_asked_for,
    with_arguments,
)

if TYPE_CHECKING:
    from steelyard.model.launch_spec import LaunchSpec
    from steelyard.model.measured import Measured
    from steelyard.model.rows import Sample

# Newer drivers refuse to run without it, as benchmarks of sets and dictionaries would differ from launch to launch.
_ENVIRONMENT = {"SWIFT_DETERMINISTIC_HASHING": "1"}
# The headers of its lists: the oldest, without numbers and tags, the one with commas, and today's.
_OLDEST_HEAD, _HEADS = "Enabled Tests:", ("#,Test,[Tags]", "# Test [Tags]")
_LISTED = re.compile(r"[0-9]+[ ,](\S+?)[ ,]\[(.*)\]")
_RUNNING = re.compile(r"Running (\S+)(?: for [0-9]+ samples\.)?")
_SCALE = re.compile(r"    Measuring with scale ([0-9]{1,18})\.")
_SAMPLE = re.compile(r"    Sample ([0-9]{1,18}),(\S+)")
_SKIPPING = re.compile(r"Skipping unsupported benchmark (\S+)!")
# Older drivers truncate an iteration's time to whole µs, which is too coarse to compare below this many.
_FEWEST_WHOLE_US = 1000
# Newer ones tell whole µs of a sample, so a shorter first sample is told as 0.
_HALF_A_US = 0.5


@dataclass
class SwiftResult:
    """What --verbose told of one benchmark: the iterations of a sample, and for each sample the µs of one iteration."""

    name: str
    loops: int = 1
    samples_us: list[str] = field(default_factory=list)
    """As printed: whole numbers and those with a decimal point come from different versions."""


class Swift(Harness):
    """Drives the benchmark programs of the Swift project."""

    def recognises(self, launch: LaunchSpec) -> bool:
        """Return whether the program contains the driver's help."""
        return file_holds(
            launch.program, b"number of iterations averaged in the sample", b"number of samples to take per"
        )

    def listing(self, launch: LaunchSpec) -> LaunchSpec:
        """Return the launch that lists the benchmarks."""
        return with_arguments(launch, "--list", env=_ENVIRONMENT, stdout=True)

    def listed(self, measured: Measured) -> list[Listed]:
        """Return the listed benchmarks, in their order; raises LaunchError for anything else than a list."""
        return checked_list(listed_in(printed_by(measured)))

    def running(self, launch: LaunchSpec, work: Work) -> LaunchSpec:
        """Return the launch that does the work."""
        return with_arguments(
            launch,
            work.name,
            f"--num-iters={work.loops}",
            f"--num-samples={work.samples}",
            "--verbose",
            env=_ENVIRONMENT,
            stdout=True,
        )

    def samples(self, measured: Measured, work: Work) -> tuple[Sample, ...]:
        """Return all samples that the launch took; raises LaunchError for anything else."""
        results = results_in(printed_by(measured))
        check_only((result.name for result in results), work.name)
        if len(results) > 1:
            raise LaunchError(f"ran {shown(work.name)} more than once")
        (result,) = results
        if result.loops != work.loops:
            raise LaunchError(f"ran {count(result.loops, 'iteration')} a sample where {were_asked_for(work.loops)}")
        return check_count(tuple(_sample(text, work) for text in result.samples_us), work.samples)


def listed_in(text: str) -> Iterator[Listed]:
    """Yield the benchmarks in a list of any version; raises LaunchError for anything else."""
    head, *lines = text.strip().split("\n")
    if head == _OLDEST_HEAD:
        yield from (Listed(line.strip()) for line in lines)
        return
    if head not in _HEADS:
        raise LaunchError(f"wrote no list of Swift's benchmarks, but {quoted(text)}: is it Benchmark_O, or a like one?")
    for line in lines:
        match = _LISTED.fullmatch(line) if line.endswith("]") else None
        if not match:
            raise LaunchError(f"lists {quoted(line)}: a line has to be a number, a name, and tags in brackets")
        yield Listed(match[1], tuple(tag.strip() for tag in match[2].split(",") if tag.strip()))


def results_in(text: str) -> list[SwiftResult]:
    """Return the results in what --verbose printed; skip what the benchmarks themselves print.

    Raises LaunchError for samples that are out of order, and for a benchmark that this platform does not support.
    """
    results: list[SwiftResult] = []
    for line in text.split("\n"):
        if skipped := _SKIPPING.fullmatch(line):
            raise LaunchError(f"does not support {shown(skipped[1])} on this platform: leave it out with --benchmark")
        if running := _RUNNING.fullmatch(line):
            results.append(SwiftResult(running[1]))
        elif results and (scale := _SCALE.fullmatch(line)):
            results[-1].loops = int(scale[1])
        elif results and (sample := _SAMPLE.fullmatch(line)):
            if int(sample[1]) != len(results[-1].samples_us):
                raise LaunchError(f"gave sample {sample[1]} where {len(results[-1].samples_us)} was due")
            results[-1].samples_us.append(sample[2])
    return results


def _sample(text: str, work: Work) -> Sample:
    """Return a sample, given the µs of one of its iterations as printed."""
    try:
        us = float(text)
    except ValueError as error:
        raise LaunchError(f"gave a sample that took {quoted(text)} µs: that is no number") from error
    if text.isdecimal() and us < _FEWEST_WHOLE_US:
        raise LaunchError(
            f"told {text} µs of an iteration: this version of its driver tells whole µs only, too coarsely for what "
            f"takes less than {_FEWEST_WHOLE_US}; build it with a newer one"
        )
    if us == 0 and work.loops == work.samples == 1:
        us = _HALF_A_US
    return sample_of(work.loops, us * 1000 * work.loops)
