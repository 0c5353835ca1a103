"""Files of every format version ever written must be readable for ever: none of the kept ones is ever changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.design.outcome import derive
from steelyard.model.derived import Derived
from steelyard.model.files import load
from steelyard.model.format import VERSION
from steelyard.model.metrics import METRICS
from steelyard.model.records import Run, Weighing

RECORDS = Path(__file__).resolve().parent.parent / "data" / "records"


def test_there_is_a_file_of_every_version() -> None:
    for version in range(1, VERSION + 1):
        assert list(RECORDS.glob(f"version-{version}-*")), f"keep a record of version {version}"


# Fields that depend on the statistical test of the pairs, which has changed since these records were kept.
JUDGED = {"change", "interval", "p_value", "pairs", "looks", "resolution", "pairs_needed", "margin_needed"}


@pytest.mark.parametrize("path", sorted(RECORDS.glob("*.json*")), ids=lambda path: path.name)
def test_a_record_gives_the_verdicts_that_it_was_kept_with(path: Path) -> None:
    record = load(path)
    assert record.derived is not None
    derived = derive(record).derived
    assert derived is not None
    for kept, now in zip(_derived(record.derived), _derived(derived), strict=True):
        assert kept.items() <= now.items()


def _derived(derived: Derived) -> list[dict[str, str]]:
    """Return what was computed then: findings by their codes, as wordings may improve, and without unknown fields."""
    dumps = [one.model_dump() for one in (*derived.verdicts, *derived.summaries)]
    coded = [{**one, "findings": [finding["code"] for finding in one["findings"]]} for one in dumps]
    return [
        {name: _written(value) for name, value in one.items() if value is not None and not _is_judged(one, name)}
        for one in coded
    ]


def _written(value: object) -> str:
    """Return a value as text, floats with 14 digits: a change of counts was rounded differently then."""
    if isinstance(value, list | tuple):
        return repr([*map(_written, value)])
    return f"{value:.14g}" if isinstance(value, float) else repr(value)


def _is_judged(one: dict[str, object], name: str) -> bool:
    """Return whether a field depends on the test of the pairs, and so may differ from what was kept.

    The verdict does not, nor do counts, except for their time: counts at the same time were added up then.
    """
    if METRICS[str(one["metric"])].counted:
        return name == "seconds"
    return one.get("p_value") is not None and name in JUDGED


def test_version_1_holds_what_it_held() -> None:
    weighing, run = load(RECORDS / "version-1-weighing.json.gz"), load(RECORDS / "version-1-run.json")
    journal = load(RECORDS / "version-1.journal")
    assert isinstance(weighing, Weighing)
    assert isinstance(run, Run)
    assert [benchmark.params for benchmark in weighing.benchmarks] == [{"n": "1"}, {"n": "2"}, {"n": "1"}]
    assert [benchmark.control for benchmark in weighing.benchmarks] == [False, False, True]
    assert len(run.launches) == 13
    assert (len(journal.launches), journal.stop) == (18, ["interrupted"])


def test_version_2_holds_what_it_held() -> None:
    weighing, run = load(RECORDS / "version-2-weighing.json.gz"), load(RECORDS / "version-2-run.json")
    journal = load(RECORDS / "version-2.journal")
    assert [record.counting and len(record.counting.counts) for record in (weighing, run, journal)] == [8, 2, 4]
    assert run.counting is not None
    assert run.counting.counts[0].events.keys() >= {"Ir", "I1mr", "D1mr", "DLmr"}
    assert run.settings.counting is not None
    assert run.settings.counting.weights.ram == 35
    assert (len(run.launches), len(journal.launches), journal.stop) == (0, 18, ["interrupted"])


def test_version_2_holds_the_samples_of_a_harness() -> None:
    record = load(RECORDS / "version-2-harness.json.gz")
    assert record.settings.harness == "protocol"
    assert [benchmark.entry for benchmark in record.benchmarks] == ["b0", "b1"]
    for row in record.launches.rows():
        benchmark = record.benchmarks[row.benchmark]
        assert len(row.samples) == benchmark.samples
        assert {sample.loops for sample in row.samples} == {benchmark.loops}
    assert 0.9e6 < record.launches.metric("wall").min() < 1.1e6


def test_version_2_holds_what_was_seen_of_the_heap() -> None:
    record = load(RECORDS / "version-2-heap.json.gz")
    assert record.heap is not None
    assert (record.settings.heap, record.settings.heap_shuffle) == (3, True)
    for side, allocations in ((0, 300), (1, 600)):
        launches = record.heap.by_place[0, side]
        assert [one.use.allocations for one in launches] == [allocations] * 3
        assert {one.use.bytes for one in launches} == {300_000}
