"""Calming the machine for as long as a command lasts, or beyond it, and restoring it whatever happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from steelyard import __version__
from steelyard.cli.say import say
from steelyard.cli.signals import before_ending, uninterrupted

if TYPE_CHECKING:
    from steelyard.design.world import World
    from steelyard.machine.tuning.tuner import Done, Tuner


@contextmanager
def tuned(wanted: bool, processor: int | None, world: World) -> Iterator[None]:
    """Tune the machine meanwhile, if `--tuned` asks for it; raise as `Tuner.tune` does, before anything is measured."""
    if not wanted:
        yield
        return
    tuner = world.tuner()
    with tuned_unless_ended(tuner, processor, world) as done:
        _say_refused_changes(done)
        try:
            yield
        finally:
            restore_machine(tuner)


def _say_refused_changes(done: Done) -> None:
    """Say what `--tuned` could not change; the report says what it did change."""
    if done.refused:
        first, wanted = done.refused[0], len(done.changes) + len(done.refused)
        codes = ", ".join(dict.fromkeys(one.change.code for one in done.refused))
        rest = "" if done.changes else "; nothing is tuned"
        say(f"--tuned: the system refused {len(done.refused)} of {wanted} changes ({codes}: {first.reason}){rest}")
    elif not done.changes:
        say("--tuned: there is nothing that this machine lets be changed")


@contextmanager
def tuned_unless_ended(tuner: Tuner, processor: int | None, world: World) -> Iterator[Done]:
    """Tune the machine and leave it so, unless a signal ends the command within this context: then restore it.

    Raises as `Tuner.tune` does.
    """
    with ExitStack() as lasting:
        with uninterrupted():
            done = tuner.tune(processor, tool=__version__, created=world.now().isoformat(timespec="seconds"))
            lasting.enter_context(before_ending(partial(restore_machine, tuner)))
        yield done


def restore_machine(tuner: Tuner) -> None:
    """Restore the machine, if it is tuned, and say what the system refuses."""
    with uninterrupted():
        if tuner.state() is not None:
            for refusal in tuner.restore().refused:
                say(f"{refusal.change.setting} could not be put back to {refusal.change.before}: {refusal.reason}")
