"""Calls a program as the driver does: a pipe for the response, and arguments that say what is wanted."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Among a program's arguments it stands for the one that names the pipe.
FD = "--steelyard-fd=PIPE"
# An interactive terminal: without what Cargo says to those that it runs.
PLAIN = {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}


@dataclass(frozen=True)
class Response:
    """What a program wrote where it was asked to, and how it ended."""

    status: int
    lines: list[dict[str, Any]]
    stdout: str
    stderr: str

    @property
    def inner(self) -> list[dict[str, Any]]:
        """What is between the hello and the end, which have to be there."""
        assert (self.lines[0].get("steelyard"), self.lines[-1]) == (1, {"end": True}), self
        return self.lines[1:-1]

    @property
    def samples(self) -> list[dict[str, Any]]:
        """The same, of a call that went well; for a list, its benchmarks."""
        assert self.status == 0, self
        return self.inner

    @property
    def error(self) -> str:
        """What went wrong, of a response that says nothing else."""
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
    """Run a command with these arguments behind it; STEELYARD_TEST_FD in its environment names the pipe as well."""
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
