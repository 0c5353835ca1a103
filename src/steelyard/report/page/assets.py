"""The scripts and styles shipped with a page, each joined into one, and the policy that lets nothing else run."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

SCRIPTS: Final = ("dom.js", "data.js", "draw.js", "details.js", "tables.js", "page.js")
"""In dependency order."""
STYLES: Final = ("page.css", "charts.css")
VENDORED: Final = "vendor/uPlot.iife.min.js"
LICENCE: Final = "vendor/LICENSE"
"""Must be part of every copy, and a page is one."""
_IMPORT = re.compile(r"^import .*?;\n", re.MULTILINE | re.DOTALL)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


@dataclass(frozen=True)
class Assets:
    """What a page runs and how it looks: scripts before and after the library, and styles."""

    first: str
    library: str
    last: str
    styles: str

    def policy(self) -> str:
        """Return the Content-Security-Policy: only these scripts and styles; nothing is fetched or sent."""
        scripts = " ".join(f"'{_digest(script)}'" for script in (self.first, self.library, self.last))
        return (
            f"default-src 'none'; script-src {scripts}; style-src '{_digest(self.styles)}'; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        )


@cache
def assets() -> Assets:
    """Return the assets that this version ships."""
    modules = "\n".join(_without_modules(_read(f"script/{name}")) for name in SCRIPTS)
    return Assets(
        first=_read("script/first.js").strip(),
        library=f"/*!\n{_read(LICENCE).strip()}\n*/\n{_read(VENDORED).strip()}",
        last=f'(() => {{\n"use strict";\n{modules}\n}})();',
        styles="\n".join(_read(name) for name in ("vendor/uPlot.min.css", *(f"style/{name}" for name in STYLES))),
    )


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _without_modules(script: str) -> str:
    """Return a module without imports and exports: all modules become one script and share their names."""
    return _EXPORT.sub("", _IMPORT.sub("", script))


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"
