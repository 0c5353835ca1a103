from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.machine.interrupts import Interrupts, Source, in_words
from steelyard.machine.readings import Tree
from tests.machine.trees import made

BEFORE = """\
           CPU0       CPU2
 36:         10         20 PCI-MSIX-0000:00:02.0   0-edge      virtio2-input.0
 37:          1          2 PCI-MSIX-0000:00:02.0   1-edge      virtio2-output.0
LOC:       1000       2000   Local timer interrupts
ERR:          7
"""
AFTER = BEFORE.replace("20 PCI", "25 PCI").replace(" 2 PCI", " 9 PCI").replace("1000       2000", "1100       2003")
CARD = {"sys/bus/pci/devices/0000:00:02.0/class": "0x020000\n"} | {
    f"sys/bus/pci/devices/0000:00:02.0/msi_irqs/{n}": "msix\n" for n in (36, 37)
}


@pytest.mark.parametrize(
    ("processor", "grown"),
    [
        (None, [("the timer", 103), ("the network card virtio2", 12)]),
        (0, [("the timer", 100)]),
        (2, [("the network card virtio2", 12), ("the timer", 3)]),
        (1, []),
    ],
)
def test_what_interrupted_between_two_readings(
    tmp_path: Path, processor: int | None, grown: list[tuple[str, int]]
) -> None:
    interrupts = Interrupts(made(tmp_path, {**CARD, "proc/interrupts": BEFORE}), processor)
    before = interrupts.read()
    made(tmp_path, {"proc/interrupts": AFTER})
    assert interrupts.grown(before, interrupts.read()) == grown


def test_processors_that_come_and_go_meanwhile_are_no_error(tmp_path: Path) -> None:
    interrupts = Interrupts(made(tmp_path, {"proc/interrupts": BEFORE}), 2)
    before = interrupts.read()
    made(
        tmp_path,
        {"proc/interrupts": "           CPU1       CPU2\nLOC:       1000       2000   Local timer interrupts\n"},
    )
    assert interrupts.grown(before, interrupts.read()) == []
    # The same row for other processors.
    made(
        tmp_path,
        {"proc/interrupts": "           CPU2       CPU3\nLOC:       1000       2000   Local timer interrupts\n"},
    )
    assert set(interrupts.read().values()) == {1000}


@pytest.mark.parametrize("text", ["", "nonsense\n 1: x\n", "CPU0\n 1: -5 x\nLOC:\n", "CPU²\n 1: ² x\n"])
def test_what_is_no_table_tells_nothing(tmp_path: Path, text: str) -> None:
    assert Interrupts(made(tmp_path, {"proc/interrupts": text})).read() == {}
    assert Interrupts(Tree(tmp_path / "absent"), 0).read() == {}


@pytest.mark.parametrize(
    ("name", "told", "words"),
    [
        ("LOC", "Local timer interrupts", "the timer"),
        ("RES", "Rescheduling interrupts", "rescheduling by other processors"),
        ("IPI0", "Rescheduling interrupts", "rescheduling by other processors"),
        ("XYZ", "Something new", "Something new"),
        ("XYZ", "", "XYZ"),
        ("11", "GICv3  27 Level     arch_timer", "the timer"),
        ("10", "RISC-V INTC   5 Edge      riscv-timer", "the timer"),
        ("0", "IO-APIC   2-edge      timer", "the timer"),
        ("36", "PCI-MSIX-0000:00:02.0   0-edge      virtio2-input.0", "the network card virtio2"),
        ("5", "PCI-MSI 524288-edge      nvme0q7", "the disk nvme0"),
        ("6", "PCI-MSI 327680-edge      xhci_hcd", "the USB xhci_hcd"),
        ("7", "IR-PCI-MSI 376832-edge      ahci[0000:00:17.0]", "the device ahci"),
        ("16", "IO-APIC  16-fasteoi   i801_smbus, ehci_hcd:usb1", "the device i801_smbus"),
        ("9", "", "the device 9"),
    ],
)
def test_sources_in_words(tmp_path: Path, name: str, told: str, words: str) -> None:
    pci = "sys/bus/pci/devices"
    files = {
        f"{pci}/0000:01:00.0/class": "0x010802\n",
        f"{pci}/0000:01:00.0/msi_irqs/5": "msix\n",
        f"{pci}/0000:02:00.0/class": "0x0c0330\n",
        f"{pci}/0000:02:00.0/msi_irqs/6": "msi\n",
        f"{pci}/0000:03:00.0/class": "0xff0000\n",
        f"{pci}/0000:03:00.0/msi_irqs/7": "msi\n",
    }
    assert in_words(made(tmp_path, {**CARD, **files}), Source(name, told)) == words
