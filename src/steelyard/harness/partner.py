"""Samples in turn with those of the other launch of a pair: whoever has not got the turn sleeps."""

from __future__ import annotations

import os

FIRST, SECOND = "0", "1"


class Partner:
    """The other launch, at the end of a socket; a byte hands over the turn. If it goes, this launch goes on alone.

    As it does without one: a socket of -1.

    `orders` has a digit for each sample: 0 if it is the first one of its round, 1 if it follows the partner's.
    """

    __slots__ = ("_fd", "_orders", "_taken", "orders")

    def __init__(self, fd: int, orders: str) -> None:
        self._fd: int | None = None if fd < 0 else fd
        self._orders = orders
        self._taken = 0
        self.orders: list[int | None] = []
        """Of each sample so far its order; None for those that were taken alone."""

    def await_turn(self) -> None:
        """Before a sample, and whatever is prepared for it."""
        sample, orders = self._taken, self._orders
        if sample == 0:  # the first one has to wait until both are set up
            self._tell()
            self._await()
        if not (orders[sample] == FIRST and (sample == 0 or orders[sample - 1] == SECOND)):
            self._await()

    def hand_over(self) -> None:
        """Behind a sample."""
        sample, orders = self._taken, self._orders
        self.orders.append(None if self._fd is None else int(orders[sample]))
        if not (orders[sample] == SECOND and orders[sample + 1 : sample + 2] == FIRST):
            self._tell()
        self._taken += 1

    def part(self) -> None:
        """Behind the last sample: what follows would disturb the partner's, if that is still to come."""
        if self._orders[-1] == FIRST:
            self._await()

    def _tell(self) -> None:
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
