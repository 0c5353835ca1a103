"""What fixes one launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

MAPPING_PAGES = 1 << 16
"""How many places there are for what a launch maps into its memory."""


@dataclass(frozen=True)
class LaunchSpec:
    """Everything that fixes one launch: what to execute and the surroundings it finds.

    Bytes, because paths, arguments and environments are bytes to the kernel. `stdin`, `stdout` and `stderr` are paths;
    None is /dev/null to read from and /dev/zero to write to, and an int keeps the last so many bytes of an output for
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
    """Whether addresses are the same in every launch, where the system allows that; else they are random."""
    mapping_pages: int | None = None
    """Where what it maps into its memory lies, below `MAPPING_PAGES`: equal numbers, equal addresses, where the system
    allows that; None leaves it to chance. Of no effect where the layout is fixed."""
    results: int | None = None
    """Of what it writes to fd 3, where a harness puts its results, the last so many bytes are kept; None closes it."""
    counters: tuple[str, ...] = ()
    """The events (`model/counters.py`) that are counted of it."""
    leaves_running: bool = False
    """Whether what it leaves running goes on until its launch server ends, and is told of as not killed."""
    lockstep: bool = False
    """Whether fd 4 is a socket, at the other end of which is the launch that runs at the same time."""


class Draw(NamedTuple):
    """What is drawn anew for each pair and shared by its two launches, so that it cancels."""

    hash_seed: int
    padding_bytes: int
    layout: int = 0
    """Which build variant of its side each launch runs, from 1; 0 where there is but one."""
