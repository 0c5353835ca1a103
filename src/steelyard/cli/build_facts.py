"""`steelyard --version`: what this installation consists of, for a bug report."""

from __future__ import annotations

import platform
from importlib import metadata

from steelyard import __version__
from steelyard.design.world import World
from steelyard.measure.launch import SERVER
from steelyard.model.errors import SteelyardError
from steelyard.model.format import VERSION

_LIBRARIES = ("numpy", "pydantic", "psutil", "rich", "typer")


def build_facts(world: World) -> list[str]:
    """Return one fact per line, the version first."""
    return [
        f"steelyard {__version__}",
        f"record format {VERSION}",
        f"launch server {_server(world)}",
        f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}, {platform.system()}",
        ", ".join(f"{name} {metadata.version(name)}" for name in _LIBRARIES),
    ]


def _server(world: World) -> str:
    try:
        with world.launcher() as launcher:
            offers = [name for name, there in launcher.offers.items() if there]
            return f"{launcher.version} (offers {', '.join(offers) or 'nothing but times'})"
    except SteelyardError as error:
        return f"does not start: {error} ({SERVER})"
