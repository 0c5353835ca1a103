"""Made-up machines, as the files that such machines have below /proc and /sys."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from steelyard.machine.readings import Tree

CPUS = "sys/devices/system/cpu"

TOP = "sys/fs/cgroup"
SECOND = f"31 23 0:28 / /{TOP} rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n"
FIRST = (
    f"31 23 0:28 / /{TOP} rw - tmpfs tmpfs rw,mode=755\n"
    f"33 31 0:30 / /{TOP}/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
    f"34 31 0:31 / /{TOP}/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
)
HYBRID = f"{FIRST}41 31 0:38 / /{TOP}/unified rw,relatime - cgroup2 cgroup2 rw\n"
NONE = "1 1 0:1 / / rw - ext4 /dev/vda rw\n"
"""How control groups are mounted (/proc/self/mountinfo): version 2, version 1, both, or not at all."""

# A process that is always there.
IDLE = "1 (init) S " + " ".join(["0"] * 10) + " 5 5 0 0 20 0 1 0 3 0\n"

LAPTOP: dict[str, str] = {
    "proc/self/mountinfo": SECOND,
    "proc/self/cgroup": "0::/user.slice/user-1000.slice/session-2.scope\n",
    "proc/cmdline": "ro quiet isolcpus=3 nohz_full=3 rcu_nocbs=3\n",
    "proc/stat": "cpu  100 0 50 1000 0 0 0 0 0 0\ncpu0 1\n",
    "proc/pressure/cpu": "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\n",
    "proc/1/stat": IDLE,
    "proc/1/comm": "init\n",
    "proc/77/comm": "irqbalance\n",
    "proc/self/schedstat": "1 2 3\n",
    "proc/meminfo": "MemTotal: 16000000 kB\nMemAvailable: 900000 kB\nSwapTotal: 2000000 kB\nSwapFree: 500000 kB\n",
    "proc/sys/kernel/randomize_va_space": "0\n",
    "proc/sys/kernel/perf_event_max_sample_rate": "100000\n",
    "proc/sys/kernel/perf_event_paranoid": "2\n",
    "proc/irq/default_smp_affinity": "f\n",
    "sys/bus/event_source/devices/cpu/type": "4\n",
    f"{CPUS}/online": "0-3\n",
    f"{CPUS}/present": "0-3\n",
    f"{CPUS}/isolated": "3\n",
    f"{CPUS}/nohz_full": "3\n",
    f"{CPUS}/intel_pstate/no_turbo": "0\n",
    f"{CPUS}/cpu0/cpufreq/scaling_driver": "intel_pstate\n",
    f"{CPUS}/cpu0/thermal_throttle/core_throttle_count": "12\n",
    **{f"{CPUS}/cpu{n}/cpufreq/scaling_governor": "powersave\n" for n in range(4)},
    **{f"{CPUS}/cpu{n}/cpufreq/scaling_min_freq": "400000\n" for n in range(4)},
    **{f"{CPUS}/cpu{n}/cpufreq/scaling_max_freq": "4200000\n" for n in range(4)},
    **{f"{CPUS}/cpu{n}/topology/thread_siblings_list": f"{n % 2},{n % 2 + 2}\n" for n in range(4)},
    f"{CPUS}/cpu0/cpuidle/state0/latency": "0\n",
    f"{CPUS}/cpu0/cpuidle/state0/name": "POLL\n",
    f"{CPUS}/cpu0/cpuidle/state1/latency": "890\n",
    f"{CPUS}/cpu0/cpuidle/state1/name": "C10\n",
    "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n",
    "sys/class/power_supply/AC/type": "Mains\n",
    "sys/class/power_supply/AC/online": "0\n",
    "sys/class/power_supply/BAT0/type": "Battery\n",
    "sys/class/power_supply/BAT0/status": "Discharging\n",
    "sys/class/thermal/thermal_zone0/type": "x86_pkg_temp\n",
    "sys/class/thermal/thermal_zone0/temp": "96000\n",
    "sys/class/thermal/thermal_zone0/trip_point_0_type": "passive\n",
    "sys/class/thermal/thermal_zone0/trip_point_0_temp": "100000\n",
}
"""An Intel laptop on its battery, hot and badly set up: everything that can be wrong with a laptop is."""

DESKTOP: dict[str, str] = {
    **LAPTOP,
    "proc/cmdline": "ro quiet\n",
    "proc/77/comm": "cron\n",
    "proc/meminfo": "MemTotal: 32000000 kB\nMemAvailable: 20000000 kB\nSwapTotal: 2000000 kB\nSwapFree: 2000000 kB\n",
    "proc/sys/kernel/randomize_va_space": "2\n",
    f"{CPUS}/isolated": "\n",
    f"{CPUS}/nohz_full": "(null)\n",
    f"{CPUS}/cpufreq/boost": "0\n",
    f"{CPUS}/cpu0/cpufreq/scaling_driver": "amd-pstate-epp\n",
    f"{CPUS}/cpu0/thermal_throttle/core_throttle_count": "0\n",
    **{f"{CPUS}/cpu{n}/cpufreq/scaling_governor": "performance\n" for n in range(4)},
    **{f"{CPUS}/cpu{n}/cpufreq/scaling_min_freq": "3400000\n" for n in range(4)},
    **{f"{CPUS}/cpu{n}/cpufreq/scaling_max_freq": "3400000\n" for n in range(4)},
    **{f"{CPUS}/cpu{n}/topology/thread_siblings_list": f"{n}\n" for n in range(4)},
    f"{CPUS}/cpu0/cpuidle/state1/disable": "1\n",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
    "sys/class/power_supply/AC/online": "1\n",
    "sys/class/power_supply/BAT0/status": "Full\n",
    "sys/class/thermal/thermal_zone0/temp": "45000\n",
    "sys/kernel/debug/sched/base_slice_ns": "2800000\n",
}
DESKTOP.pop(f"{CPUS}/intel_pstate/no_turbo")
"""An AMD desktop that somebody has tuned to be quiet, seen by root."""

CONTAINER: dict[str, str] = {
    "proc/stat": "cpu  100 0 50 1000 0 0 0 0 0 0\n",
    "proc/self/mountinfo": SECOND,
    "proc/self/cgroup": "0::/inner\n",
    "proc/meminfo": "MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
    f"{TOP}/cpu.max": "max 100000\n",
    f"{TOP}/inner/cpu.max": "150000 100000\n",
    f"{TOP}/inner/cpu.stat": "usage_usec 5\nnr_periods 90\nnr_throttled 31\n",
    f"{CPUS}/online": "0-1\n",
    f"{CPUS}/present": "0-3\n",
}
"""A container with a share of two processors, on a kernel without PSI and schedstat."""

BOARD: dict[str, str] = {
    "proc/stat": "cpu  100 0 50 1000 0 0 0 0\n",
    "proc/self/mountinfo": FIRST,
    "proc/self/cgroup": "4:cpu,cpuacct:/user\n3:cpuset:/\n",
    "proc/self/schedstat": "1 2 3\n",
    f"{TOP}/cpu,cpuacct/user/cpu.cfs_quota_us": "-1\n",
    f"{TOP}/cpu,cpuacct/user/cpu.cfs_period_us": "100000\n",
    "sys/bus/event_source/devices/armv8_cortex_a72/type": "7\n",
    "proc/sys/kernel/perf_event_paranoid": "3\n",
    f"{CPUS}/online": "0-3\n",
    f"{CPUS}/present": "0-3\n",
    **{f"{CPUS}/cpu{n}/cpufreq/scaling_governor": "ondemand\n" for n in range(4)},
    "sys/class/thermal/thermal_zone0/type": "cpu-thermal\n",
    "sys/class/thermal/thermal_zone0/temp": "82000\n",
    "sys/class/thermal/thermal_zone0/trip_point_0_type": "critical\n",
    "sys/class/thermal/thermal_zone0/trip_point_0_temp": "110000\n",
}
"""An aarch64 board, with control groups of version 1 and no limit."""


def of_another_namespace(tree: Tree) -> Tree:
    """Return the same machine as another PID namespace sees it: this process has another number there."""
    own = tree.root / "proc/self"
    own.rename(own.with_name("400071"))
    own.symlink_to("400071")
    return tree


def made(root: Path, files: Mapping[str, str]) -> Tree:
    """Write a machine's files below a folder, and return their tree."""
    for folder in {name.rpartition("/")[0] for name in files}:
        (root / folder).mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (root / name).write_text(text)
    return Tree(root)
