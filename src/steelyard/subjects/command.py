"""A command as a subject: its arguments, the program they name, and the surroundings of its launches."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import Final

from steelyard.model.counters import events_of
from steelyard.model.errors import UsageError
from steelyard.model.launch_spec import MAPPING_PAGES
from steelyard.model.launches import Draw, LaunchSpec
from steelyard.model.placeholders import PLACEHOLDER, with_values
from steelyard.model.settings import Settings
from steelyard.model.subject import Subject
from steelyard.model.typed import in_quotes
from steelyard.subjects.programs import digest
from steelyard.subjects.shell_words import sets_variable, shell_words

# What a launch inherits unless more is asked for: where to find programs, who and where one is, language and time zone.
PASSED_ON = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")

PADDING_NAME = "STEELYARD_PADDING"
_SHELL = "/bin/sh"
# What stands behind the first command without quotes is taken for another.
_IN_QUOTES = "; each command goes in quotes together with its arguments"
# What is checked, what goes before and after launches and the Python of `timeit` have no --shell.
_OF_A_SHELL = ("baseline", "candidate", "command")
LAYOUT: Final = "layout"
"""The parameter that is the number of a build, where a side has several."""
LAYOUT_PLACE: Final = f"{{{LAYOUT}}}"


def command_subject(
    command: str,
    name: str,
    role: str,
    *,
    shell: bool,
    search_path: str | None = None,
    directory: str | None = None,
) -> Subject:
    """Read one command line; `role` is what an error calls it: `baseline` says "the baseline command".

    It runs in the `directory`, if that is given, and has its program there if that is a relative path. Raises
    UsageError if it is empty, or its program is missing or not executable.
    """
    if not command.strip():
        raise UsageError(f"{_called(role)} is empty: give the command to run, in quotes")
    argv = [_SHELL, "-c", command] if shell else _words(command, role, directory)
    # A program that a parameter names is looked for when the parameter's values are known.
    deferred = PLACEHOLDER.search(argv[0]) is not None
    try:
        program = argv[0] if deferred else _find_program(argv[0], role, search_path, directory)
        _check_entered(argv, role, directory)
        _check_jar(argv, role, directory)
    except UsageError as error:
        raise UsageError(f"{error}{_in_own_quotes(command, directory) or _for_a_shell(command, argv[0])}") from error
    return Subject(
        name=name,
        command=command,
        argv=argv,
        program=program,
        shell=shell,
        digest=None if shell or deferred else digest(program),
        directory=directory,
    )


def command_line(argv: Sequence[bytes]) -> str:
    """The command that such arguments were made of, as it could be written."""
    words = [os.fsdecode(word) for word in argv]
    return words[2] if words[:2] == [_SHELL, "-c"] else shlex.join(words)


def with_parameters(subject: Subject, params: Mapping[str, str], role: str) -> Subject:
    """The subject with every {name} in its arguments replaced; a replaced one stays one argument, whatever is in it.

    Raises UsageError if that names a program that is missing, or leaves a name in it that has no value.
    """
    argv = [with_values(argument, params) for argument in subject.argv]
    is_found = subject.program != subject.argv[0] or not PLACEHOLDER.search(subject.program)
    if is_found and argv[0] == subject.argv[0]:
        return subject.model_copy(update={"argv": argv}) if params else subject
    try:
        program = _find_program(argv[0], role, None, subject.directory)
    except UsageError as error:
        raise UsageError(f"{error}{_without_a_value(argv[0])}") from error
    return subject.model_copy(update={"argv": argv, "program": program})


def spec_with_parameters(spec: LaunchSpec, params: Mapping[str, str]) -> LaunchSpec:
    """The launch with every {name} in its arguments replaced."""
    argv = tuple(os.fsencode(with_values(os.fsdecode(argument), params)) for argument in spec.argv)
    return replace(spec, argv=argv)


def names_its_program(command: str) -> bool:
    """Whether a {name} stands in the first word of a command, which is the program."""
    first, *_ = command.split(maxsplit=1) or [""]
    return PLACEHOLDER.search(first) is not None


def _without_a_value(program: str) -> str:
    """What is said of the first name in a missing program that nothing replaced."""
    left = PLACEHOLDER.search(program)
    if left is None:
        return ""
    layouts = " (for builds of each side to average over: --layouts N)" if left[1] == LAYOUT else ""
    return f"; {left[0]} has no value: give it some by --parameter-list {left[1]} A,B{layouts}"


def of_layout(subject: Subject, layout: int) -> Subject:
    """The subject with the folder and the program of one of its builds, for whose number `{layout}` stands there.

    Itself for 0, where it has but one.
    """
    if not layout:
        return subject
    number, folder = str(layout), subject.directory
    return subject.model_copy(
        update={
            "program": subject.program.replace(LAYOUT_PLACE, number),
            "directory": folder and folder.replace(LAYOUT_PLACE, number),
        }
    )


def shared_environment(settings: Settings, source: Mapping[str, str]) -> dict[str, str]:
    """The part of a launch's environment that is the same for every pair: names passed on, and those set outright.

    Raises UsageError as `set_outright`.
    """
    passed = {name: source[name] for name in settings.environment if name in source}
    return {**passed, **set_outright(settings, source)}


def set_outright(settings: Settings, source: Mapping[str, str]) -> dict[str, str]:
    """The variables that were given values; those that a record does not hold, as they look secret, are in `source`.

    Raises UsageError where one is not.
    """
    missing = [name for name, value in settings.variables.items() if value is None and name not in source]
    if missing:
        raise UsageError(
            f"the launches had a value of {', '.join(missing)} that no record holds, as it looks like a secret: set "
            f"{'it' if len(missing) == 1 else 'them'} in the environment, and try again"
        )
    return {name: source[name] if value is None else value for name, value in settings.variables.items()}


def environment_names(
    wanted: Iterable[str], source: Mapping[str, str], *, inherit: bool
) -> tuple[list[str], dict[str, str | None]]:
    """Sort what `--env` was given into names to pass on and values to set; UsageError for a name that is not set."""
    names = list(source) if inherit else [name for name in PASSED_ON if name in source]
    values: dict[str, str | None] = {}
    for argument in wanted:
        name, equals, value = argument.partition("=")
        if not name or "\0" in argument:
            raise UsageError(f"--env {argument!r} names no variable: write --env NAME or --env NAME=VALUE")
        if equals:
            values[name] = value
        elif name in source:
            names.append(name)
        else:
            raise UsageError(f"--env {name}: that variable is not set here; set it, or write --env {name}=VALUE")
    return sorted(set(names)), values


def launch_spec(subject: Subject, settings: Settings, shared: Mapping[str, str], draw: Draw) -> LaunchSpec:
    """The launch of a subject under one pair's draw; both launches of the pair get the same draw."""
    return launch_maker(subject, settings, shared)(draw)


