"""What `steelyard doctor` says about a machine: one condition for each thing that can disturb measurements."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from steelyard.model.machine import MachineFacts
from steelyard.model.noise import Noise
from steelyard.model.parts import Record

DOCTOR_FORMAT: Final = "steelyard-doctor"

Severity = Literal["serious", "slight", "fine", "unknown"]


class Condition(Record):
    """One thing that was examined."""

    code: str = Field(description="what was looked at, as docs/doctor.md names it")
    severity: Severity = Field(description="how much it disturbs; unknown where the system does not tell")
    evidence: str = Field(description="what was seen")
    remedy: str = Field(
        default="",
        description="what can be done about it, its lines behind the first commands; empty where nothing has to be",
    )


class Examination(Record):
    """All that was examined on one machine."""

    format: Literal["steelyard-doctor"] = DOCTOR_FORMAT
    version: Literal[1] = 1
    tool: str = Field(description="the Steelyard version that looked")
    created: str = Field(description="when, UTC, ISO 8601")
    machine: MachineFacts
    conditions: list[Condition]
    noise: Noise | None = Field(default=None, description="what was measured, where that was asked for")

    def of(self, severity: Severity) -> list[Condition]:
        """The conditions of one severity, in the order in which they were examined."""
        return [one for one in self.conditions if one.severity == severity]
