"""What is written."""

from __future__ import annotations

import json
import os

import pytest

import steelyard
from steelyard.harness.answer import Answer
from steelyard.harness.find import Entry
from steelyard.harness.worker import Sample


def sent(answer: Answer, reader: int, writer: int) -> list[object]:
    answer.send()
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        return [json.loads(line) for line in pipe.read().decode().splitlines()]


def test_every_line() -> None:
    reader, writer = os.pipe()
    answer = Answer(writer)
    answer.list(Entry('a "b"\\ü', "x.py:1", {"n": "ö"}, ("t", "u")))
    answer.list(Entry("c", "x.py:2"))
    answer.sample(Sample(3, 100, 90, 0))
    answer.sample(Sample(3, 100, 90, None))
    answer.sample(Sample(3, 100, None, None))
    assert not answer.failed
    answer.error("bad\n\x00 \udce9")
    assert answer.failed
    assert sent(answer, reader, writer) == [
        {"steelyard": 1, "harness": f"steelyard.harness {steelyard.__version__}", "language": "Python"},
        {"benchmark": 'a "b"\\ü', "params": {"n": "ö"}, "tags": ["t", "u"], "source": "x.py:1"},
        {"benchmark": "c", "source": "x.py:2"},
        {"loops": 3, "ns": 100, "cpu_ns": 90, "delay_ns": 0},
        {"loops": 3, "ns": 100, "cpu_ns": 90},
        {"loops": 3, "ns": 100},
        {"error": "bad\n\x00 \\udce9"},
        {"end": True},
    ]


def test_nothing_is_written_before_it_is_sent() -> None:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    Answer(writer).sample(Sample(1, 1, None, None))
    with pytest.raises(BlockingIOError):
        os.read(reader, 1)
    os.close(reader)
    os.close(writer)


def test_a_fork_of_the_program_does_not_answer() -> None:
    reader, writer = os.pipe()
    answer = Answer(writer)
    answer._process = os.getpid() + 1
    assert sent(answer, reader, writer) == []
