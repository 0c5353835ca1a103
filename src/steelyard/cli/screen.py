"""The terminal: verdicts on stdout, progress and errors on stderr."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from rich.console import Console

if TYPE_CHECKING:
    from steelyard.design.world import World
    from steelyard.report.live import LiveLine


class _Output(Console):
    @property
    def is_dumb_terminal(self) -> bool:
        # For rich a dumb terminal has 80 columns, whatever it and COLUMNS say. Its colours are left out by `output`.
        return False

    def on_broken_pipe(self) -> None:
        # Rich itself would exit with status 1, which would say `slower`.
        raise BrokenPipeError


def output(environment: Mapping[str, str], *, beside_data: bool = False) -> Console:
    """Return the console for verdicts: stdout, or stderr if data are printed on stdout.

    Names and numbers are shown unchanged: no markup, no emoji, no highlighting.
    """
    colours: Literal["auto"] | None = None if environment.get("NO_COLOR") or _is_dumb(environment) else "auto"
    # Where nobody knows the width, some containers and CI systems set it to 0, which rich would take for a width.
    stated = {name: value for name, value in environment.items() if name != "COLUMNS" or value.strip("0")}
    return _Output(
        stderr=beside_data,
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=False,
        color_system=colours,
        _environ=stated,
    )


def watching(world: World) -> LiveLine:
    """Return what shows the progress on stderr while a measurement runs: a live line, or in a log a line a minute."""
    from steelyard.report.live import LiveLine

    return LiveLine(sys.stderr, is_dumb=_is_dumb(world.environment), clock=world.clock)


def _is_dumb(environment: Mapping[str, str]) -> bool:
    return environment.get("TERM", "").lower() in ("dumb", "unknown")
