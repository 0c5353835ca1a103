"""The store: the latest records are kept here without being asked for, so that nothing measured is ever lost.

What was measured last is told by the files' times, as the system wrote them, not by their names or contents: these
were dated by a clock that may have been wrong, and by them a long weighing would be old as soon as it ends. Reading all
files' times costs 0.5 ms, and they can be corrected: files dated later than one that was just written are set back to
before it. So the order is that of the measuring, whatever the clock says.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

from steelyard.model.errors import UsageError
from steelyard.model.locks import locked
from steelyard.model.owners import trusted_owners

# Enough to look back over a day of work; a record of 2,000 launches has about 60 kB.
KEPT = 100

_JOURNAL = ".journal"
_RECORD = ".json.gz"
# Without path separators or a leading dot, so that a name is always a file in the store's folder.
_BASELINE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_TIME = re.compile(r"\d{8}T\d{6}")
_NAME = re.compile(rf"\d{{8}}T\d{{6}}\.\d{{6}}-[a-z]+-\d+(?:\.json\.gz|{re.escape(_JOURNAL)})")


def utc_now() -> datetime:
    """Return the date and time, in UTC."""
    return datetime.now(UTC)


class _StoredFile(NamedTuple):
    """A record or a journal, and what the system tells of it: its time is when it was last written to."""

    path: Path
    status: os.stat_result


class Store:
    """A folder of records and journals."""

    def __init__(self, folder: Path, now: Callable[[], datetime] = utc_now, *, passed_over: Sequence[str] = ()) -> None:
        self.folder = folder
        self._now = now
        self._passed_over = passed_over

    def elsewhere(self, kept: Path) -> str | None:
        """Return why a record is kept here instead of in the user's own places; None if this is one of those."""
        return f"{' and '.join(self._passed_over)}, so the record is kept in {kept}" if self._passed_over else None

    @classmethod
    def of_user(cls, environment: Mapping[str, str], now: Callable[[], datetime] = utc_now) -> Store:
        """Return the user's own store, under XDG_STATE_HOME; among the temporary files if that cannot be written.

        A folder into which another user could put a record, a baseline or a calibration is not used either.
        """
        owners = trusted_owners(environment)
        passed_over: list[str] = []  # a read-only home: the records go where every process may write
        for folder in _state_folders(environment):
            if (refusal := _refusal(folder, owners)) is None:
                return cls(folder, now, passed_over=passed_over)
            passed_over.append(f"{folder} {refusal}")
        passed_over = passed_over or ["neither XDG_STATE_HOME nor HOME names a folder"]
        try:
            temporary = _temporary_folder(Path(tempfile.gettempdir()) / f"steelyard-{os.getuid()}")
            return cls(temporary, now, passed_over=passed_over)
        except OSError as error:
            raise UsageError("no folder can be written to keep the record in: set XDG_STATE_HOME") from error

    def new_name(self, kind: str) -> Path:
        """Return a path that is not taken, without suffix, for a record that starts now."""
        stamp = self._now().strftime("%Y%m%dT%H%M%S.%f")
        return self.folder / f"{stamp}-{kind}-{os.getpid()}"

    def name_of(self, journal: Path, kind: str) -> Path:
        """Return the same for a record that is carried on: its present name if its journal is in this store."""
        is_ours = journal.parent.resolve() == self.folder.resolve() and _NAME.fullmatch(journal.name)
        return self.folder / journal.name.removesuffix(_JOURNAL) if is_ours else self.new_name(kind)

    def latest(self) -> Path:
        """Return what was measured last, a record or a journal; raises UsageError if there is none."""
        if not (kept := self.records()):
            why = "".join(f"; {place}" for place in self._passed_over)
            raise UsageError(f"nothing has been measured yet (no record in {self.folder}{why}): name a file")
        return kept[0]

    def records(self) -> list[Path]:
        """Return all records and journals that are kept without being asked for, the latest measured first."""
        return [kept.path for kept in reversed(self._own_records() or self._all_records())]

    def named(self, name: str) -> Path:
        """Return where the run of that name is, or would be, kept; raises UsageError for an invalid name."""
        if not is_name(name):
            raise UsageError(
                f"{name!r} cannot be a baseline's name: use up to 100 letters, digits and . _ - , the first no mark"
            )
        return self._baselines / f"{name}{_RECORD}"

    def find(self, name: str) -> Path:
        """Return where the run of that name is kept; raises UsageError, which lists the names, if there is none."""
        path = self.named(name)
        if path.is_file():
            return path
        names = [name_of(path) for path in self.baselines()]
        known = f"there are {', '.join(names[:10])}" if names else "there is none yet"
        raise UsageError(
            f"no baseline {name!r} is kept in {self._baselines} ({known}): "
            f"steelyard run COMMAND --save-baseline {name} keeps one"
        )

    def by_name(self, path: Path) -> Path:
        """Return where the run or record is kept that a path names, with or without its ending; else the path itself.

        A record is also found by the beginning of its name, its time, if no other begins so. Raises UsageError for an
        invalid name, and for a time that several records have.
        """
        places = (self.named(str(path)), *(self.folder / f"{path}{end}" for end in ("", ".json.gz", ".json", _JOURNAL)))
        matches = [kept for kept in places if kept.is_file()][:1] or self._records_of_time(str(path))
        if len(matches) > 1:
            names = ", ".join(kept.name for kept in matches[:10])
            raise UsageError(f"{path} begins the names of {len(matches)} records: give more of one, of {names}")
        return matches[0] if matches else path

    def _records_of_time(self, text: str) -> list[Path]:
        return [path for path in self.records() if path.name.startswith(text)] if _TIME.match(text) else []

    def baselines(self) -> list[Path]:
        """Return the runs that were given names, the newest first."""
        found: list[tuple[int, Path]] = []
        with suppress(OSError):
            for path in self._baselines.iterdir():
                if path.name.endswith(_RECORD) and _BASELINE.fullmatch(name_of(path)):
                    with suppress(OSError):  # it has been removed, or is a broken link
                        found.append((path.stat().st_mtime_ns, path))
        return [path for _, path in sorted(found, reverse=True)]

    def place_for(self, name: str) -> Path:
        """Return what `named` does, and make its folder; raises UsageError if it cannot, and for a record's name."""
        path = self.named(name)
        if _TIME.match(name):
            raise UsageError(
                f"{name!r} cannot be a baseline's name, as records have such (steelyard list): begin it with a letter"
            )
        try:
            self._baselines.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot keep baselines in {self._baselines}: {error.strerror}") from error
        return path

    @property
    def _baselines(self) -> Path:
        return self.folder / "baselines"

    def admit(self, newest: Path) -> None:
        """Tidy up after a file was written: make it the newest, keep others from reading, remove the oldest.

        That file is never removed, nor a journal that is still being written, and no file of another owner is touched.
        What cannot be done is left undone: no measurement is worth less for it.
        """
        with suppress(OSError):
            os.utime(newest)  # by the clock of the disk, which may be another machine's
            mine = self._own_records()
            _set_back_times(mine, newest)
            for kept in mine:
                if stat.S_IMODE(kept.status.st_mode) & 0o077:
                    with suppress(OSError):
                        kept.path.chmod(0o600)
            self._close_to_others()
            _prune([kept.path for kept in mine if kept.path != newest], KEPT - 1)

    def _close_to_others(self) -> None:
        """Keep others out of the folder if it is ours, unless its sticky bit says that it is shared."""
        status = self.folder.stat()
        if status.st_uid == os.geteuid() and status.st_mode & 0o077 and not status.st_mode & stat.S_ISVTX:
            self.folder.chmod(0o700)

    def _own_records(self) -> list[_StoredFile]:
        return [kept for kept in self._all_records() if kept.status.st_uid == os.geteuid()]

    def _all_records(self) -> list[_StoredFile]:
        """Return the records and journals that are regular files, the newest last."""
        records = []
        for path in self.folder.iterdir():
            if _NAME.fullmatch(path.name):
                with suppress(FileNotFoundError):  # it was removed meanwhile
                    status = path.lstat()
                    if stat.S_ISREG(status.st_mode):
                        records.append(_StoredFile(path, status))
        return sorted(records, key=lambda kept: (kept.status.st_mtime_ns, kept.path))


