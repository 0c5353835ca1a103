"""criterion.rs's folders: a sample.json has the samples of one process, the benchmark.json beside it their name."""

from __future__ import annotations

import json
from pathlib import Path

from steelyard.model.errors import LaunchError, UsageError
from steelyard.subjects.formats.contents import Contents, Format, FoundBenchmark, Opened, text

SAMPLES, ABOUT = "sample.json", "benchmark.json"


def files_of(path: Path) -> list[Path]:
    """Return the sample.json of a benchmark's folder, or all latest ones of a target/criterion; none for other files.

    Raises UsageError for a folder without any.
    """
    try:
        if path.name in (SAMPLES, ABOUT) and path.is_file():
            return [path.with_name(SAMPLES)]
        if not path.is_dir():
            return []
        from steelyard.subjects.adapters.criterion import latest_in

        sample_files = [folder / SAMPLES for folder in (path, path / "new") if (folder / SAMPLES).is_file()]
        found_files = sample_files[:1] or latest_in(path, SAMPLES)
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror or error}; check the path and its permissions"
        ) from error
    if not found_files:
        raise UsageError(f"cannot import {path}: the folder has no new/{SAMPLES} in it, which criterion would write")
    return found_files


def _recognises(opened: Opened) -> bool:
    return bool(opened.parts)


def _read(opened: Opened) -> Contents:
    if not opened.parts:
        raise LaunchError(f"wrote no {SAMPLES} of that name: give its folder, or all of target/criterion")
    return Contents([_benchmark(samples, about) for samples, about in opened.parts])


def _benchmark(samples_json: str, about: str) -> FoundBenchmark:
    from steelyard.subjects.adapters.criterion import processed_in, samples_in, title_in

    samples = samples_in(samples_json)
    title = title_in(about)  # cut if it is long
    description = json.loads(about)
    value = text(description.get("value_str"))
    return FoundBenchmark(
        text(description.get("full_id")) or title,
        "ns",
        [[sample.ns / sample.loops for sample in samples]],
        params={"value": value} if value else {},
        seconds=sum(sample.ns for sample in samples) / 1e9,
        processed=processed_in(about),
    )


CRITERION = Format("criterion", "criterion.rs", _recognises, _read)
