"""The repeating part of the driver: set up launches, launch them, check how they ended, journal them."""

from __future__ import annotations

import contextlib
import itertools
from pathlib import Path
from typing import Self

from steelyard.design.runner.draws import draw_places
from steelyard.design.runner.runner import Runner
from steelyard.design.runner.series import journaled_series
from steelyard.design.runner.targets import targets_of
from steelyard.design.timing.recorder import Recorder
from steelyard.machine.facts import read_facts
from steelyard.measure.launch import Launcher
from steelyard.model.journal import Journal
from steelyard.model.launches import Launches
from steelyard.model.records import Weighing
from steelyard.model.rows import USED
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark
from steelyard.subjects.command import command_subject

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin"}


def weighing_of(command: str) -> Weighing:
    """A weighing of a command against itself, before its first launch."""
    return Weighing(
        tool="benchmark",
        created="2026-01-01T00:00:00+00:00",
        machine=read_facts(),
        settings=Settings(environment=list(ENVIRONMENT)),
        subjects=[command_subject(command, name, name, shell=False) for name in ("baseline", "candidate")],
        benchmarks=[Benchmark(name="work")],
        stop=["interrupted"],
        seconds=0.0,
        launches=Launches(),
    )


class Loop:
    """A launch server, a journal and a recorder, for as long as the context lasts."""

    def __init__(self, header: Weighing, journal: Path) -> None:
        self._header, self._path = header, journal
        self._open = contextlib.ExitStack()
        self._numbers = itertools.count()

    def __enter__(self) -> Self:
        self._launcher = self._open.enter_context(Launcher())
        journal = self._open.enter_context(Journal(self._path, self._header))
        targets = targets_of(self._header, ENVIRONMENT)
        series = journaled_series(self._header.settings, targets, self._launcher, journal)
        self._recorder = Recorder(targets, Runner(self._launcher), journal, series=series)
        return self

    def __exit__(self, *_error: object) -> None:
        self._open.close()

    def pairs(self, count: int) -> list[int]:
        """Run `count` more pairs, as many at once as a weighing of short launches does; return the wall times in ns."""
        wall_ns: list[int] = []
        seed = self._header.settings.seed
        while count > 0:
            numbers = itertools.islice(self._numbers, min(count, self._recorder.most_pairs()))
            places = [place for number in numbers for place in draw_places(seed, 0, number, USED)]
            count -= len(places) // 2
            wall_ns += [row.wall_ns for pair in self._recorder.pairs(places) for row in pair]
        return wall_ns
