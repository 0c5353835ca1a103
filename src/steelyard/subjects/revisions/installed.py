"""Find out which source folders a Python interpreter's installed packages come from, by reading its files.

An editable install names the folder in a `.pth` file, or in the module that such a file imports; a plain one is a copy,
and names the folder in its `direct_url.json`.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from steelyard.subjects.responses import beginning_of

_MOST_ENTRIES = 20_000
_MOST_READ = 2000
_VERSION = re.compile(r"3\.\d+")
_IMPORTED = re.compile(r"import\s+(\w+)")
_PATHS = re.compile(r"""['"](/[^'"\n]+)['"]""")
# As meson-python and scikit-build-core do: such a finder is asked before any folder.
_PRECEDING_FINDER = "meta_path.insert(0"


@dataclass(frozen=True)
class Installed:
    """Something that an interpreter imports, and where its sources are."""

    folder: Path
    """The folder that contains the package's folder, as it would be in PYTHONPATH."""
    how: Literal["editable", "hooked", "copied"]
    """From the sources themselves; by a finder that precedes PYTHONPATH; or a copy of the sources."""


def name_of_project(folder: Path) -> str | None:
    """Return the name under which the project in a folder is installed, if its pyproject.toml tells."""
    try:
        document = tomllib.loads(_text(folder / "pyproject.toml"))
    except tomllib.TOMLDecodeError:
        return None
    tool = document.get("tool")
    tables = (document.get("project"), tool.get("poetry") if isinstance(tool, dict) else None)
    names = (table.get("name") for table in tables if isinstance(table, dict))
    return next((name for name in names if isinstance(name, str)), None)


def released_version(python: Path, environment: Mapping[str, str], name: str) -> str | None:
    """Return the version of a project that is installed here other than from a source folder, as from an index."""
    for folder in _site_folders(python, environment):
        for metadata in folder.glob("*.dist-info"):
            its_name, _, version = metadata.name.removesuffix(".dist-info").partition("-")
            if _normalised_name(its_name) == _normalised_name(name) and '"dir_info"' not in _text(
                metadata / "direct_url.json"
            ):
                return version
    return None


def _normalised_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def installed_from_sources(python: Path, environment: Mapping[str, str]) -> Iterator[Installed]:
    """Yield all that this interpreter has from folders on this machine, without starting it."""
    for folder in _site_folders(python, environment):
        try:
            with os.scandir(folder) as entries:
                names = [entry.name for entry in islice(entries, _MOST_ENTRIES)]
        except OSError:
            continue
        for name in islice((name for name in names if name.endswith((".pth", ".dist-info"))), _MOST_READ):
            yield from _installed_by_pth(folder, name) if name.endswith(".pth") else _installed_copy(folder / name)


def _site_folders(python: Path, environment: Mapping[str, str]) -> list[Path]:
    prefix, bases = python.parent.parent, list[Path]()
    real = Path(os.path.realpath(python))
    if (prefix / "pyvenv.cfg").exists():
        bases = [prefix]
    else:
        bases = [real.parent.parent, real.parent.parent / "local"]
        if home := environment.get("HOME"):
            bases.append(Path(home, ".local"))
    version = _VERSION.search(real.name)
    folders = ["python3", f"python{version[0]}"] if version else ["python3*"]
    return [place for base in bases for name in folders for place in (base / "lib").glob(f"{name}/*-packages")]


def _installed_by_pth(site: Path, name: str) -> Iterator[Installed]:
    for line in _text(site / name).splitlines():
        imported = _IMPORTED.match(line)
        if imported is None:
            if line.strip() and not line.startswith("#"):
                yield Installed(site / line.strip(), "editable")
            continue
        finder = _text(site / f"{imported[1]}.py")
        how: Literal["editable", "hooked"] = "hooked" if _PRECEDING_FINDER in finder else "editable"
        for path in dict.fromkeys(_PATHS.findall(finder)):
            yield Installed(imported_from(Path(path)), how)


def imported_from(path: Path) -> Path:
    """Return the folder that contains the outermost package of a file or a folder."""
    folder = path.parent if path.suffix == ".py" else path
    while os.path.exists(folder / "__init__.py"):  # noqa: PTH110 - Path.exists() raises where what is read is no path
        folder = folder.parent
    return folder


def _installed_copy(metadata: Path) -> Iterator[Installed]:
    with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):  # not a file of this form
        source = json.loads(_text(metadata / "direct_url.json"))
        url = urlsplit(source["url"])
        if url.scheme == "file" and not source["dir_info"].get("editable"):
            yield Installed(sources_in(Path(unquote(url.path))), "copied")


def sources_in(project: Path) -> Path:
    """Return the folder in a project from which its packages are imported."""
    return project / "src" if (project / "src").is_dir() else project


def _text(path: Path) -> str:
    return beginning_of(path).decode(errors="surrogateescape")
