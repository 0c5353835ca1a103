"""Find crates of which cargo chose other versions for each side, as git does not tell it which to take."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from steelyard.subjects.revisions.builds import Built

_LOCK = "Cargo.lock"


def unlike_crates(sides: Sequence[Built]) -> list[str]:
    """Return each crate that several sides have, with its versions if they differ: `rand 0.8.4 -> 0.8.5`.

    Nothing if git keeps the versions of all sides, as they are a part of what is weighed then.
    """
    locks = [_lock_of(side) for side in sides]
    first, *others = [_versions_in(lock) if lock else {} for lock in locks]
    crates = [
        f"{name} {' -> '.join([version, *(one[name] for one in others)])}"
        for name, version in first.items()
        if all(name in one for one in others) and any(one[name] != version for one in others)
    ]
    are_kept = bool(crates) and all(_is_tracked(side, lock) for side, lock in zip(sides, locks, strict=True))
    return [] if are_kept else crates


def _lock_of(side: Built) -> Path | None:
    """Return the file that cargo has written, in the folder that was built in or in one above that, as of a workspace.

    None without one.
    """
    folders = (folder for folder in (side.folder, *side.folder.parents) if folder.is_relative_to(side.top))
    return next((folder / _LOCK for folder in folders if (folder / _LOCK).is_file()), None)


def _is_tracked(side: Built, lock: Path | None) -> bool:
    """Return whether git keeps the file, or does not tell."""
    tracked = side.tracked()
    if tracked is None or lock is None:
        return True
    return str(lock.relative_to(side.top)) in {line.partition("\t")[2] for line in tracked}


def _versions_in(lock: Path) -> dict[str, str]:
    """Return the versions of each crate that comes from elsewhere, with the commit if it is from git."""
    try:
        packages = tomllib.loads(lock.read_text(encoding="utf-8")).get("package", [])
    except (OSError, ValueError):
        return {}
    versions: dict[str, list[str]] = {}
    for package in packages:
        if source := package.get("source"):
            versions.setdefault(package["name"], []).append(_version(package, source))
    return {name: "/".join(sorted(several)) for name, several in versions.items()}


def _version(package: dict[str, Any], source: str) -> str:
    _, mark, commit = source.partition("#")
    return f"{package['version']}{mark}{commit[:7]}"
