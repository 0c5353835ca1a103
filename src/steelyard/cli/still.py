"""`steelyard still`: a command under a clock that stands still while it waits for a processor."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.command import CommandOptions, command
from steelyard.cli.say import say

if TYPE_CHECKING:
    from steelyard.design.world import World
    from steelyard.measure.still import StillUse


_CLOCK_WENT_ON = ": the clock went on as usual there"


@dataclass(frozen=True, kw_only=True)
class StillOptions(CommandOptions):
    """The options of `still`."""

    words: Annotated[
        list[str],
        typer.Argument(metavar="COMMAND...", help="The command with its words, as it is called without steelyard."),
    ]


@command(
    StillOptions,
    examples=(
        "steelyard still -- python -m pytest --benchmark-only bench/",
        "steelyard still -- cargo bench",
    ),
    runs_words=True,
)
def still(options: StillOptions, world: World) -> int:
    """Run a command by a clock that stands still while it waits for a processor (steelyard docs still).

    For benchmarks with a harness and reports of their own, on a machine where others work too: what they time is less
    what they waited. Input and output are the command's; at the end a line on stderr says how much was left out.

    Exit status: the command's; 127 not found, 126 not executable, 128 and the signal that killed it; 2 wrong usage,
    3 the clock cannot stand still here.
    """
    from steelyard.measure.foreground import find_command
    from steelyard.measure.still import standing_still, use_in
    from steelyard.model.launch_spec import LaunchSpec

    world.sweep()
    program = find_command(options.words[0], world.search_path)
    spec = LaunchSpec(
        os.fsencode(program),
        tuple(map(os.fsencode, options.words)),
        tuple(os.fsencode(f"{name}={value}") for name, value in world.environment.items()),
    )
    with standing_still(spec) as (launch, account):
        status = world.foreground(launch)
        _say_clock_use(use_in(account), Path(program))
    return status


def _say_clock_use(use: StillUse | None, program: Path) -> None:
    """Say how much waiting the clocks left out, and which limits they ran into."""
    from steelyard.report.figures import count

    if use is None:
        say("how long the clock stood still is not known: the command has removed the file that says so")
        return
    limits = [
        f"  {count(processes, 'process')} {meaning}"
        for processes, meaning in (
            (use.several, f"asked for the time in several threads{_CLOCK_WENT_ON}"),
            (use.unknown, f"could not read the wait{_CLOCK_WENT_ON}"),
            (use.slow, "read the wait at every question, some 0.4 µs: shorter samples than 50 µs are too long by it"),
        )
        if processes
    ]
    if use.clocks:
        clocks = count(use.clocks, "process")
        together = "" if use.clocks == 1 else ", all together: those that start or build the benchmarks, too"
        say(f"the clock stood still for {use.left_out_ns / 1e9:.3f} s of waiting ({clocks}{together})", *limits)
    else:
        say(f"no clock stood still: {_why_no_clock_stood_still(use, program)}", *limits)


def _why_no_clock_stood_still(use: StillUse, program: Path) -> str:
    from steelyard.measure.heap import own_allocator
    from steelyard.measure.native import CLOCK
    from steelyard.measure.preloading import refusal

    if own_allocator(program) == "Go":
        return "programs in Go do not ask the C library for the time"
    if use.programs:
        # One that a command of root runs as another user may have asked, but cannot write to our account; and one that
        # is started with an environment of its own, as by tox, has the plain clock.
        return "nothing that ran as this user, and was passed LD_PRELOAD, asked the C library for the time"
    return refusal(program, CLOCK) or "no process has loaded the library that does it"
