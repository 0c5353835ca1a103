"""Any command that measures something itself and prints the time that it took (docs/adapters/shell.md)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.model.errors import LaunchError
from steelyard.subjects.harness import Harness, Listed, Work
from steelyard.subjects.responses import end_of_stdout, quoted, sample_of

if TYPE_CHECKING:
    from steelyard.model.launch_spec import LaunchSpec
    from steelyard.model.measured import Measured
    from steelyard.model.rows import Sample

NAME = "result"

_MOST_BYTES = 1 << 16
# The two characters for micro look the same, and both are in use.
_NS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "\N{GREEK SMALL LETTER MU}s": 1e3, "ms": 1e6, "s": 1e9}
_TIME = re.compile(rf"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?\s*({'|'.join(_NS)})?")
# Below this, decimals of a ns matter, so the time is kept as that of many iterations.
_SHORT_NS, _MANY = 1e6, 1_000_000


class Shell(Harness):
    """Drives a command that is one benchmark and prints its time as the last line."""

    fixes_loops = False
    samples_a_launch = 1
    tells_iterations = False

    def listing(self, launch: LaunchSpec) -> LaunchSpec:
        """Return a launch of nothing: there is just one benchmark, and running it to list it would be a waste."""
        return replace(launch, program=b"/bin/sh", argv=(b"sh", b"-c", b":"))

    def listed(self, measured: Measured) -> list[Listed]:
        """Return the one benchmark."""
        return [Listed(NAME)]

    def running(self, launch: LaunchSpec, work: Work) -> LaunchSpec:
        """Return the command as it is."""
        return replace(launch, stdout=_MOST_BYTES)

    def samples(self, measured: Measured, work: Work) -> tuple[Sample, ...]:
        """Return the time that it printed as a sample; raises LaunchError for anything else."""
        ns = printed_ns(end_of_stdout(measured))
        loops = 1 if ns >= _SHORT_NS else _MANY
        return (sample_of(loops, ns * loops),)


def printed_ns(text: str) -> float:
    """Return the time in ns in the last line of what a command printed; raises LaunchError if that is no time."""
    # A progress that a carriage return wrote over is on no screen.
    last = text.rstrip().rpartition("\n")[2].rpartition("\r")[2].strip()
    if not last:
        raise LaunchError(f"printed nothing: {_RULE}")
    match = _TIME.fullmatch(last)
    if not match:
        raise LaunchError(f"printed {quoted(last)} as its last line: {_RULE}")
    number, exponent, unit = match.groups()
    return float(f"{number}{exponent or ''}") * _NS[unit or "s"]


_RULE = "the last line has to be one number above 0, which is seconds, or has a unit: ns, us, ms or s"
