"""What moves counts and can be fixed: the environment, the length of paths, random numbers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from steelyard.measure.elf import read_elf
from steelyard.measure.native import PRELOAD
from steelyard.model.launches import LaunchSpec

# One behind the arguments and one behind all: where a string stands moves what the C library does with it.
PADDING_NAMES = (b"STEELYARD_PADDING_1", b"STEELYARD_PADDING_2")
FIXED = {
    "LC_ALL": "C",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PERL_HASH_SEED": "0",
    "PERL_PERTURB_KEYS": "0",
}
# Where programs and their files are found: values differ between users, so their lengths are padded away.
_KEPT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/", "TMPDIR": "/tmp"}  # noqa: S108 - the system's default
# Arguments and environment end at the same place in a page, whatever they hold; a page is all that caches of the
# first level can tell apart.
_BLOCK = 8192
# The stack begins below the pointers to them, one for each.
_POINTER_BYTES = 8
_PATH_BLOCK = 512
# The kernel's PATH_MAX, with the byte that ends a path.
_PATH_BYTES = 4096
_ELF, _ELF_HEADER = b"\x7fELF", 64


def environment(
    source: Mapping[str, str], wanted: Iterable[str], variables: Mapping[str, str], *, preload: bool, start: bool
) -> dict[str, str]:
    """The environment of a counted launch, without its padding.

    `wanted` names are passed on from `source`, `variables` set outright, over the fixed ones. With `preload` random
    numbers are fixed; with `start` the preload starts the counting, after the program was loaded.
    """
    kept = {name: source.get(name, default) for name, default in _KEPT.items()}
    passed = {name: source[name] for name in wanted if name in source and name not in kept}
    # Its length is that of no installation.
    ours = {"LD_PRELOAD": os.fsdecode(padded_path(os.fsencode(PRELOAD)))} if preload else {}
    started = {"STEELYARD_START": "1"} if preload and start else {}
    # What differs between users comes last, so that it moves nothing.
    fixed = {**FIXED, **ours, **started}
    return {**fixed, **{name: value for name, value in {**kept, **passed}.items() if name not in fixed}, **variables}


def padded(spec: LaunchSpec) -> LaunchSpec:
    """The launch with its program's path and its strings brought to fixed lengths.

    Slashes before a path change nothing but its length, so the program finds itself, and what is beside it.
    """
    path = padded_path(spec.program, spec.cwd)
    argv = (path, *spec.argv[1:])
    behind_argv = _padding(PADDING_NAMES[0], argv)
    # The path is there once more at the end, as what the kernel tells the loader (AT_EXECFN).
    behind_all = _padding(PADDING_NAMES[1], (*spec.env, path))
    return replace(spec, program=path, argv=argv, env=(behind_argv, *spec.env, behind_all))


def _padding(name: bytes, strings: Iterable[bytes]) -> bytes:
    """A variable that fills whole blocks, together with the strings beside it and the pointers to them."""
    used = sum(len(text) + 1 + _POINTER_BYTES for text in strings) + len(name) + 2
    return name + b"=" + b"x" * (-used % _BLOCK)


def padded_path(program: bytes, folder: bytes | None = None) -> bytes:
    """An absolute path to the same file, of one of few lengths; a relative one is within a `folder` (None: ours)."""
    # Not normalised: `link/..` is not the folder that the link is in.
    path = os.path.join(folder or os.getcwdb(), program.removeprefix(b"./"))  # noqa: PTH118, PTH109 - bytes
    # The name begins at a fixed place, as the C library looks for the last slash.
    slashes = -(path.rfind(b"/") + 1) % _PATH_BLOCK
    return b"/" * slashes + path if len(path) + slashes < _PATH_BYTES else path


def is_program(program: Path) -> bool:
    """Whether the kernel would execute a file; True for one that may be executed and not be read."""
    try:
        with program.open("rb") as file:
            head = file.read(_ELF_HEADER)
    except OSError:
        return True
    return head.startswith(b"#!") or (head.startswith(_ELF) and len(head) == _ELF_HEADER)


def is_dynamic(program: Path) -> bool | None:
    """Whether the loader starts a program, so that a preload reaches it; None for a script, or what cannot be read."""
    elf = read_elf(program)
    return None if elf is None else elf.interpreter is not None
