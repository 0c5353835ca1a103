"""A second try is for tests that measure a real machine, and for no others."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.in_process import InProcess
from tests.second_try import STARTS
from tests.world import ScriptedWorld

ROOT = Path(__file__).resolve().parents[1]
# They fail the first time only. All but the last three depend on the machine.
TESTS = """
import subprocess
from pathlib import Path
import pytest

def fail_once(name):
    tried = Path(name).exists()
    Path(name).touch()
    assert tried

@pytest.fixture(scope="module")
def waits():
    return 1

@pytest.fixture
def starting():
    subprocess.Popen(["true"]).wait()

def test_that_starts():
    subprocess.run(["true"])
    fail_once("starts")

def test_with_a_fixture_that_starts(starting):
    fail_once("fixture")

@pytest.mark.parametrize("time", [1, 2])
def test_lent_what_was_measured(measured, time):
    fail_once(f"lent{time}")
"""
SHARED = """
import subprocess
import pytest

@pytest.fixture(scope="session")
def measured():
    return subprocess.run(["true"])
"""
OTHERS = """
def test_that_starts_nothing(waits):
    fail_once("nothing")

def test_that_asks_git():
    subprocess.run(["git", "--version"])
    fail_once("git")

@pytest.fixture
def broken():
    raise OSError

def test_that_is_not_reached(broken):
    pass
"""


def put(folder: Path, tests: str) -> None:
    """Write these tests to a folder below, together with a fixture that they share."""
    (folder / "them").mkdir(parents=True)
    (folder / "pytest.ini").touch()
    (folder / "them/conftest.py").write_text(SHARED)
    (folder / "them/test_them.py").write_text(tests)


def outcome(folder: Path, *words: str) -> tuple[int, str]:
    """Run pytest on the tests in a folder; return its exit status and what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "xdist", "-p", "tests.second_try", "-q", "--tb=no", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_those_that_depend_on_the_machine_alone_are_tried_again(tmp_path: Path) -> None:
    put(tmp_path / "all", TESTS + OTHERS)
    assert outcome(tmp_path / "all", "-n", "1")[0] == 1
    shutil.copytree(tmp_path / "all", tmp_path / "again")

    status, printed = outcome(tmp_path / "all", "--last-failed", "--second-try")
    assert status == 1
    assert printed.partition("do not depend on the machine:\n")[2].split()[:3] == [
        f"them/test_them.py::test_that_{name}" for name in ("starts_nothing", "asks_git", "is_not_reached")
    ]
    assert "passed" not in printed

    depend = "not (nothing or git or reached)"
    status, printed = outcome(tmp_path / "again", "--last-failed", "--second-try", "-k", depend)
    assert status == 0
    assert "4 passed" in printed


def test_a_real_weighing_depends_on_the_machine(here: InProcess) -> None:
    before = STARTS.count
    here.compared("--pairs", "8")
    assert STARTS.count > before


def test_a_scripted_one_does_not(scripted: ScriptedWorld) -> None:
    before = STARTS.count
    assert scripted("compare", "./old", "./new", "--pairs", "8").status == 1
    assert STARTS.count == before
