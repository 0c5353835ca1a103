"""Facts about this host, read once for a record; whatever cannot be read is left out, never an error."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from steelyard.machine.hierarchies import memory_limits
from steelyard.machine.readings import Tree, whole
from steelyard.model.machine import MachineFacts

Answer = TypeVar("Answer")

_CPU = Path("sys/devices/system/cpu/cpu0")
ASLR = Path("proc/sys/kernel/randomize_va_space")
CLOCK_SOURCE = Path("sys/devices/system/clocksource/clocksource0/current_clocksource")

_CACHE_KINDS = {"Data": "d", "Instruction": "i", "Unified": ""}

# 64-bit ARM names no model, only numbers (Linux arch/arm64/include/asm/cputype.h).
_ARM_IMPLEMENTERS = {
    0x41: "ARM",
    0x42: "Broadcom",
    0x43: "Cavium",
    0x48: "HiSilicon",
    0x4E: "NVIDIA",
    0x50: "Applied Micro",
    0x51: "Qualcomm",
    0x53: "Samsung",
    0x61: "Apple",
    0x6D: "Microsoft",
    0xC0: "Ampere",
}
_ARM_PARTS = {
    0xD03: "Cortex-A53",
    0xD05: "Cortex-A55",
    0xD07: "Cortex-A57",
    0xD08: "Cortex-A72",
    0xD0B: "Cortex-A76",
    0xD0C: "Neoverse-N1",
    0xD40: "Neoverse-V1",
    0xD41: "Cortex-A78",
    0xD49: "Neoverse-N2",
    0xD4F: "Neoverse-V2",
}

# The names of virtual machines' firmware (as in systemd-detect-virt).
_VIRTUAL_FIRMWARE = {
    "KVM": "kvm",
    "QEMU": "qemu",
    "OpenStack": "kvm",
    "Google": "google",
    "Amazon EC2": "amazon",
    "VMware": "vmware",
    "VirtualBox": "virtualbox",
    "innotek": "virtualbox",
    "Xen": "xen",
    "Virtual Machine": "hyper-v",
    "Parallels": "parallels",
    "Bochs": "bochs",
}
# These vendors' firmware also runs on bare metal that they rent out, so for these only the processor's flag decides.
_ALSO_BARE = {"google", "amazon"}
_CONTAINER_GROUPS = {"docker": "docker", "kubepods": "kubernetes", "lxc": "lxc", "libpod": "podman"}


def read_facts(tree: Tree = Tree()) -> MachineFacts:
    """Read the facts of this host, but for what its launch server offers.

    Cores and memory come from psutil, kernel and C library from `platform`, the rest from /proc and /sys in `tree`.
    """
    import psutil  # not needed by those who only read results

    processors = _processors(tree)
    cores = _answer_or_none(lambda: psutil.cpu_count(logical=True)) or len(processors) or 1
    physical = _answer_or_none(lambda: psutil.cpu_count(logical=False))
    model, architecture, caches = _model(processors), platform.machine(), _caches(tree)
    microcode = _first_value(processors, "microcode") or tree.text(_CPU / "microcode/version")
    # What stays the same for as long as the machine does: not the clock rate, kernel or memory, nor which of the
    # processors are on, as `tune` switches some off.
    there = sum(1 for _ in tree.processors()) or cores
    stable = [model, architecture, there, physical, sorted(caches.items()), microcode]
    return MachineFacts(
        key=hashlib.sha256(json.dumps(stable).encode()).hexdigest()[:16],
        cpu_model=model,
        architecture=architecture,
        cores_logical=cores,
        cores_physical=physical,
        caches=caches,
        microcode=microcode,
        memory_bytes=_memory(tree, _answer_or_none(lambda: int(psutil.virtual_memory().total))),
        kernel=f"{platform.system()} {platform.release()}".strip(),
        libc=" ".join(_answer_or_none(platform.libc_ver) or ()).strip(),
        virtualization=_virtualization(tree, processors),
        governor=tree.text(_CPU / "cpufreq/scaling_governor"),
        clock_source=tree.text(CLOCK_SOURCE),
        aslr=tree.number(ASLR),
    )


def _answer_or_none(question: Callable[[], Answer]) -> Answer | None:
    """Return a library's answer; None where the files that it reads are missing or odd, for which it raises."""
    import psutil

    try:
        return question()
    except (psutil.Error, OSError, RuntimeError, ValueError, LookupError, AttributeError):
        return None


