"""Settings for a project's benchmarks that apply to none of them."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.api.options import Options
from steelyard.design.identical import EVERY_BENCHMARK
from steelyard.model.patterns import fits, left_out_by, split_key
from steelyard.model.project_file import Project
from steelyard.model.records import Run, Weighing


def unused_notes(
    project: Project, patterns: Sequence[str], options: Options, records: Sequence[Weighing | Run]
) -> list[str]:
    """Say which margins, and which patterns of the command line, match nothing in any target's record."""
    return [*_unused_margins(project, patterns, options, records), *_unused_patterns(options, records)]


def _unused_margins(
    project: Project, patterns: Sequence[str], options: Options, records: Sequence[Weighing | Run]
) -> list[str]:
    """Say which margins match no benchmark, if everything in the file was weighed by them.

    Otherwise a misspelt name would silently be judged by the usual margin.
    """
    if patterns or options.suite.benchmark or options.suite.tag or options.judging.is_given("margin"):
        return []
    # The margin may be for one of the new benchmarks, or of a harness that failed before it named any.
    if any(record.new_suite or not record.benchmarks for record in records):
        return []
    names = [name for record in records for benchmark in record.benchmarks for name in benchmark.names()]
    names += _names_in_other_parts(records)
    notes = []
    for key in project.compare.margins:
        pattern, _ = split_key(key)
        if pattern and not fits(names, [pattern]):
            location = project.at("compare", "margins", key)
            notes.append(f"{location}: the margin of {key!r} is of no benchmark that was weighed")
    return notes


def _unused_patterns(options: Options, records: Sequence[Weighing | Run]) -> list[str]:
    """Say which patterns of the command line chose nothing; no single target can tell."""
    names = [one.entry or one.name for record in records for one in record.benchmarks]
    names += _names_in_other_parts(records)
    # Identical sides are not asked for a list of their benchmarks, and another record may have failed without one.
    if EVERY_BENCHMARK in names or not all(record.benchmarks for record in records):
        return []
    patterns = [pattern for pattern in options.suite.benchmark or [] if left_out_by(pattern) is None]
    # A command's name is followed by the values of its parameters.
    unused = [pattern for pattern in patterns if not fits(names, [pattern, f"{pattern}, *"])]
    return [f"--benchmark {pattern!r} is of no benchmark that was weighed" for pattern in unused]


def _names_in_other_parts(records: Sequence[Weighing | Run]) -> list[str]:
    """Return the names of what other machines weigh of the same suites, with those of what was weighed here."""
    return [name for record in records if record.settings.shard for name in record.settings.shard.suite]
