"""A command as a subject: its arguments, the program that they name, and the environment of its launches."""

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

from steelyard.model.counters import events_of
from steelyard.model.errors import UsageError
from steelyard.model.launch_spec import MAPPING_PAGES, Draw, LaunchSpec
from steelyard.model.placeholders import LAYOUT, LAYOUT_PLACE, PLACEHOLDER, with_values
from steelyard.model.settings import Settings
from steelyard.model.subject import Subject
from steelyard.model.typed import in_quotes
from steelyard.subjects.programs import digest, path_behind_env, weighed_file
from steelyard.subjects.shell_words import needs_shell, sets_variable, shell_words

# What a launch inherits unless more is asked for: where programs are, who the user is, language and time zone.
PASSED_ON = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")

PADDING_NAME = "STEELYARD_PADDING"
_SHELL = "/bin/sh"
# Words after a first command without quotes are taken for another command.
_QUOTES_HINT = "; each command goes in quotes together with its arguments"
# The roles with a --shell option: commands of `check`, hooks and the Python of `timeit` have none.
_ROLES_WITH_SHELL = ("baseline", "candidate", "command")
_INTERPRETERS = {
    ".jar": "java -jar",
    ".js": "node",
    ".lua": "lua",
    ".mjs": "node",
    ".php": "php",
    ".pl": "perl",
    ".py": "python3",
    ".rb": "ruby",
    ".sh": "sh",
    ".tcl": "tclsh",
}
_COMPILED = frozenset({".c", ".cc", ".cpp", ".cxx", ".go", ".java", ".rs", ".zig"})


def command_subject(
    command: str,
    name: str,
    role: str,
    *,
    shell: bool | None,
    search_path: str | None = None,
    directory: str | None = None,
) -> Subject:
    """Read one command line; `role` is what an error calls it: with `baseline` it says "the baseline command".

    `shell` says whether a shell runs it; None where none can be asked to, as for a harness's program.
    The command runs in `directory`, if given, and a relative path of its program starts there. Raises UsageError if the
    command is empty, or its program is missing or not executable.
    """
    if not command.strip():
        raise UsageError(f"{_command_of(role)} is empty: give the command to run, in quotes")
    argv = [_SHELL, "-c", command] if shell else _words(command, role, directory)
    # A program that a parameter names is looked for once the parameter's values are known.
    deferred = PLACEHOLDER.search(argv[0]) is not None
    may_have_shell = role in _ROLES_WITH_SHELL and shell is not None
    try:
        program = argv[0] if deferred else _find_program(argv[0], role, search_path, directory, may_have_shell)
        _check_env_program(argv, role, directory)
        _check_jar(argv, role, directory)
    except UsageError as error:
        hint = _quoted_path_hint(command, directory) or _shell_hint(command, argv[0], may_have_shell)
        raise UsageError(f"{error}{hint}") from error
    subject = Subject(name=name, command=command, argv=argv, program=program, shell=bool(shell), directory=directory)
    return subject if shell or deferred else subject.model_copy(update={"digest": digest(weighed_file(subject))})


def command_line(argv: Sequence[bytes]) -> str:
    """Return a command line that would give these arguments."""
    words = [os.fsdecode(word) for word in argv]
    return words[2] if words[:2] == [_SHELL, "-c"] else shlex.join(words)


def with_parameters(subject: Subject, params: Mapping[str, str], role: str) -> Subject:
    """Return the subject with every {name} in its arguments replaced; each stays one argument, whatever the value is.

    Raises UsageError if the program is missing then, or still has a name without a value.
    """
    argv = [with_values(argument, params) for argument in subject.argv]
    is_found = subject.program != subject.argv[0] or not PLACEHOLDER.search(subject.program)
    if is_found and argv[0] == subject.argv[0]:
        return subject.model_copy(update={"argv": argv}) if params else subject
    try:
        program = _find_program(argv[0], role, None, subject.directory)
    except UsageError as error:
        raise UsageError(f"{error}{_missing_value_hint(argv[0])}") from error
    return subject.model_copy(update={"argv": argv, "program": program})


def command_with_values(command: str, params: Mapping[str, str], *, shell: bool) -> str:
    """Return a command line with every {name} replaced, which has the same words then as launches with parameters."""
    text = with_values(command, params)
    if shell or text == command:
        return text
    try:
        return shlex.join(with_values(word, params) for word in shlex.split(command))
    except ValueError:
        return text  # reported when the command is read


def spec_with_parameters(spec: LaunchSpec, params: Mapping[str, str]) -> LaunchSpec:
    """Return the launch with every {name} in its arguments replaced."""
    argv = tuple(os.fsencode(with_values(os.fsdecode(argument), params)) for argument in spec.argv)
    return replace(spec, argv=argv)


