"""Find times in which nothing of ours ran: a frozen control group, a paused container or virtual machine.

No counter shows them, but a thread that waits for a set time wakes that much too late. The time that it then waited for
a processor, as on a busy machine, does not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from steelyard.machine.readings import Tree, whole

# Other things delay a thread by some ms: a page that is read from a disk, the interpreter's lock.
_STILL_FROM_NS = 100_000_000
# A freeze that ends before a wait does is not seen, so waits are short.
_LONGEST_S = 0.25


class Stillness:
    """Waits for a thread, and measures by how much its waits took too long.

    `sleep` waits for a number of seconds, or until the end, and returns whether the end has come.
    """

    def __init__(
        self,
        sleep: Callable[[float], bool],
        tree: Tree = Tree(),
        clock_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._sleep, self._tree, self._clock_ns = sleep, tree, clock_ns
        self._still_ns: int | None = None

    def wait(self, seconds: float) -> bool:
        """Wait for this time, until the end, or until a time in which nothing ran; return whether the end has come."""
        while seconds > 0:
            part_s = min(seconds, _LONGEST_S)
            delay_ns, due_ns = self._delay_ns(), self._clock_ns() + round(part_s * 1e9)
            is_end = self._sleep(part_s)
            self._still_ns = self._still_time_ns(due_ns, delay_ns)
            if is_end or self._still_ns is not None:
                return is_end
            seconds -= part_s
        return False

    def taken_ns(self) -> int | None:
        """Return for how long, in ns, nothing ran before the end of the last wait, once; None if it was not long."""
        still_ns, self._still_ns = self._still_ns, None
        return still_ns

    def _still_time_ns(self, due_ns: int, delay_before_ns: int | None) -> int | None:
        late_ns, delay_ns = self._clock_ns() - due_ns, self._delay_ns()
        if delay_ns is None or delay_before_ns is None:
            return None
        still_ns = late_ns - (delay_ns - delay_before_ns)
        return still_ns if still_ns >= _STILL_FROM_NS else None

    def _delay_ns(self) -> int | None:
        """Return how long this thread has waited for a processor so far, in ns; None if the kernel does not tell."""
        fields = (self._tree.text("proc/thread-self/schedstat") or "").split()
        return whole(fields[1]) if len(fields) > 1 else None
