"""Waits that took longer than they were to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from steelyard.machine.watch.stillness import Stillness
from tests.machine.trees import made

S = 1_000_000_000
SCHEDSTAT = "proc/thread-self/schedstat"


class Waits:
    """A thread whose waits take so much longer than they were to, some of that waiting for a processor, in seconds."""

    def __init__(self, root: Path, longer: Sequence[tuple[float, float]], *, tells: bool = True) -> None:
        self._root, self._longer, self._tells = root, iter(longer), tells
        self._now_ns, self._delay_ns = 1000 * S, 5
        self.slept: list[float] = []
        self.is_end = False
        self.stillness = Stillness(self._sleep, made(root, self._told()), lambda: self._now_ns)

    def _told(self) -> dict[str, str]:
        return {SCHEDSTAT: f"1 {self._delay_ns} 3\n"} if self._tells else {}

    def _sleep(self, seconds: float) -> bool:
        late_s, delay_s = next(self._longer, (0.0, 0.0))
        self.slept.append(seconds)
        self._now_ns += round((seconds + late_s) * S)
        self._delay_ns += round(delay_s * S)
        made(self._root, self._told())
        return self.is_end

    def still_s(self, seconds: float = 0.25) -> float | None:
        """For how long nothing ran in one wait."""
        self.stillness.wait(seconds)
        still_ns = self.stillness.taken_ns()
        return None if still_ns is None else still_ns / S


@pytest.mark.parametrize(
    ("late_s", "delay_s", "still_s"),
    [
        (3.0, 0.0, 3.0),
        (3.0, 0.5, 2.5),
        (0.1, 0.0, 0.1),
        (0.09, 0.0, None),
        (3.0, 2.95, None),  # a busy machine
        (-0.1, 0.0, None),  # the end came
    ],
)
def test_what_is_neither_the_wait_nor_one_for_a_processor_is_time_in_which_nothing_ran(
    tmp_path: Path, late_s: float, delay_s: float, still_s: float | None
) -> None:
    waits = Waits(tmp_path, [(late_s, delay_s)])
    assert waits.still_s() == still_s
    assert waits.stillness.taken_ns() is None


def test_where_nobody_tells_who_waits_for_a_processor_nothing_is_told(tmp_path: Path) -> None:
    assert Waits(tmp_path, [(3.0, 0.0)], tells=False).still_s() is None


def test_a_long_wait_is_taken_in_parts_and_ends_with_what_it_is_to_tell(tmp_path: Path) -> None:
    assert Waits(tmp_path, []).still_s(1.0) is None
    waits = Waits(tmp_path, [(0.0, 0.0), (2.0, 0.0)])
    assert waits.still_s(1.0) == 2.0
    assert waits.slept == [0.25, 0.25]


def test_the_end_ends_a_wait_and_tells_what_came_before_it(tmp_path: Path) -> None:
    waits = Waits(tmp_path, [(2.0, 0.0)])
    waits.is_end = True
    assert waits.stillness.wait(1.0)
    assert waits.stillness.taken_ns() == 2 * S
    waits.is_end = False
    assert not waits.stillness.wait(0.5)
