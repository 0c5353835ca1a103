"""Examples in the documentation that are whole files do what the text beside them says."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.docs.pages import DOCS

_FILE = re.compile(r"^    # (bench_sort\.py)\n((?:    .*\n|\n)+)", re.MULTILINE)


@pytest.mark.real
def test_the_first_benchmarks_in_python_run(tmp_path: Path) -> None:
    found = _FILE.search((DOCS / "python.md").read_text(encoding="utf-8"))
    assert found is not None
    (tmp_path / found[1]).write_text(textwrap.dedent(found[2]))
    done = subprocess.run(
        [sys.executable, "-m", "steelyard.harness", found[1]], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "awaited" in done.stdout
