"""How the values of options are read (numbers, times, shares), and the sentence if they are invalid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from steelyard.model.errors import UsageError
from steelyard.model.values import relative_margin, seconds, share, size_in_bytes, whole

Reader = Callable[[str, str], Any]


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (whole, "20", 20),
        (whole, "-5", -5),
        (whole, "1e3", 1000),
        (whole, "1_000", 1000),
        (whole, str(2**63 - 1), 2**63 - 1),
        (seconds, "30", 30.0),
        (seconds, "0.5", 0.5),
        (seconds, "30s", 30.0),
        (seconds, "30 s", 30.0),
        (seconds, "500ms", 0.5),
        (seconds, "2m", 120.0),
        (seconds, "2min", 120.0),
        (seconds, "1.5h", 5400.0),
        (seconds, "1e3", 1000.0),
        (seconds, "-1s", -1.0),
        (share, "0.01", 0.01),
        (share, "1%", 0.01),
        (share, " 0.1 %", 0.001),
        (size_in_bytes, "0", 0),
        (size_in_bytes, "500M", 500 << 20),
        (size_in_bytes, "1.5 GiB", 3 << 29),
        (size_in_bytes, "20kb", 20 << 10),
    ],
)
def test_what_is_read(read: Reader, text: str, value: float) -> None:
    assert read("--option", text) == value
    assert type(read("--option", text)) is type(value)


@pytest.mark.parametrize(
    ("read", "texts", "says"),
    [
        (whole, ["", "x", "1.5", "1e400", "nan", "inf", "1,000", "9" * 5000], "is not a whole number"),
        (seconds, ["", "s", "x", "30x", "1m30s", "half an hour", "30 seconds", "ms"], "is not a time"),
        (share, ["", "%", "x", "1%%", "1/100"], "is not a part of 1 or a percentage"),
        (size_in_bytes, ["", "G", "much", "-1", "1e400", "nan", "2 XB", "1GG", "5\u212a"], "is not a size"),
    ],
)
def test_what_is_none_is_said_in_a_short_sentence(read: Reader, texts: list[str], says: str) -> None:
    for text in texts:
        with pytest.raises(UsageError, match=r"^--option '") as caught:
            read("--option", text)
        assert says in str(caught.value)
        assert len(str(caught.value)) < 200


@pytest.mark.parametrize(("text", "margin"), [("0.7%", 0.007), ("0.9", 0.009), ("2.9%", 0.029), ("12.5%", 0.125)])
def test_a_margin_is_the_number_next_to_what_was_written(text: str, margin: float) -> None:
    assert relative_margin(text) == margin
