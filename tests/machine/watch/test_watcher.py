from __future__ import annotations

import os
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

import pytest

from steelyard.machine.watch.gauges import Gauges
from steelyard.machine.watch.watcher import Watcher, pause_s
from steelyard.model.watch import Beside, Stretch
from tests.machine.trees import CONTAINER, CPUS, FIRST, HYBRID, LAPTOP, NONE, TOP, made, of_another_namespace
from tests.machine.watch.processes import stat
from tests.tool import wait_until

MS = 1_000_000


def seen(root: Path, before: dict[str, str], after: dict[str, str], *, processor: int | None = None) -> Stretch:
    """Return what goes on between two looks at a machine, a second apart; process 30 is the launch server."""
    times = iter((5_000 * MS, 6_000 * MS))
    tree = made(root, before)
    watcher = Watcher({30}, processor, tree=tree, clock_ns=lambda: next(times), tick_ns=10 * MS, work_ns=lambda: 1100)
    watcher.begin()
    made(root, after)
    watcher.look()
    (stretch,) = watcher.taken()
    assert watcher.taken() == []
    return stretch


def test_who_ran_and_what_the_machine_did(tmp_path: Path) -> None:
    before = {
        **LAPTOP,
        "proc/stat": "cpu  100 0 50 1000 0 0 0 3 0 0\nintr 1000 1 2\n",
        "proc/self/cgroup": "0::/inner\n",
        f"{TOP}/inner/cpu.stat": "nr_throttled 3\nthrottled_usec 1000\n",
        "proc/30/stat": stat("steelyard-launc", number=30, parent=5),
        "proc/40/stat": stat("cc1plus", number=40, ticks=500, started=7, processor=1),
        f"{CPUS}/cpu0/cpufreq/scaling_cur_freq": "2000000\n",
        f"{CPUS}/cpu1/cpufreq/scaling_cur_freq": "3000000\n",
        f"{CPUS}/cpu0/thermal_throttle/package_throttle_count": "2\n",
    }
    after = {
        "proc/stat": "cpu  270 0 70 1010 0 0 0 5 0 0\nintr 1800 1 2\n",
        "proc/pressure/cpu": "some avg10=0.00 avg60=0.00 avg300=0.00 total=301000\n",
        f"{TOP}/inner/cpu.stat": "nr_throttled 4\nthrottled_usec 21000\n",
        "proc/31/stat": stat("target", number=31, parent=30, ticks=95, started=8),
        f"proc/{os.getpid()}/stat": stat("steelyard", number=os.getpid(), ticks=5, started=8),
        "proc/40/stat": stat("cc1plus", number=40, ticks=560, started=7, processor=1),
        f"{CPUS}/cpu0/thermal_throttle/package_throttle_count": "3\n",
    }
    stretch = seen(tmp_path, before, after)
    assert stretch == Stretch(
        start_ns=5_000 * MS,
        end_ns=6_000 * MS,
        beside=[Beside(name="cc1plus", processes=1, ran_ns=600 * MS, cpu=1)],
        hidden_ns=300 * MS,  # 160 of 190 ticks of work are seen
        pressure_ns=300 * MS,
        steal_ns=20 * MS,
        stopped_ns=20 * MS,
        slowed=1,
        interrupts=800,
        mhz=2500.0,
        celsius=96.0,
        work_ns=1100,
        cost_ns=stretch.cost_ns,
    )
    assert stretch.cost_ns > 0


def test_where_our_own_have_other_numbers_nobody_is_told_of(tmp_path: Path) -> None:
    times = iter((5_000 * MS, 6_000 * MS))
    tree = of_another_namespace(made(tmp_path, LAPTOP))
    watcher = Watcher({30}, tree=tree, clock_ns=lambda: next(times), tick_ns=10 * MS, work_ns=lambda: 1100)
    watcher.begin()
    made(tmp_path, {
        "proc/stat": "cpu  270 0 70 1200 0 0 0 5 0 0\nintr 1800 1 2\n",
        "proc/400031/stat": stat("target", number=400031, parent=400030, ticks=95, started=8),
    })  # fmt: skip
    watcher.look()
    (stretch,) = watcher.taken()
    assert (stretch.beside, stretch.hidden_ns) == ([], None)


def test_the_clock_rate_is_that_of_the_processor_of_the_launches(tmp_path: Path) -> None:
    rates = {f"{CPUS}/cpu{n}/cpufreq/scaling_cur_freq": f"{n + 1}000000\n" for n in range(8)}
    assert seen(tmp_path / "a", rates, {}, processor=6).mhz == 7000.0
    assert seen(tmp_path / "b", rates, {}).mhz == 2500.0  # of the first four only, because reading wakes processors


