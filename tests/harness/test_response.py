"""The response that is written."""

from __future__ import annotations

import json
import os

import pytest

import steelyard
from steelyard.harness.entry import Entry
from steelyard.harness.response import Response
from steelyard.harness.worker import Sample


def sent(response: Response, reader: int, writer: int) -> list[object]:
    response.send()
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        return [json.loads(line) for line in pipe.read().decode().splitlines()]


def test_every_line() -> None:
    reader, writer = os.pipe()
    response = Response(writer)
    response.list(Entry('a "b"\\ü', "x.py:1", {"n": "ö"}, ("t", "u")))
    response.list(Entry("c", "x.py:2"))
    response.sample(Sample(3, 100, 90, 0))
    response.sample(Sample(3, 100, 90, None))
    response.sample(Sample(3, 100, None, None, 1))
    assert not response.failed
    response.error("bad\n\x00 \udce9")
    assert response.failed
    assert sent(response, reader, writer) == [
        {
            "steelyard": 1,
            "harness": f"steelyard.harness {steelyard.__version__}",
            "language": "Python",
            "lockstep": True,
            "each": True,
        },
        {"benchmark": 'a "b"\\ü', "params": {"n": "ö"}, "tags": ["t", "u"], "source": "x.py:1"},
        {"benchmark": "c", "source": "x.py:2"},
        {"loops": 3, "ns": 100, "cpu_ns": 90, "delay_ns": 0},
        {"loops": 3, "ns": 100, "cpu_ns": 90},
        {"loops": 3, "ns": 100, "order": 1},
        {"error": "bad\n\x00 \\udce9"},
        {"end": True},
    ]


def test_nothing_is_written_before_it_is_sent() -> None:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    Response(writer).sample(Sample(1, 1, None, None))
    with pytest.raises(BlockingIOError):
        os.read(reader, 1)
    os.close(reader)
    os.close(writer)


def test_a_fork_of_the_program_does_not_respond() -> None:
    reader, writer = os.pipe()
    response = Response(writer)
    response._process = os.getpid() + 1
    assert sent(response, reader, writer) == []
