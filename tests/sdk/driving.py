"""Calls a program as the driver does: with a pipe for the response, and arguments that say what is wanted."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Stands for the argument that names the pipe.
FD = "--steelyard-fd=PIPE"
# The environment of an interactive terminal: without the variables that Cargo sets for what it runs.
PLAIN = {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}


@dataclass(frozen=True)
class Response:
    """What a program wrote to the pipe, and how it ended."""

    status: int
    lines: list[dict[str, Any]]
    stdout: str
    stderr: str

    @property
    def inner(self) -> list[dict[str, Any]]:
        """The lines between the hello and the end, both of which must be there."""
        assert (self.lines[0].get("steelyard"), self.lines[-1]) == (1, {"end": True}), self
        return self.lines[1:-1]

    @property
    def samples(self) -> list[dict[str, Any]]:
        """The same lines of a call that must have ended well: samples, or the benchmarks of a list."""
        assert self.status == 0, self
        return self.inner

    @property
    def error(self) -> str:
        """The error of a call that must have failed, and say nothing else."""
        assert self.status != 0, self
        assert [list(line) for line in self.inner] == [["error"]], self
        return str(self.inner[0]["error"])


def drive(
    command: Sequence[str | Path],
    arguments: Sequence[str],
    environment: Mapping[str, str] | None = None,
    *,
    pass_fds: Sequence[int] = (),
) -> Response:
    """Run a command followed by these arguments; STEELYARD_TEST_FD in its environment names the pipe, too."""
    reads, writes = os.pipe()
    given = [argument.replace(FD, f"--steelyard-fd={writes}") for argument in arguments]
    with subprocess.Popen(
        [*map(str, command), *given],
        pass_fds=[writes, *pass_fds],
        env={**PLAIN, "STEELYARD_TEST_FD": str(writes), **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        os.close(writes)
        with os.fdopen(reads, encoding="utf-8", newline="\n") as pipe:
            text = pipe.read()
        stdout, stderr = process.communicate(timeout=60)
    assert text == "" or text.endswith("\n")
    return Response(process.returncode, [json.loads(line) for line in text.split("\n")[:-1]], stdout, stderr)
