"""How far two launches of one program differ, one after the other and in tandem, for common programs.

    python benchmarks/tandem_programs.py [--pairs N] [--programs A,B]

The programs are compressors, text tools, CPython, a compiler and git as well as loops and walks through memory, 4 to
130 ms long, and processes that start others, by what all of them lost (as root). Pairs of each way take turns, in a
drawn order, with the same addresses and hash seed for both launches of a pair, as in a weighing: one after the other,
in tandem with the scheduler's turns, and with short ones. `longer` is how much longer a launch takes beside its like,
`time` the time that a verdict needs with short turns relative to one after the other: the square of the spread times
the seconds of a pair. Programs that are not installed are left out, and named.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from math import log
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from benchmarks.launches import spec_of
from benchmarks.simulation import table
from benchmarks.tandem import built
from benchmarks.tandem_estimate import active, drawn_for_a_pair
from steelyard.measure.launch import TURN_NS, Launcher
from steelyard.model.launch_spec import LaunchSpec
from steelyard.stats.summary import quartile_deviation

ALONE, SCHEDULERS, SHORT = WAYS = ("one after the other", "the scheduler's turns", "short turns")
# The prefix of the names of programs that start others.
SEVERAL = "processes: "
HEADER = ("program", "ms", *WAYS, "longer", "time")
SUM = "total = 0\nfor number in range(700_000): total += number * number % 7"
DICT = "texts = {number: str(number) for number in range(150_000)}\nprint(sum(map(len, texts.values())))"
JSON = "import json\nrows = [{'a': n, 'b': [n] * 5} for n in range(8000)]\nfor _ in '123': json.loads(json.dumps(rows))"
HASH = "my %h; for my $i (1..150000) { $h{$i % 977} .= $i % 7 } print length join q(), map { $h{$_} } sort keys %h"
COUNT = "{ lengths[$1 % 1000] += length($0) } END { for (key in lengths) total += lengths[key]; print total }"


class Ran(NamedTuple):
    """A pair: its log-ratio, how long a launch took and how long both took together, ns."""

    ratio: float
    launch_ns: float
    pair_ns: float


def commands(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the programs that are launched, built or written to a folder."""
    work = built(folder)
    drawn = random.Random(1)
    words = ["".join(drawn.choices("abcdefghijklmnopqrstuvwxyz", k=drawn.randint(2, 9))) for _ in range(5000)]
    text, few, many = (str(folder / name) for name in ("text", "few", "many"))
    Path(text).write_text(" ".join(drawn.choices(words, k=150_000)))
    for name, lines in ((few, 40_000), (many, 200_000)):
        Path(name).write_text("".join(f"{drawn.getrandbits(200):x}\n" for _ in range(lines)))
    yield "loop of 10 ms", [work, "10000000"]
    yield "loop of 45 ms", [work, "45000000"]
    for kib in (256, 700, 4096):
        yield f"walk through {kib} KiB", [work, "45000000", str(kib)]
    yield "walk through 20 MiB", [work, "10000000", "20480"]
    for name, script in (("sum", SUM), ("dict", DICT), ("JSON", JSON), ("start", "pass")):
        yield f"CPython: {name}", [sys.executable, "-S", "-c", script]
    yield "perl", ["perl", "-e", HASH]
    yield from ((name, [name, *options, "-c", text]) for name, *options in (("gzip",), ("xz", "-1", "-T1"), ("bzip2",)))
    yield "sort of few lines", ["sort", "--parallel=1", few]
    yield "sort of many lines", ["sort", "--parallel=1", many]
    yield "awk", ["awk", COUNT, few]
    yield "sed", ["sed", "-E", r"s/[a-f]+([0-9])/x\1/g", few]
    yield "grep", ["grep", "-cE", "(a.*b){3}c$|f", few]
    yield "sha256sum", ["sha256sum", *[text] * 5]
    yield "git log", ["git", "-C", str(Path(__file__).parent), "log", "--stat", "-n", "30"]
    compiler = subprocess.run(["cc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True).stdout.strip()
    preprocessed = folder / "work.i"
    subprocess.run(["cc", "-E", "-include", "stdlib.h", "-o", preprocessed, folder / "work.c"], check=True)
    yield from processes(text)
    yield "cc1", [compiler, "-quiet", "-O2", "-fpreprocessed", "-o", os.devnull, str(preprocessed)]


def processes(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the programs that start others."""
    python = f"{shlex.quote(sys.executable)} -S"
    script = shlex.quote(SUM.replace("700_000", "300_000"))
    call = "import subprocess, sys\nfor _ in '1234': subprocess.run([sys.executable, '-S', '-c', 'sum(range(999999))'])"
    yield f"{SEVERAL}CPython behind a shim", ["python3", "-S", "-c", SUM]
    yield f"{SEVERAL}CPython in a shell", ["sh", "-c", f"{python} -c {shlex.quote(SUM)}; :"]
    yield (
        f"{SEVERAL}short ones and CPython",
        ["sh", "-c", f"for i in 1 2 3 4 5 6; do true | cat; done; {python} -c pass"],
    )
    yield f"{SEVERAL}CPython three times", ["sh", "-c", f"for i in 1 2 3; do {python} -c {script}; done"]
    yield f"{SEVERAL}CPython starts four", [sys.executable, "-S", "-c", call]
    yield f"{SEVERAL}gzip | wc", ["sh", "-c", f"gzip -c {shlex.quote(text)} | wc -c"]
    yield f"{SEVERAL}git log ten times", ["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 0; do git log --stat -n 5; done"]
    yield f"{SEVERAL}short ones", ["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 0; do ls -l /usr/lib | sort | wc -l; done"]


def pair(launcher: Launcher, program: LaunchSpec, way: str, *, followed: bool) -> Ran:
    """Run one pair of one way; programs that start others are `followed`, and share addresses only in tandem."""
    (spec,) = drawn_for_a_pair([program])
    if way == ALONE:
        spec = replace(spec, mapping_pages=None) if followed else spec
        both = launcher.launch(spec), launcher.launch(spec)
        pair_ns = sum(one.wall_ns for one in both)
    else:
        turn_ns = TURN_NS if way == SHORT else None
        begins = bool(random.randrange(2))
        both = launcher.launch_together(spec, spec, second_begins=begins, followed=followed, turn_ns=turn_ns)
        pair_ns = max(one.wall_ns for one in both)
    if any(one.exit_code for one in both):
        raise SystemExit(f"{spec.argv} failed: {both[0].stderr!r}")
    return Ran(random.choice((-1, 1)) * log(active(both[1]) / active(both[0])), active(both[0]), pair_ns)


def row(label: str, ran: dict[str, list[Ran]]) -> list[str]:
    """Return the row of the table."""
    each = {way: np.array(ran[way]) for way in WAYS}
    spread = {way: quartile_deviation(values[:, 0]) for way, values in each.items()}
    _, takes, lasts = (np.array([np.median(each[way][:, column]) for way in (ALONE, SHORT)]) for column in range(3))
    time = (spread[SHORT] / spread[ALONE]) ** 2 * lasts[1] / lasts[0]
    spreads = [f"{spread[way]:.2%}" for way in WAYS]
    return [label, f"{takes[0] / 1e6:.0f}", *spreads, f"{takes[1] / takes[0] - 1:+.0%}", f"{time:.2f}"]


def main(asked: argparse.Namespace) -> None:
    """Run a pair of each way of every program in turn, then print the table."""
    with tempfile.TemporaryDirectory() as name, Launcher() as launcher:
        specs: dict[str, LaunchSpec] = {}
        for label, words in commands(Path(name)):
            program = shutil.which(words[0])
            if program is None:
                print(f"left out, as it is not installed: {label}")
            elif asked.programs is None or any(map(label.startswith, asked.programs)):
                specs[label] = spec_of(words, (b"LC_ALL=C", b"PATH=" + os.environb[b"PATH"]))
        ran: defaultdict[str, dict[str, list[Ran]]] = defaultdict(lambda: {way: [] for way in WAYS})
        for _ in range(asked.pairs):
            for label, spec in specs.items():
                for way in random.sample(WAYS, len(WAYS)):
                    ran[label][way].append(pair(launcher, spec, way, followed=label.startswith(SEVERAL)))
        print(table(HEADER, [row(label, each) for label, each in ran.items()]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The spread of pairs of ordinary programs, by their way.")
    parser.add_argument("--pairs", type=int, default=45, help="of each way")
    parser.add_argument("--programs", type=lambda text: text.split(","), help="those whose names begin so")
    main(parser.parse_args())
