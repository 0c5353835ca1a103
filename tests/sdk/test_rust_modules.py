"""The imports between the modules of the Rust crate."""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "sdk" / "rust" / "src"


def imported(source: str) -> set[str]:
    """Return the modules of the crate that a module imports, in its tests too; `$crate` is for users of macros."""
    code = re.sub(r"//.*", "", source)
    found = re.findall(r"(?<!\$)\bcrate::(?:\{([^}]*)\}|(\w+))", code)
    return {name.strip().partition("::")[0] for several, one in found for name in (several or one).split(",")}


def test_no_module_imports_one_that_imports_it() -> None:
    modules = {path.stem: path.read_text(encoding="utf-8") for path in SOURCES.glob("*.rs") if path.stem != "lib"}
    imports = {name: imported(source) for name, source in modules.items()}
    # An import by way of lib.rs, which has everything, would hide which module it is from.
    assert set().union(*imports.values()) <= set(modules)
    TopologicalSorter(imports).prepare()
    assert len(modules) > 10
    assert imports["suite"] >= {"driven", "interactive"}


def test_a_circle_would_be_noticed() -> None:
    with pytest.raises(CycleError):
        TopologicalSorter({"a": imported("use crate::{b, c};"), "c": imported("let x = crate::a::X;")}).prepare()
