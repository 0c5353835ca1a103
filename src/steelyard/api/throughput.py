"""What is processed, for a throughput: as it is asked, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from steelyard.api.asked import Throughput
from steelyard.model.errors import UsageError
from steelyard.model.placeholders import with_values
from steelyard.model.values import quantity_of_items, size_in_bytes

if TYPE_CHECKING:
    from steelyard.model.throughput import Processed


def processed(asked: Throughput, params: Mapping[str, str] | None = None) -> list[Processed]:
    """What was said, with the values of {name} filled in; raises UsageError for what is no amount."""
    from steelyard.model.throughput import processed_of

    told = {}
    for unit, text, read in (
        ("bytes", asked.processed_bytes, size_in_bytes),
        ("items", asked.processed_items, quantity_of_items),
    ):
        if text is None:
            continue
        text = with_values(text, params or {})
        amount = read(f"--{unit}", text)
        if amount <= 0:
            raise UsageError(f"--{unit} {text} leaves nothing to be processed: say how many each run processes")
        told[unit] = float(amount)
    return processed_of(told)
