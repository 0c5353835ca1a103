"""Processes that the benchmarks start, with their cost: the installed `steelyard`, the demo's program, peers."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
STEELYARD = str(Path(sys.executable).with_name("steelyard"))
WORK = ROOT / "examples" / "demo" / "work.c"

_PEERS = {
    "hyperfine": "install it from your distribution (Debian: apt-get install hyperfine), or give --hyperfine PATH",
    "pyperf": "install it beside this Python (pip install pyperf), or give --pyperf PATH",
}


@dataclass(frozen=True)
class Ended:
    """A process that has ended."""

    status: int
    seconds: float
    cpu_s: float
    """CPU seconds of the process and of every process below it that was waited for."""
    peak_bytes: int
    """The largest resident set of any of them; at least that of the process that started it."""


def build(program: Path, rounds: int, source: Path = WORK) -> Path:
    """Compile a C program whose work is set by ROUNDS."""
    subprocess.run(["cc", "-O2", f"-DROUNDS={rounds}", "-o", str(program), str(source)], check=True)
    return program


def run(command: Sequence[str], environment: Mapping[str, str], accept: Sequence[int] = (0,)) -> Ended:
    """Run a command to its end, its output discarded; SystemExit with its last words for a status not in `accept`."""
    with tempfile.TemporaryFile() as errors:
        started = time.monotonic()
        # Waited for here rather than by `subprocess`, which does not report what a process used.
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, env=environment)
        try:
            _, waited, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            raise
        seconds = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(waited)
        if process.returncode not in accept:
            errors.seek(0)
            words = errors.read().decode(errors="replace").strip()
            raise SystemExit(f"{' '.join(command)} ended with status {process.returncode}: {words}")
    return Ended(process.returncode, seconds, usage.ru_utime + usage.ru_stime, 1024 * usage.ru_maxrss)


def with_own_store(folder: Path) -> dict[str, str]:
    """An environment in which records are kept in a folder of the benchmark, not in the user's own store."""
    return {**os.environ, "XDG_STATE_HOME": str(folder)}


def compare(words: Sequence[str], record: Path) -> Ended:
    """Weigh by `steelyard compare` into a record, in a folder of the benchmark; SystemExit if that fails."""
    return run([STEELYARD, "compare", *words, "--json", str(record)], with_own_store(record.parent), accept=(0, 1))


def read_record(path: Path) -> dict[str, Any]:
    """A record that `--json` wrote."""
    record: dict[str, Any] = json.loads(path.read_text())
    return record


def cpu_of_targets(record: Mapping[str, Any]) -> float:
    """CPU seconds of all launches of a record, their threads and children included."""
    launches = record["launches"]
    return sum(sum(launches[name]) for name in ("user_ns", "sys_ns")) / 1e9


def peer(name: str, given: str | None) -> str:
    """The path of a peer: as given, beside this Python, or on the PATH; SystemExit that says how to get it."""
    beside = shutil.which(name, path=str(Path(sys.executable).parent))
    found = shutil.which(given) if given else beside or shutil.which(name)
    if found is None:
        raise SystemExit(f"{given or name} is not there to measure beside: {_PEERS[name]}")
    return found


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """End the block quietly at Ctrl-C or SIGTERM, so that what was printed before remains."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)
