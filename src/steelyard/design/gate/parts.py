"""Parts of suites whose other parts are not among a gate's records."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from steelyard.design.findings import some_names
from steelyard.model.findings import Finding
from steelyard.model.records import Weighing

_Suite = tuple[tuple[str, ...], int]
"""The names of its benchmarks, and the number of parts in which it was measured."""


def incomplete_suite_findings(weighings: Mapping[str, Weighing]) -> Iterator[Finding]:
    """Yield findings on suites of which only some parts are here.

    What was measured of other programs, such as those of an earlier commit, is no part of theirs.
    """
    suites: dict[_Suite, dict[Hashable, dict[str, int]]] = {}
    for name, weighing in weighings.items():
        if (shard := weighing.settings.shard) is not None:
            by_programs = suites.setdefault((tuple(shard.suite), shard.of), {})
            by_programs.setdefault(_programs_identity(weighing), {})[name] = shard.number
    for (_, number_of_parts), by_programs in suites.items():
        part_groups = [*by_programs.values()]
        for parts in part_groups:
            here, others = {*parts.values()}, [name for other in part_groups if other is not parts for name in other]
            if missing := [str(number) for number in range(1, number_of_parts + 1) if number not in here]:
                yield _missing_parts_finding(next(iter(parts)), missing, number_of_parts, others)


def _programs_identity(weighing: Weighing) -> Hashable:
    """Return what tells a weighing's programs from others: their revision, which each machine builds, or their file."""
    return tuple((one.command, one.digest if one.revision is None else one.revision.tree) for one in weighing.subjects)


def _missing_parts_finding(name: str, missing: list[str], number_of_parts: int, others: list[str]) -> Finding:
    which = f"{'part' if len(missing) == 1 else 'parts'} {some_names(missing)} of {number_of_parts}"
    verb, whose = ("is", "its") if len(missing) == 1 else ("are", "their")
    beside = f"; {some_names(others)} {'has' if len(others) == 1 else 'have'} other programs" if others else ""
    return Finding(
        code="part-alone",
        message=f"{which} of the suite of {name} {verb} not here: nothing is said of {whose} benchmarks{beside}",
        remedy="steelyard merge makes one record of all parts",
    )
