"""`steelyard docs`: the documentation, which is installed with the command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.command import CommandOptions, command
from steelyard.cli.inputs import STANDARD_STREAM
from steelyard.cli.outputs import write
from steelyard.model.errors import UsageError

if TYPE_CHECKING:
    from steelyard.design.world import World

_PACKAGE = Path(__file__).resolve().parent.parent


def folder() -> Path:
    """Return the folder of the pages; raise UsageError if there is none."""
    parents = _PACKAGE.parents
    places = [
        *([parents[1] / "docs"] if parents[0].name == "src" else []),  # a checkout
        *(place / "share/doc/steelyard" for place in parents[:4]),  # beside lib/python3/site-packages, or --target
    ]
    for place in places:
        if (place / "glossary.md").is_file():
            return place
    raise UsageError("the documentation was not installed with this steelyard: install it again")


def topics() -> list[str]:
    """Return the names of the pages; raise UsageError if there are none at all."""
    place = folder()
    return [str(page.relative_to(place).with_suffix("")) for page in sorted(place.rglob("*.md"))]


@dataclass(frozen=True, kw_only=True)
class DocsOptions(CommandOptions):
    """The options of `docs`."""

    topic: Annotated[
        str | None,
        typer.Argument(metavar="[TOPIC]", help="The page to show.  [default: the list of them]", autocompletion=topics),
    ] = None


@command(DocsOptions, examples=("steelyard docs", "steelyard docs statistics | less"))
def docs(options: DocsOptions, world: World) -> int:  # noqa: ARG001 - as every command
    """Show a page of the documentation, or which pages there are."""
    pages = topics()
    if options.topic is None:
        width = max(map(len, pages))
        write(STANDARD_STREAM, "".join(f"{topic:{width}}  {_title(topic)}\n" for topic in pages))
        return 0
    topic = _page_name(options.topic, pages)
    if topic not in pages:
        from difflib import get_close_matches

        similar = get_close_matches(topic, pages)
        hint = f" (did you mean {' or '.join(map(repr, similar))}?)" if similar else ""
        raise UsageError(f"there is no page {options.topic!r}{hint}: choose from {', '.join(pages)}")
    write(STANDARD_STREAM, _page(topic))
    return 0


def _page_name(topic: str, pages: Sequence[str]) -> str:
    """Return the page that is meant, even by a link as in another page, `../ci.md#gitlab`, or by a harness's name."""
    page = topic.partition("#")[0].removeprefix("../").removeprefix("docs/").removesuffix(".md")
    adapter_page = f"adapters/{page}"
    return adapter_page if adapter_page in pages else page


def _page(topic: str) -> str:
    return folder().joinpath(f"{topic}.md").read_text(encoding="utf-8")


def _title(topic: str) -> str:
    return _page(topic).partition("\n")[0].lstrip("# ")
