"""Makes one import from files of another tool: their contents, checked; several files count as several processes."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import steelyard
from steelyard.design.findings import some_names
from steelyard.design.suite.selection import Selection
from steelyard.model.errors import UsageError
from steelyard.model.findings import Finding
from steelyard.model.foreign import (
    ForeignBenchmark,
    ForeignFile,
    ForeignResults,
    Provenance,
    other_machine,
)
from steelyard.model.grouping import grouped
from steelyard.model.numbers import LEAST_VALUE, MOST_SECONDS, MOST_VALUE
from steelyard.model.original import packed
from steelyard.model.samples import FLOATS, concatenated, samples_of
from steelyard.model.throughput import processed_of
from steelyard.model.units import ns_of
from steelyard.subjects.formats.contents import Contents, Format, FoundBenchmark
from steelyard.subjects.formats.recognise import contents_of, format_named
from steelyard.subjects.harness import Listed
from steelyard.subjects.responses import shown

_MOST_NAME_CHARACTERS, _MOST_UNIT_CHARACTERS = 10_000, 50
# No body of a benchmark is over in a thousandth of a processor's cycle.
_LEAST_NS = 0.001
_NUMBERS = frozenset({int, float})


@dataclass(frozen=True)
class _File:
    path: Path
    contents: Contents
    named: dict[str, list[FoundBenchmark]]


def convert_files(
    paths: Sequence[Path], *, created: str, name: str | None = None, patterns: Sequence[str] = ()
) -> ForeignResults:
    """Read the files, each one or more processes of the same benchmarks; keep those that match one of `patterns`.

    `created` is when that was, in ISO 8601; `name` is that of a format, and None recognises it. Raises UsageError for a
    file that cannot be trusted as a whole.
    """
    format_ = format_named(name) if name is not None else None
    files, sources = [], []
    for path in paths:
        format_, contents, read = contents_of(path, format_) if name is not None else _read_same_format(path, format_)
        files.append(_File(path, contents, grouped(contents.benchmarks, lambda one: one.name)))
        sources += read
    assert format_ is not None  # noqa: S101 - there is at least one file
    files = _in_order(files)
    _check_no_duplicates(sources)
    machine = _common_machine(files)
    listed = dict.fromkeys(name for file in files for name in file.named)
    if not listed:
        raise UsageError(f"cannot import {paths[0]}: no benchmark was measured in it")
    matching = [one.name for one in Selection(only=patterns).choose([Listed(one) for one in listed], "the files'")]
    benchmarks, failed = _benchmarks(matching, files)
    return ForeignResults(
        tool=steelyard.__version__,
        created=created,
        provenance=_provenance(format_, files, sources),
        machine=machine,
        benchmarks=benchmarks,
        findings=[*_left_out_findings(failed), *_findings(files, [one.name for one in benchmarks])],
        originals=[packed(file.contents.rest) for file in files if file.contents.rest is not None],
    )


def _in_order(files: list[_File]) -> list[_File]:
    """Return the files in the order in which they were measured, if all tell when; a shell gives 10 before 2."""
    moments = [_moment(file.contents.measured) for file in files]
    known = [moment for moment in moments if moment is not None]
    if len(known) < len(files):
        return files
    return [files[place] for place in sorted(range(len(files)), key=known.__getitem__)]


def _moment(told: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(told)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)  # all files of one tool are alike in this


def _read_same_format(path: Path, before: Format | None) -> tuple[Format, Contents, list[ForeignFile]]:
    found = contents_of(path)
    if before is not None and found[0] is not before:
        raise UsageError(
            f"{path} is in the format {found[0].name}, and what was given before it in {before.name}: import files of "
            "one format together"
        )
    return found


def _provenance(format_: Format, files: list[_File], sources: list[ForeignFile]) -> Provenance:
    versions = dict.fromkeys(file.contents.version for file in files if file.contents.version)
    return Provenance(
        format=format_.name,
        tool=format_.tool,
        version=", ".join(versions) or None,
        measured=[file.contents.measured for file in files if file.contents.measured],
        files=sources,
    )


def _check_no_duplicates(sources: list[ForeignFile]) -> None:
    seen: dict[str, str] = {}
    for source in sources:
        if (before := seen.get(source.sha256)) is not None:
            raise UsageError(f"{source.name} holds the same as {before}: each process needs a file of its own")
        seen[source.sha256] = source.name


def _common_machine(files: list[_File]) -> dict[str, str]:
    """Return what all the files say of the machine; raises UsageError if they are of several machines."""
    machines = [file.contents.machine for file in files]
    for file, machine in zip(files, machines, strict=True):
        if difference := other_machine(machines[0], machine):
            raise UsageError(
                f"{files[0].path} and {file.path} were measured on different machines ({difference}): processes of two "
                "machines cannot be mixed"
            )
    return {name: value for name, value in machines[0].items() if all(one.get(name) == value for one in machines)}


def _left_out_findings(failed: dict[str, str]) -> list[Finding]:
    return [
        Finding(code="left-out", message=f"{some_names(names)} left out: {error}")
        for error, names in grouped(failed, failed.__getitem__).items()
    ]


def _findings(files: list[_File], chosen: list[str]) -> Iterator[Finding]:
    of_chosen = [one.findings for file in files for name in chosen for one in file.named.get(name, ())]
    of_all = chain.from_iterable([*(file.contents.findings for file in files), *of_chosen])
    same_messages = grouped(of_all, lambda one: one.message)
    yield from (found[0] for found in same_messages.values())
    incomplete = [name for name in chosen if any(name not in file.named for file in files)]
    if incomplete:
        message = f"not in all of the files, and so with fewer processes than others: {some_names(incomplete)}"
        yield Finding(code="not-in-all", message=message)
    versions = list(dict.fromkeys(file.contents.version for file in files if file.contents.version))
    if len(versions) > 1:
        yield Finding(code="versions", message=f"the files were written by several versions: {some_names(versions)}")


# --- one benchmark


class _NoResultError(Exception):
    """A benchmark failed, or has no result that can be kept; others may have one."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(why)
        self.path = path


