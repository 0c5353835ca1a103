from __future__ import annotations

import os
from pathlib import Path

import pytest

from steelyard.model.errors import MeasurementError
from steelyard.subjects.programs import Programs, digest, weighed_file
from tests.model.samples import subject


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program"
    path.write_bytes(b"#!/bin/sh\n:\n")
    return path


def test_an_unchanged_program_passes_every_time(program: Path) -> None:
    programs = Programs()
    for _ in range(3):
        programs.check(str(program), "new")


def test_a_program_that_was_only_touched_is_still_itself(program: Path) -> None:
    programs = Programs()
    programs.check(str(program), "new")
    os.utime(program, ns=(1, 1))
    programs.check(str(program), "new")


def test_a_replaced_program_is_an_error_even_with_its_size_kept(program: Path) -> None:
    programs = Programs()
    programs.check(str(program), "new")
    other = program.with_name("other")
    other.write_bytes(program.read_bytes().replace(b":", b"!"))
    other.replace(program)
    with pytest.raises(MeasurementError, match=r"new: .* was replaced"):
        programs.check(str(program), "new")


def test_a_replaced_program_that_cannot_be_read_is_an_error(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.subjects.programs.digest", lambda _: None)  # as for root's programs of mode 0711
    programs = Programs()
    for _ in range(2):
        programs.check(str(program), "new")
    program.write_bytes(b"something else")
    with pytest.raises(MeasurementError, match=r"new: .* was replaced"):
        programs.check(str(program), "new")


def test_a_removed_program_is_an_error(program: Path) -> None:
    programs = Programs()
    programs.check(str(program), "new")
    program.unlink()
    with pytest.raises(MeasurementError, match="is gone"):
        programs.check(str(program), "new")


def test_a_program_that_was_never_there_is_left_to_its_launch(program: Path) -> None:
    programs = Programs()
    programs.check(str(program.with_name("absent")), "new")


@pytest.mark.parametrize(
    ("words", "directory", "path"),
    [
        ("env -C parse ./p.test -x", None, "parse/./p.test"),
        ("env -C parse ./p.test", "/checkout", "/checkout/parse/./p.test"),
        ("env -C /made bin/p", "/checkout", "/made/bin/p"),
        ("env -C parse p.test", "/checkout", "/found"),
        ("env -C parse A=/x p.test", "/checkout", "/found"),
        ("env -C parse", "/checkout", "/found"),
        ("./p.test -C parse ./other", "/checkout", "/found"),
    ],
)
def test_behind_env_the_program_that_it_starts_is_weighed(words: str, directory: str | None, path: str) -> None:
    of = {"argv": words.split(), "program": "/found", "directory": directory}
    assert weighed_file(subject("new").model_copy(update=of)) == path


def test_the_digest_is_of_the_content(program: Path) -> None:
    first = digest(str(program))
    program.write_bytes(b"something else")
    assert first != digest(str(program))
    assert digest(str(program.parent / "absent")) is None
