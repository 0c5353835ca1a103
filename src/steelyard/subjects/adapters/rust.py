"""What Rust's harnesses have in common: a list like libtest's, options that clap parses, and how a panic looks."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from steelyard.model.errors import LaunchError, UsageError
from steelyard.subjects.harness import Listed
from steelyard.subjects.responses import (
    MOST_CHARACTERS,
    arguments_of,
    checked_list,
    end_of_stderr,
    end_of_stdout,
    quoted,
)

if TYPE_CHECKING:
    from steelyard.model.launch_spec import LaunchSpec
    from steelyard.model.measured import Measured

# Options that criterion knows by a letter as well.
_BY_LETTER = {"-c": "--color", "-n": "--noplot"}
_LISTED = re.compile(r"(.+): bench(?:mark)?")
_PANIC = re.compile(r"^thread .* panicked at (.+?):?$(?:\n(?!stack backtrace|note: )(.+)$)?", re.MULTILINE)
_REFUSAL = re.compile(r"^error: (.+)$", re.MULTILINE)


def listed_in(text: str) -> list[Listed]:
    """Return the benchmarks of a list in libtest's terse format; raises LaunchError if there is only something else."""
    names = [match[1] for line in text.splitlines() if (match := _LISTED.fullmatch(line))]
    if text.strip() and not names:
        raise LaunchError(
            f"did not list its benchmarks as --format terse asks for: {quoted(text)}: is it the right harness, and has "
            "it benchmarks that are not filtered out?"
        )
    return checked_list(map(Listed, names))


def check_built(launch: LaunchSpec) -> None:
    """Raise UsageError for a command that makes cargo build its benchmarks, which would then be timed too."""
    if PurePath(arguments_of(launch)[0]).name == "cargo":
        raise UsageError(
            "`cargo bench` would build again in each launch: give the executable that cargo bench --no-run names, "
            "target/release/deps/NAME-HASH"
        )


def lacking(launch: LaunchSpec, *options: str) -> list[str]:
    """Return the options that the user's command does not set itself, as clap refuses repeated ones."""
    names_given = {argument.partition("=")[0] for argument in arguments_of(launch)[1:]}
    options_given = {_BY_LETTER.get(name, name) for name in names_given}
    return [option for option in options if option.partition("=")[0] not in options_given]


def complaint_of(measured: Measured) -> str | None:
    """Return why a Rust program failed: its first panic (its last line is a note), or why clap refused a word."""
    # An old clap writes its refusals to stdout.
    text = f"{end_of_stderr(measured)}\n{end_of_stdout(measured)}"
    if match := _PANIC.search(text):
        return f"panicked at {': '.join(filter(None, match.groups()))}"[:MOST_CHARACTERS]
    match = _REFUSAL.search(text)
    return f"says: {match[0]}"[:MOST_CHARACTERS] if match else None
