"""Numbers as readers see them, with their units, the same in every format."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, get_args

from steelyard.model.findings import VerdictName
from steelyard.model.metrics import METRICS, Unit
from steelyard.model.units import UNITS

NOT_KNOWN = "n/a"
_SIZE_UNITS = {**UNITS["bytes"], "TiB": 2.0**40}


@dataclass(frozen=True)
class ShownUnits:
    """The units chosen for the output, and the kinds of quantities written since."""

    units: Mapping[Unit, str]
    kinds: set[Unit] = field(default_factory=set)

    def unused(self) -> list[str]:
        """Return the chosen units in which no value was written, if any values were written at all."""
        return [unit for kind, unit in self.units.items() if self.kinds and kind not in self.kinds]


_shown_units: ContextVar[ShownUnits | None] = ContextVar("chosen", default=None)


@contextmanager
def in_chosen_units(units: Mapping[Unit, str]) -> Iterator[ShownUnits]:
    """Write all measured values in these units, one per kind of quantity, instead of the unit that suits each value.

    Works like `decimal.localcontext`: every format writes its values through this module, so none needs to know.
    """
    shown = ShownUnits(units)
    token = _shown_units.set(shown)
    try:
        yield shown
    finally:
        _shown_units.reset(token)


VERDICTS: Final = get_args(VerdictName)


def scale_for(value: float, kind: Unit) -> tuple[str, float]:
    """Return (name, size) of one unit for several values up to `value`: the chosen one, or the one that suits."""
    units = UNITS[kind]
    if (chosen_unit := _chosen_unit(kind)) is not None:
        return chosen_unit.removeprefix("1"), units[chosen_unit]
    if kind == "count":
        return "", 1.0
    suitable = [(name, size) for name, size in units.items() if size <= abs(value)]
    return suitable[-1] if suitable else next(iter(units.items()))


def _in_chosen_unit(value: float, kind: Unit) -> str | None:
    """Write the value in the unit chosen for its kind; None if none was chosen."""
    if (unit := _chosen_unit(kind)) is None:
        return None
    return f"{_four_digits(value / UNITS[kind][unit])} {unit}".removesuffix(" 1")


def _chosen_unit(kind: Unit) -> str | None:
    if (shown := _shown_units.get()) is None:
        return None
    shown.kinds.add(kind)
    return shown.units.get(kind)


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun: `1 pair`, `1,200 pairs`. The plural is regular unless given."""
    return f"{number:,} {noun if number == 1 else plural or plural_of(noun)}"


def plural_of(noun: str) -> str:
    """Return a noun's regular plural: `pairs`, `launches`."""
    return noun + ("es" if noun.endswith(("s", "ch")) else "s")


def first_few(names: Sequence[str], most: int) -> str:
    """Write the first `most` names, and how many more there are: `a, b and 3 more`."""
    left_out = len(names) - most
    return ", ".join(names[:most]) + (f" and {left_out:,} more" if left_out > 0 else "")


def duration(ns: float) -> str:
    """Write a measured time in the unit that suits it: `12.81 ms`, four digits; from 10 min on `3 h 38 s`."""
    return amount(ns, "ns")


def seconds(elapsed: float) -> str:
    """Write a budget or an elapsed time: `0.9 s`, `45 s`, `3 min 20 s`, `2 h 5 min`."""
    if not math.isfinite(elapsed):
        return NOT_KNOWN
    if 0 < elapsed < 0.1:
        return f"{elapsed * 1e3:.2g} ms" if elapsed < 0.0995 else "0.1 s"
    if elapsed < 9.95:
        return f"{elapsed:.1f}".removesuffix(".0") + " s"
    whole = round(elapsed)
    return _hours_minutes_seconds(whole if whole < 3600 else 60 * round(elapsed / 60))


