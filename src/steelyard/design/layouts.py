"""The programs that are a subject, its layouts and others: whether they are still the same, and differ at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

from steelyard.design.runner.targets import layouts_of
from steelyard.model.findings import Finding
from steelyard.model.placeholders import LAYOUT, LAYOUT_PLACE, PLACEHOLDER, with_values
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark, Subject
from steelyard.subjects.programs import digest, weighed_file

Values = Sequence[Mapping[str, str]]
"""What each {name} in a command stands for, in one benchmark after the other."""


def digest_of(subject: Subject, settings: Settings, values: Values = ()) -> str | None:
    """Return the SHA-256 of a subject's program, or of the digests of all files that are it: layouts, and by `values`.

    None if one of them cannot be read.
    """
    if not PLACEHOLDER.search(weighed_file(subject)):
        return digest(weighed_file(subject))
    digests = _digests(subject, settings, values)
    known = [one for one in digests if one is not None]
    return sha256("\n".join(known).encode()).hexdigest() if len(known) == len(digests) else None


def values_given(benchmarks: Iterable[Benchmark], number: int) -> Values:
    """Return what the parameters of commands stand for in the benchmarks that a subject is a side of."""
    return [one.in_command() for one in benchmarks if number in (one.baseline, one.candidate)]


def _digests(subject: Subject, settings: Settings, values: Values = ()) -> list[str | None]:
    files = [_program(subject, layout, given) for given in values or [{}] for layout in layouts_of(settings)]
    return [digest(str(file)) for file in dict.fromkeys(files)]


def _program(subject: Subject, layout: int, values: Mapping[str, str] = MappingProxyType({})) -> Path:
    """Return the file of a layout; a program that is found only once its name is known is relative to its folder."""
    known = {**values, LAYOUT: str(layout)} if layout else values
    folder, file = (with_values(path, known) for path in (subject.directory or "", weighed_file(subject)))
    return Path(folder, file if "/" in file else shutil.which(file) or file)


def _content_digests(subject: Subject, settings: Settings) -> list[str | None]:
    """Return the layouts' digests, ignoring the paths of their build folders where these differ by layout."""
    folder = subject.directory
    if folder is None or LAYOUT_PLACE not in folder:
        return _digests(subject, settings)
    from steelyard.subjects.revisions.identity import digest_but_for_paths

    head, _, tail = folder.partition(LAYOUT_PLACE)
    return [digest_but_for_paths(_program(subject, layout), f"{head}{layout}{tail}") for layout in layouts_of(settings)]


def equal_layouts_findings(subjects: Sequence[Subject], settings: Settings) -> list[Finding]:
    """Return findings on subjects with equal builds: what was to make them differ did not reach them."""
    names_by_number: dict[int, list[str]] = {}
    for subject in subjects if settings.layouts else ():
        # The layouts may also be told apart by an argument only.
        has_files = LAYOUT_PLACE in weighed_file(subject)
        if has_files and (number := _count_different(subject, settings)) is not None:
            names_by_number.setdefault(number, []).append(subject.name)
    return [
        Finding(
            code="equal-layouts",
            message=f"the {settings.layouts} layouts of {' and those of '.join(names)} are "
            f"{'one and the same' if number == 1 else f'only {number} different ones'}, byte by byte",
            remedy="check whether the build uses what tells the layouts apart (steelyard docs layouts); copies of one "
            "build show how far layouts differ by chance",
        )
        for number, names in names_by_number.items()
    ]


def _count_different(subject: Subject, settings: Settings) -> int | None:
    """Return how many of its layouts differ; None if all do, or one cannot be read."""
    digests = _content_digests(subject, settings)
    different = len(set(digests))
    return None if None in digests or different == len(digests) else different
