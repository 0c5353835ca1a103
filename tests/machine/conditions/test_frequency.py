from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.machine.conditions.frequency import sleep_states
from tests.machine.trees import CPUS, made

_DEEP = {f"{CPUS}/cpu{n}/cpuidle/state{m}/latency": f"{m * 890}\n" for n in range(4) for m in range(2)}


@pytest.mark.parametrize(
    ("calmed", "online", "told"),
    [
        ((), "0-3", "takes 890 µs to wake up, in the middle of a program that waits"),
        ((0,), "0-3", "in the middle of a program that waits (processors 1-3)"),
        ((0,), "0,3", "in the middle of a program that waits (processor 3)"),
        ((0, 1), "0-1", "processors wake up within 0 µs"),
    ],
)
def test_what_is_calm_on_one_processor_does_not_speak_for_all(
    tmp_path: Path, calmed: tuple[int, ...], online: str, told: str
) -> None:
    disabled = {f"{CPUS}/cpu{number}/cpuidle/state1/disable": "1\n" for number in calmed}
    tree = made(tmp_path, _DEEP | disabled | {f"{CPUS}/online": f"{online}\n"})
    assert sleep_states(tree).evidence.endswith(told)
