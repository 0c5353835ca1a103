"""Counters of the kernel and the processor: why those that are asked for are not to be had."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping

from steelyard.model.counters import events_of
from steelyard.model.errors import UsageError
from steelyard.model.settings import Settings

_NONE = "its processor has no such counter, or is a virtual one without"
_WHY = {
    errno.ENOENT: _NONE,
    errno.ENODEV: _NONE,
    errno.EOPNOTSUPP: _NONE,
    errno.EINVAL: _NONE,
    errno.ENOSYS: "its kernel is built without perf events",
    errno.EACCES: "this user may not have it counted: as root, sysctl kernel.perf_event_paranoid=1, or 2 for what a "
    "program does outside the kernel",
    errno.EMFILE: "allow more open files (ulimit -n)",
}
_WHY[errno.EPERM] = f"{_WHY[errno.EACCES]}; or a container's filter is between (docker run --cap-add PERFMON)"


def check_counters(settings: Settings, missing: Mapping[str, int]) -> None:
    """Raise UsageError for a metric that the launch server cannot count: one that is `missing`, with its error."""
    for name in events_of(settings.metrics):
        if (number := missing.get(name)) is not None:
            why = _WHY.get(number, os.strerror(number))
            raise UsageError(
                f"--metric {name}: this machine does not give it ({why}); steelyard doctor says what there is, and "
                "instructions are counted under Valgrind anywhere"
            )
