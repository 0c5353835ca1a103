"""`--tuned`: the machine is calmed for one command, and put back whatever comes of that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from steelyard import __version__
from steelyard.cli.outcome import uninterrupted
from steelyard.cli.say import say

if TYPE_CHECKING:
    from steelyard.design.world import World


@contextmanager
def tuned(wanted: bool, processor: int | None, world: World) -> Iterator[None]:
    """Tune the machine meanwhile, if that is wanted; raises as `Tuner.tune` before anything is measured."""
    if not wanted:
        yield
        return
    tuner = world.tuner()
    done = tuner.tune(processor, tool=__version__, created=world.now().isoformat(timespec="seconds"))
    if not (done.changes or done.refused):
        say("--tuned: there is nothing that this machine lets be changed")
    try:
        yield
    finally:
        with uninterrupted():
            if tuner.state() is not None:
                for one in tuner.restore().refused:
                    say(f"--tuned: {one.change.setting} could not be put back to {one.change.before}: {one.reason}")
