"""Several counters side by side: load does not disturb counts, so every processor may count."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from queue import SimpleQueue
from types import TracebackType
from typing import Self

from steelyard.measure.count.counter import Counted, Counter
from steelyard.measure.count.profile import Profiles
from steelyard.measure.count.valgrind import Valgrind
from steelyard.measure.launch import Launcher
from steelyard.model.counting import CountSettings
from steelyard.model.launches import LaunchSpec, Measured

Task = Callable[[Counter], Counted | None]
"""Counts once; None if nothing came of it, which the task has to tell by itself."""


class WorkerPool:
    """`jobs` counters, each with a launch server of its own, while the context lasts."""

    def __init__(self, valgrind: Valgrind, settings: CountSettings, jobs: int) -> None:
        self._valgrind, self._settings, self._jobs = valgrind, settings, jobs
        self._profiles = Profiles()
        self._launchers: list[Launcher] = []
        self._free: SimpleQueue[Counter] = SimpleQueue()
        self._open = contextlib.ExitStack()
        self._cancelled = False

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as opening:
            for _ in range(self._jobs):
                launcher = opening.enter_context(Launcher())
                self._launchers.append(launcher)
                stoppable = _Stoppable(launcher, self._is_cancelled)
                self._free.put(Counter(stoppable, self._valgrind, self._settings, self._profiles))
            self._open = opening.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def cancel(self) -> None:
        """Kill what is being counted and begin nothing more; for a signal handler."""
        self._cancelled = True
        for launcher in self._launchers:
            launcher.cancel()

    def count_all(self, tasks: Sequence[Task]) -> Generator[tuple[int, Counted], None, None]:
        """Do every task on whichever counter is free; yield (index of the task, what it counted) as they end.

        Ends early, without an error, after `cancel`. Raises the first error of a task; those under way are killed, as
        they are when the iterator is closed.
        """
        with ThreadPoolExecutor(self._jobs) as pool:
            futures = {pool.submit(self._do, task): number for number, task in enumerate(tasks)}
            try:
                for future in as_completed(futures):
                    counted = future.result()
                    if counted is not None and not counted.measured.cancelled:
                        yield futures[future], counted
            except BaseException:
                self.cancel()
                raise

    def _do(self, task: Task) -> Counted | None:
        counter = self._free.get()
        try:
            return None if self._cancelled else task(counter)
        except Cancelled:
            return None
        finally:
            self._free.put(counter)

    def _is_cancelled(self) -> bool:
        return self._cancelled


class Cancelled(Exception):  # noqa: N818 - it is no error
    """The pool was cancelled between two launches of a task."""


@dataclass(frozen=True)
class _Stoppable:
    """A launcher that begins nothing more once the pool is cancelled: a cancel between two launches is not lost."""

    launcher: Launcher
    is_cancelled: Callable[[], bool]

    def launch(self, spec: LaunchSpec) -> Measured:
        if self.is_cancelled():
            raise Cancelled
        return self.launcher.launch(spec)
