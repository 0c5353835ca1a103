from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.report import figures


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
        (10_838e9, "3 h 38 s"),
        (7_512_300_000_000, "2 h 5 min 12 s"),
        (math.nan, "n/a"),
    ],
)
def test_durations(ns: float, shown: str) -> None:
    assert figures.duration(ns) == shown


@given(st.floats(1, 5e11))
def test_a_duration_keeps_four_digits(ns: float) -> None:
    number, unit = figures.duration(ns).split()
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
    assert figures.seconds(elapsed) == shown


@given(st.floats(0.1, 1e6))
def test_a_budget_never_counts_sixty(elapsed: float) -> None:
    assert not re.search(r"\b60 (s|min)", figures.seconds(elapsed))


@pytest.mark.parametrize(
    ("amount", "shown"),
    [(0, "0 B"), (0.25, "0.2500 B"), (812, "812 B"), (9 * 2**20, "9.000 MiB"), (2**50, "1,024 TiB")],
)
def test_sizes(amount: float, shown: str) -> None:
    assert figures.size(amount) == shown


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
    assert figures.change(relative) == shown


@pytest.mark.parametrize(
    ("relative", "limit", "shown"),
    [
        (0.050049, 0.05, "+5.005 %"),
        (0.04999, 0.05, "+4.999 %"),
        (0.05000001, 0.05, "+5.000001 %"),
        (0.05, 0.05, "+5.00 %"),
        (0.06, 0.05, "+6.00 %"),
        (0.12503, 0.125, "+12.503 %"),
        (None, 0.05, "n/a"),
    ],
)
def test_a_change_is_seen_to_lie_above_or_below_a_limit(relative: float | None, limit: float, shown: str) -> None:
    assert figures.change(relative, limit) == shown
    assert figures.interval((-0.01, relative or 0.05), limit) == f"[-1.00 %, {shown if relative else '+5.00 %'}]"


@given(st.floats(1e-7, 10) | st.floats(-0.999, -1e-7))
def test_a_change_keeps_its_sign_and_is_never_shown_as_none(relative: float) -> None:
    shown = float(figures.change(relative).removesuffix(" %").replace(",", ""))
    assert math.copysign(1, shown) == math.copysign(1, relative)
    assert shown != 0
    # Rounding is off by half of the last digit at most: of a single digit, of 0.01 %, of 0.1 %, of 1 %.
    halves = ((5e-5, 0.51 * abs(relative)), (0.0999, 5.1e-5), (0.999, 5.1e-4), (math.inf, 5.1e-3))
    assert abs(shown / 100 - relative) <= next(half for end, half in halves if abs(relative) < end)


def test_intervals_and_shares() -> None:
    assert figures.interval((0.0061, 0.014)) == "[+0.61 %, +1.40 %]"
    assert figures.interval((5e-324, 0.014)) == "[>0 %, +1.40 %]"
    assert figures.interval((-0.014, -5e-324)) == "[-1.40 %, <0 %]"
    assert figures.interval((0.0, 0.014)) == "[0.00 %, +1.40 %]"
    assert [figures.percent(share) for share in (0.005, 0.43, 0.012, 1.0, 0.0)] == [
        "0.5 %",
        "43 %",
        "1.2 %",
        "100 %",
        "0 %",
    ]
    shares = [figures.percent(share) for share in (0.9949, 12.34, 0.00001234, 0.000001, 1e-9)]
    assert shares == ["99 %", "1,234 %", "0.00123 %", "0.0001 %", "0 %"]
    # A share that is not all of it is not shown as "100 %".
    shares = [figures.percent(share) for share in (0.995, 0.998, 0.99966, 0.999_999_4, 1 - 1e-9, 1.001)]
    assert shares == ["99.5 %", "99.8 %", "99.97 %", "99.99994 %", "100 %", "100 %"]
    # A limit of 12.5 % is not shown as "12 %", which a smaller change would exceed.
    assert [figures.threshold(share) for share in (0.125, 0.005, 0.007, 1e-5, 10.0, 0.0)] == [
        "12.5 %",
        "0.5 %",
        "0.7 %",
        "0.001 %",
        "1000 %",
        "0 %",
    ]
    assert [figures.whole_percent(share) for share in (0.0, 0.0499, 0.123, 1.5)] == ["0 %", "5 %", "12 %", "150 %"]
    assert [figures.confidence(alpha) for alpha in (0.01, 0.0005)] == ["99 %", "99.95 %"]
    assert figures.extent(-0.012) == "1.20 %"


@given(st.floats(1e-9, 1e6))
def test_no_share_has_an_exponent(share: float) -> None:
    assert re.fullmatch(r"[\d,.]+ %", figures.percent(share))


def test_counts_agree_with_their_noun() -> None:
    assert figures.count(1, "pair") == "1 pair"
    assert figures.count(1200, "launch", "launches") == "1,200 launches"
    assert figures.count(0, "pair") == "0 pairs"


def test_a_metric_brings_its_unit() -> None:
    assert figures.quantity(12.81e6, "active") == "12.81 ms"
    assert figures.quantity(2**21, "max_rss") == "2.000 MiB"
    assert figures.quantity(312, "minor_faults") == "312"
    assert figures.quantity(312.5, "minor_faults") == "312.5"


@pytest.mark.parametrize(
    ("created", "shown"),
    [
        ("2026-11-25T20:51:25+00:00", "2026-11-25 20:51 UTC"),
        ("2026-11-25T20:51:25Z", "2026-11-25 20:51 UTC"),
        ("2026-11-25T22:51:25.5+02:00", "2026-11-25 20:51 UTC"),
        ("2026-11-25T20:51:25", "2026-11-25T20:51:25"),
        ("0001-01-01T00:00:00+23:59", "0001-01-01T00:00:00+23:59"),
        ("yesterday", "yesterday"),
    ],
)
def test_moments(created: str, shown: str) -> None:
    assert figures.moment(created) == shown


def test_a_tally_counts_names_or_takes_their_numbers() -> None:
    assert figures.tally(["same", "slower", "same"]) == figures.tally({"same": 2, "slower": 1}) == "1 slower, 2 same"
    assert figures.tally({"undecided": 1000}) == "1,000 undecided"
