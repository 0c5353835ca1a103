"""Parts of suites whose other parts are not among a gate's records."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from steelyard.design.findings import some_names
from steelyard.model.kept import Finding
from steelyard.model.records import Weighing

_Suite = tuple[tuple[str, ...], int]
"""The names of its benchmarks, and the number of parts in which it was measured."""


def parts_alone(weighings: Mapping[str, Weighing]) -> Iterator[Finding]:
    """Yield findings on suites of which only some parts are here.

    What was measured of other programs, such as those of an earlier commit, is no part of theirs.
    """
    suites: dict[_Suite, dict[Hashable, dict[str, int]]] = {}
    for name, one in weighings.items():
        if (shard := one.settings.shard) is not None:
            of_programs = suites.setdefault((tuple(shard.suite), shard.of), {})
            of_programs.setdefault(_programs(one), {})[name] = shard.number
    for (_, of), of_programs in suites.items():
        alike = [*of_programs.values()]
        for parts in alike:
            here, others = {*parts.values()}, [name for other in alike if other is not parts for name in other]
            if lacking := [str(number) for number in range(1, of + 1) if number not in here]:
                yield _lacking(next(iter(parts)), lacking, of, others)


def _programs(weighing: Weighing) -> Hashable:
    """Return what tells a weighing's programs from others: their revision, which each machine builds, or their file."""
    return tuple((one.command, one.digest if one.revision is None else one.revision.tree) for one in weighing.subjects)


def _lacking(name: str, lacking: list[str], of: int, others: list[str]) -> Finding:
    which = f"{'part' if len(lacking) == 1 else 'parts'} {some_names(lacking)}"
    are, whose = ("is", "its") if len(lacking) == 1 else ("are", "their")
    beside = f"; {some_names(others)} {'has' if len(others) == 1 else 'have'} other programs" if others else ""
    return Finding(
        code="part-alone",
        message=f"{which} of {of} of the suite of {name} {are} not here: nothing is said of {whose} benchmarks{beside}",
        remedy="steelyard merge makes one record of all parts",
    )
