"""Hostile files given as records: refused, in bounded memory and time."""

from __future__ import annotations

import csv
import json
import os
import re
import socket
import struct
import subprocess
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from steelyard.model import file_bytes
from steelyard.subjects import responses
from tests.hostile.full_records import full_records
from tests.hostile.tool import Tool
from tests.in_process import InProcess

MIB = 1 << 20
# Enough for Python with its imports and for what is read, but not for the many times more that it would unpack to.
ALLOWED = 1000 * MIB


def bomb(path: Path, piece: bytes, times: int) -> None:
    """Write a compressed file of a few MB at most that unpacks to `times` copies of a piece of 1 MiB."""
    assert len(piece) == MIB
    packer = zlib.compressobj(level=1, wbits=-zlib.MAX_WBITS)
    block = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)  # independent of what is before: packed once
    total = reduce(lambda crc, _: zlib.crc32(piece, crc), range(times), 0)
    end = packer.flush() + struct.pack("<II", total, times * MIB)
    path.write_bytes(b"\x1f\x8b\x08" + bytes(6) + b"\xff" + block * times + end)


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
    monkeypatch.setattr(file_bytes, "_LONGEST_WAIT_S", 0.2)
    os.mkfifo(asked.folder / "pipe")
    assert "nobody writes to" in asked.refuses("show", "pipe")


def test_a_pipe_without_end(tool: Tool) -> None:
    os.mkfifo(tool.folder / "pipe")
    with subprocess.Popen(["/bin/sh", "-c", "exec yes > pipe"], cwd=tool.folder) as writer:
        done = tool("show", "pipe")
        writer.wait(60)  # ends, because its reader has gone
    assert done.status == 2
    assert "larger than any weighing" in done.sentence
    assert done.peak_bytes < ALLOWED


def test_a_pipe_whose_writer_comes_late_and_is_slow(asked: InProcess) -> None:
    record = json.dumps(full_records()["run"]).encode()
    os.mkfifo(asked.folder / "pipe")

    def write() -> None:
        time.sleep(0.1)
        with (asked.folder / "pipe").open("wb", buffering=0) as pipe:
            for part in (record[:100], record[100:]):
                time.sleep(0.1)
                pipe.write(part)

    with ThreadPoolExecutor() as pool:
        writing = pool.submit(write)
        done = asked("show", "pipe")
        writing.result()
    assert done.status == 0
    assert "subject" in done.text


@pytest.mark.parametrize("file", ["/dev/tty", "/proc/self/mem"])
def test_what_is_no_file(tool: Tool, file: str) -> None:
    if not Path(file).exists():
        pytest.skip(f"not tested without {file}")
    sentence = tool.refuses("show", file, start_new_session=True)
    assert file in sentence


