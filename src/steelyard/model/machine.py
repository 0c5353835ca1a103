"""The machine that something was measured on."""

from __future__ import annotations

from pydantic import Field

from steelyard.model.numbers import Count
from steelyard.model.parts import Record


class MachineFacts(Record):
    """One host. `key` is made of stable facts only: model, cores, caches, microcode; never clock rates."""

    key: str
    cpu_model: str
    architecture: str
    cores_logical: Count
    cores_physical: Count | None = None
    caches: dict[str, str] = Field(default_factory=dict, description='level and kind to size, e.g. "L1d": "48K"')
    microcode: str | None = None
    memory_bytes: Count | None = Field(default=None, description="as much as the control group may use of it")
    kernel: str = ""
    libc: str = ""
    virtualization: str | None = None
    governor: str | None = None
    clock_source: str | None = None
    aslr: Count | None = None
    offers: dict[str, bool] = Field(default_factory=dict, description="what the launcher can do here")
