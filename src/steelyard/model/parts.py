"""The base class of every part of a record: a pydantic model that is built when it is first needed."""

from __future__ import annotations

import os
from threading import RLock
from typing import Any

from pydantic import BaseModel, ConfigDict

_DISABLE = "PYDANTIC_DISABLE_PLUGINS"
# All threads share one environment. Building one model builds others within it, hence the reentrant lock.
_BUILDING = RLock()


class Record(BaseModel):
    """A record that is kept, or a part of one."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @classmethod
    def model_rebuild(cls, **options: Any) -> bool | None:
        """Build the model without the pydantic plugins of installed packages: looking for any takes 10 ms."""
        with _BUILDING:
            before = os.environ.get(_DISABLE)
            os.environ[_DISABLE] = "1"
            try:
                return super().model_rebuild(**options)
            finally:
                os.environ.pop(_DISABLE)
                os.environ.update({} if before is None else {_DISABLE: before})


def is_empty(value: object) -> bool:
    """Whether a field is empty: it is then left out, so that a record without it is as before the field existed."""
    return not value


def are_alike(one: BaseModel, other: BaseModel) -> bool:
    """Whether all fields are equal. Pydantic's own comparison includes cached arrays, which have no truth value."""
    return all(getattr(one, name) == getattr(other, name) for name in type(one).model_fields)
