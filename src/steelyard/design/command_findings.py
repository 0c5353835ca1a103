"""Findings on how commands are written and what they lack: a shell, a value, somebody who reads what they print."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.design.findings import some_names
from steelyard.model.findings import SHELL_WORDS, UNREAD_OUTPUT, Finding
from steelyard.model.grouping import grouped
from steelyard.model.placeholders import LAYOUT, LOOPS, placeholders
from steelyard.subjects.shell_words import shell_words
from steelyard.subjects.shims import MANAGERS, is_shim, manager_of, wrapped_program

if TYPE_CHECKING:
    from steelyard.model.settings import Settings
    from steelyard.model.subject import Benchmark, Subject


def shell_words_findings(subjects: Sequence[Subject], settings: Settings) -> list[Finding]:
    """Return findings on words that only a shell understands, in commands that no shell runs."""
    way_out = "--shell has a shell run it; quote the words that are meant as they stand"
    if settings.harness is not None:
        way_out = "sh -c '...' has a shell run it; quote the words that are meant as they stand"
    found: dict[str, list[str]] = {}
    for command in dict.fromkeys(one.command for one in subjects if not one.shell):
        if words := shell_words(command):
            found.setdefault(describe_unshelled(words), []).append(command)
    return [
        Finding(
            code=SHELL_WORDS,
            message=f"{description}: the command{'s are' if len(commands) > 1 else ' is'} {some_names(commands)}",
            remedy=way_out,
        )
        for description, commands in found.items()
    ]


def placeholder_findings(
    subjects: Sequence[Subject], benchmarks: Sequence[Benchmark], settings: Settings
) -> list[Finding]:
    """Return findings on each {name} without a value where others have one, and on parameters a command does not use.

    Each command is held against those that are weighed with it: other targets have parameters of their own.
    """
    found = []
    for members in grouped(benchmarks, lambda one: one.baseline).values() or [[]]:
        places = {place for one in members for place in (one.baseline, one.candidate)}
        own_subjects = [one for place, one in enumerate(subjects) if not places or place in places]
        params = sorted({name for one in members for name in one.in_command()})
        found += _command_placeholder_findings(
            {one.command: placeholders(one.argv) for one in own_subjects}, params, settings
        )
    return found


def _command_placeholder_findings(
    used: Mapping[str, Sequence[str]], params: Sequence[str], settings: Settings
) -> list[Finding]:
    """Return the same for commands, by the names used in each, that all have these parameters."""
    given = [
        *params,
        *([LAYOUT] if settings.layouts else []),
        *([LOOPS] if settings.counting and settings.counting.loops else []),
    ]
    if not params and not settings.layouts:
        return []
    found = []
    # A parameter that no command uses is used by the commands around the launches.
    params = [name for name in params if any(name in names for names in used.values())]
    for command, names in used.items():
        unknown = [f"{{{name}}}" for name in names if name not in given]
        unused = [f"{{{name}}}" for name in params if name not in names]
        clauses = []
        if unknown:
            clauses.append(f"{some_names(unknown)} in {command} has no value, and was passed on as it stands")
        if unused:
            clauses.append(f"{command} has no {some_names(unused)}, and was the same for all of its values")
        if clauses:
            found.append(Finding(code="placeholder", message="; ".join(clauses)))
    return found


def shim_findings(subjects: Sequence[Subject]) -> list[Finding]:
    """Return findings on programs that are started by way of a script: a version manager's, or Debian's for PostgreSQL.

    Measured: a Python that does nothing took 102 ms by way of pyenv, and 40 ms without, on a busy machine; a psql that
    asks for a number 30 ms by way of Debian's script, and 13 ms without.
    """
    programs = sorted({one.program for one in subjects})
    shims = [one for one in programs if is_shim(Path(one))]
    wrapped = {one: path for one in programs if (path := wrapped_program(Path(one)))}
    by_path = "start the program by its own path"
    ways_out = {
        **({some_names(shims): f"{by_path}: {_which_command(shims[0])} prints it"} if shims else {}),
        **{name: f"{by_path}, {path}" for name, path in wrapped.items()},
    }
    return [
        Finding(
            code="shim",
            message=f"{names} looks for the program and starts it, which is part of every launch",
            remedy=way_out,
        )
        for names, way_out in ways_out.items()
    ]


# By tool, its words that build what is not built yet, or look for a program, and then start it.
_RUN = frozenset({"run"})
_NODE = frozenset({"run", "start", "test", "exec"})
# These start a script of package.json by its name alone.
_SCRIPTS = frozenset({"bench", "benchmark", "perf"})
_STARTING = {
    "cargo": frozenset({"run", "r", "bench", "test", "t"}),
    "go": frozenset({"run", "test"}),
    **dict.fromkeys(("cabal", "dotnet", "poetry", "stack", "swift", "uv"), _RUN),
    "npm": _NODE,
    **dict.fromkeys(("pnpm", "yarn"), _NODE | _SCRIPTS),
}
# These start whatever program follows.
_STARTING_ANY = frozenset({"bunx", "npx", "uvx"})


def starting_tool_findings(subjects: Sequence[Subject], settings: Settings) -> list[Finding]:
    """Return a finding on commands of build tools and the like, which start the program only after work of their own.

    Measured with Go 1.26: a program of 2 ms took 65 ms by way of `go run`, which hides most changes of it.
    """
    tools = sorted({tool for one in subjects if (tool := _starting_tool(one))})
    if not tools or settings.harness is not None:  # a harness times what is inside the program
        return []
    looks = "look" if len(tools) > 1 else "looks"
    return [
        Finding(
            code="starting-tool",
            message=f"{some_names(tools)} {looks} for what to build and start, which is part of every launch",
            remedy="build first (with --base, by --build), and give the command that is started in the end",
        )
    ]


def _starting_tool(subject: Subject) -> str | None:
    """Return the tool and its word, such as `go run`; None for any other command. Java compiles a file of source."""
    words = subject.argv[2].split() if subject.shell and len(subject.argv) == 3 else subject.argv
    tool = Path(words[0]).name if words else ""
    word = next((word for word in words[1:] if not word.startswith(("-", "+"))), "")  # cargo +nightly run
    is_source = tool == "java" and word.endswith(".java")
    starts = word in _STARTING.get(tool, ()) or is_source or (tool in _STARTING_ANY and word != "")
    return f"`{tool} {word}`" if starts else None


# GNU's programs check whether they write to /dev/null.
_STOPS_AT_FIRST_MATCH = "stops at the first match"
_DOES_LESS_UNREAD = dict.fromkeys(("grep", "egrep", "fgrep", "zgrep"), _STOPS_AT_FIRST_MATCH)
_LAST_SHELL_COMMAND = re.compile(r"(?:^|[|;&(])\s*((?:\S*/)?\w+)\s([^|;&>)]*)$")
# With these it stops anyway.
_STOPPING_OPTIONS = frozenset({"-q", "--quiet", "--silent", "-l", "--files-with-matches"})


def unread_output_findings(subjects: Sequence[Subject], settings: Settings) -> list[Finding]:
    """Return findings on programs that do less because what they print goes to /dev/null.

    Measured with GNU grep 3.8: 5 MB with a match in every second line take 1.1 ms, and 40 ms if they go to a file.
    """
    if settings.output != "/dev/null" or settings.harness is not None:
        return []
    found = {name: less for one in subjects for name, less in _what_it_does_less(_writing_command(one))}
    return [
        Finding(
            code=UNREAD_OUTPUT,
            message=f"{name} {less} where what it prints goes to /dev/null, as --output has it here",
            remedy="without --output it does all of the work",
        )
        for name, less in found.items()
    ]


def _writing_command(subject: Subject) -> Sequence[str]:
    """Return the words of the program whose output is the command's: the last one of a shell's pipeline."""
    argv = subject.argv
    if len(argv) != 3 or argv[1] != "-c":
        return argv
    last = _LAST_SHELL_COMMAND.search(argv[2].strip())
    return [last[1], *last[2].split()] if last else []


def _what_it_does_less(words: Sequence[str]) -> list[tuple[str, str]]:
    name = Path(words[0]).name if words else ""
    less = None if _STOPPING_OPTIONS.intersection(words) else _DOES_LESS_UNREAD.get(name)
    if name == "tar" and "-" in words[2:] and re.fullmatch(r"-?c[vpPhS]*f", words[1]):
        less = "reads no files"
    return [] if less is None else [(name, less)]


def _which_command(shim: str) -> str:
    """Return the version manager's command that prints what one of its scripts starts."""
    path = Path(shim)
    manager = manager_of(path)
    *first, last = [f"`{name} which {path.name}`" for name in ([manager] if manager else MANAGERS)]
    return f"{', '.join(first)} or {last}" if first else last


def describe_unshelled(words: Sequence[str]) -> str:
    """Say what became of words that only a shell understands."""
    verb = "was passed on as it stands" if len(words) == 1 else "were passed on as they stand"
    quoted = [f"'{word}'" for word in words]  # a bar or a star by itself is overlooked in a sentence
    return f"{some_names(quoted)} {verb}, as no shell runs it"
