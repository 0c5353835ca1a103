"""What the tests of launches share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from steelyard.measure.launch import Launcher
from tests.c_programs import need_valgrind


@pytest.fixture(scope="module")
def launcher() -> Iterator[Launcher]:
    with Launcher() as launcher:
        yield launcher


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str, int], bytes]:
    def write(text: str, mode: int) -> bytes:
        file = tmp_path / "script"
        file.write_text(text)
        file.chmod(mode)
        return os.fsencode(file)

    return write


@pytest.fixture
def valgrind() -> str:
    return need_valgrind()