def is_hook_by_shell(command: str) -> bool:
    """Return whether a shell runs a command around launches.

    It needs one, or a {name} is in its program, which a shell then looks for in each launch.
    """
    first, *_ = command.split(maxsplit=1) or [""]
    return needs_shell(command) or PLACEHOLDER.search(first) is not None


def _missing_value_hint(program: str) -> str:
    """Return what to add to an error about a missing program that still has a {name} in it."""
    placeholder = PLACEHOLDER.search(program)
    if placeholder is None:
        return ""
    layouts = " (for builds of each side to average over: --layouts N)" if placeholder[1] == LAYOUT else ""
    of_plain = f"for a plain command of compare, run or count --parameter-list {placeholder[1]} A,B"
    return f"; {placeholder[0]} has no value: write one in its place, or {of_plain}{layouts}"


def subject_in_layout(subject: Subject, layout: int) -> Subject:
    """Return the subject with `{layout}` in its folder and program replaced by the number of a build.

    For 0, which stands for a single build, return the subject itself.
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
    """Return the part of a launch's environment that all pairs share: variables passed on, and those set outright.

    Raises UsageError as `given_variables` does.
    """
    inherited = {name: source[name] for name in settings.environment if name in source}
    return {**inherited, **given_variables(settings, source)}


def given_variables(settings: Settings, source: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that were given values.

    Values that look secret are in no record, and are taken from `source`; raises UsageError if one is not there.
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
    """Sort what `--env` was given into names to pass on and values to set; raises UsageError for an unset name."""
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
    """Return the launch of a subject under one pair's draw; both launches of the pair get the same draw."""
    return launch_maker(subject, settings, shared)(draw)


def launch_maker(subject: Subject, settings: Settings, shared: Mapping[str, str]) -> Callable[[Draw], LaunchSpec]:
    """Return a function that makes a subject's launches from draws; what no draw changes is made only once."""
    undrawn, shares_addresses = _undrawn_spec(subject, settings), settings.addresses == "shared"
    fixed = tuple(os.fsencode(f"{name}={value}") for name, value in shared.items())

    def make(draw: Draw) -> LaunchSpec:
        drawn = (os.fsencode(f"{name}={value}") for name, value in _drawn_variables(draw).items() if name not in shared)
        pages = draw.hash_seed % MAPPING_PAGES if shares_addresses else None
        return replace(undrawn, env=(*drawn, *fixed), mapping_pages=pages)

    return make


def _drawn_variables(draw: Draw) -> dict[str, str]:
    return {
        "PYTHONHASHSEED": str(draw.hash_seed),
        "PERL_HASH_SEED": f"0x{draw.hash_seed:x}",
        PADDING_NAME: "x" * draw.padding_bytes,
    }


def _undrawn_spec(subject: Subject, settings: Settings) -> LaunchSpec:
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


# What editors and web pages turn hyphens and quotes into.
_DASHES = ("\N{EN DASH}", "\N{EM DASH}")
_TYPOGRAPHIC_QUOTES = tuple("\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}“”„«»")


def _shell_hint(command: str, first: str, may_have_shell: bool) -> str:
    """Return what to add to an error about a command that a shell might have understood."""
    if sets_variable(first):
        return f"; env before {first} sets it for this command alone; for all a variable is set by --env {first}"
    if first.startswith(_DASHES):
        return f"; an option begins with two hyphens: --{first.lstrip(''.join(_DASHES))}"
    if first.startswith(_TYPOGRAPHIC_QUOTES):
        return f"; {first[0]} is no quote to a shell: ' and \" are"
    words = shell_words(command)
    way_out = ": --shell runs it by one" if "/" in first and may_have_shell else ""
    return f" ({', '.join(words)} in it would be a shell's to understand{way_out})" if words else ""


def _find_hint(role: str, may_have_shell: bool) -> str:
    """Return what to do about a program that is not on PATH; only for measured commands is --shell an option."""
    quotes = _QUOTES_HINT if role == "candidate" else ""
    if not may_have_shell:
        return f"check the spelling, or give its path{quotes}"
    return f"check the spelling, give its path, or use --shell for a shell's own commands{quotes}"


def _start_hint(name: str, directory: str | None) -> str | None:
    """Return what to do about a name that is not on PATH but is a file where the command would run; None if not."""
    path = Path(directory or "", name)
    if not os.path.isfile(path):  # noqa: PTH113 - Path.is_file() raises where a word is too long for a name
        return None
    if os.access(path, os.X_OK):
        return f"a file of that name is here, so give its path, ./{name}"
    if hint := _measurements_hint(name):
        return f"a file of that name is here, and {hint}"
    hint = _kind_hint(name) or f"name its interpreter first, in quotes, or make it executable and give ./{name}"
    return f"a file of that name is here, so {hint}"


