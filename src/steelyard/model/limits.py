"""The limits of a gate: how much slower which benchmark may get in which metric before the gate fails."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TypeVar

from pydantic import Field

from steelyard.model.errors import UsageError
from steelyard.model.metrics import METRICS
from steelyard.model.parts import Record
from steelyard.model.patterns import fits, split_key
from steelyard.model.values import of_percent

NEVER = "never"
MOST_PERCENT = 1000.0
LONGEST_REASON = 200
_PERCENT = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*%?")
_NO_METRIC = re.compile(r":\w+")
_EXAMPLE = "write for example 5%, 'BM_sort*=2%', instructions=0.5% or 'BM_sort*:max_rss=never'"


class Limit(Record):
    """One limit: of the benchmarks of a pattern (all of them, if there is none), in a metric (the deciding one)."""

    above: float | None = Field(ge=0, description="relative change above which the gate fails; null if it never does")
    benchmark: str | None = Field(
        default=None, description="pattern of benchmarks' names, with * and ? as in a shell; null for all benchmarks"
    )
    metric: str | None = Field(default=None, description="name of the metric; null for the deciding metric")

    def is_of(self, benchmark: str, metrics: Collection[str], *, deciding: bool) -> bool:
        """Whether it applies to a benchmark in a metric, which has one of these names and may be the `deciding` one."""
        in_metric = deciding if self.metric is None else self.metric in metrics
        return in_metric and (self.benchmark is None or fits([benchmark], [self.benchmark]))

    def __str__(self) -> str:
        named = [part for part in (self.benchmark, self.metric) if part is not None]
        above = NEVER if self.above is None else f"{100 * self.above:.6g}%"
        return "=".join([":".join(named), above]) if named else above


class Accepted(Limit):
    """A slowdown that is accepted, and why: the limit of what is found above its usual one."""

    above: float = Field(ge=0, description="relative change up to which the slowdown is accepted")
    benchmark: str = Field(description="pattern of benchmarks' names, with * and ? as in a shell")
    reason: str = Field(max_length=LONGEST_REASON, description="why it is accepted")


AnyLimit = TypeVar("AnyLimit", bound=Limit)


class Limits(Record):
    """What a gate holds a weighing to. Without a limit a benchmark fails if its verdict is `slower`."""

    limits: list[Limit] = Field(default_factory=list)
    strict: bool = Field(default=False, description="whether results that stay undecided fail too")
    require: list[str] = Field(
        default_factory=list, description="patterns of names; each has to fit a benchmark that has a verdict"
    )
    accepted: list[Accepted] = Field(default_factory=list, description="slowdowns that are accepted above all limits")

    def of(self, benchmark: str, metrics: Collection[str], *, deciding: bool) -> Limit | None:
        """The limit of a benchmark in a metric: the one that names most (a metric before a pattern), then the last.

        The metric has two names where the requested one is not defined, and another one stands in for it.
        """
        return that_applies([one for one in self.limits if one.is_of(benchmark, metrics, deciding=deciding)])

    def accepted_of(self, benchmark: str, metrics: Collection[str], *, deciding: bool) -> list[Accepted]:
        """All that is accepted of a benchmark in a metric, of which one applies by the same rule."""
        return [one for one in self.accepted if one.is_of(benchmark, metrics, deciding=deciding)]


def that_applies(fitting: Sequence[AnyLimit]) -> AnyLimit | None:
    """Return the one that names most, of several the last."""
    return max(reversed(fitting), key=lambda one: (one.metric is not None, one.benchmark is not None), default=None)


def limit_from(text: str) -> Limit:
    """Read `[PATTERN][:METRIC]=PERCENT`, or `PERCENT` alone; raises UsageError that says what is wrong with it.

    A single name before the last `=` is a metric if there is one of that name, otherwise a pattern of benchmarks.
    """
    key, _, amount = text.strip().rpartition("=")
    pattern, metric = split_key(key.strip())
    if _NO_METRIC.fullmatch(pattern):
        raise UsageError(f"{text!r}: the metric {pattern[1:]!r} is not known: choose from {', '.join(METRICS)}")
    return Limit(above=_limit_of(text, amount.strip()), benchmark=pattern or None, metric=metric)


def limits_from(texts: Sequence[str], *, strict: bool = False, require: Sequence[str] = ()) -> Limits:
    """Limits as they stand on the command line or in a file; raises UsageError as `limit_from`."""
    return Limits(limits=[limit_from(text) for text in texts], strict=strict, require=list(require))


def _limit_of(text: str, amount: str) -> float | None:
    if amount == NEVER:
        return None
    match = _PERCENT.fullmatch(amount)
    if match is None:
        shown = text if len(text) <= 60 else f"{text[:57]}..."
        raise UsageError(f"{shown!r} is no limit: {_EXAMPLE}")
    if (percent := float(match[1])) > MOST_PERCENT:
        raise UsageError(f"a limit of {amount} is out of range: 0% to {MOST_PERCENT:g}%")
    return of_percent(percent)