def launch_maker(subject: Subject, settings: Settings, shared: Mapping[str, str]) -> Callable[[Draw], LaunchSpec]:
    """The launches of a subject: what no draw changes is made once."""
    undrawn, is_placed = _undrawn(subject, settings), settings.addresses == "shared"
    fixed = tuple(os.fsencode(f"{name}={value}") for name, value in shared.items())

    def make(draw: Draw) -> LaunchSpec:
        drawn = (os.fsencode(f"{name}={value}") for name, value in _drawn(draw).items() if name not in shared)
        pages = draw.hash_seed % MAPPING_PAGES if is_placed else None
        return replace(undrawn, env=(*drawn, *fixed), mapping_pages=pages)

    return make


def _drawn(draw: Draw) -> dict[str, str]:
    return {
        "PYTHONHASHSEED": str(draw.hash_seed),
        "PERL_HASH_SEED": f"0x{draw.hash_seed:x}",
        PADDING_NAME: "x" * draw.padding_bytes,
    }


def _undrawn(subject: Subject, settings: Settings) -> LaunchSpec:
    return LaunchSpec(
        program=os.fsencode(subject.program),
        argv=tuple(os.fsencode(argument) for argument in subject.argv),
        env=(),
        cwd=os.fsencode(subject.directory or settings.directory),
        stdin=None if settings.stdin is None else os.fsencode(settings.stdin),
        stdout=None if settings.output is None else os.fsencode(settings.output),
        timeout_ns=None if settings.timeout_s is None else round(settings.timeout_s * 1e9),
        cpus=None if settings.cpu is None else (settings.cpu,),
        repeat=settings.repeat,
        counters=events_of(settings.metrics),
    )


# What editors and web pages make of hyphens and quotes.
_DASHES = ("\N{EN DASH}", "\N{EM DASH}")
_TYPOGRAPHIC_QUOTES = tuple("\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}“”„«»")


def _for_a_shell(command: str, first: str) -> str:
    """What to add to an error about a command that a shell might have understood."""
    if sets_variable(first):
        return f"; env before {first} sets it for this command alone; for all a variable is set by --env {first}"
    if first.startswith(_DASHES):
        return f"; an option begins with two hyphens: --{first.lstrip(''.join(_DASHES))}"
    if first.startswith(_TYPOGRAPHIC_QUOTES):
        return f"; {first[0]} is no quote to a shell: ' and \" are"
    words = shell_words(command)
    return f" ({', '.join(words)} in it would be a shell's to understand)" if words else ""


def _how_to_find(role: str) -> str:
    """What to do about a program that is not on PATH; only what is measured may be a shell's."""
    if role not in _OF_A_SHELL:
        return "check the spelling, or give its path"
    quotes = _IN_QUOTES if role == "candidate" else ""
    return f"check the spelling, give its path, or use --shell for a shell's own commands{quotes}"


