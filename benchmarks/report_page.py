"""How large the report of a large suite is, how long it takes to make, and when a browser can work with it.

    python benchmarks/report_page.py [--benchmarks N] [--tries N] [--browser PATH]

By default there are 500 benchmarks with 4,000 samples each: a suite in 20 pairs of launches of 100 samples, and two
pyperf files in 40 processes of 100 values. Each page is made by a process of its own, compared with the same command
without the page, which reads and judges as much; the fastest try counts. Then Chromium opens it as a file: it counts as
interactive when its script says that tables and filters work.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.large_inputs import Size, write_pyperf, write_record
from benchmarks.processes import STEELYARD, Ended, run, stoppable, with_own_store
from benchmarks.simulation import table

HEADER = ("page of", "made in", "CPU seconds", "reading and judging alone", "size", "interactive after")
PAIRS, SAMPLES = 20, 100
_LOOPS = 100


def main(words: argparse.Namespace) -> None:
    """Print a line for each kind of page."""
    with tempfile.TemporaryDirectory() as name, stoppable():
        folder = Path(name)
        suite = folder / "suite.json"
        write_suite(suite, words.benchmarks)
        imports = [folder / "a.json", folder / "b.json"]
        for seed, record in enumerate(imports, start=1):
            write_pyperf(folder / "pyperf.json", Size(benchmarks=words.benchmarks), seed)
            run([STEELYARD, "import", str(folder / "pyperf.json"), "-o", str(record)], with_own_store(folder))
        rows = [
            _row("a weighing", ["show", str(suite)], folder, words),
            _row("an import", ["show", str(imports[0])], folder, words),
            _row("the diff of two imports", ["diff", *map(str, imports)], folder, words),
        ]
        print(table(HEADER, rows))


def write_suite(path: Path, benchmarks: int) -> None:
    """Write the record of a suite in a harness, with samples in every launch."""
    write_record(path, PAIRS * benchmarks, benchmarks)
    record = json.loads(path.read_text())
    generator = np.random.default_rng(2)
    walls = np.array(record["launches"]["wall_ns"])[:, None]
    times = (walls * np.exp(0.01 * generator.standard_normal((len(walls), SAMPLES)))).astype(np.int64)
    record["settings"].update(harness="protocol", margin=0.005, alpha=0.01)
    record["launches"]["samples"] = [[[_LOOPS, time, time, 0] for time in launch] for launch in times.tolist()]
    path.write_text(json.dumps(record))


def _row(what: str, alone: Sequence[str], folder: Path, words: argparse.Namespace) -> tuple[object, ...]:
    page = folder / "page.html"
    made = _fastest([*alone, "--html", str(page)], folder, words.tries)
    judged = _fastest(alone, folder, words.tries)
    opened = _interactive_s(page, words.browser, words.tries)
    size = f"{page.stat().st_size / 1e6:.2f} MB"
    return what, f"{made.seconds:.2f} s", f"{made.cpu_s:.2f}", f"{judged.cpu_s:.2f}", size, f"{opened:.2f} s"


def _fastest(words: Sequence[str], folder: Path, tries: int) -> Ended:
    ended = [run([STEELYARD, *words], with_own_store(folder), accept=(0, 1)) for _ in range(tries)]
    return min(ended, key=lambda one: one.seconds)


def _interactive_s(page: Path, browser: str, tries: int) -> float:
    """The seconds from opening the address to working tables, in a new tab each time."""
    from playwright.sync_api import sync_playwright

    taken = []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for _ in range(tries):
            tab = chromium.new_page(viewport={"width": 1280, "height": 900})
            begun = time.perf_counter()
            tab.goto(page.as_uri())
            tab.wait_for_selector("html.ready")
            taken.append(time.perf_counter() - begun)
            tab.close()
        chromium.close()
    return min(taken)


def _words(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--benchmarks", type=int, default=500, help="on each page")
    parser.add_argument("--tries", type=int, default=3, help="of each command, and of the browser")
    parser.add_argument("--browser", default="/usr/bin/chromium", help="where Chromium is")
    return parser.parse_args(words)


if __name__ == "__main__":
    main(_words(sys.argv[1:]))
