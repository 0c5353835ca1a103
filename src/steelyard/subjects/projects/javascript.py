"""JavaScript: the programs of a package.json, and those of its scripts that measure."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from steelyard.subjects.projects.discovery import FoundProject, FoundTarget, text_of

# How to install, by the lock file; the first that exists counts.
_INSTALLERS = {
    "pnpm-lock.yaml": "pnpm install --frozen-lockfile",
    "yarn.lock": "yarn install --frozen-lockfile",
    "package-lock.json": "npm ci",
    "npm-shrinkwrap.json": "npm ci",
}
_DEPENDENCIES = ("dependencies", "devDependencies", "optionalDependencies")
_MEASURING = re.compile(r"(?:bench|benchmark|perf)(?:$|[:_-])")
# A single node command, as launches have no shell to understand more.
_NODE = re.compile(r"node( [\w@%+=:,./-]+)+")
_NO_TARGET = "package.json names no program, and no script bench, benchmark or perf that is one node command"


def javascript(folder: Path) -> FoundProject | None:
    """Return the scripts of a package.json that measure, or else its programs; None without a readable one."""
    try:
        package = json.loads(text_of(folder / "package.json"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(package, dict):
        return None
    targets = [*_measuring(_table(package, "scripts"))] or [*_programs(package)]
    return FoundProject("JavaScript", _build(package, folder), targets, not_driven=None if targets else _NO_TARGET)


def _measuring(scripts: Mapping[str, Any]) -> Iterator[FoundTarget]:
    for name, command in scripts.items():
        if isinstance(command, str) and _MEASURING.match(name) and _NODE.fullmatch(command):
            yield FoundTarget(name, command)


def _programs(package: Mapping[str, Any]) -> Iterator[FoundTarget]:
    programs = package.get("bin")
    if isinstance(programs, str):
        programs = {str(package.get("name") or "program").rpartition("/")[2]: programs}
    for name, path in programs.items() if isinstance(programs, dict) else ():
        if isinstance(path, str):
            yield FoundTarget(name, f"node {shlex.quote(path)}")


def _build(package: Mapping[str, Any], folder: Path) -> str | None:
    """Return the lines that install its dependencies and run its build script; None if there is nothing to do."""
    lines = []
    if any(_table(package, kind) for kind in _DEPENDENCIES):
        lines.append(next((line for name, line in _INSTALLERS.items() if (folder / name).is_file()), "npm install"))
    if "build" in _table(package, "scripts"):
        # A revision may be older than the script.
        lines.append("npm run build --if-present")
    return "\n".join(lines) or None


def _table(package: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = package.get(key)
    return found if isinstance(found, dict) else {}
