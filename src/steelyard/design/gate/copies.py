"""Records of one weighing, of which a gate counts one: copies, parts of what was merged, what was carried on."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from steelyard.design.gate.reading import ReadRecord
from steelyard.model.findings import Finding
from steelyard.model.records import Part, Weighing


def without_copies(records_read: Sequence[ReadRecord]) -> Iterator[ReadRecord]:
    """Yield the same, with the first record only of each weighing; of one that was carried on or merged, the whole."""
    firsts: dict[Hashable, str] = {}
    merged_by_part = _merged_names_by_part(records_read)
    by_first_launch: dict[Hashable, list[ReadRecord]] = {}
    for record in records_read:
        if (first_launch := _first_launch_identity(record.weighing)) is not None:
            by_first_launch.setdefault(first_launch, []).append(record)
    for record in records_read:
        first = record.name if record.weighing is None else firsts.setdefault(_identity(record.weighing), record.name)
        same_first_launch = by_first_launch.get(_first_launch_identity(record.weighing), [])
        whole = max(
            (other for other in same_first_launch if _is_continued_by(record, other)), default=record, key=_launch_count
        )
        if first != record.name:
            why = f"holds the same weighing as {first}"
        elif record.weighing is not None and (all_parts := merged_by_part.get(_part_identity(record.weighing))):
            why = f"is part of what was merged as {all_parts}"
        elif whole is not record:
            why = f"was carried on as {whole.name}"
        else:
            yield record
            continue
        yield ReadRecord(record.name, None, None, [counted_once_finding(record.name, why)])


def _merged_names_by_part(records_read: Sequence[ReadRecord]) -> dict[Hashable, str]:
    """Return which of these records each part of a suite was merged into."""
    wholes = [(one.name, one.weighing) for one in records_read if one.weighing is not None]
    return {_part_identity(part): name for name, whole in wholes for part in whole.parts}


def _part_identity(measured: Weighing | Part) -> Hashable:
    """Return what identifies a part in a merged record."""
    seed = measured.seed if isinstance(measured, Part) else measured.settings.seed
    return measured.created, measured.machine.key, seed, measured.seconds


def _first_launch_identity(weighing: Weighing | None) -> Hashable:
    """Return what a weighing and those that it was carried on as have in common; None if it has no launches."""
    if weighing is None or not len(weighing.launches):
        return None
    launches, settings = weighing.launches, weighing.settings
    return weighing.created, weighing.machine.key, settings.seed, launches.start_ns[0], launches.wall_ns[0]


def _is_continued_by(part: ReadRecord, whole: ReadRecord) -> bool:
    """Whether one record has the other's launches and more; of two that went on from a third, neither has."""
    if whole.weighing is None or part.weighing is None or _launch_count(whole) <= _launch_count(part):
        return False
    measured = np.asarray(part.weighing.launches.wall_ns)
    return np.array_equal(np.asarray(whole.weighing.launches.wall_ns)[: len(measured)], measured)


def _launch_count(read: ReadRecord) -> int:
    return 0 if read.weighing is None else len(read.weighing.launches)


def _identity(weighing: Weighing) -> Hashable:
    """Return what no two weighings have in common, whatever their files are called and however they were written."""
    header = repr((weighing.created, weighing.machine, weighing.settings, weighing.subjects, weighing.benchmarks))
    return header, weighing.seconds, tuple(weighing.stop), np.asarray(weighing.launches.wall_ns).tobytes()


def counted_once_finding(name: str, why: str = "is named twice") -> Finding:
    """Return the finding that a record was given twice in some way."""
    return Finding(code="counted-once", message=f"{name} {why}, and counts once", remedy="name each weighing once")
