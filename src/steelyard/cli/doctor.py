"""`steelyard doctor`: what on this machine disturbs measurements."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from steelyard import __version__
from steelyard.cli.command import CommandOptions, command
from steelyard.cli.options import json_option
from steelyard.cli.outputs import as_json, check_writable, writing_files
from steelyard.cli.status import INTERRUPTED
from steelyard.model.errors import MeasurementError

if TYPE_CHECKING:
    from steelyard.design.world import World
    from steelyard.model.noise import Noise


@dataclass(frozen=True, kw_only=True)
class DoctorOptions(CommandOptions):
    """The options of `doctor`."""

    panel: ClassVar[str] = "What is looked at"

    measure: Annotated[
        bool,
        typer.Option(
            "--measure", help="Weigh identical programs too, for half a minute: how many pairs a change takes."
        ),
    ] = False
    json: Annotated[Path | None, json_option("Write the findings as JSON; - is stdout.")] = None


@command(
    DoctorOptions,
    examples=("steelyard doctor --json -", "steelyard doctor --measure"),
)
def doctor(options: DoctorOptions, world: World) -> int:
    """Find out what on this machine disturbs measurements, and what can be done about it (steelyard docs doctor).

    Nothing is changed, and no rights are needed. With --measure programs that are known are weighed against
    themselves, which tells how many pairs a change of 1 % will take here.

    Exit status: 0, whatever is found; 3 the programs of --measure cannot be run (all else is shown); 130 interrupted
    (what was measured by then is shown).
    """
    from steelyard.model.conditions import Examination
    from steelyard.report.doctor import show_examination

    check_writable(options.json)
    conditions, noise, failure = world.examine(), None, None
    if options.measure:
        from steelyard.design.noise.findings import findings

        try:
            noise = _measured_noise(world)
            conditions += findings(noise, conditions)
        except MeasurementError as error:
            failure = error
    found = Examination(
        tool=__version__,
        created=world.created(),
        machine=world.facts(),
        conditions=conditions,
        noise=noise,
    )
    with writing_files(world, (options.json, partial(as_json, found))) as console:
        show_examination(console, found)
    if failure is not None:
        raise failure
    return INTERRUPTED if noise is not None and noise.interrupted else 0


def _measured_noise(world: World) -> Noise:
    from steelyard.cli.say import say
    from steelyard.cli.screen import watching
    from steelyard.design.noise.plan import MEASURED_S
    from steelyard.design.noise.session import measure_noise

    sentence = f"weighs identical programs for about {MEASURED_S:.0f} seconds; Ctrl-C shows what was measured by then"
    with watching(world) as watch:
        return measure_noise(world, watch, partial(say, sentence))
