"""Machines are tuned, and put back exactly as they were, whatever happens in between."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn

import pytest

from steelyard.machine.conditions.words import ranges
from steelyard.machine.readings import Tree, processor_numbers
from steelyard.machine.tuning.hand import Hand
from steelyard.machine.tuning.tuner import Done, Tuner
from steelyard.model.errors import MeasurementError, UsageError
from tests.machine.trees import BOARD, CONTAINER, CPUS, DESKTOP, FIRST, LAPTOP, SECOND, TOP, made, of_another_namespace

_HUGE_PAGES = "sys/kernel/mm/transparent_hugepage/enabled"
_CHOICES = ("always", "madvise", "never")

_SERVER = {**DESKTOP, "proc/irq/24/smp_affinity_list": "0-3\n", "proc/irq/25/smp_affinity_list": "2\n"}
MACHINES: Mapping[str, Mapping[str, str]] = {
    "laptop": {
        **LAPTOP,
        "proc/77/stat": "77 (irqbalance) S 1 1\n",
        "proc/irq/24/smp_affinity_list": "0-3\n",
        **{f"{CPUS}/cpu{n}/online": "1\n" for n in range(1, 4)},
        f"{CPUS}/cpu1/cpuidle/state1/latency": "890\n",
        f"{CPUS}/cpu1/cpuidle/state1/disable": "0\n",
    },
    "desktop": DESKTOP,
    "server": _SERVER,
    "container": CONTAINER,
    "one switched off": {
        **{name: text for name, text in _SERVER.items() if "cpu3/" not in name},
        f"{CPUS}/online": "0-2\n",
        f"{CPUS}/cpu3/online": "0\n",
    },
    "board": {**BOARD, f"{CPUS}/cpu0/cpufreq/scaling_available_governors": "ondemand performance\n"},
}


class Kernel:
    """Answers writes as the kernel does, and makes something happen before, within or after one of them."""

    def __init__(self, root: Path, at: int = -1, happens: Callable[[], None] = lambda: None, within: str = "") -> None:
        self.root, self.at, self.happens, self.within = root, at, happens, within
        self.writes = 0
        self.refused: set[str] = set()
        self.error = errno.EIO

    def write(self, path: Path, text: str) -> None:
        moment, self.writes = self.writes == self.at, self.writes + 1
        if moment and self.within == "before":
            self.happens()
        if str(path.relative_to(self.root)) in self.refused:
            raise OSError(self.error, os.strerror(self.error))
        if moment and self.within == "emptied":
            path.write_text("")
            self.happens()
        if not path.exists():
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
        if path.name == "smp_affinity_list":
            text = ranges(processor_numbers(text))
        chosen = " ".join(f"[{one}]" if one == text else one for one in _CHOICES)
        path.write_text(f"{chosen}\n" if path == self.root / _HUGE_PAGES else f"{text}\n")
        if moment and self.within == "after":
            self.happens()

    def kill(self, number: int, sent: int) -> None:
        state = {signal.SIGSTOP: "T", signal.SIGCONT: "S"}[signal.Signals(sent)]
        (self.root / f"proc/{number}/stat").write_text(f"{number} (irqbalance) {state} 1 1\n")

    @property
    def tuner(self) -> Tuner:
        return Tuner(Hand(Tree(self.root), self.write, self.kill))


def contents(root: Path) -> dict[str, bytes]:
    """Return the content of all files of the machine, without what we keep ourselves."""
    files = (path for part in ("proc", "sys") for path in (root / part).rglob("*") if path.is_file())
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


def tune(tuner: Tuner, processor: int | None = 1) -> Done:
    return tuner.tune(processor, tool="0", created="2026-01-01T00:00:00+00:00")


def killed_while(act: Callable[[], object]) -> bool:
    """Return whether a process that does this ends by SIGKILL."""
    child = os.fork()
    if child == 0:
        try:
            act()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def kill_ourselves() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(params=MACHINES)
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return made(tmp_path, MACHINES[request.param]).root


def test_what_is_in_force_is_what_the_system_took_and_may_be_read(root: Path) -> None:
    kernel = Kernel(root)
    assert kernel.tuner.in_force() == []
    if not (planned := kernel.tuner.plan(1)):
        return
    kernel.refused = {planned[-1].setting}
    done = tune(kernel.tuner)
    assert kernel.tuner.in_force() == done.changes
    if kernel.tuner.kept.exists():
        kernel.tuner.kept.write_text("damaged")
    assert kernel.tuner.in_force() == []


@pytest.mark.parametrize(("rate", "is_in_force"), [(4_200_000, True), (2_800_000, True), (400_000, False)])
def test_a_lowest_rate_that_turbo_held_up_is_in_force_as_far_as_it_goes(
    laptop: Kernel, rate: int, is_in_force: bool
) -> None:
    """Once it is off, intel_pstate tells the nominal rate as the lowest one."""
    tune(laptop.tuner)
    made(laptop.root, {f"{CPUS}/cpu{number}/cpufreq/scaling_min_freq": f"{rate}\n" for number in range(4)})
    assert ("frequency-range" in {change.code for change in laptop.tuner.in_force()}) is is_in_force


def test_a_process_that_has_another_number_for_us_is_left_alone(tmp_path: Path) -> None:
    root = of_another_namespace(made(tmp_path, {**MACHINES["laptop"], "proc/self/comm": "steelyard"})).root
    assert not [change for change in Kernel(root).tuner.plan(1) if change.code == "irqbalance"]
    Kernel(root).tuner.hand.set("process:irqbalance", "stopped")
    assert (root / "proc/77/stat").read_text() == "77 (irqbalance) S 1 1\n"


def test_a_machine_is_tuned_and_put_back(root: Path) -> None:
    before = contents(root)
    kernel = Kernel(root)
    planned = kernel.tuner.plan(1)
    tune(kernel.tuner)
    assert contents(root) == before if not planned else contents(root) != before
    assert kernel.tuner.plan(1) == []
    if planned:
        kernel.tuner.restore()
    assert contents(root) == before
    assert not kernel.tuner.kept.exists()


@pytest.mark.parametrize("within", ["before", "emptied", "after"])
def test_whenever_it_is_killed_all_is_put_back(root: Path, within: str) -> None:
    before = contents(root)
    count = Kernel(root)
    tune(count.tuner)
    if not (steps := count.writes):
        return
    count.tuner.restore()
    for step in range(steps):
        assert killed_while(lambda at=step: tune(Kernel(root, at, kill_ourselves, within).tuner))  # type: ignore[misc]
        Kernel(root).tuner.restore()
        assert contents(root) == before, step


@pytest.mark.parametrize("within", ["before", "emptied", "after"])
def test_a_killed_restore_is_carried_on(root: Path, within: str) -> None:
    before = contents(root)
    first = Kernel(root)
    tune(first.tuner)
    for step in range(first.writes):
        killed = killed_while(lambda at=step: Kernel(root, at, kill_ourselves, within).tuner.restore())  # type: ignore[misc]
        if killed:
            Kernel(root).tuner.restore()
        assert contents(root) == before
        tune(Kernel(root).tuner)


def test_an_interrupt_undoes_what_was_done(root: Path) -> None:
    before = contents(root)

    def interrupt() -> None:
        raise KeyboardInterrupt

    kernel = Kernel(root, 0, interrupt, "after")
    if not kernel.tuner.plan(1):
        return
    with pytest.raises(KeyboardInterrupt):
        tune(kernel.tuner)
    assert contents(root) == before
    assert not kernel.tuner.kept.exists()


# --- what is tuned


@pytest.fixture
def laptop(tmp_path: Path) -> Kernel:
    return Kernel(made(tmp_path, MACHINES["laptop"]).root)


def test_what_is_changed_on_a_laptop(laptop: Kernel) -> None:
    changes = {change.setting: (change.before, change.after) for change in laptop.tuner.plan(1)}
    assert changes["process:irqbalance"] == ("running", "stopped")
    assert changes["proc/irq/24/smp_affinity_list"] == ("0-3", "0,2-3")
    assert changes["proc/sys/kernel/perf_event_max_sample_rate"] == ("100000", "1")
    assert changes[f"{CPUS}/cpu2/cpufreq/scaling_governor"] == ("powersave", "performance")
    assert changes[f"{CPUS}/cpu2/cpufreq/scaling_min_freq"] == ("400000", "4200000")
    assert changes[f"{CPUS}/intel_pstate/no_turbo"] == ("0", "1")
    assert changes[f"{CPUS}/cpu1/cpuidle/state1/disable"] == ("0", "1")
    assert changes[_HUGE_PAGES] == ("always", "madvise")
    assert changes[f"{CPUS}/cpu3/online"] == ("1", "0")
    assert not any("randomize_va_space" in setting for setting in changes)


def test_what_the_governor_changes_as_well_is_put_back(laptop: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with amd-pstate: the other governor does not bring back the preference that was there before."""
    preferences = {f"{CPUS}/cpu{n}/cpufreq/energy_performance_preference": "balance_power\n" for n in range(4)}
    before, write = contents(made(laptop.root, preferences).root), laptop.write

    def write_both(path: Path, text: str) -> None:
        write(path, text)
        if text == "performance":
            path.with_name("energy_performance_preference").write_text("performance\n")

    monkeypatch.setattr(laptop, "write", write_both)
    tune(laptop.tuner)
    assert laptop.tuner.restore().refused == []
    assert contents(laptop.root) == before