def _how_to_start(name: str, directory: str | None) -> str | None:
    """What to do about a file that is no program on PATH but lies where the command would run; None if none does."""
    path = Path(directory or "", name)
    if not os.path.isfile(path):  # noqa: PTH113 - Path.is_file() raises where a word is too long for a name
        return None
    if os.access(path, os.X_OK):
        return f"a file of that name is here, so give its path, ./{name}"
    if instead := _of_measurements(name):
        return f"a file of that name is here, and {instead}"
    interpreter = "a file of that name is here, so name its interpreter first, in quotes"
    if path.suffix == ".py":
        return f"{interpreter}: 'python3 {name}'"
    return f"{interpreter}, or make it executable and give ./{name}"


def _of_measurements(name: str) -> str | None:
    """What to do with a file that has the name of measured data; None for any other name."""
    is_data = name.endswith((".json", ".json.gz", ".journal", ".txt"))
    return "if it holds what was measured, steelyard diff A B compares two such files" if is_data else None


def _on_its_disk(program: str) -> str | None:
    """What to do with a file of a disk on which nothing may be executed; None on any other disk."""
    if not os.statvfs(program).f_flag & os.ST_NOEXEC:
        return None
    return "its disk is mounted noexec: have it on another one, which XDG_CACHE_HOME names for what is built here"


def _behind_a_hash(path: Path) -> str | None:
    """What to do where cargo has put a hash behind the name of an executable, which differs from build to build."""
    if path.parent.name != "deps" or not any(path.parent.glob(f"{escape(path.name)}-*")):
        return None
    return (
        "cargo puts a hash behind that name: have the build copy the executable to a path without one, as that which "
        "steelyard init writes"
    )


def _called(role: str) -> str:
    return "the command" if role == "command" else f"the {role} command"


def _words(command: str, role: str, directory: str | None) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise UsageError(
            f"{_called(role)} {command!r} cannot be split into words ({error}): check its quotes"
            f"{_in_own_quotes(command, directory)}"
        ) from error


def _in_own_quotes(command: str, directory: str | None) -> str:
    """What to do about the path of a program that was taken for several words; nothing where no such file is."""
    ends = [*(found.start() for found in re.finditer(r"\s", command)), len(command)]
    # A NUL is in no path, and os.path.isfile says so.
    paths = (command[:end] for end in reversed(ends))
    path = next((path for path in paths if os.path.isfile(Path(directory or "", path))), None)  # noqa: PTH113
    if path is None or shlex.quote(path) == path:
        return ""
    typed = in_quotes(f"{shlex.quote(path)}{command[len(path) :]}")
    return f"; a path with spaces or quotes stands in quotes of its own: {typed}"


def _check_entered(argv: Sequence[str], role: str, directory: str | None) -> None:
    """Raise UsageError where `env -C FOLDER ./program` finds none: what env says of it comes only with a launch."""
    if argv[:2] != ["env", "-C"] or len(argv) < len(["env", "-C", "FOLDER", "PROGRAM"]):
        return
    folder, program = argv[2:4]
    is_path = "/" in program and "=" not in program
    if is_path and not any(map(PLACEHOLDER.search, (folder, program))):
        _find_program(program, role, None, str(Path(directory or "", folder)))


def _check_jar(argv: Sequence[str], role: str, directory: str | None) -> None:
    """Raise UsageError where `java -jar FILE` has no such file: of two revisions one may lack it, but not its java."""
    if Path(argv[0]).name != "java" or "-jar" not in argv[:-1]:
        return
    place = argv.index("-jar")
    jar = argv[place + 1]
    is_option = all(word.startswith("-") for word in argv[1:place])  # else it is the program's own
    if is_option and not PLACEHOLDER.search(jar) and "\0" not in jar and not Path(directory or "", jar).is_file():
        raise UsageError(
            f"{_called(role)} has java run {jar!r}, and no such file is there: build it, or check the path"
        )


def _find_program(argument: str, role: str, search_path: str | None, directory: str | None) -> str:
    if "/" not in argument:
        found = shutil.which(argument, path=search_path)
        if found is None:
            how = _how_to_start(argument, directory) or _how_to_find(role)
            raise UsageError(f"{_called(role)} {argument!r} was not found on PATH: {how}")
        return found
    program = argument if directory is None else str(Path(directory, argument))
    try:
        mode = Path(program).stat().st_mode
    except ValueError as error:
        raise UsageError(f"{_called(role)} {program!r} cannot be run: no path has a NUL in it") from error
    except OSError as error:
        how = _behind_a_hash(Path(program)) or "check the path"
        raise UsageError(f"{_called(role)} {program!r} cannot be run: {error.strerror}; {how}") from error
    if not stat.S_ISREG(mode):
        raise UsageError(f"{_called(role)} {argument!r} is no program: give the path of a file")
    if not os.access(program, os.X_OK):
        how = _of_measurements(argument) or _on_its_disk(program) or "chmod +x it, or name its interpreter first"
        if argument.endswith(".py"):
            how = f"name its interpreter first, in quotes: {in_quotes(f'python3 {shlex.quote(argument)}')}"
        raise UsageError(f"{_called(role)} {argument!r} is not executable: {how}")
    return program
