"""hyperfine's JSON, as its scripts read it: a result per benchmark and side, with the times of its launches."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from statistics import fmean, median, stdev
from typing import Any

from steelyard.report.data.series import Series


def of_series(series: Sequence[Series]) -> bytes:
    """Return a result for each series, times in s; for a harness or an import, a time is a sample's, per iteration."""
    names = [_command_or_name(one) for one in series]
    for suffix in ("({side})", "({side} of {name})"):
        counts = Counter(names)
        names = [
            name if counts[name] == 1 else f"{_command_or_name(one)} {suffix.format(side=one.side, name=one.name)}"
            for name, one in zip(names, series, strict=True)
        ]
    results = [_result(one, name) for one, name in zip(series, names, strict=True)]
    return json.dumps({"results": results}, indent=2, allow_nan=False).encode() + b"\n"


def _command_or_name(series: Series) -> str:
    """Return a series' command, or its name if it has none; it need not be unique.

    Two sides may have the same command, built from different revisions, or belong to a harness. With several
    candidates, each has a baseline of its own.
    """
    return series.command or series.name


def _result(series: Series, command: str) -> dict[str, Any]:
    times = [value for process in series.processes for value in process.values]
    launches = [process.about for process in series.processes]
    is_command = series.command is not None and all(launches)
    return {
        "command": command,
        "mean": fmean(times),
        "stddev": stdev(times) if len(times) > 1 else None,
        "median": median(times),
        "user": fmean(launch["user_ns"] for launch in launches) * 1e-9 if is_command else None,
        "system": fmean(launch["sys_ns"] for launch in launches) * 1e-9 if is_command else None,
        "min": min(times),
        "max": max(times),
        "times": times,
        **({"memory_usage_byte": [launch["max_rss_bytes"] for launch in launches]} if is_command else {}),
        **({"exit_codes": [launch["exit_code"] for launch in launches]} if is_command else {}),
        **({"parameters": series.params} if series.params else {}),
    }
