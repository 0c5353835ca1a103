"""Shows what checks found."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.cli.outputs import as_json, writing_files
from steelyard.cli.say import say
from steelyard.cli.status import FOUND, INTERRUPTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.design.world import World
    from steelyard.model.findings import Finding
    from steelyard.model.soundness import Soundness


def say_findings(findings: Sequence[Finding]) -> None:
    """Say what the user should know about a revision, each sentence once."""
    for message, remedy in dict.fromkeys((one.message, one.remedy) for one in findings):
        say(": ".join(filter(None, (message, remedy))))


def show_record(record: Soundness, path: Path | None, world: World) -> None:
    """Show what a check found, and write it to a file if there is one."""
    from steelyard.report.check import show_soundness

    with writing_files(world, (path, partial(as_json, record))) as console:
        show_soundness(console, record)


def status_of(has_trouble: bool, interrupted: bool) -> int:
    """Return the exit status of a check."""
    if interrupted:
        return INTERRUPTED
    return FOUND if has_trouble else 0
