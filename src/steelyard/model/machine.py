"""The machine that something was measured on."""

from __future__ import annotations

from pydantic import Field

from steelyard.model.numbers import Count
from steelyard.model.parts import Record


class MachineFacts(Record):
    """One host. `key` is made of stable facts only: model, cores, caches, microcode; never clock rates.

    `aslr` is the kernel's `randomize_va_space`: 0 where addresses are not randomised. What the machine does not tell is
    null or empty.
    """

    key: str
    cpu_model: str
    architecture: str
    cores_logical: Count
    cores_physical: Count | None = None
    caches: dict[str, str] = Field(
        default_factory=dict, description='sizes of the caches by level and kind, e.g. "L1d": "48K"'
    )
    microcode: str | None = None
    memory_bytes: Count | None = Field(
        default=None,
        description="memory that may be used, in bytes: all that the machine has, or what its control group is "
        "limited to; null if unknown",
    )
    kernel: str = ""
    libc: str = ""
    virtualization: str | None = None
    governor: str | None = None
    clock_source: str | None = None
    aslr: Count | None = None
    offers: dict[str, bool] = Field(
        default_factory=dict, description="what the launch server can do or measure on this machine, by name"
    )
