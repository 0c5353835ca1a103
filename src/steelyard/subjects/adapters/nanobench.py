"""nanobench: a library without a main function, so the program itself chooses and renders (docs/adapters)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from steelyard.model.errors import LaunchError, SelectionError, UsageError
from steelyard.subjects.harness import Listed, Work
from steelyard.subjects.responses import (
    RESULTS_FILE,
    amounts,
    arguments_of,
    check_name,
    check_only,
    checked_list,
    file_holds,
    is_number,
    parse_integer,
    printed_by,
    quoted,
    results_of,
    sample_of,
    shown,
    whole_loops,
    with_arguments,
)
from steelyard.subjects.still_clock import StillHarness

if TYPE_CHECKING:
    from steelyard.model.launch_spec import LaunchSpec
    from steelyard.model.measured import Measured
    from steelyard.model.rows import Sample

# In the user's command: the places for a benchmark's name and for the file that `templates::json()` is rendered to.
BENCHMARK, RESULTS = "{benchmark}", "{results}"

# A part of the text of `templates::json()`.
_SIGN = b"{{medianAbsolutePercentError(elapsed)}}"

# Where the output of `templates::json()` begins, perhaps among the tables that nanobench prints.
_BEGINNING = re.compile(r'\{\s*"results": \[')

# The names of this unit in nanobench's own examples.
_BYTES = ("byte", "bytes", "B")

# nanobench writes strings into JSON without escaping them, and numbers as C++ prints them.
_HINT = "has a name or a title of a benchmark a quotation mark in it?"


@dataclass(frozen=True)
class Result:
    """One benchmark that ran, with all its epochs."""

    name: str
    samples: tuple[Sample, ...]
    processed: dict[str, float] = field(default_factory=dict)
    """How much an iteration processes, by unit, as far as the program tells."""


class Nanobench(StillHarness):
    """Drives programs with nanobench in them; an epoch is a sample, and the program says how many there are."""

    fixes_loops = False
    samples_a_launch = 11
    """nanobench's default; a launch has as many as the program says."""

    def recognises(self, launch: LaunchSpec) -> bool:
        """Return whether the program renders nanobench's JSON."""
        return file_holds(launch.program, _SIGN)

    def listing(self, launch: LaunchSpec) -> LaunchSpec:
        """Return the launch that runs all benchmarks, for which an empty name stands.

        Raises UsageError for a command without a place for a name.
        """
        arguments = arguments_of(launch)
        if not any(BENCHMARK in argument for argument in arguments):
            raise UsageError(
                f"--harness nanobench: {shown(' '.join(arguments))} has no place for a benchmark's name: write "
                f"{BENCHMARK} where it goes, as in './bench {BENCHMARK}' (docs/adapters/nanobench.md)"
            )
        return _with_nanobench_arguments(launch, "")

    def listed(self, measured: Measured) -> list[Listed]:
        """Return the benchmarks that ran, in their order; raises LaunchError if there are no results.

        A name that several have is listed once, and is an error when it is run.
        """
        return checked_list(map(Listed, dict.fromkeys(one.name for one in results_from(_rendered(measured)))))

    def running(self, launch: LaunchSpec, work: Work) -> LaunchSpec:
        """Return the launch that does the work."""
        return self.with_still_clock(_with_nanobench_arguments(launch, work.name), work)

    def samples(self, measured: Measured, work: Work) -> tuple[Sample, ...]:
        """Return its epochs; raises LaunchError for anything else."""
        results = results_from(_rendered(measured))
        check_only((result.name for result in results), work.name)
        if len(results) > 1:
            raise SelectionError(f"ran {shown(work.name)} {len(results)} times: each benchmark needs a name of its own")
        return self.without_waits(results[0].samples, work)

    def processed(self, measured: Measured, work: Work) -> dict[str, float]:
        """Return what its code says by `batch` and `unit`."""
        return results_from(_rendered(measured))[0].processed


def _with_nanobench_arguments(launch: LaunchSpec, name: str) -> LaunchSpec:
    arguments = (argument.replace(RESULTS, RESULTS_FILE).replace(BENCHMARK, name) for argument in arguments_of(launch))
    return with_arguments(
        replace(launch, argv=tuple(argument.encode(errors="surrogateescape") for argument in arguments)), stdout=True
    )


def _rendered(measured: Measured) -> str:
    """Return what the program wrote to the file of results, or else what it printed."""
    return results_of(measured).decode(errors="replace") or printed_by(measured)


def results_from(text: str) -> list[Result]:
    """Return all results that `templates::json()` rendered, once or more, whatever is printed in between.

    Raises LaunchError if there are none.
    """
    results = [result for report in _reports(text) for result in _results_of(report)]
    if not results:
        raise LaunchError(
            "rendered no results of nanobench: render templates::json() to standard output or to the file "
            f"{RESULTS_FILE} (docs/adapters/nanobench.md)"
        )
    return results


def _reports(text: str) -> Iterator[Any]:
    decoder, end = json.JSONDecoder(parse_int=parse_integer), 0
    while begins := _BEGINNING.search(text, end):
        try:
            report, end = decoder.raw_decode(text, begins.start())
        except (ValueError, RecursionError) as error:
            raise LaunchError(
                f"rendered JSON that is none, or was cut ({_HINT}): {quoted(text[begins.start() :])}"
            ) from error
        yield report


def _results_of(report: dict[str, Any]) -> Iterator[Result]:
    for result in report["results"]:
        if not isinstance(result, dict):
            raise LaunchError(f"rendered a result that is no object: {shown(result)}")
        name = check_name(result.get("name"))
        epochs = result.get("measurements")
        if not isinstance(epochs, list) or not epochs or not all(isinstance(epoch, dict) for epoch in epochs):
            raise LaunchError(f"rendered {shown(name)} without its measurements: use templates::json() as it is")
        yield Result(name, tuple(_sample(epoch) for epoch in epochs), _processed(result))


def _processed(result: dict[str, Any]) -> dict[str, float]:
    """Return what the code says by batch and unit; a batch of 1 is the default, and says nothing."""
    batch, unit = result.get("batch"), result.get("unit")
    return {} if batch == 1 else amounts({"bytes" if unit in _BYTES else "items": batch})


def _sample(epoch: dict[str, Any]) -> Sample:
    """Return the sample of an epoch, whose time is that of one iteration, in seconds."""
    # Large numbers are rendered with six digits, as in 1.23457e+06.
    loops, seconds = whole_loops(epoch.get("iterations")), epoch.get("elapsed")
    if not isinstance(loops, int) or not is_number(seconds):
        return sample_of(loops, seconds)
    return sample_of(loops, seconds * 1e9 * loops)
