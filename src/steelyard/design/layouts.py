"""Whether what is weighed as several layouts are several programs at all."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.design.runner.targets import LAYOUT, layouts_of
from steelyard.model.records import Finding, Settings, Subject
from steelyard.subjects.programs import digest


def equal_layouts(subjects: Sequence[Subject], settings: Settings) -> list[Finding]:
    """Say of which subjects some builds are one and the same: what was to make them differ did not reach them."""
    found = (_equal(subject, settings) for subject in subjects)
    return [finding for finding in found if finding is not None]


def _equal(subject: Subject, settings: Settings) -> Finding | None:
    name = f"{{{LAYOUT}}}"
    if not settings.layouts or name not in subject.program:
        return None
    digests = [digest(subject.program.replace(name, str(layout))) for layout in layouts_of(settings)]
    different = len(set(digests))
    if None in digests or different == len(digests):
        return None
    same = "one and the same" if different == 1 else f"only {different} different ones"
    return Finding(
        code="equal-layouts",
        message=f"the {len(digests)} layouts of {subject.name} are {same}, byte by byte",
        remedy="look whether the build uses what tells the layouts apart (steelyard docs layouts); copies of one build "
        "show how far layouts differ by chance",
    )
