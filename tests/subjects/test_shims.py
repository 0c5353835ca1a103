"""The scripts of version managers: which manager they belong to, and what they start."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.subjects.shims import is_shim, manager_of, program_behind


@pytest.mark.parametrize("name", [".pyenv", ".rbenv", "asdf", "mise", "other"])
def test_the_place_tells_whose_it_is(name: str) -> None:
    shim = Path("/home/a", name, "shims/python3")
    assert is_shim(shim)
    assert manager_of(shim) == (None if name == "other" else name.removeprefix("."))
    assert not is_shim(Path("/usr/bin/python3"))


@pytest.mark.real
@pytest.mark.parametrize(
    ("does", "says"),
    [
        ('echo "$PYENV_ROOT/versions/$1/$2"', "{root}/versions/which/python3"),
        ("echo no version is set; exit 1", None),
        ("echo nothing", None),
    ],
)
def test_what_it_starts_is_asked_of_its_manager(tmp_path: Path, does: str, says: str | None) -> None:
    root = tmp_path / ".pyenv"
    for name, content in (("shims/python3", ""), ("bin/pyenv", f"#!/bin/sh\n{does}\n")):
        path = root / name
        path.parent.mkdir(parents=True)
        path.write_text(content)
        path.chmod(0o755)
    found = program_behind(root / "shims/python3", tmp_path, {"PATH": "/usr/bin:/bin"})
    assert found == (None if says is None else Path(says.format(root=root)))


def test_of_none_that_is_known_nothing_is_asked(tmp_path: Path) -> None:
    assert program_behind(tmp_path / "shims/python3", tmp_path, {"PATH": "/usr/bin"}) is None
    assert program_behind(tmp_path / "pyenv/shims/python3", tmp_path, {"PATH": "/nowhere"}) is None
