"""Take samples in turn with the other launch of a pair: whichever does not have the turn sleeps.

The plugin for pytest-benchmark loads this too, in a Python that may be 3.9, so nothing of ours is imported here.
"""

from __future__ import annotations

import os

FIRST, SECOND = "0", "1"


class Partner:
    """The other launch, at the other end of a socket; a byte hands over the turn.

    If the other one ends, or there is none (a socket of -1), this launch goes on alone. `orders` has a digit for each
    sample: 0 if it is the first of its round, 1 if it follows the partner's.
    """

    __slots__ = ("_fd", "_orders", "_taken", "orders")

    def __init__(self, fd: int, orders: str) -> None:
        self._fd: int | None = None if fd < 0 else fd
        self._orders = orders
        self._taken = 0
        self.orders: list[int | None] = []
        """The order of each sample so far; None for those that were taken alone."""

    def await_turn(self) -> None:
        """Wait for the turn; to be called before a sample and whatever is prepared for it."""
        sample, orders = self._taken, self._orders
        if sample == 0:  # the first sample waits until both launches are set up
            self._pass_turn()
            self._await()
        if not (orders[sample] == FIRST and (sample == 0 or orders[sample - 1] == SECOND)):
            self._await()

    def hand_over(self) -> None:
        """Hand over the turn; to be called after a sample."""
        sample, orders = self._taken, self._orders
        self.orders.append(None if self._fd is None else int(orders[sample]))
        if not (orders[sample] == SECOND and orders[sample + 1 : sample + 2] == FIRST):
            self._pass_turn()
        self._taken += 1

    def part(self) -> None:
        """After the last sample, wait for the partner's if that is still to come, which other work would disturb."""
        if self._orders[-1] == FIRST:
            self._await()

    def _pass_turn(self) -> None:
        try:
            if self._fd is not None:
                os.write(self._fd, b"\0")
        except OSError:
            self._fd = None

    def _await(self) -> None:
        try:
            if self._fd is not None and not os.read(self._fd, 1):
                self._fd = None
        except OSError:
            self._fd = None
