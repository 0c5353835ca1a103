"""Names of benchmarks and of the values of their parameters."""

from __future__ import annotations

import math
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from steelyard.harness.names import BadNameError, bracketed, check_names, combinations, value_text


class Kind(Enum):
    SMALL = 1


class Text(str, Enum):  # noqa: UP042 - its format differs from the text that it is
    SMALL = "s"


class Level(IntEnum):
    LOW = 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (10, "10"),
        (1.5, "1.5"),
        (True, "True"),
        (None, "None"),
        (1j, "1j"),
        (b"\x00", "b'\\x00'"),
        ("a b", "a b"),
        ('it\'s "ü"', 'it\'s "ü"'),
        ("", "p3"),
        ("a\nb", "p3"),
        ("x" * 61, "p3"),
        (sorted, "sorted"),
        (dict, "dict"),
        (math, "math"),
        ({1, 2}, "p3"),
        (object(), "p3"),
        ([1], "p3"),
        (Kind.SMALL, "Kind.SMALL"),
        (Text.SMALL, "Text.SMALL"),
        (Level.LOW, "Level.LOW"),
        (np.int64(3), "3"),
        (np.float32(0.1), "0.1"),
        (np.True_, "True"),
        (np.datetime64("2026-01-02"), "2026-01-02"),
        (Decimal("1.50"), "1.50"),
        (Fraction(1, 3), "1/3"),
    ],
)
def test_values(value: Any, text: str) -> None:
    assert value_text("p", 3, value) == text


def test_every_combination_the_last_changing_fastest() -> None:
    found = list(combinations({"n": (1, 2), "kind": ("a", [0])}))
    assert [bracketed(texts) for _, texts in found] == [
        "[n=1,kind=a]",
        "[n=1,kind=kind1]",
        "[n=2,kind=a]",
        "[n=2,kind=kind1]",
    ]
    assert found[1][0] == {"n": 1, "kind": [0]}


def test_values_that_would_be_called_alike_have_their_numbers() -> None:
    found = combinations({"by": (lambda: 1, max, lambda: 2), "n": (1, "1")})
    assert [bracketed(texts) for _, texts in found] == [
        f"[by={by},n={n}]" for by in ("by0", "max", "by2") for n in ("n0", "n1")
    ]


def test_no_parameters_are_one_combination() -> None:
    assert [(values, bracketed(texts)) for values, texts in combinations({})] == [({}, "")]


def test_names_that_do() -> None:
    check_names(["a", "A", "a ", "ü" * 250])


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a", "b", "a"], "two benchmarks are called 'a'"),
        (["a\nb"], "cannot be called"),
        ([""], "cannot be called"),
        (["ü" * 251], "cannot be called"),
        (["\udce9"], "no text"),
    ],
)
def test_names_that_do_not(names: list[str], said: str) -> None:
    with pytest.raises(BadNameError, match=said):
        check_names(names)
