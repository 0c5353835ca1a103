"""What is looked at before the first pair: whether both sides print the same, and how long a shell takes to start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import median

from steelyard.design.runner.draws import draw_pair
from steelyard.design.runner.runner import Runner
from steelyard.design.runner.target import Target
from steelyard.design.runner.targets import Targets, layouts_of, longest_at_first_s
from steelyard.measure.scratch import room_for, scratch_folder
from steelyard.model.errors import MeasurementError
from steelyard.model.findings import Finding
from steelyard.model.measured import Measured
from steelyard.model.records import Run, Weighing
from steelyard.model.sides import SIDES
from steelyard.subjects.shell_words import needs_shell

_SHELL_STARTS = 7
_MOST_BYTES_SHOWN = 60


def with_preliminaries(record: Weighing | Run, targets: Targets, runner: Runner) -> Weighing | Run:
    """Return the record with what is found before its first pair; unchanged if it is resumed.

    Raises MeasurementError if both sides were to print the same and do not, Interrupted.
    """
    if len(record.launches):
        return record
    if record.settings.reference_output:
        _compare_outputs(record, targets, runner)
    if targets.empty_shell is None:
        return record
    starts = [shell_start_ns(runner.run(targets.empty_shell)) / 1e9 for _ in range(_SHELL_STARTS)]
    is_needed = all(needs_shell(subject.command) for subject in record.subjects)
    return record.with_findings([_shell_finding(starts, is_needed=is_needed, is_left_in=isinstance(record, Run))])


def shell_start_ns(started: Measured) -> int:
    """Return how long an empty shell took, in ns, without its waits for a processor: launches have other waits."""
    return max(0, started.wall_ns - (started.delay_ns or 0))


def _shell_finding(seconds: list[float], *, is_needed: bool, is_left_in: bool) -> Finding:
    """Return the finding on how long a shell takes to start: `seconds` are those of a few that do nothing.

    `is_needed` tells that all commands may need the shell.
    """
    takes = f"the shell's own start takes about {median(seconds) * 1e3:.2f} ms of every launch"
    return Finding(
        code="shell",
        message=f"{takes}, and is included in these figures"
        if is_left_in
        else f"{takes}, and is subtracted from elapsed time",
        remedy=None
        if is_needed
        else "leave --shell out unless the commands need a pipe or other features of the shell",
    )


def _compare_outputs(record: Weighing | Run, targets: Targets, runner: Runner) -> None:
    """Run both sides of each benchmark once, in each layout, and compare what they print, byte by byte."""
    with room_for("--reference-output needs"), scratch_folder("output") as folder:
        old, new, again = (folder / name for name in (*SIDES, "again"))
        for (number, benchmark), layout in product(enumerate(record.benchmarks), layouts_of(record.settings)):
            draw = draw_pair(record.settings.seed, number, 0)._replace(layout=layout)
            baseline, candidate = (targets.of(number, side, draw).within(longest_at_first_s(record)) for side in (0, 1))
            _print_to(old, baseline, runner)
            _print_to(new, candidate, runner)
            difference = _difference(old, new)
            if difference is None:
                continue
            _print_to(again, baseline, runner)
            name = f"{benchmark.name}{f' (layout {layout})' if layout else ''}"
            if of_itself := _difference(old, again):
                raise MeasurementError(
                    f"{name}: the baseline itself prints something else each time, {of_itself}: what it prints cannot "
                    "be compared. Leave --reference-output out."
                )
            raise MeasurementError(
                f"{name}: the two sides print different things, {difference}: a faster wrong answer is not faster. Fix "
                "the candidate, or leave --reference-output out."
            )


def _print_to(output: Path, target: Target, runner: Runner) -> None:
    runner.trial(replace(target, spec=replace(target.spec, stdout=str(output).encode(), repeat=1)))


def _difference(one: Path, other: Path) -> str | None:
    """Say where two files differ first, with what stands there; None if they are equal."""
    line = _first_difference(one, other)
    return None if line is None else f"first in line {line}{_both_lines((one, other), line)}"


def _both_lines(outputs: Sequence[Path], number: int) -> str:
    """Return what stands in that line on both sides, if that shows how they differ."""
    mine, theirs = (_line(path, number) for path in outputs)
    return "" if mine == theirs else f" ({mine} and {theirs})"


def _line(path: Path, number: int) -> str:
    """Return the beginning of a line, in quotes; a file may consist of one endless line."""
    with path.open("rb") as file:
        rest = number - 1
        while rest and (read := file.readline(1 << 16)):
            rest -= read.endswith(b"\n")
        line = file.readline(_MOST_BYTES_SHOWN + 1).removesuffix(b"\n")
    text = line[:_MOST_BYTES_SHOWN].decode(errors="backslashreplace")
    return f"'{text}'" if len(line) <= _MOST_BYTES_SHOWN else f"'{text}…'"


def _first_difference(one: Path, other: Path) -> int | None:
    """Return the number of the first line in which two files differ, from 1; None if they are equal."""
    with one.open("rb") as left, other.open("rb") as right:
        line = 1
        while True:
            mine, theirs = left.read(1 << 16), right.read(1 << 16)
            if mine != theirs:
                shorter = min(len(mine), len(theirs))
                common = next((n for n, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b), shorter)
                return line + mine[:common].count(b"\n")
            if not mine:
                return None
            line += mine.count(b"\n")
