"""Files that are read: standard input by the name of `-`, and what a launch has for its input and output."""

from __future__ import annotations

from pathlib import Path

from steelyard.model.errors import UsageError

STANDARD_STREAM = Path("-")
_STDIN = Path("/dev/stdin")
# As hyperfine has it: nothing to read, and nowhere to write to, which is what a launch has anyway.
_NOWHERE = "null"


def readable(*paths: Path) -> list[Path]:
    """Where to read those files; raises UsageError if two are standard input, which is read only once."""
    if paths.count(STANDARD_STREAM) > 1:
        raise UsageError("two files would be read from standard input: give one of them by its name")
    return [_STDIN if path == STANDARD_STREAM else path for path in paths]


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
