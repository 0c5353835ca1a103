"""The words that choose benchmarks inside programs; `compare` and `run` share them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.model.errors import UsageError

if TYPE_CHECKING:
    from steelyard.design.suite.selection import Selection

HarnessName = Annotated[
    str | None,
    typer.Option(
        "--harness",
        metavar="NAME",
        help="Measure the benchmarks inside the programs: of protocol (docs/protocol.md, all SDKs), google-benchmark, "
        "criterion, go and others (docs/adapters.md), or auto to recognise them.",
    ),
]
BenchmarkPatterns = Annotated[
    list[str] | None,
    typer.Option("--benchmark", "-b", metavar="PATTERN", help="Only those of a harness; * and ? as in a shell."),
]
TagPatterns = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="PATTERN", help="Only those benchmarks of a harness that have such a tag."),
]
# What is of a command as a whole, or would be asked for twice.
_NOT_WITH_HARNESS = (
    "shell",
    "repeat",
    "reference_output",
    "ignore_failure",
    "parameter_list",
    "parameter_scan",
    "loops",
)
_PLAIN: dict[str, Any] = {"repeat": 1}


def harness_checked(words: Mapping[str, Any]) -> str | None:
    """The harness that is asked for, if it is known and nothing stands beside it that it has no use for."""
    name: str | None = words.get("harness")
    if name is None:
        for option in ("benchmark", "tag"):
            if words.get(option):
                raise UsageError(f"--{option} chooses from those of a harness: say of which with --harness auto")
        return None

    from steelyard.subjects.harness import AUTO, harness_named

    if name != AUTO:
        harness_named(name)
    for other in _NOT_WITH_HARNESS:
        if words.get(other) not in (None, False, [], _PLAIN.get(other)):
            raise UsageError(f"--{other.replace('_', '-')} is for plain commands: leave it out, or --harness {name}")
    return name


# Enough for a verdict on most benchmarks; a suite would otherwise have to share what one command gets.
_SECONDS_EACH = 3.0


def selection_from(words: Mapping[str, Any]) -> Selection:
    """Which of a harness's benchmarks are wanted, and how long each may take if nothing else limits that."""
    from steelyard.design.suite.selection import Selection

    unlimited = words["max_time"] is None and words.get("pairs") is None and words.get("launches") is None
    return Selection(
        only=words.get("benchmark") or [],
        tags=words.get("tag") or [],
        seconds_each=_SECONDS_EACH if unlimited else None,
        control=bool(words.get("control")),
    )
