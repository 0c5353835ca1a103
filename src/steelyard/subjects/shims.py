"""Shims: the scripts of version managers such as pyenv, which look for a program and start it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from steelyard.model.errors import MeasurementError

# Each keeps its scripts in a folder `shims` below one of its own name; its command `which NAME` says what one starts.
MANAGERS = ("pyenv", "rbenv", "asdf", "mise")
_LONGEST_S = 5.0
# Debian's script in Perl behind psql, pgbench and others; the programs are in a folder for each version.
_PG_WRAPPER, _PG_FOLDER = "pg_wrapper", "/usr/lib/postgresql/VERSION/bin"


def is_shim(program: Path) -> bool:
    """Return whether a program is such a script, by its place."""
    return program.parent.name == "shims"


def wrapped_program(program: Path) -> str | None:
    """Return where the program of PostgreSQL is that Debian's script starts for this one; None for any other."""
    wraps = program.name != _PG_WRAPPER and program.resolve().name == _PG_WRAPPER
    return f"{_PG_FOLDER}/{program.name}" if wraps else None


def manager_of(shim: Path) -> str | None:
    """Return the version manager of a shim, if its place tells."""
    name = shim.parent.parent.name.removeprefix(".")
    return name if name in MANAGERS else None


def program_behind(shim: Path, folder: Path, environment: Mapping[str, str]) -> Path | None:
    """Return the program that a shim starts in this folder, according to its manager; None if that does not tell."""
    manager, root = manager_of(shim), shim.parent.parent
    if manager is None:
        return None
    program = shutil.which(manager, path=environment.get("PATH")) or shutil.which(root / "bin" / manager)
    if program is None:
        return None
    from steelyard.measure.tools import Command, run

    variables = {**environment, f"{manager.upper()}_ROOT": str(root)}  # as the scripts of pyenv and rbenv set it
    try:
        ended = run(Command([program, "which", shim.name], folder, variables, timeout_s=_LONGEST_S))
    except MeasurementError:  # it does not start
        return None
    output = ended.out.strip()
    return Path(output) if ended.status == 0 and output.startswith("/") else None
