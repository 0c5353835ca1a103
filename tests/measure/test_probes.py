"""The probes: what they print, and that they use the caches as expected."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from steelyard.measure.native import PROBES

pytestmark = pytest.mark.real

PATTERNS = ("linear-i32", "random-i32", "linear-u64", "random-u64", "chase")
ELEMENTS = 1_000_000


def probe(*words: str | int) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(PROBES), *map(str, words)], check=False, capture_output=True, text=True)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_checksum_is_printed_and_is_the_same_again(pattern: str) -> None:
    first, second, further = (probe(pattern, 1000, iterations) for iterations in (12345, 12345, 12346))
    assert (first.returncode, first.stderr) == (0, "")
    assert re.fullmatch(r"\d+\n", first.stdout)
    assert first.stdout == second.stdout != further.stdout


@pytest.mark.parametrize(
    ("words", "about"),
    [
        ((), "three words"),
        (("chase", 1), "three words"),
        (("square", 1, 1), "'square'"),
        (("chase", 0, 1), "'0'"),
        (("chase", 1 << 60, 1), f"'{1 << 60}'"),
        (("linear-i32", 1, -1), "'-1'"),
        (("linear-i32", 1, "\udcff"), "'\ufffd'"),
    ],
    ids=str,
)
def test_bad_words_are_named_in_one_sentence(words: tuple[str | int, ...], about: str) -> None:
    done = probe(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("steelyard-probes: ")
    assert about in done.stderr.replace('"', "'")
    assert done.stderr.count("\n") == 1


# --- under a cache simulation


@dataclass(frozen=True)
class Rates:
    """Events per iteration, from the difference between two runs."""

    instructions: float
    d1_misses: float
    ll_misses: float


def events(valgrind: str, folder: Path, pattern: str, elements: int, iterations: int) -> dict[str, int]:
    output = folder / "cachegrind.out"
    caches = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"]
    options = ["--tool=cachegrind", "--cache-sim=yes", *caches, f"--cachegrind-out-file={output}"]
    command = [valgrind, *options, str(PROBES), pattern, str(elements), str(iterations)]
    subprocess.run(command, env={"PATH": os.environ["PATH"]}, check=True, capture_output=True)
    lines = dict(line.partition(": ")[::2] for line in output.read_text().splitlines() if ": " in line)
    return dict(zip(lines["events"].split(), map(int, lines["summary"].split()), strict=True))


def rates(valgrind: str, folder: Path, pattern: str, elements: int, start: int, end: int) -> Rates:
    before, after = (events(valgrind, folder, pattern, elements, iterations) for iterations in (start, end))

    def rate(*names: str) -> float:
        return sum(after[name] - before[name] for name in names) / (end - start)

    return Rates(rate("Ir"), rate("D1mr", "D1mw"), rate("DLmr", "DLmw"))


def test_linear_and_random_differ_in_their_misses_alone(valgrind: str, tmp_path: Path) -> None:
    linear, random = (
        rates(valgrind, tmp_path, pattern, ELEMENTS, 0, 500_000) for pattern in ("linear-i32", "random-i32")
    )
    assert 15 < linear.instructions < 25
    assert random.instructions == pytest.approx(linear.instructions, rel=1e-5)
    # The figures of the program's author, for these caches and this many elements.
    assert (linear.d1_misses, linear.ll_misses) == pytest.approx((0.25, 0.25), rel=0.02)
    assert (random.d1_misses, random.ll_misses) == pytest.approx((4.0, 2.75), rel=0.02)


def test_larger_elements_share_their_lines_with_fewer(valgrind: str, tmp_path: Path) -> None:
    linear = rates(valgrind, tmp_path, "linear-u64", ELEMENTS, 0, 250_000)
    assert (linear.d1_misses, linear.ll_misses) == pytest.approx((0.5, 0.5), rel=0.02)


def test_a_chase_misses_what_does_not_hold_all_its_nodes(valgrind: str, tmp_path: Path) -> None:
    # Nodes of 64 bytes: 16 KiB, 1 MiB and 16 MiB. The first round is left out: it still finds nodes from the set-up.
    for elements, misses in ((256, (0, 0)), (16_384, (1, 0)), (262_144, (1, 1))):
        chase = rates(valgrind, tmp_path, "chase", elements, elements, 2 * elements)
        assert (chase.d1_misses, chase.ll_misses) == pytest.approx(misses, rel=0.02, abs=0.02)
