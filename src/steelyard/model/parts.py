"""What every part of a record is: a model of pydantic's, made when it is needed first."""

from __future__ import annotations

import os
from threading import RLock
from typing import Any

from pydantic import BaseModel, ConfigDict

_DISABLE = "PYDANTIC_DISABLE_PLUGINS"
# The environment is that of all threads. One model has others be made within it.
_BUILDING = RLock()


class Record(BaseModel):
    """What is kept, or a part of it."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @classmethod
    def model_rebuild(cls, **options: Any) -> bool | None:
        """As pydantic does; but without the plugins of whatever is installed here: to look for any takes 10 ms."""
        with _BUILDING:
            before = os.environ.get(_DISABLE)
            os.environ[_DISABLE] = "1"
            try:
                return super().model_rebuild(**options)
            finally:
                os.environ.pop(_DISABLE)
                os.environ.update({} if before is None else {_DISABLE: before})


def are_alike(one: BaseModel, other: BaseModel) -> bool:
    """Whether all fields are equal. Pydantic compares what was computed of them first: arrays have no truth for it."""
    return all(getattr(one, name) == getattr(other, name) for name in type(one).model_fields)
