"""Small made-up records, and the means to damage them."""

from __future__ import annotations

from typing import Any

from steelyard.model.launches import Launches
from steelyard.model.machine import MachineFacts
from steelyard.model.records import Run, Weighing
from steelyard.model.rows import ROLES, LaunchRow
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark, Subject

MACHINE = MachineFacts(key="0", cpu_model="made up", architecture="none", cores_logical=1)
WARM_UP, USED, DISTURBED, TRIED = range(len(ROLES))


def row(pair: int = 0, side: int = 0, **changes: Any) -> LaunchRow:
    """Return a used launch of 10 ms whose main thread did all the work; every column has a value of its own."""
    return LaunchRow(
        benchmark=0,
        pair=pair,
        side=side,
        order=side,
        role=USED,
        hash_seed=7,
        padding_bytes=8,
        layout=0,
        start_ns=1_000_000_000 + (2 * pair + side) * 20_000_000,
        wall_ns=10_000_000,
        spawn_ns=100_000,
        cpu_ns=9_500_000,
        delay_ns=400_000,
        timeslices=3,
        user_ns=6_000_000,
        sys_ns=3_000_000,
        max_rss_bytes=5 * 2**20,
        minor_faults=300,
        major_faults=2,
        voluntary_switches=4,
        involuntary_switches=5,
        others_ns=0,
        pressure_ns=11,
        steal_ns=12,
        lost_ns=None,
        written_blocks=None,
        exit_code=0,
        signal=None,
        overhead_ns=0,
    )._replace(**changes)


def pairs(number: int) -> list[LaunchRow]:
    """Return pairs of launches with slightly different times."""
    return [row(pair, side, wall_ns=10_000_000 + 1000 * pair + side) for pair in range(number) for side in (0, 1)]


def subject(name: str = "true") -> Subject:
    return Subject(name=name, command=name, argv=[name], program="/bin/true")


def fields(rows: list[LaunchRow]) -> dict[str, Any]:
    return {
        "tool": "0.0",
        "created": "2026-01-01T00:00:00+00:00",
        "machine": MACHINE,
        "settings": Settings(),
        "benchmarks": [Benchmark(name="one")],
        "stop": ["decided"],
        "seconds": 1.5,
        "launches": Launches.of_rows(rows),
    }


def weighing(rows: list[LaunchRow] | None = None, **changes: Any) -> Weighing:
    given = {"subjects": [subject("old"), subject("new")], **fields(pairs(3) if rows is None else rows), **changes}
    return Weighing(**given)


def run(rows: list[LaunchRow] | None = None, **changes: Any) -> Run:
    given = {"subjects": [subject()], **fields([row(0), row(1)] if rows is None else rows), **changes}
    return Run(**given)