def _kind_hint(name: str) -> str | None:
    """Return what to do with a file whose name tells that it is a script or has to be compiled; None for others."""
    suffix = Path(name).suffix
    if suffix in _COMPILED:
        return "compile it, and give the program that this makes"
    if (interpreter := _INTERPRETERS.get(suffix)) is None:
        return None
    return f"name its interpreter first, in quotes: {in_quotes(f'{interpreter} {shlex.quote(name)}')}"


def _measurements_hint(name: str) -> str | None:
    """Return what to do with a file whose name is that of measured data; None for any other name."""
    is_data = name.endswith((".json", ".json.gz", ".journal", ".txt"))
    return "if it holds what was measured, steelyard diff A B compares two such files" if is_data else None


def _noexec_hint(program: str) -> str | None:
    """Return what to do about a file on a disk where nothing may be executed; None on any other disk."""
    if not os.statvfs(program).f_flag & os.ST_NOEXEC:
        return None
    return "its disk is mounted noexec: have it on another one, which XDG_CACHE_HOME names for what is built here"


def _cargo_hash_hint(path: Path) -> str | None:
    """Return what to do if cargo has appended a hash to an executable's name, which differs from build to build."""
    if path.parent.name != "deps" or not any(path.parent.glob(f"{escape(path.name.removesuffix('-*'))}-*")):
        return None
    return (
        "cargo puts a hash behind that name: have the build copy the executable to a path without one, as that which "
        "steelyard init writes"
    )


def _command_of(role: str) -> str:
    return "the command" if role == "command" else f"the {role} command"


def _words(command: str, role: str, directory: str | None) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise UsageError(
            f"{_command_of(role)} {command!r} cannot be split into words ({error}): check its quotes"
            f"{_quoted_path_hint(command, directory)}"
        ) from error


def _quoted_path_hint(command: str, directory: str | None) -> str:
    """Return what to do about a program's path that was taken for several words; empty if there is no such file."""
    ends = [*(found.start() for found in re.finditer(r"\s", command)), len(command)]
    # os.path.isfile is also False for a path with a NUL.
    paths = (command[:end] for end in reversed(ends))
    path = next((path for path in paths if os.path.isfile(Path(directory or "", path))), None)  # noqa: PTH113
    if path is None or shlex.quote(path) == path:
        return ""
    quoted_command = in_quotes(f"{shlex.quote(path)}{command[len(path) :]}")
    return f"; a path with spaces or quotes stands in quotes of its own: {quoted_command}"


def _check_env_program(argv: Sequence[str], role: str, directory: str | None) -> None:
    """Raise UsageError if `env -C FOLDER ./program` has no such program: env itself would say so only in a launch."""
    behind = path_behind_env(argv)
    if behind is not None and not any(map(PLACEHOLDER.search, behind)):
        folder, program = behind
        _find_program(program, role, None, str(Path(directory or "", folder)))


def _check_jar(argv: Sequence[str], role: str, directory: str | None) -> None:
    """Raise UsageError if `java -jar FILE` has no such file, which one of two revisions may lack."""
    if Path(argv[0]).name != "java" or "-jar" not in argv[:-1]:
        return
    index = argv.index("-jar")
    jar = argv[index + 1]
    is_option = all(word.startswith("-") for word in argv[1:index])  # else it belongs to the Java program
    if is_option and not PLACEHOLDER.search(jar) and "\0" not in jar and not Path(directory or "", jar).is_file():
        raise UsageError(
            f"{_command_of(role)} has java run {jar!r}, and no such file is there: build it, or check the path"
        )


def _find_program(
    argument: str, role: str, search_path: str | None, directory: str | None, may_have_shell: bool = False
) -> str:
    if "/" not in argument:
        found = shutil.which(argument, path=search_path)
        if found is None:
            hint = _start_hint(argument, directory) or _find_hint(role, may_have_shell)
            raise UsageError(f"{_command_of(role)} {argument!r} was not found on PATH: {hint}")
        return found
    program = argument if directory is None else str(Path(directory, argument))
    try:
        mode = Path(program).stat().st_mode
    except ValueError as error:
        raise UsageError(f"{_command_of(role)} {program!r} cannot be run: no path has a NUL in it") from error
    except OSError as error:
        hint = _cargo_hash_hint(Path(program)) or "check the path"
        raise UsageError(f"{_command_of(role)} {program!r} cannot be run: {error.strerror}; {hint}") from error
    if not stat.S_ISREG(mode):
        raise UsageError(f"{_command_of(role)} {argument!r} is no program: give the path of a file")
    if not os.access(program, os.X_OK):
        known = _kind_hint(argument) or _measurements_hint(argument) or _noexec_hint(program)
        hint = known or "chmod +x it, or name its interpreter first"
        raise UsageError(f"{_command_of(role)} {argument!r} is not executable: {hint}")
    return program
