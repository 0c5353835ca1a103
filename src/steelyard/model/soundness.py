"""What `steelyard check` says about benchmarks: one finding per rule and benchmark, with its figure and threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from steelyard.model.findings import Finding
from steelyard.model.parts import Record

Outcome = Literal["sound", "trouble", "untried"]


class Looked(Record):
    """One rule that was tried on one benchmark."""

    code: str = Field(description="code of the rule, as docs/check.md names it")
    benchmark: str
    outcome: Outcome
    finding: str = Field(description="what was seen, or why the rule was not tried")
    figure: float | None = Field(default=None, description="what was measured, in `unit`; null if there is no figure")
    threshold: float | None = Field(
        default=None, description="figure at which trouble begins, in `unit`; null if there is none"
    )
    unit: str = Field(default="", description="unit of `figure` and `threshold`; empty for a ratio")
    origin: str = Field(default="", description="where the threshold comes from")
    remedy: str = Field(default="", description="what to do about it; empty where nothing is to be done")


class Allocating(Record):
    """What a benchmark requests from the allocator; null where nothing was seen, and `note` says why."""

    benchmark: str
    each: Literal["iteration", "launch"] = Field(
        description="what the numbers are of: an iteration, or a launch of a command"
    )
    allocations: float | None = Field(default=None, description="number of blocks handed out")
    bytes: float | None = Field(default=None, description="number of bytes requested")
    kept: float | None = Field(
        default=None,
        description="number of blocks that are never given back",
    )
    share: float | None = Field(
        default=None, description="estimated share of the processor time that was spent in the allocator"
    )
    iterations: int = Field(
        default=0, description="number of iterations that the numbers are the mean of; 0 for a launch"
    )
    note: str = Field(
        default="",
        description="what of the benchmark's memory is missing in the numbers, or why there are none; empty if "
        "nothing is missing",
    )


class Soundness(Record):
    """All that was checked in one target."""

    format: Literal["steelyard-check"] = "steelyard-check"
    version: Literal[1] = 1
    tool: str = Field(description="version of Steelyard that checked")
    command: str
    harness: str | None = Field(default=None, description="name of what drove its benchmarks; null for a plain command")
    benchmarks: list[str]
    launches: int = Field(description="number of processes that were started")
    seconds: float
    interrupted: bool = Field(default=False, description="whether the user stopped it before all rules were tried")
    looked: list[Looked]
    allocating: list[Allocating] = Field(
        default_factory=list, description="what each benchmark allocates; empty without --heap"
    )
    findings: list[Finding] = Field(
        default_factory=list, description="what the user should know about the revision that was checked"
    )

    def troubles(self) -> list[Looked]:
        """The rules that do not hold."""
        return [one for one in self.looked if one.outcome == "trouble"]


@dataclass(frozen=True)
class Checked:
    """One rule of the protocol that was tried; `trouble` says what was seen if it does not hold."""

    rule: str
    trouble: str | None
