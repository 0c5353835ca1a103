"""Commands that are programs of a harness, but measured whole: they take the time that it gives its benchmarks."""

from __future__ import annotations

import numpy as np

from steelyard.design.findings import some_names
from steelyard.design.runner.draws import draw_pair
from steelyard.design.runner.failure import TookTooLongError
from steelyard.model.errors import SteelyardError, UsageError
from steelyard.model.findings import Finding
from steelyard.model.records import Run, Weighing
from steelyard.model.subject import Subject
from steelyard.subjects.command import launch_spec, subject_in_layout
from steelyard.subjects.harness import AUTO, recognised_harness
from steelyard.subjects.responses import runs_pytest

INSIDE = "benchmarks-inside"
# Harnesses run a benchmark for half a second or more, and a quick look by our own takes this long to start; a command
# that ends sooner was not asked to measure.
_SHORTEST_LAUNCH_NS = 150_000_000
# Without these words, programs of these harnesses run their tests, and a benchmark once or not at all.
_BENCHMARK_OPTIONS = {"go": "-test.bench", "criterion": "--bench", "divan": "--bench"}
_HARNESS_REMEDY = f"--harness {AUTO} measures the benchmarks inside them"
# With these, pytest-benchmark runs each body once, or not at all.
_OPTIONS_WITHOUT_MEASURING = ("--benchmark-disable", "--benchmark-skip")


def with_benchmarks_inside(record: Weighing | Run) -> Weighing | Run:
    """Return the record, with a finding if a harness knows all of its commands and they ran as long as benchmarks do.

    Nothing is run for that, but all harnesses are loaded, so commands that end at once are not looked at.
    """
    launches = record.launches
    is_known = any(finding.code == INSIDE for finding in record.findings)
    if (
        is_known
        or not len(launches)
        or np.median(launches.taken_ns()) < _SHORTEST_LAUNCH_NS
        or not (name := _common_harness(record))
    ):
        return record
    commands = dict.fromkeys(one.command for one in record.subjects)
    finding = Finding(
        code=INSIDE,
        message=f"this measures whole programs of the harness {name}, {_describe_launches(name, record)}: "
        f"{some_names([*commands])}",
        remedy=_HARNESS_REMEDY,
    )
    return record.with_findings([finding])


def _describe_launches(name: str, record: Weighing | Run) -> str:
    option = _BENCHMARK_OPTIONS.get(name)
    if option is None or any(one.startswith(option) for subject in record.subjects for one in subject.argv):
        return "which gives each benchmark about the same time, however fast it is"
    return f"which measures no benchmark without {option}, but tests"


def with_harness_hint(sentence: str, record: Weighing | Run) -> str:
    """Return a sentence about commands that take long, with another one if a harness knows all of them."""
    name = _common_harness(record)
    return f"{sentence.rstrip('.')}. They are programs of the harness {name}: {_HARNESS_REMEDY}" if name else sentence


def with_harness_hint_if_too_long(error: SteelyardError | None, record: Weighing | Run) -> SteelyardError | None:
    """Return the error, with what is inside commands that took too long before anything was measured."""
    if not isinstance(error, TookTooLongError) or len(record.launches):
        return error
    return TookTooLongError(with_harness_hint(str(error), record), error.subject)


def _common_harness(record: Weighing | Run) -> str | None:
    """Return the one harness that knows all commands of a record; None if there is none, or they do not measure."""
    if not _are_launched_to_measure(record):
        return None
    draw = draw_pair(record.settings.seed, 0, 0)
    subjects = [subject_in_layout(one, 1) for one in record.subjects]
    try:
        name = recognised_harness([launch_spec(one, record.settings, {}, draw) for one in subjects])
    except UsageError:  # of none, or of several
        return None
    return None if name == "protocol" and any(map(_gives_no_time, record.subjects)) else name


def _gives_no_time(subject: Subject) -> bool:
    """Whether a program with our benchmarks gives them no time: a test with `weigh`, or what only declares them."""
    is_script = any(word.endswith(".py") for word in subject.argv) and "steelyard.harness" not in subject.argv
    return is_script or runs_pytest(subject.argv)


def _are_launched_to_measure(record: Weighing | Run) -> bool:
    """Whether commands were launched as they stand, and none of them is told not to measure."""
    if record.settings.harness is not None or record.settings.repeat > 1:
        return False
    return not any(one.shell or set(_OPTIONS_WITHOUT_MEASURING) & set(one.argv) for one in record.subjects)
