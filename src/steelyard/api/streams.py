"""What a launch has for its input and output, by the names that are given."""

from __future__ import annotations

from pathlib import Path

from steelyard.model.errors import UsageError

# As hyperfine has it: nothing to read, and nowhere to write to, which is what a launch has anyway.
_NOWHERE = "null"


def input_of_launches(option: str, text: str) -> Path | None:
    """The file that each launch reads; None for nothing. Raises UsageError for standard input."""
    if text == "-":
        raise UsageError(f"{option} -: standard input cannot be read again for each launch: give the path of a file")
    return None if text == _NOWHERE else Path(text)


def output_of_launches(option: str, text: str) -> Path | None:
    """The file that each launch writes; None for nowhere. Raises UsageError for what is no file."""
    if text in ("-", "inherit"):
        raise UsageError(f"{option} {text} would mix with what is printed: give the path of a file")
    if text == "pipe":
        raise UsageError(
            f"{option} pipe: launches write to a file or nowhere; with --shell put '| cat' into the command"
        )
    return None if text == _NOWHERE else Path(text)
