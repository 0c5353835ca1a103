from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steelyard.machine.facts import read_facts
from steelyard.machine.readings import Tree
from tests.machine.trees import CPUS, SECOND, TOP, made

X86 = """\
processor\t: 0
model name\t: Abacus(R)  9000   CPU @ 3.00GHz
microcode\t: 0x2b
cpu MHz\t\t: {mhz}
flags\t\t: fpu sse2 {flags}

processor\t: 1
model name\t: Abacus(R)  9000   CPU @ 3.00GHz
microcode\t: 0x2b
cpu MHz\t\t: 800.0
"""
ARM = """\
processor\t: 0
BogoMIPS\t: 243.75
CPU implementer\t: 0x41
CPU architecture: 8
CPU part\t: 0xd0c

processor\t: 1
CPU implementer\t: 0x61
CPU part\t: 0x022

Serial\t: 0
"""


def cache(index: int, level: str, kind: str, size: str) -> dict[str, str]:
    """Return the files of one of the processor's caches."""
    folder = f"{CPUS}/cpu0/cache/index{index}"
    return {f"{folder}/level": f"{level}\n", f"{folder}/type": f"{kind}\n", f"{folder}/size": f"{size}\n"}


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return made(
        tmp_path,
        {
            "proc/cpuinfo": X86.format(mhz="2400.1", flags=""),
            **cache(0, "1", "Data", "48K"),
            **cache(1, "1", "Instruction", "32K"),
            **cache(2, "2", "Unified", "2048K"),
            f"{CPUS}/cpu0/cpufreq/scaling_governor": "powersave\n",
            "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
            "proc/sys/kernel/randomize_va_space": "2\n",
        },
    )


def test_the_tree_is_read(tree: Tree) -> None:
    facts = read_facts(tree)
    assert facts.cpu_model == "Abacus(R) 9000 CPU @ 3.00GHz"
    assert facts.microcode == "0x2b"
    assert facts.caches == {"L1d": "48K", "L1i": "32K", "L2": "2048K"}
    assert facts.governor == "powersave"
    assert facts.clock_source == "tsc"
    assert facts.aslr == 2
    assert facts.virtualization is None


def test_the_key_is_short_and_survives_what_changes(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tree.root, {f"{CPUS}/cpu1/online": "1\n"})
    counted = {True: 2, False: 1}
    monkeypatch.setattr(psutil, "cpu_count", lambda *, logical: counted[logical])
    before = read_facts(tree)
    assert len(before.key) == 16
    assert set(before.key) <= set("0123456789abcdef")
    made(
        tree.root,
        {
            "proc/cpuinfo": X86.format(mhz="1000.0", flags="hypervisor"),
            f"{CPUS}/cpu0/cpufreq/scaling_governor": "performance\n",
            "proc/sys/kernel/randomize_va_space": "0\n",
            f"{CPUS}/cpu1/online": "0\n",
        },
    )
    counted[True] = 1
    monkeypatch.setattr("platform.release", lambda: "99.0")
    monkeypatch.setattr(psutil, "virtual_memory", lambda: type("Memory", (), {"total": 1})())
    after = read_facts(tree)
    assert after.key == before.key
    assert (after.governor, after.aslr, after.memory_bytes) == ("performance", 0, 1)
    assert (before.cores_logical, after.cores_logical) == (2, 1)
    assert "99.0" in after.kernel


@pytest.mark.parametrize(
    ("limits", "memory"),
    [
        ({"memory.max": "max"}, 1 << 30),
        ({"memory.max": "1000"}, 1000),
        ({"memory.max": "1000", "../memory.max": "500"}, 500),
        ({"memory.max": str(1 << 40)}, 1 << 30),
        ({"memory.max": "1000", "memory.high": "700"}, 700),
        ({"memory.max": "max", "../memory.high": "700"}, 700),
    ],
)
def test_the_memory_is_what_the_control_groups_may_use(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, limits: dict[str, str], memory: int
) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: type("Memory", (), {"total": 1 << 30})())
    made(
        tree.root,
        {
            "proc/self/cgroup": "0::/a/b\n",
            "proc/self/mountinfo": SECOND,
            f"{TOP}/a/b/cgroup.procs": "",
            **{os.path.normpath(f"{TOP}/a/b/{name}"): f"{limit}\n" for name, limit in limits.items()},
        },
    )
    assert read_facts(tree).memory_bytes == memory


