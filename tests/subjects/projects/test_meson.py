"""What is found in files of Meson: the programs that are for something else than tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.subjects.projects.meson import meson


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"meson.build": "executable('a', files('a.c', 'b.c'), c_args: ['-DX=' + f(1)])"}, ["./build/a"]),
        ({"meson.build": "# executable('a', 'a.c')\nx = executable(\n  'b' , # the one\n  'b.c')"}, ["./build/b"]),
        ({"meson.build": "executable('a', 'a.c')\nexecutable('test-a', 'a.c')"}, ["./build/a"]),
        ({"meson.build": "executable('test-a', 'a.c')"}, ["./build/test-a"]),
        ({"meson.build": "", "in/meson.build": "executable('a', 'a.c')"}, ["./build/in/a"]),
        ({"meson.build": "executable('a', 'a.c')", "examples/meson.build": "executable('e', 'e.c')"}, ["./build/a"]),
        ({"meson.build": "executable(name, 'a.c')\nexecutable('a' + suffix, 'a.c')"}, []),
        ({"meson.build": "executable('a', 'a.c'"}, []),
        ({"meson.build": "executable(" + "f(" * 50_000}, []),
        ({"in/meson.build": "executable('a', 'a.c')"}, None),
    ],
)
def test_programs(tmp_path: Path, files: dict[str, str], named: list[str] | None) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = meson(tmp_path)
    assert (None if found is None else [target.command for target in found.targets]) == named


def test_each_is_built_by_itself_once_the_build_is_set_up(tmp_path: Path) -> None:
    (tmp_path / "meson.build").write_text("executable('a', 'a.c')\nexecutable('b', 'b.c')\n")
    found = meson(tmp_path)
    assert found is not None
    assert found.build == "meson setup build --buildtype=release"
    assert [target.build for target in found.targets] == ["meson compile -C build a", "meson compile -C build b"]
