"""pyperf (Python): a script with a `pyperf.Runner`, run as `python bench.py`, or `python -m pyperf timeit CODE`."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.model.errors import LaunchError, UsageError
from steelyard.subjects.adapters.options import check_options
from steelyard.subjects.harness import Listed, Work
from steelyard.subjects.responses import (
    arguments_of,
    check_count,
    check_only,
    checked_list,
    end_of_stdout,
    file_holds,
    file_written,
    is_number,
    json_of,
    quoted,
    results_of,
    sample_of,
    scripts_of,
    shown,
    with_arguments,
)
from steelyard.subjects.still_clock import StillHarness

if TYPE_CHECKING:
    from steelyard.model.launch_spec import LaunchSpec
    from steelyard.model.measured import Measured
    from steelyard.model.rows import Sample

_FD = 3
# No script has this many tasks, so it runs none.
_NO_TASK = 1 << 30
# Options that pyperf's manager follows, which no worker has.
_ABOUT_PYTHON = ("--python", "--compare-to")
# With these a worker writes to another file, takes other numbers of samples, times a profiler, or none.
_CONTRADICTING = frozenset(
    {"-o", "--output", "--pipe", "--fast", "--rigorous", "--debug-single-value", "--profile", "-h", "--help"}
)
_MODULE = [("-m", "pyperf"), ("pyperf", "timeit")]

_Command = tuple[bytes, tuple[bytes, ...], bytes | None]
_Tasks = dict[str, tuple[int, int]]
# By command: each benchmark's number, which is all that a worker of pyperf can be told, and its inner loops. The trials
# and the weighing have a new harness each, which this outlives.
_tasks: dict[_Command, _Tasks] = {}


class Pyperf(StillHarness):
    """Drives pyperf's workers as its own manager does: one benchmark per process, by its number in the script."""

    lists_first = True

    def __init__(self) -> None:
        self._command: _Command | None = None

    def recognises(self, launch: LaunchSpec) -> bool:
        """Return whether the command is a script that uses pyperf's Runner, or `pyperf timeit`."""
        script = next(iter(scripts_of(launch).values()), None)
        return (script is not None and file_holds(script, b"pyperf", b"Runner")) or (
            [pair for pair in pairwise(arguments_of(launch)) if pair in _MODULE] == _MODULE
        )

    def listing(self, launch: LaunchSpec) -> LaunchSpec:
        """Return the launch that runs one iteration of every benchmark, as pyperf tells their names in no other way.

        Raises UsageError for an option that names another Python, which would have no effect, or contradicts ours.
        """
        words = [argument.partition("=")[0] for argument in arguments_of(launch)[1:]]
        if option := next((word for word in words if word in _ABOUT_PYTHON), None):
            raise UsageError(
                f"{option} has no effect here, as steelyard starts pyperf's workers itself, by the command as it is: "
                "leave it out, and begin each side's command with its own Python"
            )
        check_options(launch, _CONTRADICTING)
        self._list.unlink(missing_ok=True)
        self._command = _command(launch)
        # To a file, as a worker writes only one benchmark into a pipe.
        return with_arguments(
            launch, "--worker", "--loops=1", "--values=1", "--warmups=0", f"--append={self._list}", stdout=True
        )

    def listed(self, measured: Measured) -> list[Listed]:
        """Return the benchmarks that ran, in their order; raises LaunchError if there is no list of them."""
        results = results_in(file_written(self._list) if self._list.exists() else b"")
        benchmarks = checked_list(Listed(result.name) for result in results)
        if self._command is not None:
            _tasks.pop(self._command, None)  # so that the latest one is last
            _tasks[self._command] = {result.name: (task, result.inner_loops) for task, result in enumerate(results)}
        return benchmarks

    def complaint(self, measured: Measured) -> str | None:
        """Return what pyperf prints about arguments that it does not accept."""
        lines = end_of_stdout(measured).splitlines()
        error_line = next((line for line in lines if line.startswith("ERROR: ")), None)
        return None if error_line is None else f"says: {error_line.removeprefix('ERROR: ')[:300]}"

    def running(self, launch: LaunchSpec, work: Work) -> LaunchSpec:
        """Return the launch that runs one benchmark as a worker."""
        task, inner_loops = _tasks_of(_command(launch), work.name).get(work.name, (_NO_TASK, 1))
        arguments = (f"--worker-task={task}", f"--loops={-(-work.loops // inner_loops)}", f"--values={work.samples}")
        return self.with_still_clock(
            with_arguments(launch, "--worker", *arguments, "--warmups=0", f"--pipe={_FD}", stdout=True), work
        )

    def samples(self, measured: Measured, work: Work) -> tuple[Sample, ...]:
        """Return a sample for each value; raises LaunchError for anything else."""
        written = results_of(measured)
        results = results_in(written) if written.strip() else []
        check_only((result.name for result in results), work.name)
        if len(results) > 1:
            raise LaunchError(f"ran {shown(work.name)} {len(results)} times in one launch")
        return self.without_waits(check_count(results[0].samples(), work.samples), work)

    @cached_property
    def _list(self) -> Path:
        return self.scratch("pyperf") / "list.json"


