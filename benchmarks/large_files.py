"""How fast large files are read, judged and shown: pyperf results compared with pyperf, and long weighings' records.

    python benchmarks/large_files.py [--pyperf PATH] [--benchmarks N] [--launches N [N ...]] [--tries N]

Two pyperf files, by default of 500 benchmarks in 40 processes of 100 values (45 MB each): `pyperf compare_to --table`
reads and compares both; Steelyard imports each, keeps the record, and compares the two records. Then records and
journals of weighings and runs are shown again, which derives their verdicts anew, compared with the time that Python
takes only to parse the file. Each command is a process of its own, they take turns, and the fastest try of each counts:
its elapsed time and its peak memory (ru_maxrss).
"""

from __future__ import annotations

import argparse
import compileall
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import steelyard
from benchmarks.processes import STEELYARD, Ended, peer, run, stoppable, with_own_store
from benchmarks.simulation import table

HEADER = ("work", "seconds", "CPU seconds", "of the peer's time", "peak memory", "of the peer's memory")
LAUNCHES = (100_000, 1_000_000)
SUITE = 200
_PARSED = "import json, sys; json.load(open(sys.argv[1]))"
_LINES_PARSED = "import json, sys; [json.loads(line) for line in open(sys.argv[1])]"

Commands = Mapping[str, Sequence[str]]
# The names of what is compared: the peer, and those beside it.
Row = tuple[object, ...]


def main(words: argparse.Namespace) -> None:
    """Print a table for the imports, and one for the records of each size."""
    pyperf = peer("pyperf", words.pyperf)
    # As pip does when it installs, and did with pyperf: of a checkout it is done at each start where PYTHON* says so.
    compileall.compile_dir(Path(steelyard.__file__).parent, quiet=2)
    with tempfile.TemporaryDirectory() as name, stoppable():
        folder = Path(name)
        print(table(HEADER, _imports(folder, pyperf, words.benchmarks, words.tries)) + "\n", flush=True)
        for launches in words.launches:
            print(table(HEADER, _records(folder, launches, words.tries)) + "\n", flush=True)


def _imports(folder: Path, pyperf: str, benchmarks: int, tries: int) -> list[Row]:
    files, records = ([str(folder / f"{side}{kind}") for side in "ab"] for kind in ("-pyperf.json", ".json"))
    for seed, file in enumerate(files, start=1):
        _generated(["pyperf", file, str(benchmarks), str(seed)])
    ours = [[STEELYARD, "import", file, "-o", record] for file, record in zip(files, records, strict=True)]
    commands = {
        "pyperf compare_to --table": [pyperf, "compare_to", "--table", *files],
        "steelyard import A": ours[0],
        "steelyard import B": ours[1],
        "steelyard diff": [STEELYARD, "diff", *records],
    }
    taken = _fastest(commands, folder, tries)
    theirs, *parts = taken.values()
    peak = max(parts, key=lambda part: part.peak_bytes).peak_bytes
    whole = Ended(0, sum(part.seconds for part in parts), sum(part.cpu_s for part in parts), peak)
    return [_row(name, one, theirs) for name, one in {**taken, "import + import + diff": whole}.items()]


def _records(folder: Path, launches: int, tries: int) -> list[Row]:
    rows: list[Row] = []
    for kind, benchmarks in (("record", 1), ("journal", 1), ("record", SUITE), ("run", SUITE)):
        file = str(folder / f"{kind}-{benchmarks}")
        _generated([kind, file, str(launches), str(benchmarks)])
        what = f"{kind}, {launches:,} launches" + (f" of {benchmarks} benchmarks" if benchmarks > 1 else "")
        parse = _LINES_PARSED if kind == "journal" else _PARSED
        parsed, shown = f"json.load, {what}", f"steelyard show, {what}"
        commands = {parsed: [sys.executable, "-c", parse, file], shown: [STEELYARD, "show", file]}
        taken = _fastest(commands, folder, tries)
        rows += [_row(name, one, taken[parsed]) for name, one in taken.items()]
        Path(file).unlink()
    return rows


def _generated(words: Sequence[str]) -> None:
    # In a process of its own, as a child of a large process inherits its peak memory.
    run([sys.executable, str(Path(__file__).with_name("large_inputs.py")), *words], {})


def _fastest(commands: Commands, folder: Path, tries: int) -> dict[str, Ended]:
    found: dict[str, list[Ended]] = {name: [] for name in commands}
    for _ in range(tries):
        for name, command in commands.items():
            # Exit status 1 is a verdict, too: slower.
            found[name].append(run(command, with_own_store(folder), accept=(0, 1)))
    return {name: min(ended, key=lambda one: one.seconds) for name, ended in found.items()}


def _row(name: str, one: Ended, theirs: Ended) -> Row:
    return (
        name,
        f"{one.seconds:.2f}",
        f"{one.cpu_s:.2f}",
        f"{one.seconds / theirs.seconds:.2f}",
        f"{one.peak_bytes / 2**20:.0f} MiB",
        f"{one.peak_bytes / theirs.peak_bytes:.2f}",
    )


def _words(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pyperf", default=str(Path(sys.executable).with_name("pyperf")), help="where pyperf is")
    parser.add_argument("--benchmarks", type=int, default=500, help="in each file of pyperf's")
    parser.add_argument("--launches", type=int, nargs="*", default=LAUNCHES, help="in each record")
    parser.add_argument("--tries", type=int, default=3, help="of each command")
    return parser.parse_args(words)


if __name__ == "__main__":
    main(_words(sys.argv[1:]))
