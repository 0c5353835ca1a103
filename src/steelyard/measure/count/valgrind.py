"""Valgrind on this machine: its path, its version, and the flags that fix what would change counts."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from steelyard.measure.launch import REMEDIES
from steelyard.model.counting import Caches, CountSettings
from steelyard.model.errors import MeasurementError, UsageError

_INSTALL = "install valgrind (Debian, Ubuntu, Fedora: the package valgrind; macOS: not supported there, use Linux)"
_OLDEST = (3, 15)
_VERSION = re.compile(r"valgrind-(\d+)\.(\d+)[\w.-]*")
# Otherwise the user's stack limit would decide where the target's stack is, and that changes cache misses.
_STACK_BYTES = 8 << 20
# Valgrind keeps a cache's size in an int, and takes no power of two that does not fit.
_MOST_CACHE_BYTES = 1 << 30


@dataclass(frozen=True)
class Valgrind:
    """One installed Valgrind."""

    program: Path
    version: str

    @classmethod
    def found(cls, search_path: str | None = None) -> Valgrind:
        """Look for it on a PATH (None: our own); raises MeasurementError if there is none, or only one too old."""
        wrapper = shutil.which("valgrind", path=search_path)
        if wrapper is None:
            raise MeasurementError(f"counting needs valgrind, which was not found on PATH: {_INSTALL}")
        # Debian's command is a shell script that adds variables to the environment, which would change counts.
        binary = Path(f"{wrapper}.bin")
        program = binary if binary.is_file() else Path(wrapper)
        return cls(program, _version_of(program))

    def flags(self, settings: CountSettings) -> list[str]:
        """Return all flags except those that name output files."""
        simulated = "yes" if settings.cache_simulation else "no"
        return [
            f"--tool={settings.tool}",
            # Only a verbose log tells a process that executed a program from one that was merely forked.
            "--verbose",
            "--command-line-only=yes",
            f"--main-stacksize={_STACK_BYTES}",
            "--vgdb=no",
            "--trace-children=yes",
            *(f"--{name}={','.join(map(str, shape))}" for name, shape in _shapes(settings.caches)),
            # Behind the caches: Callgrind simulates them when it is told of one.
            f"--cache-sim={simulated}",
            "--branch-sim=no",
            *(["--instr-atstart=no"] if settings.body or settings.after_start else []),
        ]


def _shapes(caches: Caches) -> list[tuple[str, tuple[int, int, int]]]:
    return [("I1", caches.i1), ("D1", caches.d1), ("LL", caches.ll)]


def _version_of(program: Path) -> str:
    try:
        ended = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=60,
        )
    except OSError as error:
        remedy = REMEDIES.get(error.errno or 0, _INSTALL)
        raise MeasurementError(f"{program} does not run ({error.strerror}): {remedy}") from error
    except subprocess.TimeoutExpired as error:
        raise MeasurementError(f"{program} does not run ({error}): {_INSTALL}") from error
    match = _VERSION.search(ended.stdout)
    if match is None and ended.returncode != 0 and (last_lines := ended.stderr.splitlines()[-2:]):
        message = " ".join(last_lines)[-200:]
        raise MeasurementError(f"{program} does not run here ({message!r}): fix that, or reinstall valgrind")
    if match is None:
        raise MeasurementError(f"{program} does not say its version ({ended.stdout.strip()[:80]!r}): {_INSTALL}")
    if (int(match[1]), int(match[2])) < _OLDEST:
        raise MeasurementError(
            f"{program} is version {match[0].removeprefix('valgrind-')}, and counting needs 3.15 or later: upgrade it"
        )
    return match[0].removeprefix("valgrind-")


PRESETS = {
    "article": Caches(),
    "haswell": Caches(name="haswell", ll=(20 << 20, 20, 64)),
    "small": Caches(name="small", ll=(2 << 20, 16, 64)),
}


def caches_named(word: str, host: dict[str, str] | None = None, also: tuple[str, ...] = ()) -> Caches:
    """Return the caches that a word names: a preset, `host` (this machine's) or "I1=SIZE,WAYS,LINE:D1=...:LL=...".

    Sizes may end in K or M. Raises UsageError for what Valgrind would not take; its message also lists the words in
    `also`, which the caller handles.
    """
    if word == "host":
        return host_caches(host or {})
    if word in PRESETS:
        return PRESETS[word]
    shapes = {}
    for part in word.split(":"):
        name, equals, shape = part.partition("=")
        if not equals or name.upper() not in ("I1", "D1", "LL"):
            raise UsageError(
                f"--caches {word!r} is not known: choose from {', '.join([*also, *PRESETS, 'host'])}, "
                "or write --caches I1=32K,8,64:D1=32K,8,64:LL=8M,16,64"
            )
        if name.lower() in shapes:
            raise UsageError(f"--caches {word!r} gives {name} twice: give each of I1, D1 and LL once")
        shapes[name.lower()] = _shape(word, shape.split(","))
    return _check_caches(word, Caches().model_copy(update={"name": "own", **shapes}))


def _shape(word: str, parts: list[str]) -> tuple[int, int, int]:
    try:
        size, ways, line = (_bytes(part) for part in parts)
    except ValueError:
        raise UsageError(f"--caches {word!r}: each is a size, ways and bytes a line, as in 32K,8,64") from None
    return size, ways, line


def _bytes(text: str) -> int:
    factor = {"K": 1 << 10, "M": 1 << 20}.get(text[-1:].upper(), 1)
    return int(text[:-1] if factor > 1 else text) * factor


def _check_caches(word: str, caches: Caches) -> Caches:
    for name, (size, ways, line) in _shapes(caches):
        sets = size // (ways * line) if ways > 0 and line > 0 else 0
        powers = all(number > 0 and number & (number - 1) == 0 for number in (sets, line))
        if line < 16 or not powers or sets * ways * line != size:
            raise UsageError(
                f"--caches {word!r}: {name} of {size} bytes, {ways} ways and {line} bytes a line cannot be simulated; "
                "size / (ways x line) and the line have to be powers of two"
            )
        if size > _MOST_CACHE_BYTES:
            raise UsageError(
                f"--caches {word!r}: {name} of {size:,} bytes is too large: valgrind simulates up to 1024M"
            )
    return caches


def host_caches(host: dict[str, str]) -> Caches:
    """Return the shapes nearest to this machine's cache sizes (`MachineFacts.caches`) that Valgrind can simulate.

    Lines have 64 bytes; the ways are chosen so that the number of sets is a power of two, as Valgrind requires.
    """
    try:
        sizes = {"i1": _bytes(host["L1i"]), "d1": _bytes(host["L1d"])}
        sizes["ll"] = max(_bytes(size) for level, size in host.items() if not level.startswith("L1"))
    except (KeyError, ValueError):
        raise UsageError(
            "this machine does not say how large its caches are: give them with --caches I1=...:D1=...:LL=..."
        ) from None
    return Caches(name="host", **{name: _nearest_shape(size) for name, size in sizes.items()})


def last_levels_below(caches: Caches) -> list[tuple[int, int, int]]:
    """Return shapes of a half, a quarter and an eighth of the last level, those at least 16 times the size of D1."""
    size, ways, line = caches.ll
    halves = [(size >> step, ways, line) for step in (1, 2, 3)]
    return [shape for shape in halves if shape[0] >= 16 * caches.d1[0]]


def _nearest_shape(size: int) -> tuple[int, int, int]:
    line, fewest_ways = 64, 8
    sets = 1 << max(0, (size // (line * fewest_ways)).bit_length() - 1)
    ways = max(1, size // (sets * line))
    return sets * ways * line, ways, line
