from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.machine.conditions.memory import swap
from tests.machine.trees import made

_HEAD = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
_ZRAM = "/dev/zram0                              partition\t8000000\t\t900000\t\t100\n"
_DISK = "/dev/sda2                               partition\t2000000\t\t500000\t\t-2\n"
_UNUSED = "/swapfile                               file\t\t2000000\t\t0\t\t-3\n"


@pytest.mark.parametrize(
    ("swaps", "commands"),
    [
        ("", "swapoff -a && swapon -a"),
        (_HEAD + _ZRAM, "swapoff /dev/zram0 && swapon -p 100 /dev/zram0"),
        (
            _HEAD + _ZRAM + _DISK + _UNUSED,
            "swapoff /dev/zram0 && swapon -p 100 /dev/zram0 && swapoff /dev/sda2 && swapon /dev/sda2",
        ),
    ],
)
def test_what_is_swapped_to_is_named_so_that_it_comes_back(tmp_path: Path, swaps: str, commands: str) -> None:
    """A swap of systemd's zram-generator is not in /etc/fstab, so that swapon -a would not bring it back."""
    memory = "SwapTotal: 10000000 kB\nSwapFree: 8600000 kB\n"
    found = swap(made(tmp_path, {"proc/meminfo": memory, "proc/swaps": swaps}))
    assert found.remedy == f"free memory; as root: {commands} brings it back"
