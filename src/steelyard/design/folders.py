"""Where this process is, while all that names a file by a relative path shall mean one in some folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def entered(folder: Path | str) -> Iterator[None]:
    """Be in a folder until the end of the context; raises OSError if it cannot be entered."""
    here = os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.chdir(folder)
        yield
    finally:
        os.fchdir(here)
        os.close(here)
