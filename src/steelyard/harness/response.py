"""The response to the driver: JSON objects, one per line, written all at once when nothing is left to measure."""

from __future__ import annotations

import os

# json's encoder without json itself, whose import would take half as long as Python's start.
from _json import encode_basestring_ascii as _text

from steelyard.harness.arguments import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from steelyard.harness.entry import Entry
    from steelyard.harness.worker import Sample

# Repeats the package's version, as the harness imports nothing from above itself; a test holds both equal.
_HARNESS = "steelyard.harness 0.1.0"
_SKIPPED = ', "skipped": true'


class Response:
    """Lines that are kept until the end: waking the driver in between would disturb what is measured."""

    def __init__(self, fd: int, *, inside: str = "", before: bool = False) -> None:
        self.fd, self._process = fd, os.getpid()
        harness = _text(_HARNESS + inside)
        abilities = "".join(f', "{name}": true' for name in (*(["before"] if before else ()), "lockstep", "each"))
        self._lines = [f'{{"steelyard": {VERSION}, "harness": {harness}, "language": "Python"{abilities}}}']
        self.failed = False

    def list(self, entry: Entry) -> None:
        """Add a benchmark to the list."""
        fields = [f'"benchmark": {_text(entry.name)}']
        if entry.params:
            params = ", ".join(f"{_text(name)}: {_text(value)}" for name, value in entry.params.items())
            fields.append(f'"params": {{{params}}}')
        if entry.tags:
            fields.append(f'"tags": [{", ".join(map(_text, entry.tags))}]')
        fields.append(f'"source": {_text(entry.source)}')
        self._lines.append(f"{{{', '.join(fields)}}}")

    def sample(self, sample: Sample) -> None:
        """Add a sample."""
        fields = f'"loops": {sample.loops}, "ns": {sample.ns}'
        if sample.cpu_ns is not None:
            fields += f', "cpu_ns": {sample.cpu_ns}'
        if sample.delay_ns is not None:
            fields += f', "delay_ns": {sample.delay_ns}'
        if sample.order is not None:
            fields += f', "order": {sample.order}'
        self._lines.append(f"{{{fields}}}")

    def part(self, outcome: dict[str, Any]) -> None:
        """Add the outcome of one of several benchmarks: the numbers of its process, and its own response."""
        numbers = ", ".join(
            f'"{name}": {"null" if number is None else number}' for name, number in outcome["numbers"].items()
        )
        self._lines.append(f'{{"numbers": {{{numbers}}}, "results": {_text(outcome["results"])}}}')

    def error(self, message: str, *, skipped: bool = False) -> None:
        """Add what went wrong, or why a benchmark is skipped."""
        self.failed = True
        readable = message.encode(errors="backslashreplace").decode()  # file names may be invalid Unicode
        self._lines.append(f'{{"error": {_text(readable)}{_SKIPPED if skipped else ""}}}')

    def send(self) -> None:
        """Write all lines, but only in the process that was asked: a body that forks may get here twice.

        Raises OSError if nobody reads them.
        """
        if os.getpid() != self._process:
            return
        remaining = memoryview(("\n".join([*self._lines, '{"end": true}']) + "\n").encode())
        while remaining:
            remaining = remaining[os.write(self.fd, remaining) :]