def test_a_small_file_of_25_million_texts(tool: Tool) -> None:
    bomb(tool.folder / "record.json.gz", b'"a",' * (MIB // 4), 100)
    for command in ("show", "import"):
        done = tool(command, "record.json.gz")
        assert done.status == 2
        assert "holds more values than any weighing" in done.sentence
        assert done.peak_bytes < ALLOWED


@pytest.mark.parametrize("words", [("import", "X"), ("show", "X"), ("diff", "X", "X")], ids=lambda words: words[0])
def test_what_is_no_file_for_every_command_that_reads(
    asked: InProcess, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr(file_bytes, "_LONGEST_WAIT_S", 0.2)
    os.mkfifo(asked.folder / "pipe")
    with (asked.folder / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(asked.folder / "socket"))
        for name in ("pipe", "sparse", "socket", "/dev/zero", "/dev/null", "."):
            assert name in asked.refuses(*(name if word == "X" else word for word in words))


def test_an_import_of_a_folder_with_no_end(asked: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(responses, "_MOST_FOLDERS", 10)
    for number in range(20):
        (asked.folder / "target" / str(number)).mkdir(parents=True)
    assert "more than 10 folders" in asked.refuses("import", "target")


def damaged_count(**changes: Any) -> dict[str, Any]:
    record = full_records()["counted-run"]
    counting = record["counting"]
    if "caches" in changes:
        return {**record, "settings": {**record["settings"], "counting": {"caches": changes["caches"]}}}
    parts = [{**part, "events": changes["events"]} for part in counting["functions"]]
    return {**record, "counting": {**counting, "functions": parts}}


@pytest.mark.parametrize(
    "changes",
    [
        {"caches": {"i1": [10**400, 8, 64]}},
        {"caches": {"ll": [0, 8, 64]}},
        {"events": {}},
        {"events": {"Dr": [1, 2, 3]}},
        {"events": {"Ir": [1, 2, 10**400]}},
    ],
    ids=str,
)
def test_counts_of_no_sense(asked: InProcess, changes: dict[str, Any]) -> None:
    (asked.folder / "record.json").write_text(json.dumps(damaged_count(**changes)))
    assert "record.json is damaged" in asked.refuses("show", "record.json")


def test_functions_without_the_events_of_the_caches_are_shown_by_instructions(asked: InProcess) -> None:
    record = damaged_count(events={"Ir": [900, 100, 5]})
    record["settings"] = {**record["settings"], "metrics": ["cost"]}
    (asked.folder / "record.json").write_text(json.dumps(record))
    done = asked("show", "record.json")
    assert done.status == 0
    assert re.search(r"^900 +90 %  hot$", done.text, re.MULTILINE)


def test_very_many_benchmarks_are_not_all_printed(asked: InProcess) -> None:
    for name, slower in (("a", 100), ("b", 130)):
        lines = [f"Benchmark{n} \t 1000\t {slower if n % 1000 == 7 else 100}.{n % 10} ns/op\n" for n in range(3000)]
        (asked.folder / f"{name}.txt").write_text("".join(["pkg: x\n", *lines, "PASS\n"]))
        done = asked("import", f"{name}.txt", "-o", f"{name}.json", "--markdown", f"{name}.md")
        assert done.text.count("\n") < 2000
        assert "2,800 more benchmarks: --markdown FILE has all of them" in done.text
        assert (asked.folder / f"{name}.md").read_text().count("<code>") == 3000
    assert "2,800 more benchmarks" in asked("show", "a.json").text
    done = asked("diff", "a.json", "b.json")
    assert done.text.count("\n") < 3000
    assert done.text.count("\nbenchmark ") == 200
    assert "x.Benchmark2007" in done.text
    assert "2,800 more benchmarks" in done.text


def test_names_that_are_formulas_are_texts_in_csv(asked: InProcess) -> None:
    names = ["=1+1", "+1", "-1", "@x", "plain", "a=b"]
    results = [{"command": name, "times": [0.5, 0.25]} for name in names]
    (asked.folder / "h.json").write_text(json.dumps({"results": results}))
    assert asked("import", "h.json", "--csv", "h.csv").status == 0
    rows = list(csv.DictReader((asked.folder / "h.csv").read_text().splitlines()))
    assert [row["benchmark_name"] for row in rows[::2]] == ["'=1+1", "'+1", "'-1", "'@x", "plain", "a=b"]
    assert {row["value"] for row in rows} == {"0.5", "0.25"}


@pytest.mark.parametrize(("command", "place"), [("show", "steelyard.model.files.parse"), ("import", "json.loads")])
def test_a_file_that_memory_does_not_suffice_for(
    asked: InProcess, monkeypatch: pytest.MonkeyPatch, command: str, place: str
) -> None:
    def lacking(*_: object, **__: object) -> None:
        raise MemoryError

    (asked.folder / "record.json").write_text("{}")
    monkeypatch.setattr(place, lacking)
    assert "takes more memory to be read than there is" in asked.refuses(command, "record.json")
