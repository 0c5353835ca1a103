"""The exit statuses other than those of errors (`model.errors` has these). Imports little: `main` reads it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.design.world import World
    from steelyard.model.errors import SteelyardError
    from steelyard.model.gate import GateVerdict

SLOWER = 1
FOUND = 1
FAILED = 3
UNDECIDED = 4
INTERRUPTED = 130
BROKEN_PIPE = 141


def status_of_errors(errors: Sequence[SteelyardError]) -> int:
    """Return the exit status of several errors, of which a failed measurement weighs most."""
    return FAILED if any(error.exit_status == FAILED for error in errors) else errors[0].exit_status


def status_of_gate(verdict: GateVerdict, *, strict: bool) -> int:
    """Return the exit status of a gate."""
    if verdict == "undecided":
        return UNDECIDED if strict else 0
    return {"slower": SLOWER, "failed": FAILED, "passed": 0}[verdict]


def announced_status(
    verdicts: Collection[str], world: World, *, strict: bool, beside_data: bool, only_by: str | None = None
) -> int:
    """Return the exit status of these verdicts; if it is 0 despite something undecided, say so as the last line.

    That line says that nothing was found slower. With `only_by`, the deciding metric, it says so of that metric alone,
    as another one found something slower.
    """
    if "slower" in verdicts:
        return SLOWER
    if "undecided" in verdicts:
        if strict:
            return UNDECIDED
        from steelyard.cli.screen import output
        from steelyard.report.sentences import status_sentence
        from steelyard.report.verdicts import print_exit_status_note

        sentence = (
            status_sentence()
            if only_by is None
            else status_sentence(f"by {only_by}, which decides, nothing was found slower")
        )
        print_exit_status_note(output(world.environment, beside_data=beside_data), sentence)
    return 0
