"""Which tests hang on the machine: those that started programs, or were lent what was measured with some.

Such a test that failed gets one more try: what it was told by a real clock may have been wrong by chance. Any other
that fails has failed. What a test is follows from what it did when it failed, not from its name or place: each program
that is started within the process of the tests is noted, for the test and for the fixtures that it shares with others.

PYTEST_DONT_REWRITE: conftest.py has imported this by the time that it is a plugin, and nothing is asserted here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

# Any test may start them: of uname the platform module asks what this machine is; steelyard-read reads files.
FREE = {"uname", "steelyard-read"}
# They measure nothing, and do the same on any machine: a test that starts no others hangs on none.
STEADY = FREE | {"git", "cc", "c++", "gcc", "g++", "clang", "clang++", "cmake", "mvn", "nm", "objdump"}
ON_THE_MACHINE = "on the machine"
_KEPT = "steelyard/on-the-machine"


class Starts:
    """The programs that this process starts, from when it is made: all but those that are steady."""

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
        help="with --last-failed: only tests that hang on the machine are tried again",
    )


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
    """Note which of the fixtures that tests share have started something."""
    before = STARTS.count
    try:
        return (yield)
    finally:
        if fixturedef.scope != "function" and STARTS.count > before:
            _lent.add((fixturedef.baseid, fixturedef.argname))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Count from where a test begins, with its fixtures."""
    _before[item.nodeid] = STARTS.count
    try:
        return (yield)
    finally:
        del _before[item.nodeid]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Say in each report whether the test has started something, or has what something was started for."""
    report: Any = yield
    names = getattr(item, "fixturenames", ())
    lent = any(item.nodeid.startswith(place) and name in names for place, name in _lent)
    report.user_properties.append((ON_THE_MACHINE, lent or STARTS.count > _before[item.nodeid]))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note what failed on the machine; of tests on several workers as well."""
    if report.failed and (ON_THE_MACHINE, True) in map(tuple, report.user_properties):
        _failed.append(report.nodeid)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """End it if some that failed may not be tried again."""
    if session.config.getoption("--second-try"):
        known = session.config.cache.get(_KEPT, [])
        if broken := [item.nodeid for item in session.items if item.nodeid not in known]:
            pytest.exit("\n".join(["no second try, as these do not hang on the machine:", *broken]), returncode=1)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep for the second try which these were."""
    cache = getattr(session.config, "cache", None)
    if cache and not hasattr(session.config, "workerinput"):
        cache.set(_KEPT, sorted(set(_failed)))
