"""Files of a command that only one side has."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.model.subject import RevisionFacts
from steelyard.subjects.revisions.sides import Side, new_file, subject_in


def sides(folder: Path, build: str | None = "make") -> tuple[Side, Side]:
    """Return the baseline, which has `data` and `old.py`, and the candidate, which has a suite, too."""
    revision = RevisionFacts(name="x", commit=None, tree="0", build=build)
    for name in ("base/data", "head/data", "base/old.py", "head/old.py", "head/bench/new.py", "head/parse/p.test"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o755)
    (folder / "base/parse").mkdir()
    (folder / "head/bench/built").write_bytes(b"\x7fELF\0")
    return Side("main", [folder / "base"], revision), Side("work tree", [folder / "head"], revision)


@pytest.mark.parametrize(
    ("command", "new"),
    [
        ("./bench/built data", "./bench/built"),
        ("env -C parse ./p.test -test.v", "./p.test"),
        ("/usr/bin/python3 -m pytest bench -k x", "bench"),
        ("pytest bench/new.py::test_a", "bench/new.py"),
        ("pytest bench/new.py old.py", None),
        ("./old.py bench", None),
        ("./gone bench", None),
        ("python3 data", None),
        ("pytest", None),
        ("pytest 'bench", None),
    ],
)
def test_a_command_is_new_where_none_of_its_files_is_in_the_baseline(
    tmp_path: Path, command: str, new: str | None
) -> None:
    assert new_file(*sides(tmp_path), command) == new


def test_where_nothing_is_built_a_program_may_be_left_from_the_work_tree(tmp_path: Path) -> None:
    unbuilt = sides(tmp_path, build=None)
    assert new_file(*unbuilt, "./bench/built") is None
    assert new_file(*unbuilt, "./bench/new.py") == "./bench/new.py"


def test_a_program_that_a_side_has_not_is_where_it_would_be(tmp_path: Path) -> None:
    baseline, candidate = sides(tmp_path)
    (tmp_path / "head/bench/new.py").write_text("#!/bin/sh\n")
    found = subject_in(baseline, candidate.subject("./bench/new.py a", "candidate", shell=False, search_path=None))
    assert (found.name, found.program, found.digest) == ("main", str(tmp_path / "base/bench/new.py"), None)
    assert (found.directory, found.argv) == (str(tmp_path / "base"), ["./bench/new.py", "a"])
