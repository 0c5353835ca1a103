"""What `import` and `show` do with results that Steelyard did not measure."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console

from steelyard.cli.inputs import STANDARD_STREAM
from steelyard.cli.options import FileOptions
from steelyard.cli.outputs import page_of, writing_files
from steelyard.design.unpaired.foreign import describe_levels
from steelyard.design.world import World
from steelyard.model.files import record_bytes
from steelyard.model.foreign import ForeignResults
from steelyard.report import foreign as report
from steelyard.report.bounds import MOST_BENCHMARKS


def show_foreign(
    record: ForeignResults, files: FileOptions, world: World, *, draw: Callable[[Console], None] | None = None
) -> None:
    """Print an import, or what `draw` draws of it, and write the requested files."""
    described = describe_levels(record.benchmarks[: None if files.markdown is not None else MOST_BENCHMARKS])
    with writing_files(
        world,
        (files.json, lambda: record_bytes(record, files.json or STANDARD_STREAM)),
        (files.markdown, lambda: report.markdown(record, described)),
        (files.csv, lambda: report.csv(record)),
        (files.html, lambda: page_of(world, record)),
    ) as console:
        if draw is not None:
            draw(console)
        else:
            report.show(console, record, described)
