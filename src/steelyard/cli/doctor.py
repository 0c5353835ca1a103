"""`steelyard doctor`: what on this machine disturbs measurements."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from steelyard import __version__
from steelyard.cli.command import Options, command
from steelyard.cli.outputs import check_writable, is_printed, write

if TYPE_CHECKING:
    from steelyard.design.world import World


@dataclass(frozen=True, kw_only=True)
class DoctorOptions(Options):
    """What `doctor` is asked."""

    panel: ClassVar[str] = "Output"

    json: Annotated[
        Path | None, typer.Option("--json", "-o", metavar="FILE", help="Write the findings as JSON; - is stdout.")
    ] = None


@command(DoctorOptions, examples=("steelyard doctor", "steelyard doctor --json -"))
def doctor(options: DoctorOptions, world: World) -> int:
    """Look what on this machine disturbs measurements, and what can be done about it (steelyard docs doctor).

    Nothing is changed, and no rights are needed. Exit status: 0, whatever is found.
    """
    from steelyard.cli.screen import output
    from steelyard.model.conditions import Examination
    from steelyard.report.doctor import examination

    check_writable(options.json)
    found = Examination(
        tool=__version__,
        created=world.now().isoformat(timespec="seconds"),
        machine=world.facts(),
        conditions=world.examine(),
    )
    if options.json is not None:
        write(options.json, f"{json.dumps(found.model_dump(mode='json'), indent=1)}\n")
    examination(output(world.environment, beside_data=is_printed(options.json)), found)
    return 0
