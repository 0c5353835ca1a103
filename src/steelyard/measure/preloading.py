"""Libraries of ours that the loader puts into a program before its own (`LD_PRELOAD`)."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.measure.elf import Elf, read_elf, started_by
from steelyard.model.errors import MeasurementError

if TYPE_CHECKING:
    from steelyard.model.launches import LaunchSpec

_PRELOAD = b"LD_PRELOAD"
_MUSL = "ld-musl"


def refusal(program: Path, library: Path) -> str | None:
    """Why a library cannot be preloaded into a program, and what to do about it; None if nothing speaks against it.

    A script is as its interpreter.
    """
    started = started_by(program)
    elf = read_elf(started) if started is not None else None
    if started is None or elf is None:
        return None
    who = "it" if started == program else f"its interpreter {started}"
    if elf.interpreter is None:
        return f"{who} is linked statically, and nothing can be preloaded into it: link it dynamically"
    if _MUSL in elf.interpreter:
        return f"{who} is of the C library musl, and the library to be preloaded is of glibc: build it for glibc"
    if _is_of_another_machine(elf, library):
        return f"{who} is built for another machine than the library to be preloaded: build it for this one"
    if _is_privileged(started):
        return f"{who} runs with another's privileges, and nothing may be preloaded into it: run it as its owner"
    return None


def is_of_musl(program: Path) -> bool:
    """Whether it is of the C library musl, whose loader ends it for a library of glibc; all others pass it over."""
    started = started_by(program)
    elf = read_elf(started) if started is not None else None
    return elf is not None and _MUSL in (elf.interpreter or "")


def is_foreign(program: Path, library: Path) -> bool:
    """Whether the loader does not merely pass a library over: one of musl is ended by it, one of other bits complains.

    A static program has no loader, but perhaps those that it starts have.
    """
    started = started_by(program)
    elf = read_elf(started) if started is not None else None
    if elf is None or elf.interpreter is None:
        return False
    return _MUSL in elf.interpreter or _is_of_another_machine(elf, library)


def _is_of_another_machine(elf: Elf, library: Path) -> bool:
    ours = read_elf(library)
    return ours is not None and (elf.wide, elf.machine) != (ours.wide, ours.machine)


def _is_privileged(program: Path) -> bool:
    """Whether the kernel gives it rights that whoever starts it has not: the loader ignores preloads then."""
    try:
        found = program.stat()
        other_user = found.st_mode & stat.S_ISUID and found.st_uid != os.getuid()
        other_group = found.st_mode & stat.S_ISGID and found.st_gid != os.getgid()
        capable = os.getuid() != 0 and "security.capability" in os.listxattr(program)
    except OSError:
        return False
    return bool(other_user or other_group or capable)


def can_be_named(library: Path) -> bool:
    """Whether the loader takes the library's path for one."""
    return not any(character in str(library) for character in " :")


def preloaded(spec: LaunchSpec, library: Path, variables: dict[bytes, bytes]) -> LaunchSpec:
    """The launch with a library preloaded and variables set; raises MeasurementError for a path with a blank in it."""
    if not can_be_named(library):
        raise MeasurementError(f"{library} cannot be preloaded, as there is a blank or a colon in its path: move it")
    entries = dict(entry.partition(b"=")[::2] for entry in spec.env)
    before = entries.get(_PRELOAD, b"")
    entries[_PRELOAD] = b":".join(path for path in (os.fsencode(library), before) if path)
    entries |= variables
    return replace(spec, env=tuple(b"%s=%s" % entry for entry in entries.items()))