def test_a_processor_that_goes_away_meanwhile_has_no_rate(tmp_path: Path) -> None:
    rates = {f"{CPUS}/cpu{n}/cpufreq/scaling_cur_freq": f"{n + 1}000000\n" for n in range(2)}
    gauges = Gauges.found(made(tmp_path, rates), None)
    (tmp_path / CPUS / "cpu1/cpufreq/scaling_cur_freq").unlink()
    assert gauges.read().mhz == 1000.0
    (tmp_path / CPUS / "cpu0/cpufreq/scaling_cur_freq").unlink()
    assert gauges.read().mhz is None


TABLE = """\
           CPU0       CPU1
 27:          0      {}  GICv3  27 Level  arch_timer
RES:          {}          0   Rescheduling interrupts
CAL:          0          {}   Function call interrupts
"""


@pytest.mark.parametrize(
    ("processor", "kept"),
    [
        (None, [("rescheduling by other processors", 5000), ("the timer", 1001)]),
        (0, [("rescheduling by other processors", 5000)]),
        (1, [("the timer", 1001)]),
    ],
)
def test_what_interrupts_often_is_kept(tmp_path: Path, processor: int | None, kept: list[tuple[str, int]]) -> None:
    before, after = TABLE.format(7, 7, 7), TABLE.format(1008, 5007, 1007)
    stretch = seen(tmp_path, {"proc/interrupts": before}, {"proc/interrupts": after}, processor=processor)
    assert [(one.source, one.times) for one in stretch.interrupting] == kept


@pytest.mark.parametrize("mounted", [FIRST, HYBRID])
def test_groups_of_the_first_version_tell_in_ns(tmp_path: Path, mounted: str) -> None:
    limit = f"{TOP}/cpu,cpuacct/user/cpu.stat"
    membership = {"proc/self/mountinfo": mounted, "proc/self/cgroup": "4:cpu,cpuacct:/user\n0::/\n"}
    before = {**membership, limit: "nr_throttled 1\nthrottled_time 5\n"}
    assert seen(tmp_path, before, {limit: "nr_throttled 2\nthrottled_time 12\n"}).stopped_ns == 7


@pytest.mark.parametrize("machine", [{}, CONTAINER, {**CONTAINER, "proc/self/mountinfo": NONE}])
def test_what_a_machine_does_not_tell_is_not_known(tmp_path: Path, machine: dict[str, str]) -> None:
    stretch = seen(tmp_path, machine, {})
    unknown = ("pressure_ns", "slowed", "interrupts", "mhz", "celsius", "stopped_ns")
    assert [getattr(stretch, name) for name in unknown] == [None] * len(unknown)
    assert stretch.beside == []


def test_long_weighings_do_not_fill_records() -> None:
    elapsed_s, looks = 0.0, 0
    while elapsed_s < 3600:
        elapsed_s += pause_s(elapsed_s, 0)
        looks += 1
    assert 3500 < looks < 4000


@pytest.mark.parametrize("cost_ns", [MS // 2, 2 * MS, 100 * MS])
def test_looks_are_the_rarer_the_more_they_cost(cost_ns: int) -> None:
    elapsed_s, looks = 0.0, 0
    while looks < 50:
        elapsed_s += pause_s(elapsed_s, (looks + 1) * cost_ns)
        looks += 1
        assert looks * cost_ns / 1e9 < 0.005 * elapsed_s
    assert elapsed_s == pytest.approx(max(50 * 0.25, 50 * cost_ns / 0.004 / 1e9))


def test_without_another_thread_there_are_two_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: threading.Thread) -> NoReturn:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    with Watcher({30}, tree=made(tmp_path, LAPTOP)) as watcher:
        assert watcher.taken() == []
    assert len(watcher.taken()) == 1


def test_all_of_the_time_is_in_a_stretch(tmp_path: Path) -> None:
    begun_ns = time.monotonic_ns()
    stretches: list[Stretch] = []

    def has_looked() -> bool:
        stretches.extend(watcher.taken())
        return bool(stretches)

    with Watcher({30}, tree=made(tmp_path, LAPTOP)) as watcher:
        wait_until(has_looked, "its thread has looked")
        during_ns = time.monotonic_ns()
    stretches += watcher.taken()
    assert len(stretches) >= 2
    assert all(one.end_ns == other.start_ns for one, other in pairwise(stretches))
    assert begun_ns <= stretches[0].start_ns
    assert stretches[-1].end_ns >= during_ns
