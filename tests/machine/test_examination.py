"""What is said about whole machines, made up and real."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steelyard.machine.conditions.kernel import Following
from steelyard.machine.examination import examine
from steelyard.machine.readings import Tree
from steelyard.model.conditions import Condition
from tests.machine.trees import (
    BOARD,
    CONTAINER,
    CPUS,
    DESKTOP,
    FIRST,
    HYBRID,
    LAPTOP,
    NONE,
    SECOND,
    TOP,
    made,
    of_another_namespace,
)

FOLLOWED = Following(told=True, server="/opt/steelyard launch", is_root=False)


def examined(
    tree: Tree,
    meanwhile: Callable[[], None] | None = None,
    following: Following = FOLLOWED,
    missing: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, Condition]:
    """Return the conditions by their codes; `meanwhile` happens between the two readings, half a second apart."""
    seconds = iter((10.0, 10.5))

    def go_by(_: float) -> None:
        if meanwhile is not None:
            meanwhile()
        elif (stat := tree.root / "proc/stat").exists() and "1000 0" in stat.read_text():
            stat.write_text(stat.read_text().replace("1000 0", "1200 0"))

    found = examine(tree, following=following, missing_counters=missing, sleep=go_by, clock=lambda: next(seconds))
    assert len({one.code for one in found}) == len(found)
    assert all(bool(one.remedy) == (one.severity in ("serious", "slight")) for one in found)
    return {one.code: one for one in found}


def severities(found: dict[str, Condition], *wanted: str) -> set[str]:
    return {code for code, one in found.items() if one.severity in wanted}


def test_a_laptop_with_everything_wrong(tmp_path: Path) -> None:
    found = examined(made(tmp_path, LAPTOP))
    assert severities(found, "serious") == {"isolation", "power", "temperature", "free-memory", "clock"}
    assert severities(found, "slight") == {
        "siblings", "turbo", "governor", "frequency-range", "sleep-states", "swap", "huge-pages",
        "address-randomisation", "interrupts",
    }  # fmt: skip
    assert severities(found, "unknown") == {"scheduler-slice"}
    assert "0,2" in found["siblings"].evidence
    assert "nohz_full 3" in found["isolation"].evidence
    assert "powersave on processors 0-3" in found["governor"].evidence
    assert "from 0.4 to 4.2 GHz" in found["frequency-range"].evidence
    assert "C10 takes 890 µs" in found["sleep-states"].evidence
    assert "96 °C, 4 below" in found["temperature"].evidence
    assert (
        found["swap"].evidence
        == "1.43 of 1.91 GiB used: some launches fetch pages from a disk, or from compressed memory"
    )


def test_a_desktop_that_was_calmed(tmp_path: Path) -> None:
    found = examined(made(tmp_path, DESKTOP))
    assert severities(found, "serious", "slight", "unknown") == set()
    assert "2.8 ms" in found["scheduler-slice"].evidence


def test_a_container(tmp_path: Path) -> None:
    found = examined(made(tmp_path, CONTAINER))
    assert severities(found, "serious") == {"waiting-times", "processor-limit"}
    assert "may use 1.5 processors, and has been stopped 31 times" in found["processor-limit"].evidence
    once = {**CONTAINER, f"{TOP}/inner/cpu.stat": "nr_throttled 1\n"}
    assert "has been stopped 1 time for" in examined(made(tmp_path / "once", once))["processor-limit"].evidence
    assert found["offline"].evidence == "processors 0-1 are on, 2-3 are off"
    assert {"pressure", "turbo", "governor", "siblings", "temperature", "clock"} <= severities(found, "unknown")


def test_a_board(tmp_path: Path) -> None:
    found = examined(made(tmp_path, BOARD))
    assert severities(found, "serious", "slight") == {"governor"}
    assert "read by root" in found["counters"].evidence
    assert "82 °C, 28 below" in found["temperature"].evidence
    assert found["processor-limit"].severity == "fine"


_QUOTA = {f"{TOP}/cpu,cpuacct/user/cpu.cfs_quota_us": "50000\n", f"{TOP}/unified/cpu.max": "25000 100000\n"}


@pytest.mark.parametrize(
    ("mounted", "severity", "evidence"),
    [
        (FIRST, "slight", "may use 0.5 processors"),
        (HYBRID, "slight", "may use 0.25 processors"),
        (NONE, "unknown", "this system shows no control groups"),
        (SECOND, "fine", "no control group limits"),
    ],
)
def test_limits_are_told_wherever_control_groups_are(
    tmp_path: Path, mounted: str, severity: str, evidence: str
) -> None:
    membership = {"proc/self/mountinfo": mounted, "proc/self/cgroup": "4:cpu,cpuacct:/user\n0::/\n"}
    found = examined(made(tmp_path, {**BOARD, **membership, **_QUOTA}))["processor-limit"]
    assert found.severity == severity
    assert evidence in found.evidence


@pytest.mark.parametrize(
    ("name", "text"),
    [("cpu3/cpufreq/scaling_governor", "performance"), ("cpu0/cpufreq/energy_performance_preference", "x")],
)
def test_a_rate_that_is_not_set_at_ticks_needs_none(tmp_path: Path, name: str, text: str) -> None:
    told = examined(made(tmp_path, {**LAPTOP, f"{CPUS}/{name}": f"{text}\n"}))["isolation"]
    assert (told.severity, "nohz_full 3" in told.evidence) == ("fine", True)


@pytest.mark.parametrize(
    ("driver", "governor", "told"),
    [
        ("intel_pstate", "powersave", "powersave on processors 0-3: the clock rate follows the load"),
        ("amd-pstate-epp", "powersave", "powersave on processors 0-3: the clock rate follows the load"),
        ("acpi-cpufreq", "powersave", "powersave: the clock rate is held"),
        ("intel_cpufreq", "userspace", "userspace: the clock rate is held"),
        ("intel_cpufreq", "schedutil", "schedutil on processors 0-3: the clock rate follows the load"),
    ],
)
def test_which_governors_follow_the_load(tmp_path: Path, driver: str, governor: str, told: str) -> None:
    files = {
        f"{CPUS}/cpu{n}/cpufreq/scaling_{name}": f"{text}\n"
        for n in range(4)
        for name, text in (("driver", driver), ("governor", governor))
    }
    assert examined(made(tmp_path, {**LAPTOP, **files}))["governor"].evidence.startswith(told)


def test_an_account_of_waits_that_is_not_kept_is_told(tmp_path: Path) -> None:
    told = examined(made(tmp_path, {**LAPTOP, "proc/self/schedstat": "0 0 0\n"}))["waiting-times"]
    assert told.severity == "serious"
    assert "task_delayacct=1" in told.remedy


def test_a_limit_that_is_none_is_told_as_none(tmp_path: Path) -> None:
    files = {**CONTAINER, f"{TOP}/inner/cpu.max": "200000 100000\n"}
    assert examined(made(tmp_path, files))["processor-limit"].severity == "fine"
    files[f"{TOP}/inner/cpu.max"] = "100000 100000\n"
    assert "may use 1 processor, and" in examined(made(tmp_path, files))["processor-limit"].evidence


@pytest.mark.parametrize(
    ("allowed", "stopped", "severity"), [("1", 0, "fine"), ("0-1", 0, "slight"), ("1", 3, "serious")]
)
def test_a_limit_that_a_cpuset_keeps_to_is_not_reached(
    tmp_path: Path, allowed: str, stopped: int, severity: str
) -> None:
    files = {
        **CONTAINER,
        f"{TOP}/inner/cpu.stat": f"nr_throttled {stopped}\n",
        "proc/self/status": f"Cpus_allowed_list:\t{allowed}\n",
    }
    assert examined(made(tmp_path, files))["processor-limit"].severity == severity


def test_memory_that_a_control_group_may_not_have_is_not_free(tmp_path: Path) -> None:
    mib = 1 << 20
    second = {f"{TOP}/inner/memory.max": f"{2048 * mib}\n", f"{TOP}/inner/memory.current": f"{2000 * mib}\n"}
    stat = {f"{TOP}/inner/memory.stat": f"anon 1\nactive_file {64 * mib}\ninactive_file {32 * mib}\n"}
    told = examined(made(tmp_path / "2", {**CONTAINER, **second, **stat}))["free-memory"]
    assert told.severity == "serious"
    assert told.evidence.startswith("7.63 of 15.3 GiB available, and to this control group 0.141 of 2:")
    first = {
        "proc/self/mountinfo": f"33 31 0:30 / /{TOP}/memory rw - cgroup cgroup rw,memory\n",
        "proc/self/cgroup": "4:memory:/\n",
        f"{TOP}/memory/memory.limit_in_bytes": f"{2048 * mib}\n",
        f"{TOP}/memory/memory.usage_in_bytes": f"{2000 * mib}\n",
        f"{TOP}/memory/memory.stat": f"inactive_file 5\ntotal_inactive_file {1024 * mib}\n",
    }
    told = examined(made(tmp_path / "1", {**CONTAINER, **first}))["free-memory"]
    assert (told.severity, told.evidence.endswith("to this control group 1.05 of 2")) == ("fine", True)
    made(tmp_path / "1", {f"{TOP}/memory/memory.limit_in_bytes": "9223372036854771712\n"})
    assert "control group" not in examined(Tree(tmp_path / "1"))["free-memory"].evidence


def test_counters_that_are_refused_are_not_told_as_there(tmp_path: Path) -> None:
    tree = made(tmp_path, LAPTOP)
    assert examined(tree)["counters"].evidence.endswith("they can be read by everyone")
    told = examined(tree, missing={"cycles": 1})["counters"].evidence
    assert "not to be had here (Operation not permitted)" in told


@pytest.mark.parametrize("device", ["cpu_core", "armv7_cortex_a7", "armv9_cortex_a510", "apple_firestorm_pmu"])
def test_counters_are_there_by_whatever_name_an_architecture_has_for_them(tmp_path: Path, device: str) -> None:
    tree = made(tmp_path, {f"sys/bus/event_source/devices/{device}/type": "7\n"})
    assert examined(tree)["counters"].evidence.startswith("the processor counts")


@pytest.mark.parametrize("name", ["base_slice_ns", "min_granularity_ns"])
def test_turns_are_told_by_older_kernels_too(tmp_path: Path, name: str) -> None:
    told = examined(made(tmp_path, {**LAPTOP, f"sys/kernel/debug/sched/{name}": "3000000\n"}))["scheduler-slice"]
    assert told.evidence == "the scheduler's turns take 3 ms"


@pytest.mark.parametrize(("steal", "told"), [("0", "since the start"), ("7", "0.0 % of")])
def test_time_that_was_never_stolen_is_told_as_such(tmp_path: Path, steal: str, told: str) -> None:
    stat = {"proc/stat": f"cpu  100 0 50 1000 0 0 0 {steal} 0 0\ncpu0 1\n"}
    found = examined(made(tmp_path, {**LAPTOP, **stat}))["stolen-time"]
    assert (found.severity, told in found.evidence) == ("fine", True)


@pytest.mark.parametrize(
    ("allowed", "evidence"),
    [
        ("0-3", "all processors are on (0-3)"),
        ("0-2", "all processors are on (0-3); of these this process may use 0-2 (taskset, cpuset, isolcpus)"),
    ],
)
def test_the_processors_that_may_be_used_are_told(tmp_path: Path, allowed: str, evidence: str) -> None:
    status = {"proc/self/status": f"Name:\tsteelyard\nCpus_allowed_list:\t{allowed}\n"}
    assert examined(made(tmp_path, {**LAPTOP, **status}))["offline"].evidence == evidence


def test_one_processor_is_told_as_one(tmp_path: Path) -> None:
    governors = {f"{CPUS}/cpu{n}/cpufreq/scaling_governor": "performance\n" for n in range(3)}
    files = {**LAPTOP, **governors, f"{CPUS}/online": "0\n", f"{CPUS}/present": "0,3\n"}
    found = examined(made(tmp_path, {**files, "proc/77/comm": "cron\n", "proc/irq/default_smp_affinity": "1\n"}))
    assert found["governor"].evidence.startswith("powersave on processor 3: ")
    assert found["offline"].evidence == "processor 0 is on, 3 is off"
    assert found["interrupts"].evidence == "new ones are taken by processor 0"


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ("[always] madvise never", "always: whether"),
        ("always madvise [never]", "never: no program has any"),
        ("x", "the"),
    ],
)
def test_who_has_huge_pages(tmp_path: Path, chosen: str, told: str) -> None:
    files = {**LAPTOP, "sys/kernel/mm/transparent_hugepage/enabled": f"{chosen}\n"}
    assert examined(made(tmp_path, files))["huge-pages"].evidence.startswith(told)


def test_nothing_can_be_read(tmp_path: Path) -> None:
    found = examined(Tree(tmp_path / "absent"))
    assert severities(found, "serious", "slight") == {"waiting-times"}


def test_who_runs_beside(tmp_path: Path) -> None:
    def work() -> None:
        made(tmp_path, {
            "proc/stat": "cpu  150 0 50 1140 0 0 0 10 0 0\n",
            "proc/pressure/cpu": "some avg10=0.00 avg60=0.00 avg300=0.00 total=401000\n",
            "proc/9/stat": "9 (cc1plus) (x) R " + " ".join(["0"] * 10) + " 30 15 0 0 20 0 1 0 900 0\n",
        })  # fmt: skip

    found = examined(made(tmp_path, LAPTOP), work)
    # Four processors had 200 ticks: 45 of the 50 ticks of one processor.
    assert found["load"].evidence == "running beside: cc1plus) (x (90 %); 100 % is one processor of 4"
    assert found["load"].severity == "slight"
    assert found["pressure"].severity == "serious"
    assert "80 % of the time" in found["pressure"].evidence
    assert found["stolen-time"].severity == "slight"
    assert "5.0 % of the processors' time" in found["stolen-time"].evidence


@pytest.mark.parametrize(
    ("allowed", "isolated", "ticks", "is_another_offered"),
    [("1", "", 30, False), ("1", "3", 30, True), ("0-1", "", 30, True), ("0-3", "", 160, False)],
)
def test_another_processor_is_offered_where_there_is_one(
    tmp_path: Path, allowed: str, isolated: str, ticks: int, is_another_offered: bool
) -> None:
    def work() -> None:
        made(tmp_path, {
            "proc/stat": "cpu  150 0 50 1140 0 0 0 0 0 0\n",
            "proc/9/stat": f"9 (cc1plus) R {_SPENT} {ticks} 15 0 0 20 0 1 0 900 0\n",
        })  # fmt: skip

    files = {"proc/self/status": f"Cpus_allowed_list:\t{allowed}\n", f"{CPUS}/isolated": f"{isolated}\n"}
    remedy = examined(made(tmp_path, {**LAPTOP, **files}), work)["load"].remedy
    assert remedy is not None
    assert remedy.startswith("end it")
    assert ("--cpu" in remedy) == is_another_offered


def test_how_many_processors_are_busy_is_told_without_those_below_sys(tmp_path: Path) -> None:
    each = "".join(f"cpu{number} 0 0 0 300 0 0 0 0 0 0\n" for number in range(4))

    def work() -> None:
        made(tmp_path, {
            "proc/stat": f"cpu  150 0 50 1140 0 0 0 10 0 0\n{each}intr 1\n",
            "proc/9/stat": "9 (cc1plus) R " + " ".join(["0"] * 10) + " 30 15 0 0 20 0 1 0 900 0\n",
        })  # fmt: skip

    without = {name: text for name, text in LAPTOP.items() if not name.startswith(CPUS)}
    found = examined(made(tmp_path, without), work)
    assert found["load"].evidence == "running beside: cc1plus (90 %); 100 % is one processor of 4"


_SPENT = " ".join(["0"] * 10)


def test_processes_of_one_name_are_one_with_what_they_waited_for(tmp_path: Path) -> None:
    """Compilers that come and go between two readings show in the time of the children that `make` has waited for."""

    def work() -> None:
        made(tmp_path, {
            "proc/stat": "cpu  150 0 50 1140 0 0 0 0 0 0\n",
            **{f"proc/{n}/stat": f"{n} (python3) R {_SPENT} 8 0 0 0 20 0 1 0 900 0\n" for n in (8, 9)},
            **{f"proc/{n}/cmdline": "python3\0/home/a/sum.py\0" for n in (8, 9)},
            "proc/7/stat": f"7 (make) S {_SPENT} 1 1 28 0 20 0 1 0 900 0\n",
        })  # fmt: skip

    found = examined(made(tmp_path, LAPTOP), work)
    # Four processors had 190 ticks, so one had 47.5.
    assert found["load"].evidence.startswith("running beside: make (63 %), python3 sum.py (34 %);")


def test_work_of_programs_that_are_not_seen_is_told(tmp_path: Path) -> None:
    """As in a container, whose /proc lacks the processes of others, but whose /proc/stat is the machine's."""

    def work() -> None:
        made(tmp_path, {"proc/stat": "cpu  150 0 70 1120 0 0 0 0 0 0\ncpu0 1\ncpu1 1\n"})

    stat = {"proc/stat": "cpu  100 0 50 1000 0 0 0 0 0 0\ncpu0 1\ncpu1 1\n"}
    told = examined(made(tmp_path, {**CONTAINER, **stat}), work)["load"]
    assert told.severity == "slight"
    assert told.evidence.startswith("running beside: programs that cannot be seen from here (74 %); 100 %")


