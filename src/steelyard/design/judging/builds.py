"""Where builds show a change that may not be of the code that was changed in them."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Final

from steelyard.design.judging.left_out import is_asleep
from steelyard.machine.watch.names import INTERPRETER
from steelyard.model.findings import Finding, VerdictName
from steelyard.model.metrics import METRICS
from steelyard.model.records import Weighing
from steelyard.stats.verdict import CHANGED
from steelyard.subjects.harness import harness_named
from steelyard.subjects.programs import weighed_file

# Harnesses of languages whose code a linker lays out; any language may speak the protocol.
_LINKED_HARNESSES: Final = ("catch2", "criterion", "divan", "go", "google-benchmark", "nanobench", "protocol", "swift")


def one_build_finding(record: Weighing, benchmark: int, metric: str, verdict: VerdictName) -> Finding | None:
    """Return a finding, if a benchmark of a suite was found changed, that the file around it is another one, too.

    Whoever weighs one command knows what was changed in it. In a suite, most benchmarks are of code that nobody
    touched.
    """
    if verdict not in CHANGED or record.settings.layouts or METRICS[metric].unit != "ns":
        return None
    if not _have_other_code(record, benchmark) or not _is_suite(record):
        return None
    return Finding(
        code="one-build",
        message="one build of each side was weighed: a change elsewhere in a program moves this code as well, "
        "and its place in memory alone can make it many percent slower or faster, in every pair",
        remedy="if the code that it runs was not changed, weigh several builds of each side: --layouts",
    )


def equal_programs_finding(record: Weighing, benchmark: int, metric: str, verdict: VerdictName) -> Finding | None:
    """Return a finding, if a change was found between two revisions, that their programs are copies of one file.

    Whoever weighs two commands knows what files they are.
    """
    sides = record.benchmarks[benchmark]
    baseline, candidate = (record.subjects[place] for place in (sides.baseline, sides.candidate))
    are_copies = baseline.digest is not None and baseline.digest == candidate.digest
    if verdict not in CHANGED or not are_copies or weighed_file(baseline) == weighed_file(candidate):
        return None
    if baseline.revision is None or candidate.revision is None:
        return None
    harness = record.settings.harness
    # What an interpreter runs is in the files that it reads, whichever it is.
    if harness not in (None, *_LINKED_HARNESSES) or INTERPRETER.fullmatch(Path(weighed_file(baseline)).name):
        return None
    if sides.control or METRICS[metric].unit != "ns":
        return None
    # Counts of a client say nothing about the server that works for it.
    waits = is_asleep(record, benchmark)
    can_count = not waits and (harness is None or harness_named(harness).counts)
    elsewhere = "what another program, such as a server, does for them, in " if waits else ""
    return Finding(
        code="equal-programs",
        message="the programs of both sides are equal, byte for byte: what makes them differ is in "
        f"{elsewhere}the files that they read, or where in memory each copy lies, which stays the same as long as "
        "the copies do",
        remedy="--metric instructions tells whether they do the same work" if can_count else None,
    )


def _have_other_code(record: Weighing, benchmark: int) -> bool:
    """Return whether compilers made other code for each side: of the program, or of what an interpreter loads."""
    sides = record.benchmarks[benchmark]
    subjects = [record.subjects[place] for place in (sides.baseline, sides.candidate)]
    kinds = [[one.revision.libraries for one in subjects if one.revision is not None]]
    if record.settings.harness in _LINKED_HARNESSES:
        kinds.append([one.digest for one in subjects])
    return any(None not in digests and len(set(digests)) > 1 for digests in kinds)


def _is_suite(record: Weighing) -> bool:
    # Not counted in full, as this is asked for each benchmark.
    return len([*islice((one for one in record.benchmarks if not one.control), 2)]) > 1
