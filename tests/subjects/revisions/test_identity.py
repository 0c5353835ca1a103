"""When two builds are one program, judged by their files alone."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steelyard.measure.elf import names_library_folders
from steelyard.model.settings import Settings
from steelyard.model.subject import Subject
from steelyard.subjects.revisions.builds import Built
from steelyard.subjects.revisions.identity import is_identical
from steelyard.subjects.revisions.recipe import Recipe
from steelyard.subjects.revisions.revision import Revision
from tests.elf_heads import DYNAMIC, made

_NOTE = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"
_RPATH, _RUNPATH, _NEEDED = 15, 29, 1


def elf(*tags: int, content: bytes = b"") -> bytes:
    """Return a 64-bit program with a dynamic section that has these tags."""
    return made((DYNAMIC, b"".join(struct.pack("<2Q", tag, 0) for tag in (*tags, 0)))) + content


def telling(told: frozenset[str] | None) -> Callable[[], frozenset[str] | None]:
    return lambda: told


@pytest.fixture
def judged(tmp_path: Path) -> Callable[..., bool]:
    """Return whether two folders with these programs, run with these arguments, are identical."""

    def judge(
        *programs: bytes,
        words: tuple[str, ...] = (),
        shell: bool = False,
        tracked: tuple[frozenset[str] | None, ...] = (frozenset(), frozenset()),
        **settings: Any,
    ) -> bool:
        sides, subjects = [], []
        for name, program, told in zip("ab", programs, tracked, strict=False):
            folder = tmp_path / name
            folder.mkdir(exist_ok=True)
            path = folder / "program"
            path.write_bytes(program.replace(b"@HERE@", bytes(folder)))
            revision, known = Revision(name, name, name), telling(told)
            sides.append(Built(revision, Recipe("make"), folder, folder, folder / "log", (), tracked=known))
            argv = ["./program", *words]
            subjects.append(Subject(name=name, command="", argv=argv, program=str(path), shell=shell))
        return is_identical(sides, subjects, Settings(**settings))

    return judge


def test_equal_but_for_the_place_and_the_linker_s_hash(judged: Callable[..., bool]) -> None:
    one, other = (elf(_NEEDED, content=b"at @HERE@/x.c " + _NOTE + bytes([digit]) * 20 + b"end") for digit in (1, 2))
    assert judged(one, other)
    assert not judged(one, other + b"x")
    assert not judged(one, elf(_NEEDED, content=b"at elsewhere"))


def test_scripts_may_read_what_stands_beside_them(judged: Callable[..., bool]) -> None:
    assert not judged(b"#!/bin/sh\n", b"#!/bin/sh\n")


@pytest.mark.parametrize("tag", [_RPATH, _RUNPATH])
def test_libraries_beside_a_program_may_differ(judged: Callable[..., bool], tag: int) -> None:
    program = elf(_NEEDED, tag)
    assert names_library_folders(program)
    assert not names_library_folders(elf(_NEEDED))
    assert not judged(program, program)
    assert not judged(elf(), elf(), variables={"LD_LIBRARY_PATH": "lib"})
    assert not judged(elf(), elf(), environment=["LD_PRELOAD"])


def test_a_program_that_loads_by_itself_may_find_what_differs(judged: Callable[..., bool]) -> None:
    program = elf(content=b"\0dlopen\0")
    assert not judged(program, program)


def line(path: str, digit: str = "1") -> str:
    """Return a file as git lists it."""
    return f"100644 {digit * 40} 0\t{path}"


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("src/work.c", True),
        ("a/b.RS", True),
        ("docs/Makefile", True),
        (".github/workflows/ci.yml", True),
        ("README", True),
        ("data/n.txt", False),
        ("input", False),
        ("settings.yml", False),
        ("queries.sql", False),
        ("third_party/lib", False),
    ],
)
def test_a_program_may_open_a_file_that_no_word_names(judged: Callable[..., bool], path: str, is_one: bool) -> None:
    same = line("always.json", "7")
    assert judged(elf(), elf(), tracked=(frozenset([same]), frozenset([same])))
    for theirs in (frozenset([same, line(path, "2")]), frozenset([same])):  # changed, or removed
        assert judged(elf(), elf(), tracked=(frozenset([same, line(path)]), theirs)) is is_one


@pytest.mark.parametrize("word", ["in.md", "--in=in.md", "in="])
def test_a_program_reads_a_file_that_a_word_names(judged: Callable[..., bool], tmp_path: Path, word: str) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "in.md").write_text("same")
    assert judged(elf(), elf(), words=(word,))
    (tmp_path / "b/in.md").write_text("changed")
    assert judged(elf(), elf(), words=(word,)) is ("md" not in word)


@pytest.mark.parametrize(
    ("others", "words", "is_one"),
    [
        ((), (), True),
        (("a/steelyard.toml",), (), True),
        (("script.py",), (), False),
        ((), ("./steelyard.toml",), False),
    ],
)
def test_no_script_reads_the_project_s_file(
    judged: Callable[..., bool], others: tuple[str, ...], words: tuple[str, ...], is_one: bool
) -> None:
    changed = frozenset(line(path) for path in ("steelyard.toml", *others))
    script, shared = b"#!/bin/sh\n", frozenset([line("work.py")])
    assert judged(script, script, words=words, tracked=(shared, shared | changed)) is is_one
    assert not judged(script, script, words=words, tracked=(shared, shared))  # builds differ in what git does not tell


def test_files_that_git_does_not_tell_may_differ(judged: Callable[..., bool]) -> None:
    assert not judged(elf(), elf(), tracked=(frozenset(), None))


def test_a_dynamic_section_that_says_it_is_endless_ends_with_the_file() -> None:
    program = bytearray(elf(_NEEDED))
    program[64 + 32 : 64 + 40] = (1 << 62).to_bytes(8, "little")
    assert not names_library_folders(bytes(program))


def test_what_else_may_differ(judged: Callable[..., bool]) -> None:
    assert judged(elf(), elf(), environment=["PATH"])
    assert not judged(elf(), elf(), shell=True)
    assert not judged(elf(), elf(), words=("{file}",))
    assert not judged(elf(), elf(), setup=["make data"])


def test_a_word_may_be_too_long_for_a_name(judged: Callable[..., bool]) -> None:
    assert judged(elf(), elf(), words=("x" * 300,))


def test_files_that_the_words_name_may_differ(judged: Callable[..., bool], tmp_path: Path) -> None:
    assert judged(elf(), elf(), words=("data", "--fast"))
    (tmp_path / "a/data").write_text("1")
    assert not judged(elf(), elf(), words=("data",))
    (tmp_path / "b/data").write_text("2")
    assert not judged(elf(), elf(), words=("data",))
    (tmp_path / "b/data").write_text("1")
    assert judged(elf(), elf(), words=("data",))


def test_a_program_of_neither_side_says_nothing_of_them(judged: Callable[..., bool], tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    sides = [Built(Revision("r", "r", "r"), Recipe(), each, each, each, ()) for each in folders]
    system = tmp_path / "python"
    system.write_bytes(elf())
    subjects = [Subject(name="s", command="", argv=["python", "-c", ""], program=str(system))] * 2
    assert not is_identical(sides, subjects, Settings())
    assert is_identical([sides[0]] * 2, subjects, Settings())
    assert judged(elf(), elf())
