"""Reads and writes one setting of the machine: a file below /proc or /sys, or whether a service's process runs."""

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
_STOPPED_STATES = ("T", "t")
# A signal only wakes a process to stop itself: 1 of 120 had not yet, on an idle machine.
_MOST_LOOKS, _APART_S = 50, 0.002


def _write(path: Path, text: str) -> None:
    """Write to a file that is there, in one call, as `echo TEXT > FILE` does; nothing is made or cut off first."""
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
        """What a setting is now; None if there is no such setting (any more)."""
        if setting.startswith(PROCESS):
            states = [self._state(number) for number in self._processes(setting)]
            return None if not states else _STOPPED if all(one in _STOPPED_STATES for one in states) else _RUNNING
        return self.tree.chosen(setting)

    def set(self, setting: str, value: str) -> None:
        """Make a setting what is wanted, and wait a moment until a process is so; raises OSError as the system does."""
        if not setting.startswith(PROCESS):
            self.write(self.tree.root / setting, value)
            return
        for number in self._processes(setting):
            self.kill(number, signal.SIGSTOP if value == _STOPPED else signal.SIGCONT)
        for _ in range(_MOST_LOOKS):
            if self.read(setting) in (value, None):
                return
            self.sleep(_APART_S)

    def _processes(self, setting: str) -> list[int]:
        # In a /proc of another namespace they have the numbers that others have here, who would get the signals.
        return self.tree.named(setting.removeprefix(PROCESS)) if self.tree.knows_us() else []

    def _state(self, number: int) -> str:
        return (self.tree.text(f"proc/{number}/stat") or "").rpartition(") ")[2][:1]
