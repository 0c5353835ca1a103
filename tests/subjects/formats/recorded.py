"""Recorded results of the real tools (tests/data/imports/README.md)."""

from __future__ import annotations

from pathlib import Path

_TESTS = Path(__file__).resolve().parent.parent.parent
FOLDER = _TESTS / "data" / "imports"
SWIFT = _TESTS / "adapters" / "swift"

GOOGLE_BENCHMARK = FOLDER / "google-benchmark-1.7.json"
PYPERF = FOLDER / "pyperf-2.10.json"
HYPERFINE = FOLDER / "hyperfine-1.15.json"
PYTEST_BENCHMARK = FOLDER / "pytest-benchmark-5.3.json"
CRITERION = FOLDER / "criterion-0.8"
GO = FOLDER / "go-1.26.txt"
JMH = FOLDER / "jmh-1.37.json"
SWIFT_LOG = SWIFT / "run-3.txt"

ALL = {
    "google-benchmark": GOOGLE_BENCHMARK,
    "pyperf": PYPERF,
    "hyperfine": HYPERFINE,
    "pytest-benchmark": PYTEST_BENCHMARK,
    "criterion": CRITERION,
    "go": GO,
    "jmh": JMH,
    "swift": SWIFT_LOG,
}
FILES = {name: path for name, path in ALL.items() if name != "criterion"}
