"""What records of all kinds have in common: their format, verdicts by name, and findings."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

FORMAT: Final = "steelyard"
VERSION: Final = 2
# The code of the finding that both sides are one program.
IDENTICAL: Final = "identical"

VerdictName = Literal["slower", "faster", "same", "undecided"]


class Record(BaseModel):
    """What is kept, or a part of it."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Finding(Record):
    """Something the user should know: a stable code, what was seen, and the remedy if there is one."""

    code: str
    message: str
    remedy: str | None = None
