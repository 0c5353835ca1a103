"""Requests to Valgrind: one file in two places, because the SDK is published by itself."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_file_is_the_same_in_both_places() -> None:
    ours = ROOT / "native" / "preload" / "src" / "client_requests.rs"
    (theirs,) = (file for file in (ROOT / "sdk" / "rust" / "src").glob("*.rs") if "VG_USERREQ__" in file.read_text())
    assert ours.read_text() == theirs.read_text(), f"{ours} and {theirs} differ: copy the newer one over the other"
