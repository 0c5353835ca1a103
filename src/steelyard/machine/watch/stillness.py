"""Whether nothing of ours ran for a while: a control group was frozen, a container or a virtual machine paused.

No counter tells it. But a thread that waits for a set time wakes later by as much; what it then waited for a processor,
as it does on a busy machine, is not meant.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from steelyard.machine.readings import Tree, whole

# Other things keep a thread from going on for some ms: a page that is read from a disk, the interpreter's lock.
_STILL_FROM_NS = 100_000_000
# Of a longer wait the rest might hide as long a time in which nothing ran.
_LONGEST_S = 0.25


class Stillness:
    """Waits for a thread, and tells what was no part of its waits.

    `sleep` waits for so many seconds, or until the end, and returns whether that has come.
    """

    def __init__(
        self,
        sleep: Callable[[float], bool],
        tree: Tree = Tree(),  # noqa: B008 - a frozen value
        clock_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._sleep, self._tree, self._clock_ns = sleep, tree, clock_ns
        self._still_ns: int | None = None

    def wait(self, seconds: float) -> bool:
        """Wait so long, or until the end, or until something stood still; return whether the end has come."""
        while seconds > 0:
            part_s = min(seconds, _LONGEST_S)
            delay_ns, due_ns = self._delay_ns(), self._clock_ns() + round(part_s * 1e9)
            is_end = self._sleep(part_s)
            self._still_ns = self._still(due_ns, delay_ns)
            if is_end or self._still_ns is not None:
                return is_end
            seconds -= part_s
        return False

    def taken_ns(self) -> int | None:
        """For how long nothing ran until the end of the newest wait, once; None if that is next to nothing."""
        still_ns, self._still_ns = self._still_ns, None
        return still_ns

    def _still(self, due_ns: int, delay_before_ns: int | None) -> int | None:
        late_ns, delay_ns = self._clock_ns() - due_ns, self._delay_ns()
        if delay_ns is None or delay_before_ns is None:
            return None
        still_ns = late_ns - (delay_ns - delay_before_ns)
        return still_ns if still_ns >= _STILL_FROM_NS else None

    def _delay_ns(self) -> int | None:
        """How long this thread has waited for a processor so far; None where nobody tells."""
        fields = (self._tree.text("proc/thread-self/schedstat") or "").split()
        return whole(fields[1]) if len(fields) > 1 else None
