"""The tools and variables that builds are made with: when these change, a kept build has to be made anew.

A compiler is identified by the place, size and time of its file, which takes microseconds; asking each for its version
would take longer than everything else before the first pair.
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
    "cc c++ gcc g++ gfortran nvcc clang clang++ ld ld.lld mold make cmake ninja meson rustc cargo go zig swift ghc "  # noqa: SIM905
    "javac java mvn gradle python3 python node tsc dotnet".split()
)
# What build tools and compilers read. Builds do not get the rest of the environment, nor any secret in it.
_NAMES = frozenset(
    "CC CXX CPP LD AR AS NM RANLIB STRIP CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LDLIBS LIBS CPATH C_INCLUDE_PATH "  # noqa: SIM905
    "CPLUS_INCLUDE_PATH LIBRARY_PATH LD_LIBRARY_PATH LD_RUN_PATH FC F77 FFLAGS FCFLAGS CUDACXX CUDAFLAGS CUDA_HOME "
    "CUDA_PATH SOURCE_DATE_EPOCH JAVA_HOME MAVEN_OPTS MAVEN_ARGS JAVA_TOOL_OPTIONS VIRTUAL_ENV CONDA_PREFIX PYTHONPATH "
    "NODE_PATH NODE_OPTIONS "
    "PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_TRUSTED_HOST PIP_FIND_LINKS PIP_CONSTRAINT PIP_CONFIG_FILE UV_INDEX "
    "UV_DEFAULT_INDEX UV_INDEX_URL NPM_CONFIG_REGISTRY npm_config_registry".split()
)
_PREFIXES = (
    *("CARGO_", "RUST", "CMAKE_", "CGO_", "CCACHE_", "SCCACHE_", "GRADLE_", "MESON_", "PKG_CONFIG"),
    *("NIX_CFLAGS", "NIX_LDFLAGS", "NIX_CC", "NIX_BINTOOLS"),  # others of Nix differ from shell to shell
)
_GO_NAMES = frozenset(
    "GOFLAGS GOROOT GOPATH GOPROXY GOPRIVATE GONOPROXY GONOSUMDB GOSUMDB GOINSECURE GOTOOLCHAIN GOEXPERIMENT GOARCH "  # noqa: SIM905
    "GOOS GOAMD64 GOARM64 GOCACHE GOMODCACHE GOWORK".split()
)
# Builds need these to reach packages, but come out the same whatever their values are.
_NOT_FINGERPRINTED = tuple(
    "http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY XDG_CACHE_HOME PIP_CACHE_DIR UV_CACHE_DIR "  # noqa: SIM905
    "SSL_CERT_FILE SSL_CERT_DIR GIT_SSL_CAINFO REQUESTS_CA_BUNDLE CURL_CA_BUNDLE PIP_CERT NODE_EXTRA_CA_CERTS "
    "CARGO_HOME RUSTUP_HOME".split()
)
# The words of a shell command; without relative paths, which are of files in the tree.
_WORDS = re.compile(r"(?<![^\s;|&()`'\"=<>])(?:/[^\s;|&()`'\"=<>]+|[^\s;|&()`'\"=<>/]+)(?![^\s;|&()`'\"=<>])")
# Where a build writes. Cargo identifies a package by its place in the workspace, not by the workspace's own place: in
# one folder for both sides it takes one side's build for the other's, and delivers the same program twice.
_OUTPUT_VARIABLES = frozenset({"CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "CARGO_BUILD_BUILD_DIR"})


def shared_folders(wanted: Mapping[str, str]) -> list[str]:
    """Return the variables among those set outright that would make all builds write into one folder."""
    return sorted(name for name in _OUTPUT_VARIABLES & wanted.keys() if os.path.isabs(wanted[name]))  # noqa: PTH117 - a text


def build_environment(source: Mapping[str, str], wanted: Mapping[str, str]) -> dict[str, str]:
    """Return a build's environment: the small one of launches, what compilers read, and what is `wanted` outright."""
    names = [*PASSED_ON, *_NOT_FINGERPRINTED, *_relevant_names(source)]
    return {**{name: source[name] for name in names if name in source}, **wanted}


def fingerprint(source: Mapping[str, str], wanted: Mapping[str, str], command: str) -> list[str]:
    """Return what a build depends on besides its sources and its command, in a fixed order."""
    variables = {name: source[name] for name in _relevant_names(source) if name not in _NOT_FINGERPRINTED} | dict(
        wanted
    )
    settings = [f"{name}={value}" for name, value in sorted(variables.items())]
    environment = {**source, **wanted}
    return [
        *settings,
        *_tools_on_path(environment),
        *named_program_stamps([command, *variables.values()], environment),
        *_user_settings(environment),
    ]


def _relevant_names(source: Mapping[str, str]) -> Iterator[str]:
    for name, value in source.items():
        is_read = name in _NAMES or name in _GO_NAMES or name.startswith(_PREFIXES)
        if is_read and name not in _OUTPUT_VARIABLES and not is_secret(name, value):
            yield name


def _tools_on_path(source: Mapping[str, str]) -> Iterator[str]:
    """Yield every such tool on the path: the first may be a wrapper of a later one, as ccache's are."""
    folders = dict.fromkeys(filter(None, source.get("PATH", os.defpath).split(os.pathsep)))
    return _file_stamps(os.path.join(folder, tool) for folder, tool in product(folders, _TOOLS))  # noqa: PTH118 - 300 of them


def named_program_stamps(texts: Iterable[str], source: Mapping[str, str]) -> Iterator[str]:
    """Yield the programs that commands or variables name, on the path or absolute: `gcc-13`, `/opt/bin/cc`.

    Each comes with what tells that it has changed.
    """
    words = dict.fromkeys(word for text in texts for word in _WORDS.findall(text))
    places = (word if os.path.isabs(word) else shutil.which(word, path=source.get("PATH")) for word in words)  # noqa: PTH117
    return _file_stamps(place for place in places if place is not None and _is_program(place))


def _is_program(place: str) -> bool:
    return os.path.isfile(place) and os.access(place, os.X_OK)  # noqa: PTH113 - never raises


def _file_stamps(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        try:
            status = os.stat(path)  # noqa: PTH116
        except OSError:
            continue
        yield f"{path} {os.path.realpath(path)} {status.st_size} {status.st_mtime_ns}"


def _user_settings(source: Mapping[str, str]) -> Iterator[str]:
    """Yield what files of the user's tell tools, wherever these run.

    Programs of rustup, pyenv and their like on the path are one program each, which starts whichever version is chosen.
    """
    home = Path(source.get("HOME", "/"))
    rustup, cargo = (Path(source.get(f"{name.upper()}_HOME") or home / f".{name}") for name in ("rustup", "cargo"))
    folders = dict.fromkeys(map(Path, source.get("PATH", "").split(os.pathsep)))
    files = [
        *(rustup / "settings.toml", *sorted(rustup.glob("update-hashes/*"))),
        *(cargo / "config.toml", cargo / "config", home / ".config/go/env"),
        *(one.parent / "version" for one in folders if one.name == "shims"),  # of pyenv and rbenv
        *(home / ".tool-versions", home / ".config/mise/config.toml"),
    ]
    for path in files:
        try:
            yield f"{path} {path.read_text(errors='replace').strip()}"
        except OSError:
            continue
