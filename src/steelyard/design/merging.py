"""Merges the parts of a suite, each weighed on its own machine, into one weighing whose benchmarks share one alpha."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import steelyard
from steelyard.design.findings import some_names
from steelyard.design.numbering import numbered_counting, numbered_heap, numbered_launches
from steelyard.model.errors import UsageError
from steelyard.model.findings import Finding
from steelyard.model.records import Part, Run, Weighing
from steelyard.model.settings import Settings, Shard
from steelyard.model.subject import Benchmark, Subject
from steelyard.model.typed import typed

# The settings that may differ between two parts of one suite: where and when they were measured, on which processor,
# whether beside each other or at equal addresses, which of the usual variables are set there, and how much of it they
# are.
_BUDGET = ("pairs", "max_time_s", "longest_time_s")
_PLACE = ("directory", "environment", "cpu", "cpu_choice", "addresses")
_SETTINGS_OF_PART = {"seed", "shard", "starts", "output", "pairing", *_PLACE, *_BUDGET}
_Parts = Sequence[tuple[Path, Weighing]]


def merge_parts(records: Sequence[tuple[Path, Weighing | Run]]) -> Weighing:
    """Return one weighing of all parts of a suite, its benchmarks in the order of the suite, then the controls.

    Raises UsageError for what is no part of one, for parts that are missing or given twice, and for those that differ
    in their programs or in how they were measured. Where nothing was measured, as both sides are equal or the baseline
    has no benchmark, no part knows of the others, and any of them is the whole.
    """
    parts = [(path, _check_part(path, record)) for path, record in records]
    if not parts:
        raise UsageError("there is nothing to merge: name the record of each part")
    _check_alike(parts)
    first = parts[0][1]
    if first.settings.shard is None:  # nothing was measured, so each part says the same of the whole suite
        return first
    _check_complete(parts)
    return _join(sorted((record for _, record in parts), key=lambda record: _shard(record).number))


def _check_part(path: Path, record: Weighing | Run) -> Weighing:
    if isinstance(record, Run):
        raise UsageError(f"{path} is a run of one subject: merge joins weighings that were measured with --shard")
    if record.parts:
        raise UsageError(f"{path} is merged already: give the records that it was made of, or leave it out")
    if not record.benchmarks and not record.unmeasured:
        raise UsageError(
            f"{path} failed before its benchmarks were known: steelyard show {typed(path)} says why; weigh it again"
        )
    if record.settings.shard is None and not record.unmeasured:
        raise UsageError(f"{path} is no part of a suite: merge joins what was measured with --shard 1/4, 2/4, ...")
    if "interrupted" in record.stop:
        raise UsageError(f"{path} was interrupted: carry it on first, by steelyard compare --resume {typed(path)}")
    return record


def _shard(record: Weighing) -> Shard:
    if record.settings.shard is None:
        raise AssertionError("what is no part was refused before")
    return record.settings.shard


def _check_alike(parts: _Parts) -> None:
    first_path, first = parts[0]
    for path, record in parts[1:]:
        if (difference := _difference(first, record)) is not None:
            raise UsageError(f"{first_path} and {path} are not parts of one weighing: {difference}")


def _difference(one: Weighing, other: Weighing) -> str | None:
    """Return what keeps two weighings from being parts of one, as a clause; None if nothing does."""
    if len(one.subjects) != len(other.subjects):
        return f"{len(one.subjects)} and {len(other.subjects)} commands were weighed"
    if (programs := _program_difference(one, other)) is not None:
        return programs
    before, after = (record.settings.model_dump(mode="json", exclude=_SETTINGS_OF_PART) for record in (one, other))
    for name, value in before.items():
        if value != after[name]:
            return f"{name} is {value} in one and {after[name]} in the other"
    if (suites := _suite_difference(one.settings.shard, other.settings.shard)) is not None:
        return suites
    if _counting_tool(one) != _counting_tool(other):
        return "they were counted by different tools or libraries, whose counts are not comparable"
    return None


def _program_difference(one: Weighing, other: Weighing) -> str | None:
    for place, (left, right) in enumerate(zip(one.subjects, other.subjects, strict=True)):
        side = "candidate" if place else "baseline"
        if (trees := _tree_difference(left, right)) is not None:
            return f"{left.name} was {trees[0]} in one and {trees[1]} in the other, so merge each with its own"
        for name in ("name", "command"):  # not its file, which may lie elsewhere on another machine
            if (mine := getattr(left, name)) != (theirs := getattr(right, name)):
                what = f"the {name} of the {side}"
                return f"{what} is {mine!r} in one and {theirs!r} in the other, so merge each with its own"
        if left.shell != right.shell:
            return f"the {side} was run by a shell in one of them alone"
        if left.digest != right.digest:
            return f"{left.name} was another file on each: build it once, and give all machines that file"
    return None


def _tree_difference(one: Subject, other: Subject) -> tuple[str, str] | None:
    """Return which files in git two subjects were, if these differ: an interpreter's digest says nothing of them."""
    trees = [
        None if subject.revision is None else f"git's tree {subject.revision.tree[:12]}" for subject in (one, other)
    ]
    return None if trees[0] == trees[1] else (trees[0] or "of no revision", trees[1] or "of no revision")


