"""How a process ended that failed, in words."""

from __future__ import annotations

from signal import Signals


def how_it_failed(exit_code: int | None, signal: int | None) -> str | None:
    """What it did, as a clause; None where it ended by itself with exit status 0."""
    if signal is not None:
        likely = ", as by the kernel where memory runs out" if signal == Signals.SIGKILL else ""
        return f"was killed by {signal_name(signal)}{likely}"
    return f"failed with exit status {exit_code}" if exit_code else None


def how_it_ended_badly(status: int) -> str | None:
    """The same of a status that is negative where a signal ended it."""
    return how_it_failed(None, -status) if status < 0 else how_it_failed(status, None)


def signal_name(number: int) -> str:
    """What a signal is called; its number, where it has no name."""
    try:
        return Signals(number).name
    except ValueError:
        return f"signal {number}"