def test_a_clock_rate_that_root_has_chosen_stays_as_it_could_not_be_put_back(laptop: Kernel) -> None:
    made(laptop.root, {f"{CPUS}/cpu2/cpufreq/scaling_governor": "userspace\n"})
    changed = {change.setting for change in laptop.tuner.plan(1) if change.code == "governor"}
    assert changed == {f"{CPUS}/cpu{number}/cpufreq/scaling_governor" for number in (0, 1, 3)}


@pytest.mark.parametrize(
    ("online", "before", "after"),
    [
        ("0-3", "1", "0,2"),
        ("0-3", "1,3", "0,2"),
        ("0-3", "3", "0,2"),
        ("0-3", "2-3", None),
        ("0-3", "0", None),
        ("0-3", "5", None),
        ("1,3", "1", None),
        ("1,3", "1,3", None),
        ("1,3", "3", "1"),
    ],
)
def test_interrupts_do_not_go_to_a_sibling_that_is_switched_off(
    laptop: Kernel, online: str, before: str, after: str | None
) -> None:
    irq = "proc/irq/24/smp_affinity_list"
    made(laptop.root, {irq: f"{before}\n", f"{CPUS}/online": f"{online}\n"})
    assert {one.setting: one.after for one in laptop.tuner.plan(1)}.get(irq) == after


