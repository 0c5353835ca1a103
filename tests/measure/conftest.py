"""What the tests of launches share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from steelyard.measure.launch import Launcher


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
    found = shutil.which("valgrind")
    if found is None:
        pytest.skip("there is no valgrind on this machine")
    return found
