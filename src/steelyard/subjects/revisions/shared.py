"""Find what revisions share although each should have its own: files that run whichever revision is measured."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.model.subject import Subject
from steelyard.subjects.command import subject_in_layout
from steelyard.subjects.responses import beginning_of, runs_pytest
from steelyard.subjects.revisions.builds import Built
from steelyard.subjects.revisions.git import Repository
from steelyard.subjects.revisions.installed import (
    Installed,
    imported_from,
    installed_from_sources,
    name_of_project,
    released_version,
    sources_in,
)
from steelyard.subjects.revisions.revision import WORK_TREE
from steelyard.subjects.shims import is_shim, program_behind

_PYTHON = re.compile(r"(?:python|pypy)[\d.]*")
# These find an environment by the folder in which they run, whatever is on PATH.
_RUNNERS = frozenset({"uv", "poetry", "pdm", "hatch", "rye", "pipenv", "tox", "nox", "conda", "mamba", "micromamba"})
_OPTIONS_WITH_VALUE = ("-W", "-X")
_LONGEST_LINE = 512
_IN_SCRIPT = re.compile(r"[\s;&|()<>\"']+")
# The files in which pytest may be told of folders to import from.
_PYTEST_SETTINGS_FILES = ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_PYTHONPATH_SETTING = re.compile(r"^\s*pythonpath\s*=\s*(\[[^\]]*\]|.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
# What a script loads that may lie beside it; and the endings that its name has there.
_NODE = re.compile(r"""(?:\brequire\(|\bimport\(|\bfrom|^\s*import)\s*["'](\.[^"'\n]*)["']""", re.MULTILINE)
_LOADED = {
    ".py": re.compile(r"^\s*(?:import|from) (\w+)", re.MULTILINE),
    ".js": _NODE,
    ".cjs": _NODE,
    ".mjs": _NODE,
}
_ENDINGS = {
    ".py": ("/__init__.py", ".py"),
    **dict.fromkeys((".js", ".cjs", ".mjs"), ("", ".js", ".cjs", ".mjs", "/index.js")),
}
_OWN_ENVIRONMENT = "--build make each side an environment of its own (steelyard docs revisions)"


@dataclass(frozen=True)
class Shared:
    """Something that is shared, and how to give each revision its own."""

    message: str
    remedy: str


def loaded_beside(path: Path, place: Path) -> str | None:
    """Return what a script loads from beside it, before any search path, although its `place` in a revision has it too.

    None if it loads nothing of that kind, or is no script that is understood here.
    """
    if path.suffix not in _LOADED:
        return None
    for name in dict.fromkeys(_LOADED[path.suffix].findall(beginning_of(path).decode(errors="replace"))):
        files = [f"{name}{ending}" for ending in _ENDINGS[path.suffix]]
        if any((path.parent / file).is_file() and (place.parent / file).is_file() for file in files):
            return str(name)
    return None


def copied(path: Path, place: str) -> str:
    """Return the way to run a file of the work tree in revisions that lack it, with what each has beside it."""
    command = f"cp {shlex.quote(str(path))} {shlex.quote(place)}"
    return f"--setup {shlex.quote(command)} copies it there, to be run as {place}"


def shared_by_revisions(
    repository: Repository,
    sides: Sequence[Sequence[Built]],
    subjects: Sequence[Subject],
    environment: Mapping[str, str],
) -> list[Shared]:
    """Return what runs but is not of the measured revision, each once; `environment` is that of the launches."""
    tops = [builds[0].top for builds in sides]
    all_builds = [build for builds in sides for build in builds if build.recipe.is_built]
    spans = [build.span_s for build in all_builds] if len(sides) > 1 else []
    shared_by_message: dict[str, Shared] = {}
    for builds, subject in zip(sides, subjects, strict=True):
        build = builds[0]
        others = [top for top in tops if top != build.top]
        if build.revision.name != WORK_TREE:
            others.append(repository.root)
        side = _Side(build, subject_in_layout(subject, build.recipe.layout or 0), tops, others, environment, spans)
        for shared in side.shared(repository.root):
            shared_by_message.setdefault(shared.message, shared)
    return list(shared_by_message.values())


@dataclass(frozen=True)
class _Side:
    built: Built
    subject: Subject
    tops: Sequence[Path]
    """The tops of the trees of all sides."""
    others: Sequence[Path]
    """The tops of the trees of other revisions."""
    environment: Mapping[str, str]
    spans: Sequence[tuple[float, float]]
    """When the sides were built, if there are several."""

    def shared(self, root: Path) -> Iterator[Shared]:
        """Yield everything that this side shares with others."""
        if "/" not in self.subject.argv[0] and Path(self.subject.program).is_relative_to(root):
            yield Shared(
                f"{self.subject.program} is within the work tree and runs on both sides; what is installed for it from "
                "there, they share too",
                f"give a path from here, or have {_OWN_ENVIRONMENT}",
            )
        yield from self._named_files()
        yield from self._files_written_by_builds()
        yield from self._search_path_entries()
        yield from self._installed_sources()

    def _named_files(self) -> Iterator[Shared]:
        """Yield files that the command names by their paths in another tree."""
        for path in self._absolute_paths():
            if (inside := self._path_in_another(path)) is None:
                continue
            if self._has(inside):
                if all(_has(top, inside) for top in self.tops):  # else that side has nothing to run from there
                    kind = "folder" if os.path.isdir(path) else "file"  # noqa: PTH112 - as in _has
                    yield Shared(
                        f"{path} is a {kind} of the work tree, whichever revision is measured",
                        f"give its path from here, {self._path_from_here(inside)}, and each runs its own",
                    )
            elif beside := loaded_beside(path, self.built.top / inside):
                yield Shared(
                    f"{path} is new in the work tree and runs there for each revision, and loads {beside} from beside "
                    "it",
                    copied(path, self._path_from_here(inside)),
                )
            elif path.suffix == ".py" and not self._imports_own_code(path):
                yield Shared(
                    f"{path} is new in the work tree and runs there for each revision, with what lies beside it and, "
                    "of pytest, the settings that are there",
                    "see that each imports its own code: --env PYTHONPATH=src, and of pytest -c pyproject.toml",
                )

    def _absolute_paths(self) -> Iterator[Path]:
        # The words of a script for a shell are in one word of the command, as in sh -c 'cd /project && ./program'.
        words = (part for word in self._command_words()[1:] for part in (word, *_IN_SCRIPT.split(word)))
        paths = (Path(word.rpartition("=")[2].partition("::")[0]) for word in words)
        return (path for path in paths if path.is_absolute())

    def _files_written_by_builds(self) -> Iterator[Shared]:
        """Yield files outside the checkouts that the builds write, each over the other's."""
        for path in dict.fromkeys([Path(self.subject.program), *self._absolute_paths()]):
            is_own = path.is_relative_to(self.built.top) or self._path_in_another(path) is not None
            if not is_own and any(_was_written(path, *span) for span in self.spans):
                yield Shared(
                    f"{path} was written by a build, and is in no checkout: the one that was built last runs for each "
                    "revision",
                    "have each build write into its own folder, and give the path from there",
                )

    def _imports_own_code(self, path: Path) -> bool:
        """Return whether a file of the work tree imports this side's code all the same."""
        words = self._command_words()
        has_settings = runs_pytest(words) and "-c" not in words and any(map(_pytest_import_paths, path.parents))
        return self._has_own_path() and not has_settings

    def _search_path_entries(self) -> Iterator[Shared]:
        for entry in self._import_path():
            if entry.is_absolute() and (inside := self._path_in_another(entry)) is not None and self._has(inside):
                yield Shared(
                    f"PYTHONPATH has {entry}, which is the work tree's whichever revision is measured",
                    f"--env PYTHONPATH={self._path_from_here(inside)}, from which each imports its own code",
                )

    def _installed_sources(self) -> Iterator[Shared]:
        """Yield what interpreters import from another tree, unless something of this side comes before it."""
        own_folders = None
        is_shadowed = self._has_own_path() or any(map(self._path_in_another, self._import_path()))
        for python in dict.fromkeys(self._interpreters()):
            for installed in installed_from_sources(python, self.environment):
                inside = self._source_path(installed)
                if inside is None or (is_shadowed and installed.how != "hooked"):
                    continue
                own_folders = set(self._own_folders()) if own_folders is None else own_folders
                if installed.how == "hooked" or self.built.top / inside not in own_folders:
                    yield self._describe_installed(python, installed, inside)
            if not is_shadowed and not python.is_relative_to(self.built.top):
                yield from self._installed_release(python)

    def _installed_release(self, python: Path) -> Iterator[Shared]:
        """Yield a release of the project itself, installed from an index, which is imported instead of any revision."""
        for project in dict.fromkeys([self.built.folder, self.built.top]):
            name, sources = name_of_project(project), sources_in(project)
            if (
                name
                and (version := released_version(python, self.environment, name))
                and sources not in self._own_folders()
            ):
                yield self._one_for_all_revisions(python, f"{name} {version}", sources)

    def _describe_installed(self, python: Path, installed: Installed, inside: Path) -> Shared:
        if installed.how == "hooked":
            return Shared(
                f"{python} imports what is installed into it in editable form from {installed.folder}, whichever "
                "revision is measured",
                f"have {_OWN_ENVIRONMENT}",
            )
        what = "a copy of what is in" if installed.how == "copied" else "what is in"
        form = "" if installed.how == "copied" else " in editable form"
        return self._one_for_all_revisions(python, f"{what} {installed.folder}", inside, form)

    def _one_for_all_revisions(self, python: Path, what: str, sources: Path, form: str = "") -> Shared:
        return Shared(
            f"{python} has {what} installed{form}, and imports that whichever revision is measured, "
            "unless the program puts a folder of its own first",
            f"--env PYTHONPATH={self._path_from_here(sources)} has each import its own code; else have "
            f"{_OWN_ENVIRONMENT}",
        )

    def _source_path(self, installed: Installed) -> Path | None:
        """Return the path in another tree that it is imported from, if this side has such a folder.

        A finder may name a folder of its build, which this side lacks: then it is the nearest one above that it has.
        """
        inside = self._path_in_another(installed.folder)
        while installed.how == "hooked" and inside is not None and not self._has(inside):
            inside = inside.parent
        return inside if inside is not None and self._has(inside) else None

    def _path_in_another(self, path: Path) -> Path | None:
        """Return the path relative to another tree's top, if it is in one."""
        try:
            real = Path(os.path.realpath(path))
        except ValueError:  # it contains a NUL
            return None
        if real.is_relative_to(os.path.realpath(self.built.top)):
            return None
        tops = (Path(os.path.realpath(top)) for top in self.others)
        return next((real.relative_to(top) for top in tops if real.is_relative_to(top)), None)

    def _has(self, inside: Path) -> bool:
        return _has(self.built.top, inside)

    def _path_from_here(self, inside: Path) -> str:
        return os.path.relpath(self.built.top / inside, self.built.folder)

    def _command_words(self) -> list[str]:
        try:
            return shlex.split(self.subject.command)
        except ValueError:  # a shell may understand it
            return self.subject.command.split()

    def _import_path(self) -> list[Path]:
        return [Path(entry) for entry in self.environment.get("PYTHONPATH", "").split(os.pathsep) if entry]

    def _has_own_path(self) -> bool:
        return any(not entry.is_absolute() for entry in self._import_path())

    def _interpreters(self) -> Iterator[Path]:
        """Yield the Pythons that the words name, or the program's first line if it is a script."""
        words = [*_first_line(Path(self.subject.program)), *self._command_words()]
        if any(Path(word).name in _RUNNERS for word in words):
            return
        for word in words:
            if _PYTHON.fullmatch(Path(word).name):
                argument = self.built.folder / word if "/" in word else word
                found = shutil.which(argument, path=self.environment.get("PATH"))
                if found is not None and (program := self._program_behind_shim(Path(found))) is not None:
                    yield program

    def _program_behind_shim(self, program: Path) -> Path | None:
        return program_behind(program, self.built.folder, self.environment) if is_shim(program) else program

    def _own_folders(self) -> Iterator[Path]:
        """Yield folders of this side from which its launches import before they look at what is installed."""
        words, folder = self._command_words(), self.built.folder
        if _imports_from_here(words):
            yield folder
        named = [folder / word.partition("::")[0] for word in words if not word.startswith("-")]
        paths = [path for path in named if path.is_relative_to(self.built.top) and os.path.exists(path)]  # noqa: PTH110
        if runs_pytest(words):
            for path in paths or [folder]:
                yield from self._pytest_folders(path)
        elif "steelyard.harness" in words:
            yield from (path.parent if path.suffix == ".py" else path for path in paths)
        else:
            yield from [path.parent for path in paths if path.suffix == ".py"][:1]

    def _pytest_folders(self, path: Path) -> Iterator[Path]:
        """Yield what pytest puts in front: the folders of tests and of each conftest.py, and those in its settings."""
        yield imported_from(path)
        for folder in (path, *path.parents):
            if not folder.is_relative_to(self.built.top):
                return
            if (folder / "conftest.py").exists():
                yield imported_from(folder)
            yield from _pytest_import_paths(folder)


def _has(top: Path, inside: Path) -> bool:
    return os.path.exists(top / inside)  # noqa: PTH110 - Path.exists() raises where a word is too long


def _was_written(path: Path, begun_s: float, ended_s: float) -> bool:
    """Return whether a file, or the link to it, was created or changed in that time."""
    try:
        statuses = [path.stat(), path.lstat()]
    except (OSError, ValueError):
        return False
    times = (time for status in statuses for time in (status.st_mtime, status.st_ctime))
    return path.is_file() and any(begun_s <= time <= ended_s for time in times)


def _imports_from_here(words: Sequence[str]) -> bool:
    """Return whether a Python among the words imports from the folder in which it runs, as it does with -m and -c."""
    python_index = next((index for index, word in enumerate(words) if _PYTHON.fullmatch(Path(word).name)), len(words))
    options = iter(words[python_index + 1 :])
    for word in options:
        if word in ("-m", "-c"):
            return True
        if word in _OPTIONS_WITH_VALUE:
            next(options, None)
        elif not word.startswith("-"):
            return False
    return False


def _pytest_import_paths(folder: Path) -> list[Path]:
    """Return the folders to import from that pytest's settings in `folder` name."""
    settings = (
        setting for name in _PYTEST_SETTINGS_FILES for setting in _PYTHONPATH_SETTING.findall(_text(folder / name))
    )
    return [
        Path(os.path.normpath(folder / path)) for setting in settings for path in re.findall(r"[^\s\[\]'\",]+", setting)
    ]


def _first_line(program: Path) -> list[str]:
    line = beginning_of(program, _LONGEST_LINE).partition(b"\n")[0]
    return line[2:].decode(errors="surrogateescape").split() if line.startswith(b"#!") else []


def _text(path: Path) -> str:
    return beginning_of(path).decode(errors="replace")