def is_name(text: str) -> bool:
    """Return whether a baseline can have that name."""
    return _BASELINE.fullmatch(text) is not None


def name_of(baseline: Path) -> str:
    """Return the name that a run was given."""
    return baseline.name.removesuffix(_RECORD)


def _set_back_times(kept: list[_StoredFile], newest: Path) -> None:
    """Set the times of all that seem to be later than `newest` back to before it, in their order."""
    limit_ns = newest.stat().st_mtime_ns
    for later in reversed(kept):
        if later.path != newest and later.status.st_mtime_ns >= limit_ns:
            limit_ns -= 1
            with suppress(OSError):
                os.utime(later.path, ns=(later.status.st_atime_ns, limit_ns))


def _prune(oldest_first: list[Path], left: int) -> None:
    """Remove the oldest until `left` are left."""
    for path in oldest_first[: max(0, len(oldest_first) - left)]:
        with suppress(OSError):
            if path.name.endswith(_JOURNAL):
                _remove_unless_written(path)
            else:
                path.unlink()


def _remove_unless_written(journal: Path) -> None:
    """Remove a journal unless it is locked, as it is still being written; raises OSError."""
    with locked(journal, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW) as is_left:
        if is_left:
            journal.unlink()


def _state_folders(environment: Mapping[str, str]) -> Iterator[Path]:
    # The XDG Base Directory Specification says to ignore relative paths.
    for name, below in (("XDG_STATE_HOME", "steelyard"), ("HOME", ".local/state/steelyard")):
        home = Path(environment.get(name, ""))
        if home.is_absolute():
            yield home / below


def _refusal(folder: Path, owners: Sequence[int]) -> str | None:
    """Return why nothing can be kept in a folder, which is made if it does not exist; None if it can."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError as error:
        return f"cannot be written ({error.strerror or error})"
    # A folder that users share, where only owners remove their files (chmod +t), may belong to anybody.
    if not status.st_mode & stat.S_ISVTX:
        if status.st_uid not in owners:
            return "is another user's"
        if status.st_mode & stat.S_IWOTH:
            return "can be written by every user (chmod o-w)"
    return None if os.access(folder, os.W_OK) else "cannot be written (its permissions, or a read-only disk)"


def _temporary_folder(folder: Path) -> Path:
    with suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        # Anybody could make something of that name there first; only a folder of our own is trusted.
        if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid():
            return folder
    return _make_once(folder.parent)


@cache
def _make_once(among: Path) -> Path:
    """Make a folder with an unpredictable name; the same one for as long as this process runs."""
    return Path(tempfile.mkdtemp(prefix="steelyard-", dir=among))
