"""How a program is recognised without running it, and what its answer is checked for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from steelyard.model.errors import SelectionError
from steelyard.subjects.responses import check_only, file_holds


def test_all_of_the_texts_have_to_be_in_it(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF one two")
    assert file_holds(program, b"one", b"two")
    assert not file_holds(os.fsencode(program), b"one", b"three")


def test_another_file_of_that_name_is_looked_at_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, text in (("a", b"one"), ("b", b"two")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "program").write_bytes(text)
        monkeypatch.chdir(tmp_path / folder)
        assert file_holds("./program", text)
    assert not file_holds("./program", b"one")
    Path("program").unlink()
    assert not file_holds("./program", b"two")


def test_more_benchmarks_than_fit_are_counted() -> None:
    with pytest.raises(SelectionError, match=r'^ran "b", "c", "d" and 2 more where only "a" was asked for: '):
        check_only(["b", "c", "d", "e", "f", "b"], "a")
