"""Small made-up records to render, one of each kind."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
from rich.console import Console

from steelyard.model.derived import Side, Summary, Verdict
from steelyard.model.findings import Finding
from steelyard.model.launches import Launches
from steelyard.model.machine import MachineFacts
from steelyard.model.records import Run, StopReason, Weighing
from steelyard.model.rows import LaunchRow, Sample
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark, Subject
from steelyard.stats.verdict import CHANGED
from tests.model import samples

MACHINE = MachineFacts(key="0123456789abcdef", cpu_model="Abacus 9000", architecture="x86_64", cores_logical=2)


def subject(name: str) -> Subject:
    return Subject(name=name, command=name, argv=name.split(), program="/usr/bin/true")


def row(pair: int, side: int, wall_ns: int, *, benchmark: int = 0, order: int = 0, role: int = 1) -> LaunchRow:
    place = {"benchmark": benchmark, "order": order, "role": role, "hash_seed": pair, "padding_bytes": 0}
    times = {"start_ns": pair * 10**8, "wall_ns": wall_ns, "cpu_ns": wall_ns - 10**5, "delay_ns": 10**4}
    of_kernel = {"user_ns": wall_ns, "sys_ns": 0, "max_rss_bytes": 9 * 2**20, "major_faults": 0, "written_blocks": 0}
    of_others = {"voluntary_switches": 1, "involuntary_switches": 0, "pressure_ns": None, "steal_ns": 0}
    return samples.row(pair, side, **place, **times, **of_kernel, **of_others)


def pair_rows(change: float, pairs: int = 33, *, benchmark: int = 0, noise: float = 0.01) -> list[LaunchRow]:
    random = np.random.default_rng(7)
    rows = []
    for pair in range(pairs):
        level = 12.81e6 * (1 + random.exponential(noise))
        other = level * (1 + change) * np.exp(random.standard_t(3) * noise)
        order = int(random.integers(2))
        rows.append(row(pair, 0, int(level), benchmark=benchmark, order=order))
        rows.append(row(pair, 1, int(other), benchmark=benchmark, order=1 - order))
    return rows


def in_turn(pairs: int = 2) -> list[LaunchRow]:
    """Return pairs whose neighbouring samples differ by +10 %, while the medians of their launches say -45 %."""
    sides = ([100, 100, 100, 200, 200, 200], [110, 110, 110, 110, 220, 220])
    first = [0, 1, 0, 1, 0, 1]
    return [
        row(pair, side, 10**9, order=side)._replace(
            samples=tuple(
                Sample(1, 10**5 * time, 10**5 * time, 0, (order + side) % 2)
                for time, order in zip(sides[side], first, strict=True)
            )
        )
        for pair in range(pairs)
        for side in (0, 1)
    ]


def weighing(
    change: float = 0.01,
    *,
    names: tuple[str, str] = ("./sort-old data.bin", "./sort-new data.bin"),
    benchmarks: tuple[str, ...] = ("sort",),
    stop: StopReason = "decided",
    settings: Settings | None = None,
    findings: tuple[Finding, ...] = (),
    pairs: int = 33,
) -> Weighing:
    rows = [row for number in range(len(benchmarks)) for row in pair_rows(change, pairs, benchmark=number)]
    return Weighing(
        tool="0.1.0",
        created="2026-01-01T00:00:00Z",
        machine=MACHINE,
        settings=settings or Settings(),
        benchmarks=[Benchmark(name=name) for name in benchmarks],
        stop=[stop] * len(benchmarks),
        seconds=0.9,
        findings=list(findings),
        launches=Launches.of_rows(rows),
        subjects=[subject(names[0]), subject(names[1])],
    )


BASE = Verdict(
    benchmark="sort",
    metric="active",
    verdict="slower",
    change=0.0102,
    interval=(0.0061, 0.0140),
    p_value=1e-5,
    pairs=33,
    looks=4,
    seconds=0.87,
    resolution=0.0071,
    baseline=Side(median=12.81e6, spread=0.012, launches=33),
    candidate=Side(median=12.94e6, spread=0.013, launches=33),
    disturbed=14,
    worst_delay=0.43,
    repeated=2,
)


def verdict(**changes: object) -> Verdict:
    is_change = changes.get("verdict", BASE.verdict) in CHANGED
    return Verdict.model_validate(BASE.model_dump() | {"is_change": is_change} | changes)


SLOWER = BASE
FASTER = verdict(verdict="faster", change=-0.0102, interval=(-0.014, -0.0061))
SAME = verdict(verdict="same", change=0.0003, interval=(-0.002, 0.0031))
SAME_BUT_REAL = verdict(verdict="same", change=0.003, interval=(0.0012, 0.0045))
UNDECIDED = verdict(verdict="undecided", change=0.0042, interval=(-0.004, 0.012), pairs_needed=237, seconds_needed=6.3)
LEANING = verdict(verdict="undecided", change=0.0042, interval=(0.001, 0.008))
TOO_FEW = verdict(
    verdict="undecided",
    change=0.0102,
    interval=None,
    p_value=None,
    pairs=4,
    resolution=None,
    pairs_needed=170,
    seconds_needed=3.2,
    baseline=Side(median=12.81e6, spread=0.012, launches=4),
    candidate=Side(median=12.94e6, spread=0.013, launches=4),
    worst_delay=None,
    disturbed=0,
)
NOTHING = verdict(verdict="undecided", change=None, interval=None, p_value=None, pairs=0, baseline=None, candidate=None)

SUMMARY = Summary(
    benchmark="sort",
    metric="active",
    median=12.81e6,
    spread=0.012,
    interval=(12.70e6, 12.95e6),
    lowest=12.1e6,
    highest=19.3e6,
    modes=[12.7e6],
    launches=50,
    seconds=2.1,
    quality="noisy",
    disturbed=5,
    worst_delay=0.03,
)


def run(*, stop: StopReason = "pairs", benchmarks: tuple[str, ...] = ("sort",), name: str = "./sort data.bin") -> Run:
    rows = [r for number in range(len(benchmarks)) for r in pair_rows(0, 50, benchmark=number) if r.side == 0]
    return Run(
        tool="0.1.0",
        created="2026-01-01T00:00:00Z",
        machine=MACHINE,
        settings=Settings(),
        benchmarks=[Benchmark(name=each) for each in benchmarks],
        stop=[stop] * len(benchmarks),
        seconds=2.1,
        launches=Launches.of_rows(rows),
        subjects=[subject(name)],
    )


def on_screen(show: Callable[[Console], None], width: int = 80) -> str:
    """Return what is printed on a screen of so many columns."""
    out = io.StringIO()
    show(Console(file=out, width=width))
    return out.getvalue()


def flat(text: str) -> str:
    """Return a text on one line, however wide it was printed."""
    return " ".join(text.split())
