"""Builds the Rust programs of the adapters' tests, as a user would."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.builds import built, locked
from tests.subjects.adapters.driven import OFFERED, SOURCES

# What Cargo says where crates have to be fetched and cannot be.
_UNREACHABLE = ("failed to download", "failed to get", "Could not resolve host", "offline")


def cargo_bench(crate: str) -> Path:
    """The executable of a crate's benchmarks; Cargo knows whether it has to be built. Skips the test without Cargo."""
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("there is no cargo: install Rust (https://rustup.rs)")
    with locked(OFFERED / f"{crate}.lock"):
        done = subprocess.run(
            [cargo, "bench", "--no-run", "--locked", "-j1", "--message-format=json"],
            cwd=SOURCES / crate,
            env={**os.environ, "CARGO_TARGET_DIR": str(OFFERED / crate)},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode and any(text in done.stderr for text in _UNREACHABLE):
        pytest.skip(f"the crates that {crate} needs cannot be fetched: run cargo fetch with a network")
    assert done.returncode == 0, done.stderr
    messages = map(json.loads, done.stdout.splitlines())
    (program,) = [message["executable"] for message in messages if message.get("executable")]
    return Path(program)


def slower(program: Path, crate: str) -> Path:
    """The same program under the name that makes it take twice as long."""

    def make(place: Path) -> None:
        shutil.copy2(program, place / "slower")

    return built(f"{crate}-slower", make, program) / "slower"
