"""Several counters side by side: load does not disturb counts, so every processor may count."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from queue import SimpleQueue
from types import TracebackType
from typing import Self

from steelyard.measure.count.counter import Counted, Counter
from steelyard.measure.count.valgrind import Valgrind
from steelyard.measure.launch import Launcher
from steelyard.model.counting import CountSettings
from steelyard.model.errors import MeasurementError


class Crew:
    """`jobs` counters, each with a launch server of its own, while the context lasts."""

    def __init__(self, valgrind: Valgrind, settings: CountSettings, jobs: int) -> None:
        self._valgrind, self._settings, self._jobs = valgrind, settings, jobs
        self._launchers: list[Launcher] = []
        self._free: SimpleQueue[Counter] = SimpleQueue()
        self._open = contextlib.ExitStack()
        self._cancelled = False

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as opening:
            for _ in range(self._jobs):
                launcher = opening.enter_context(Launcher())
                self._launchers.append(launcher)
                self._free.put(Counter(launcher, self._valgrind, self._settings))
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

    def count_all(self, tasks: Sequence[Callable[[Counter], Counted]]) -> Iterator[tuple[int, Counted]]:
        """Do every task on whichever counter is free; yield (index of the task, what it counted) as they end.

        Ends early, without an error, after `cancel`. Raises the first error of a task; those under way are killed.
        """
        with ThreadPoolExecutor(self._jobs) as pool:
            futures = {pool.submit(self._do, task): number for number, task in enumerate(tasks)}
            try:
                for future in as_completed(futures):
                    counted = future.result()
                    if counted is None or counted.measured.cancelled:
                        return
                    yield futures[future], counted
            except MeasurementError:
                self.cancel()
                raise
            finally:
                for future in futures:
                    future.cancel()

    def _do(self, task: Callable[[Counter], Counted]) -> Counted | None:
        if self._cancelled:
            return None
        counter = self._free.get()
        try:
            return task(counter)
        finally:
            self._free.put(counter)
