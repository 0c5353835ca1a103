"""The folder that this process is in for a while."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from steelyard.design.folders import enter_folder


def test_two_threads_leave_this_process_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    found: list[Path] = []

    def other() -> None:
        with enter_folder(second):
            found.append(Path.cwd())
            left.wait(10)

    thread, left = threading.Thread(target=other), threading.Event()
    with enter_folder(first):
        thread.start()
        thread.join(0.1)  # long enough to enter its folder, if it could
        with enter_folder(first):
            assert Path.cwd() == first
    left.set()
    thread.join()
    assert found == [second]
    assert Path.cwd() == tmp_path
