"""Counts of the kernel and the processor: scaled up if counters took turns, and kept with their launches."""

from __future__ import annotations

import json
from math import isnan
from pathlib import Path

import pytest

from steelyard.model.counters import EVENTS, Counters, added, events_of, part, scaled
from steelyard.model.errors import UsageError
from steelyard.model.files import load, save
from steelyard.model.journal import Journal
from steelyard.model.launches import Launches
from steelyard.model.metrics import METRICS
from steelyard.model.rows import LaunchRow
from tests.model.samples import row, weighing

WHOLE, HALF, NEVER = (1000, 80, 80), (1000, 80, 40), (0, 80, 0)


def counted(**counts: tuple[int, int, int]) -> Counters:
    return tuple(counts.get(name) for name in EVENTS)


def test_each_event_is_a_metric_of_timed_launches() -> None:
    assert tuple(name for name in METRICS if name in EVENTS) == EVENTS
    assert not any(METRICS[name].counted for name in EVENTS)
    assert events_of(["wall", "cycles", "task_clock"]) == ("task_clock", "cycles")


def test_a_count_is_scaled_to_the_whole_time() -> None:
    assert [scaled(one) for one in (WHOLE, HALF)] == [1000, 2000]
    assert [part(one) for one in (WHOLE, HALF, NEVER)] == [1, 0.5, 0]
    assert all(isnan(scaled(one)) for one in (NEVER, None, (0, 0, 0)))
    assert all(isnan(part(one)) for one in (None, (0, 0, 0)))


def test_processes_of_one_launch_add_up() -> None:
    once = counted(cycles=WHOLE, migrations=HALF)
    assert added(once, once) == counted(cycles=(2000, 160, 160), migrations=(2000, 160, 80))
    assert added(once, counted(cycles=WHOLE)) == counted(cycles=(2000, 160, 160))
    assert added((), ()) == ()


def with_counters() -> list[LaunchRow]:
    return [row(0, 0, counters=counted(cycles=WHOLE)), row(0, 1, counters=counted(cycles=HALF))]


def test_launches_have_them_as_values() -> None:
    launches = Launches.of_rows([*with_counters(), row(1, 0)])
    assert launches.metric("cycles").tolist()[:2] == [1000, 2000]
    assert isnan(launches.metric("cycles")[2])
    assert all(isnan(one) for one in launches.metric("migrations"))
    assert all(isnan(one) for one in Launches.of_rows([row(0, 0)]).metric("cycles"))
    assert launches.rows() == [*with_counters(), row(1, 0)]
    assert launches.by_benchmark(1)[0].counters == launches.counters


def test_a_launch_may_tell_of_fewer_events() -> None:
    launches = Launches.of_rows([row(0, 0, counters=(WHOLE,))])
    assert launches.metric("task_clock").tolist() == [1000]
    assert isnan(launches.metric("cache_misses")[0])


def test_a_journal_and_a_file_keep_them(tmp_path: Path) -> None:
    rows = [row(0, 0), row(0, 1), *(one._replace(pair=1) for one in with_counters())]
    with Journal(tmp_path / "journal", weighing([])) as journal:
        for one in rows:
            journal.append(one)
    # The line of a launch without counters is as it always was.
    lines = [json.loads(line) for line in (tmp_path / "journal").read_text().splitlines()[1:]]
    assert [len(line) - len(lines[0]) for line in lines] == [0, 0, 1, 1]
    found = load(tmp_path / "journal")
    assert found.launches.rows() == rows
    save(found, tmp_path / "record.json")
    assert load(tmp_path / "record.json").launches.rows() == rows
    assert "counters" in json.loads((tmp_path / "record.json").read_text())["launches"]
    save(weighing(rows[:2]), tmp_path / "without.json")
    assert "counters" not in json.loads((tmp_path / "without.json").read_text())["launches"]


@pytest.mark.parametrize("counters", [[[1, 2]], [[1, 2, -3]], [1], [[1.5, 1, 1]], "x"])
def test_what_no_counter_tells_is_refused(tmp_path: Path, counters: object) -> None:
    path = tmp_path / "record.json"
    save(weighing(with_counters()), path)
    record = json.loads(path.read_text())
    record["launches"]["counters"][0] = counters
    path.write_text(json.dumps(record))
    with pytest.raises(UsageError, match="counters"):
        load(path)
