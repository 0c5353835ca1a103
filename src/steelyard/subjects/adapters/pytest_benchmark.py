"""pytest-benchmark: tests that use its fixture `benchmark`, run as `python -m pytest bench/`."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.model.errors import LaunchError
from steelyard.subjects.fixtures import BENCHMARK, tests_take
from steelyard.subjects.forked import split_processes
from steelyard.subjects.harness import Harness, Listed, Work
from steelyard.subjects.responses import (
    MOST_CHARACTERS,
    RESULTS_FILE,
    check_only,
    checked_list,
    is_number,
    is_skipped,
    json_of,
    objects_in,
    quoted,
    refused_by_pytest,
    results_of,
    sample_of,
    shown,
    with_arguments,
    with_order,
)

if TYPE_CHECKING:
    from steelyard.model.launch_spec import LaunchSpec
    from steelyard.model.measured import Measured
    from steelyard.model.rows import Sample

_PLUGIN = Path(__file__).with_name("in_pytest")
_ORDER = "STEELYARD_BENCHMARK"
_USAGE = 4
"""pytest's exit status for a command line that it cannot follow."""
_MEASURING = ("--benchmark-only", "--benchmark-enable", "--benchmark-timer=steelyard_in_pytest.clock")


class PytestBenchmark(Harness):
    """Drives pytest with our plugin in in_pytest/, which pytest finds through PYTHONPATH."""

    shares_starts = True
    keeps_step = True
    out_of_step = "it chooses its rounds itself, or times them by another clock"

    def recognises(self, launch: LaunchSpec) -> bool:
        """Return whether the command is pytest on tests that use `benchmark`."""
        return tests_take(launch, BENCHMARK)

    def listing(self, launch: LaunchSpec) -> LaunchSpec:
        """Return the launch that lists the tests that use the fixture."""
        return _with_plugin(launch, {})

    def listed(self, measured: Measured) -> list[Listed]:
        """Return the tests by their node ids, in pytest's order; raises LaunchError for anything else than a list."""
        written = results_of(measured)
        report = json_of(written, "list of tests")
        try:
            listed = [Listed(test["name"], tuple(test["tags"]), dict(test["params"])) for test in report["benchmarks"]]
        except (KeyError, TypeError, ValueError) as error:
            raise LaunchError(f"wrote what is no list of tests: {quoted(written)}") from error
        return checked_list(listed)

    def complaint(self, measured: Measured) -> str | None:
        """Return what the plugin says: the exception of a test, or what pytest lacks or refuses."""
        errors = (told.get("error") for told in objects_in(measured))
        if error := next((error for error in errors if isinstance(error, str)), None):
            return f"says: {error}"
        if b"No module named 'steelyard_in_pytest'" in (measured.stderr or b""):  # tracebacks name its files, too
            return (
                "does not find Steelyard's plugin: does it start Python with -I or -E, which leave PYTHONPATH out? Or "
                "does it set PYTHONPATH itself? Then leave that to --env PYTHONPATH=FOLDER"
            )
        refused = refused_by_pytest(measured.stderr or b"") if measured.exit_code == _USAGE else ""
        return f"says: {refused[:MOST_CHARACTERS]}" if refused else None

    def skips(self, measured: Measured) -> bool:
        """Return whether a launch failed because the benchmark skips itself, as its complaint says."""
        return is_skipped(measured)

    def running(self, launch: LaunchSpec, work: Work) -> LaunchSpec:
        """Return the launch that runs one test."""
        launch_of_test = _with_plugin(launch, _order(work), *_MEASURING, f"--benchmark-json={RESULTS_FILE}")
        return replace(launch_of_test, lockstep=bool(work.orders))

    def running_each(self, launch: LaunchSpec, works: Sequence[Work]) -> LaunchSpec:
        """Return the launch that loads the tests, and runs each in a process forked from there."""
        launch_of_tests = _with_plugin(launch, {"each": [_order(work) for work in works]}, *_MEASURING)
        return replace(launch_of_tests, lockstep=bool(works[0].orders))

    def apart(self, measured: Measured, works: Sequence[Work]) -> list[Measured]:
        """Return what each of them measured; raises LaunchError for anything else."""
        lines = [json_of(line, "line of results") for line in results_of(measured).splitlines()]
        return split_processes(measured, lines, len(works))

    def samples(self, measured: Measured, work: Work) -> tuple[Sample, ...]:
        """Return a sample for each round; raises LaunchError for anything else."""
        written = results_of(measured)
        if not written.strip():
            raise LaunchError(f"measured nothing: the test {shown(work.name)} never called benchmark()")
        results = results_in(written)
        check_only((result.name for result in results), work.name)
        # Their number is not checked: a test may choose it by benchmark.pedantic(...).
        return results[0].samples()


@dataclass(frozen=True)
class Result:
    """One test in pytest-benchmark's results: its node id, and for each round the time of an iteration, in s."""

    name: str
    iterations: int
    data: tuple[Any, ...]
    scheduled: tuple[Any, ...] = ()
    """For each round, and before them those of a warm-up: [ns on a processor, ns waiting for one, order in its turn].

    Empty if our plugin could not tell."""

    def samples(self) -> tuple[Sample, ...]:
        """Return a sample for each round; raises LaunchError for what is no time."""
        # Rounds of a warm-up (`pedantic`) come first, and are told of only by our plugin.
        warm_up = len(self.scheduled) - len(self.data)
        scheduled = self.scheduled[warm_up:] if warm_up >= 0 else [()] * len(self.data)
        both = zip(self.data, scheduled, strict=True)
        samples = tuple(_sample(self.iterations, seconds, *times) for seconds, times in both)
        if not samples:
            raise LaunchError(f"wrote no round of {shown(self.name)}")
        return samples


def _sample(iterations: Any, seconds: Any, cpu_ns: Any = None, delay_ns: Any = None, order: Any = None) -> Sample:
    ns = seconds * iterations * 1e9 if is_number(seconds) and type(iterations) is int else seconds
    return with_order(sample_of(iterations, ns, cpu_ns=cpu_ns, delay_ns=delay_ns), order)


def _order(work: Work) -> dict[str, Any]:
    order = {"run": work.name, "loops": work.loops, "samples": work.samples}
    return order | ({"turns": work.orders} if work.orders else {})


def results_in(text: bytes | str) -> list[Result]:
    """Return the tests in pytest-benchmark's JSON with data (--benchmark-json); raises LaunchError for other text."""
    report = json_of(text, "file of pytest-benchmark's results")
    try:
        schedules = report.get("steelyard", ())
        scheduled = tuple((cpu_ns, delay_ns, *order[:1]) for cpu_ns, delay_ns, *order in schedules)
        return [
            Result(str(entry["fullname"]), entry["stats"]["iterations"], tuple(entry["stats"]["data"]), scheduled)
            for entry in report["benchmarks"]
        ]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise LaunchError(f"wrote JSON without pytest-benchmark's data: {quoted(text)}") from error


def _with_plugin(launch: LaunchSpec, order: dict[str, Any], *arguments: str) -> LaunchSpec:
    python_path = next(
        (variable[len(b"PYTHONPATH=") :] for variable in launch.env if variable.startswith(b"PYTHONPATH=")), b""
    )
    path = os.pathsep.join(filter(None, (os.fsdecode(python_path), str(_PLUGIN))))
    env = {"PYTHONPATH": path, _ORDER: json.dumps(order)}
    return with_arguments(launch, "-p", "steelyard_in_pytest", *arguments, env=env)
