"""The terminal: verdicts on stdout, progress and errors on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from steelyard.report.live import LiveLine


def output() -> Console:
    """The console for verdicts. Names and numbers are shown as they are: no markup, no emoji, no highlighting."""
    return Console(markup=False, emoji=False, highlight=False, soft_wrap=False)


@contextmanager
def watching() -> Iterator[LiveLine]:
    """The live line on stderr while a measurement runs; silent where stderr is no terminal."""
    with LiveLine(sys.stderr) as line:
        yield line
