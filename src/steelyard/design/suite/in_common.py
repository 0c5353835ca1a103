"""Which of the listed benchmarks both sides have, and which only one of them has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.design.findings import some_names
from steelyard.model.errors import MeasurementError, UsageError
from steelyard.model.findings import Finding
from steelyard.model.records import Run, Weighing
from steelyard.model.subject import Benchmark
from steelyard.subjects.harness import Listed
from steelyard.subjects.suite import MOST_BENCHMARKS, STATEMENT_NAME


def shared_benchmarks(
    record: Weighing | Run, lists: Sequence[Sequence[Listed]], chosen: Sequence[Listed]
) -> list[Benchmark]:
    """Return the chosen benchmarks that both the baseline and a candidate have."""
    candidates = range(1, len(lists)) if len(lists) > 1 else range(1)
    names = [{one.name for one in listed} for listed in lists]
    has_several = len(candidates) > 1
    benchmarks = [
        Benchmark(
            name=_candidate_benchmark_name(record.subjects[number].name, one.name) if has_several else one.name,
            candidate=number if isinstance(record, Weighing) else 1,
            entry=one.name,
            params=one.params,
            tags=list(one.tags),
        )
        for one in chosen
        for number in candidates
        if one.name in names[number]
    ]
    if not benchmarks:
        raise _nothing_in_common_error(record, chosen, sorted(set().union(*names[1:])))
    if len(benchmarks) > MOST_BENCHMARKS:
        raise UsageError(f"these are more than {MOST_BENCHMARKS} benchmarks: choose some with --benchmark")
    return benchmarks


def _nothing_in_common_error(
    record: Weighing | Run, chosen: Sequence[Listed], candidate_names: Sequence[str]
) -> MeasurementError:
    """Return the error if no candidate has any of the baseline's chosen benchmarks; they have `candidate_names`."""
    have = "the candidates have" if len(record.subjects) > 2 else "the candidate has"
    if not candidate_names:
        way_out = ""
    elif all(subject.revision is not None for subject in record.subjects):
        way_out = (
            "; if they were renamed or moved, keep one by its old name until the baseline has the new ones, or let "
            "this change alone pass without the gate"
        )
    else:
        way_out = "; a benchmark is compared only if it has the same name on both sides"
    return MeasurementError(
        f"there is no benchmark to compare: the baseline has {some_names([one.name for one in chosen])}, and "
        f"{have} {some_names(candidate_names) or 'none'}{way_out}"
    )


def _candidate_benchmark_name(candidate: str, listed: str) -> str:
    """Return the name of a benchmark of one of several candidates."""
    return candidate if listed == STATEMENT_NAME else f"{candidate}, {listed}"


def one_sided_findings(record: Weighing | Run, lists: Sequence[Sequence[Listed]]) -> Iterator[Finding]:
    """Yield findings on benchmarks that only the baseline or only a candidate has."""
    for candidate in range(1, len(lists)):
        name = record.subjects[candidate].name
        for code, where, side, other in (("removed", "not", 0, candidate), ("added", "only", candidate, 0)):
            known = {listed.name for listed in lists[other]}
            names = [listed.name for listed in lists[side] if listed.name not in known]
            if names:
                yield Finding(code=code, message=f"{where} in {name}, so not compared: {some_names(names)}")
