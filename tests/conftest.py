"""Settings of the whole test suite, and the command line that most of it runs."""

from __future__ import annotations

import gc
import os
import random
import secrets
import signal
from collections.abc import Iterator
from pathlib import Path

# Before numpy is there to read it, and in the C library's environment only, as the tool does: many small products of
# matrices would wait for threads of which each has a processor to itself on no busy machine.
os.putenv("OPENBLAS_NUM_THREADS", os.environ.get("OPENBLAS_NUM_THREADS", "1"))

import numpy as np
import pytest
from hypothesis import settings

from tests import marks, second_try
from tests.in_process import InProcess, in_process
from tests.tool import Tool, tidy_at_the_end
from tests.world import scripted as scripted

pytest_plugins = ["tests.second_try"]

# Collecting the tests makes objects that stay: to look among them for garbage again and again takes a third of it.
gc.set_threshold(100_000)

# The same examples every time: a test that fails shall fail for what was changed, and again when it is tried again.
# `--hypothesis-profile new` draws new ones.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("new", deadline=None)
settings.load_profile("same")


# A pytest that a test starts is no worker of this one.
for name in [name for name in os.environ if name.startswith("PYTEST_XDIST_")]:
    del os.environ[name]


# Background jobs of a shell, and whatever nohup starts, ignore them; so would what a test starts and then interrupts.
for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marks.order(items)
    for item in items:
        marks.mark(item)


def pytest_collection_finish() -> None:
    """What collecting has made stays to the end: to look for garbage among it would take half a second each time."""
    gc.freeze()


@pytest.fixture(autouse=True)
def unstarted(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that is not marked as one that starts programs cannot start any."""
    monkeypatch.setattr(second_try.STARTS, "refused", request.node.get_closest_marker("real") is None)


@pytest.fixture(autouse=True)
def seeded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is drawn at random is drawn from the test's own name: the same numbers alone, among others, and once more.

    The seeds that the tool itself draws, within this process, as well.
    """
    drawn = random.Random(request.node.nodeid)
    random.seed(drawn.getrandbits(64))
    np.random.seed(drawn.getrandbits(32))
    monkeypatch.setattr(secrets, "randbelow", drawn.randrange)


@pytest.fixture
def tool(tmp_path: Path) -> Iterator[Tool]:
    """The installed command; whatever it starts has to be gone at the end of the test."""
    yield from tidy_at_the_end(Tool(tmp_path))


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> InProcess:
    """The command line within this process, for words that are refused or answered without starting anything."""
    return in_process(tmp_path, monkeypatch, capfdbinary)


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Iterator[InProcess]:
    """The same command line within this process, which saves the start of a Python; as tidy."""
    yield from tidy_at_the_end(in_process(tmp_path, monkeypatch, capfdbinary))
