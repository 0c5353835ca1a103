"""What builds are made with, as far as a build that is kept has to be made anew when it changes.

A compiler is known by the place, size and time of its file, which takes microseconds; asking each for its version would
take longer than all else before the first pair.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path

from steelyard.model.secrecy import is_secret
from steelyard.subjects.command import PASSED_ON

_TOOLS = tuple(
    "cc c++ gcc g++ clang clang++ ld ld.lld mold make cmake ninja meson rustc cargo go zig swift ghc "  # noqa: SIM905
    "javac java mvn gradle python3 python node tsc dotnet".split()
)
# What makes and compilers read; the rest of the environment is not for a build, nor any token that is in it.
_NAMES = frozenset(
    "CC CXX CPP LD AR AS NM RANLIB STRIP CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LDLIBS LIBS CPATH C_INCLUDE_PATH "  # noqa: SIM905
    "CPLUS_INCLUDE_PATH LIBRARY_PATH LD_LIBRARY_PATH PKG_CONFIG PKG_CONFIG_PATH SOURCE_DATE_EPOCH JAVA_HOME MAVEN_OPTS "
    "JAVA_TOOL_OPTIONS VIRTUAL_ENV CONDA_PREFIX PYTHONPATH NODE_PATH NODE_OPTIONS".split()
)
_PREFIXES = ("CARGO_", "RUST", "CMAKE_", "CGO_", "CCACHE_", "SCCACHE_", "GRADLE_", "MESON_")
_GO = frozenset("GOFLAGS GOROOT GOPATH GOPROXY GOTOOLCHAIN GOARCH GOOS GOAMD64 GOCACHE GOMODCACHE GOWORK".split())  # noqa: SIM905
# Builds need the way out to packages, and are the same whichever way that is.
_UNTOLD = tuple(
    "http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY XDG_CACHE_HOME SSL_CERT_FILE SSL_CERT_DIR "  # noqa: SIM905
    "GIT_SSL_CAINFO CARGO_HOME RUSTUP_HOME".split()
)
# Of a command for the shell, without what it has between them; in a relative path is what the tree has.
_WORDS = re.compile(r"(?<![^\s;|&()`'\"=<>])(?:/[^\s;|&()`'\"=<>]+|[^\s;|&()`'\"=<>/]+)(?![^\s;|&()`'\"=<>])")
# Where a build writes. Cargo knows a package by its place in the workspace, not by where that is: in one folder for
# both sides it takes what it built of the one for the other's, and hands out one program twice.
_WRITTEN = frozenset({"CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "CARGO_BUILD_BUILD_DIR"})


def shared_folders(wanted: Mapping[str, str]) -> list[str]:
    """The variables asked for outright that would have all builds write into one folder."""
    return sorted(name for name in _WRITTEN & wanted.keys() if os.path.isabs(wanted[name]))  # noqa: PTH117 - a text


def build_environment(source: Mapping[str, str], wanted: Mapping[str, str]) -> dict[str, str]:
    """What a build finds: the small environment of launches, what compilers read, and what is `wanted` outright."""
    names = [*PASSED_ON, *_UNTOLD, *_telling(source)]
    return {**{name: source[name] for name in names if name in source}, **wanted}


def fingerprint(source: Mapping[str, str], wanted: Mapping[str, str], command: str) -> list[str]:
    """What a build hangs on beside its sources and its command, in an order of its own."""
    variables = {name: source[name] for name in _telling(source) if name not in _UNTOLD} | dict(wanted)
    told = [f"{name}={value}" for name, value in sorted(variables.items())]
    found = {**source, **wanted}
    return [*told, *_tools(found), *_named([command, *variables.values()], found), *_rust(found)]


def _telling(source: Mapping[str, str]) -> Iterator[str]:
    for name, value in source.items():
        is_read = name in _NAMES or name in _GO or name.startswith(_PREFIXES)
        if is_read and name not in _WRITTEN and not is_secret(name, value):
            yield name


def _tools(source: Mapping[str, str]) -> Iterator[str]:
    """Every such tool on the path: the first may be a wrapper, as ccache's are, of one behind it."""
    folders = filter(None, source.get("PATH", os.defpath).split(os.pathsep))
    return _files(os.path.join(folder, tool) for folder, tool in product(folders, _TOOLS))  # noqa: PTH118 - 300 of them


def _named(texts: Iterable[str], source: Mapping[str, str]) -> Iterator[str]:
    """The programs that a command or a variable names, on the path or by their place: `gcc-13`, `/opt/bin/cc`."""
    words = dict.fromkeys(word for text in texts for word in _WORDS.findall(text))
    places = (word if os.path.isabs(word) else shutil.which(word, path=source.get("PATH")) for word in words)  # noqa: PTH117
    return _files(place for place in places if place is not None and _is_program(place))


def _is_program(place: str) -> bool:
    return os.path.isfile(place) and os.access(place, os.X_OK)  # noqa: PTH113 - never raises


def _files(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        try:
            found = os.stat(path)  # noqa: PTH116
        except OSError:
            continue
        yield f"{path} {os.path.realpath(path)} {found.st_size} {found.st_mtime_ns}"


def _rust(source: Mapping[str, str]) -> Iterator[str]:
    """The toolchains of rustup, whose files on the path are one program that starts whichever is chosen."""
    home = Path(source.get("RUSTUP_HOME") or Path(source.get("HOME", "/")) / ".rustup")
    for path in [home / "settings.toml", *sorted(home.glob("update-hashes/*"))]:
        try:
            yield f"{path.name} {path.read_text(errors='replace').strip()}"
        except OSError:
            continue
