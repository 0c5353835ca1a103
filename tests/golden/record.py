"""The recordings, one file per scenario. `python -m tests.golden.record [NAME...]` writes them anew."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path

from tests.golden.scenarios import SCENARIOS
from tests.golden.transcript import transcript

FOLDER = Path(__file__).parent / "recorded"


def recording(name: str) -> Path:
    return FOLDER / f"{name}.txt"


def difference(name: str, text: str) -> str:
    """Return how a transcript differs from its recording; empty if it does not."""
    recorded = recording(name).read_text() if recording(name).exists() else ""
    lines = difflib.unified_diff(recorded.splitlines(), text.splitlines(), "recorded", "now", lineterm="", n=2)
    return "\n".join(lines)


def record(*names: str) -> None:
    """Write these recordings anew, by default all; remove every recording that has no scenario."""
    FOLDER.mkdir(exist_ok=True)
    for name in names or SCENARIOS:
        recording(name).write_text(transcript(SCENARIOS[name]))
    for path in FOLDER.iterdir():
        if path.stem not in SCENARIOS:
            path.unlink()


if __name__ == "__main__":
    record(*sys.argv[1:])