def test_interrupts_that_were_moved_are_not_told_as_refused(laptop: Kernel) -> None:
    done = tune(laptop.tuner)
    assert done.refused == []
    assert "interrupts" in {change.code for change in laptop.tuner.in_force()}


@pytest.mark.parametrize(("before", "after"), [("always", "madvise"), ("madvise", None), ("never", None)])
def test_programs_have_no_huge_pages_where_none_had_any(laptop: Kernel, before: str, after: str | None) -> None:
    choices = " ".join(f"[{one}]" if one == before else one for one in _CHOICES)
    made(laptop.root, {_HUGE_PAGES: f"{choices}\n"})
    assert {one.setting: one.after for one in laptop.tuner.plan(1)}.get(_HUGE_PAGES) == after


@pytest.mark.parametrize(
    ("mounted", "of_a_group", "is_switched_off"), [(FIRST, "0-3", False), (FIRST, "0-2", True), (SECOND, "0-3", True)]
)
def test_a_processor_that_a_cpuset_would_not_get_back_stays_on(
    laptop: Kernel, mounted: str, of_a_group: str, *, is_switched_off: bool
) -> None:
    files = {"proc/self/mountinfo": mounted, "proc/self/cgroup": "3:cpuset:/\n0::/\n"}
    files[f"{TOP}/cpuset/docker/cpuset.cpus"] = f"{of_a_group}\n"
    made(laptop.root, files)
    settings = {change.setting for change in laptop.tuner.plan(1)}
    assert (f"{CPUS}/cpu3/online" in settings) is is_switched_off


def test_without_a_processor_nothing_is_taken_from_the_others(laptop: Kernel) -> None:
    settings = {change.setting for change in laptop.tuner.plan(None)}
    assert not any("online" in setting or "irq/" in setting for setting in settings)


def test_what_is_refused_is_told_and_the_rest_is_done(laptop: Kernel) -> None:
    laptop.refused = {_HUGE_PAGES}
    done = tune(laptop.tuner, None)
    assert [(one.change.setting, one.reason) for one in done.refused] == [(_HUGE_PAGES, "Input/output error")]
    assert done.changes
    assert laptop.tuner.restore().refused == []


@pytest.mark.parametrize("error", [errno.EROFS, errno.EACCES, errno.EPERM])
def test_where_nothing_may_be_changed_nothing_is_kept(tmp_path: Path, error: int) -> None:
    kernel = Kernel(made(tmp_path, MACHINES["server"]).root)
    kernel.refused, kernel.error = {change.setting for change in kernel.tuner.plan(1)}, error
    before = contents(kernel.root)
    for _ in range(2):  # the first time has not tuned it
        done = tune(kernel.tuner)
        assert not done.changes
        assert {one.reason for one in done.refused} == {os.strerror(error)}
    assert contents(kernel.root) == before
    assert not kernel.tuner.kept.exists()


def test_a_processor_that_goes_away_meanwhile_is_told_and_forgotten(laptop: Kernel) -> None:
    laptop.at, laptop.within = 0, "before"
    laptop.happens = lambda: shutil.rmtree(laptop.root / f"{CPUS}/cpu3")
    done = tune(laptop.tuner)
    assert {one.change.setting for one in done.refused} >= {f"{CPUS}/cpu3/cpufreq/scaling_governor"}
    assert all("cpu3" in one.change.setting for one in done.refused)
    assert {one.reason for one in done.refused} == {"No such file or directory"}
    assert {one.reason for one in laptop.tuner.restore().refused} == {"it is not there any more"}
    assert not laptop.tuner.kept.exists()


