"""What `steelyard check` says of benchmarks: one finding a rule and benchmark, with its figure and its threshold."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

CHECK_FORMAT: Final = "steelyard-check"

Outcome = Literal["sound", "trouble", "untried"]


class Looked(BaseModel):
    """One rule that was tried on one benchmark."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    code: str = Field(description="the rule, as docs/check.md names it")
    benchmark: str
    outcome: Outcome
    finding: str = Field(description="what was seen, or why it was not tried")
    figure: float | None = Field(default=None, description="what was measured, in `unit`")
    threshold: float | None = Field(default=None, description="where trouble begins, in `unit`")
    unit: str = Field(default="", description="of figure and threshold; empty for a ratio")
    origin: str = Field(default="", description="where the threshold comes from")
    remedy: str = Field(default="", description="what to do about it")


class Soundness(BaseModel):
    """All that was looked at in one target."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["steelyard-check"] = CHECK_FORMAT
    version: Literal[1] = 1
    tool: str = Field(description="the Steelyard version that looked")
    command: str
    harness: str | None = Field(default=None, description="how its benchmarks were driven; null for a plain command")
    benchmarks: list[str]
    launches: int = Field(description="how many processes were started")
    seconds: float
    looked: list[Looked]

    def troubles(self) -> list[Looked]:
        """The rules that do not hold."""
        return [one for one in self.looked if one.outcome == "trouble"]
