"""A file in the place of the native probes, built or not: a scripted machine does not execute them."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.measure import native


@pytest.fixture
def probes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "probes"
    program.write_text("#!/bin/sh\n")
    monkeypatch.setattr(native, "PROBES", program)
    return program
