"""Settings for a project's benchmarks that apply to none of them."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.api.asked import Asked
from steelyard.design.identical import EVERY_BENCHMARK
from steelyard.model.patterns import fits, left_out_by, split_key
from steelyard.model.project_file import Project
from steelyard.model.records import Run, Weighing


def unused(project: Project, patterns: Sequence[str], asked: Asked, records: Sequence[Weighing | Run]) -> list[str]:
    """Say which margins, and which patterns of the command line, match nothing in any target's record."""
    return [*_unused_margins(project, patterns, asked, records), *_unused_patterns(asked, records)]


def _unused_margins(
    project: Project, patterns: Sequence[str], asked: Asked, records: Sequence[Weighing | Run]
) -> list[str]:
    """Say which margins match no benchmark, if everything in the file was weighed by them.

    Otherwise a misspelt name would silently be judged by the usual margin.
    """
    if patterns or asked.suite.benchmark or asked.suite.tag or asked.judging.chooses("margin"):
        return []
    if any(record.new_suite for record in records):  # the margin may be for one of the new benchmarks
        return []
    names = [name for record in records for benchmark in record.benchmarks for name in benchmark.names()]
    found = []
    for of in project.compare.margins:
        pattern, _ = split_key(of)
        if pattern and not fits(names, [pattern]):
            at = project.at("compare", "margins", of)
            found.append(f"{at}: the margin of {of!r} is of no benchmark that was weighed")
    return found


def _unused_patterns(asked: Asked, records: Sequence[Weighing | Run]) -> list[str]:
    """Say which patterns of the command line chose nothing; no single target can tell."""
    names = [one.entry or one.name for record in records for one in record.benchmarks]
    # Identical sides are not asked for a list of their benchmarks, and another record may have failed without one.
    if EVERY_BENCHMARK in names or not all(record.benchmarks for record in records):
        return []
    patterns = [pattern for pattern in asked.suite.benchmark or [] if left_out_by(pattern) is None]
    # A command's name is followed by the values of its parameters.
    unused = [pattern for pattern in patterns if not fits(names, [pattern, f"{pattern}, *"])]
    return [f"--benchmark {pattern!r} is of no benchmark that was weighed" for pattern in unused]
