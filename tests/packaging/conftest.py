"""The sdist and the wheel that a release of this checkout would have."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.builds import ROOT, built


@pytest.fixture(scope="session")
def checked_in() -> list[str]:
    """The files of this checkout that are in git, or will be."""
    if not (ROOT / ".git").exists():
        pytest.skip("no checkout of git: what belongs in a release is not known")
    # In a container the checkout may be another user's.
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted(name for name in set(listed.stdout.split("\0")) if name and (ROOT / name).is_file())


@pytest.fixture(scope="session")
def sdist(checked_in: list[str]) -> Path:
    """The sdist, built from what is checked in and nothing else, as from a fresh clone."""

    def make(place: Path) -> None:
        clone = place / "clone"
        for name in checked_in:
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name)
        _build("sdist", clone, place)
        shutil.rmtree(clone)

    return _only(built("sdist", make, *checked_in, *(ROOT / name for name in checked_in)), "*.tar.gz")


@pytest.fixture(scope="session")
def wheel(sdist: Path) -> Path:
    """The wheel, built from the sdist, with what cargo has already built for the editable package."""

    def make(place: Path) -> None:
        with tarfile.open(sdist) as archive:
            archive.extractall(place, filter="data")
        tree = _only(place, "steelyard-*")
        _build("wheel", tree, place, CARGO_TARGET_DIR=str(ROOT / "build/cargo"))
        shutil.rmtree(tree)

    return _only(built("wheel", make, sdist), "*.whl")


def _build(what: str, tree: Path, place: Path, **environment: str) -> None:
    program = f"import sys, setuptools.build_meta as backend; backend.build_{what}(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", program, place],
        cwd=tree,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def _only(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found
