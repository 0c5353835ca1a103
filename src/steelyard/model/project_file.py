"""The project's file on disk: where it is, what it says, and on which line it is wrong."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from steelyard.model.errors import UsageError
from steelyard.model.limits import Accepted
from steelyard.model.project import SECTIONS, UNREADABLE, Build, Compare, Gate, ProjectFile, Target, key_of, margin_of
from steelyard.model.secrecy import is_secret
from steelyard.model.toml_lines import Place, line_of, lines_of

OWN, SHARED = "steelyard.toml", "pyproject.toml"
_SECTION = ("tool", "steelyard")
# The mode of a folder where everybody may create files, and only their owner may remove them.
_SHARED_MODE = stat.S_ISVTX | stat.S_IWOTH
# No file written by hand is larger.
_LARGEST_BYTES = 1 << 20
_EXPECTED = {
    "string_type": "a text in quotes",
    "string_pattern_mismatch": "a text that can be seen",
    "list_type": 'a list, as in ["one", "other"]',
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "dict_type": "a table",
    "model_type": "a table",
}
# Options whose names differ altogether from their keys.
_KEYS_OF_OPTIONS = {"fail-above": "max-slower", "env": "environment"}
_MOST_KEYS = 12
_MARGINS = ("compare", "margins")
# Tables of which there may be several, each with its own header.
_SEVERAL = {("target",): "target", ("gate", "accepted"): "accepted slowdown"}
# The index of a parameter's name in a place such as ("target", 0, "parameters", "size").
_PARAMETER_INDEX = 3
# A bare key of TOML, but without a leading dash, which would make it an option.
_BARE_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class Project:
    """A project's file, read and checked."""

    file: Path
    """The file as it is named to the user."""
    folder: Path
    """The folder that the file is in."""
    build: Build
    targets: Sequence[Target]
    compare: Compare
    gate: Gate
    find_lines: Callable[[], Mapping[Place, int]] = field(repr=False)
    """Finds the line of each key, which only errors need."""

    @cached_property
    def lines(self) -> Mapping[Place, int]:
        """The line of each key."""
        return self.find_lines()

    def at(self, *place: str | int) -> str:
        """The file and the line of a place, as the start of a message: `steelyard.toml:12`."""
        return f"{self.file}:{line_of(self.lines, place)}"


def is_own_alone(paths: Iterable[str]) -> bool:
    """Return whether these paths are of projects' files and of nothing else."""
    return {Path(path).name for path in paths} == {OWN}


def load_project(start: Path) -> Project | None:
    """Load the project's file of a folder or one above it, up to the top of its repository; None if there is none.

    Files that another user has put into a world-writable folder are skipped, as a project's file names commands to run
    and limits of the gate. Raises UsageError, with name and line, for a file that is wrong or cannot be read.
    """
    for folder in _folders(start):
        for name, prefix in ((OWN, ()), (SHARED, _SECTION)):
            file = folder / name
            shown = Path(name) if folder == start else file
            if (text := _read(file, shown)) is None:
                continue
            document = _parsed(text, shown)
            if prefix and not isinstance(document.get("tool", {}), dict):
                continue  # another tool will report what is wrong with it
            table = document["tool"].get("steelyard") if prefix and "tool" in document else None if prefix else document
            if table is not None:
                return _Reader(shown, text, prefix).project(table, folder)
    return None


def accepted_in(folder: Path) -> list[Accepted]:
    """The slowdowns that the project's file of a folder accepts; none if there is no file, or a wrong one."""
    try:
        project = load_project(folder)
    except UsageError:
        return []
    return [] if project is None else [one.limit() for one in project.gate.accepted]


def has_table(file: Path) -> bool:
    """Whether a pyproject.toml has a table of ours; False if it cannot be read as TOML."""
    try:
        tool = tomllib.loads(file.read_text("utf-8")).get("tool")
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(tool, dict) and "steelyard" in tool


def _folders(start: Path) -> Sequence[Path]:
    """A folder and those above it in the same repository: a stranger's file further up could name commands to run."""
    above = [start, *start.parents]
    return above[: above.index(repository_top(start) or start) + 1]


def repository_top(start: Path) -> Path | None:
    """The folder of the repository that a folder is in; None if it is in none."""
    above = (start, *start.parents)
    return next((folder for folder in above if os.path.exists(folder / ".git")), None)  # noqa: PTH110 - Path.exists() raises where it may not look


