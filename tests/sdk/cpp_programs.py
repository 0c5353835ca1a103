"""Programs that include the C++ header or its C macros, and how they are called."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.sdk.driving import FD, Response, drive

ROOT = Path(__file__).resolve().parents[2]
SDK = ROOT / "sdk" / "cpp"
EXAMPLES = ROOT / "examples" / "cpp"
HARNESS = Path(__file__).with_name("cpp_harness.cpp")
STRICT = ("-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror", f"-I{SDK}", "-pthread")

C_BENCHMARKS = r"""
#include "steelyard.h"
STEELYARD_BENCH(nothing) { STEELYARD_RUN(state) {} }
STEELYARD_BENCH(multiplies) {
    const unsigned from = (unsigned)steelyard_seed(state);
    STEELYARD_RUN(state) {
        unsigned number = from;
        for (unsigned round = 0; round < 20; round++) {
            number = number * 31 + round;
            STEELYARD_KEEP(number);
        }
    }
}
STEELYARD_BENCH_NAMED(named, "another \"name\"") {
    double half = 0.5;
    struct { long left, middle, right; } large = {1, 2, 3};
    STEELYARD_SAMPLES(state) {
        half *= 2;
        STEELYARD_LOOP(state) { STEELYARD_KEEP(half); STEELYARD_KEEP(large); STEELYARD_CLOBBER(); }
    }
}
STEELYARD_BENCH_PARAM(sized, "n", 10, 1000) {
    if (steelyard_number(state, "n") == 1000) steelyard_fail(state, "too large");
    STEELYARD_RUN(state) {}
}
STEELYARD_MAIN()
"""
C_LEFT = r"""
STEELYARD_BENCH(breaks) { STEELYARD_RUN(state) { if (steelyard_seed(state) == 1) break; } }
STEELYARD_BENCH(returns) { STEELYARD_RUN(state) { if (steelyard_seed(state) == 1) return; } }
"""
IMPLEMENTATION = '#define STEELYARD_IMPLEMENTATION\n#include "steelyard.hpp"\n'


def asked(
    program: Path, *arguments: str, before: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> Response:
    """Call a program, with `before` in front of it on the command line; FD as an argument stands for the pipe."""
    return drive([*before, program], arguments, environment)


def driven(program: Path, *arguments: str, **options: Any) -> Response:
    return asked(program, "--steelyard-protocol=1", FD, *arguments, **options)


def run(
    program: Path,
    name: str,
    loops: int = 100,
    samples: int = 3,
    seed: int = 1,
    before_it: Sequence[str] = (),
    **options: Any,
) -> Response:
    given = {"run": name, "loops": loops, "samples": samples, "seed": seed}
    earlier = [f"--steelyard-before={before}" for before in before_it]
    return driven(program, *(f"--steelyard-{key}={value}" for key, value in given.items()), *earlier, **options)


def need(*names: str) -> str:
    """Return the path of the first of these programs that is installed; skips the test if none is."""
    found = next((path for path in map(shutil.which, names) if path), None)
    if found is None:
        pytest.skip(f"not tested without {' or '.join(names)}")
    return found


def need_clang(*names: str) -> str:
    return need(*names, *(f"{name}-{version}" for name in names for version in range(22, 10, -1)))


def called(*command: str | Path, cwd: Path | None = None) -> None:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
