"""The command line within the process of the tests: the same words, without the start of another Python."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from steelyard.cli.app import run
from tests.tool import Done, Tool

FAKE_HARNESS = Path(__file__).resolve().parent / "fake_harness.py"


@dataclass
class InProcess:
    """Runs command lines in the folder and the environment of a tool."""

    tool: Tool
    capfd: pytest.CaptureFixture[str]

    def __call__(self, *words: str | Path) -> Done:
        """Run one command line to its end; neither a traceback nor a control character may be printed."""
        self.capfd.readouterr()
        status = run([str(word) for word in words])
        sys.stdout.flush()
        printed = self.capfd.readouterr()
        done = Done(status, printed.out.encode(), printed.err.encode())
        done.check_is_tidy()
        return done

    def compare(self, *words: str | Path) -> Done:
        """Weigh the benchmarks of harnesses, by 10 pairs if nothing else is said."""
        limit = () if {"--pairs", "--max-time"} & set(words) else ("--pairs", "10")
        return self("compare", "--harness", "protocol", *words, *limit)

    def refuses(self, *words: str | Path, status: int = 2) -> str:
        """Run what has to fail before anything is measured, and return the sentence it says."""
        done = self(*words)
        assert done.status == status, done
        return done.sentence


def in_process(tool: Tool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> InProcess:
    """Command lines within this process, as if it had the tool's folder and environment."""
    monkeypatch.chdir(tool.folder)
    for name in set(os.environ) - set(tool.environment):
        monkeypatch.delenv(name)
    for name, value in tool.environment.items():
        monkeypatch.setenv(name, value)
    return InProcess(tool, capfd)


def suite(ways: str = "well", *names: str) -> str:
    """The command line of a harness with these benchmarks (a, b and c, if none are named), which has its ways."""
    return shlex.join([sys.executable, "-IS", str(FAKE_HARNESS), ways, *names])