def test_what_interrupts_most_is_named(tmp_path: Path) -> None:
    table = "    CPU0  CPU1\n"
    rows = {
        "LOC": "Local timer interrupts",
        "RES": "Rescheduling interrupts",
        "5": "PCI-MSI 1-edge  eth0-rx-0",
        "NMI": "",
    }
    made(tmp_path, {"proc/interrupts": table + "".join(f"{name}:  1  1  {what}\n" for name, what in rows.items())})

    def work() -> None:
        grown = zip(rows.items(), (250, 3000, 10, 1), strict=True)
        text = "".join(f"{name}:  1  {1 + by}  {what}\n" for (name, what), by in grown)
        made(tmp_path, {"proc/interrupts": table + text})

    told = examined(made(tmp_path, LAPTOP), work)["interrupts"]
    assert told.evidence.endswith(
        "; most a second: rescheduling by other processors 6,000, the timer 500, the device eth0 20"
    )


@pytest.mark.parametrize(("state", "severity"), [("S", "slight"), ("T", "fine")])
def test_a_service_that_tune_has_stopped_moves_no_interrupts(tmp_path: Path, state: str, severity: str) -> None:
    stat = {"proc/77/stat": f"77 (irqbalance) {state} {_SPENT} 5 5 0 0 20 0 1 0 3 0\n"}
    assert examined(made(tmp_path, {**LAPTOP, **stat}))["interrupts"].severity == severity


