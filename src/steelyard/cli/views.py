"""The options for what `show` draws, in which order and units. Imports nothing heavy: `--help` reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from steelyard.cli.command import CommandOptions, ReadBy
from steelyard.cli.options import OUTPUT
from steelyard.cli.say import say
from steelyard.model.errors import UsageError
from steelyard.model.metrics import Unit
from steelyard.model.units import UNITS, units_of

if TYPE_CHECKING:
    from steelyard.design.outcome import Outcome
    from steelyard.model.foreign import ForeignResults


ShownUnits = Annotated[
    Mapping[Unit, str] | None,
    typer.Option(
        "--unit",
        metavar="UNIT[,UNIT]",
        rich_help_panel=OUTPUT,
        help="Show all values in this unit: ns, us, ms, s; of sizes B, KiB, MiB, GiB; of counts 1, k, M, G.  "
        "[default: what suits each value]",
    ),
    ReadBy(units_of),
]


@contextmanager
def in_units(units: Mapping[Unit, str] | None) -> Iterator[None]:
    """Show all values in these units; at the end, name a unit that no value has."""
    from steelyard.report.figures import in_chosen_units

    with in_chosen_units(units or {}) as shown:
        yield
    for unit in shown.unused():
        known = ", ".join(name for kind in sorted(shown.kinds) for name in UNITS[kind]).replace("µs", "us")
        say(f"--unit {unit} fits nothing that is shown here: choose from {known}")


@dataclass(frozen=True, kw_only=True)
class ViewOptions(CommandOptions):
    """What is drawn of the launches, in place of the report."""

    panel: ClassVar[str] = "What is shown"

    hist: Annotated[
        bool, typer.Option("--hist", help="Histograms in the terminal's width, of both sides on one axis.")
    ] = False
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Each pair: its change on a line, the order, and what disturbed it.")
    ] = False
    runs: Annotated[
        bool, typer.Option("--runs", help="Each launch: its value, wait, switches, page faults, as a table.")
    ] = False
    benchmark: Annotated[
        list[str] | None,
        typer.Option(
            "--benchmark", "-b", metavar="PATTERN", help="Draw only benchmarks of this name; * and ? as in a shell."
        ),
    ] = None
    sort: Annotated[
        str | None,
        typer.Option(
            metavar="BY",
            help="Benchmarks by change (the largest slowdown first), by name, or by verdict.  "
            "[default: as they were measured]",
        ),
    ] = None

    def views(self) -> list[str]:
        """Return the names of the requested views, in the order in which they are shown."""
        from steelyard.report.views import VIEWS

        return [view for view in VIEWS if getattr(self, view.removeprefix("--"))]

    def check(self) -> None:
        """Raise UsageError for what no record could show."""
        from steelyard.report.order import ORDERS

        if self.sort is not None and self.sort not in ORDERS:
            raise UsageError(f"--sort {self.sort[:40]!r} is not known: choose from {', '.join(ORDERS)}")
        if self.benchmark and not self.views():
            raise UsageError("--benchmark chooses what is drawn: give --hist, --pairs or --runs, or leave it out")


def sorted_outcome(outcome: Outcome, by: str | None) -> Outcome:
    """Return the outcome with its benchmarks in the requested order; raise UsageError if it has nothing to sort by."""
    from steelyard.report.order import can_sort, sorted_by

    derived = outcome.record.derived
    if by is None or derived is None:
        return outcome
    if not can_sort(derived, by):
        raise UsageError(f"--sort {by} sorts by verdicts, and a run has none: choose --sort name")
    return replace(outcome, record=outcome.record.model_copy(update={"derived": sorted_by(derived, by)}))


def sorted_import(record: ForeignResults, by: str | None) -> ForeignResults:
    """Do as `sorted_outcome` for an import."""
    from steelyard.report.order import BY_NAME

    if by is None:
        return record
    if by != BY_NAME:
        raise UsageError(f"--sort {by} sorts by verdicts, and an import has none: choose --sort name")
    return replace(record, benchmarks=sorted(record.benchmarks, key=lambda benchmark: benchmark.name))
