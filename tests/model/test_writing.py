"""How a file is written: whole or not at all, and with the right permissions."""

from __future__ import annotations

import fcntl
import os
import resource
import stat
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.model.errors import MeasurementError
from steelyard.model.writing import write_atomically


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "record.json"


def test_a_file_is_written_over(file: Path) -> None:
    file.write_text("old and longer than the new")
    write_atomically(file, b"new")
    assert file.read_bytes() == b"new"


def test_what_a_kill_has_left_of_another_goes(file: Path) -> None:
    before = [file.with_name(f".steelyard-{name}") for name in ("ab_cd012", "mine", "ab_cd013", "ab_cd014")]
    for path in before:
        path.touch()
        os.utime(path, (0, 0))
    os.utime(before[2])  # its writer may not have locked it yet
    with before[3].open() as written:
        fcntl.flock(written, fcntl.LOCK_EX)
        write_atomically(file, b"new")
    assert [path for path in before if path.exists()] == before[1:]


def test_a_new_file_has_the_permissions_of_any_other(file: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(file, b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_private_file_is_its_owner_s_alone(file: Path) -> None:
    write_atomically(file, b"", private=True)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
def test_what_is_written_over_keeps_its_mode(file: Path, mode: int) -> None:
    file.touch()
    file.chmod(mode)
    write_atomically(file, b"new")
    assert stat.S_IMODE(file.stat().st_mode) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_what_is_written_over_keeps_its_owner(file: Path) -> None:
    file.touch()
    os.chown(file, 12_345, 23_456)
    file.chmod(0o640)
    write_atomically(file, b"new")
    found = file.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (12_345, 23_456, 0o640)


def test_what_is_written_over_keeps_its_access_list(file: Path) -> None:
    name, everybody = "system.posix_acl_access", 0xFFFFFFFF
    # Only the list says what the group may do: in the mode, its bits are the most that anybody but the owner may do.
    entries = [(1, 6, everybody), (2, 6, 12_345), (4, 0, everybody), (16, 6, everybody), (32, 0, everybody)]
    access = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    file.touch()
    try:
        os.setxattr(file, name, access)
    except OSError as error:
        pytest.skip(f"not tested without access lists: {error.strerror}")
    write_atomically(file, b"new")
    assert os.getxattr(file, name) == access


def test_where_the_owner_cannot_be_kept_no_other_group_may_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    file.touch()
    file.chmod(0o664)
    monkeypatch.setattr(os, "fchown", refuse)
    write_atomically(file, b"new")
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o604


def test_a_failing_write_leaves_the_old_file_and_nothing_beside_it(file: Path) -> None:
    file.write_text("old")
    # Instead of filling a real disk: a limit on the size of files makes the same call fail.
    program = f"""
import resource, signal
from pathlib import Path
from steelyard.model.errors import MeasurementError
from steelyard.model.writing import write_atomically
resource.setrlimit(resource.RLIMIT_FSIZE, (100, {resource.RLIM_INFINITY}))
try:
    write_atomically(Path({str(file)!r}), b"x" * 1000)
except MeasurementError as error:
    print(error, end="")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == f"cannot write {file}: File too large; allow larger files (ulimit -f)"
    assert list(file.parent.iterdir()) == [file]
    assert file.read_text() == "old"


def test_an_interrupted_write_leaves_the_old_file_and_nothing_beside_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    file.write_text("old")
    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(file, b"new")
    assert list(file.parent.iterdir()) == [file]
    assert file.read_text() == "old"


@pytest.mark.parametrize(
    ("place", "reason"),
    [("missing/x.json", "No such file or directory"), ("file/x.json", "Not a directory"), ("folder", "Is a directory")],
)
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, place: str, reason: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(MeasurementError, match=f"cannot write {tmp_path / place}: {reason}"):
        write_atomically(tmp_path / place, b"")
    assert not any((tmp_path / "folder").iterdir())


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    write_atomically(tmp_path / ("x" * 255), b"new")
    assert (tmp_path / ("x" * 255)).read_bytes() == b"new"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    link, file = tmp_path / "link", tmp_path / "file"
    link.symlink_to(file)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert file.read_bytes() == b"new"


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(pipe, b"new")
        assert os.read(reader, 100) == b"new"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_pipe_that_nobody_reads_is_an_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(MeasurementError, match="cannot write"):
        write_atomically(tmp_path / "pipe", b"new")
