"""The project's file in the documentation: all that it shows is accepted, and all that is accepted is shown."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from steelyard.model.project import SECTIONS, ProjectFile, key_of
from tests.docs.pages import PAGES, ROOT

PAGE = (ROOT / "docs/config.md").read_text()
KEYS = {".".join(table): {key_of(field) for field in section.model_fields} for table, section in SECTIONS.items()}
# Code in a page, as a block or within a line, that could be TOML.
_CODE = re.compile(r"```toml\n(.*?)```|`([\w-]+ = [^`]+)`", re.DOTALL)


def rows(section: str) -> set[str]:
    """Return the keys in a section's table."""
    text = re.split(r"^## .*$", PAGE, flags=re.MULTILINE)[_heads().index(section) + 1]
    listed = re.findall(r"^\| ((?:`[\w-]+`(?:, )?)+) \|", text, re.MULTILINE)
    return {key for keys in listed for key in re.findall(r"`([\w-]+)`", keys)}


def _heads() -> list[str]:
    return [head.strip("`[]") for head in re.findall(r"^## (.*)$", PAGE, re.MULTILINE)]


@pytest.mark.parametrize("section", ["build", "target", "compare", "gate.accepted"])
def test_each_table_has_the_keys_of_its_section(section: str) -> None:
    # Keys that targets share with `compare` are in its table alone.
    inherited = KEYS["compare"] if section == "target" else set()
    assert rows(section) <= KEYS[section]
    assert rows(section) | inherited >= KEYS[section]


def test_the_gate_s_keys_are_named() -> None:
    assert all(f"`{key}`" in PAGE for key in KEYS["gate"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_stands_as_toml_is_taken(page: Path) -> None:
    for block, line in _CODE.findall(page.read_text()):
        try:
            said = tomllib.loads(block or line)
        except tomllib.TOMLDecodeError:
            continue  # not TOML
        if block and ("target" in said or "compare" in said):
            ProjectFile.model_validate(said)
        elif line:
            (key,) = said
            spelled = key.replace("_", "-")
            assert key == spelled or not any(spelled in keys for keys in KEYS.values()), f"{key}: it is {spelled}"
