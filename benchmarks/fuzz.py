"""Read damaged records, journals, imports and harnesses' answers in every way; anything but a proper answer is a find.

    python benchmarks/fuzz.py [--minutes 60] [--seed N] [--sweep] [--only NUMBER]

`make test` does this for a few seconds (tests/hostile/test_fuzz.py). A find is printed once for each place in the code,
with the words that repeat it; its file is kept in build/fuzz. With --sweep, before anything is drawn at random, each
field gets each of the values tried, which takes about ten minutes. The exit status is 1 if there was any find.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterable
from itertools import chain, islice
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.hostile.fuzzing import Find, attempt, finds, seeds, sweep, swept, tried

KEPT = ROOT / "build/fuzz"


def main() -> int:
    """Try until the time is up, and report the finds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--sweep", action="store_true", help="try each value in each field first")
    parser.add_argument("--only", type=int, help="the number of one try, to have it again")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="steelyard-fuzz-") as folder:
        if asked.only is not None:
            found = _again(Path(folder), asked)
            print(found or "nothing was found")
            return int(found is not None)
        first = swept(Path(folder)) if asked.sweep else ()
        tries, many = _search(chain(first, finds(Path(folder), asked.seed, asked.minutes * 60)))
    print(f"{tries:,} damaged files in {asked.minutes:g} min, seed {asked.seed}: {many} finds")
    return int(bool(many))


def _again(folder: Path, asked: argparse.Namespace) -> Find | None:
    if not asked.sweep:
        return attempt(folder, asked.seed, asked.only, seeds())
    seed, data = next(islice(sweep(), asked.only, None))
    return tried(folder, seed, data, f"--sweep --only {asked.only}")


def _search(results: Iterable[Find | None]) -> tuple[int, int]:
    """Return how many inputs were tried, and how many different finds there were."""
    tries, known = 0, set[str]()
    for found in results:
        tries += 1
        if found is not None and (place := _place(found)) not in known:
            known.add(place)
            KEPT.mkdir(parents=True, exist_ok=True)
            (KEPT / found.again.replace(" ", "")).write_bytes(found.data)
            print(f"{found}\n", flush=True)
    return tries, len(known)


def _place(found: Find) -> str:
    """The place in the code of a find: two with the same place count as one."""
    lines = [line for line in found.what.splitlines() if line.lstrip().startswith("File ")]
    return lines[-1] if lines else found.what[:60]


if __name__ == "__main__":
    sys.exit(main())