def _hours_minutes_seconds(total_s: int) -> str:
    parts = ((total_s // 3600, "h"), (total_s // 60 % 60, "min"), (total_s % 60, "s"))
    return " ".join(f"{number:,} {unit}" for number, unit in parts if number)


def size(size_bytes: float) -> str:
    """Write a size in binary units: `812 B`, `12.31 MiB`."""
    return amount(size_bytes, "bytes")


def quantity(value: float, metric: str) -> str:
    """Write a value of a metric in the metric's unit."""
    return amount(value, METRICS[metric].unit if metric in METRICS else "count")


def amount(value: float, kind: Unit) -> str:
    """Write a value of a kind of quantity, as records hold it: in ns, in bytes or as a number."""
    if not math.isfinite(value):
        return NOT_KNOWN
    if (chosen := _in_chosen_unit(value, kind)) is not None:
        return chosen
    is_whole = float(value).is_integer()
    if kind == "count":
        return f"{value:,.0f}" if is_whole or abs(value) >= 1e4 else _four_digits(value)
    if kind == "ns" and abs(value) >= 600e9:
        return _hours_minutes_seconds(round(value / 1e9))
    units, base = (UNITS["ns"], 1000) if kind == "ns" else (_SIZE_UNITS, 1024)
    if is_whole and abs(value) < base:
        return f"{value:.0f} {next(iter(units))}"
    return _in_suitable_unit(value, units, base)


def rate(per_second: float, unit: str) -> str:
    """Write a throughput: `512.3 MiB/s` of bytes, `1.204 M items/s` of anything else."""
    if not math.isfinite(per_second):
        return NOT_KNOWN
    if unit == "bytes":
        return f"{_in_suitable_unit(per_second, _SIZE_UNITS, 1024)}/s"
    units = {unit: 1.0, f"k {unit}": 1e3, f"M {unit}": 1e6, f"G {unit}": 1e9}
    return f"{_in_suitable_unit(per_second, units, 1000)}/s"


def _in_suitable_unit(value: float, units: Mapping[str, float], base: int) -> str:
    """Write the value in the first of these units in which it is less than `base` as written, or in the last one."""
    suitable = (name for name, size in units.items() if abs(value) < size * (base - 0.05))
    name = next(suitable, [*units][-1])
    return f"{_four_digits(value / units[name])} {name}"


def _four_digits(value: float) -> str:
    """Write four significant digits without an exponent."""
    if value == 0:
        return "0"
    digits = 3 - math.floor(math.log10(abs(float(f"{value:.3e}"))))
    return f"{value:,.{max(0, digits)}f}"


def moment(created: str) -> str:
    """Write when a record was made: `2026-01-01 12:00 UTC`; unchanged if it is no time with a time zone."""
    try:
        when = datetime.fromisoformat(created)
        return f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if when.tzinfo else created
    except (ValueError, OverflowError):
        return created


def threshold(share: float) -> str:
    """Write a margin or a limit with all the digits it was given with, as changes are held to it: `12.5 %`."""
    return f"{100 * share:.6g} %"


def percent(share: float) -> str:
    """Write a share without a sign: `0.5 %`, `43 %`."""
    return f"{_percent_digits(abs(share))} %" if share >= 0 else f"-{_percent_digits(abs(share))} %"


def whole_percent(share: float) -> str:
    """Write a share in whole percent, where tenths would mean nothing: `3 %`, `43 %`."""
    return f"{100 * share:.0f} %"


def change(relative: float | None, limit: float | None = None, *, unknown: str = NOT_KNOWN) -> str:
    """Write a relative change with its sign, if it is known: `+1.02 %`, `-0.30 %`.

    With a `limit`, it has as many digits as show on which side of the limit it lies.
    """
    if relative is None:
        return unknown
    if limit is not None and relative != limit and change(relative) == change(limit):
        candidates = ((f"{100 * one:+.{digits}f} %" for one in (relative, limit)) for digits in range(3, 12))
        return next((text for text, limit_text in candidates if text != limit_text), change(relative))
    digits = _change_digits(abs(relative))
    sign = "" if _reads_as_zero(digits) else "-" if relative < 0 else "+"
    return f"{sign}{digits} %"


def extent(relative: float) -> str:
    """Write the size of a change whose direction is said in words: `1.20 %`."""
    return f"{_change_digits(abs(relative))} %"


def interval(bounds: tuple[float, float] | None, limit: float | None = None, *, unknown: str = NOT_KNOWN) -> str:
    """Write an interval of relative changes, if it is known: `[+0.61 %, +1.40 %]`.

    With a `limit`, digits show on which side of the limit, or of its negative, each end lies.
    """
    if bounds is None:
        return unknown
    return f"[{', '.join(_interval_end(end, None if limit is None else math.copysign(limit, end)) for end in bounds)}]"


def _interval_end(relative: float, limit: float | None) -> str:
    """Write an end of an interval; one that excludes no change, however narrowly, must show it."""
    text = change(relative, limit)
    if not _reads_as_zero(text) or relative == 0:
        return text
    return f"{'>' if relative > 0 else '<'}0 %"


def _reads_as_zero(text: str) -> bool:
    """Return whether a change has no digit but 0, nor is infinite."""
    return not any(digit in "123456789i" for digit in text)


def confidence(alpha: float) -> str:
    """Write 1 - alpha: `99 %`, `99.95 %`."""
    return threshold(1 - alpha)


def at_confidence(alpha: float) -> str:
    """Say how sure an interval is: `at 99 % confidence`."""
    return f"at {confidence(alpha)} confidence"


def _percent_digits(share: float) -> str:
    points = 100 * share
    if not math.isfinite(points):
        return NOT_KNOWN if math.isnan(points) else "inf"
    if 99.5 <= points < 100 - 1e-6:  # only a full share is 100 %
        return f"{points:.{max(1, -math.floor(math.log10(100 - points)))}f}".rstrip("0").rstrip(".")
    if points >= 9.995:
        return f"{points:,.0f}"
    if points < 0.001:
        return "0" if points < 1e-6 else f"{points:.{1 - math.floor(math.log10(points))}f}".rstrip("0")
    return f"{points:.3g}"


def _change_digits(share: float) -> str:
    """Write three digits; more below 0.01 %, so that an interval's end that excludes 0 does not look like 0."""
    points = 100 * share
    if not math.isfinite(points):
        return NOT_KNOWN if math.isnan(points) else "inf"
    if points >= 99.95:
        return f"{points:,.0f}"
    if points >= 9.995:
        return f"{points:.1f}"
    if points >= 0.005 or points < 1e-6:
        return f"{points:.2f}"
    return f"{points:.{-math.floor(math.log10(points))}f}"


def tally(verdicts: Iterable[str] | Mapping[str, int]) -> str:
    """Write how many verdicts there are of each name: `1 slower, 3 same`; takes names, or their counts."""
    counts = Counter(verdicts)
    return ", ".join(f"{counts[name]:,} {name}" for name in VERDICTS if name in counts)
