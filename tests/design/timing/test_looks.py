"""Looks at benchmarks that share alpha, after an earlier session has ended some of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.design.judging.judgement import verdicts
from steelyard.design.timing import looks as room
from steelyard.design.timing.benchmark import open_benchmark
from steelyard.design.timing.kept_rows import KeptRows
from steelyard.design.timing.looks import Looks
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.records import StopReason
from steelyard.model.subject import Benchmark
from tests.design.scripted import PLAIN, weigh

MANY = 30


def one_of_many(number: int, spec: LaunchSpec) -> Measured:
    """Measure launches of which those of the first benchmark's candidate are a little slower."""
    change = 0.0085 if spec.argv == (b"candidate", b"0") else 0.0
    noise = 0.008 * np.random.default_rng(number + 7).standard_normal()
    return replace(PLAIN, wall_ns=int(12e6 * (1 + change) * np.exp(noise)))


def test_what_ended_undecided_among_many_is_no_finding_for_those_that_go_on() -> None:
    """Judged by itself it would be found, and would leave its share of alpha to the others."""
    record = weigh(one_of_many, MANY, pairs=24, max_time_s=None)[0]
    found = verdicts(record)[0]
    assert found.p_value is not None
    assert 0.01 / MANY < found.p_value < 0.01
    assert found.verdict == "undecided"
    stopped: list[StopReason] = ["interrupted"] * MANY
    stopped[0] = "pairs"
    header, rows = record.model_copy(update={"stop": stopped}), KeptRows(record.launches.rows())
    members = [open_benchmark(number, header, rows.of(number)) for number in range(MANY)]
    members[0].stop = "pairs"
    Looks(header, rows, members).look_back(stopped)
    assert members[0].judgement is not None
    assert members[0].judgement.verdict == "undecided"
    assert all(one.judgement is None for one in members[1:])


def test_a_control_shares_alpha_with_none_and_none_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    record = weigh(one_of_many, 3, pairs=12, max_time_s=None)[0]
    control = Benchmark(name="control", candidate=0, control=True)
    header = record.model_copy(update={"benchmarks": [*record.benchmarks[:2], control], "stop": ["interrupted"] * 3})
    rows, sharing = KeptRows(record.launches.rows()), []
    monkeypatch.setattr(room, "look_at", lambda *_, members, **_others: sharing.append(members))
    members = [open_benchmark(number, header, rows.of(number)) for number in range(3)]
    looks = Looks(header, rows, members)
    for one in members:
        looks.take(one, ended=True)
    assert sharing == [2, 2, 1]
    members[0].stop = "failed"
    looks.take(members[1], ended=True)
    assert sharing[3:] == [1], "what failed leaves its share to the others"


@pytest.mark.parametrize(("ended", "following"), [(None, 21), (13, 20)])
def test_after_a_first_budget_the_next_look_is_at_a_quarter_more(ended: int | None, following: int) -> None:
    record = weigh(one_of_many, pairs=20, max_time_s=None)[0]
    one = record.benchmarks[0].model_copy(update={"ended": ended})
    header, rows = record.model_copy(update={"benchmarks": [one], "stop": ["interrupted"]}), record.launches.rows()
    kept = KeptRows(rows)
    member = open_benchmark(0, header, kept.of(0))
    Looks(header, kept, [member]).take(member, ended=False)
    assert member.next_look_at == following


def test_what_a_control_leaves_open_is_asked_once_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    record = weigh(one_of_many, pairs=12, max_time_s=None)[0]
    rows, asked = KeptRows(record.launches.rows()), []
    monkeypatch.setattr(room, "look_at", lambda *_, **_others: asked.append(1))
    control = open_benchmark(0, record, rows.of(0))
    looks = Looks(record, rows, [control])
    assert [looks.leaves_open(control, 0.01) for _ in range(3)] == [True] * 3
    assert len(asked) == 1
    control.next_look_at += 1
    looks.leaves_open(control, 0.01)
    assert len(asked) == 2
