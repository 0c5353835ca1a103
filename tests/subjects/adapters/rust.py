"""Builds the Rust programs of the adapters' tests, as a user would."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.builds import built, locked
from tests.subjects.adapters.driven import OFFERED, SOURCES, offered

# What Cargo says if a crate or a lock file needs a later Rust; the second comes after "failed to download".
_TOO_OLD = ("requires rustc", "is not stabilized in this version of Cargo", "does not understand this lock file")
# What Cargo says if it cannot fetch crates that it needs.
_UNREACHABLE = ("failed to download", "failed to get", "Could not resolve host", "offline")


def cargo_bench(crate: str) -> Path:
    """Return the executable of a crate's benchmarks, which Cargo builds if necessary; skips the test without Cargo."""
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("there is no cargo: install Rust (https://rustup.rs)")
    with locked(OFFERED / "cargo.lock"):
        done = subprocess.run(
            [cargo, "bench", "--no-run", "--workspace", "--locked", "-j1", "--message-format=json"],
            cwd=SOURCES,
            env={**os.environ, "CARGO_TARGET_DIR": str(OFFERED / "cargo")},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode and (reason := cannot_be_built(crate, done.stderr)):
        pytest.skip(reason)
    assert done.returncode == 0, done.stderr
    messages = map(json.loads, done.stdout.splitlines())
    built = [message for message in messages if message.get("executable")]
    (program,) = [one["executable"] for one in built if Path(one["manifest_path"]).parent.name == crate]
    return offered(Path(program), f"{crate}/cases")


def cannot_be_built(crate: str, said: str) -> str | None:
    """Return why this machine cannot build a crate's benchmarks, by what Cargo said; None if the crate is at fault."""
    if any(text in said for text in _TOO_OLD):
        return f"{crate} needs a later version of Rust: rustup update"
    if any(text in said for text in _UNREACHABLE):
        return f"the crates that {crate} needs cannot be fetched: run cargo fetch with a network"
    return None


def slower(program: Path, crate: str) -> Path:
    """Return the same program under the name by which it takes twice as long."""

    def make(place: Path) -> None:
        shutil.copy2(program, place / "slower")

    return built(f"{crate}-slower", make, program) / "slower"
