"""Harnesses on both sides, and readers of their weighings."""

from __future__ import annotations

from typing import Any

from steelyard.design.judging.judgement import verdicts
from steelyard.model.records import Weighing
from tests.design.scripted_harness import (
    Bodies,
    Body,
    Suites,
    machine,
    steady,
)

CRASH = {"exit_code": None, "signal": 11}
ONE: Bodies = {"one": steady()}


def both(**bodies: Body) -> Suites:
    """Return harnesses with the same benchmarks on both sides."""
    return machine(baseline=bodies, candidate=bodies)


def named(*names: str) -> Bodies:
    return {name: steady() for name in names}


def names(record: Weighing) -> list[str]:
    return [benchmark.name for benchmark in record.benchmarks]


def messages(record: Any, code: str) -> list[str]:
    return [finding.message for finding in record.findings if finding.code == code]


def verdicts_of(record: Weighing) -> dict[str, str]:
    return {verdict.benchmark: verdict.verdict for verdict in verdicts(record)}
