from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.hostile.tool import Tool
from tests.tool import tidy_at_the_end


@pytest.fixture
def tool(tmp_path: Path) -> Iterator[Tool]:
    """The installed command; every process that it starts must be gone at the end of the test."""
    yield from tidy_at_the_end(Tool(tmp_path))


@pytest.fixture
def mounting() -> Callable[..., list[str]]:
    """Return what makes a command, given shell commands that mount; the mounts exist within that command alone."""
    missing = [name for name in ("unshare", "mount") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not tested without {' and '.join(missing)}")
    if os.geteuid() != 0:
        pytest.skip("not tested: only root may mount")

    def within(*commands: str) -> list[str]:
        return ["unshare", "--mount", "sh", "-ec", "\n".join([*commands, 'exec "$@"']), "sh"]

    probe = subprocess.run([*within("mount -t tmpfs none /mnt"), "true"], capture_output=True, text=True, check=False)
    if probe.returncode:
        pytest.skip(f"not tested, as nothing can be mounted here: {probe.stderr.strip()}")
    return within
