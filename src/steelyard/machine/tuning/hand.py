"""Read and write one setting of the machine: a file below /proc or /sys, or whether a service's process runs."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.machine.readings import Tree
from steelyard.model.tuning import PROCESS

_RUNNING, _STOPPED = "running", "stopped"
# A signal only wakes a process, which then stops itself: on an idle machine 1 of 120 had not stopped yet.
_MOST_CHECKS, _CHECK_S = 50, 0.002


def _write(path: Path, text: str) -> None:
    """Write to an existing file in one call, as `echo TEXT > FILE` does; never create it."""
    handle = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        os.write(handle, f"{text}\n".encode())
    finally:
        os.close(handle)


@dataclass(frozen=True)
class Hand:
    """Reads and writes settings below one root."""

    tree: Tree = field(default_factory=Tree)
    write: Callable[[Path, str], None] = _write
    kill: Callable[[int, int], None] = os.kill
    sleep: Callable[[float], None] = time.sleep

    def read(self, setting: str) -> str | None:
        """Return the value of a setting; None if there is no such setting (any more)."""
        if setting.startswith(PROCESS):
            numbers = self._processes(setting)
            return None if not numbers else _STOPPED if all(map(self.tree.is_stopped, numbers)) else _RUNNING
        return self.tree.chosen(setting)

    def set(self, setting: str, value: str) -> None:
        """Set a setting, and wait a moment for a process to stop or go on; raises the system's OSError."""
        if not setting.startswith(PROCESS):
            self.write(self.tree.root / setting, value)
            return
        for number in self._processes(setting):
            self.kill(number, signal.SIGSTOP if value == _STOPPED else signal.SIGCONT)
        for _ in range(_MOST_CHECKS):
            if self.read(setting) in (value, None):
                return
            self.sleep(_CHECK_S)

    def _processes(self, setting: str) -> list[int]:
        # In another namespace's /proc the numbers are different, so the signals would reach the wrong processes.
        return self.tree.named(setting.removeprefix(PROCESS)) if self.tree.knows_us() else []
