"""What records of all kinds have in common: their format, verdicts by name, and findings."""

from __future__ import annotations

import os
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict

FORMAT: Final = "steelyard"
VERSION: Final = 2
# The code of the finding that both sides are one program.
IDENTICAL: Final = "identical"

VerdictName = Literal["slower", "faster", "same", "undecided"]


_DISABLE = "PYDANTIC_DISABLE_PLUGINS"


class Record(BaseModel):
    """What is kept, or a part of it."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @classmethod
    def model_rebuild(cls, **options: Any) -> bool | None:
        """As pydantic does; but without the plugins of whatever is installed here: to look for any takes 10 ms."""
        before = os.environ.get(_DISABLE)
        os.environ[_DISABLE] = "1"
        try:
            return super().model_rebuild(**options)
        finally:
            os.environ.pop(_DISABLE)
            os.environ.update({} if before is None else {_DISABLE: before})


class Finding(Record):
    """Something the user should know: a stable code, what was seen, and the remedy if there is one."""

    code: str
    message: str
    remedy: str | None = None
