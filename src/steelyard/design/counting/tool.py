"""What counts for a record: the tool, what is in every count beside the target, and what could not be fixed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from steelyard.design.counting.targets import program_of
from steelyard.design.findings import some_names
from steelyard.measure.count.pins import is_dynamic
from steelyard.measure.count.valgrind import Valgrind
from steelyard.measure.native import PRELOAD
from steelyard.measure.preloading import is_foreign
from steelyard.model.counting import Counting, CountSettings, CountTool
from steelyard.model.errors import UsageError
from steelyard.model.records import Run, Weighing
from steelyard.subjects.command import PASSED_ON

_LIBRARIES = ("libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libstdc++.so.6")
_LIBRARY_FOLDERS = ("/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib", "/lib")
_FOREIGN_REASON = "a program for musl, or for another machine, cannot load what fixes them"


def with_tool(record: Weighing | Run, valgrind: Valgrind) -> Weighing | Run:
    """Return the record before anything more is counted, with the tool that counts.

    Raises UsageError for a record that is carried on with another tool or library than it began with.
    """
    settings = record.settings.counting or CountSettings()
    tool = CountTool(
        tool=settings.tool,
        version=valgrind.version,
        program=str(valgrind.program),
        flags=valgrind.flags(settings),
        fingerprint=_fingerprint(),
        not_pinned=_unpinned_sources(record),
    )
    if record.counting is None or not record.counting.counts:
        return record.model_copy(update={"counting": Counting(tool=tool)})
    before = record.counting.tool
    others = {
        "version": f"another valgrind ({before.version} then, {tool.version} now)",
        "flags": "other flags of valgrind",
        "fingerprint": "another C library, loader or preload",
    }
    changed = [other for name, other in others.items() if getattr(before, name) != getattr(tool, name)]
    if changed:
        raise UsageError(
            f"what was counted before was counted with {' and '.join(changed)}: two countings cannot be mixed, weigh "
            "anew"
        )
    return record


def _fingerprint() -> dict[str, str]:
    """Return the SHA-256 of the libraries that every count includes, as far as they are where they usually are."""
    found = {}
    for path in [PRELOAD, *_libraries()]:
        try:
            with path.open("rb") as file:
                found[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            continue
    return found


def _libraries() -> Iterator[Path]:
    for name in _LIBRARIES:
        places = (Path(folder) / name for folder in _LIBRARY_FOLDERS)
        yield from (place for place in places if place.exists())


def _unpinned_sources(record: Weighing | Run) -> list[str]:
    """Return what may move counts of these subjects and cannot be fixed."""
    programs = {subject.program: program_of(subject, record.settings) for subject in record.subjects}
    static = sorted(name for name, program in programs.items() if is_dynamic(program) is False)
    foreign = sorted(name for name, program in programs.items() if is_foreign(program, PRELOAD))
    passed = [name for name in record.settings.environment if name not in PASSED_ON]
    found = []
    if static:
        found.append(f"random numbers of {', '.join(static)}: a static program does not load what fixes them")
    if foreign:
        found.append(f"random numbers of {', '.join(foreign)}: {_FOREIGN_REASON}")
    if passed:
        found.append(f"the environment variables that are passed on as they are: {some_names(sorted(passed))}")
    return found
