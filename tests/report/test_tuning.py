from __future__ import annotations

import io

import pytest
from rich.console import Console

from steelyard.model.tuning import Change
from steelyard.report.tuning import show_changes


@pytest.mark.parametrize("columns", [40, 80, 100])
def test_each_processor_s_setting_can_be_told_from_the_others(columns: int) -> None:
    out = io.StringIO()
    settings = [f"sys/devices/system/cpu/cpu{number}/cpufreq/scaling_governor" for number in range(12)]
    made = [Change(code="governor", setting=one, before="powersave", after="performance") for one in settings]
    show_changes(Console(file=out, width=columns), made)
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= columns
    assert len({line for line in lines if "cpufreq" in line}) == len(settings)
    assert out.getvalue().count("powersave -> performance\n") == len(settings)
