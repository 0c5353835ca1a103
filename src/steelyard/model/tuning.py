"""What `steelyard tune` changes on a machine, and the state before it, as kept on disk."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field, field_validator

from steelyard.model.parts import Record

TUNING_FORMAT: Final = "steelyard-tuning"
# The prefix of a setting that is not a file, but whether a service's process runs.
PROCESS: Final = "process:"


class Change(Record):
    """One setting of the machine."""

    code: str = Field(description="code of the operation that it belongs to, as docs/tune.md names it")
    setting: str = Field(description="file below /proc or /sys, without the slash at its beginning, or `process:NAME`")
    before: str
    after: str

    @field_validator("setting")
    @classmethod
    def _check_setting(cls, setting: str) -> str:
        """Accept only files below /proc and /sys, and processes: nothing else is ever changed, whatever a file says."""
        parts = setting.split("/")
        if not setting.startswith(PROCESS) and (parts[0] not in ("proc", "sys") or {"", ".", ".."} & {*parts}):
            raise ValueError("is no setting of a machine")
        return setting


class Tuning(Record):
    """All that was changed, or was about to be: written before the first change is made."""

    format: Literal["steelyard-tuning"] = TUNING_FORMAT
    version: Literal[1] = 1
    tool: str
    created: str = Field(description="when the machine was tuned, ISO 8601 in UTC")
    changes: list[Change] = Field(
        description="changes in the order in which they are made; they are undone in the opposite order"
    )
