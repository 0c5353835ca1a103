"""The store: where the latest records are kept without being asked for, so that nothing measured is ever lost."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from steelyard.model.errors import UsageError

# Enough to look back a day of work; a record of 2,000 launches is about 60 kB.
KEPT = 100


def utc_now() -> datetime:
    """The date and time, in UTC."""
    return datetime.now(UTC)


class Store:
    """A folder of records and journals, newest last by name."""

    def __init__(self, folder: Path, now: Callable[[], datetime] = utc_now) -> None:
        self.folder = folder
        self._now = now

    @classmethod
    def of_user(cls, environment: Mapping[str, str], now: Callable[[], datetime] = utc_now) -> Store:
        """The user's own store, under XDG_STATE_HOME; in the folder for temporary files if that cannot be written."""
        for folder in _places(environment):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                if os.access(folder, os.W_OK):
                    return cls(folder, now)
            except OSError:
                pass  # a read-only home: the records go where every process may write
        try:
            return cls(_temporary(Path(tempfile.gettempdir()) / f"steelyard-{os.getuid()}"), now)
        except OSError as error:
            raise UsageError("no folder can be written to keep the record in: set XDG_STATE_HOME") from error

    def new_name(self, kind: str) -> Path:
        """A path without suffix for a record that starts now; sorts by time and is not taken."""
        stamp = self._now().strftime("%Y%m%dT%H%M%S.%f")
        return self.folder / f"{stamp}-{kind}-{os.getpid()}"

    def latest(self) -> Path:
        """The newest record; raises UsageError if there is none."""
        records = self._records()
        if not records:
            raise UsageError(f"nothing has been measured yet (no record in {self.folder}): name a file")
        return records[-1]

    def prune(self) -> None:
        """Remove all but the newest records."""
        for old in self._records()[:-KEPT]:
            old.unlink(missing_ok=True)

    def _records(self) -> list[Path]:
        return sorted(path for path in self.folder.glob("2*-*") if path.name.endswith((".json.gz", ".journal")))


def _places(environment: Mapping[str, str]) -> Iterator[Path]:
    # A relative path is to be ignored, says the XDG Base Directory Specification.
    for name, below in (("XDG_STATE_HOME", "steelyard"), ("HOME", ".local/state/steelyard")):
        home = Path(environment.get(name, ""))
        if home.is_absolute():
            yield home / below


def _temporary(folder: Path) -> Path:
    with suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        # Anybody can make something of that name there first; only our own folder is trusted with what we write.
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid():
            return folder
    return Path(tempfile.mkdtemp(prefix="steelyard-"))
