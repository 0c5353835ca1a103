"""What Steelyard does, in half a minute: under load, the same program is `same`, and one 1 % slower is `slower`.

    python examples/demo/demo.py [--check] FOLDER

Builds two versions of work.c into FOLDER, weighs them with the `steelyard` on the path, and keeps every file there.
With --check, as in CI, it fails unless the verdicts are right. One version is then 5 % slower, because how small a
change half a minute can find depends on the machine, and CI's may be very busy.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from benchmarks.load import Bursts

SOURCE = Path(__file__).with_name("work.c")
ROUNDS = 2800
SLOWER = 1


def main() -> int:
    """Build, weigh twice, and show; return the number of wrong verdicts."""
    arguments = _arguments()
    folder: Path = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    percent = 5 if arguments.check else 1
    work, slower = _build(folder, {"work": ROUNDS, f"work-{percent}%-slower": ROUNDS * (100 + percent) // 100})
    # CI runs this often: the default's one wrong verdict in a hundred would be too many.
    strictness = ["--alpha", "0.001"] if arguments.check else []
    print("\n1. A program against itself, while other work disturbs the machine:\n")
    same = _weigh(work, work, folder / "same", strictness, Bursts())
    print(f"\n2. The same program against a version that does {percent} % more work:\n")
    changed = _weigh(work, slower, folder / "slower", strictness, nullcontext())
    print(f"\nEverything measured is in {folder}; look again with: steelyard show {folder / 'slower.json.gz'}")
    print(f"With charts, in a browser: {folder / 'slower.html'}")
    wrong = (same not in ("same", "undecided")) + (changed != "slower")
    if arguments.check and wrong:
        print(f"wrong: the verdicts were {same} and {changed}", file=sys.stderr)
    return wrong if arguments.check else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Shows what Steelyard does.")
    parser.add_argument("folder", type=Path, help="where the programs and the files go")
    parser.add_argument("--check", action="store_true", help="fail unless both verdicts are right")
    return parser.parse_args()


def _build(folder: Path, versions: dict[str, int]) -> list[Path]:
    compiler = shutil.which("cc")
    if compiler is None:
        sys.exit("the demo compiles a small C program: install a C compiler (Debian: apt-get install gcc libc6-dev)")
    programs = []
    for name, rounds in versions.items():
        program = folder / name
        subprocess.run([compiler, "-O2", f"-DROUNDS={rounds}", "-o", program, SOURCE], check=True)
        programs.append(program)
    return programs


def _steelyard() -> str:
    found = shutil.which("steelyard")
    if found is None:
        sys.exit("there is no steelyard on the path: run `make demo`, or install it first")
    return found


def _weigh(
    baseline: Path, candidate: Path, kept: Path, options: list[str], load: AbstractContextManager[object]
) -> str:
    record = kept.with_suffix(".json.gz")
    files = ["--json", str(record), "--markdown", f"{kept}.md", "--csv", f"{kept}.csv", "--html", f"{kept}.html"]
    command = [_steelyard(), "compare", str(baseline), str(candidate), *options, *files]
    print(f"$ steelyard compare {baseline} {candidate}\n", flush=True)
    with load:
        status = subprocess.run(command, check=False).returncode
    if status not in (0, SLOWER):
        sys.exit(status)
    with gzip.open(record) as file:
        return str(json.load(file)["verdict"])


if __name__ == "__main__":
    sys.exit(main())
