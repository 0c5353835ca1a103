"""The programs need nothing from the C library that glibc 2.17 lacks, whichever glibc they are built with here."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

import steelyard.native

_OLDEST = (2, 17)
_NATIVE = Path(steelyard.native.__file__).parent
# Newer names of functions that were macros before: a program built with the old headers has the stubs within itself.
_ONCE_MACROS = {"stat", "fstat", "lstat", "fstatat", "stat64", "fstat64", "lstat64", "fstatat64"}


@pytest.fixture(scope="module")
def offered() -> dict[str, tuple[int, ...]]:
    """The version of glibc that introduced each name, of which glibc keeps the old versions beside the new."""
    loaded = re.search(r"(/\S*/libc[.-]\S*\.?so\S*)", Path("/proc/self/maps").read_text())
    assert loaded
    if "musl" in loaded[1]:
        pytest.skip("this machine's C library is musl")
    versions = defaultdict(list)
    for name, version in _symbols(Path(loaded[1])):
        versions[name].append(version)
    return {name: min(found) for name, found in versions.items()}


@pytest.mark.parametrize(
    "file",
    ["launch", "probes", "read", *(f"{name}.abi3.so" for name in ("clock", "heap", "preload", "scatter", "signs"))],
)
def test_all_that_is_asked_for_was_there(file: str, offered: dict[str, tuple[int, ...]]) -> None:
    asked = {name for name, _ in _symbols(_NATIVE / f"steelyard-{file}", undefined=True)}
    assert [name for name in sorted(asked - _ONCE_MACROS) if offered.get(name, (0,)) > _OLDEST] == []


def _symbols(file: Path, *, undefined: bool = False) -> list[tuple[str, tuple[int, ...]]]:
    """Return the names of a file with their versions of glibc; of undefined names, not the weak ones."""
    objdump = shutil.which("objdump")
    if objdump is None:
        pytest.skip("binutils are not installed: what the programs ask of the C library was not looked at")
    listed = subprocess.run([objdump, "-T", file], capture_output=True, text=True, check=True).stdout
    found = []
    for line in listed.splitlines():
        match = re.search(r"\(?GLIBC_([\d.]+)\)?\s+(\S+)$", line)
        if match and ("*UND*" in line) == undefined and not (undefined and re.match(r"\w+\s+w", line)):
            found.append((match[2], tuple(int(part) for part in match[1].split("."))))
    return found
