"""Tell whether revisions result in the same program: then there is nothing to weigh.

Where that is not certain the program is measured, which is never wrong: scripts are, and programs that load files from
beside them.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from steelyard.measure.elf import names_library_folders, read_elf
from steelyard.model.project_file import OWN, is_own_alone
from steelyard.model.settings import Settings
from steelyard.model.subject import Subject
from steelyard.subjects.command import subject_in_layout

if TYPE_CHECKING:
    from steelyard.subjects.revisions.builds import Built

# A linker's hash of all that it links, including paths: a note of 16 or 20 bytes (ELF, .note.gnu.build-id).
_BUILD_ID = re.compile(rb"\x04\0\0\0([\x08\x10\x14\x20])\0\0\0\x03\0\0\0GNU\0")
# By these, and by DT_RPATH and DT_RUNPATH in its header, a program finds libraries that may differ between sides.
_LOADER_VARIABLES = ("LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT")
_DLOPEN = b"\0dlopen\0"
# What compilers and people read, but not the program that was built from it; it may open any other file beside it.
_UNREAD_SUFFIXES = frozenset(
    ".c .cc .cpp .cxx .c++ .h .hh .hpp .hxx .h++ .inl .ipp .tpp .m .mm .s .asm .d .rs .go .zig .swift .f .f90 .f95 "  # noqa: SIM905
    ".f03 .f08 .for .ada .adb .ads .pas .nim .hs .ml .mli .cu .cuh .cmake .mk .am .ac .m4 .md .rst .adoc .texi".split()
)
_UNREAD_NAMES = re.compile(
    r"(?:.*/)?(?:README|LICEN[CS]E|COPYING|CHANGELOG|CHANGES|NEWS|AUTHORS|(?:GNU)?[Mm]akefile|CMakeLists\.txt|meson\.build"
    r"|Cargo\.(?:toml|lock)|go\.(?:mod|sum)|steelyard\.toml|\.git(?:ignore|attributes)|\.editorconfig|\.clang-(?:format|tidy))"
    r"|\.github/.*|\.gitlab-ci\.yml"
)


def are_identical(sides: Sequence[Sequence[Built]], subjects: Sequence[Subject], settings: Settings) -> bool:
    """Return whether all sides are identical, in each of their layouts."""
    return all(
        is_identical(
            builds, [subject_in_layout(subject, builds[0].recipe.layout or 0) for subject in subjects], settings
        )
        for builds in zip(*sides, strict=True)
    )


def is_identical(sides: Sequence[Built], subjects: Sequence[Subject], settings: Settings) -> bool:
    """Return whether all sides have the same files, or programs that differ only in the paths they were built at."""
    if settings.has_unlike_hooks:
        return False  # one program may do different work then
    if _is_one_build(sides):
        return True
    programs = [_program_digest(side, subject) for side, subject in zip(sides, subjects, strict=True)]
    if None not in programs and len(set(programs)) > 1:
        return False  # before git is asked for files: a bisection has many such pairs
    if same_files(sides, subjects) is not None:
        return True
    if None in programs:
        return False
    if any(settings.hooks().values()) or any(
        name in (*settings.environment, *settings.variables) for name in _LOADER_VARIABLES
    ):
        return False
    if any(subject.shell or any("{" in word for word in subject.argv) for subject in subjects):
        return False  # parameters may name files
    return all(
        _have_same_inputs(one, other) and _differ_only_in(one[0], other[0], _are_unread)
        for one, other in pairwise(zip(sides, subjects, strict=True))
    )


def _is_one_build(sides: Sequence[Built]) -> bool:
    return len({side.top for side in sides}) == 1


def same_files(sides: Sequence[Built], subjects: Sequence[Subject]) -> str | None:
    """Return a clause that says how far all sides have the same files, built in the same way; None if they have not.

    They may differ in the project's file, as no program reads it; a command that names it does.
    """
    if _is_one_build(sides):
        return "have the same files"
    if any(OWN in word for subject in subjects for word in subject.argv):
        return None
    if all(_differ_only_in(one, other, is_own_alone) for one, other in pairwise(sides)):
        return f"have the same files but for {OWN}"
    return None


def _program_digest(side: Built, subject: Subject) -> str | None:
    """Return the hash of a program that a build made and that needs nothing beside it; None for any other."""
    path = Path(subject.program)
    if not path.is_relative_to(side.top):
        return None
    try:
        if read_elf(path) is None or _may_load_files(path.read_bytes()):
            return None
    except OSError:
        return None
    return digest_but_for_paths(path, str(side.top))


def _may_load_files(program: bytes) -> bool:
    """Return whether a program may load files from beside it: libraries from folders that it names, or by dlopen."""
    return names_library_folders(program) or _DLOPEN in program


def digest_but_for_paths(program: Path, folder: str) -> str | None:
    """Return the SHA-256 of a file without the folder that it was built in and a linker's hash; None if unreadable."""
    try:
        data = program.read_bytes()
    except OSError:
        return None
    return hashlib.sha256(_without_build_id(data.replace(os.fsencode(folder), b""))).hexdigest()


def _have_same_inputs(one: tuple[Built, Subject], other: tuple[Built, Subject]) -> bool:
    """Return whether the files that the command's words name are the same on both sides."""
    (mine, my_subject), (theirs, their_subject) = one, other
    for word, their_word in zip(_possible_files(my_subject), _possible_files(their_subject), strict=True):
        paths = mine.folder / word, theirs.folder / their_word
        if not any(map(os.path.exists, paths)):  # Path.exists() raises where a word is too long for a name
            continue
        try:
            if not all(path.is_file() for path in paths) or paths[0].read_bytes() != paths[1].read_bytes():
                return False
        except OSError:
            return False
    return True


def _possible_files(subject: Subject) -> list[str]:
    """Return what in a command may be the name of a file: its words, and the values of options such as `--in=data`."""
    words = subject.argv[1:]
    return [*words, *(word.partition("=")[2] or word for word in words)]


def _differ_only_in(one: Built, other: Built, may_differ: Callable[[Collection[str]], bool]) -> bool:
    """Return whether all files that git knows to differ, by their paths, may differ; not if git does not tell."""
    mine, theirs = one.tracked(), other.tracked()
    return mine is not None and theirs is not None and may_differ({line.partition("\t")[2] for line in mine ^ theirs})


def _are_unread(paths: Collection[str]) -> bool:
    """Return whether these are files that no program opens of its own accord."""
    return all(
        PurePosixPath(path).suffix.lower() in _UNREAD_SUFFIXES or _UNREAD_NAMES.fullmatch(path) for path in paths
    )


def _without_build_id(data: bytes) -> bytes:
    note = _BUILD_ID.search(data)
    if note is None:
        return data
    return data[: note.end()] + data[note.end() + note[1][0] :]
