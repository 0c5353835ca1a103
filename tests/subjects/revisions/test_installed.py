"""Where an interpreter imports packages that were installed from folders, judged by files alone, none of them run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.subjects.revisions.installed import Installed, installed_from_sources

Install = Callable[..., list[Installed]]


@pytest.fixture
def installed(tmp_path: Path) -> Install:
    """Return what is found in an environment with these files among its packages."""

    def install(**files: str) -> list[Installed]:
        site = tmp_path / "ve/lib/python3.11/site-packages"
        for name, content in files.items():
            path = site / name.replace("__of__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        python = tmp_path / "ve/bin/python"
        python.parent.mkdir(parents=True, exist_ok=True)
        python.touch()
        (tmp_path / "ve/pyvenv.cfg").touch()
        return list(installed_from_sources(python, {}))

    return install


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A project with its package in `src`."""
    package = tmp_path / "project/src/fast/inner"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").touch()
    (package / "__init__.py").touch()
    return package.parent.parent


def test_a_folder_on_the_path(installed: Install, sources: Path) -> None:
    found = installed(**{"__editable__.fast-1.pth": f"# by setuptools\n\n{sources}\n", "other.txt": "/x\n"})
    assert found == [Installed(sources, "editable")]


def test_a_finder_that_names_packages(installed: Install, sources: Path) -> None:
    finder = f"MAPPING = {{'fast': '{sources}/fast', 'fast.inner': '{sources}/fast/inner'}}\nsys.meta_path.append(F)\n"
    files = {"__editable__.fast.pth": "import __editable___fast_finder; 1\n", "__editable___fast_finder.py": finder}
    assert set(installed(**files)) == {Installed(sources, "editable")}


def test_a_finder_that_goes_first(installed: Install, sources: Path) -> None:
    finder = f'known = {{"fast": "{sources}/fast/__init__.py"}}\nsys.meta_path.insert(0, F())\n'
    found = installed(**{"_fast_editable.pth": "import _fast_editable\n", "_fast_editable.py": finder})
    assert found == [Installed(sources, "hooked")]


def test_a_copy(installed: Install, sources: Path) -> None:
    url = f"file://{sources.parent}"
    files = {
        "fast-1.dist-info__of__direct_url.json": json.dumps({"url": url, "dir_info": {}}),
        "same-1.dist-info__of__direct_url.json": json.dumps({"url": url, "dir_info": {"editable": True}}),
        "wheel-1.dist-info__of__direct_url.json": json.dumps({"url": url, "archive_info": {}}),
        "net-1.dist-info__of__direct_url.json": json.dumps({"url": "https://a.b/c", "dir_info": {}}),
        "odd-1.dist-info__of__direct_url.json": "[",
        "none-1.dist-info__of__METADATA": "",
    }
    assert installed(**files) == [Installed(sources, "copied")]


def test_of_no_environment_those_of_its_version_and_the_user_s(tmp_path: Path) -> None:
    python = tmp_path / "usr/bin/python3.11"
    python.parent.mkdir(parents=True)
    python.touch()
    link = tmp_path / "bin/python"
    link.parent.mkdir()
    link.symlink_to(python)
    places = [
        tmp_path / "usr/lib/python3/dist-packages",
        tmp_path / "usr/local/lib/python3.11/dist-packages",
        tmp_path / "home/.local/lib/python3.11/site-packages",
        tmp_path / "home/.local/lib/python3.12/site-packages",
    ]
    for number, place in enumerate(places):
        place.mkdir(parents=True)
        (place / "a.pth").write_text(f"/sources/{number}")
    found = installed_from_sources(link, {"HOME": str(tmp_path / "home")})
    assert {str(one.folder) for one in found} == {"/sources/0", "/sources/1", "/sources/2"}
