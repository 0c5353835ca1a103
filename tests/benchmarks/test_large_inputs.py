"""The large files of the benchmarks, made small: they are as the tools write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.large_inputs import Size, main, write_pyperf

from steelyard.design.conversion import convert_files
from steelyard.model import columns, json_text
from steelyard.model.files import load, load_any, save
from steelyard.model.records import Run


def test_a_file_of_pyperf(tmp_path: Path) -> None:
    write_pyperf(tmp_path / "a.json", Size(benchmarks=3, processes=2, values=5), seed=1)
    record = convert_files([tmp_path / "a.json"], created="2026-01-01T00:00:00+00:00")
    assert record.provenance.format == "pyperf"
    assert [[len(process) for process in one.values] for one in record.benchmarks] == [[5, 5]] * 3


def test_long_files_are_read_as_short_ones_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_pyperf(tmp_path / "a.json", Size(benchmarks=3, processes=2, values=5), seed=1)
    main("run", str(tmp_path / "run"), 40, 4)
    imported = convert_files([tmp_path / "a.json"], created="2026-01-01T00:00:00+00:00")
    run = load_any(tmp_path / "run")
    monkeypatch.setattr(json_text, "_LONG_TEXT_BYTES", 0)
    monkeypatch.setattr(columns, "_FEWEST_FOR_NUMPY", 0)
    assert convert_files([tmp_path / "a.json"], created="2026-01-01T00:00:00+00:00") == imported
    assert load_any(tmp_path / "run") == run
    for record in (imported, run):
        save(record, tmp_path / "kept.json.gz")
        assert load_any(tmp_path / "kept.json.gz") == record


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
