"""The exit statuses that are not an error's own (`model.errors` has those). Imports little: `main` reads it."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.design.world import World
    from steelyard.model.gate import GateVerdict

SLOWER = 1
FOUND = 1
FAILED = 3
UNDECIDED = 4
INTERRUPTED = 130
BROKEN_PIPE = 141


def of_verdicts(verdicts: Collection[str], *, strict: bool) -> int:
    """The exit status of what was decided."""
    if "slower" in verdicts:
        return SLOWER
    return UNDECIDED if strict and "undecided" in verdicts else 0


def of_gate(verdict: GateVerdict, *, strict: bool) -> int:
    """The exit status of a gate."""
    if verdict == "undecided":
        return UNDECIDED if strict else 0
    return {"slower": SLOWER, "failed": FAILED, "passed": 0}[verdict]


def said_status(
    verdicts: Collection[str], world: World, *, strict: bool, beside_data: bool, only_by: str | None = None
) -> int:
    """The same; that something undecided has 0 is said as the last line.

    Nothing else is slower, or only by metrics beside the one that decides, `only_by`.
    """
    status = of_verdicts(verdicts, strict=strict)
    if status != of_verdicts(verdicts, strict=True):
        from steelyard.cli.screen import output
        from steelyard.report.sentences import not_strict
        from steelyard.report.verdicts import open_end

        said = not_strict() if only_by is None else not_strict(f"by {only_by}, which decides, nothing was found slower")
        open_end(output(world.environment, beside_data=beside_data), said)
    return status
