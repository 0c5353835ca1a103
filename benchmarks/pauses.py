"""How a pause affects the next pair, and what is gained by first making another launch of the same kind.

    python benchmarks/pauses.py [--pairs N] [--weighings N] [--programs A,B]

Between two requests the launch server sleeps while the driver works. `after a pause` is a pair that follows such a
pause, `behind its like` one that follows another launch of its program in the same request, as short launches do in a
weighing. For each, the table shows how much longer its first launch takes than the second, and the spread of a pair
whose order is drawn.

Then, for pairs that follow another one in the same request, how much longer their first launch takes: at addresses
drawn for each pair, as in a weighing, so that the branch predictors know nothing of them, and at those of the pair
before.

Then whole weighings at default settings, of identical programs and, for loops and walks, of 1 % more: as the tool does
it, and without the launches of which nothing is kept. Both ways take turns, in a drawn order.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import expm1, log
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from benchmarks.launches import spec_of
from benchmarks.processes import read_record, run, with_own_store
from benchmarks.simulation import table
from benchmarks.tandem import built
from benchmarks.tandem_estimate import active, drawn_for_a_pair
from steelyard.measure.launch import Launcher
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import Frame
from steelyard.stats.summary import quartile_deviation

PAUSED, BEHIND = PLACES = ("after a pause", "behind its like")
NEW, SAME = ADDRESSES = ("new addresses", "the same")
_IN_A_ROW = 4
TOOL, WITHOUT = WAYS = ("as it is", "without")
_MAIN = "from steelyard.cli.main import main; main()"
_NEVER = "from steelyard.design.timing import recorder; recorder.PAUSE_MATTERS_BELOW_NS = 0"
_WAY = {TOOL: _MAIN, WITHOUT: f"{_NEVER}; {_MAIN}"}
_PAUSE_S = 0.002
_ENVIRONMENT = (b"LC_ALL=C",)
_NO_FRAME = Frame("", "")
_TRIAL_ROUNDS = 10_000_000
KINDS = (("loop", 3, 0), ("loop", 10, 0), ("loop", 30, 0), ("walk", 5, 4096), ("walk", 10, 4096), ("walk", 30, 4096))


def scaled(launcher: Launcher, work: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield loops and walks through memory: a label, the program, and one that does 1 % more."""
    for kind, ms, kib in KINDS:
        memory = [str(kib)] if kib else []
        trial = spec_of([work, str(_TRIAL_ROUNDS), *memory], _ENVIRONMENT)
        rounds = _TRIAL_ROUNDS * ms * 1e6 / min(active(launcher.launch(trial)) for _ in range(9))
        one, other = ([work, str(round(amount)), *memory] for amount in (rounds, 1.01 * rounds))
        yield f"{kind} of {ms} ms", one, other


