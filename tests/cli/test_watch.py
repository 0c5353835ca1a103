"""The watch, from its option to what it prints and keeps."""

from __future__ import annotations

import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from steelyard.model.files import load
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import DISTURBED, ROLES
from steelyard.model.watch import Beside, Stretch, Watch
from tests.in_process import InProcess
from tests.loaded import run_in, weighing_in
from tests.world import Killed, ScriptedWorld, at_launch, kill, measured

S = 1_000_000_000
STARTED = 1000 * S
COUNTING = "i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done"


def stretches(name: str, *, begin: int, end: int, of: int) -> list[Stretch]:
    """Return `of` stretches of 0.1 s; in numbers `begin` to `end` - 1 a program takes half a processor."""
    found = []
    for number in range(of):
        beside = [Beside(name=name, processes=1, ran_ns=S // 20)] if begin <= number < end else []
        start_ns = STARTED + number * S // 10
        found.append(Stretch(start_ns=start_ns, end_ns=start_ns + S // 10, beside=beside))
    return found


def disturbed(_: LaunchSpec, number: int) -> Measured:
    return measured(12.5, delay_ns=500_000 if number % 4 == 0 else 0)


def test_who_ran_beside_is_said_and_kept(scripted: ScriptedWorld) -> None:
    scripted.script = disturbed
    scripted.stretches = stretches("cc1plus", begin=2, end=4, of=40)
    done = scripted("compare", "./old", "./new", "--pairs", "40", "--json", "record.json")
    record = weighing_in("record.json")
    assert record.watch is not None
    ended_ns = scripted.seconds * S
    assert record.watch == Watch(stretches=[one for one in scripted.stretches if one.end_ns <= ended_ns])
    assert record.derived is not None
    (one,) = record.derived.verdicts[0].disturbers
    assert (one.name, one.launches) == ("cc1plus", 16)
    assert f"; cc1plus ran beside 16 of {one.of} launches" in " ".join(done.text.split())
    assert scripted("show").text.split("plan")[0] == done.text.split("plan")[0]


def test_a_pair_during_which_nothing_ran_is_repeated_and_it_is_said(scripted: ScriptedWorld) -> None:
    scripted.script = lambda _, number: measured(3300.0 if number == 9 else 300.0)
    end_ns = STARTED + round(5.6 * S)  # that launch ends a tenth of a second later
    edges = [STARTED, end_ns - 3 * S, end_ns, end_ns + 5 * S]
    scripted.stretches = [
        Stretch(start_ns=start, end_ns=end, still_ns=3 * S if end == end_ns else None) for start, end in pairwise(edges)
    ]
    done = scripted("compare", "./old", "./new", "--pairs", "12", "--json", "record.json")
    launches = weighing_in("record.json").launches
    long = [place for place, wall_ns in enumerate(launches.wall_ns) if wall_ns > S]
    assert [launches.role[place] for place in long] == [ROLES.index(DISTURBED)]
    assert "1 disturbed pair repeated; this command stood still during 1 of" in " ".join(done.text.split())


def test_it_can_be_left_out(scripted: ScriptedWorld) -> None:
    scripted.stretches = stretches("cc1plus", begin=0, end=9, of=9)
    assert scripted("run", "./old", "--launches", "9", "--no-watch", "--json", "record.json").status == 0
    record = run_in("record.json")
    assert (scripted.watches, record.watch, record.settings.watch) == (0, None, False)
    assert b'"watch": {' not in Path("record.json").read_bytes()
    assert scripted("run", "./old", "--launches", "9").status == 0
    assert scripted.watches == 1


def test_what_was_seen_before_a_kill_is_kept_and_what_comes_after_is_added(scripted: ScriptedWorld) -> None:
    scripted.stretches = stretches("make", begin=0, end=40, of=40)
    scripted.script = at_launch(21, kill, lambda *_: measured(12.5))
    with pytest.raises(Killed):
        scripted.status_of(["compare", "./old", "./old", "--pairs", "20", "--metric", "wall"])
    (journal,) = scripted.kept()
    kept = weighing_in(journal)
    assert kept.watch == Watch(stretches=scripted.stretches[:2])  # 20 launches took 0.25 s
    scripted.script, scripted.stretches = (lambda *_: measured(12.5)), scripted.stretches[2:]
    assert scripted("compare", "--resume", journal, "--json", "record.json").status == 0
    record = weighing_in("record.json")
    assert record.watch is not None
    assert len(record.watch.stretches) > 2
    assert record.watch.stretches[:2] == kept.watch.stretches
    assert record.derived is not None
    (one,) = record.derived.verdicts[0].disturbers
    assert (one.name, one.launches) == ("make", one.of)


def test_a_program_that_runs_beside_is_named_and_what_is_measured_is_not(here: InProcess) -> None:
    endless = "while :; do :; done"
    starting = "./our-server >/dev/null 2>&1 &"
    programs = {"planted-beside": endless, "our-server": endless, "start": starting, "our-own-work": COUNTING}
    for name, work in programs.items():
        (here.folder / name).write_text(f"#!/bin/sh\n{work}\n")
        (here.folder / name).chmod(0o755)
    with subprocess.Popen([here.folder / "planted-beside"]) as beside:
        try:
            done = here("run", "./our-own-work", "--setup", "./start", "--max-time", "1", "--json", "record.json")
        finally:
            beside.kill()
    assert done.status == 0
    record = load(here.folder / "record.json")
    assert record.watch is not None
    assert record.derived is not None
    found = {one.name: one for one in record.derived.summaries[0].disturbers}
    assert 1 <= found["planted-beside"].launches <= found["planted-beside"].of
    assert not {"our-own-work", "our-server"} & found.keys()
