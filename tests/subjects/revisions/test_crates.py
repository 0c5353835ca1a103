"""Crates of which the sides have other versions that git does not keep."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.subjects.revisions.builds import Built
from steelyard.subjects.revisions.crates import unlike_crates
from steelyard.subjects.revisions.recipe import Recipe
from steelyard.subjects.revisions.revision import Revision

_OWN = '[[package]]\nname = "mine"\nversion = "0.1.0"\n'
_REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"
_KEPT = "100644 0123 0\tCargo.lock"


def crate(name: str, version: str, source: str = _REGISTRY) -> str:
    return f'[[package]]\nname = "{name}"\nversion = "{version}"\nsource = "{source}"\n'


def side(folder: Path, lock: str | None, *tracked: str, inside: str = ".", knows: bool = True) -> Built:
    (folder / inside).mkdir(parents=True)
    if lock is not None:
        (folder / "Cargo.lock").write_text(lock)
    revision = Revision(folder.name, folder.name, folder.name)
    told = frozenset(tracked) if knows else None
    return Built(revision, Recipe("cargo build"), folder / inside, folder, folder / "log", (), tracked=lambda: told)


def test_what_cargo_chose_for_each_side_is_told(tmp_path: Path) -> None:
    old = (
        _OWN + crate("rand", "0.8.4") + crate("both", "1.0.0") + crate("gone", "1.0.0") + crate("far", "1.0", "git+x#a")
    )
    new = _OWN.replace("0.1", "0.2") + crate("rand", "0.7.3") + crate("rand", "0.8.5") + crate("both", "1.0.0")
    new += crate("far", "1.0", "git+x#b")
    sides = [side(tmp_path / "old", old), side(tmp_path / "new", new, _KEPT, inside="below")]
    assert unlike_crates(sides) == ["rand 0.8.4 -> 0.7.3/0.8.5", "far 1.0#a -> 1.0#b"]
    assert unlike_crates(sides[:1]) == []


@pytest.mark.parametrize(
    ("lock", "tracked", "knows"),
    [
        (crate("rand", "0.8.5"), [_KEPT], True),
        (crate("rand", "0.8.4"), [], True),
        ("no [ toml", [], True),
        (None, [], True),
        (crate("rand", "0.8.5"), [], False),
    ],
    ids=["kept by git", "equal", "unreadable", "none", "unknown to git"],
)
def test_otherwise_there_is_nothing_to_tell(tmp_path: Path, lock: str | None, tracked: list[str], knows: bool) -> None:
    one = side(tmp_path / "old", crate("rand", "0.8.4"), *tracked, knows=knows)
    other = side(tmp_path / "new", lock, *tracked, knows=knows)
    assert unlike_crates([one, other]) == []
