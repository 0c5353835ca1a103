"""`steelyard docs`: the documentation, which is installed with the command."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.command import Options, command
from steelyard.model.errors import UsageError

if TYPE_CHECKING:
    from steelyard.design.world import World


@dataclass(frozen=True, kw_only=True)
class DocsOptions(Options):
    """What `docs` is asked."""

    topic: Annotated[
        str | None, typer.Argument(metavar="[TOPIC]", help="The page to show.  [default: the list of them]")
    ] = None


@command(DocsOptions, examples=("steelyard docs", "steelyard docs statistics | less"))
def docs(options: DocsOptions, world: World) -> int:  # noqa: ARG001 - as every command
    """Show a page of the documentation, or which pages there are."""
    pages = _pages()
    if options.topic is None:
        width = max(map(len, pages))
        print("\n".join(f"{topic:{width}}  {_title(page)}" for topic, page in pages.items()))
        return 0
    page = pages.get(options.topic.removeprefix("docs/").removesuffix(".md"))
    if page is None:
        raise UsageError(f"there is no page {options.topic!r}: choose from {', '.join(pages)}")
    print(page.read_text(encoding="utf-8"), end="")
    return 0


def _pages() -> dict[str, Traversable]:
    pages = dict(_pages_in(files("steelyard") / "docs"))
    if not pages:
        raise UsageError("the documentation was not installed with this steelyard: install it again")
    return pages


def _pages_in(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, Traversable]]:
    """Every page below a folder, by its topic."""
    found = sorted(folder.iterdir(), key=lambda page: page.name) if folder.is_dir() else []
    for page in found:
        if page.name.endswith(".md"):
            yield prefix + page.name.removesuffix(".md"), page
        yield from _pages_in(page, f"{prefix}{page.name}/")


def _title(page: Traversable) -> str:
    return page.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