def ordinary(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield common short programs."""
    text = folder / "text"
    text.write_text("".join(f"{random.getrandbits(200):x}\n" for _ in range(2000)))
    yield "CPython: pass", [sys.executable, "-IS", "-c", "pass"]
    yield "gzip", ["gzip", "-c", str(text)]
    yield "sort", ["sort", "--parallel=1", str(text)]
    yield "git log", ["git", "-C", str(Path(__file__).parent), "log", "--oneline", "-n", "200"]
    script = folder / "script"
    script.write_text("i=0; while [ $i -lt 8000 ]; do i=$((i + 1)); done\n")
    yield "sh: a loop", ["sh", str(script)]
    yield "true", ["true"]


def pair(launcher: Launcher, program: LaunchSpec, place: str) -> tuple[float, float]:
    """The log-ratio of the first launch to the second, and how long the second took, ns."""
    (spec,) = drawn_for_a_pair([program])
    _work_for(_PAUSE_S)
    if place == BEHIND:
        launched = launcher.launch_series([spec] * 3, [None, _NO_FRAME])
    else:
        launched = launcher.launch_series([spec] * 2, [_NO_FRAME])
    first, second = (active(one) for one in launched if isinstance(one, Measured))
    return log(first / second), second


def _work_for(seconds: float) -> None:
    end, values = time.perf_counter() + seconds, np.random.default_rng().random(20_000)
    while time.perf_counter() < end:
        np.sort(values)


def spreads(launcher: Launcher, known: dict[str, LaunchSpec], pairs: int) -> Iterator[list[str]]:
    """Yield the rows of the first table."""
    ran: defaultdict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for _ in range(pairs):
        for label, spec in known.items():
            for place in random.sample(PLACES, len(PLACES)):
                ran[label, place].append(pair(launcher, spec, place))
    for label in known:
        takes = statistics.median(took for _, took in ran[label, BEHIND]) / 1e6
        cells = [f"{takes:.1f}"]
        for place in PLACES:
            cells += _longer_and_spread([ratio for ratio, _ in ran[label, place]])
        yield [label, *cells]


def _longer_and_spread(logs: Sequence[float]) -> list[str]:
    """How much longer the first launch of a pair takes, and the spread of pairs whose order is drawn."""
    ratios = np.array(logs)
    signs = np.where(np.arange(len(ratios)) % 2, 1, -1)
    return [f"{expm1(float(np.median(ratios))):+.2%}", f"{quartile_deviation(signs * ratios):.2%}"]


def pairs_in_a_row(launcher: Launcher, program: LaunchSpec, drawn: str) -> list[float]:
    """The log-ratios of the first launch to the second, for all pairs of a request but its first."""
    _work_for(_PAUSE_S)
    specs = [drawn_for_a_pair([program])[0] for _ in range(_IN_A_ROW)]
    each = specs if drawn == NEW else specs[:1] * _IN_A_ROW
    series = [each[0], *(spec for spec in each for _ in range(2))]
    launched = launcher.launch_series(series, [None, *[_NO_FRAME] * (2 * _IN_A_ROW - 1)])
    own = [active(one) for one in launched if isinstance(one, Measured)]
    return [log(first / second) for first, second in zip(own[2::2], own[3::2], strict=True)]


def spreads_in_a_row(launcher: Launcher, known: dict[str, LaunchSpec], requests: int) -> Iterator[list[str]]:
    """Yield the rows of the table of addresses."""
    ran: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for _ in range(requests):
        for label, spec in known.items():
            for drawn in random.sample(ADDRESSES, len(ADDRESSES)):
                ran[label, drawn] += pairs_in_a_row(launcher, spec, drawn)
    for label in known:
        yield [label, *(cell for drawn in ADDRESSES for cell in _longer_and_spread(ran[label, drawn]))]


def weigh(one: Sequence[str], other: Sequence[str], way: str) -> tuple[str, int, float]:
    """The verdict, its pairs and its seconds."""
    with tempfile.TemporaryDirectory() as name:
        record, started = Path(name) / "record.json", time.monotonic()
        command = [
            sys.executable,
            "-c",
            _WAY[way],
            "compare",
            shlex.join(one),
            shlex.join(other),
            "--json",
            str(record),
        ]
        run(command, with_own_store(Path(name)), accept=(0, 1))
        seen = read_record(record)
        return seen["verdict"], seen["pairs"], time.monotonic() - started


def weighings(known: dict[str, tuple[list[str], list[str] | None]], many: int) -> Iterator[list[str]]:
    """Yield the rows of the third table; programs without a version that does more only meet themselves."""
    found: defaultdict[tuple[str, str, str], list[tuple[str, int, float]]] = defaultdict(list)
    for _ in range(many):
        for label, (one, other) in known.items():
            for change, candidate in (("none", one), ("+1 %", other)):
                for way in random.sample(WAYS, len(WAYS)) if candidate else []:
                    found[label, change, way].append(weigh(one, candidate or one, way))
    for label, change in sorted({place[:2] for place in found}):
        cells = [label, change]
        for way in WAYS:
            each = found[label, change, way]
            right = sum(word == ("same" if change == "none" else "slower") for word, _, _ in each)
            pairs, seconds = statistics.mean(one[1] for one in each), statistics.mean(one[2] for one in each)
            cells += [f"{right} of {len(each)}", f"{pairs:.0f}", f"{seconds:.2f}"]
        yield cells


def main(asked: argparse.Namespace) -> None:
    """Print the three tables."""
    with tempfile.TemporaryDirectory() as name, Launcher() as launcher, Path(os.devnull).open("wb") as nowhere:
        launcher.keep_rows_in(nowhere.fileno())
        folder = Path(name)
        every: dict[str, tuple[list[str], list[str] | None]]
        every = {label: (one, other) for label, one, other in scaled(launcher, built(folder))}
        every |= {label: (one, None) for label, one in ordinary(folder)}
        known = {label: both for label, both in every.items() if asked.programs is None or label in asked.programs}
        places = [text for place in PLACES for text in (f"{place}: longer", "spread")]
        specs = {label: spec_of(one, _ENVIRONMENT) for label, (one, _) in known.items()}
        print(table(("program", "ms", *places), [*spreads(launcher, specs, asked.pairs)]), flush=True)
        drawn = [text for one in ADDRESSES for text in (f"{one}: longer", "spread")]
        print()
        print(table(("program", *drawn), [*spreads_in_a_row(launcher, specs, asked.pairs // _IN_A_ROW)]), flush=True)
        ways = [text for way in WAYS for text in (f"{way}: right", "pairs", "seconds")]
        print()
        print(table(("program", "change", *ways), [*weighings(known, asked.weighings)]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=200, help="of each place")
    parser.add_argument("--weighings", type=int, default=12, help="of each program, change and way")
    parser.add_argument("--programs", type=lambda text: text.split(","), help="all")
    main(parser.parse_args())
