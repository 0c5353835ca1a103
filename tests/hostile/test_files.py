"""Files that are given for a record and mean no good: refused, in a bounded memory and time."""

from __future__ import annotations

import gzip
import os
import subprocess
from pathlib import Path

import pytest

from steelyard.model import files
from tests.hostile.tool import Tool
from tests.in_process import InProcess

MIB = 1 << 20
# Python with all that is imported, and what is read: never the many times more that it would become.
ALLOWED = 1000 * MIB


def bomb(path: Path, piece: bytes, times: int) -> None:
    """A compressed file of a few MB at most that unpacks to `times` MiB of a piece of 1 MiB."""
    assert len(piece) == MIB
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(times):
            file.write(piece)


@pytest.mark.parametrize("piece", [b"\0" * MIB, b"[0" + b",0" * (MIB // 2 - 1)], ids=["zeros", "numbers"])
def test_a_file_that_unpacks_to_more_than_it_may(tool: Tool, piece: bytes) -> None:
    bomb(tool.folder / "bomb.gz", piece, 300)
    done = tool("show", "bomb.gz")
    assert done.status == 2
    assert "bomb.gz is larger than any weighing" in done.sentence
    assert done.peak_bytes < ALLOWED


@pytest.mark.parametrize("piece", [b",0", b"[]"], ids=["numbers", "lists"])
def test_a_file_of_a_hundred_million_values(tool: Tool, piece: bytes) -> None:
    bomb(tool.folder / "record.json.gz", piece * (MIB // 2), 191)
    done = tool("show", "record.json.gz")
    assert done.status == 2
    assert "holds more values than any weighing" in done.sentence
    assert done.peak_bytes < ALLOWED


@pytest.mark.parametrize("piece", ["[", '{"launches":'])
def test_a_file_that_is_nested_deeply(tool: Tool, piece: str) -> None:
    (tool.folder / "record").write_text(piece * 1_000_000)
    assert "record is not a weighing" in tool.refuses("show", "record")


def test_a_file_of_gigabytes_that_takes_no_room(tool: Tool) -> None:
    with (tool.folder / "sparse").open("wb") as file:
        file.truncate(8 << 30)
    done = tool("show", "sparse")
    assert done.status == 2
    assert "larger than any weighing" in done.sentence
    assert done.peak_bytes < ALLOWED


def test_a_pipe_that_nobody_writes_to(asked: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_LONGEST_WAIT_S", 0.2)
    os.mkfifo(asked.folder / "pipe")
    assert "nobody writes to" in asked.refuses("show", "pipe")


def test_a_pipe_without_end(tool: Tool) -> None:
    os.mkfifo(tool.folder / "pipe")
    with subprocess.Popen(["/bin/sh", "-c", "exec yes > pipe"], cwd=tool.folder) as writer:
        done = tool("show", "pipe")
        writer.wait(60)  # its reader has gone
    assert done.status == 2
    assert "larger than any weighing" in done.sentence
    assert done.peak_bytes < ALLOWED


def test_a_pipe_whose_writer_comes_late_and_is_slow(tool: Tool) -> None:
    tool.run("true", "--json", "record.json")
    os.mkfifo(tool.folder / "pipe")
    slow = "sleep 0.3; exec 3> pipe; sleep 0.3; head -c 100 record.json >&3; sleep 0.3; tail -c +101 record.json >&3"
    with subprocess.Popen(["/bin/sh", "-c", slow], cwd=tool.folder):
        done = tool("show", "pipe")
    assert (done.status, done.err) == (0, "")
    assert "subject" in done.out


@pytest.mark.parametrize("file", ["/dev/zero", "/dev/null", "/dev/tty", "/proc/self/mem", "."])
def test_what_is_no_file(tool: Tool, file: str) -> None:
    if not Path(file).exists():
        pytest.skip(f"not tested without {file}")
    sentence = tool.refuses("show", file, start_new_session=True)
    assert file in sentence