_TRACING = "25 23 0:12 / /sys/kernel/tracing rw,nosuid - tracefs tracefs rw\n"


@pytest.mark.parametrize(
    ("mounted", "namespace", "is_root", "why", "remedy"),
    [
        ("", 4026531836, False, "only root is told", "mount -t tracefs -o mode=755,gid=$(id -g) tracefs /sys/kernel/"),
        (
            _TRACING,
            4026531836,
            False,
            "only root is told",
            "mount -o remount,mode=755,gid=$(id -g) /sys/kernel/tracing\n",
        ),
        (_TRACING, 4026531836, True, "even root is not told", "outside of a container"),
        (_TRACING, 4026532176, True, "numbers of their own", "--pid=host --privileged"),
    ],
)
def test_why_threads_cannot_be_followed(
    tmp_path: Path, mounted: str, namespace: int, is_root: bool, why: str, remedy: str
) -> None:
    tree = made(tmp_path, {**LAPTOP, "proc/self/mountinfo": SECOND + mounted})
    (tmp_path / "proc/self/ns").mkdir()
    (tmp_path / "proc/self/ns/pid").symlink_to(f"pid:[{namespace}]")
    told = examined(tree, following=replace(FOLLOWED, told=False, is_root=is_root))["threads"]
    assert told.severity == "slight"
    assert why in told.evidence
    assert remedy in told.remedy
    assert ("setcap cap_perfmon=ep '/opt/steelyard launch'" in told.remedy) == (not is_root)