def _command(launch: LaunchSpec) -> _Command:
    return launch.program, launch.argv, launch.cwd


def _tasks_of(command: _Command, name: str) -> _Tasks:
    """Return the tasks of a command; for one that was not listed, such as another layout's, the latest with the name.

    Should its order be different, its answer has another name, which is noticed.
    """
    listed = (tasks for tasks in reversed(_tasks.values()) if name in tasks)
    return _tasks.get(command) or next(listed, {})


class Result(NamedTuple):
    """One run of a benchmark in pyperf's results: a process, with the times of an inner loop, in s."""

    name: str
    unit: str
    loops: int
    inner_loops: int
    values: list[Any] | array[float]

    def samples(self) -> tuple[Sample, ...]:
        """Return a sample for each value, of loops times inner loops; raises LaunchError for what is no time."""
        if self.unit != "second":
            raise LaunchError(f"measured {shown(self.name)} in {shown(self.unit)}s, which is no time")
        return tuple(_sample(self.loops * self.inner_loops, value) for value in self.values)


def _sample(loops: int, seconds: Any) -> Sample:
    return sample_of(loops, seconds * loops * 1e9 if is_number(seconds) else seconds)


def results_in(text: bytes | str) -> list[Result]:
    """Return the runs in pyperf's JSON, in its order; raises LaunchError for anything else."""
    return results_of_json(json_of(text, "file of pyperf's results"), lambda: text)


def results_of_json(report: Any, text: Callable[[], bytes | str]) -> list[Result]:
    """Return the runs in pyperf's parsed JSON; raises LaunchError, which quotes its `text`, for other JSON."""
    try:
        return list(_results(report))
    except (AttributeError, KeyError, TypeError) as error:
        raise LaunchError(f"wrote JSON that is no file of pyperf's results: {quoted(text())}") from error


def _results(report: dict[str, Any]) -> Iterator[Result]:
    shared = report.get("metadata") or {}
    for benchmark in report["benchmarks"]:
        metadata = {"loops": 1, "inner_loops": 1, "unit": "second", **shared, **(benchmark.get("metadata") or {})}
        defaults = metadata["loops"], metadata["inner_loops"], metadata["unit"]
        for run in benchmark["runs"]:
            # Merging both into one dictionary took an eighth of the time of parsing everything, with 20,000 processes.
            run_metadata = run.get("metadata") or {}
            loops, inner_loops = run_metadata.get("loops", defaults[0]), run_metadata.get("inner_loops", defaults[1])
            if type(loops) is not int or type(inner_loops) is not int or loops < 1 or inner_loops < 1:
                raise LaunchError(
                    f"wrote {shown(loops)} loops and {shown(inner_loops)} inner loops, not integers above 0"
                )
            values = run.get("values") or []
            values = values if isinstance(values, list | array) else list(values)
            name = run_metadata["name"] if "name" in run_metadata else metadata["name"]
            unit = run_metadata.get("unit", defaults[2])
            yield Result(str(name), str(unit), loops, inner_loops, values)
