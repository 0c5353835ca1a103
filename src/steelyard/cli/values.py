"""How the words of an option are read (by `model/values.py`), where its type alone does not say it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ReadBy:
    """Beside the type of an option: what reads its words."""

    read: Callable[[str, str], Any]
    """read(option, text); raises UsageError naming the option."""