def _memory(tree: Tree, total: int | None) -> int | None:
    """Return how much of the machine's memory this control group may use, given the limits of those above it too."""
    limits = [limit for _, limit in memory_limits(tree)]
    return min((limit for limit in (total, *limits) if limit), default=None)


def _processors(tree: Tree) -> list[dict[str, str]]:
    """Split /proc/cpuinfo into its blocks, one a processor; some architectures add a block for the board."""
    blocks = []
    for block in (tree.text("proc/cpuinfo") or "").split("\n\n"):
        fields = (line.partition(":") for line in block.splitlines())
        values = {name.strip(): value.strip() for name, colon, value in fields if colon}
        if values:
            blocks.append(values)
    return blocks


def _first_value(processors: list[dict[str, str]], field: str) -> str | None:
    return next((processor[field] for processor in processors if processor.get(field)), None)


def _model(processors: list[dict[str, str]]) -> str:
    """Name the processor as its architecture does: by a model name, by ARM's numbers, else not at all."""
    for field in ("model name", "cpu model", "cpu", "uarch"):
        if name := _first_value(processors, field):
            return " ".join(name.split())
    arm = {_arm(found) for found in processors if "CPU part" in found}
    return " + ".join(sorted(arm)) or platform.processor() or ""


def _arm(processor: dict[str, str]) -> str:
    implementer = whole(processor.get("CPU implementer"))
    part = whole(processor["CPU part"])
    if implementer is None or part is None:
        return f"ARM part {processor['CPU part']}"
    maker = _ARM_IMPLEMENTERS.get(implementer, f"implementer {implementer:#x}")
    known = _ARM_PARTS.get(part) if maker == "ARM" else None
    return f"{maker} {known or f'part {part:#x}'}"


def _caches(tree: Tree) -> dict[str, str]:
    caches = {}
    for folder in tree.below(_CPU / "cache", "index*"):
        level, kind, size = (tree.text(folder / name) for name in ("level", "type", "size"))
        if level and size:
            caches[f"L{level}{_CACHE_KINDS.get(kind or '', '')}"] = size
    return caches


def _virtualization(tree: Tree, processors: list[dict[str, str]]) -> str | None:
    """Name the layers between this process and the processor: `kvm`, `docker`, `kvm + docker`."""
    layers = [layer for layer in (_hypervisor(tree, processors), _container(tree)) if layer]
    return " + ".join(layers) or None


def _hypervisor(tree: Tree, processors: list[dict[str, str]]) -> str | None:
    flagged = "hypervisor" in (_first_value(processors, "flags") or "").split()
    if "microsoft" in (tree.text("proc/sys/kernel/osrelease") or "").lower():
        return "wsl"
    if hypervisor := tree.text("sys/hypervisor/type"):
        return hypervisor
    firmware = " ".join(
        tree.text(f"sys/class/dmi/id/{name}") or "" for name in ("sys_vendor", "product_name", "board_vendor")
    )
    for mark, name in _VIRTUAL_FIRMWARE.items():
        if mark in firmware and (flagged or name not in _ALSO_BARE):
            return name
    return "virtual machine" if flagged else None


def _container(tree: Tree) -> str | None:
    if named := tree.text("run/systemd/container"):
        return named
    for marker, name in {"run/.containerenv": "podman", ".dockerenv": "docker"}.items():
        if tree.is_there(marker):
            return name
    groups = tree.text("proc/1/cgroup") or ""
    return next((name for mark, name in _CONTAINER_GROUPS.items() if mark in groups), None)
