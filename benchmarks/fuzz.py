"""Damaged records, journals, imports and harnesses' answers, read in every way there is: what is no answer, is a find.

    python benchmarks/fuzz.py [--minutes 60] [--seed N] [--only NUMBER]

`make test` does a few seconds of it (tests/hostile/test_fuzz.py). A find is printed once for each place in the code,
with the words that repeat it; its file is kept in build/fuzz. The exit status is 1 if there was any.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.hostile.fuzzing import Find, attempt, finds, seeds

KEPT = ROOT / "build/fuzz"


def main() -> int:
    """Try until the time is up, and say what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--only", type=int, help="the number of one try, to have it again")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="steelyard-fuzz-") as folder:
        if asked.only is not None:
            found = attempt(Path(folder), asked.seed, asked.only, seeds())
            print(found or "nothing was found")
            return int(found is not None)
        return _search(Path(folder), asked.seed, asked.minutes)


def _search(folder: Path, seed: int, minutes: float) -> int:
    tries, known = 0, set()
    for found in finds(folder, seed, minutes * 60):
        tries += 1
        if found is not None and (place := _place(found)) not in known:
            known.add(place)
            KEPT.mkdir(parents=True, exist_ok=True)
            (KEPT / f"{seed}-{found.number}").write_bytes(found.data)
            print(f"{found}\n", flush=True)
    print(f"{tries:,} damaged files in {minutes:g} min, seed {seed}: {len(known)} finds")
    return int(bool(known))


def _place(found: Find) -> str:
    """Where in the code it came up: the same there is the same find."""
    lines = [line for line in found.what.splitlines() if line.lstrip().startswith("File ")]
    return lines[-1] if lines else found.what[:60]


if __name__ == "__main__":
    sys.exit(main())
