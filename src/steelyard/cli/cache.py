"""`steelyard cache`: the builds of revisions that are kept."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from steelyard.cli.command import Options, ReadBy, command
from steelyard.model.values import size_in_bytes

if TYPE_CHECKING:
    from steelyard.design.world import World
    from steelyard.subjects.revisions.cache import Cache, Kept


_TITLES = ("repository", "revision", "size", "age", "unused for", "built by")
_NAME = 24


@dataclass(frozen=True, kw_only=True)
class CacheOptions(Options):
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
        rows = [_row(one, now_s) for one in entries]
        *columns, _ = zip(_TITLES, *rows, strict=True)
        room = max(len(_TITLES[-1]), sheet.width - sum(max(map(len, column)) + 2 for column in columns))
        shown = [[*map(Text, cells), Text(sheet.name(by, room))] for *cells, by in rows]
        sheet.grid([[Text(title, "dim") for title in _TITLES], *shown], right=frozenset({2, 3, 4}))
        sheet.blank()
    total = figures.size(sum(one.size_bytes for one in entries))
    limit = figures.size(cache.limit_bytes())
    for line in sheet.wrap(f"{figures.count(len(entries), 'build')}, {total} of {limit}, in {cache.folder}"):
        sheet.line(line)


def _row(one: Kept, now_s: float) -> list[str]:
    from steelyard.report import figures, printable

    used = "now" if one.is_in_use else _length(now_s - one.used_s)
    size, facts = figures.size(one.size_bytes), one.facts
    if facts is None:
        return ["", "is being built" if one.is_in_use else "failed, or cut short", size, "", used, ""]
    names = [printable.shorten(printable.plain(name), _NAME) for name in (Path(facts.repository).name, facts.revision)]
    commands = filter(None, (facts.command, *(one.command for one in facts.targets)))
    return [*names, size, _length(now_s - facts.made_s), used, "; ".join(commands) or "nothing"]


def _length(elapsed_s: float) -> str:
    """Write an age in its largest unit, which is precise enough here."""
    for unit, seconds in (("day", 86_400), ("h", 3600), ("min", 60)):
        if (number := int(elapsed_s // seconds)) > 0:
            return f"{number:,} {unit}{'s' if unit == 'day' and number > 1 else ''}"
    return f"{max(0, int(elapsed_s))} s"
