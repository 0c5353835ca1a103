from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.model.files import save
from tests.design.scripted import noisy, weigh
from tests.design.unpaired.test_runs import AGAIN, A, B, machine

TREE = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def files(tmp_path: Path) -> Path:
    save(A, tmp_path / "a.json")
    save(B, tmp_path / "b.json.gz")
    save(AGAIN, tmp_path / "again.json")
    save(machine(B, key="other"), tmp_path / "elsewhere.json")
    save(weigh(noisy(), pairs=12)[0], tmp_path / "weighing.json")
    return tmp_path


def steelyard(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(TREE / "src"),
        "XDG_STATE_HOME": str(folder / "state"),
        "COLUMNS": "100",
        "LANG": "C.UTF-8",
    }
    return subprocess.run(
        [sys.executable, "-m", "steelyard", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["a.json", "b.json.gz"], 1),
        (["b.json.gz", "a.json"], 0),
        (["a.json", "again.json"], 0),
        (["a.json", "again.json", "--strict"], 4),
        (["a.json", "again.json", "--strict", "--margin", "10%"], 0),
        (["a.json", "elsewhere.json", "--force"], 1),
        (["a.json", "b.json.gz", "--metric", "wall,cpu"], 1),
        (["a.json", "b.json.gz", "--metric", "cpu,wall", "--strict"], 4),  # the first decides
    ],
)
def test_the_exit_status_is_the_verdict_s(files: Path, words: list[str], status: int) -> None:
    done = steelyard(files, "diff", *words)
    assert done.returncode == status, done
    assert "measured apart" in done.stdout.splitlines()[0]
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["a.json"], 2, "B"),
        (["a.json", "missing.json"], 2, "missing.json"),
        (["a.json", "weighing.json"], 2, "steelyard show"),
        (["a.json", "a.json"], 2, "same run"),
        (["a.json", "elsewhere.json"], 2, "--force"),
        (["a.json", "b.json.gz", "--alpha", "0.5"], 2, "--alpha"),
        (["a.json", "b.json.gz", "--margin", "x"], 2, "--margin"),
        (["a.json", "b.json.gz", "--metric", "x"], 2, "--metric"),
        (["a.json", "b.json.gz", "--markdown", "./a.json"], 2, "overwrite"),
        (["a.json", "b.json.gz", "--metric", "steal"], 2, "--metric"),
    ],
)
def test_mistakes_are_one_sentence(files: Path, words: list[str], status: int, said: str) -> None:
    done = steelyard(files, "diff", *words)
    assert (done.returncode, done.stdout) == (status, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_markdown_is_written_and_real_runs_go_in(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        assert steelyard(tmp_path, "run", "true", "--launches", "20", "-o", name).returncode == 0
    done = steelyard(tmp_path, "diff", "a.json", "b.json", "--markdown", "report.md")
    assert done.returncode in (0, 1), done
    assert (tmp_path / "report.md").read_text().startswith("_measured apart")
