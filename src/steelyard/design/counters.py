"""The events of the kernel and the processor that metrics ask for: whether they can be counted here."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping

from steelyard.model.counters import events_of
from steelyard.model.errors import UsageError
from steelyard.model.settings import Settings

# Why an event of the kernel or the processor cannot be counted, by the system's error number.
_OUTSIDE_THE_KERNEL = ", or 2 for what a program does outside the kernel"
_NO_COUNTER = "its processor has no such counter, or is a virtual one without"
_WHY_NOT_COUNTED = {
    errno.ENOENT: _NO_COUNTER,
    errno.ENODEV: _NO_COUNTER,
    errno.EOPNOTSUPP: _NO_COUNTER,
    errno.EINVAL: _NO_COUNTER,
    errno.ENOSYS: "its kernel is built without perf events",
    errno.EACCES: "this user may not have it counted: as root, sysctl kernel.perf_event_paranoid=1"
    f"{_OUTSIDE_THE_KERNEL}",
    errno.EMFILE: "allow more open files (ulimit -n)",
}
_WHY_NOT_COUNTED[errno.EPERM] = (
    f"{_WHY_NOT_COUNTED[errno.EACCES]}; or a container's filter is between (docker run --cap-add PERFMON)"
)


def check_counters(settings: Settings, missing: Mapping[str, int]) -> None:
    """Raise UsageError for a metric whose event is `missing`, as the launch server cannot count it."""
    for name in events_of(settings.metrics):
        if (number := missing.get(name)) is not None:
            why = _WHY_NOT_COUNTED.get(number, os.strerror(number))
            if name == "migrations":  # all of them are made by the kernel
                why = why.replace(_OUTSIDE_THE_KERNEL, "")
            raise UsageError(
                f"--metric {name}: this machine does not give it ({why}); steelyard doctor says what there is, and "
                "instructions are counted under Valgrind anywhere"
            )
