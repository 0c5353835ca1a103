"""The wheel in an empty environment, with no compiler on the path, for the Pythons that it supports."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement

from tests.builds import ROOT, built
from tests.tool import environment_in

# What release/first-use calls, and what pip and the tool start; nothing that compiles.
_COMMANDS = ("env", "sh", "sleep", "true")


class Installed(NamedTuple):
    folder: Path
    environment: dict[str, str]

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=self.folder, env=self.environment, capture_output=True, text=True)


# The oldest version, and the newest ones.
@pytest.fixture(params=["3.11", "3.13", "3.14"])
def installed(request: pytest.FixtureRequest, wheel: Path, tmp_path: Path) -> Installed:
    python = _python(request.param)
    libraries = _libraries(python)
    place = tmp_path / "environment"
    subprocess.run([python, "-m", "venv", "--without-pip", place], check=True)
    (packages,) = place.glob("lib/python3*/site-packages")
    (packages / "libraries.pth").write_text(f"{libraries}\n")
    commands = tmp_path / "commands"
    commands.mkdir()
    for name in _COMMANDS:
        found = shutil.which(name)
        assert found
        (commands / name).symlink_to(found)
    environment = environment_in(tmp_path) | {"PATH": f"{place / 'bin'}:{commands}"}
    _pip(place / "bin/python", "install", "--no-compile", "--no-index", wheel, environment=environment)
    return Installed(tmp_path, environment)


def test_it_installs_without_a_compiler_and_weighs(installed: Installed) -> None:
    assert not {"cc", "gcc", "cargo", "rustc"} & {
        file.name for folder in installed.environment["PATH"].split(":") for file in Path(folder).iterdir()
    }
    done = installed.run("sh", ROOT / "release/first-use")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("steelyard 0.1.0\n")
    share = installed.folder / "environment/share"
    assert (share / "man/man1/steelyard.1").is_file()
    assert (share / "doc/steelyard/statistics.md").is_file()
    assert installed.run("steelyard", "docs", "adapters/go").stdout == (ROOT / "docs/adapters/go.md").read_text()


def _python(version: str) -> str:
    """Return an interpreter of that version: the one that runs the tests, one on the path, or one of pyenv's."""
    if sys.version_info[:2] == tuple(int(part) for part in version.split(".")):
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for python in (shutil.which(f"python{version}"), *sorted(pyenv.glob(f"{version}.*/bin/python"))):
        if python and subprocess.run([python, "-c", "import venv"], capture_output=True).returncode == 0:
            return str(python)
    pytest.skip(f"not tried with Python {version}, which is not here")


def _libraries(python: str) -> Path:
    """Return a folder with the pinned dependencies of the package, which takes seconds to fill, and seldom changes.

    For the Python that runs the tests, it links to the installed ones.
    """
    if python == sys.executable:
        return built("linked-libraries", _link, sys.prefix, *_pinned())
    version = subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    pinned = _pinned()

    def make(place: Path) -> None:
        _pip(python, "install", "--no-compile", "--no-deps", "--target", place, *pinned)

    return built("libraries", make, version, *pinned)


def _link(place: Path) -> None:
    for library in _needed():
        parts = {file.parts[0] for file in library.files or [] if file.suffix != ".pyc"}
        for part in parts - {".."}:
            (place / part).symlink_to(str(library.locate_file(part)))


def _pinned() -> list[str]:
    return sorted(f"{library.name}=={library.version}" for library in _needed())


def _needed() -> list[Distribution]:
    """Return all dependencies of the package; pip would take as long to find them as to install them."""
    found = dict[str, Distribution]()
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    while wanted:
        requirement = Requirement(wanted.pop())
        if requirement.name not in found and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            found[requirement.name] = distribution(requirement.name)
            wanted += found[requirement.name].requires or []
    return list(found.values())


def _pip(python: str | Path, *words: str | Path, environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--quiet", "--python", python, *words],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
