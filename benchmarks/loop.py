"""The part of the driver that repeats: set up a launch, launch it, check how it ended, journal it."""

from __future__ import annotations

import contextlib
import itertools
from pathlib import Path
from types import TracebackType
from typing import Self

from steelyard.design.draws import draw_pair
from steelyard.design.recorder import Recorder
from steelyard.design.targets import targets_of
from steelyard.machine.facts import read_facts
from steelyard.measure.launch import Launcher
from steelyard.model.journal import Journal
from steelyard.model.launches import ROLES, USED, Launches, Place
from steelyard.model.records import Benchmark, Settings, Weighing
from steelyard.subjects.command import command_subject

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin"}


def weighing_of(command: str) -> Weighing:
    """A weighing of a command against itself that has not begun."""
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
        self._recorder = Recorder(targets, self._launcher, journal, lambda: False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def launch(self) -> int:
        """One more launch; its wall time in ns."""
        pair, side = divmod(next(self._numbers), 2)
        draw = draw_pair(self._header.settings.seed, 0, pair)
        return self._recorder.launch(Place(0, pair, side, side, ROLES.index(USED), *draw)).wall_ns
