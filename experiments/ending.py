"""How each experiment ends: tables in Markdown, a figure, the conditions, and one sentence."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from benchmarks.simulation import table

from steelyard.design.runner.failure import Interrupted
from steelyard.machine.facts import read_facts
from steelyard.model.errors import MeasurementError, SteelyardError
from steelyard.model.measured import Measured
from steelyard.model.rows import LaunchRow
from steelyard.model.writing import write_atomically
from steelyard.report.figures import percent

__all__ = ["FOLDER", "Conditions", "Page", "begin", "table"]

Effort = TypeVar("Effort")

FOLDER = Path(__file__).resolve().parent.parent / "build" / "experiments"
# Launches that waited for less of their time, with less of it taken by the host, ran undisturbed.
_QUIET = 0.02


@dataclass(frozen=True)
class Conditions:
    """How quiet the machine was while launches ran."""

    waited: float
    """The share of their elapsed time in which they were ready to run, but had no processor."""
    stolen: float
    """The share of the processors' time that the host took."""

    @classmethod
    def of(cls, launches: Iterable[Measured | LaunchRow], processors: int | None = None) -> Conditions:
        """Return the conditions of launches that were made one at a time."""
        known = list(launches)
        wall_ns = sum(launch.wall_ns for launch in known) or 1
        stolen_ns = sum(launch.steal_ns or 0 for launch in known)
        waited_ns = sum(launch.delay_ns or 0 for launch in known)
        return cls(waited_ns / wall_ns, stolen_ns / wall_ns / (processors or os.cpu_count() or 1))

    def is_quiet(self) -> bool:
        """Return whether hardly anything else ran."""
        return max(self.waited, self.stolen) < _QUIET

    def told(self) -> str:
        """Return the conditions and the machine in words."""
        facts, load = read_facts(), os.getloadavg()[0]
        quiet = "quiet" if self.is_quiet() else "not quiet"
        return (
            f"Conditions: {facts.cpu_model}, {facts.cores_logical} processors, {quiet}: launches waited for a "
            f"processor for {percent(self.waited)} of their time, the host took {percent(self.stolen)}; load "
            f"{load:.1f}."
        )


class Page:
    """The page of an experiment, printed part by part, and kept beside its figure once it has ended."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._parts = [f"# {name.replace('_', ' ').capitalize()}"]

    def tell(self, *paragraphs: str) -> None:
        """Print some paragraphs, tables or headings."""
        self._parts += paragraphs
        print("\n\n".join(paragraphs) + "\n", flush=True)

    def end(self, figure: str, sentence: str) -> None:
        """Keep the figure and the page; print where the figure is, and the sentence.

        Raises MeasurementError if they cannot be written.
        """
        try:
            FOLDER.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MeasurementError(f"{FOLDER} cannot be made ({error.strerror}): the figure goes there") from error
        picture = FOLDER / f"{self._name}.svg"
        write_atomically(picture, figure.encode())
        page = "\n\n".join([*self._parts, f"![{sentence}]({picture.name})", sentence])
        write_atomically(FOLDER / f"{self._name}.md", f"{page}\n".encode())
        here = Path.cwd()
        print(f"Figure: {picture.relative_to(here) if picture.is_relative_to(here) else picture}\n\n{sentence}")


def begin(experiment: Callable[[Effort], None], doc: str | None, *, long: Effort, quick: Effort) -> None:
    """Run an experiment from its command line, at length or for a first look; an error is one sentence."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="measure less, for a first look")
    effort = quick if parser.parse_args().quick else long
    try:
        experiment(effort)
    except SteelyardError as error:
        raise SystemExit(str(error)) from None
    except (KeyboardInterrupt, Interrupted):
        raise SystemExit("interrupted: what was measured by then is above") from None
