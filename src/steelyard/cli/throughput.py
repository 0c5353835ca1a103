"""The options that say what is processed, for a throughput. Imports nothing heavy: `--help` reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from steelyard.cli.command import Options
from steelyard.model.errors import UsageError
from steelyard.model.values import quantity_of_items, size_in_bytes

if TYPE_CHECKING:
    from steelyard.model.throughput import Processed


@dataclass(frozen=True, kw_only=True)
class ThroughputOptions(Options):
    """What a launch processes, or with a harness an iteration."""

    panel: ClassVar[str] = "What is run"

    processed_bytes: Annotated[
        str | None,
        typer.Option(
            "--bytes",
            metavar="N",
            help="Each run of the command (with --harness, each iteration) processes N bytes, as in 64M or {size}: "
            "bytes a second are shown.",
        ),
    ] = None
    processed_items: Annotated[
        str | None,
        typer.Option("--items", metavar="N", help="The same of items of any kind: items a second are shown."),
    ] = None

    def processed(self, params: Mapping[str, str] | None = None) -> list[Processed]:
        """What was said, with the values of {name} filled in; raises UsageError for what is no amount."""
        from steelyard.model.throughput import processed_of

        told = {}
        for unit, text, read in (
            ("bytes", self.processed_bytes, size_in_bytes),
            ("items", self.processed_items, quantity_of_items),
        ):
            if text is None:
                continue
            for name, value in (params or {}).items():
                text = text.replace(f"{{{name}}}", value)
            amount = read(f"--{unit}", text)
            if amount <= 0:
                raise UsageError(f"--{unit} {text} leaves nothing to be processed: say how many each run processes")
            told[unit] = float(amount)
        return processed_of(told)
