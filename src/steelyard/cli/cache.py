"""`steelyard cache`: the builds of revisions that are kept."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from steelyard.cli.command import CommandOptions, ReadBy, command
from steelyard.model.values import size_in_bytes

if TYPE_CHECKING:
    from steelyard.design.world import World
    from steelyard.subjects.revisions.cache import Cache, Kept


_TITLES = ("repository", "revision", "size", "age", "unused for", "built by")
_NAME_COLUMNS = 24


@dataclass(frozen=True, kw_only=True)
class CacheOptions(CommandOptions):
    """The options of `cache`."""

    panel: ClassVar[str] = "What is kept"

    clear: Annotated[bool, typer.Option("--clear", help="Remove all builds that are not in use.")] = False
    max_size: Annotated[
        int | None,
        typer.Option(
            metavar="SIZE",
            help="Keep no more than this from now on, such as 500M or 20G: the least recently used go.  [default: 10G]",
        ),
        ReadBy(size_in_bytes),
    ] = None


@command(CacheOptions, examples=("steelyard cache", "steelyard cache --max-size 20G"))
def cache(options: CacheOptions, world: World) -> int:
    """Show the builds of revisions that are kept, so that none is built twice; or remove them."""
    from steelyard.report import figures
    from steelyard.subjects.revisions.cache import Cache

    kept = Cache.of_user(world.environment)
    removed: list[Kept] = []
    if options.clear:
        removed += kept.clear()
    if options.max_size is not None:
        kept.open()
        kept.set_limit(options.max_size)
        removed += kept.bound()
    _show_builds(kept, world)
    if removed:
        freed = figures.size(sum(build.size_bytes for build in removed))
        print(f"removed {figures.count(len(removed), 'build')}, {freed}")
    return 0


def _show_builds(cache: Cache, world: World) -> None:
    from rich.text import Text

    from steelyard.cli.screen import output
    from steelyard.report import figures
    from steelyard.report.sheet import Sheet

    entries, now_s = cache.kept(), time.time()
    sheet = Sheet(output(world.environment))
    if entries:
        rows = [_row(build, now_s) for build in entries]
        *columns, _ = zip(_TITLES, *rows, strict=True)
        room = max(len(_TITLES[-1]), sheet.width - sum(max(map(len, column)) + 2 for column in columns))
        shown = [[*map(Text, cells), Text(sheet.name(by, room))] for *cells, by in rows]
        sheet.grid([[Text(title, "dim") for title in _TITLES], *shown], right=frozenset({2, 3, 4}))
        sheet.blank()
    total = figures.size(sum(build.size_bytes for build in entries))
    limit = figures.size(cache.limit_bytes())
    for line in sheet.wrap(f"{figures.count(len(entries), 'build')}, {total} of {limit}, in {cache.folder}"):
        sheet.line(line)


def _row(build: Kept, now_s: float) -> list[str]:
    from steelyard.report import figures, printable

    used = "now" if build.is_in_use else _age(now_s - build.used_s)
    size, facts = figures.size(build.size_bytes), build.facts
    if facts is None:
        return ["", "is being built" if build.is_in_use else "failed, cut short or emptied", size, "", used, ""]
    names = [printable.shown(name, _NAME_COLUMNS) for name in (Path(facts.repository).name, facts.revision)]
    commands = filter(None, (facts.command, *(one.command for one in facts.targets)))
    return [*names, size, _age(now_s - facts.made_s), used, "; ".join(commands) or "nothing"]


def _age(elapsed_s: float) -> str:
    """Write an age in its largest unit, which is precise enough here."""
    for unit, seconds in (("day", 86_400), ("h", 3600), ("min", 60)):
        if (number := int(elapsed_s // seconds)) > 0:
            return f"{number:,} {unit}{'s' if unit == 'day' and number > 1 else ''}"
    return f"{max(0, int(elapsed_s))} s"
