"""Read CMakeLists.txt as far as programs depend on it: loops, functions, variables, conditions and subdirectories."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from steelyard.subjects.projects.discovery import is_others, text_of

LISTS = "CMakeLists.txt"
BUILT = "build"  # the folder that a project is built in, relative to its own
_OUTPUT = "CMAKE_RUNTIME_OUTPUT_DIRECTORY"
_LINKED = "LINK_LIBRARIES"  # of a folder: what `link_libraries` says of all programs made after it there
_TOKEN = re.compile(
    r"""
    \#\[(?P<level>=*)\[.{,2000}?\](?P=level)\] | \#[^\n]*       # comments
    | \[(?P<raw>=*)\[.{,2000}?\](?P=raw)\]                      # a text that is left as it is
    | "(?P<quoted>(?:[^"\\]|\\.)*)"
    | (?P<mark>[()])
    | (?P<word>(?:[^\s()\#"\\]|\\.)+)
    """,
    re.VERBOSE | re.DOTALL,
)
_VARIABLE = re.compile(r"\$\{(\w+)\}")
# Nested loops, or a function that calls itself, could go on for ever; no list that anybody writes is as long as this.
_MOST_COMMANDS, _DEEPEST, _LONGEST = 20_000, 20, 200_000
_LONGEST_WORD, _CHARACTERS_A_COMMAND = 1_000, 1_000
# Stands for a semicolon in quotes, which separates nothing.
_SEMICOLON = "\x1f"
_ENDS = {"foreach": "endforeach", "function": "endfunction", "macro": "endmacro"}
# Conditions that are certainly false where launches are measured.
_NEVER = frozenset(
    {"WIN32", "APPLE", "MSVC", "XCODE", "ANDROID", "IOS", "MINGW", "CYGWIN", "EMSCRIPTEN", "FALSE", "OFF"}
)
_OFF = frozenset({"OFF", "FALSE", "NO", "N", "0", ""})


@dataclass(frozen=True)
class Executable:
    """A program that CMake builds."""

    name: str
    file: str
    """Its path, relative to the project's folder."""
    sources: Sequence[Path]
    lists: Path
    """The folder of the CMakeLists.txt that defines it."""
    options: Sequence[str] = ()
    """Options that are off by default and have to be on for it."""
    linked: str = ""
    """What it is linked with, separated by blanks."""
    harness: str | None = None
    """What drives it, once that is known."""


@dataclass(frozen=True)
class _Command:
    name: str
    words: Sequence[str]


@dataclass
class Reading:
    """What was read of one CMake project."""

    top: Path
    name: str | None = None
    folders: set[Path] = field(default_factory=set)
    """The folders whose lists were read."""
    off: set[str] = field(default_factory=set)
    functions: dict[str, tuple[Sequence[str], Sequence[_Command]]] = field(default_factory=dict)
    made: dict[str, Executable] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    sources: dict[str, list[Path]] = field(default_factory=dict)
    """Sources that targets were given after they were made."""
    files: dict[str, str] = field(default_factory=dict)
    """Names that were set for programs' files, by target."""
    left: int = _MOST_COMMANDS

    @property
    def executables(self) -> Iterator[Executable]:
        """All programs that were found."""
        for one in self.made.values():
            file = str(Path(one.file).parent / self.files.get(one.name, one.name))
            sources = [*one.sources, *self.sources.get(one.name, [])]
            yield replace(one, linked=self.links.get(one.name, ""), file=file, sources=sources)


@dataclass(frozen=True)
class _Scope:
    """What applies at the place of a command."""

    folder: Path
    variables: dict[str, str]
    options: tuple[str, ...] = ()
    depth: int = 0


def read_project(top: Path) -> Reading:
    """Read the list of a folder, and of all folders that it adds."""
    reading = Reading(top)
    read_folder(reading, top)
    return reading


def read_folder(reading: Reading, folder: Path) -> None:
    """Read the list of one folder, and of those that it adds."""
    _enter(reading, _Scope(folder, {}), folder)


def _enter(reading: Reading, scope: _Scope, folder: Path) -> None:
    if folder in reading.folders or not (folder / LISTS).is_file() or not folder.is_relative_to(reading.top):
        return
    reading.folders.add(folder)
    here = folder.relative_to(reading.top).as_posix()
    places = {
        "CMAKE_SOURCE_DIR": ".",
        "PROJECT_SOURCE_DIR": ".",
        "CMAKE_CURRENT_SOURCE_DIR": ".",
        "CMAKE_CURRENT_LIST_DIR": ".",
        "CMAKE_BINARY_DIR": BUILT,
        "PROJECT_BINARY_DIR": BUILT,
        "CMAKE_CURRENT_BINARY_DIR": str(Path(BUILT, here)),
    }
    inner = replace(scope, folder=folder, variables={**scope.variables, **places}, depth=scope.depth + 1)
    _run(reading, inner, [*_commands(text_of(folder / LISTS)[:_LONGEST])])


def _commands(text: str) -> Iterator[_Command]:
    """Yield the commands of a list, each with its words, including nested parentheses."""
    name, words, depth = "", list[str](), 0
    for token in _TOKEN.finditer(text):
        word, mark = token["word"], token["mark"]
        if mark == "(" and depth == 0:
            words, depth = [], 1
        elif mark == ")" and depth == 1:
            depth = 0
            yield _Command(name.lower(), words)
        elif mark is not None and depth:
            depth += 1 if mark == "(" else -1
            words.append(mark)
        elif word is not None and not depth:
            name = word
        elif depth and (word is not None or token["quoted"] is not None):
            words.append(word if word is not None else token["quoted"].replace(";", _SEMICOLON))


def _run(reading: Reading, scope: _Scope, commands: Sequence[_Command]) -> None:
    """Execute commands; if a condition cannot be decided, execute all of its branches."""
    branches: list[tuple[bool, tuple[str, ...], bool]] = []  # is it executed, its options, is it or an earlier one sure
    unless: tuple[str, ...] = ()  # the options that have to be off for the last branch
    place = 0
    while place < len(commands) and reading.left > 0:
        command = commands[place]
        place += 1
        reading.left -= 1
        is_executed = all(executed for executed, _, _ in branches)
        inner = _with(scope, tuple(option for _, options, _ in branches for option in options))
        if command.name == "if":
            holds, options = _condition(command.words, reading.off)
            branches.append((holds is not False, options, holds is True))
            unless = _off_for(command.words, reading.off)
        elif command.name in {"elseif", "else"} and branches:
            was_sure = branches[-1][2]
            holds, options = (None, ()) if command.name == "else" else _condition(command.words, reading.off)
            branches[-1] = (not was_sure and holds is not False, options, was_sure or holds is True)
            unless = ()
        elif command.name == "endif" and branches:
            branches.pop()
            unless = ()
        elif command.name == "return" and len(branches) == 1:
            scope = _with(scope, unless)  # what follows is only made with them
        elif command.name in _ENDS:
            end = _end_of(commands, place - 1)
            if is_executed:
                _block(reading, inner, command, commands[place:end])
            place = end + 1
        elif is_executed:
            _one(reading, inner, command)


def _with(scope: _Scope, options: tuple[str, ...]) -> _Scope:
    return replace(scope, options=tuple(dict.fromkeys((*scope.options, *options))))


def _end_of(commands: Sequence[_Command], begin: int) -> int:
    """Return the place at which the block that begins at `begin` ends."""
    name, depth = commands[begin].name, 0
    for place in range(begin, len(commands)):
        depth += (commands[place].name == name) - (commands[place].name == _ENDS[name])
        if depth == 0:
            return place
    return len(commands)


def _condition(words: Sequence[str], off: set[str]) -> tuple[bool | None, tuple[str, ...]]:
    """Return (whether a condition holds, None if that cannot be told; options to set on for it)."""
    plain = [word for word in words if word not in "()"]
    if len(plain) == 1:
        if plain[0] in _NEVER:
            return False, ()
        return None, ((plain[0],) if plain[0] in off else ())
    if len(plain) == 2 and plain[0] == "NOT":
        return (True if plain[1] in _NEVER else None), ()
    if "OR" in plain and not {"AND", "NOT"} & {*plain}:
        choices = [word for word in plain if word != "OR"]
        if all(word in off for word in choices):
            return None, (next((word for word in choices if "BENCH" in word.upper()), choices[0]),)
    if "AND" in plain and "OR" not in plain:
        parts = " ".join(plain).split(" AND ")
        if any(part in _NEVER for part in parts):
            return False, ()
        return None, tuple(part for part in parts if part in off)
    return None, ()


def _off_for(words: Sequence[str], off: set[str]) -> tuple[str, ...]:
    """Return the options that have to be off for a condition to hold."""
    plain = [word for word in words if word not in "()"]
    return (plain[1],) if len(plain) == 2 and plain[0] == "NOT" and plain[1] in off else ()


def _block(reading: Reading, scope: _Scope, command: _Command, body: Sequence[_Command]) -> None:
    """Execute a loop for each of its words; keep a function for its calls."""
    words = _expanded(reading, command.words, scope.variables)
    if command.name != "foreach":
        if words and scope.depth < _DEEPEST:
            reading.functions[words[0].lower()] = (words[1:], body)
        return
    name, items = (words[0], words[1:]) if words else ("", [])
    if items[:1] == ["RANGE"]:
        return
    if items[:1] == ["IN"]:
        lists = items[1:2] == ["LISTS"]
        items = [one for item in items[2:] for one in (_listed(scope.variables.get(item, "")) if lists else [item])]
    for item in items:
        reading.left -= 1
        if "$" not in item and reading.left > 0:
            # Variables that a loop sets keep their values after it, except its own.
            before = scope.variables.get(name)
            scope.variables[name] = item
            _run(reading, scope, body)
            scope.variables.pop(name)
            if before is not None:
                scope.variables[name] = before


def _one(reading: Reading, scope: _Scope, command: _Command) -> None:
    words = _expanded(reading, command.words, scope.variables)
    if command.name in reading.functions:
        _call(reading, scope, command.name, words)
    elif words and command.name in _DOES:
        _DOES[command.name](reading, scope, words)


def _call(reading: Reading, scope: _Scope, name: str, words: Sequence[str]) -> None:
    if scope.depth < _DEEPEST:
        names, body = reading.functions[name]
        rest = {"ARGN": ";".join(words[len(names) :]), "ARGV": ";".join(words)}
        given = {**scope.variables, **rest, **dict(zip(names, words, strict=False))}
        _run(reading, replace(scope, variables=given, depth=scope.depth + 1), body)


def _project(reading: Reading, scope: _Scope, words: Sequence[str]) -> None:
    reading.name = reading.name or words[0]
    scope.variables["PROJECT_NAME"] = words[0]
    scope.variables["CMAKE_PROJECT_NAME"] = reading.name


def _set(reading: Reading, scope: _Scope, words: Sequence[str]) -> None:
    cached = words.index("CACHE") if "CACHE" in words else len(words)
    if words[cached + 1 : cached + 2] == ["BOOL"] and words[1].upper() in _OFF:
        reading.off.add(words[0])
    scope.variables[words[0]] = ";".join(words[1:cached])


def _option(reading: Reading, _: _Scope, words: Sequence[str]) -> None:
    if (words[2] if words[2:] else "OFF").upper() in _OFF:
        reading.off.add(words[0])


def _add_subdirectory(reading: Reading, scope: _Scope, words: Sequence[str]) -> None:
    if "$" not in words[0]:
        inner = replace(scope, variables=dict(scope.variables))
        _enter(reading, inner, Path(scope.folder, words[0]))


def _link(reading: Reading, _: _Scope, words: Sequence[str]) -> None:
    reading.links[words[0]] = f"{reading.links.get(words[0], '')} {' '.join(words[1:])}"


def _link_all(_: Reading, scope: _Scope, words: Sequence[str]) -> None:
    scope.variables[_LINKED] = " ".join([scope.variables.get(_LINKED, ""), *words])


def _add_executable(reading: Reading, scope: _Scope, words: Sequence[str]) -> None:
    name = words[0]
    if {"ALIAS", "IMPORTED"} & {*words} or re.fullmatch(r"[\w.+-]+", name) is None:
        return
    if is_others(scope.folder, reading.top):
        return
    if name in reading.made and len(reading.made[name].options) <= len(scope.options):
        return  # it may be defined in several ways: the one with the fewest options is kept
    output = scope.variables.get(_OUTPUT, "")
    place = output if output and "$" not in output and not Path(output).is_absolute() else None
    binary = scope.variables["CMAKE_CURRENT_BINARY_DIR"]
    sources = _paths(scope, words[1:])
    file = str(Path(place or binary, name))
    reading.links[name] = f"{reading.links.get(name, '')} {scope.variables.get(_LINKED, '')}"
    reading.made[name] = Executable(name, file, sources, scope.folder, scope.options)


def _target_sources(reading: Reading, scope: _Scope, words: Sequence[str]) -> None:
    reading.sources.setdefault(words[0], []).extend(_paths(scope, words[1:]))


def _paths(scope: _Scope, words: Sequence[str]) -> list[Path]:
    return [Path(scope.folder, word) for word in words if "$" not in word]


def _part_of_path(_: Reading, scope: _Scope, words: Sequence[str]) -> None:
    """Take what `get_filename_component` makes of a name, such as a program's from that of its source."""
    if len(words) < 3 or "$" in words[1] or words[2] not in _PARTS_OF_PATH:
        return
    scope.variables[words[0]] = _PARTS_OF_PATH[words[2]](Path(words[1]))


def _set_name(reading: Reading, _: _Scope, words: Sequence[str]) -> None:
    """Take the name of a program's file from `set_target_properties`."""
    if "PROPERTIES" not in words:
        return
    begin = words.index("PROPERTIES")
    pairs = dict(zip(words[begin + 1 :: 2], words[begin + 2 :: 2], strict=False))
    if re.fullmatch(r"[\w.+-]+", pairs.get("OUTPUT_NAME", "")):
        reading.files.update(dict.fromkeys(words[:begin], pairs["OUTPUT_NAME"]))


_PARTS_OF_PATH: dict[str, Callable[[Path], str]] = {
    "NAME": lambda path: path.name,
    "NAME_WE": lambda path: path.name.split(".")[0],
    "NAME_WLE": lambda path: path.stem,
}
_DOES: dict[str, Callable[[Reading, _Scope, Sequence[str]], None]] = {
    "project": _project,
    "set": _set,
    "option": _option,
    "cmake_dependent_option": _option,
    "add_subdirectory": _add_subdirectory,
    "add_executable": _add_executable,
    "get_filename_component": _part_of_path,
    "target_sources": _target_sources,
    "target_link_libraries": _link,
    "link_libraries": _link_all,
    "set_target_properties": _set_name,
}


def _expanded(reading: Reading, words: Sequence[str], variables: dict[str, str]) -> list[str]:
    """Return words with their variables replaced; one that becomes a list becomes several words."""
    expanded = list[str]()
    for word in words:
        known = _VARIABLE.sub(lambda name: variables.get(name[1], name[0]), word) if len(word) < _LONGEST_WORD else word
        reading.left -= len(known) // _CHARACTERS_A_COMMAND
        expanded += [one.replace(_SEMICOLON, ";") for one in _listed(known)]
        if reading.left <= 0:
            return []
    return expanded


def _listed(value: str) -> list[str]:
    return [one for one in value.split(";") if one]
