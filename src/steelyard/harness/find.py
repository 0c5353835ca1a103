"""Find the files with benchmarks, and what they declare."""

from __future__ import annotations

import os
import sys
from functools import cache

from steelyard.harness.declare import bench_files, declarations
from steelyard.harness.entry import Entry
from steelyard.harness.faults import describe_error
from steelyard.harness.names import bracketed, check_names, combinations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType


# By folder, the modules that were imported from there and now leave their names to those of another folder.
_hidden: dict[str, dict[str, ModuleType]] = {}


class FindError(Exception):
    """There is no such file, folder or benchmark, or it cannot be loaded."""


def files_of(paths: list[str]) -> dict[str, str]:
    """Return the bench files of these files and folders, by their paths relative to the folder that contains them all.

    So their names do not depend on where a work tree is. Raises FindError for a path that does not exist, and for a
    folder without bench files.
    """
    files: list[str] = []
    roots = []
    for path in map(os.path.abspath, paths):
        if os.path.isdir(path):
            bench_files_inside = sorted(_bench_files_below(path))
            if not bench_files_inside:
                raise FindError(f"the folder {path!r} holds no file called bench_*.py")
            roots.append(path)
            files += bench_files_inside
        elif os.path.isfile(path):
            roots.append(os.path.dirname(path))
            files.append(path)
        else:
            raise FindError(f"there is no file or folder {path!r}")
    root = os.path.commonpath(roots)
    return {os.path.relpath(file, root).replace(os.sep, "/"): file for file in files}


def _bench_files_below(folder: str) -> Iterator[str]:
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not _is_foreign(os.path.join(here, name))]
        yield from (os.path.join(here, name) for name in files if name.startswith("bench_") and name.endswith(".py"))


def _is_foreign(folder: str) -> bool:
    """Return whether a folder contains others' code: hidden folders, environments, JavaScript packages."""
    name = os.path.basename(folder)
    foreign = name.startswith(".") or name in ("__pycache__", "node_modules")
    return foreign or os.path.exists(os.path.join(folder, "pyvenv.cfg"))


def entries_of(files: dict[str, str]) -> list[Entry]:
    """Return all benchmarks of these files, in their order; raises FindError, and BadNameError for invalid names."""
    bench_files.update(files.values())
    entries = [entry for label, file in files.items() for entry in _entries(label, file)]
    check_names(entry.name for entry in entries)
    return entries


def find_entry(name: str, files: dict[str, str]) -> Entry:
    """Return the benchmark of this name, loading only its own file.

    Raises FindError if there is none, and BadNameError if there are two.
    """
    bench_files.update(files.values())
    for label, file in files.items():
        if name.startswith(f"{label}::"):
            matching = [entry for entry in _entries(label, file) if entry.name == name]
            check_names(entry.name for entry in matching)
            if matching:
                return matching[0]
    raise FindError(f"no benchmark is called {name!r}")


@cache  # as each of several that run in one start is looked for by its name
def _entries(label: str, file: str) -> tuple[Entry, ...]:
    _load(label, file)
    return tuple(
        Entry(
            f"{label}::{declaration.name}{bracketed(texts)}",
            f"{label}:{declaration.line}",
            texts,
            declaration.tags,
            declaration=declaration,
            values=values,
        )
        for declaration in declarations
        if declaration.file == file
        for values, texts in combinations(declaration.params)
    )


def surround(file: str) -> None:
    """Put a bench file's folder first on the path, as for a script, with the modules that were imported from there.

    Modules of other bench files' folders that have the same names are kept until these are surrounded again: what a
    body imports when it runs is then its own neighbour, too.
    """
    folder = os.path.dirname(file)
    _hide_modules({os.path.dirname(other) for other in bench_files} - {folder}, folder)
    sys.modules.update(_hidden.pop(folder, {}))
    if folder in sys.path:
        sys.path.remove(folder)
    sys.path.insert(0, folder)


def _hide_modules(others: set[str], folder: str) -> None:
    """Keep the modules from other folders aside that have the name of one in `folder`."""
    for name, module in list(sys.modules.items()) if others else ():
        top = name.partition(".")[0]
        # A package without an __init__.py has no file, and its path follows sys.path, which is still as it was.
        place = getattr(module, "__file__", None) or f"{next(iter(getattr(module, '__path__', ())), '')}/"
        home = next((other for other in others if place.startswith((f"{other}/{top}.py", f"{other}/{top}/"))), None)
        if home is not None and any(os.path.exists(os.path.join(folder, found)) for found in (f"{top}.py", top)):
            _hidden.setdefault(home, {})[name] = sys.modules.pop(name)


def _load(label: str, file: str) -> None:
    """Execute a bench file as a module, with its folder first on the path, as for a script."""
    from importlib.machinery import SourceFileLoader
    from importlib.util import module_from_spec, spec_from_file_location

    if any(getattr(module, "__file__", None) == file for module in list(sys.modules.values())):
        return  # another bench file imported it, perhaps from a package
    surround(file)
    name = os.path.basename(file).removesuffix(".py")
    if name in sys.modules:
        name = label  # the short name is taken by a module of Python's, say
    spec = spec_from_file_location(name, file, loader=SourceFileLoader(name, file))
    if spec is None or spec.loader is None:
        raise FindError(f"{label} cannot be loaded")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise FindError(f"{label} cannot be loaded: {describe_error(error, {file: label})}") from error
