"""Counts under load, from several folders and environments: what repeats, what is found, and what counting costs.

    python benchmarks/counting.py repeat|bodies|judge|speed|all [--weighings N] [--rounds N]

`repeat` counts programs in C, Rust (with a HashMap), CPython, Go and Node.js from two folders and in two environments,
with both processors busy. `bodies` counts one iteration of a few benchmarks of each SDK, likewise. `judge` weighs a
CPython program against itself and against one that does 0.05 % more. `speed` compares the wall time with bare
Valgrind's with the same flags, and that of two sides at once with one after the other.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.harness_suites import SUITES
from benchmarks.load import busy
from benchmarks.processes import STEELYARD, build, read_record, stoppable
from benchmarks.simulation import VERDICTS, table

ROUNDS = 2800
_RUST = """
use std::collections::HashMap;
fn main() {
    let mut seen: HashMap<u64, u64> = HashMap::new();
    for number in 0..20_000u64 { *seen.entry(number * 7919 % 1009).or_insert(0) += number; }
    println!("{}", seen.values().sum::<u64>());
}
"""
_PYTHON = """
import sys
words = {str(number * 7919 % 1009): number for number in range(LOOPS)}
print(sum(words.values()), len(set(words)))
"""
_GO = """package main
import "fmt"
func main() {
    seen := map[int]int{}
    for number := 0; number < 200000; number++ { seen[number*7919%1009] += number }
    fmt.Println(len(seen))
}
"""
_NODE = "const seen = new Map(); for (let n = 0; n < 200000; n++) seen.set(n * 7919 % 1009, n); console.log(seen.size)"
_LOOPS = 20_000
# A share of the program's instructions, of which each round takes about the same number.
_MORE = 0.0005


def main(words: argparse.Namespace) -> None:
    """Print the requested tables."""
    with tempfile.TemporaryDirectory() as name, stoppable():
        folder = Path(name)
        if words.what in ("repeat", "all"):
            _repeat(folder)
        if words.what in ("bodies", "all"):
            _bodies(folder)
        if words.what in ("judge", "all"):
            _judge(folder, words.weighings)
        if words.what in ("speed", "all"):
            _speed(folder, words.rounds)


# --- what repeats


def _repeat(folder: Path) -> None:
    rows: list[tuple[object, ...]] = []
    places = [folder / "a", folder / "a much longer name" / "with one more folder" / "below it"]
    with busy(2):
        for language, (make, invocations) in _PROGRAMS.items():
            try:
                commands = [make(place) for place in places]
            except (OSError, subprocess.CalledProcessError) as error:
                rows.append((language, "", "", "", f"not there: {error}"))
                continue
            rows.append(_row(language, commands, places, invocations))
            print(table(_HEADER, rows) + "\n", flush=True)


_HEADER = ("program", "counts", "spread in one place", "spread over places", "classed")


def _row(language: str, commands: Sequence[str], places: Sequence[Path], invocations: int) -> tuple[object, ...]:
    """Count from both folders in both environments, in turns; the first place and environment once more at the end."""
    counts: dict[int, list[int]] = {0: [], 1: []}
    classes = set()
    for number in range(invocations):
        place = number % 2
        record = _count(commands[place], places[place], _environment(places[place], large=number // 2 % 2 == 1))
        counts[place] += [count["events"]["Ir"] for count in record["counting"]["counts"]]
        classes.add(_class(counts[place][-len(record["counting"]["counts"]) :]))
    every = counts[0] + counts[1]
    alone = max(_spread(own) for own in counts.values())
    return language, len(every), f"{alone:.1e}", f"{_spread(every):.1e}", ", ".join(sorted(classes))


# --- one iteration of a body

# A few benchmarks of each suite (examples/), of different kinds; all three suites have the same hash.
_BODIES = {
    "cpp": ("hash_fnv1a", "sort_copy", "unordered_map_insert"),
    "rust": ("hash/fnv1a", "sort*", "*hash_map*"),
    "python": ("bench_hashing.py::fnv1a", "bench_sorting.py::by_key", "bench_text.py::words"),
}


def _bodies(folder: Path) -> None:
    header = ("SDK", "benchmark", "counts", "instructions an iteration", "spread in one environment", "over both")
    rows: list[tuple[object, ...]] = []
    with busy(2):
        for sdk, names in _BODIES.items():
            place = folder / sdk
            place.mkdir()
            command = [STEELYARD, "count", "--harness", "protocol", SUITES[sdk](place).plain]
            command += [word for name in names for word in ("--benchmark", name)]
            found: dict[str, dict[bool, list[float]]] = {}
            for large in (False, True, False, True):
                record = _record(command, place, _environment(place, large=large))
                for count in record["counting"]["counts"]:
                    benchmark = record["benchmarks"][count["benchmark"]]
                    each = count["events"]["Ir"] / benchmark["loops"]
                    found.setdefault(benchmark["name"], {}).setdefault(large, []).append(each)
            for name, by_environment in found.items():
                every = [each for own in by_environment.values() for each in own]
                alone = max(_spread(own) for own in by_environment.values())
                middle = f"{statistics.median(every):,.1f}"
                rows.append((sdk, name, len(every), middle, f"{alone:.1e}", f"{_spread(every):.1e}"))
            print(table(header, rows) + "\n", flush=True)


def _spread(counts: Sequence[float]) -> float:
    return (max(counts) - min(counts)) / statistics.median(counts) if counts else 0.0


def _class(counts: Sequence[int]) -> str:
    spread = _spread(counts)
    return "exact" if spread == 0 else "stable" if spread <= 1e-5 else "noisy"


def _count(command: str, place: Path, environment: dict[str, str]) -> dict[str, Any]:
    return _record([STEELYARD, "count", command], place, environment)


def _record(command: Sequence[str], place: Path, environment: dict[str, str]) -> dict[str, Any]:
    kept = place / "record.json"
    subprocess.run(
        [*command, "-o", str(kept)],
        check=True,
        cwd=place,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    record = read_record(kept)
    kept.unlink()
    return record


def _environment(store: Path, *, large: bool) -> dict[str, str]:
    own = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    more = {f"SOME_VARIABLE_{number}": "x" * random.randrange(200) for number in range(40)} if large else {}
    return {**own, **more, "XDG_STATE_HOME": str(store)}


def _c(place: Path) -> str:
    place.mkdir(parents=True, exist_ok=True)
    return _quoted(build(place / "work", ROUNDS))


def _rust(place: Path) -> str:
    place.mkdir(parents=True, exist_ok=True)
    (place / "work.rs").write_text(_RUST)
    # Built in its own folder with a relative path, or the folder's name would be in the program.
    command = ["rustc", "-O", "-o", "work-in-rust", "work.rs"]
    subprocess.run(command, check=True, capture_output=True, cwd=place)
    return _quoted(place / "work-in-rust")


def _python(place: Path, loops: int = _LOOPS) -> str:
    place.mkdir(parents=True, exist_ok=True)
    script = place / f"work{loops}.py"
    script.write_text(_PYTHON.replace("LOOPS", str(loops)))
    return f"{_quoted(Path(sys.executable).resolve())} {_quoted(script)}"


def _go(place: Path) -> str:
    place.mkdir(parents=True, exist_ok=True)
    (place / "work.go").write_text(_GO)
    program = place / "work-in-go"
    command = ["go", "build", "-trimpath", "-o", str(program), str(place / "work.go")]
    subprocess.run(command, check=True, capture_output=True)
    return _quoted(program)


def _node(place: Path) -> str:
    found = shutil.which("node")
    if found is None:
        raise FileNotFoundError("node")
    place.mkdir(parents=True, exist_ok=True)
    (place / "work.js").write_text(_NODE)
    return f"{found} {_quoted(place / 'work.js')}"


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


_PROGRAMS = {"C": (_c, 5), "Rust, HashMap": (_rust, 5), "CPython": (_python, 5), "Go": (_go, 2), "Node.js": (_node, 1)}


# --- what is found


def _judge(folder: Path, weighings: int) -> None:
    """Judge a CPython program against itself, copied elsewhere, and against one that does 0.05 % more."""
    words: dict[str, list[str]] = {"the same": [], "+0.05 %": []}
    changes: dict[str, list[float]] = {"the same": [], "+0.05 %": []}
    more = _more_loops(folder)
    with busy(2):
        for number in range(weighings):
            place = folder / "places" / ("x" * random.randrange(1, 60))
            baseline = _python(folder / "b")
            tries = {"the same": _python(place)}
            if number % 5 == 0:
                tries["+0.05 %"] = _python(place, more)
            for name, candidate in tries.items():
                record = _weigh(baseline, candidate, place, _environment(folder, large=number % 2 == 1))
                words[name].append(record["verdict"])
                changes[name].append(record["change"])
    rows = [
        (
            name,
            len(said),
            *(said.count(word) for word in VERDICTS),
            f"{min(changes[name]):+.4%} to {max(changes[name]):+.4%}",
        )
        for name, said in words.items()
        if said
    ]
    header = ("CPython, margin 0.03 %", "weighings", *VERDICTS, "changes")
    print(table(header, rows) + "\n", flush=True)


def _more_loops(folder: Path) -> int:
    """How many loops make 0.05 % more instructions, from the counts for two numbers of loops."""
    place, environment = folder / "b", _environment(folder, large=False)
    few, many = (
        int(_count(_python(place, loops), place, environment)["counting"]["counts"][0]["events"]["Ir"])
        for loops in (_LOOPS, 2 * _LOOPS)
    )
    return _LOOPS + round(_MORE * few / ((many - few) / _LOOPS))


def _weigh(baseline: str, candidate: str, place: Path, environment: dict[str, str]) -> dict[str, Any]:
    kept = place / "record.json"
    options = ["--metric", "instructions", "--margin", "0.03%", "-o", str(kept)]
    ended = subprocess.run(
        [STEELYARD, "compare", baseline, candidate, *options],
        check=False,
        cwd=place,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    if ended.returncode not in (0, 1):
        raise SystemExit(f"steelyard compare ended with status {ended.returncode}")
    return read_record(kept)


# --- what it costs


def _speed(folder: Path, rounds: int) -> None:
    program = build(folder / "long", 30 * ROUNDS)
    environment = _environment(folder, large=False)
    count = [STEELYARD, "count", str(program), "--jobs", "1", "-o", str(folder / "record.json")]
    _seconds(count, environment)
    record = read_record(folder / "record.json")["counting"]["tool"]
    bare = [record["program"], *record["flags"], f"--cachegrind-out-file={folder}/out", str(program)]
    weigh = [STEELYARD, "compare", str(program), str(program), "--metric", "instructions", "--jobs"]
    ratios, halves = [], []
    for _ in range(rounds):
        # One before and one after, so that whatever slows the machine meanwhile slows both sides of the ratio.
        before, counted, after = (_seconds(command, environment) for command in (bare, count, bare))
        ratios.append(counted / (before + after))
        one, two = (_seconds([*weigh, jobs], environment) for jobs in ("1", "2"))
        halves.append(two / one)
    rows = [
        ("steelyard count, one job, over two runs of bare Valgrind", *_median_and_range(ratios)),
        ("two sides with two jobs over one job", *_median_and_range(halves)),
    ]
    print(table((f"wall time, {rounds} rounds", "median ratio", "all of them"), rows) + "\n", flush=True)


def _median_and_range(ratios: Sequence[float]) -> tuple[str, str]:
    return f"{statistics.median(ratios):.3f}", f"{min(ratios):.3f} to {max(ratios):.3f}"


def _seconds(command: Sequence[str], environment: dict[str, str]) -> float:
    started = time.monotonic()
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - started


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Counts under load: what repeats, what is found, what it costs.")
    parser.add_argument("what", choices=("repeat", "bodies", "judge", "speed", "all"), default="all", nargs="?")
    parser.add_argument("--weighings", type=int, default=50, metavar="N", help="of the program against itself")
    parser.add_argument("--rounds", type=int, default=9, metavar="N", help="of the speed's measurements")
    return parser.parse_args()


if __name__ == "__main__":
    main(_words())
