from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from steelyard.report import words

ANYTHING = st.text(st.characters())  # surrogates and controls too


@given(ANYTHING)
def test_nothing_that_steers_a_terminal_survives(text: str) -> None:
    shown = words.plain(text)
    assert shown.isprintable()
    assert shown.encode("utf-8").decode("utf-8") == shown


@given(ANYTHING)
def test_plain_says_only_what_the_encoding_can(text: str) -> None:
    assert words.plain(text, "ascii").isascii()


@given(st.text(st.characters(categories=["L", "N", "P", "S"])))
def test_plain_leaves_what_prints_alone(text: str) -> None:
    assert words.plain(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("\x9b2J", r"\x9b2J"),
        ("\x7f\x00", r"\x7f\x00"),
        ("abc\u202edcba", r"abc\u202edcba"),
        ("zero\u200bwidth", r"zero\u200bwidth"),
        (b"caf\xe9".decode("utf-8", "surrogateescape"), r"caf\xe9"),
        ("\ud800", r"\ud800"),
        ("grep 'naïve' 名前", "grep 'naïve' 名前"),
    ],
)
def test_what_is_escaped_stays_readable(text: str, shown: str) -> None:
    assert words.plain(text) == shown


def test_lines_that_are_meant_are_kept() -> None:
    assert words.plain_lines("first\n\tsecond\x1b[0m\n") == ["first", "    second\\x1b[0m"]


@given(ANYTHING.map(words.plain), st.integers(-2, 40))
def test_a_shortened_text_is_never_wider_than_asked(text: str, width: int) -> None:
    assert cell_len(words.shorten(text, width)) <= max(0, width)


@given(st.text("abc名", max_size=20))
def test_what_fits_is_not_shortened(text: str) -> None:
    assert words.shorten(text, cell_len(text)) == text


def test_shortening_keeps_both_ends() -> None:
    assert words.shorten("./build/main/bin/sort --input huge.bin", 21) == "./build/ma…t huge.bin"


@pytest.mark.parametrize(
    ("ns", "shown"),
    [
        (0, "0 ns"),
        (812, "812 ns"),
        (1.5, "1.500 ns"),
        (12_810_000, "12.81 ms"),
        (999_999, "1.000 ms"),
        (999_949, "999.9 µs"),
        (1_234_000_000, "1.234 s"),
        (75.4e9, "75.40 s"),
        (700e9, "11 min 40 s"),
        (math.nan, "n/a"),
    ],
)
def test_durations(ns: float, shown: str) -> None:
    assert words.duration(ns) == shown


@given(st.floats(1, 5e11))
def test_a_duration_keeps_four_digits(ns: float) -> None:
    number, unit = words.duration(ns).split()
    back = float(number.replace(",", "")) * {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]
    assert back == pytest.approx(ns, rel=5.1e-4)
    assert len(number) <= 6


@pytest.mark.parametrize(
    ("elapsed", "shown"),
    [
        (0, "0 s"),
        (0.031, "31 ms"),
        (0.0999, "0.1 s"),
        (0.87, "0.9 s"),
        (6, "6 s"),
        (9.96, "10 s"),
        (59.7, "1 min"),
        (200, "3 min 20 s"),
        (3600, "1 h"),
        (7500, "2 h 5 min"),
    ],
)
def test_budgets(elapsed: float, shown: str) -> None:
    assert words.seconds(elapsed) == shown


@given(st.floats(0.1, 1e6))
def test_a_budget_never_counts_sixty(elapsed: float) -> None:
    assert not re.search(r"\b60 (s|min)", words.seconds(elapsed))


@pytest.mark.parametrize(
    ("amount", "shown"), [(0, "0 B"), (812, "812 B"), (9 * 2**20, "9.000 MiB"), (2**50, "1,024 TiB")]
)
def test_sizes(amount: float, shown: str) -> None:
    assert words.size(amount) == shown


@pytest.mark.parametrize(
    ("relative", "shown"),
    [
        (0.0102, "+1.02 %"),
        (-0.003, "-0.30 %"),
        (0.0, "0.00 %"),
        (0.00004, "+0.004 %"),
        (-0.00004, "-0.004 %"),
        (0.3, "+30.0 %"),
        (1.534, "+153 %"),
        (41.0, "+4,100 %"),
        (math.inf, "+inf %"),
        (math.nan, "n/a %"),
    ],
)
def test_changes(relative: float, shown: str) -> None:
    assert words.change(relative) == shown


@given(st.floats(1e-7, 10) | st.floats(-0.999, -1e-7))
def test_a_change_keeps_its_sign_and_is_never_shown_as_none(relative: float) -> None:
    shown = float(words.change(relative).removesuffix(" %").replace(",", ""))
    assert math.copysign(1, shown) == math.copysign(1, relative)
    assert shown != 0
    # Rounded at the worst by half of 0.001 % at 0.001 %, by half of 0.01 % above, by half a percent far above.
    assert abs(shown / 100 - relative) <= max(0.51 * abs(relative), 5.1e-5) or abs(relative) > 0.09


def test_intervals_and_shares() -> None:
    assert words.interval((0.0061, 0.014)) == "[+0.61 %, +1.40 %]"
    assert [words.percent(share) for share in (0.005, 0.43, 0.012, 1.0, 0.0)] == [
        "0.5 %",
        "43 %",
        "1.2 %",
        "100 %",
        "0 %",
    ]
    assert [words.confidence(alpha) for alpha in (0.01, 0.0005)] == ["99 %", "99.95 %"]
    assert words.extent(-0.012) == "1.20 %"


def test_counts_agree_with_their_noun() -> None:
    assert words.count(1, "pair") == "1 pair"
    assert words.count(1200, "launch", "launches") == "1,200 launches"
    assert words.count(0, "pair") == "0 pairs"


def test_a_metric_brings_its_unit() -> None:
    assert words.quantity(12.81e6, "active") == "12.81 ms"
    assert words.quantity(2**21, "max_rss") == "2.000 MiB"
    assert words.quantity(312, "minor_faults") == "312"
    assert words.quantity(312.5, "minor_faults") == "312.5"


def test_symbols_keep_their_width_in_ascii() -> None:
    text = "12 µs ▁█ ┊ a…z"
    shown = words.symbols(text, "ascii")
    assert shown.isascii()
    assert len(shown) == len(text)
    assert words.symbols(text, "utf-8") == text
