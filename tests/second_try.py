"""A second try for failed tests that depend on the machine, and for no others.

A test depends on the machine if it started programs, or uses a shared fixture that did: a real clock may have misled
it by chance. This is observed, not declared: every program that the process of the tests starts is noted, for the test
that runs and for the fixtures that it shares with others.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

# Any test may start these: the platform module runs uname, and steelyard-read reads files.
FREE = {"uname", "steelyard-read"}
# These measure nothing and do the same on any machine: a test that starts no others does not depend on it.
STEADY = FREE | {"git", "cc", "c++", "gcc", "g++", "clang", "clang++", "cmake", "mvn", "nm", "objdump"}
ON_THE_MACHINE = "on the machine"
_KEPT = "steelyard/on-the-machine"


class Starts:
    """Counts the programs that this process starts from now on, but for the steady ones."""

    def __init__(self) -> None:
        self.count = 0
        self.refused = False
        sys.addaudithook(self._look)

    def _look(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen":
            words = arguments[1]
            program = words[0] if isinstance(words, list | tuple) else words
        elif event in ("os.posix_spawn", "os.system"):
            program = arguments[0]
        else:
            return
        name = Path(os.fsdecode(program)).name
        if self.refused and name not in FREE:
            pytest.fail(f"this test starts {name}: mark it, @pytest.mark.real")
        self.count += name not in STEADY


STARTS = Starts()
_lent: set[tuple[str, str]] = set()
_before: dict[str, int] = {}
_failed: list[str] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--second-try",
        action="store_true",
        help="with --last-failed: only tests that depend on the machine are tried again",
    )


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
    """Note the shared fixtures that have started programs."""
    before = STARTS.count
    try:
        return (yield)
    finally:
        if fixturedef.scope != "function" and STARTS.count > before:
            _lent.add((fixturedef.baseid, fixturedef.argname))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Note the count of started programs before a test and its fixtures."""
    _before[item.nodeid] = STARTS.count
    try:
        return (yield)
    finally:
        del _before[item.nodeid]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Tell in each report whether the test, or a shared fixture that it uses, has started programs."""
    report: Any = yield
    names = getattr(item, "fixturenames", ())
    lent = any(item.nodeid.startswith(place) and name in names for place, name in _lent)
    report.user_properties.append((ON_THE_MACHINE, lent or STARTS.count > _before[item.nodeid]))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note the failed tests that depend on the machine, those of other workers too."""
    if report.failed and (ON_THE_MACHINE, True) in map(tuple, report.user_properties):
        _failed.append(report.nodeid)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """End the second try if one of the failed tests does not depend on the machine."""
    if session.config.getoption("--second-try"):
        known = session.config.cache.get(_KEPT, [])
        if broken := [item.nodeid for item in session.items if item.nodeid not in known]:
            pytest.exit("\n".join(["no second try, as these do not depend on the machine:", *broken]), returncode=1)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep the names of these tests for the second try."""
    cache = getattr(session.config, "cache", None)
    if cache and not hasattr(session.config, "workerinput"):
        cache.set(_KEPT, sorted(set(_failed)))
