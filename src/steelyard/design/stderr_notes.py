"""What commands wrote to standard error in launches that ended well: what failed there is measured all the same."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from steelyard.design.findings import findings_by_name, some_names
from steelyard.model.findings import SAID_BY_ONE, SAID_BY_SET_UP, SAID_FAILURE, Finding
from steelyard.model.measured import Measured
from steelyard.model.records import Run, Weighing
from steelyard.model.secrecy import without_secrets
from steelyard.model.sides import side_names
from steelyard.report.endings import first_failure_line, reads_like_failure

# How much of a line is quoted, in characters.
_MOST_CHARACTERS_QUOTED = 200
_WROTE = "wrote to standard error"
_QUOTING_CODES = (SAID_BY_ONE, SAID_BY_SET_UP, SAID_FAILURE)
_ENVIRONMENT_HINT = "; a launch sees only a small environment (--inherit-env passes on all of it)"


@dataclass
class _SideNotes:
    """What the launches of one side of a benchmark wrote."""

    launches: int = 0
    wrote: int = 0
    complained: int = 0
    text: bytes = b""
    """What was written last; most launches write it again."""
    is_complaint: bool = False
    line: str = ""
    """A line that was written: one that tells of a failure, if there is one."""

    def take(self, text: bytes, *, is_cut: bool) -> None:
        self.launches += 1
        if not text.strip():
            return
        self.wrote += 1
        if text != self.text:
            self.text, self.is_complaint = text, reads_like_failure(text.decode(errors="replace"))
        if not self.line or (self.is_complaint and not self.complained):
            self.line = _telling_line(text, is_cut=is_cut)
        self.complained += self.is_complaint


@dataclass
class StderrNotes:
    """What each side of each benchmark wrote to standard error: no more than one text per side."""

    _sides: dict[tuple[int, int], _SideNotes] = field(default_factory=dict)

    def take(self, benchmark: int, side: int, measured: Measured) -> None:
        """Note what a launch that is kept wrote; a failed one, where failures are accepted, is reported elsewhere."""
        if measured.has_failed():
            return
        text = measured.stderr or b""
        is_cut = (measured.stderr_bytes or 0) > len(text)
        self._sides.setdefault((benchmark, side), _SideNotes()).take(text, is_cut=is_cut)

    def findings(self, record: Weighing | Run) -> list[Finding]:
        """Return findings on commands that report a failure, or of which one side alone writes anything.

        A harness may write what it likes. `record` is as it was at the beginning, or when it was carried on.
        """
        if record.settings.harness is not None:
            return []
        found = [
            (one.name, finding)
            for number, one in enumerate(record.benchmarks)
            if (finding := self._benchmark_finding(number, record)) is not None
        ]
        return findings_by_name(found, record.benchmarks)

    def _benchmark_finding(self, benchmark: int, record: Weighing | Run) -> Finding | None:
        sides = {name: self._sides.get((benchmark, side), _SideNotes()) for side, name in enumerate(side_names(record))}
        if record.benchmarks[benchmark].control or not all(one.launches for one in sides.values()):
            return None
        writers = {name: one for name, one in sides.items() if one.complained} or _only_writing_side(sides)
        if not writers:
            return None
        compares = "" if record.settings.reference_output else " (--reference-output compares what they print)"
        expectation = f"both sides do the same work{compares}" if len(sides) > 1 else "it did the work that you mean"
        complained = any(one.complained for one in writers.values())
        hint = _ENVIRONMENT_HINT if complained else ""
        # What was written before that is in no journal.
        since = "since this was carried on " if len(record.launches) else ""
        return Finding(
            code=SAID_FAILURE if complained else SAID_BY_ONE,
            message=f"{since}{_describe_writers(writers, sides)}",
            remedy=f"what a launch did is not looked at: make sure that {expectation}{hint}",
        )


def failure_of_baseline_alone(findings: Sequence[Finding], candidates: Sequence[str]) -> str | None:
    """Return what every launch of the baseline wrote of a failure, if none of these candidates wrote any; else None."""
    messages = [one.message for one in findings if one.code == SAID_FAILURE]
    beginning = f"{some_names(candidates)}: every launch of the baseline, none of the candidate, {_WROTE}: "
    return messages[0].removeprefix(beginning) if len(messages) == 1 and messages[0].startswith(beginning) else None


def set_up_findings(each: Sequence[tuple[str, bytes]]) -> list[Finding]:
    """Return findings on set-up commands that report a failure, but ended as if there was none.

    `each` has a command and what it wrote.
    """
    complained = [(command, text) for command, text in each if reads_like_failure(text.decode(errors="replace"))]
    return [
        Finding(
            code=SAID_BY_SET_UP,
            message=f"--setup {command} {_WROTE}: {_telling_line(text, is_cut=False)}",
            remedy="it ended with status 0, so what followed was measured: make sure that all of it did what you mean",
        )
        for command, text in complained
    ]


def without_secret_values(findings: Sequence[Finding], environment: Mapping[str, str]) -> list[Finding]:
    """Return the findings, with quoted lines rid of values of the `environment` that look like secrets."""
    variables = [os.fsencode(f"{name}={value}") for name, value in environment.items()]
    return [
        replace(one, message=without_secrets(one.message, variables)) if one.code in _QUOTING_CODES else one
        for one in findings
    ]


def _only_writing_side(sides: dict[str, _SideNotes]) -> dict[str, _SideNotes]:
    """Return the one of two sides that writes in at least half of its launches, if the other one never does."""
    frequent = {name: one for name, one in sides.items() if 2 * one.wrote >= one.launches and one.wrote}
    return frequent if len(sides) == 2 and sum(one.wrote > 0 for one in sides.values()) == 1 else {}


def _describe_writers(writers: dict[str, _SideNotes], sides: dict[str, _SideNotes]) -> str:
    """Say who wrote what, and how often."""
    lines = {one.line for one in writers.values()}
    if len(writers) == 2 and len(lines) == 1 and all(one.complained == one.launches for one in writers.values()):
        return f"every launch of either side {_WROTE}: {lines.pop()}"
    silent = "".join(f", none of the {name}," for name, one in sides.items() if not one.wrote)
    each = [
        f"{_launch_count(one)}{f' of the {name}' if len(sides) > 1 else ''}{silent} {_WROTE}: {one.line}"
        for name, one in writers.items()
    ]
    return "; ".join(each)


def _launch_count(one: _SideNotes) -> str:
    number = one.complained or one.wrote
    return "every launch" if number == one.launches else f"{number:,} of {one.launches:,} launches"


def _telling_line(text: bytes, *, is_cut: bool) -> str:
    """Return the first line that tells of a failure, else the first, in quotes; not one whose beginning is cut off."""
    lines = [line for line in text.decode(errors="replace").splitlines() if line.strip()]
    whole = lines[1:] if is_cut and len(lines) > 1 else lines
    line = (first_failure_line(whole) or whole[0]).strip()
    return f"'{line}'" if len(line) <= _MOST_CHARACTERS_QUOTED else f"'{line[:_MOST_CHARACTERS_QUOTED]}…'"
