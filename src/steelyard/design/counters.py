"""The events of the kernel and the processor that metrics ask for: whether they can be counted here."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping

from steelyard.model.counters import events_of
from steelyard.model.errors import UsageError
from steelyard.model.settings import Settings

_NO_COUNTER = "its processor has no such counter, or is a virtual one without"
# Why an event of the kernel or the processor cannot be counted, by the system's error number.
_WHY_NOT_COUNTED = {
    errno.ENOENT: _NO_COUNTER,
    errno.ENODEV: _NO_COUNTER,
    errno.EOPNOTSUPP: _NO_COUNTER,
    errno.EINVAL: _NO_COUNTER,
    errno.ENOSYS: "its kernel is built without perf events",
    errno.EMFILE: "allow more open files (ulimit -n)",
}


def check_counters(settings: Settings, missing: Mapping[str, int]) -> None:
    """Raise UsageError for a metric whose event is `missing`, as the launch server cannot count it."""
    for name in events_of(settings.metrics):
        if (number := missing.get(name)) is not None:
            raise UsageError(
                f"--metric {name}: this machine does not give it ({_why_not_counted(name, number)}); steelyard doctor "
                "says what there is, and instructions are counted under Valgrind anywhere"
            )


def _why_not_counted(name: str, number: int) -> str:
    """Return why an event cannot be counted, by the system's error number."""
    if number not in (errno.EACCES, errno.EPERM):
        return _WHY_NOT_COUNTED.get(number, os.strerror(number))
    # All migrations are made by the kernel.
    outside = "" if name == "migrations" else ", or 2 for what a program does outside the kernel"
    container = "; or a container's filter is between (docker run --cap-add PERFMON)" if number == errno.EPERM else ""
    return f"this user may not have it counted: as root, sysctl kernel.perf_event_paranoid=1{outside}{container}"