def test_the_key_changes_with_each_stable_fact(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [read_facts(tree).key]
    made(tree.root, cache(2, "2", "Unified", "1024K"))
    keys.append(read_facts(tree).key)
    made(tree.root, {"proc/cpuinfo": X86.replace("0x2b", "0x2c")})
    keys.append(read_facts(tree).key)
    made(tree.root, {"proc/cpuinfo": X86.replace("9000", "9001")})
    keys.append(read_facts(tree).key)
    monkeypatch.setattr(psutil, "cpu_count", lambda logical=True: 64 if logical else 32)
    keys.append(read_facts(tree).key)
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    keys.append(read_facts(tree).key)
    assert len(set(keys)) == len(keys)


def test_arm_is_named_by_its_numbers(tree: Tree) -> None:
    made(tree.root, {"proc/cpuinfo": ARM})
    assert read_facts(tree).cpu_model == "ARM Neoverse-N1 + Apple part 0x22"


@pytest.mark.parametrize(
    ("files", "flags", "layers"),
    [
        ({}, "hypervisor", "virtual machine"),
        ({"sys/class/dmi/id/sys_vendor": "QEMU\n"}, "", "qemu"),
        ({"sys/class/dmi/id/sys_vendor": "Amazon EC2\n"}, "", None),
        ({"sys/class/dmi/id/sys_vendor": "Amazon EC2\n"}, "hypervisor", "amazon"),
        ({"sys/hypervisor/type": "xen\n"}, "", "xen"),
        ({"proc/sys/kernel/osrelease": "5.15-microsoft-standard-WSL2\n"}, "hypervisor", "wsl"),
        ({".dockerenv": ""}, "hypervisor", "virtual machine + docker"),
        ({"run/.containerenv": ""}, "", "podman"),
        ({"run/systemd/container": "lxc\n"}, "", "lxc"),
        ({"proc/1/cgroup": "0::/kubepods/besteffort/pod1\n"}, "", "kubernetes"),
    ],
)
def test_layers_between_program_and_processor(
    tree: Tree, files: dict[str, str], flags: str, layers: str | None
) -> None:
    made(tree.root, {"proc/cpuinfo": X86.format(mhz="1", flags=flags), **files})
    assert read_facts(tree).virtualization == layers


def test_an_empty_machine_has_no_facts_and_no_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError

    monkeypatch.setattr(psutil, "cpu_count", refuse)
    monkeypatch.setattr(psutil, "virtual_memory", refuse)
    monkeypatch.setattr("platform.libc_ver", refuse)
    monkeypatch.setattr("platform.processor", lambda: "")
    facts = read_facts(Tree(tmp_path))
    assert facts.cpu_model == facts.libc == ""
    assert facts.cores_logical == 1
    assert facts.caches == {}
    for missing in (
        "memory_bytes",
        "cores_physical",
        "microcode",
        "virtualization",
        "governor",
        "clock_source",
        "aslr",
    ):
        assert getattr(facts, missing) is None


@given(st.binary(max_size=300))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_garbage_is_no_error(tree: Tree, garbage: bytes) -> None:
    (tree.root / "proc/cpuinfo").write_bytes(b"CPU part:" + garbage)
    (tree.root / "proc/sys/kernel/randomize_va_space").write_bytes(garbage)
    assert read_facts(tree).cores_logical >= 1


def test_this_machine_has_a_key_that_stays() -> None:
    first, second = read_facts(), read_facts()
    assert first.key == second.key
    assert first.architecture
    assert first.memory_bytes
