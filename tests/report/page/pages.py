"""Pages of made-up records, and what is on them."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.design.reporting import page_of
from steelyard.model.files import save
from steelyard.model.launches import Launches
from steelyard.model.records import Weighing
from steelyard.model.rows import Sample
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark
from tests.report import records

RECORDS = Path(__file__).resolve().parents[2] / "data" / "records"
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
# The change of each benchmark of the suite, and so its verdict.
CHANGES = {"sort/16": 0.2, "sort/64": 0.2, "sort/256": 0.2, "parse": -0.2, "hash": 0.0, "copy": 0.004}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in ("meta", "input", "br", "wbr") and not (self.get_starttag_text() or "").endswith("/>"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("script", "style"):
            self.texts.append(data)


def read(page: str) -> _Reader:
    """Return a page as a browser without scripts reads it; every element must be closed in its place."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def carried(page: str) -> dict[str, Any]:
    """Return the data that the page's script reads; it must hold no NaN."""
    found = re.search(r'id="data">([^<]*)</script>', page)
    assert found

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    told: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(found[1])), parse_constant=refuse)
    return told


def page(paths: Iterable[Path]) -> str:
    """Return the page of some files."""
    return page_of(list(paths), list(map(str, paths)), NOW)


def suite() -> Weighing:
    """Return a weighing of a harness with every verdict, tags, parameters and samples."""
    record = records.weighing(benchmarks=tuple(CHANGES), settings=Settings(harness="protocol"), pairs=20)
    random = np.random.default_rng(11)
    rows = []
    for number, (name, change) in enumerate(CHANGES.items()):
        for row in records.pair_rows(change, 20, benchmark=number, noise=0.002):
            size = float(name.partition("/")[2] or 32)
            each = row.wall_ns * size / 320 * np.exp(0.01 * random.normal(size=9))
            each[0] *= 1.4
            waited = 300_000 if row.pair % 7 == 3 else 1000
            samples = tuple(Sample(10, int(10 * one), int(10 * one), 100) for one in each)
            rows.append(row._replace(samples=samples, delay_ns=waited, pressure_ns=waited // 2))
    benchmarks = [
        Benchmark(
            name=name,
            entry=name,
            tags=["slow" if "/" in name else "quick"],
            params={"size": "1"} if name == "copy" else {},
        )
        for name in CHANGES
    ]
    return record.model_copy(update={"benchmarks": benchmarks, "launches": Launches.of_rows(rows)})


@cache
def _page_of_suite(folder: Path) -> str:
    save(suite(), folder / "suite.json")
    return page([folder / "suite.json"])


def page_of_suite(folder: Path) -> str:
    """Return the page of the suite."""
    return _page_of_suite(folder)