def _benchmarks(names: list[str], files: list[_File]) -> tuple[list[ForeignBenchmark], dict[str, str]]:
    """Return the benchmarks of these names, and why others have no result; raises UsageError if none has one."""
    benchmarks: list[ForeignBenchmark] = []
    failed: dict[str, _NoResultError] = {}
    for name in names:
        try:
            benchmarks.append(_benchmark(name, files))
        except _NoResultError as error:
            failed[name] = error
    if not benchmarks:
        name, first = next(iter(failed.items()))
        raise UsageError(
            f"cannot import {shown(name)} of {first.path}: {first}; measure it again, or choose others with --benchmark"
        )
    return benchmarks, {name: str(error) for name, error in failed.items()}


def _benchmark(name: str, files: list[_File]) -> ForeignBenchmark:
    files_with_it = [file for file in files if name in file.named]
    found = [_single_benchmark(file, name) for file in files_with_it]
    for file, one in zip(files_with_it, found, strict=True):
        _check_comparable(files_with_it[0].path, found[0], file.path, one)
    values: list[Any] = [
        samples for file, one in zip(files_with_it, found, strict=True) for samples in _values(file, one)
    ]
    return ForeignBenchmark(
        name=name,
        params=found[0].params,
        unit=found[0].unit,
        higher_is_better=found[0].higher_is_better,
        values=values,
        processed=processed_of(found[0].processed),
        seconds=_total_seconds([one.seconds for one in found]),
    )


def _single_benchmark(file: _File, name: str) -> FoundBenchmark:
    """Return the benchmark of that name; raises UsageError if there are two of them, _NoResultError if it failed."""
    one, *others = file.named[name]
    if error := next((each.error for each in file.named[name] if each.error), ""):
        raise _NoResultError(file.path, error)
    if others:
        raise UsageError(
            f"cannot import {file.path}: it has {shown(name)} {1 + len(others)} times, and a name has to tell which"
        )
    if not _is_text(name, _MOST_NAME_CHARACTERS):
        raise UsageError(f"cannot import {file.path}: a benchmark is called {shown(name)}, which is no name")
    if not _is_text(one.unit, _MOST_UNIT_CHARACTERS):
        raise UsageError(f"cannot import {file.path}: {shown(name)} is in {shown(one.unit)}, which is no unit")
    return one


def _is_text(value: Any, most: int) -> bool:
    """Whether it is a text that can be kept: of some length, and without halves of characters."""
    return isinstance(value, str) and 0 < len(value) <= most and value == value.encode(errors="replace").decode()


def _check_comparable(path: Path, one: FoundBenchmark, other_path: Path, other: FoundBenchmark) -> None:
    if one.unit != other.unit:
        raise UsageError(
            f"{shown(one.name)} is in {one.unit} in {path}, and in {other.unit} in {other_path}: import files in one "
            "unit together"
        )
    if (one.higher_is_better, one.params) != (other.higher_is_better, other.params):
        raise UsageError(f"{shown(one.name)} is another benchmark in {path} than in {other_path}: import each alone")


def _values(file: _File, one: FoundBenchmark) -> list[array[float]]:
    told = [values for values in one.values if values]
    if not told:
        raise _NoResultError(file.path, "it has no value")
    if (found := samples_of(told)) is not None:
        numbers = np.frombuffer(concatenated(found))
        if not _is_too_short(float(numbers.min()), one.unit) and not _has_json_true(told, numbers):
            return found
    return [array(FLOATS, [_value(file, one, value) for value in values]) for values in told]


def _has_json_true(told: Sequence[list[Any] | array[float]], numbers: npt.NDArray[np.float64]) -> bool:
    """Whether JSON's `true` is among them, which is 1 as a number: without any 1, none has to be looked at."""
    return bool((numbers == 1).any()) and not _NUMBERS.issuperset(map(type, chain.from_iterable(told)))


def _is_too_short(value: float, unit: str) -> bool:
    ns = ns_of(unit)
    return ns is not None and value * ns <= _LEAST_NS


def _value(file: _File, one: FoundBenchmark, told: Any) -> float:
    value = _number(told)
    if value is None or not LEAST_VALUE <= value <= MOST_VALUE:  # false for NaN, too
        raise _NoResultError(
            file.path,
            f"it has the value {shown(told)}, and a result has to be a number above 0, from {LEAST_VALUE:g} to "
            f"{MOST_VALUE:g}",
        )
    if _is_too_short(value, one.unit):
        raise _NoResultError(
            file.path,
            f"it took {value:.2g} {one.unit}, which is no time for any work: was its body optimised away?",
        )
    return value


def _number(told: Any) -> float | None:
    try:
        return float(told) if isinstance(told, int | float) and not isinstance(told, bool) else None
    except OverflowError:
        return None


def _total_seconds(seconds: list[float | None]) -> float | None:
    told = [one for one in seconds if one is not None]
    total = sum(map(float, told))
    return total if len(told) == len(seconds) and 0 <= total <= MOST_SECONDS else None
