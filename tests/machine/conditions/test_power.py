from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.machine.conditions.power import supply, temperature
from tests.machine.trees import CPUS, made

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


@pytest.mark.parametrize(("limits", "told"), [((20800, 110000), "93 below"), ((20800,), "does not tell")])
def test_a_limit_that_a_firmware_has_made_up_is_none(tmp_path: Path, limits: tuple[int, ...], told: str) -> None:
    zone = "sys/class/thermal/thermal_zone0"
    files = {f"{zone}/type": "acpitz\n", f"{zone}/temp": "16800\n"}
    for number, limit in enumerate(limits):
        files |= {
            f"{zone}/trip_point_{number}_{name}": f"{text}\n" for name, text in (("type", "critical"), ("temp", limit))
        }
    assert told in temperature(made(tmp_path, files)).evidence


@pytest.mark.parametrize(("siblings", "told"), [(True, "fell 5 times"), (False, "fell 10 times")])
def test_a_core_that_two_processors_share_is_counted_once(tmp_path: Path, siblings: bool, told: str) -> None:
    files = {f"{CPUS}/cpu{n}/thermal_throttle/core_throttle_count": f"{n % 2 + 2}\n" for n in range(4)}
    if siblings:
        files |= {f"{CPUS}/cpu{n}/topology/thread_siblings_list": f"{n % 2},{n % 2 + 2}\n" for n in range(4)}
    assert told in temperature(made(tmp_path, files)).evidence
