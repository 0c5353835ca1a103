"""mkdocs hooks: add the pages that are made from the code and from files outside of docs/, and adapt the Markdown.

mkdocs calls `on_files` and `on_page_markdown` by their names (https://www.mkdocs.org/dev-guide/plugins/#events).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import steelyard
from steelyard.api.keywords import Built, Checking, Comparing, Counted, Launched, Measuring, Running
from steelyard.cli.app import command_line
from steelyard.cli.manual import commands_of, options_of

ROOT = Path(__file__).resolve().parent.parent
KEYWORDS = (Comparing, Running, Measuring, Counted, Checking, Built, Launched)
FROM_ELSEWHERE = {"experiments.md": "experiments/README.md", "changes.md": "CHANGELOG.md"}

_FENCE = re.compile(r"^\s*```")
_ITEM = re.compile(r"^(?:[-*]|\d+\.) ")
_CODE = re.compile(r"`[^`]*`")
_SENTENCE = re.compile(r"^(?![-*] |\d+\. )\S")


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Add the pages of the command line, the Python API, the experiments and the changes."""
    pages = {name: (ROOT / source).read_text(encoding="utf-8") for name, source in FROM_ELSEWHERE.items()}
    pages["command-line.md"], pages["python-api.md"] = command_line_page(), python_page()
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:  # noqa: ARG001 - as mkdocs calls it
    """Adapt a page to Python-Markdown: a blank line before each list, no backslash before `|` in code in tables.

    Elsewhere a list may follow its sentence at once, and the backslash is needed; Python-Markdown would show it.
    """
    lines: list[str] = []
    fenced = False
    for line in markdown.split("\n"):
        fenced ^= bool(_FENCE.match(line))
        if not fenced and _ITEM.match(line) and lines and _SENTENCE.match(lines[-1]):
            lines.append("")
        is_row = not fenced and line.startswith("|")
        lines.append(_CODE.sub(lambda code: code[0].replace("\\|", "|"), line) if is_row else line)
    return "\n".join(lines)


def python_page() -> str:
    """Return the page with the docstrings of the public API, and the keywords of the functions that measure."""
    public = (
        f"::: {getattr(steelyard, name).__module__}.{name}" for name in sorted(steelyard.__all__, key=str.swapcase)
    )
    known = (
        f"::: {one.__module__}.{one.__name__}\n    options: {{show_if_no_docstring: true, inherited_members: false}}"
        for one in KEYWORDS
    )
    return "\n\n".join(["# The Python API, in full", *public, *known, ""])


def command_line_page() -> str:
    """Return the page of all commands with their options, derived from the command line itself."""
    root = command_line()
    lines = ["# The command line", "", root.help or "", "", *_table(root)]
    for name, command in commands_of(root).items():
        lines += [f"## steelyard {name}", "", command.help or "", "", *_table(command)]
        lines += ["```sh", *command.epilog.splitlines(), "```", ""]
    return "\n".join(lines)


def _table(command: Any) -> list[str]:
    rows = [f"| {_code(names)} | {_cell(meaning)} |" for names, meaning in options_of(command)]
    return ["| option | meaning |", "| --- | --- |", *rows, ""] if rows else []


def _code(text: str) -> str:
    return f"`{text.replace('|', chr(92) + '|')}`"


def _cell(text: str) -> str:
    """Escape what Markdown or HTML would interpret in the text of a table's cell, except backticks, which mark code."""
    return re.sub(r"([\\*_{}\[\]<>|])", r"\\\1", text)
