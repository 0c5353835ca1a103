"""What is written to the driver: JSON objects, one a line, all at once when there is nothing left to measure."""

from __future__ import annotations

import os

# The encoder of json without json itself, which would take half as long to import as Python takes to start.
from _json import encode_basestring_ascii as _text

from steelyard.harness.arguments import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from steelyard.harness.entry import Entry
    from steelyard.harness.worker import Sample

# The package's version stands here once more, and a test holds both together: the harness imports nothing above it.
_HARNESS = "steelyard.harness 0.1.0"


class Response:
    """Lines that wait for the end: a driver that is woken in between would disturb what is measured."""

    def __init__(self, fd: int, *, inside: str = "", before: bool = False) -> None:
        self.fd, self._process = fd, os.getpid()
        harness = _text(_HARNESS + inside)
        able = "".join(f', "{name}": true' for name in (*(["before"] if before else ()), "lockstep", "each"))
        self._lines = [f'{{"steelyard": {VERSION}, "harness": {harness}, "language": "Python"{able}}}']
        self.failed = False

    def list(self, entry: Entry) -> None:
        """One benchmark of the list."""
        fields = [f'"benchmark": {_text(entry.name)}']
        if entry.params:
            params = ", ".join(f"{_text(name)}: {_text(value)}" for name, value in entry.params.items())
            fields.append(f'"params": {{{params}}}')
        if entry.tags:
            fields.append(f'"tags": [{", ".join(map(_text, entry.tags))}]')
        fields.append(f'"source": {_text(entry.source)}')
        self._lines.append(f"{{{', '.join(fields)}}}")

    def sample(self, sample: Sample) -> None:
        """One sample."""
        fields = f'"loops": {sample.loops}, "ns": {sample.ns}'
        if sample.cpu_ns is not None:
            fields += f', "cpu_ns": {sample.cpu_ns}'
        if sample.delay_ns is not None:
            fields += f', "delay_ns": {sample.delay_ns}'
        if sample.order is not None:
            fields += f', "order": {sample.order}'
        self._lines.append(f"{{{fields}}}")

    def part(self, told: dict[str, Any]) -> None:
        """What came of one of several benchmarks: the numbers of its process, and its own response."""
        numbers = ", ".join(f'"{name}": {"null" if n is None else n}' for name, n in told["numbers"].items())
        self._lines.append(f'{{"numbers": {{{numbers}}}, "results": {_text(told["results"])}}}')

    def error(self, message: str) -> None:
        """What went wrong."""
        self.failed = True
        readable = message.encode(errors="backslashreplace").decode()  # file names may be no text
        self._lines.append(f'{{"error": {_text(readable)}}}')

    def send(self) -> None:
        """Write all of it, in the process that was asked: a body that forks may come by here twice.

        Raises OSError if nobody reads it.
        """
        if os.getpid() != self._process:
            return
        left = memoryview(("\n".join([*self._lines, '{"end": true}']) + "\n").encode())
        while left:
            left = left[os.write(self.fd, left) :]
