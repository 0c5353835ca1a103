"""The command line within the process of the tests, which saves the start of another Python."""

from __future__ import annotations

import io
import os
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from steelyard.cli.app import run
from tests.tool import Done, Tool

FAKE_HARNESS = Path(__file__).resolve().parent / "fake_harness.py"


@dataclass
class InProcess(Tool):
    """Runs command lines in this process, with a folder and an environment of their own."""

    captured: pytest.CaptureFixture[bytes] | None = None

    def __call__(self, *words: str | Path, **options: Any) -> Done:
        """Run one command line to its end; neither a traceback nor a control character may be printed."""
        assert self.captured is not None
        assert not options, "only a process of its own has these: take the installed command"
        self.captured.readouterr()
        with mock.patch.dict(os.environ, self.environment, clear=True), as_for_a_user():
            status = run([str(word) for word in words])
            sys.stdout.flush()
        done = Done(status, *self.captured.readouterr())
        done.check_is_tidy()
        return done

    def weigh(self, *words: str | Path) -> Done:
        """Weigh the benchmarks of harnesses, by 10 pairs if nothing else is said."""
        limit = () if {"--pairs", "--max-time"} & set(words) else ("--pairs", "10")
        return self("compare", "--harness", "protocol", *words, *limit)


@contextmanager
def as_for_a_user() -> Iterator[None]:
    """Have stdout refuse what it cannot encode, and stderr escape it, as for a user; pytest would replace it."""
    streams = [(sys.stdout, "strict"), (sys.stderr, "backslashreplace")]
    try:
        for stream, errors in streams:
            assert isinstance(stream, io.TextIOWrapper)
            stream.reconfigure(errors=errors)
        yield
    finally:
        for stream, _ in streams:
            assert isinstance(stream, io.TextIOWrapper)
            stream.reconfigure(errors="replace")


def in_process(folder: Path, monkeypatch: pytest.MonkeyPatch, captured: pytest.CaptureFixture[bytes]) -> InProcess:
    """Return the command line within this process; the folder is the current one until the end of the test."""
    tool = InProcess(folder, captured=captured)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(tempfile, "tempdir", None)  # cached at first use; here TMPDIR counts, as for a user
    for name in set(os.environ) - set(tool.environment):
        monkeypatch.delenv(name)
    for name, value in tool.environment.items():
        monkeypatch.setenv(name, value)
    return tool


def suite(ways: str = "well", *names: str) -> str:
    """Return the command line of a fake harness with these benchmarks (a, b and c by default) and this behaviour."""
    return shlex.join([sys.executable, "-IS", str(FAKE_HARNESS), ways, *names])
