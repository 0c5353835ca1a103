"""The driver's arguments."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from steelyard.harness.arguments import ArgumentError, descriptor, request, split_arguments

RUN = {"protocol": "1", "run": "a", "loops": "10", "samples": "2", "seed": "5"}


@pytest.fixture
def fd() -> Iterator[int]:
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    yield writer
    os.close(reader)
    os.close(writer)


def test_they_stand_anywhere_and_the_others_stay() -> None:
    arguments, others = split_arguments(["a.py", "--steelyard-run=x=y", "--name", "n", "--steelyard-list", "--steel"])
    assert arguments == {"run": "x=y", "list": ""}
    assert others == ["a.py", "--name", "n", "--steel"]


def test_a_run() -> None:
    found = request(RUN | {"of-a-later-version": "1"})
    assert (found.name, found.loops, found.samples, found.seed) == ("a", 10, 2, 5)


def test_others_before_it() -> None:
    arguments, _ = split_arguments(["--steelyard-before=3:a:b", "--steelyard-before=1:c"])
    assert request(RUN | arguments).before == [("a:b", 3), ("c", 1)]
    assert request(RUN).before == []


def test_several(fd: int) -> None:
    arguments, _ = split_arguments(["--steelyard-each=10:2:5:01:a:b", "--steelyard-each=3:1:0:1:c"])
    found = request({"protocol": "1", "lockstep": str(fd)} | arguments)
    assert (found.name, found.names, found.socket) == (None, ["a:b", "c"], fd)
    one = found.each[0].alone(fd)
    assert (one.name, one.loops, one.samples, one.seed, one.partner is None) == ("a:b", 10, 2, 5, False)


def test_several_by_themselves() -> None:
    found = request({"protocol": "1", "each": "10:2:5::a"})
    assert (found.socket, found.each[0].alone(-1).partner) == (None, None)


def test_the_ends_of_the_ranges() -> None:
    found = request(RUN | {"loops": str(2**53), "samples": "10000", "seed": str(2**64 - 1)})
    assert (found.loops, found.samples, found.seed) == (2**53, 10_000, 2**64 - 1)


def test_a_list_has_no_name() -> None:
    assert request({"protocol": "1", "list": ""}).name is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (RUN | {"each": "1:1:0::a"}, "one of --steelyard-list"),
        ({"protocol": "1", "each": "1:1"}, "seed=: it has to be"),
        ({"protocol": "1", "each": "0:1:0::a"}, "loops=0"),
        ({"protocol": "1", "each": "1:2:0:0:a"}, "each=1:2:0:0:a: its orders have to be"),
        ({"protocol": "1", "each": "1:1:0:2:a"}, "its orders have to be"),
        ({"protocol": "1", "each": "1:1:0:1:a"}, "--steelyard-lockstep=NUMBER is missing"),
        (RUN | {"loops": "0"}, "loops=0"),
        (RUN | {"loops": "-1"}, "loops=-1"),
        (RUN | {"loops": "abc"}, "loops=abc"),
        (RUN | {"loops": "1e3"}, "loops=1e3"),
        (RUN | {"loops": "٣"}, "loops=٣"),
        (RUN | {"loops": ""}, "loops="),
        (RUN | {"loops": str(2**53 + 1)}, "loops=9007199254740993"),
        (RUN | {"loops": "1" * 10_000}, "loops=1111"),
        (RUN | {"before": "0:a"}, "before=0"),
        (RUN | {"before": "a"}, "before=a"),
        (RUN | {"samples": "0"}, "samples=0"),
        (RUN | {"samples": "10001"}, "samples=10001"),
        (RUN | {"seed": str(2**64)}, "seed=18446744073709551616"),
        (RUN | {"protocol": "2"}, "version 1"),
        (RUN | {"protocol": ""}, "version 1"),
        ({"run": "a"}, "protocol is missing"),
        ({"protocol": "1", "run": "a", "samples": "1"}, "loops=NUMBER is missing"),
        (RUN | {"list": ""}, "say one of"),
        ({"protocol": "1"}, "say one of"),
    ],
)
def test_what_cannot_be_followed(arguments: dict[str, str], said: str) -> None:
    with pytest.raises(ArgumentError) as raised:
        request(arguments)
    assert said in str(raised.value)


def test_the_descriptor_is_closed_in_children(fd: int) -> None:
    assert descriptor({"fd": str(fd)}) == fd
    assert not os.get_inheritable(fd)


@pytest.mark.parametrize("arguments", [{}, {"fd": "abc"}, {"fd": "-1"}, {"fd": "987654"}, {"fd": str(2**31)}])
def test_no_descriptor(arguments: dict[str, str]) -> None:
    with pytest.raises(ArgumentError, match="--steelyard-fd"):
        descriptor(arguments)