def _suite_difference(one: Shard | None, other: Shard | None) -> str | None:
    if one is None or other is None:
        return None if one == other else "in one of them alone nothing had to be measured"
    if one.of != other.of:
        return f"one is of {one.of} parts, the other of {other.of}"
    if one.suite != other.suite:
        only = sorted({*one.suite} ^ {*other.suite})
        return f"their suites differ in {only[0]!r}" if only else "their suites are not in the same order"
    return None


def _counting_tool(record: Weighing) -> Any:
    return None if record.counting is None else record.counting.tool.model_dump(exclude={"program"})


def _check_complete(parts: _Parts) -> None:
    paths_by_number: dict[int, Path] = {}
    for path, record in parts:
        shard = _shard(record)
        if shard.number in paths_by_number:
            raise UsageError(
                f"{paths_by_number[shard.number]} and {path} are both part {shard.number}/{shard.of}: give one"
            )
        paths_by_number[shard.number] = path
    number_of_parts = _shard(parts[0][1]).of
    missing = [
        f"{number}/{number_of_parts}" for number in range(1, number_of_parts + 1) if number not in paths_by_number
    ]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise UsageError(f"{some_names(missing)} of the suite {verb} missing: give the records of all parts")
    owners: dict[str, Path] = {}
    for path, record in parts:
        for name in [one.name for one in record.members]:
            if name in owners:
                raise UsageError(f"{owners[name]} and {path} both have {name!r}: they overlap, so weigh them again")
            owners[name] = path


# --- joined


def _origins(records: Sequence[Weighing]) -> list[tuple[int, int]]:
    """Return for each benchmark of the whole, in order, which part it is of, and its number there."""
    suite = {name: place for place, name in enumerate(_shard(records[0]).suite)}

    def order(origin: tuple[int, int]) -> tuple[bool, int, int]:
        one = records[origin[0]].benchmarks[origin[1]]
        return one.control, suite.get(one.name, len(suite)), origin[0]

    places_in_parts = [
        (part, number) for part, record in enumerate(records) for number in range(len(record.benchmarks))
    ]
    return sorted(places_in_parts, key=order)


def _join(records: Sequence[Weighing]) -> Weighing:
    first, origins = records[0], _origins(records)
    places: list[dict[int, int]] = [{} for _ in records]
    for place, (part, number) in enumerate(origins):
        places[part][number] = place
    joined = list(zip(records, places, strict=True))
    return first.model_copy(
        update={
            "tool": steelyard.__version__,
            "created": min(record.created for record in records),
            "settings": _settings([one for one in records if one.benchmarks] or records),
            "benchmarks": _benchmarks(records, origins),
            "stop": [records[part].stop[number] for part, number in origins],
            "preparing_s": sum(record.preparing_s for record in records),
            "seconds": sum(record.seconds for record in records),
            "findings": [
                *_nothing_measured_finding(records),
                _merged_finding(records),
                *dict.fromkeys(one for record in records for one in record.findings),
            ],
            "launches": numbered_launches(joined),
            "counting": numbered_counting(joined),
            "heap": numbered_heap(joined),
            "watch": None,
            "files": {},
            "parts": [_describe_part(record, of_part) for record, of_part in joined],
            "derived": None,
        }
    )


def _settings(records: Sequence[Weighing]) -> Settings:
    """Return what holds for all parts, with every variable that was passed on in one of them.

    Addresses were shared only if they were in every part: not every machine can do that.

    The budget is the least that any part was given: of a part that needs more, a larger one would be taken for enough.
    """
    told = {name: [getattr(record.settings, name) for record in records] for name in _BUDGET}
    budget = {name: min(filter(None, values), default=None) for name, values in told.items()}
    passed_on = dict.fromkeys(name for record in records for name in record.settings.environment)
    addresses = {record.settings.addresses for record in records}
    whole = {"shard": None, "environment": [*passed_on], "addresses": min(addresses, key=bool), **budget}
    return records[0].settings.model_copy(update=whole)


def _benchmarks(records: Sequence[Weighing], origins: Sequence[tuple[int, int]]) -> list[Benchmark]:
    """Return the benchmarks of all parts in order; if there are several controls, each is named after its part."""
    found = [(records[part], records[part].benchmarks[number]) for part, number in origins]
    if sum(one.control for _, one in found) < 2:
        return [one for _, one in found]
    return [
        one.model_copy(update={"name": f"{one.name} of part {_shard(record).number}"}) if one.control else one
        for record, one in found
    ]


def _describe_part(record: Weighing, places: Mapping[int, int]) -> Part:
    return Part(
        created=record.created,
        tool=record.tool,
        machine=record.machine,
        seed=record.settings.seed,
        seconds=record.seconds,
        benchmarks=sorted(places.values()),
        watch=record.watch,
    )


def _nothing_measured_finding(records: Sequence[Weighing]) -> list[Finding]:
    """Return why the whole failed where all benchmarks of all parts skip themselves, as a suite in one piece does."""
    skipped = records[0].skipped_part
    if skipped is None or any(record.benchmarks for record in records):
        return []
    return [Finding(code="failed", message=skipped.message)]


def _merged_finding(records: Sequence[Weighing]) -> Finding:
    machines = len({record.machine.key for record in records})
    where = "one machine" if machines == 1 else f"{machines} kinds of machine"
    return Finding(
        code="merged",
        message=f"merged from {len(records)} parts, measured on {where}: each benchmark on one, and all share alpha",
    )
