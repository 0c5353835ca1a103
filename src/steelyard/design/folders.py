"""Enter a folder for a time in which all that names a file by a relative path means one in that folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock

# All threads share the current folder: two that entered at once would leave each other in the wrong one.
_LOCK = RLock()


@contextmanager
def enter_folder(folder: Path | str) -> Iterator[None]:
    """Be in a folder until the end of the context, one thread at a time; raises OSError if it cannot be entered."""
    with _LOCK:
        here = os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.chdir(folder)
            yield
        finally:
            os.fchdir(here)
            os.close(here)
