"""What `import` and `show` do with results that Steelyard did not measure."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console

from steelyard.cli.options import FileOptions
from steelyard.cli.outputs import is_printed, page_of, write
from steelyard.cli.screen import output
from steelyard.design.unpaired.foreign import levels
from steelyard.design.world import World
from steelyard.model.files import as_saved
from steelyard.model.foreign import ForeignResults
from steelyard.report import foreign as report
from steelyard.report.bounds import MOST_BENCHMARKS


def show_foreign(
    record: ForeignResults, files: FileOptions, world: World, *, drawn: Callable[[Console], None] | None = None
) -> None:
    """Print an import, or what is `drawn` of it, and write the files asked for."""
    described = levels(record.benchmarks[: None if files.markdown is not None else MOST_BENCHMARKS])
    if files.json is not None:
        write(files.json, as_saved(record, files.json))
    if files.markdown is not None:
        write(files.markdown, report.markdown(record, described))
    if files.csv is not None:
        write(files.csv, report.csv(record))
    if files.html is not None:
        write(files.html, page_of(world, record))
    beside_data = is_printed(*files.paths())
    console = output(world.environment, beside_data=beside_data)
    if drawn is not None:
        drawn(console)
    else:
        report.show(console, record, described)
