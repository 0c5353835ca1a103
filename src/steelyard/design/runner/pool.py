"""Several runners side by side: load does not disturb counts, so every processor may count."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from queue import SimpleQueue
from typing import Self, TypeVar

from steelyard.design.runner.failure import Interrupted
from steelyard.design.runner.runner import LaunchServer, Runner
from steelyard.design.runner.target import Hooks
from steelyard.subjects.programs import Programs

Result = TypeVar("Result")

_LONGEST_WAIT_S = 0.5


class WorkerPool:
    """`jobs` runners, each with a launch server of its own, while the context lasts."""

    def __init__(
        self, launcher: Callable[[], AbstractContextManager[LaunchServer]], jobs: int, hooks: Hooks | None = None
    ) -> None:
        self._launcher, self._hooks = launcher, hooks or Hooks()
        # The commands around one launch must not run beside another launch.
        self.jobs = 1 if self._hooks.prepare or self._hooks.conclude else jobs
        self._programs = Programs()
        self._runners: list[Runner] = []
        self._free: SimpleQueue[Runner] = SimpleQueue()
        self._open = contextlib.ExitStack()
        self._cancelled = False
        self.waiting: Callable[[], None] | None = None
        """Is called now and then while no task ends."""

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as opening:
            for _ in range(self.jobs):
                launcher = opening.enter_context(self._launcher())
                runner = Runner(launcher, lambda: self._cancelled, self._hooks, self._programs)
                self._runners.append(runner)
                self._free.put(runner)
            self._open = opening.pop_all()
        return self

    def __exit__(self, *_error: object) -> None:
        self._open.close()

    def cancel(self) -> None:
        """Kill what is being launched and begin nothing more; for a signal handler."""
        self._cancelled = True
        for runner in self._runners:
            runner.launcher.cancel()

    def has_begun(self) -> bool:
        """Whether anything was launched."""
        return any(runner.has_begun for runner in self._runners)

    def do_all(self, tasks: Sequence[Callable[[Runner], Result]]) -> Generator[tuple[int, Result], None, None]:
        """Do every task on whichever runner is free; yield (index of the task, its result) as they end.

        Ends early, without an error, after `cancel`: a task that raises Interrupted has no result. Raises the first
        error of a task; the tasks under way are killed, as they are when the iterator is closed.
        """
        with ThreadPoolExecutor(self.jobs) as pool:
            futures = {pool.submit(self._run_task, task): number for number, task in enumerate(tasks)}
            try:
                for future in iterate_ended(futures, self.waiting):
                    for result in future.result():
                        yield futures[future], result
            except BaseException:
                self.cancel()
                raise

    def _run_task(self, task: Callable[[Runner], Result]) -> list[Result]:
        """Return the result of a task in a list; an empty list if it was cancelled."""
        runner = self._free.get()
        try:
            return [] if self._cancelled else [task(runner)]
        except Interrupted:
            return []
        finally:
            self._free.put(runner)


def iterate_ended(futures: Iterable[Future[Result]], waiting: Callable[[], None] | None) -> Iterator[Future[Result]]:
    """Yield the futures as they end; `waiting` is called now and then in between.

    A signal that the system gives to another thread reaches this one only when its wait ends, so no wait is long.
    """
    left = set(futures)
    while left:
        ended, left = wait(left, timeout=_LONGEST_WAIT_S, return_when=FIRST_COMPLETED)
        if waiting is not None and not ended:
            waiting()
        yield from ended
