from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.machine.conditions.power import supply
from tests.machine.trees import made

_OWN = {"sys/class/power_supply/BAT0/type": "Battery\n", "sys/class/power_supply/BAT0/status": "Discharging\n"}
_MOUSE = {
    "sys/class/power_supply/hidpp_battery_0/type": "Battery\n",
    "sys/class/power_supply/hidpp_battery_0/status": "Discharging\n",
    "sys/class/power_supply/hidpp_battery_0/scope": "Device\n",
}
_MAINS = {"sys/class/power_supply/AC/type": "Mains\n", "sys/class/power_supply/AC/online": "1\n"}


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        ({}, "fine"),
        (_OWN, "serious"),
        (_OWN | _MAINS, "fine"),
        (_MOUSE, "fine"),
        (_MOUSE | _OWN, "serious"),
    ],
)
def test_the_machine_runs_on_a_battery_of_its_own_alone(tmp_path: Path, files: dict[str, str], severity: str) -> None:
    assert supply(made(tmp_path, files)).severity == severity
