"""What `steelyard doctor` says about a machine: one condition for each thing that can disturb measurements."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from steelyard.model.machine import MachineFacts
from steelyard.model.noise import Noise
from steelyard.model.parts import Record

Severity = Literal["serious", "slight", "fine", "unknown"]


class Condition(Record):
    """One thing that was examined."""

    code: str = Field(description="code of what was examined, as docs/doctor.md names it")
    severity: Severity = Field(description="how much it disturbs measurements; unknown where the system does not tell")
    evidence: str = Field(description="what was seen")
    remedy: str = Field(
        default="",
        description="what can be done about it, with commands in all lines but the first; empty where nothing has "
        "to be done",
    )


class Examination(Record):
    """All that was examined on one machine."""

    format: Literal["steelyard-doctor"] = "steelyard-doctor"
    version: Literal[1] = 1
    tool: str = Field(description="version of Steelyard that examined")
    created: str = Field(description="when it was examined, ISO 8601 in UTC")
    machine: MachineFacts
    conditions: list[Condition]
    noise: Noise | None = Field(default=None, description="noise that was measured; null if that was not asked for")

    def of(self, severity: Severity) -> list[Condition]:
        """The conditions of one severity, in the order in which they were examined."""
        return [one for one in self.conditions if one.severity == severity]
