"""ELF headers of programs, of both widths and byte orders."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from types import SimpleNamespace

import pytest

from steelyard.measure.elf import Elf, code_of, names_library_folders, needed_libraries, read_elf
from steelyard.measure.native import HEAP
from steelyard.measure.preloading import refusal
from tests.elf_heads import DYNAMIC, INTERPRETER, LOADED, NOTE, made, needing

_NEEDED, _RUNPATH = 1, 29
every_kind = pytest.mark.parametrize(("bits", "order"), [(64, "<"), (64, ">"), (32, "<"), (32, ">")])


@every_kind
def test_what_a_head_says_is_read(bits: int, order: str, tmp_path: Path) -> None:
    program = tmp_path / "program"
    segments = (NOTE, b"note"), (INTERPRETER, b"/lib/loader\0"), (NOTE, b"more")
    program.write_bytes(made(*segments, bits=bits, order=order, machine=8))
    assert read_elf(program) == Elf(bits == 64, machine=8, interpreter="/lib/loader")
    program.write_bytes(made((NOTE, b"no loader" * 9), bits=bits, order=order))
    assert read_elf(program) == Elf(bits == 64, machine=62, interpreter=None)


@every_kind
def test_folders_of_libraries_are_found(bits: int, order: str) -> None:
    def dynamic(*tags: int) -> bytes:
        """Make a program with these tags; their values, and another section, look like tags, too."""
        form = f"{order}2{'Q' if bits == 64 else 'I'}"
        section = b"".join(struct.pack(form, tag, _RUNPATH) for tag in tags)
        return made((NOTE, struct.pack(form, _RUNPATH, 1)), (DYNAMIC, section), bits=bits, order=order)

    assert names_library_folders(dynamic(_NEEDED, _RUNPATH))
    assert not names_library_folders(dynamic(_NEEDED, _NEEDED))
    assert not names_library_folders(dynamic(_RUNPATH).replace(b"ELF", b"FLE"))


@every_kind
def test_libraries_that_are_asked_for_are_named(bits: int, order: str) -> None:
    program = needing("libm.so.6", "libc.so.6", bits=bits, order=order)
    assert needed_libraries(program) == ["libm.so.6", "libc.so.6"]
    assert not names_library_folders(program)
    assert needed_libraries(needing(bits=bits, order=order)) == []
    assert needed_libraries(program.replace(b"ELF", b"FLE")) == []
    assert needed_libraries(made((DYNAMIC, b"\xff" * 64), bits=bits, order=order)) == []


@every_kind
def test_what_is_executed_is_told_from_the_rest(bits: int, order: str) -> None:
    segments = (NOTE, b"note"), (LOADED, b"code"), (INTERPRETER, b"loader"), (LOADED, b"more")
    assert code_of(made(*segments, bits=bits, order=order)) == b"codemore"
    assert code_of(made(*segments, bits=bits, order=order, rights=6)) == b""
    assert code_of(b"words" * 99) == b""


def test_what_is_no_program_says_nothing(tmp_path: Path) -> None:
    program = tmp_path / "program"
    for data in (b"", b"words\n", made()[:63], made((INTERPRETER, b"/lib/loader\0"), at=(1 << 64) - 1)):
        program.write_bytes(data)
        assert read_elf(program) is None
        assert refusal(program, HEAP) is None
    assert read_elf(tmp_path) is None


def test_segments_without_a_size_are_none(tmp_path: Path) -> None:
    program, data = tmp_path / "program", bytearray(made((INTERPRETER, b"/lib/loader\0")))
    data[54:56] = bytes(2)
    program.write_bytes(data)
    assert read_elf(program) == Elf(wide=True, machine=62, interpreter=None)


@pytest.mark.parametrize(
    ("mode", "user", "group", "attributes", "is_privileged"),
    [
        (0o755, 8, 8, ["user.note"], False),
        (0o4755, 7, 8, [], False),
        (0o4755, 8, 7, [], True),
        (0o2755, 8, 7, [], False),
        (0o2755, 7, 8, [], True),
        (0o755, 7, 7, ["security.capability"], True),
        (0o755, 0, 7, ["security.capability"], False),  # root has these rights already
    ],
)
def test_the_rights_of_user_7_and_group_7_are_anothers_for_all_others(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mode: int,
    user: int,
    group: int,
    attributes: list[str],
    *,
    is_privileged: bool,
) -> None:
    program, ours = tmp_path / "program", read_elf(HEAP)
    assert ours is not None
    program.write_bytes(made((INTERPRETER, b"/lib/loader\0"), bits=64 if ours.wide else 32, machine=ours.machine))
    monkeypatch.setattr(os, "getuid", lambda: user)
    monkeypatch.setattr(os, "getgid", lambda: group)
    monkeypatch.setattr(os, "listxattr", lambda _: attributes)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "stat", lambda _: SimpleNamespace(st_mode=mode, st_uid=7, st_gid=7))
        said = refusal(program, HEAP)
    assert ("privileges" in (said or "")) is is_privileged
