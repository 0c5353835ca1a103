"""The peers' verdicts on two programs, each tool with its own way of measuring and its own test."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from scipy import stats

from benchmarks.processes import run

Word = Literal["slower", "faster", "no difference"]
Samples = tuple[list[float], list[float]]

_COMPARED = re.compile(r"\b\d[\d.]*x (slower|faster)\b")


def welch_word(samples: Samples, alpha: float) -> Word:
    """Welch's two-sided t-test of two samples, as in hyperfine's own `scripts/welch_ttest.py`."""
    baseline, candidate = samples
    found = stats.ttest_ind(candidate, baseline, equal_var=False)
    if not found.pvalue < alpha:
        return "no difference"
    return "slower" if found.statistic > 0 else "faster"


def hyperfine_samples(report: str) -> Samples:
    """Both commands' wall times in seconds, from the output of `hyperfine --export-json`."""
    baseline, candidate = (result["times"] for result in json.loads(report)["results"])
    return baseline, candidate


def measure_by_hyperfine(
    hyperfine: str, programs: Sequence[Path], runs: int | None, folder: Path, environment: Mapping[str, str]
) -> Samples:
    """Run hyperfine once on two programs, with `runs` runs, without a shell, after one warm-up of each.

    If `runs` is None, hyperfine gets the two programs and nothing else.
    """
    report = folder / "hyperfine.json"
    options = [] if runs is None else ["-N", "--warmup", "1", "--runs", str(runs)]
    run([hyperfine, *options, "--style", "none", "--export-json", str(report), *map(str, programs)], environment)
    return hyperfine_samples(report.read_text())


def pyperf_values(suite: str) -> list[float]:
    """All values of a pyperf file, in seconds."""
    (benchmark,) = json.loads(suite)["benchmarks"]
    return [value for one in benchmark["runs"] for value in one.get("values", ())]


def pyperf_word(compared: str) -> Word:
    """Read the output of `pyperf compare_to BASELINE CANDIDATE`; ValueError if it gives no answer."""
    match = _COMPARED.search(compared)
    if match:
        return "slower" if match[1] == "slower" else "faster"
    if re.search(r"not significant|no change", compared, re.IGNORECASE):
        return "no difference"
    raise ValueError(f"pyperf compare_to says neither faster, slower nor not significant: {compared!r}")


def measure_by_pyperf(
    pyperf: str, programs: Sequence[Path], launches: int | None, folder: Path, environment: Mapping[str, str]
) -> tuple[Word, Samples]:
    """Run pyperf once on each program, with one process and value per launch; return the answer of its `compare_to`.

    If `launches` is None, pyperf makes as many as by default.
    """
    amount = [] if launches is None else ["-p", str(launches), "-n", "1", "-w", "0", "-l", "1"]
    files = [folder / f"pyperf-{side}.json" for side in ("baseline", "candidate")]
    for program, file in zip(programs, files, strict=True):
        file.unlink(missing_ok=True)
        run([pyperf, "command", "-q", "--name", "work", *amount, "-o", str(file), str(program)], environment)
    command = [pyperf, "compare_to", *map(str, files)]
    compared = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    baseline, candidate = (pyperf_values(file.read_text()) for file in files)
    return pyperf_word(compared), (baseline, candidate)
