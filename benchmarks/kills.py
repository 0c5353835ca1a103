"""Kill -9 the driver at random moments of a weighing: what is left running, what is lost, what can be resumed.

    python benchmarks/kills.py [KILLS]

The last thing that a target does is to append a byte to a log, so the log counts the launches that reached their end,
whatever became of the driver. A launch is lost if it is in the log but not in the journal.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.processes import STEELYARD, build, read_record, run, stoppable, with_own_store
from benchmarks.simulation import table
from benchmarks.words import whole_numbers

# Counts, then appends a byte to the file that its first argument names.
TARGET = r"""
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv) {
    volatile unsigned long sum = 0;
    for (unsigned long i = 0; i < ROUNDS; i++) sum += i;
    int log = open(argv[1], O_WRONLY | O_APPEND);
    return argc < 2 || log < 0 || write(log, ".", 1) != 1;
}
"""
# (rounds, benchmarks, options), in turns: targets of a millisecond or two, so that many kills fall between two
# launches, and of a hundred times that, so that many fall into one (a driver takes some 10 ms to die: what ends
# meanwhile is lost). The candidate does half as much again, so that every verdict is known, and so many benchmarks
# outlast the latest kill. None is launched just for the next one to follow its like, as the log would have more
# launches than the journal: long ones never are, nor those with a preparation.
SUITES = ((1_000_000, 60, ("--prepare", "true")), (100_000_000, 5, ()))
EARLIEST_S, LATEST_S = 0.1, 3.0
GONE_WITHIN_S = 5.0
# How many launches may run at a kill: one, or two of a pair in tandem, which `auto` may choose without a preparation.
MOST_LOST = 2


@dataclass
class Kill:
    """What one kill left behind; None where there was nothing to examine."""

    at_s: float
    processes_left: int
    launches: int | None = None
    """in the journal; None if there was no journal yet"""
    lost: int = 0
    complaints: list[str] = field(default_factory=list)


def main(kills: int) -> None:
    """Kill, examine, resume; print the tally so far every ten kills."""
    done: list[Kill] = []
    with tempfile.TemporaryDirectory() as name, stoppable():
        folder = Path(name)
        source = folder / "target.c"
        source.write_text(TARGET)
        suites = [(_programs(folder, source, rounds), many, options) for rounds, many, options in SUITES]
        for number in range(1, kills + 1):
            place = folder / str(number)
            place.mkdir()
            done.append(_kill_once(*suites[number % len(suites)], place))
            if done[-1].complaints:
                print(f"kill {number} after {done[-1].at_s:.3f} s: {'; '.join(done[-1].complaints)}", flush=True)
            if number % 10 == 0 or number == kills:
                print(report(done) + "\n", flush=True)


def report(kills: Sequence[Kill]) -> str:
    """The tally as a table."""
    journals = [kill for kill in kills if kill.launches is not None]
    lost = Counter(kill.lost for kill in journals)
    rows = [
        ("kills", len(kills)),
        ("before there was a journal", sum(kill.launches is None and not kill.complaints for kill in kills)),
        ("processes left running", sum(kill.processes_left for kill in kills)),
        ("launches in the journals", sum(kill.launches or 0 for kill in journals)),
        ("no launch lost", lost[0]),
        ("one launch lost", lost[1]),
        ("two lost, of a pair that ran at the same time", lost[2]),
        ("more lost", sum(count for launches, count in lost.items() if launches > MOST_LOST)),
        ("kills with a complaint", sum(bool(kill.complaints) for kill in kills)),
    ]
    return table(("what", "count"), rows)


def _programs(folder: Path, source: Path, rounds: int) -> list[Path]:
    return [build(folder / f"{name}-{rounds}", by * rounds // 2, source) for name, by in (("old", 2), ("new", 3))]


def _kill_once(programs: Sequence[Path], benchmarks: int, options: Sequence[str], folder: Path) -> Kill:
    log = folder / "log"
    log.touch()
    environment = with_own_store(folder)
    suite = ["--parameter-scan", "n", "1", str(benchmarks), "1", "--max-time", "300", *options]
    command = [STEELYARD, "compare", *(f"{program} {log} {{n}}" for program in programs), *suite]
    at_s = random.uniform(EARLIEST_S, LATEST_S)
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    try:
        time.sleep(at_s)
        below = psutil.Process(driver.pid).children(recursive=True)
    finally:
        driver.kill()
        ended = driver.wait()
    kill = Kill(at_s, len(_left(below, folder)))
    if ended != -signal.SIGKILL:
        kill.complaints.append(f"the weighing had ended before, with status {ended}")
    if kill.processes_left:
        kill.complaints.append(f"{kill.processes_left} processes still run after {GONE_WITHIN_S:.0f} s")
    for journal in (folder / "steelyard").glob("*.journal"):
        _look_at(kill, journal, log, environment, most_lost=1 if options else MOST_LOST)
    return kill


def _look_at(kill: Kill, journal: Path, log: Path, environment: dict[str, str], *, most_lost: int) -> None:
    """Count what is lost, show the journal, resume it, and show the result."""
    finished = log.stat().st_size
    rows = launches_in(journal.read_bytes())
    kill.launches, kill.lost = len(rows), finished - len(rows)
    if not 0 <= kill.lost <= most_lost:
        kill.complaints.append(f"{kill.lost} of {finished} launches lost")
    record, again = log.with_name("resumed.json"), log.with_name("again.json")
    resumed = [STEELYARD, "compare", "--resume", str(journal), "--json", str(record)]
    try:
        run([STEELYARD, "show", str(journal)], environment)
        ended = run(resumed, environment, accept=(0, 1, 4))
        run([STEELYARD, "show", str(record), "--json", str(again)], environment)
    except SystemExit as error:
        kill.complaints.append(" ".join(str(error).split()))
        return
    made = log.stat().st_size - kill.lost
    kill.complaints += compare_resumed(read_record(record), rows, made, ended.status)
    if words_of(read_record(again)) != words_of(read_record(record)):
        kill.complaints.append("the resumed weighing says something else when it is shown again")


def launches_in(journal: bytes) -> list[bytes]:
    """The complete lines of a journal that are launches, without a torn last line."""
    return [line for line in journal.splitlines(keepends=True) if line.startswith(b"[") and line.endswith(b"\n")]


def compare_resumed(record: dict[str, Any], rows: Sequence[bytes], launches: int, status: int) -> list[str]:
    """What is wrong with a resumed weighing: it has to continue from the journal's launches and find every change."""
    complaints = []
    columns = record["launches"]
    starts = [b",%d," % start for start in columns["start_ns"]]
    if not all(start in row for start, row in zip(starts, rows, strict=False)) or len(starts) < len(rows):
        complaints.append("the resumed weighing does not begin with the journal's launches")
    if len(starts) != launches:
        complaints.append(f"{len(starts)} launches in the resumed weighing, {launches} were made and not lost")
    words = Counter(words_of(record))
    if set(words) != {"slower"} or status != 1:
        complaints.append(f"resumed, it says {dict(words)} with exit status {status}, and every benchmark is slower")
    return complaints


def words_of(record: dict[str, Any]) -> list[str]:
    """The verdict of each benchmark of a record."""
    return [verdict["verdict"] for verdict in record["derived"]["verdicts"]]


def _left(processes: Sequence[psutil.Process], folder: Path) -> list[psutil.Process]:
    """The driver's processes, and others that name this weighing's folder, that do not end."""
    deadline = time.monotonic() + GONE_WITHIN_S
    while True:
        left = [process for process in {*processes, *_naming(folder)} if _is_running(process)]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.05)


def _is_running(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _naming(folder: Path) -> list[psutil.Process]:
    """Processes with a file of the folder on their command line, or the folder as the home of their records."""
    found = []
    for process in psutil.process_iter():
        try:
            named = any(word.startswith(f"{folder}/") for word in process.cmdline())
            if named or process.environ().get("XDG_STATE_HOME") == str(folder):
                found.append(process)
        except psutil.Error:
            continue
    return [process for process in found if process.pid != os.getpid()]


if __name__ == "__main__":
    main(*whole_numbers(__doc__, kills=100))
