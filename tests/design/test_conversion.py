"""Several files read as several processes, and files that cannot be one import."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steelyard.design.conversion import convert_files
from steelyard.model.errors import UsageError
from tests.foreign import hyperfine
from tests.subjects.formats import recorded

NOW = "2026-01-01T12:00:00+00:00"


def google(
    path: Path, host: str = "h", cores: int = 2, version: str = "v1.8.0", date: str = "2026-01-01", **times: float
) -> Path:
    context = {"host_name": host, "num_cpus": cores, "library_version": version, "date": date}
    benchmarks = [
        {
            "name": name,
            "run_type": "iteration",
            "iterations": 1000,
            "real_time": time,
            "cpu_time": time,
            "time_unit": "us",
        }
        for name, time in times.items()
    ]
    path.write_text(json.dumps({"context": context, "benchmarks": benchmarks}))
    return path


def test_each_file_is_a_process(tmp_path: Path) -> None:
    files = [google(tmp_path / f"{number}", x=number, y=10) for number in (1, 2, 3)]
    record = convert_files(files, created=NOW)
    values = [[list(process) for process in one.values] for one in record.benchmarks]
    assert values == [[[1000.0], [2000.0], [3000.0]], [[10_000.0]] * 3]
    assert record.benchmarks[0].seconds == pytest.approx(0.006)
    assert [Path(file.name).name for file in record.provenance.files] == ["1", "2", "3"]
    assert (record.provenance.version, len(record.provenance.measured)) == ("v1.8.0", 3)
    assert record.findings == []
    assert record.created == NOW


@pytest.mark.parametrize(
    ("date", "order"), [("2026-01-01T12:00:02+01:00", [1000, 2000, 10_000]), ("?", [1000, 10_000, 2000])]
)
def test_files_are_processes_in_the_order_of_the_times_that_they_tell(
    tmp_path: Path, date: str, order: list[float]
) -> None:
    google(tmp_path / "1", date="2026-01-01T12:00:01+01:00", x=1)
    google(tmp_path / "10", date="2026-01-01T11:30:00+00:00", x=10)
    google(tmp_path / "2", date=date, x=2)
    record = convert_files(sorted(tmp_path.iterdir()), created=NOW)
    assert [list(process) for process in record.benchmarks[0].values] == [[value] for value in order]


def test_what_differs_between_files_is_said(tmp_path: Path) -> None:
    files = [google(tmp_path / "1", x=1, y=2), google(tmp_path / "2", host="g", version="v1.9.0", x=1)]
    record = convert_files(files, created=NOW)
    assert record.machine == {"cores": "2"}
    assert [finding.code for finding in record.findings] == ["not-in-all", "versions"]
    assert [len(one.values) for one in record.benchmarks] == [2, 1]


def test_files_that_are_no_one_import(tmp_path: Path) -> None:
    one, two = google(tmp_path / "1", x=1), google(tmp_path / "2", x=1, cores=4)
    same = google(tmp_path / "3", x=1)
    for files, says in (
        ((one, two), "different machines"),
        ((one, same), "holds the same"),
        ((one, one), "holds the same"),
        ((one, recorded.PYPERF), "one format"),
        ((one, tmp_path / "none"), "cannot read"),
    ):
        with pytest.raises(UsageError, match=says):
            convert_files(files, created=NOW)


def test_mixed_units(tmp_path: Path) -> None:
    told = json.loads(recorded.JMH.read_bytes())
    for one in told:
        one["primaryMetric"]["scoreUnit"] = "ops/s"
    (tmp_path / "other.json").write_text(json.dumps(told))
    with pytest.raises(UsageError, match=r"ops/ms in .* ops/s in"):
        convert_files([recorded.JMH, tmp_path / "other.json"], created=NOW)


def test_a_choice_of_them(tmp_path: Path) -> None:
    path = hyperfine(tmp_path / "a.json", old=[1, 2], new=[3])
    assert [one.name for one in convert_files([path], created=NOW, patterns=["o*"]).benchmarks] == ["old"]
    with pytest.raises(UsageError, match="none of the files' benchmarks: old, new"):
        convert_files([path], created=NOW, patterns=["x"])
    with pytest.raises(UsageError, match="known are google-benchmark"):
        convert_files([path], created=NOW, name="x")
    with pytest.raises(UsageError, match="as pyperf"):
        convert_files([path], created=NOW, name="pyperf")
