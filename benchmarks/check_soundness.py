"""`steelyard check` on planted defects and on sound benchmarks, on a quiet machine and beside bursts of other work.

    python benchmarks/check_soundness.py [--times 3] [--max-time SECONDS] [--only quiet|bursts]

Each defect has a fixture (tests/check) and has to be found each time; ten benchmarks from examples/ are sound, and
nothing may be reported for them. Prints a table in Markdown; the exit status is 1 if anything was missed or wrongly
reported.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.load import Bursts
from benchmarks.processes import ROOT, STEELYARD
from benchmarks.simulation import table

PLANTED = ROOT / "tests/check"
PYTHON = f"{sys.executable} -m steelyard.harness"
SOUND_PYTHON = {
    "bench_containers.py": ("dict_fill[[]n=100]", "set_union"),
    "bench_hashing.py": ("blake2b",),
    "bench_parsing.py": ("csv_rows",),
    "bench_sorting.py": ("nearly_sorted",),
}
SOUND_CPP = ("vector_push_back/n=100", "map_insert", "sort_copy", "parse_integers", "hash_crc32")


@dataclass(frozen=True)
class Case:
    """One call of `steelyard check`, and the code of the defect that it has to find; None for a sound target."""

    name: str
    words: tuple[str, ...]
    code: str | None
    state: Path | None = None
    """A file that it leaves behind, and that no other try shall find."""


@dataclass
class Count:
    """The results of one case over all its tries."""

    tries: int = 0
    right: int = 0
    others: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    launches: int = 0


def cases(folder: Path) -> list[Case]:
    """Return all cases, with their programs built."""
    planted, suite, heap = (folder / name for name in ("planted", "suite", "heap"))
    _build(planted, [PLANTED / "planted.cpp"])
    _build(heap, [ROOT / "experiments/heap_order/containers.cpp"])
    _build(suite, sorted((ROOT / "examples/cpp").glob("*.cpp")))
    commands = {path.stem.partition("_")[2].replace("_", "-"): path for path in PLANTED.glob("command_*.py")}
    found = [
        *(_harness(str(planted), name, name, "C++") for name in ("optimised-away", "too-short", "leak")),
        _harness(str(heap), "fill_last", "order", "C++"),
        *(
            _harness(f"{PYTHON} {PLANTED}/bench_planted.py", f"*::{name}", code, "Python")
            for name, code in PLANTED_PYTHON.items()
        ),
        Case("too-short, a command", ("true",), "too-short"),
        Case("too-long, a command", ("sleep 1.5",), "too-long"),
        *(
            Case(f"{code}, a command", (f"{sys.executable} -S {path} {folder}/state",), code, folder / "state")
            for code, path in sorted(commands.items())
        ),
    ]
    for file, names in SOUND_PYTHON.items():
        found += [_harness(f"{PYTHON} {ROOT}/examples/python/{file}", f"*{name}", None, "Python") for name in names]
    return found + [_harness(str(suite), name, None, "C++") for name in SOUND_CPP]


PLANTED_PYTHON = {
    name: name
    for name in ("set-up-in-clock", "slower-and-slower", "drift", "memory", "hash-seed", "modes", "too-long", "order")
} | {"[[]nam]e": "name", "rising": "slower-and-slower"}


def _harness(program: str, pattern: str, code: str | None, language: str) -> Case:
    words = ("--harness", "protocol", program, "--benchmark", pattern, "--heap")
    stem = pattern.lstrip("*:").replace("[[]", "[")
    return Case(f"{stem if code in (None, stem) else f'{code} ({stem})'}, {language}", words, code)


def _build(program: Path, sources: Iterable[Path]) -> None:
    options = ["-std=c++17", "-O2", "-I", str(ROOT / "sdk/cpp")]
    subprocess.run(["g++", *options, *map(str, sources), "-o", str(program)], check=True)


def tried(case: Case, seconds: float, count: Count) -> list[str]:
    """Check once, count the findings, and return those that should not have been there."""
    if case.state is not None:
        case.state.unlink(missing_ok=True)
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        words = [*case.words, "--max-time", f"{seconds:g}", "--json", file.name]
        done = subprocess.run([STEELYARD, "check", *words], capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{case.name}: {done.stderr}")
        found = json.loads(Path(file.name).read_text())
    codes = {one["code"] for one in found["looked"] if one["outcome"] == "trouble"}
    untried = {f"{one['code']} not tried" for one in found["looked"] if one["outcome"] == "untried"}
    count.tries += 1
    count.right += case.code in codes if case.code else not codes
    for code in (codes - {case.code}) | (untried if case.code is None else set()):
        count.others[code] = count.others.get(code, 0) + 1
    count.seconds += found["seconds"]
    count.launches += found["launches"]
    others = (one for one in found["looked"] if one["outcome"] == "trouble" and one["code"] != case.code)
    return [f"{one['code']}: {one['finding']}" for one in others]


def as_table(counts: Mapping[tuple[str, str], Count], all_cases: Iterable[Case], machines: Iterable[str]) -> str:
    """Return the table, with one row per case and load."""
    header = ("target", "has to say", "machine", "right", "also said", "launches", "seconds")
    rows = []
    for case in all_cases:
        for machine in machines:
            count = counts[case.name, machine]
            also = ", ".join(f"{code} ({many})" for code, many in sorted(count.others.items())) or "nothing"
            launches, seconds = f"{count.launches / count.tries:.0f}", f"{count.seconds / count.tries:.1f}"
            right = f"{count.right} of {count.tries}"
            rows.append([case.name, case.code or "nothing", machine, right, also, launches, seconds])
    return table(header, rows)


def main() -> int:
    """Try everything, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--max-time", type=float, default=60.0)
    parser.add_argument("--only", choices=("quiet", "bursts"))
    given = parser.parse_args()
    machines = [given.only] if given.only else ["quiet", "bursts"]
    counts: dict[tuple[str, str], Count] = {}
    with tempfile.TemporaryDirectory(prefix="steelyard-") as folder:
        all_cases = cases(Path(folder))
        for _ in range(given.times):
            for machine in machines:
                with Bursts() if machine == "bursts" else nullcontext():
                    for case in all_cases:
                        count = counts.setdefault((case.name, machine), Count())
                        said = tried(case, given.max_time, count)
                        right = f"{machine}: {case.name}: {count.right} of {count.tries}"
                        print(right, *said, sep="; ", file=sys.stderr, flush=True)
    print(as_table(counts, all_cases, machines))
    return int(any(count.right < count.tries for count in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
