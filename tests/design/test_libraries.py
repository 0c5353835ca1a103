"""What a suite loads is known by its code, in whichever folder it was built."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.design.libraries import digest_of_libraries, with_libraries
from steelyard.model.settings import Settings
from steelyard.model.subject import RevisionFacts
from tests.elf_heads import LOADED, NOTE, made
from tests.model.samples import subject

NAME = "package/_parse.cpython-311-x86_64-linux-gnu.so"


def library(folder: Path, code: bytes, name: str = NAME) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(made((LOADED, code), (NOTE, bytes(folder))))
    return folder


def test_it_is_the_code_and_its_place_that_count(tmp_path: Path) -> None:
    one, same = library(tmp_path / "one", b"code"), library(tmp_path / "other", b"code")
    assert digest_of_libraries(one) == digest_of_libraries(same) is not None
    assert digest_of_libraries(library(tmp_path / "one", b"more")) != digest_of_libraries(same)
    assert digest_of_libraries(library(tmp_path / "third", b"code", "parse.so.1.2")) != digest_of_libraries(same)


def test_what_is_no_library_is_passed_over(tmp_path: Path) -> None:
    for name in ("program", "parse.so.py", "parse.o"):
        library(tmp_path, b"code", name)
    tmp_path.joinpath("words.so").write_text("INPUT(libc.so.6)")
    tmp_path.joinpath("gone.so").symlink_to("nowhere")
    tmp_path.joinpath("folder.so").mkdir()
    assert digest_of_libraries(tmp_path) is None


@pytest.mark.parametrize(
    ("build", "settings", "is_known"),
    [
        ("make", Settings(harness="pyperf"), True),
        (None, Settings(harness="pyperf"), False),
        ("make", Settings(), False),
        ("make", Settings(harness="pyperf", layouts=2), False),
    ],
)
def test_it_is_known_of_a_suite_and_one_build(
    tmp_path: Path, build: str | None, settings: Settings, is_known: bool
) -> None:
    revision = RevisionFacts(name="main", commit=None, tree="0", build=build)
    of = {"revision": revision, "directory": str(library(tmp_path, b"code"))}
    found = with_libraries(subject("a").model_copy(update=of), settings).revision
    assert found is not None
    assert (found.libraries is not None) == is_known
