"""Call a program of benchmarks like the driver does (docs/protocol.md), without a weighing."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from typing import Any


def samples_of(program: Sequence[str], benchmark: str, loops: int, samples: int) -> list[dict[str, Any]]:
    """Take `samples` samples of `loops` iterations each of one benchmark, in a process of its own."""
    reads, writes = os.pipe()
    asked = {"protocol": 1, "fd": writes, "run": benchmark, "loops": loops, "samples": samples, "seed": 0}
    try:
        command = [*program, *(f"--steelyard-{name}={value}" for name, value in asked.items())]
        subprocess.run(command, pass_fds=[writes], check=True)
    finally:
        os.close(writes)
    with os.fdopen(reads) as answer:
        lines = [json.loads(line) for line in answer]
    return [line for line in lines if "loops" in line and "ns" in line]
