"""Counters of the kernel and the processor as metrics, or the reason why there are none."""

from __future__ import annotations

import errno
from dataclasses import replace
from types import MappingProxyType

import pytest

from steelyard.model.counters import EVENTS
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.metrics import METRICS
from tests.in_process import InProcess
from tests.tool import sh
from tests.world import OFFERS, ScriptedServer, ScriptedWorld, measured, program_of


@pytest.fixture
def counted(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> ScriptedWorld:
    """A machine with counters: ./new counts 1.5 times as much, and each counter was on for half of the time."""

    def launch(spec: LaunchSpec, number: int) -> Measured:
        assert spec.counters == ("retired_instructions",)
        count = (1000 if program_of(spec) == "old" else 1500) + number
        counters = tuple((count, 80, 40) if name in spec.counters else None for name in EVENTS)
        return replace(measured(12.0), counters=counters)

    monkeypatch.setattr(ScriptedServer, "missing_counters", MappingProxyType({}))
    scripted.script = launch
    return scripted


def test_they_are_judged_like_any_metric_and_what_took_turns_is_said(counted: ScriptedWorld) -> None:
    done = counted("compare", "./old", "./new", "--metric", "retired_instructions", "--pairs", "20")
    assert done.status == 1
    assert "slower     +4" in done.text
    assert "counters took turns: retired_instructions is scaled up from 50 %" in " ".join(done.text.split())
    assert "outside the kernel" not in done.text


def test_what_the_kernel_did_may_not_be_in_them(counted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ScriptedServer, "offers", {**OFFERS, "kernel_counters": False})
    done = counted("run", "./old", "--metric", "retired_instructions", "--launches", "3")
    assert "retired_instructions leaves out what the kernel did" in " ".join(done.text.split())


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (errno.ENOENT, "its processor has no such counter, or is a virtual one without"),
        (errno.EOPNOTSUPP, "its processor has no such counter, or is a virtual one without"),
        (errno.EACCES, "as root, sysctl kernel.perf_event_paranoid=1"),
        (errno.EPERM, "docker run --cap-add PERFMON"),
        (errno.ENOSYS, "its kernel is built without perf events"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_one_that_is_not_there_is_refused(
    scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch, number: int, why: str
) -> None:
    monkeypatch.setattr(ScriptedServer, "missing_counters", {"cycles": number})
    sentence = scripted.refuses("compare", "./old", "./new", "--metric", "wall,cycles")
    assert "--metric cycles: this machine does not give it (" in sentence
    assert why in sentence
    assert scripted.launched == []


@pytest.mark.parametrize(("metric", "is_more_offered"), [("cycles", True), ("migrations", False)])
def test_a_right_that_would_not_do_is_not_offered(
    scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch, metric: str, is_more_offered: bool
) -> None:
    monkeypatch.setattr(ScriptedServer, "missing_counters", {metric: errno.EACCES})
    sentence = scripted.refuses("compare", "./old", "./new", "--metric", metric)
    assert "kernel.perf_event_paranoid=1" in sentence
    assert ("or 2 for what" in sentence) == is_more_offered


def test_a_launch_in_which_nothing_was_counted_is_explained(
    scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where it ran on a small core, or where others had the counters for all of its short time."""
    monkeypatch.setattr(ScriptedServer, "missing_counters", MappingProxyType({}))
    counters = tuple((0, 80, 0) if name == "cycles" else None for name in EVENTS)
    scripted.script = lambda _spec, _number: replace(measured(12.0), counters=counters)
    sentence = scripted.refuses("run", "./old", "--metric", "cycles", status=3)
    assert "cycles could not be counted in every launch" in sentence
    assert "schedstat" not in sentence


def test_they_are_counted_of_each_in_tandem(counted: ScriptedWorld) -> None:
    done = counted(
        "compare", "./old", "./new", "--metric", "retired_instructions", "--pairing", "tandem", "--pairs", "20"
    )
    assert (done.status, counted.pairs_at_once > 0) == (1, True)
    assert "slower     +4" in done.text


def test_what_sharing_a_processor_leaves_nothing_of_is_refused_in_tandem(scripted: ScriptedWorld) -> None:
    sentence = scripted.refuses("compare", "./old", "./new", "--metric", "migrations", "--pairing", "tandem")
    assert "migrations would hold nothing, as both share one processor: leave it out" in sentence


def test_the_clock_of_the_kernel_is_the_time_on_processors(here: InProcess) -> None:
    both = sh("for n in 1 2; do seq 60000 | sort -rn | cksum; done")
    done = here("run", both, "--metric", "task_clock,cpu", "--repeat", "2", "--launches", "6", "-o", "record.json")
    assert done.status == 0
    summaries = {one["metric"]: one["median"] for one in here.json()["derived"]["summaries"]}
    # task_clock does not include the start of a process.
    assert 0.5 < summaries["task_clock"] / summaries["cpu"] < 1.1


def test_their_names_are_not_those_of_what_is_simulated() -> None:
    assert METRICS["instructions"].counted
    assert "instructions" not in EVENTS
