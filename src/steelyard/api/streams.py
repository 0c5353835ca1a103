"""The input and output of launches, from the names given for them."""

from __future__ import annotations

from pathlib import Path

from steelyard.model.errors import UsageError

# hyperfine's name for no input and no output, which is what a launch has anyway.
_NOWHERE = "null"


def input_of_launches(option: str, text: str) -> Path | None:
    """Return the file that each launch reads, None for none; raise UsageError for standard input."""
    if text == "-":
        raise UsageError(f"{option} -: standard input cannot be read again for each launch: give the path of a file")
    return None if text == _NOWHERE else Path(text)


def output_of_launches(option: str, text: str) -> Path | None:
    """Return the file that each launch writes, None for none; raise UsageError for what is not a file."""
    if text in ("-", "inherit"):
        raise UsageError(f"{option} {text} would mix with what is printed: give the path of a file")
    if text == "pipe":
        raise UsageError(
            f"{option} pipe: launches write to a file or nowhere; with --shell put '| cat' into the command"
        )
    return None if text == _NOWHERE else Path(text)
