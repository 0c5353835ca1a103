"""Sides that are one program, of which all is known without a launch; and sides that merely have equal commands."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.design.request import Request
from steelyard.model.derived import Verdict
from steelyard.model.findings import IDENTICAL, NEW_SUITE, Finding
from steelyard.model.records import Run, Weighing
from steelyard.model.subject import Benchmark, Subject

EVERY_BENCHMARK = "every benchmark"
"""The name for the benchmarks of a harness that is not asked for them."""


def is_identical(request: Request) -> bool:
    """Whether nothing has to be measured."""
    return any(finding.code == IDENTICAL for finding in request.findings)


def lacks_baseline(request: Request) -> bool:
    """Whether nothing can be measured, as the baseline has none of the commands."""
    return any(finding.code == NEW_SUITE for finding in request.findings)


def is_unmeasured(request: Request) -> bool:
    """Whether no verdict can be wrong: nothing is measured, or the baseline lacks the program of the suite."""
    is_new_suite = request.selection.not_in_baseline is not None and request.subjects[0].digest is None
    return is_identical(request) or lacks_baseline(request) or (is_new_suite and request.settings.harness is not None)


def known_findings(request: Request, subjects: Sequence[Subject]) -> list[Finding]:
    """Return what is known of the subjects before anything is measured."""
    if is_identical(request) or request.settings.has_unlike_hooks:
        return [*request.findings]
    return [*request.findings, *_same_command_findings(subjects, request.benchmarks)]


def _same_command_findings(subjects: Sequence[Subject], benchmarks: Sequence[Benchmark]) -> list[Finding]:
    """Return a finding for each candidate that is the baseline itself; those inside a harness are not known yet."""
    if len(subjects) == 1:
        return []
    pairs = {(one.baseline, one.candidate) for one in benchmarks if not one.control}
    sides = sorted(pairs) or [(0, candidate) for candidate in range(1, len(subjects))]
    programs = [(one.argv, one.digest, one.directory) for one in subjects]
    same_as_baseline = [subjects[two].name for one, two in sides if programs[one] == programs[two]]
    return [
        Finding(
            code="same-command",
            message=f"{name} runs the same program with the same arguments as the baseline: this is a control, "
            "and `slower` or `faster` would be a false alarm",
        )
        for name in dict.fromkeys(same_as_baseline)
    ]


def identical_record(header: Weighing | Run) -> Weighing | Run:
    """Return the record of identical sides, decided before it began; a harness is not asked for its benchmarks."""
    benchmarks = header.benchmarks or [Benchmark(name=EVERY_BENCHMARK)]
    return header.model_copy(update={"benchmarks": benchmarks, "stop": ["decided"] * len(benchmarks)})


def identical_verdicts(record: Weighing) -> list[Verdict]:
    """Return the verdicts of sides that are one program, which differ by nothing."""
    return [
        Verdict(
            benchmark=benchmark.name,
            index=number,
            metric=metric,
            verdict="same",
            change=0.0,
            interval=(0.0, 0.0),
            p_value=None,
            pairs=0,
            looks=0,
            seconds=0.0,
            resolution=None,
        )
        for number, benchmark in enumerate(record.benchmarks)
        if not benchmark.control
        for metric in record.settings.metrics
    ]
