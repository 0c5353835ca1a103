"""The large files of the benchmarks, small: they are what the tools write."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.large_inputs import Size, main, write_pyperf

from steelyard.design.conversion import convert_files
from steelyard.model.files import load
from steelyard.model.records import Run


def test_a_file_of_pyperf(tmp_path: Path) -> None:
    write_pyperf(tmp_path / "a.json", Size(benchmarks=3, processes=2, values=5), seed=1)
    record = convert_files([tmp_path / "a.json"], created="2026-01-01T00:00:00+00:00")
    assert record.provenance.format == "pyperf"
    assert [[len(process) for process in one.values] for one in record.benchmarks] == [[5, 5]] * 3


@pytest.mark.parametrize("benchmarks", [1, 4])
def test_records(tmp_path: Path, benchmarks: int) -> None:
    for kind in ("record", "journal", "run"):
        main(kind, str(tmp_path / kind), 40, benchmarks)
    weighing, journal, run = (load(tmp_path / kind) for kind in ("record", "journal", "run"))
    assert weighing.launches == journal.launches
    assert len(weighing.launches) == len(run.launches) == 40
    assert len(weighing.benchmarks) == benchmarks
    assert isinstance(run, Run)
    with pytest.raises(SystemExit, match="unknown"):
        main("x", str(tmp_path / "x"), 1, 1)
