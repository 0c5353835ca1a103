"""Patterns of names, as in a shell, and settings for the names that fit: `PATTERN`, `METRIC` or `PATTERN:METRIC`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TypeVar

from steelyard.model.metrics import METRICS

Setting = TypeVar("Setting")


def fits(names: Iterable[str], patterns: Sequence[str]) -> bool:
    """Whether any of the names fits any of the patterns."""
    # The literal name is tried first, as brackets are common in names.
    return any(name == pattern or fnmatchcase(name, pattern) for name in names for pattern in patterns)


def left_out_by(pattern: str) -> str | None:
    """The pattern of the names that `!PATTERN` leaves out; None for a pattern that chooses names."""
    return pattern.removeprefix("!") if pattern.startswith("!") else None


def is_chosen(names: Sequence[str], patterns: Sequence[str]) -> bool:
    """Whether names are chosen: they fit one of the choosing patterns, if there are any, and none that leaves out."""
    left_out = [pattern for one in patterns if (pattern := left_out_by(one)) is not None]
    choosing = [one for one in patterns if left_out_by(one) is None]
    return (not choosing or fits(names, choosing)) and not fits(names, left_out)


def split_key(key: str) -> tuple[str, str | None]:
    """Split the key of a setting into (pattern, metric): an empty pattern is for all names, None for all metrics."""
    if key in METRICS:
        return "", key
    pattern, colon, metric = key.rpartition(":")
    return (pattern, metric) if colon and metric in METRICS else (key, None)


def setting_for(settings: Mapping[str, Setting], names: Sequence[str], metric: str, default: Setting) -> Setting:
    """The setting for a benchmark in a metric: the last of the most specific keys (a metric outranks a pattern)."""
    setting, highest = default, 0
    for key, value in settings.items():
        pattern, in_metric = split_key(key)
        specificity = 2 * (in_metric is not None) + bool(pattern)
        if specificity >= highest and in_metric in (None, metric) and (not pattern or fits(names, [pattern])):
            setting, highest = value, specificity
    return setting
