"""What a look at a program found: one rule, and whether it holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Checked:
    """One rule that was tried; `trouble` says what was seen where it does not hold."""

    rule: str
    trouble: str | None