def test_another_namespace_s_proc_tells_nothing_of_ours(tmp_path: Path) -> None:
    told = examined(of_another_namespace(made(tmp_path, LAPTOP)))["waiting-times"]
    assert told.severity == "serious"
    assert "of another namespace" in told.evidence
    assert "unshare --mount-proc" in told.remedy


def test_without_a_launch_server_nobody_tells_of_threads(tmp_path: Path) -> None:
    found = examined(Tree(tmp_path / "absent"), following=replace(FOLLOWED, told=None))
    assert found["threads"].severity == "unknown"


def test_counters_that_go_back_are_no_errors(tmp_path: Path) -> None:
    def restart() -> None:
        made(tmp_path, {"proc/stat": "cpu  1 0 0 1 0 0 0 0\n", "proc/pressure/cpu": "some total=1\n"})

    found = examined(made(tmp_path, LAPTOP), restart)
    assert found["load"].severity == "unknown"
    assert found["pressure"].severity == "fine"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.sampled_from(sorted({*LAPTOP, *CONTAINER, *BOARD})), text=st.text(max_size=40))
def test_nonsense_in_any_file_is_no_error(tmp_path: Path, path: str, text: str) -> None:
    files = {**LAPTOP, **CONTAINER}
    if not (tmp_path / "proc").exists():
        made(tmp_path, files)
    damaged = tmp_path / path
    damaged.parent.mkdir(parents=True, exist_ok=True)
    damaged.write_text(text, errors="surrogatepass")
    try:
        examined(Tree(tmp_path))
    finally:  # repaired for the next case
        if path in files:
            damaged.write_text(files[path])


def test_this_machine() -> None:
    examine(following=FOLLOWED, missing_counters={}, sleep=lambda _: None)


@pytest.mark.parametrize("text", ["", "(null)", "0-", "a", "1,,2", "9999999"])
def test_what_is_no_list_of_processors(tmp_path: Path, text: str) -> None:
    tree = made(tmp_path, {"list": text})
    assert tree.processor_list("list") == set()
