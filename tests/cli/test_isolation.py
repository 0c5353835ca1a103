"""--cpu auto and --isolate, from the command line to the record."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from steelyard.machine.isolation.groups import Reach, in_use
from steelyard.model.errors import UsageError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests.machine.isolation.kernel import Groups
from tests.machine.trees import TOP
from tests.tool import Tool, sh
from tests.world import ScriptedWorld, ctrl_c, measured


def record(scripted: ScriptedWorld, *options: str) -> dict[str, Any]:
    done = scripted("run", "./old", "--launches", "3", *options, "-o", "record.json")
    assert done.status == 0, done
    return scripted.json("record.json")


def test_the_quietest_processor_is_said_and_kept(scripted: ScriptedWorld) -> None:
    kept = record(scripted, "--cpu", "auto")
    assert {spec.cpus for spec in scripted.launched} == {(3,)}
    assert (kept["settings"]["cpu"], kept["settings"]["cpu_choice"]) == (3, "0 % busy over half a second")
    assert [one["message"] for one in kept["findings"]] == ["--cpu auto chose processor 3: 0 % busy over half a second"]


def test_one_that_isolcpus_keeps_free_may_be_asked_for(scripted: ScriptedWorld) -> None:
    assert record(scripted, "--cpu", "3")["settings"]["cpu"] == 3
    assert "--cpu 2 is not a processor that may be used here: choose from 0, 3" in scripted.refuses(
        "run", "./old", "--cpu", "2"
    )


def test_one_that_goes_away_in_the_middle_ends_the_weighing_and_loses_nothing(scripted: ScriptedWorld) -> None:
    def launch(_: LaunchSpec, number: int) -> Measured:
        if number == 9:
            raise UsageError(
                "the launch could not be set up (affinity): cannot run on CPUs [3]: Invalid argument; check"
            )
        return measured(12.0)

    scripted.script = launch
    sentence = scripted.refuses("compare", "./old", "./new", "--cpu", "3", "--pairs", "20", status=3)
    assert "cannot run on CPUs [3]" in sentence
    (kept,) = scripted.kept()
    assert f"The launches measured until then are kept in {kept}" in sentence


def test_the_group_is_told_of_and_is_gone(scripted: ScriptedWorld, tmp_path: Path) -> None:
    kernel = Groups(tmp_path / "groups")
    scripted.reach = kernel.reach
    kept = record(scripted, "--isolate", "--cpu", "3")
    name = Path(kept["isolation"]["group"]).name
    # The scripted clock stands still while nothing is launched.
    assert kept["isolation"] == {
        "group": f"/{TOP}/{name}",
        "processors": [1, 3],
        "alone": True,
        "seconds": pytest.approx(0.048, rel=1e-3),
        "waited_us": 250_000,
        "stalled_us": 1000,
        "missing": None,
    }
    assert "cgroup.procs 0" in kernel.writes
    assert [one["message"] for one in kept["findings"]] == [
        "the launches ran in a control group of their own, confined to processors 1,3, taken from all others; "
        "some task in it waited for a processor for 100 % of the time"
    ]


@pytest.mark.parametrize(("pairing", "is_theirs"), [("adjacent", False), ("tandem", True)])
def test_that_two_in_tandem_wait_for_each_other_is_told(
    scripted: ScriptedWorld, tmp_path: Path, pairing: str, is_theirs: bool
) -> None:
    scripted.reach = Groups(tmp_path / "groups").reach
    said = scripted("compare", "./old", "./new", "--isolate", "--pairing", pairing, "--pairs", "8").text
    assert ("of the time, as of two in tandem one always does" in " ".join(said.split())) == is_theirs


def test_what_is_missing_is_one_sentence_and_no_error(scripted: ScriptedWorld) -> None:
    kept = record(scripted, "--isolate")
    assert kept["settings"]["isolate"] is True
    missing = "this system shows no control groups below /sys/fs/cgroup"
    assert kept["isolation"]["missing"] == missing
    assert [one["message"] for one in kept["findings"]] == [f"--isolate: {missing}"]


@pytest.mark.parametrize("while_it_is", ["made", "removed"])
def test_the_group_is_gone_whenever_it_is_interrupted(
    scripted: ScriptedWorld, tmp_path: Path, while_it_is: str
) -> None:
    kernel = Groups(tmp_path / "groups")
    reach = kernel.reach

    def made(folder: Path) -> None:
        reach.make(folder)
        if while_it_is == "made":
            ctrl_c()

    def removed(folder: Path) -> None:
        (folder / "cgroup.procs").write_text("")  # by then the launch server has ended
        if while_it_is == "removed" and scripted.launched:
            ctrl_c()
        reach.remove(folder)

    scripted.reach = replace(reach, make=made, remove=removed)
    left = []
    former = signal.signal(signal.SIGINT, lambda *_: left.append("at once"))
    try:
        done = scripted("run", "./old", "--launches", "3", "--isolate", "--cpu", "3")
    finally:
        signal.signal(signal.SIGINT, former)
    assert (left, done.status) == ([], 130 if while_it_is == "made" else 0)
    assert not kernel.ours()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make control groups everywhere")
def test_launches_run_in_a_group_of_their_own_that_is_removed(tool: Tool) -> None:
    processor = max(os.sched_getaffinity(0))
    command = sh("cat /proc/self/cgroup; grep Cpus_allowed_list /proc/self/status")
    options = ("--launches", "2", "--isolate", "--cpu", str(processor), "--output", "out", "-o", "record.json")
    done = tool("run", command, *options)
    if b"another weighing that runs right now" in done.err:
        pytest.skip("somebody else measures on that processor")
    assert done.status == 0
    isolation = tool.json("record.json")["isolation"]
    if isolation["group"] is None:
        pytest.skip(isolation["missing"])
    out = (tool.folder / "out").read_text()
    assert Path(isolation["group"]).name in out
    assert out.split()[-1] == str(processor)
    assert isolation["waited_us"] is not None
    assert not Path(isolation["group"]).exists()
    assert Path(isolation["group"].lstrip("/")) not in in_use(Reach())
