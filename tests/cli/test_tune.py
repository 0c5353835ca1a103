"""`steelyard tune` on a made-up machine."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from steelyard.cli.calm import tuned
from steelyard.design.world import World
from steelyard.model.files import load
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.report import tuning
from tests.machine.trees import CPUS, made
from tests.machine.tuning.test_tuner import MACHINES, Kernel, contents
from tests.world import ScriptedWorld, ctrl_c


@pytest.fixture
def kernel(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Kernel:
    made_up = Kernel(made(tmp_path / "machine", MACHINES["laptop"]).root)
    outside = scripted.outside

    def with_a_machine() -> World:
        return replace(outside(), tuner=lambda: made_up.tuner)

    monkeypatch.setattr(scripted, "outside", with_a_machine)
    return made_up


def test_a_dry_run_shows_what_would_change_and_changes_nothing(scripted: ScriptedWorld, kernel: Kernel) -> None:
    before = contents(kernel.root)
    done = scripted("tune", "--dry-run", "--cpu", "1")
    assert (done.status, done.err) == (0, b"")
    assert "scaling_governor  powersave -> performance" in done.text
    assert done.text.endswith("this would be changed\n")
    assert contents(kernel.root) == before


def test_settings_are_named_by_their_files(scripted: ScriptedWorld, kernel: Kernel) -> None:
    said = scripted("tune", "--dry-run").text
    assert "  /sys/kernel/mm/transparent_hugepage/enabled  " in said
    files = [one.setting for one in kernel.tuner.plan(None) if not one.setting.startswith("process:")]
    assert said.count("\n  /") == len(files)


def test_tuned_and_restored(scripted: ScriptedWorld, kernel: Kernel) -> None:
    before = contents(kernel.root)
    assert scripted("tune").text.endswith("tuned; steelyard tune --restore puts back what was\n")
    assert contents(kernel.root) != before
    assert "tuned, since" in scripted.refuses("tune")
    done = scripted("tune", "--restore")
    assert done.status == 0
    assert "performance -> powersave" in done.text
    assert contents(kernel.root) == before


def test_a_refusal_is_named(scripted: ScriptedWorld, kernel: Kernel) -> None:
    kernel.refused = {"sys/kernel/mm/transparent_hugepage/enabled"}
    done = scripted("tune")
    assert done.status == 0
    assert "refused    /sys/kernel/mm/transparent_hugepage/enabled: Input/output error" in done.text


def test_a_weighing_on_a_tuned_machine(scripted: ScriptedWorld, kernel: Kernel) -> None:
    before = contents(kernel.root)
    seen = []
    launch = scripted.launch

    def looked(spec: LaunchSpec) -> Measured:
        seen.append(kernel.tuner.state() is not None)
        return launch(spec)

    scripted.launch = looked  # type: ignore[method-assign]
    for name in ("old", "new"):
        scripted.executable(name)
    assert scripted("compare", "./old", "./new", "--tuned").status in (0, 1)
    assert seen
    assert all(seen)
    assert contents(kernel.root) == before
    assert not kernel.tuner.kept.exists()


def test_the_record_says_what_was_tuned(scripted: ScriptedWorld, kernel: Kernel) -> None:
    kernel.refused = {"sys/kernel/mm/transparent_hugepage/enabled"}
    codes = dict.fromkeys(one.code for one in kernel.tuner.plan(None))
    assert "huge-pages" in codes
    taken = ", ".join(code for code in codes if code != "huge-pages")
    message = f"the machine was tuned: {taken}"

    def found(*words: str) -> list[str]:
        done = scripted("compare", "./old", "./new", "--pairs", "12", "-o", "record.json", *words)
        told = [one.message for one in load(Path("record.json")).findings if one.code == "tuned"]
        assert all(one in " ".join(done.text.split()) for one in told)
        return told

    assert found() == []
    assert found("--tuned") == [message]
    assert found() == []
    scripted("tune")
    assert found() == [message]


def test_a_weighing_that_fails_puts_back_what_was(scripted: ScriptedWorld, kernel: Kernel) -> None:
    before = contents(kernel.root)
    scripted.refuses("compare", "./absent", "./missing", "--tuned")
    assert contents(kernel.root) == before


@pytest.mark.parametrize(
    "words",
    [
        ("./old",),
        ("./old", "./absent"),
        ("./old", "./new", "--margin", "much"),
        ("./old", "./new", "--seed", "-1"),
        ("--resume", "absent.json"),
    ],
    ids=" ".join,
)
def test_what_is_refused_tunes_nothing(scripted: ScriptedWorld, kernel: Kernel, words: tuple[str, ...]) -> None:
    scripted.refuses("compare", *words, "--tuned")
    assert kernel.writes == 0


def interrupt_at(scripted: ScriptedWorld, launch: int) -> None:
    """Have a weighing interrupted at this launch."""
    script = scripted.script

    def interrupted(spec: LaunchSpec, number: int) -> Measured:
        if number == launch:
            ctrl_c()
        return script(spec, number)

    scripted.script = interrupted


def test_what_is_carried_on_is_tuned_for_again(scripted: ScriptedWorld, kernel: Kernel) -> None:
    before, script = contents(kernel.root), scripted.script
    interrupt_at(scripted, 9)
    scripted("compare", "./old", "./new", "--pairs", "12", "-o", "record.json")
    assert kernel.writes == 0
    was_tuned: list[bool] = []

    def looked(spec: LaunchSpec, number: int) -> Measured:
        was_tuned.append(contents(kernel.root) != before)
        return script(spec, number)

    scripted.script = looked
    assert scripted("compare", "--resume", "record.json", "--tuned").status in (0, 1)
    assert all(was_tuned)
    assert contents(kernel.root) == before


def test_of_what_is_carried_on_untuned_it_is_not_said_that_the_machine_was_tuned(
    scripted: ScriptedWorld, kernel: Kernel
) -> None:
    def told() -> list[str]:
        return [one.message for one in load(Path("record.json")).findings if one.code == "tuned"]

    interrupt_at(scripted, 9)
    scripted("compare", "./old", "./new", "--pairs", "12", "--tuned", "-o", "record.json")
    (all_launches,) = told()
    assert all_launches.startswith("the machine was tuned: ")
    interrupt_at(scripted, 18)
    scripted("compare", "--resume", "record.json", "--tuned", "-o", "record.json")
    assert told() == [all_launches]
    assert scripted("compare", "--resume", "record.json", "-o", "record.json").status in (0, 1)
    names = ", ".join(dict.fromkeys(one.code for one in kernel.tuner.plan(None)))
    assert told() == [f"the machine was not tuned alike for all launches; for some: {names}"]


@pytest.fixture
def ends(kernel: Kernel) -> Iterator[list[bool]]:
    """At each moment when a Ctrl-C may end the tool: whether the machine was as before, with nothing left to undo."""
    before, found = contents(kernel.root), list[bool]()

    def leave(*_: object) -> None:
        found.append(contents(kernel.root) == before and not kernel.tuner.kept.exists())

    former = signal.signal(signal.SIGINT, leave)
    yield found
    signal.signal(signal.SIGINT, former)


@pytest.mark.parametrize("at", [0, 3, -1])
def test_tuning_that_is_interrupted_is_undone(
    scripted: ScriptedWorld, kernel: Kernel, ends: list[bool], monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    kernel.at, kernel.happens, kernel.within = at, ctrl_c, "after"
    if at < 0:  # after all changes, before they are reported
        monkeypatch.setattr(tuning, "show_changes", lambda *_, **__: ctrl_c())
    scripted("tune", "--cpu", "1")
    assert ends == [True]


def test_a_weighing_that_ends_before_it_measures_puts_back_what_was(
    scripted: ScriptedWorld, kernel: Kernel, ends: list[bool]
) -> None:
    with tuned(True, None, scripted.outside()):
        assert kernel.tuner.state() is not None
        ctrl_c()
    assert ends == [True]


def test_restoring_is_not_interrupted(scripted: ScriptedWorld, kernel: Kernel, ends: list[bool]) -> None:
    scripted("tune")
    kernel.at, kernel.happens, kernel.within = kernel.writes + 1, ctrl_c, "before"
    scripted("tune", "--restore")
    assert ends == [True]


def test_tuning_that_cannot_be_told_is_undone(
    scripted: ScriptedWorld, kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = contents(kernel.root)
    monkeypatch.setattr(tuning, "show_changes", full)
    sentence = "No space left on device while the output was written; what was changed is put back"
    assert scripted.refuses("tune", status=3) == sentence
    assert contents(kernel.root) == before


def test_where_sys_may_only_be_read_it_says_so_each_time(scripted: ScriptedWorld, kernel: Kernel) -> None:
    kernel.refused, kernel.error = {change.setting for change in kernel.tuner.plan(None)}, errno.EROFS
    kernel.kill = lambda *_: None  # type: ignore[method-assign]  # nor is the service stopped
    for _ in range(2):
        done = scripted("tune")
        assert done.status == 3
        assert "Read-only file system" in done.text
        assert done.text.endswith("nothing was changed\n")


def test_a_weighing_says_what_could_not_be_tuned_for_it(scripted: ScriptedWorld, kernel: Kernel) -> None:
    for name in ("old", "new"):
        scripted.executable(name)
    planned = kernel.tuner.plan(None)
    kernel.refused = {"sys/kernel/mm/transparent_hugepage/enabled"}
    said = scripted("compare", "./old", "./new", "--tuned").err.decode()
    assert f"--tuned: the system refused 1 of {len(planned)} changes (huge-pages: Input/output error)\n" in said
    kernel.refused, kernel.error = {change.setting for change in planned}, errno.EROFS
    kernel.kill = lambda *_: None  # type: ignore[method-assign]
    said = scripted("compare", "./old", "./new", "--tuned").err.decode()
    assert f"--tuned: the system refused {len(planned)} of {len(planned)} changes (irqbalance, " in said
    assert said.splitlines()[-1].endswith("; nothing is tuned")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--cpu", "9"], "there is no processor 9 here: choose from 0, 1, 2"),
        (["--cpu", "3"], "processor 3 is switched off: choose from 0, 1, 2"),
        (["--restore", "--dry-run"], "--restore puts back exactly what was: leave --dry-run and --cpu out"),
        (["--restore"], "this machine is not tuned: there is nothing to restore"),
    ],
)
def test_wrong_usage(scripted: ScriptedWorld, kernel: Kernel, words: list[str], sentence: str) -> None:
    made(kernel.root, {f"{CPUS}/online": "0-2\n"})
    assert scripted.refuses("tune", *words) == sentence
