"""Compiled libraries of a build: an interpreter loads them, and the digest of its program says nothing of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from steelyard.measure.elf import code_of
from steelyard.model.settings import Settings
from steelyard.model.subject import Subject

_LIBRARY = re.compile(r".+\.(?:so(?:\.\d+)*|node)")
# Larger ones come with a package, rather than from a build of seconds or minutes, and are alike on both sides.
_MOST_BYTES = 1 << 26


def with_libraries(subject: Subject, settings: Settings) -> Subject:
    """Return the subject with the digest of its build's libraries, which is asked for where a suite is weighed."""
    revision = subject.revision
    if settings.harness is None or settings.layouts or revision is None or revision.build is None:
        return subject
    digest = None if subject.directory is None else digest_of_libraries(Path(subject.directory))
    return subject.model_copy(update={"revision": revision.model_copy(update={"libraries": digest})})


def digest_of_libraries(folder: Path) -> str | None:
    """Return the SHA-256 of the code of all libraries below a folder, with their paths; None if there are none."""
    found = {str(path.relative_to(folder)): code for path in _libraries(folder) if (code := _code(path))}
    if not found:
        return None
    whole = sha256()
    for name in sorted(found):
        whole.update(os.fsencode(name) + b"\0" + sha256(found[name]).digest())
    return whole.hexdigest()


def _libraries(folder: Path) -> Iterator[Path]:
    for place, _, names in os.walk(folder):
        for name in filter(_LIBRARY.fullmatch, names):
            path = Path(place, name)
            if not path.is_symlink():  # what it leads to is there, too, or alike for both sides
                yield path


def _code(path: Path) -> bytes:
    try:
        return code_of(path.read_bytes()) if path.stat().st_size <= _MOST_BYTES else b""
    except OSError:
        return b""
