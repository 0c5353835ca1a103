"""The clean-up commands: run once, when all is measured, or when that failed or was interrupted on the way."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from steelyard.design.runner.runner import LaunchServer, Runner
from steelyard.design.runner.target import Hooks
from steelyard.measure.launch import ServerLostError
from steelyard.model.progress import Watch


@dataclass
class CleanUp:
    """What one session has to clean up."""

    launcher: LaunchServer
    start_server: Callable[[], AbstractContextManager[LaunchServer]]
    """Starts a server in its place if it is lost."""
    cancels: list[Callable[[], None]]
    """What a signal handler calls to end the launches in flight."""
    progress: Watch
    """Is told of a command that takes long."""
    has_begun_checks: list[Callable[[], bool]] = field(default_factory=list)
    """Of each runner, whether it has launched anything: where nothing ran, there is nothing to clean up."""
    _runner: Runner | None = None

    def set_hooks(self, hooks: Hooks) -> None:
        """Set the commands to run at the end."""
        self._runner = Runner(self.launcher, hooks=hooks, watch=self.progress)

    def watch(self, runner: Runner) -> Runner:
        """Clean up after this runner if it launches anything; return it."""
        self.has_begun_checks.append(lambda: runner.has_begun)
        return runner

    def run(self) -> Runner | None:
        """Run the commands once, however often this is called; return the runner that ran them, if they had to run.

        They run even after an interrupt, which ends all that is measured. Raises MeasurementError for one that fails,
        Interrupted for one that the user cuts short.
        """
        runner, self._runner = self._runner, None
        if runner is None or not any(has_begun() for has_begun in self.has_begun_checks):
            return None
        self.launcher.forget_cancel()
        try:
            return _run_cleanup(runner)
        except ServerLostError:
            with self.start_server() as launcher:
                self.cancels.append(launcher.cancel)
                return _run_cleanup(Runner(launcher, hooks=runner.hooks, watch=self.progress))


def _run_cleanup(runner: Runner) -> Runner:
    for spec in runner.hooks.cleanup:
        runner.run_hook("--cleanup", spec)
    return runner