def _is_from_stranger(file: Path) -> bool:
    """Whether a user other than us and root put the file where everybody may, such as into /tmp."""
    try:
        folder, status = file.parent.stat(), file.lstat()
    except OSError:
        return False
    return (folder.st_mode & _SHARED_MODE) == _SHARED_MODE and status.st_uid not in (0, os.geteuid())


def _read(file: Path, shown: Path) -> str | None:
    if _is_from_stranger(file):
        return None
    try:
        if file.stat().st_size > _LARGEST_BYTES or not file.is_file():
            raise UsageError(f"{shown} is no project's file: it has to be a file of {_LARGEST_BYTES >> 20} MiB at most")
        return file.read_text("utf-8-sig")  # some editors begin it with a byte order mark
    except FileNotFoundError:
        if file.is_symlink():  # otherwise a project further up would be weighed instead
            raise UsageError(f"{shown} is a link to a file that is not there: fix the link, or remove it") from None
        return None
    except OSError as error:
        raise UsageError(f"{shown} cannot be read: {error.strerror}; check its permissions") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{shown} is no UTF-8 text (byte {error.start}): save it as UTF-8") from error


def _parsed(text: str, shown: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # some numbers are refused by Python itself
        message = str(error)
        match = re.search(r" \(at line (\d+), column (\d+)\)$", message)
        place = f"{shown}:{match[1]}:{match[2]}" if match else f"{shown}:{text.count(chr(10)) + 1}"
        what = message[: match.start()] if match else message.removesuffix(" (at end of document)")
        raise UsageError(f"{place} is no TOML ({what[:1].lower()}{what[1:]}): fix that line") from error


@dataclass(frozen=True)
class _Reader:
    """Turns what a file says into a project, or into an error of one sentence that says what is wrong."""

    shown: Path
    text: str
    prefix: Place

    def project(self, table: Any, folder: Path) -> Project:
        if not isinstance(table, dict):
            raise self._refusal((), f"{self._section_name(())} has to be a table")
        if (place := _place_of_nul(table)) is not None:
            key = next(one for one in reversed(place) if isinstance(one, str))
            raise self._refusal(
                place, f"{key} has a NUL character, which no command and no path can have: leave it out"
            )
        try:
            contents = ProjectFile.model_validate(table)
        except ValidationError as error:
            places = self._lines()
            first = min(error.errors(), key=lambda one: (one["type"] == "missing", line_of(places, tuple(one["loc"]))))
            raise self._refusal(tuple(first["loc"]), self._sentence(first)) from None
        self._check_targets(contents.target)
        if "" in contents.compare.margins:
            sentence = "a margin of nothing: write a pattern of benchmarks or a metric before it, or leave it out"
            raise self._refusal((*_MARGINS, ""), f"{self._section_name(_MARGINS)} has {sentence}")
        for place, names in _environments(contents):
            self._check_environment(place, names)
        return Project(
            self.shown, folder, contents.build, contents.target, contents.compare, contents.gate, self._lines
        )

    def _lines(self) -> dict[Place, int]:
        """The line of each place within our part of the file."""
        depth = len(self.prefix)
        return {place[depth:]: line for place, line in lines_of(self.text).items() if place[:depth] == self.prefix}

    def _refusal(self, place: Place, sentence: str) -> UsageError:
        return UsageError(f"{self.shown}:{line_of(self._lines(), place)}: {sentence}")

    def _section_name(self, section: Place) -> str:
        """The name of a section as it is written in the file."""
        names = [str(one) for one in (*self.prefix, *section) if isinstance(one, str)]
        if not names:
            return "the file"
        return f"[[{'.'.join(names)}]]" if _table_of(section) in _SEVERAL else f"[{'.'.join(names)}]"

    def _sentence(self, error: Any) -> str:
        place, kind = tuple(error["loc"]), error["type"]
        if kind == UNREADABLE:
            is_margin = place[:2] == _MARGINS and len(place) == len(_MARGINS) + 1
            return self._margin(str(place[-1]), error["input"]) if is_margin else str(error["ctx"]["sentence"])
        if place[:1] == ("target",) and place[2:3] == ("parameters",) and len(place) > _PARAMETER_INDEX:
            return f'{place[_PARAMETER_INDEX]} has to be a list of numbers and texts, as in [1, "two"]'
        *section, key = place
        if kind == "extra_forbidden":
            return self._unknown(tuple(section), str(key))
        if kind == "missing":
            return f'{self._section_name(tuple(section))} lacks its {key}: add {key} = "..."'
        if isinstance(key, int):
            key = next(str(one) for one in reversed(place) if isinstance(one, str))
        if (table := _table_of(place)) in _SEVERAL and len(place) <= len(table) + 1:
            return f"each {_SEVERAL[table]} is a table of its own: write {self._section_name(table)} above it"
        if kind == "literal_error":
            return f"{key} has to be {error['ctx']['expected'].replace(chr(39), chr(34))}"
        return f"{key} has to be {_EXPECTED[kind]}" if kind in _EXPECTED else f"{key}: {error['msg']}"

    def _margin(self, pattern: str, value: Any) -> str:
        """What is wrong with one of the `margins`, whose key is the user's own, as it stands in the file."""
        key = pattern if _BARE_KEY.fullmatch(pattern) else f'"{pattern}"'
        try:
            margin_of(key, value)
        except UsageError as error:
            return f"{self._section_name(_MARGINS)} {error}"
        raise AssertionError("what is a margin was refused")

    def _unknown(self, section: Place, key: str) -> str:
        known = _keys(section)
        meant = _KEYS_OF_OPTIONS.get(key)
        near = [meant] if meant in known else get_close_matches(key.replace("_", "-"), known, 1)
        if near:
            return f"{self._section_name(section)} has no {key!r}: did you mean {near[0]!r}?"
        elsewhere = [table for table in SECTIONS if key in _keys(table)]
        if elsewhere and _table_of(section) != elsewhere[0]:
            return f"{self._section_name(section)} has no {key!r}: it belongs in {self._section_name(elsewhere[0])}"
        listed = ", ".join(known[:_MOST_KEYS]) + (" and others" if len(known) > _MOST_KEYS else "")
        return f"{self._section_name(section)} has no {key!r}: it may have {listed}; see steelyard docs config"

    def _check_targets(self, targets: Sequence[Target]) -> None:
        names = [target.name for target in targets]
        for number, target in enumerate(targets):
            if target.name in names[:number]:
                raise self._refusal(("target", number, "name"), f"there are two targets {target.name!r}: rename one")
            for key in ("benchmarks", "tags"):
                if getattr(target, key) and target.harness is None:
                    sentence = f'{key} chooses from those of a harness: add harness = "auto", or leave it out'
                    raise self._refusal(("target", number, key), sentence)
            if target.parameters and target.harness is not None:
                sentence = "parameters are of plain commands: leave them out, or the harness"
                raise self._refusal(("target", number, "parameters"), sentence)

    def _check_environment(self, place: Place, names: Sequence[str]) -> None:
        for name in names:
            if not name.partition("=")[0] or "\0" in name:
                sentence = f'environment {name!r} names no variable: write "NAME" or "NAME=VALUE"'
                raise self._refusal(place, sentence)
            if "=" not in name and is_secret(name):
                raise self._refusal(
                    place,
                    f"{name} looks like a secret, which a file that comes with the source may not ask for: leave it "
                    f"out, and give --env {name} where the launches need it",
                )


def _place_of_nul(value: Any, place: Place = ()) -> Place | None:
    """The place of a text with a NUL character, which TOML allows; None if there is none."""
    if isinstance(value, str):
        return place if "\0" in value else None
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return next(filter(None, (_place_of_nul(item, (*place, key)) for key, item in inner)), None)


def _keys(section: Place) -> list[str]:
    fields = SECTIONS[_table_of(section)].model_fields if section else ProjectFile.model_fields
    return [key_of(name) for name in fields]


def _table_of(place: Place) -> tuple[str, ...]:
    """The table of the file, of those that have keys, that a place is or is in."""
    names = tuple(str(one) for one in place if isinstance(one, str))
    return names[:2] if names[:2] in SECTIONS else names[:1]


def _environments(contents: ProjectFile) -> Iterator[tuple[Place, Sequence[str]]]:
    yield ("build", "environment"), contents.build.environment
    yield ("compare", "environment"), contents.compare.environment or ()
    for number, target in enumerate(contents.target):
        yield ("target", number, "environment"), target.environment or ()
