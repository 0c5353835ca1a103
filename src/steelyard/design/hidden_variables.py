"""A finding on variables that the user has set, that a program reads, and that no launch has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.design.findings import some_names
from steelyard.measure.elf import needed_libraries, started_by
from steelyard.model.findings import HIDDEN_VARIABLE, Finding

if TYPE_CHECKING:
    from steelyard.model.settings import Settings
    from steelyard.model.subject import Subject

# What the loader, the C library, allocators, BLAS, and the run times of OpenMP, Rayon and Go read in any program.
_OF_ANY = (
    *("LD_PRELOAD", "GLIBC_TUNABLES", "MALLOC_ARENA_MAX", "MALLOC_CONF"),
    *(
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "RAYON_NUM_THREADS",
        "GOMAXPROCS",
        "GOGC",
        "GOMEMLIMIT",
    ),
)
# Where PostgreSQL's programs find the server and what they ask it for.
_OF_POSTGRESQL = ["PGHOST", "PGPORT", "PGDATABASE", "PGUSER", "PGSERVICE", "PGOPTIONS"]
# What each interpreter reads: where it finds what it loads, and how it runs that.
_OF_INTERPRETERS = {
    "python": ["PYTHONPATH", "PYTHONOPTIMIZE", "PYTHONMALLOC", "PYTHON_JIT", "PYTHON_GIL"],
    "perl": ["PERL5LIB", "PERL5OPT"],
    "node": ["NODE_PATH", "NODE_OPTIONS", "NODE_ENV"],
    "ruby": ["RUBYLIB", "RUBYOPT"],
    "tclsh": ["TCLLIBPATH"],
    "psql": _OF_POSTGRESQL,
    "pgbench": _OF_POSTGRESQL,
    "java": ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"],
}
_INTERPRETER = re.compile(rf"({'|'.join(_OF_INTERPRETERS)})[\d.]*")
_CLASS_PATH = "CLASSPATH"
# With one of these, a JVM does not look at the variable.
_CLASS_PATH_OPTIONS = frozenset(("-jar", "-cp", "-classpath", "--class-path"))
_LIBRARY_PATH = "LD_LIBRARY_PATH"


def hidden_variables_finding(
    subjects: Sequence[Subject], settings: Settings, environment: Mapping[str, str]
) -> list[Finding]:
    """Return a finding if a program may not have run as it does in the user's shell, for want of variables there."""
    passed_on = {*settings.environment, *settings.variables}
    hidden = {name: value for name, value in environment.items() if value and name not in passed_on}
    found = {name: one for one in reversed(subjects) for name in _read_by(one, hidden)}
    names = [name for name in hidden if name in found]
    if not names:
        return []
    are, them = ("is", "it") if len(names) == 1 else ("are", "them")
    program = Path(found[names[0]].program).name
    return [
        Finding(
            code=HIDDEN_VARIABLE,
            message=f"{some_names(names)} {are} set here, but a launch does not see {them}: {program} may not have run "
            "as it does in your shell",
            remedy=f"{' '.join(f'--env {name}' for name in names)} passes {them} on",
        )
    ]


def _read_by(subject: Subject, hidden: Mapping[str, str]) -> Iterator[str]:
    """Yield the variables that change how a command runs."""
    yield from _OF_ANY
    program = Path(subject.program)
    started = started_by(program)
    interpreter = next(
        (match[1] for one in (program, started) if one and (match := _INTERPRETER.fullmatch(one.name))), ""
    )
    yield from _OF_INTERPRETERS.get(interpreter, ())
    if interpreter == "java" and _CLASS_PATH_OPTIONS.isdisjoint(subject.argv):
        yield _CLASS_PATH
    if started is not None and _finds_library(started, hidden.get(_LIBRARY_PATH, "")):
        yield _LIBRARY_PATH


def _finds_library(program: Path, folders: str) -> bool:
    """Return whether one of the folders (separated by colons) has a library that a program asks for."""
    try:
        names = needed_libraries(program.read_bytes()) if folders else []
        return any(Path(folder, name).exists() for folder in folders.split(":") for name in names)
    except OSError:  # where a broken file has a name that is too long, too
        return False
