"""Requests to Valgrind stand twice, as the SDK is published by itself: one file, in two places."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_file_is_the_same_in_both_places() -> None:
    ours = ROOT / "native" / "preload" / "src" / "client_requests.rs"
    (theirs,) = (file for file in (ROOT / "sdk" / "rust" / "src").glob("*.rs") if "VG_USERREQ__" in file.read_text())
    assert ours.read_text() == theirs.read_text(), f"{ours} and {theirs} differ: copy the newer one over the other"
