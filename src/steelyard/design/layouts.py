"""The programs that are the layouts of a subject: whether they differ at all, and are still the same."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from steelyard.design.runner.targets import layouts_of
from steelyard.model.findings import Finding
from steelyard.model.placeholders import LAYOUT_PLACE
from steelyard.model.settings import Settings
from steelyard.model.subject import Subject
from steelyard.subjects.programs import digest, weighed_file


def with_digest(subject: Subject, settings: Settings) -> Subject:
    """Return the subject with the digest that tells its program, or all of its layouts, from any other."""
    return subject.model_copy(update={"digest": digest_of(subject, settings)})


def digest_of(subject: Subject, settings: Settings) -> str | None:
    """Return the SHA-256 of a subject's program, or of its layouts' digests; None if one of them cannot be read."""
    if not _have_own_files(subject, settings):
        return digest(weighed_file(subject))
    digests = _digests(subject, settings)
    known = [one for one in digests if one is not None]
    return sha256("\n".join(known).encode()).hexdigest() if len(known) == len(digests) else None


def _have_own_files(subject: Subject, settings: Settings) -> bool:
    """Whether the layouts are files of their own; they may also be told apart by an argument only."""
    return settings.layouts > 0 and LAYOUT_PLACE in weighed_file(subject)


def _digests(subject: Subject, settings: Settings) -> list[str | None]:
    return [digest(str(_program(subject, layout))) for layout in layouts_of(settings)]


def _program(subject: Subject, layout: int) -> Path:
    """Return the file of a layout; a program that is found only once its layout is known is relative to its folder."""
    folder, file = (
        path.replace(LAYOUT_PLACE, str(layout)) for path in (subject.directory or "", weighed_file(subject))
    )
    return Path(folder, file)


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
    for subject in subjects:
        if _have_own_files(subject, settings) and (number := _count_different(subject, settings)) is not None:
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
