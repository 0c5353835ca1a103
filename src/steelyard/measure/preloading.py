"""Our own libraries, which the loader loads into a program before the program's (`LD_PRELOAD`)."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.measure.elf import Elf, read_elf, started_by
from steelyard.model.errors import MeasurementError

if TYPE_CHECKING:
    from steelyard.model.launch_spec import LaunchSpec

_PRELOAD = b"LD_PRELOAD"
_MUSL = "ld-musl"


def refusal(program: Path, library: Path) -> str | None:
    """Return why a library cannot be preloaded into a program, and what to do about it; None if nothing prevents it.

    For a script its interpreter decides.
    """
    started, elf = _started(program)
    if elf is None:
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
    """Return whether a program uses musl, whose loader ends it over a glibc library; other loaders skip the library."""
    _, elf = _started(program)
    return elf is not None and _MUSL in (elf.interpreter or "")


def is_foreign(program: Path, library: Path) -> bool:
    """Return whether preloading a library does harm: musl's loader ends the program, one of other bits complains.

    A static program has no loader and comes to no harm; programs that it starts may have one.
    """
    _, elf = _started(program)
    if elf is None or elf.interpreter is None:
        return False
    return _MUSL in elf.interpreter or _is_of_another_machine(elf, library)


def _started(program: Path) -> tuple[Path, Elf | None]:
    """Return what the kernel executes for a program, which of a script is its interpreter, and the ELF head of that."""
    started = started_by(program)
    return (program, None) if started is None else (started, read_elf(started))


def _is_of_another_machine(elf: Elf, library: Path) -> bool:
    ours = read_elf(library)
    return ours is not None and (elf.wide, elf.machine) != (ours.wide, ours.machine)


def _is_privileged(program: Path) -> bool:
    """Return whether the kernel gives a program more rights than its user has: the loader then ignores preloads."""
    try:
        status = program.stat()
        other_user = status.st_mode & stat.S_ISUID and status.st_uid != os.getuid()
        other_group = status.st_mode & stat.S_ISGID and status.st_gid != os.getgid()
        capable = os.getuid() != 0 and "security.capability" in os.listxattr(program)
    except OSError:
        return False
    return bool(other_user or other_group or capable)


def can_be_named(library: Path) -> bool:
    """Return whether the loader reads the library's path as a single path."""
    return not any(character in str(library) for character in " :")


def preloaded(spec: LaunchSpec, library: Path, variables: dict[bytes, bytes]) -> LaunchSpec:
    """Return the launch with a library preloaded and variables set.

    Raises MeasurementError for a library whose path contains a blank or a colon.
    """
    if not can_be_named(library):
        raise MeasurementError(f"{library} cannot be preloaded, as there is a blank or a colon in its path: move it")
    entries = dict(entry.partition(b"=")[::2] for entry in spec.env)
    before = entries.get(_PRELOAD, b"")
    entries[_PRELOAD] = b":".join(path for path in (os.fsencode(library), before) if path)
    entries |= variables
    return replace(spec, env=tuple(b"%s=%s" % entry for entry in entries.items()))
