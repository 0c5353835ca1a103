"""What fixes one launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

MAPPING_PAGES = 1 << 16
"""How many different base addresses the memory mappings of a launch may have."""


@dataclass(frozen=True)
class LaunchSpec:
    """Everything that fixes one launch: what to execute, and the environment it finds.

    Paths, arguments and environments are bytes, as they are to the kernel. `stdin`, `stdout` and `stderr` are paths;
    None is /dev/null to read from and /dev/zero to write to, and an int keeps that many of an output's last bytes for
    error messages.
    """

    program: bytes
    argv: tuple[bytes, ...]
    env: tuple[bytes, ...]
    cwd: bytes | None = None
    stdin: bytes | None = None
    stdout: bytes | int | None = None
    stderr: bytes | int | None = 4096
    timeout_ns: int | None = None
    cpus: tuple[int, ...] | None = None
    repeat: int = 1
    """How many processes, one after the other, make up this launch; its numbers are their sums."""
    fixed_layout: bool = False
    """Whether addresses are the same in every launch, where the system allows that; otherwise they are random."""
    mapping_pages: int | None = None
    """Where its memory mappings lie, below `MAPPING_PAGES`: equal numbers give equal addresses, where the system allows
    that; None leaves it to chance. It has no effect if the layout is fixed."""
    results: int | None = None
    """How many of the last bytes written to fd 3, for a harness's results, are kept; None closes fd 3."""
    counters: tuple[str, ...] = ()
    """The events (`model/counters.py`) that are counted during the launch."""
    leaves_running: bool = False
    """Whether processes that it leaves running go on until their launch server ends, and are reported as not killed."""
    lockstep: bool = False
    """Whether fd 4 is a socket whose other end the launch that runs at the same time has."""


class Draw(NamedTuple):
    """What is drawn anew for each pair and shared by its two launches, so that it cancels."""

    hash_seed: int
    padding_bytes: int
    layout: int = 0
    """Which build variant of its side each launch runs, from 1; 0 if there is only one."""
