"""`steelyard cache`: the builds of revisions that are kept."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from steelyard.cli.command import Options, command
from steelyard.cli.values import ReadBy
from steelyard.model.values import size_in_bytes

if TYPE_CHECKING:
    from steelyard.design.world import World
    from steelyard.subjects.revisions.cache import Cache, Kept


@dataclass(frozen=True, kw_only=True)
class CacheOptions(Options):
    """What `cache` is asked."""

    panel: ClassVar[str] = "What is kept"

    clear: Annotated[bool, typer.Option("--clear", help="Remove all builds that are not in use.")] = False
    max_size: Annotated[
        int | None,
        typer.Option(
            metavar="SIZE",
            help="Hold no more from now on, as 500M or 20G: the least recently used go.  [default: 10G]",
        ),
        ReadBy(size_in_bytes),
    ] = None


@command(CacheOptions, examples=("steelyard cache", "steelyard cache --max-size 20G"))
def cache(options: CacheOptions, world: World) -> int:
    """Show the builds of revisions that are kept, so that none is built twice; or remove them."""
    from steelyard.report import figures
    from steelyard.subjects.revisions.cache import Cache

    kept = Cache.of_user(world.environment)
    gone: list[Kept] = []
    if options.clear:
        gone += kept.clear()
    if options.max_size is not None:
        kept.open()
        kept.set_limit(options.max_size)
        gone += kept.bound()
    _show(kept, world)
    if gone:
        freed = figures.size(sum(one.size_bytes for one in gone))
        print(f"removed {figures.count(len(gone), 'build')}, {freed}")
    return 0


def _show(cache: Cache, world: World) -> None:
    from rich.text import Text

    from steelyard.cli.screen import output
    from steelyard.report import figures
    from steelyard.report.sheet import Sheet

    entries, now_s = cache.kept(), time.time()
    sheet = Sheet(output(world.environment))
    if entries:
        rows = [[Text(title, "dim") for title in ("repository", "revision", "built by", "size", "age", "last used")]]
        for one in entries:
            facts = one.facts
            repository, revision, by = (
                (Path(facts.repository).name, facts.revision, facts.command or "nothing")
                if facts
                else ("", "being built" if one.is_in_use else "not whole", "")
            )
            age = figures.seconds(now_s - facts.made_s) if facts else ""
            used = "now" if one.is_in_use else f"{figures.seconds(max(0.0, now_s - one.used_s))} ago"
            names = [Text(sheet.name(name, sheet.width // 4)) for name in (repository, revision, by)]
            rows.append([*names, Text(figures.size(one.size_bytes)), Text(age), Text(used)])
        sheet.grid(rows, right=frozenset({3, 4, 5}))
        sheet.blank()
    total = figures.size(sum(one.size_bytes for one in entries))
    limit = figures.size(cache.limit_bytes())
    sheet.line(Text(f"{figures.count(len(entries), 'build')}, {total} of {limit}, in {cache.folder}"))
