"""pyperf's JSON, which `pyperf stats` and `pyperf compare_to` load.

What was imported from pyperf is written as it was: its metadata, calibrations, warm-ups, loops and units.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steelyard.model.errors import UsageError
from steelyard.model.foreign import ForeignBenchmark, ForeignResults
from steelyard.model.original import originals
from steelyard.model.records import Run, Weighing
from steelyard.report.data.series import Series, machine_facts
from steelyard.report.plain import plain

_Values = Iterator[list[float | int]]

_VERSION = "1.0"
_UNITS = {"s": "second", "bytes": "byte", "count": "integer"}


def of_series(series: Sequence[Series], about: Mapping[str, Any]) -> bytes:
    """Return a suite of these benchmarks, whose names must differ; `about` is metadata of the whole suite.

    Raises UsageError for a value of 0, which pyperf takes for no measurement.
    """
    benchmarks = [_benchmark_document(one) for one in series]
    return _encoded({"version": _VERSION, "metadata": _metadata(about), "benchmarks": benchmarks})


def _metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata without what pyperf refuses: empty texts, and line breaks in any text."""
    shown = {name: plain(value).strip() if isinstance(value, str) else value for name, value in metadata.items()}
    return {plain(name): value for name, value in shown.items() if value != ""}


def suite_metadata(record: Weighing | Run, metric: str) -> dict[str, Any]:
    """Return metadata about the machine, under pyperf's names, and about what the values are."""
    fields = {"cpu_count": "cores_logical", "cpu_model_name": "cpu_model", "platform": "kernel"}
    return {
        **machine_facts(record, fields),
        "steelyard_version": record.tool,
        "steelyard_metric": metric,
    }


def _benchmark_document(series: Series) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": series.name, "unit": _UNITS[series.unit]}
    if series.command is not None:
        metadata["command"] = series.command
    metadata |= {f"param_{name}": value for name, value in series.params.items()}
    return {"metadata": _metadata(metadata), "runs": list(_run_documents(series))}


def _run_documents(series: Series) -> Iterator[dict[str, Any]]:
    for process in series.processes:
        if min(process.values, default=1) <= 0:
            raise UsageError(
                f"pyperf takes 0 for no measurement, and {series.name!r} has such values: csv, json-lines and parquet "
                "hold them"
            )
        run: dict[str, Any] = {"metadata": {"loops": process.loops}, "values": _numbers(process.values, series.unit)}
        if process.warm_up:
            run["warmups"] = [[process.loops, value] for value in process.warm_up]
        yield run


def of_import(record: ForeignResults) -> bytes | None:
    """Return an import from pyperf as it was; None for an import of anything else, or by an older Steelyard."""
    files = originals(record)
    if not files or record.provenance.format != "pyperf":
        return None
    values_by_name = {one.name: _values(one) for one in record.benchmarks}
    documents = [_restored(document, values_by_name) for document in files]
    if len(documents) == 1:
        return _encoded(documents[0])
    return _encoded(
        {"version": documents[0].get("version", _VERSION), "benchmarks": list(_merged_benchmarks(documents))}
    )


def _values(benchmark: ForeignBenchmark) -> _Values:
    """Yield the samples of one benchmark, process by process."""
    unit = {"B": "bytes", "count": "count"}.get(benchmark.unit, "s")
    return (_numbers(values, unit) for values in benchmark.values)


def _restored(document: Any, values_by_name: Mapping[str, _Values]) -> dict[str, Any]:
    """Return a file with its values put back, as far as its benchmarks were imported."""
    try:
        benchmarks = []
        for benchmark in document["benchmarks"]:
            if (values := values_by_name.get(_name(document, benchmark))) is not None:
                runs = [{**run, "values": next(values)} if run.get("values") else run for run in benchmark["runs"]]
                benchmarks.append({**benchmark, "runs": runs})
    except (AttributeError, KeyError, TypeError, StopIteration) as error:
        raise UsageError(
            "the record does not fit to what it kept of pyperf's file: import that again, by steelyard import"
        ) from error
    return {**document, "benchmarks": benchmarks}


def _merged_benchmarks(documents: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the benchmarks of several files with all their runs; metadata that a file shares goes into each run."""
    runs = dict[str, list[dict[str, Any]]]()
    for document in documents:
        for benchmark in document["benchmarks"]:
            shared = {**(document.get("metadata") or {}), **(benchmark.get("metadata") or {})}
            runs.setdefault(_name(document, benchmark), []).extend(
                {**run, "metadata": {**shared, **(run.get("metadata") or {})}} for run in benchmark["runs"]
            )
    yield from ({"runs": runs_of_one} for runs_of_one in runs.values())


def _name(document: Mapping[str, Any], benchmark: Mapping[str, Any]) -> str:
    """Return a benchmark's name as imported: from its metadata, the file's, or the first run that has one."""
    places = [benchmark.get("metadata"), document.get("metadata"), *(run.get("metadata") for run in benchmark["runs"])]
    return str(next(place["name"] for place in places if place and "name" in place))


def _numbers(values: Sequence[float], unit: str) -> list[float | int]:
    """Return values as pyperf expects them: whole numbers as int, unless they are times."""
    if unit == "s":
        return list(values)
    return [int(value) if float(value).is_integer() else value for value in values]


def _encoded(document: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(document, allow_nan=False).encode() + b"\n"
    except ValueError as error:
        raise UsageError("the imported file has metadata that is no finite number, which no JSON holds") from error
