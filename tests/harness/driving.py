"""Calls a harness as the driver does: with our arguments after the user's, and a pipe for the response."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HARNESS = [sys.executable, "-m", "steelyard.harness"]
VERSION = "--steelyard-protocol=1"
LIST = [VERSION, "--steelyard-list"]


@dataclass(frozen=True)
class Called:
    """What a call returned."""

    status: int
    written: bytes
    stdout: str
    stderr: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        assert self.written.endswith(b"\n")
        return [json.loads(line) for line in self.written.decode().splitlines()]

    @property
    def body(self) -> list[dict[str, Any]]:
        """The lines between the hello and the end."""
        first, *between, last = self.lines
        assert first["steelyard"] == 1
        assert first["language"] == "Python"
        assert last == {"end": True}
        return between

    @property
    def names(self) -> list[str]:
        assert self.status == 0, self.body
        return [line["benchmark"] for line in self.body]

    @property
    def error(self) -> str:
        """The error of a call that must have failed, in its only line of that kind."""
        errors = [line["error"] for line in self.body if "error" in line]
        assert self.status != 0
        assert len(errors) == 1
        return str(errors[0])


def run_arguments(name: str, loops: object = 3, samples: object = 2, seed: object = 1) -> list[str]:
    return [
        VERSION,
        f"--steelyard-run={name}",
        f"--steelyard-loops={loops}",
        f"--steelyard-samples={samples}",
        f"--steelyard-seed={seed}",
    ]


def each_arguments(*names: str, loops: int = 3, orders: str = "", fd: int | None = None) -> list[str]:
    """Return the arguments that ask for two samples of each benchmark, each benchmark in a process of its own."""
    beside = [] if fd is None else [f"--steelyard-lockstep={fd}"]
    return [VERSION, *(f"--steelyard-each={loops}:2:1:{orders}:{name}" for name in names), *beside]


def parts_of(called: Called) -> list[Called]:
    """Return what came of each benchmark of such a call, as if each had been called alone."""
    assert called.status == 0, called.body
    return [
        Called(part["numbers"]["exit_code"], part["results"].encode(), called.stdout, called.stderr)
        for part in called.body
    ]


def call(
    command: Sequence[str | Path],
    arguments: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Called:
    """Run a command followed by our arguments and one more, which names the descriptor for the response."""
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as output:
        reader, writer = os.pipe()
        process = subprocess.Popen(
            [*command, *arguments, f"--steelyard-fd={writer}"],
            pass_fds=[writer],
            stdout=output,
            stderr=errors,
            cwd=cwd,
            env={**os.environ, **(env or {})},
        )
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            written = pipe.read()
        process.wait()
        output.seek(0)
        errors.seek(0)
        return Called(process.returncode, written, output.read().decode(), errors.read().decode())


def listed(*paths: str | Path) -> Called:
    return call([*HARNESS, *paths], LIST)


def ran(path: str | Path, name: str, loops: object = 3, samples: object = 2, seed: object = 1) -> Called:
    return call([*HARNESS, path], run_arguments(name, loops, samples, seed))
