"""Settings of the whole test suite, and the fixtures that run the command line."""

from __future__ import annotations

import gc
import os
import random
import re
import secrets
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

# Before numpy reads it, and in the C library's environment only, as the tool does: on a busy machine many small matrix
# products would wait for OpenBLAS's threads.
os.putenv("OPENBLAS_NUM_THREADS", os.environ.get("OPENBLAS_NUM_THREADS", "1"))

import numpy as np
import pytest
from hypothesis import settings

from tests import marks, second_try
from tests.in_process import InProcess, in_process
from tests.tool import Tool, tidy_at_the_end
from tests.world import scripted as scripted

pytest_plugins = ["tests.second_try"]

# Collecting the tests makes objects that stay. Searching them for garbage again and again takes a third of the time.
gc.set_threshold(100_000)

# The same examples every time, so that a test fails because of a change, and fails again when it is repeated.
# `--hypothesis-profile new` draws new examples.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("new", deadline=None)
settings.load_profile("same")


# Tests put their folders into command lines and patterns as they are, and sockets into them, whose paths are short.
if not re.fullmatch(r"[\w/.-]{,40}", tempfile.gettempdir()):
    os.environ["TMPDIR"] = tempfile.tempdir = "/tmp"


# What every user may write to is not carried on.
os.umask(0o022)


# A pytest that a test starts must not take itself for a worker of this one, nor git its repository for that of a hook
# that runs the tests. What else is said to this pytest and its Python is not meant for those of the tests.
for name in [*os.environ]:
    if name.startswith(("PYTEST_XDIST_", "PYTEST_ADDOPTS", "PYTHONWARNINGS", "GIT_")):
        del os.environ[name]


# A shell's background jobs, and what nohup starts, ignore these signals. So would a program that a test starts and
# then interrupts.
for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marks.order(items)
    for item in items:
        marks.mark(item)


def pytest_collection_finish() -> None:
    """Keep what collecting has made out of garbage collection, of which each would take half a second."""
    gc.freeze()


@pytest.fixture(autouse=True)
def unstarted(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail a test that starts a program without the mark `real`."""
    monkeypatch.setattr(second_try.STARTS, "refused", request.node.get_closest_marker("real") is None)


@pytest.fixture(autouse=True)
def seeded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seed all random numbers with the test's name: the same alone, among other tests, and when it is repeated.

    That holds for the seeds that the tool draws within this process, too.
    """
    drawn = random.Random(request.node.nodeid)
    random.seed(drawn.getrandbits(64))
    np.random.seed(drawn.getrandbits(32))
    monkeypatch.setattr(secrets, "randbelow", drawn.randrange)


@pytest.fixture(autouse=True, scope="session")
def unsynced() -> Iterator[None]:
    """Wait for no disk in this process: what a test writes need not survive a crash of the machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(autouse=True)
def handled() -> Iterator[None]:
    """Fail a test that leaves another handler of a signal than it found: Ctrl-C would not end whatever runs next."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCONT)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    left = {number: handler for number in numbers if (handler := signal.getsignal(number)) != before[number]}
    for number in left:
        signal.signal(number, before[number])
    assert not left


@pytest.fixture
def tool(tmp_path: Path) -> Iterator[Tool]:
    """The installed command; every process that it starts must be gone at the end of the test."""
    yield from tidy_at_the_end(Tool(tmp_path))


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> InProcess:
    """The command line within this process, for arguments that are refused or answered without starting anything."""
    return in_process(tmp_path, monkeypatch, capfdbinary)


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Iterator[InProcess]:
    """The command line within this process, which saves the start of a Python; it too must leave no process behind."""
    yield from tidy_at_the_end(in_process(tmp_path, monkeypatch, capfdbinary))
