"""Fix what would change counts: the environment, the lengths of paths, random numbers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from steelyard.measure.elf import HEADER_BYTES, is_elf, read_elf
from steelyard.measure.native import PRELOAD
from steelyard.model.launch_spec import LaunchSpec

# One after the arguments and one after everything else: the C library's work on a string depends on its address.
PADDING_NAMES = (b"STEELYARD_PADDING_1", b"STEELYARD_PADDING_2")
FIXED = {
    "LC_ALL": "C",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PERL_HASH_SEED": "0",
    "PERL_PERTURB_KEYS": "0",
}
# Where programs and their files are found. The values differ between users, so padding evens out their lengths.
_KEPT_DEFAULTS = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/", "TMPDIR": "/tmp"}  # noqa: S108 - the system's default
# Arguments and environment end at the same place in a page, whatever they hold; first-level caches tell addresses
# apart by the place in a page only.
_BLOCK_BYTES = 8192
# The stack begins below the pointers to these strings, one for each.
_POINTER_BYTES = 8
_PATH_BLOCK_BYTES = 512
# The kernel's PATH_MAX, with the byte that ends a path.
_MOST_PATH_BYTES = 4096


def environment(
    source: Mapping[str, str], wanted: Iterable[str], variables: Mapping[str, str], *, preload: bool, start: bool
) -> dict[str, str]:
    """Return the environment of a counted launch, without its padding.

    The `wanted` names are passed on from `source`; `variables` are set and override the fixed ones. With `preload`
    random numbers are fixed; with `start` the preload starts the counting once the program is loaded.
    """
    defaults = {name: source.get(name, default) for name, default in _KEPT_DEFAULTS.items()}
    passed_on = {name: source[name] for name in wanted if name in source and name not in defaults}
    # Padded, so that its length does not depend on where it is installed.
    preload_variable = {"LD_PRELOAD": os.fsdecode(padded_path(os.fsencode(PRELOAD)))} if preload else {}
    start_variable = {"STEELYARD_START": "1"} if preload and start else {}
    # What differs between users comes last, so that it shifts nothing else.
    fixed = {**FIXED, **preload_variable, **start_variable}
    return {
        **fixed,
        **{name: value for name, value in {**defaults, **passed_on}.items() if name not in fixed},
        **variables,
    }


def padded(spec: LaunchSpec) -> LaunchSpec:
    """Return the launch with the program's path, the arguments and the environment padded to fixed lengths.

    Slashes before a path change only its length, so the program still finds itself and what is beside it.
    """
    path = padded_path(spec.program, spec.cwd)
    argv = (path, *spec.argv[1:])
    behind_argv = _padding(PADDING_NAMES[0], argv)
    # The kernel puts the path once more at the end, for the loader (AT_EXECFN).
    behind_all = _padding(PADDING_NAMES[1], (*spec.env, path))
    return replace(spec, program=path, argv=argv, env=(behind_argv, *spec.env, behind_all))


def _padding(name: bytes, strings: Iterable[bytes]) -> bytes:
    """Return a variable that fills whole blocks together with `strings` and the pointers to them."""
    used = sum(len(text) + 1 + _POINTER_BYTES for text in strings) + len(name) + 2
    return name + b"=" + b"x" * (-used % _BLOCK_BYTES)


def padded_path(program: bytes, folder: bytes | None = None) -> bytes:
    """Return an absolute path to the same file, padded to one of a few lengths.

    A relative path is taken from `folder` (None: the working directory).
    """
    # Not normalised: `link/..` need not be the folder that the link is in.
    path = os.path.join(folder or os.getcwdb(), program.removeprefix(b"./"))  # noqa: PTH118, PTH109 - bytes
    # The file's name begins at a fixed place, as the C library searches for the last slash.
    slashes = -(path.rfind(b"/") + 1) % _PATH_BLOCK_BYTES
    return b"/" * slashes + path if len(path) + slashes < _MOST_PATH_BYTES else path


def is_program(program: Path) -> bool:
    """Return whether the kernel would execute a file; True if it is unreadable, as it may be executable even so."""
    try:
        with program.open("rb") as file:
            head = file.read(HEADER_BYTES)
    except OSError:
        return True
    return head.startswith(b"#!") or is_elf(head)


def is_dynamic(program: Path) -> bool | None:
    """Return whether a loader starts a program, so that preloads reach it; None for a script or an unreadable file."""
    elf = read_elf(program)
    return None if elf is None else elf.interpreter is not None