def test_what_cannot_be_restored_is_kept_for_another_time(laptop: Kernel) -> None:
    before = contents(laptop.root)
    tune(laptop.tuner)
    laptop.refused = {_HUGE_PAGES}
    assert [one.change.setting for one in laptop.tuner.restore().refused] == [_HUGE_PAGES]
    laptop.refused = set()
    assert [change.setting for change in laptop.tuner.restore().changes] == [_HUGE_PAGES]
    assert contents(laptop.root) == before


def test_a_service_that_stops_a_moment_later_is_stopped(laptop: Kernel) -> None:
    sent: list[tuple[int, int]] = []

    def later(_: float) -> None:
        while sent:
            laptop.kill(*sent.pop())

    hand = Hand(Tree(laptop.root), laptop.write, lambda number, signal: sent.append((number, signal)), later)
    before = contents(laptop.root)
    for done in (tune(Tuner(hand)), Tuner(hand).restore()):
        assert "process:irqbalance" in {change.setting for change in done.changes}
        assert done.refused == []
    assert contents(laptop.root) == before


def test_a_service_that_goes_on_is_told(laptop: Kernel) -> None:
    slept: list[float] = []
    hand = Hand(Tree(laptop.root), laptop.write, lambda *_: None, slept.append)
    done = tune(Tuner(hand))
    assert [(one.change.setting, one.reason) for one in done.refused] == [("process:irqbalance", "it is running now")]
    assert sum(slept) == pytest.approx(0.1)


def test_what_is_gone_is_told_and_not_waited_for(laptop: Kernel) -> None:
    tune(laptop.tuner)
    (laptop.root / _HUGE_PAGES).unlink()
    done = laptop.tuner.restore()
    assert [one.reason for one in done.refused] == ["it is not there any more"]
    assert not laptop.tuner.kept.exists()


# --- refusals


def test_a_second_tuning_is_refused(laptop: Kernel) -> None:
    tune(laptop.tuner)
    with pytest.raises(UsageError, match="tuned, since 2026-01-01T00:00:00"):
        tune(laptop.tuner)


def test_nothing_to_restore(laptop: Kernel) -> None:
    with pytest.raises(UsageError, match="not tuned"):
        laptop.tuner.restore()
    assert not laptop.tuner.kept.parent.exists(), "for which nothing is written, so that any user is told"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"format": "steelyard-tuning"}',
        '{"format": "steelyard-tuning", "version": 1, "tool": "0", "created": "x", "changes": '
        '[{"code": "x", "setting": "sys/../etc/passwd", "before": "a", "after": "b"}]}',
    ],
)
def test_a_damaged_state_is_named_and_left_alone(laptop: Kernel, text: str) -> None:
    laptop.tuner.kept.parent.mkdir(parents=True)
    laptop.tuner.kept.write_text(text)
    before = contents(laptop.root)
    for act in (laptop.tuner.restore, lambda: tune(laptop.tuner)):
        with pytest.raises(UsageError, match=r"tuning\.json, which holds what was before, is damaged"):
            act()
    assert contents(laptop.root) == before
    assert laptop.tuner.kept.read_text() == text


def test_two_at_once(laptop: Kernel) -> None:
    other = Kernel(laptop.root)
    laptop.at, laptop.within = 0, "before"
    said: list[str] = []

    def meanwhile() -> None:
        with pytest.raises(UsageError) as refused:
            other.tuner.restore()
        said.append(str(refused.value))

    laptop.happens = meanwhile
    tune(laptop.tuner)
    assert said == ["another steelyard tunes or restores this machine right now: wait for its end"]


def test_nothing_is_changed_where_the_state_cannot_be_kept(laptop: Kernel) -> None:
    (laptop.root / "var").write_text("no folder")
    before = contents(laptop.root)
    with pytest.raises(UsageError, match="it holds what was before: look what is in its place"):
        laptop.tuner.restore()
    with pytest.raises(MeasurementError, match="it is not tuned without a folder that can be written, and has room"):
        tune(laptop.tuner)
    assert contents(laptop.root) == before


@pytest.mark.parametrize(
    ("error", "way_out"),
    [(errno.EACCES, "tuning needs root"), (errno.ENOSPC, "it is not tuned without a folder that can be written")],
)
def test_why_the_state_cannot_be_kept_is_told(
    laptop: Kernel, monkeypatch: pytest.MonkeyPatch, error: int, way_out: str
) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise OSError(error, os.strerror(error))

    before = contents(laptop.root)
    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    with pytest.raises(MeasurementError, match=f"{os.strerror(error)}; {way_out}"):
        tune(laptop.tuner)
    assert contents(laptop.root) == before
