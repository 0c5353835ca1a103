"""What parts of one suite may differ in, and what is said of the whole."""

from __future__ import annotations

from pathlib import Path

from steelyard.design.merging import merge_parts
from steelyard.model.settings import Settings, Shard
from tests.report.records import weighing


def shard_of_two(number: int) -> Shard:
    return Shard(number=number, of=2, suite=["a", "b"])


def test_parts_of_machines_that_cannot_share_addresses_are_merged_too() -> None:
    parts = [
        weighing(
            benchmarks=(name,),
            settings=Settings.model_validate({"shard": shard_of_two(number), "addresses": addresses}),
        )
        for number, name, addresses in ((1, "a", "shared"), (2, "b", None))
    ]
    merged = merge_parts([(Path(f"{number}.json"), part) for number, part in enumerate(parts)])
    assert [one.name for one in merged.benchmarks] == ["a", "b"]
    assert merged.settings.addresses is None
