"""The store: where the latest records are kept without being asked for, so that nothing measured is ever lost.

What was measured last is told by the files' times, as the system wrote them: neither by their names nor by what is in
them, which a clock that was wrong has dated, and by which a long weighing would be old as soon as it ends. Files' times
cost 0.5 ms for all of them, and can be put right: whatever is dated later than what was written just now has its time
set back to before it. So the order is that of the measuring, whatever the clock was and will be.
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
from steelyard.model.locks import lock
from steelyard.model.owners import trusted_owners

# Enough to look back a day of work; a record of 2,000 launches is about 60 kB.
KEPT = 100

_JOURNAL = ".journal"
_RECORD = ".json.gz"
# No separator of paths, and no dot in front, so that a name stays a file of its folder.
_BASELINE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_TIME = re.compile(r"\d{8}T\d{6}")
_NAME = re.compile(rf"\d{{8}}T\d{{6}}\.\d{{6}}-[a-z]+-\d+(?:\.json\.gz|{re.escape(_JOURNAL)})")


def utc_now() -> datetime:
    """The date and time, in UTC."""
    return datetime.now(UTC)


class _Kept(NamedTuple):
    """A record or a journal, in the order of the measuring."""

    time_ns: int
    """When it was written to last."""
    path: Path
    found: os.stat_result


class Store:
    """A folder of records and journals."""

    def __init__(self, folder: Path, now: Callable[[], datetime] = utc_now, *, passed_over: Sequence[str] = ()) -> None:
        self.folder = folder
        self._now = now
        self._passed_over = passed_over

    def elsewhere(self, kept: Path) -> str | None:
        """What is said of a record that is kept here because the user's own places cannot be written; None at these."""
        return f"{' and '.join(self._passed_over)}, so the record is kept in {kept}" if self._passed_over else None

    @classmethod
    def of_user(cls, environment: Mapping[str, str], now: Callable[[], datetime] = utc_now) -> Store:
        """The user's own store, under XDG_STATE_HOME; in the folder for temporary files if that cannot be written.

        Nor is it where another user could put a record, a baseline or a calibration into it.
        """
        owners = trusted_owners(environment)
        passed_over: list[str] = []  # a read-only home: the records go where every process may write
        for folder in _places(environment):
            if (refusal := _refusal(folder, owners)) is None:
                return cls(folder, now, passed_over=passed_over)
            passed_over.append(f"{folder} {refusal}")
        passed_over = passed_over or ["neither XDG_STATE_HOME nor HOME names a folder"]
        try:
            temporary = _temporary(Path(tempfile.gettempdir()) / f"steelyard-{os.getuid()}")
            return cls(temporary, now, passed_over=passed_over)
        except OSError as error:
            raise UsageError("no folder can be written to keep the record in: set XDG_STATE_HOME") from error

    def new_name(self, kind: str) -> Path:
        """A path without suffix for a record that starts now, and is not taken."""
        stamp = self._now().strftime("%Y%m%dT%H%M%S.%f")
        return self.folder / f"{stamp}-{kind}-{os.getpid()}"

    def name_of(self, journal: Path, kind: str) -> Path:
        """The same for one that is carried on: that which it is known by, where its journal is one of these."""
        is_ours = journal.parent.resolve() == self.folder.resolve() and _NAME.fullmatch(journal.name)
        return self.folder / journal.name.removesuffix(_JOURNAL) if is_ours else self.new_name(kind)

    def latest(self) -> Path:
        """What was measured last, a record or a journal; raises UsageError if there is none."""
        kept = self._mine() or self._kept()
        if not kept:
            why = "".join(f"; {place}" for place in self._passed_over)
            raise UsageError(f"nothing has been measured yet (no record in {self.folder}{why}): name a file")
        return kept[-1].path

    def records(self) -> list[Path]:
        """All that is kept without being asked for, records and journals, what was measured last first."""
        return [kept.path for kept in reversed(self._mine() or self._kept())]

    def named(self, name: str) -> Path:
        """Where the run of that name is kept, or would be; raises UsageError for what is no name."""
        if not is_name(name):
            raise UsageError(
                f"{name!r} cannot be a baseline's name: use up to 100 letters, digits and . _ - , the first no mark"
            )
        return self._baselines / f"{name}{_RECORD}"

    def find(self, name: str) -> Path:
        """Where the run of that name is kept; raises UsageError, saying which there are, if there is none."""
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
        """Where the run or record is kept whose name a path is, with or without its ending; the path itself if none is.

        A record is found by its time too, with which its name begins, where no other has that. Raises UsageError for
        what is no name, and for a time that several have.
        """
        places = (self.named(str(path)), *(self.folder / f"{path}{end}" for end in ("", ".json.gz", ".json", _JOURNAL)))
        found = [kept for kept in places if kept.is_file()][:1] or self._of_time(str(path))
        if len(found) > 1:
            names = ", ".join(kept.name for kept in found[:10])
            raise UsageError(f"{path} begins the names of {len(found)} records: give more of one, of {names}")
        return found[0] if found else path

    def _of_time(self, text: str) -> list[Path]:
        return [path for path in self.records() if path.name.startswith(text)] if _TIME.match(text) else []

    def baselines(self) -> list[Path]:
        """The runs that were given names, the newest first."""
        found: list[tuple[int, Path]] = []
        with suppress(OSError):
            for path in self._baselines.iterdir():
                if path.name.endswith(_RECORD) and _BASELINE.fullmatch(name_of(path)):
                    with suppress(OSError):  # it has gone, or leads nowhere
                        found.append((path.stat().st_mtime_ns, path))
        return [path for _, path in sorted(found, reverse=True)]

    def place_for(self, name: str) -> Path:
        """As `named`, in a folder that is there; raises UsageError if it cannot be made, and for a record's name."""
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
        """Put things in order after a file was written: it is the newest, nobody else may read, the oldest go.

        Neither that file goes nor a journal that is still written, and nothing of another owner is touched. What cannot
        be done is left: no measurement is worth less for it.
        """
        with suppress(OSError):
            os.utime(newest)  # by the clock of the disk, which another machine may have
            mine = self._mine()
            _set_back(mine, newest)
            for kept in mine:
                if stat.S_IMODE(kept.found.st_mode) & 0o077:
                    with suppress(OSError):
                        kept.path.chmod(0o600)
            self._close()
            _prune([kept.path for kept in mine if kept.path != newest], KEPT - 1)

    def _close(self) -> None:
        """Keep others out of a folder of ours, unless its sticky bit says that it is shared."""
        found = self.folder.stat()
        if found.st_uid == os.geteuid() and found.st_mode & 0o077 and not found.st_mode & stat.S_ISVTX:
            self.folder.chmod(0o700)

    def _mine(self) -> list[_Kept]:
        return [kept for kept in self._kept() if kept.found.st_uid == os.geteuid()]

    def _kept(self) -> list[_Kept]:
        """Those that are files, the newest last."""
        kept = []
        for path in self.folder.iterdir():
            if _NAME.fullmatch(path.name):
                with suppress(FileNotFoundError):  # it was removed meanwhile
                    found = path.lstat()
                    if stat.S_ISREG(found.st_mode):
                        kept.append(_Kept(found.st_mtime_ns, path, found))
        return sorted(kept)


def is_name(text: str) -> bool:
    """Whether a baseline can have that name."""
    return _BASELINE.fullmatch(text) is not None


def name_of(baseline: Path) -> str:
    """The name that a run was given."""
    return baseline.name.removesuffix(_RECORD)


def _set_back(kept: list[_Kept], newest: Path) -> None:
    """Have all that seem to be of a later time be older, in the order that they have."""
    limit_ns = newest.stat().st_mtime_ns
    for later in reversed(kept):
        if later.path != newest and later.time_ns >= limit_ns:
            limit_ns -= 1
            with suppress(OSError):
                os.utime(later.path, ns=(later.found.st_atime_ns, limit_ns))


def _prune(oldest_first: list[Path], left: int) -> None:
    """Remove the oldest until so many are left."""
    for path in oldest_first[: max(0, len(oldest_first) - left)]:
        with suppress(OSError):
            if path.name.endswith(_JOURNAL):
                _remove_unless_written(path)
            else:
                path.unlink()


def _remove_unless_written(journal: Path) -> None:
    """Remove a journal that nobody is writing, as far as that can be known; raises OSError."""
    file = os.open(journal, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        if lock(file):
            journal.unlink()
    finally:
        os.close(file)


def _places(environment: Mapping[str, str]) -> Iterator[Path]:
    # A relative path is to be ignored, says the XDG Base Directory Specification.
    for name, below in (("XDG_STATE_HOME", "steelyard"), ("HOME", ".local/state/steelyard")):
        home = Path(environment.get(name, ""))
        if home.is_absolute():
            yield home / below


def _refusal(folder: Path, owners: Sequence[int]) -> str | None:
    """Why nothing is kept in a folder, which is made if it is not there; None if it is."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError as error:
        return f"cannot be written ({error.strerror or error})"
    # A shelf that users share, where nobody but its owner removes what is another's (chmod +t), is whoever's.
    if not found.st_mode & stat.S_ISVTX:
        if found.st_uid not in owners:
            return "is another user's"
        if found.st_mode & stat.S_IWOTH:
            return "can be written by every user (chmod o-w)"
    return None if os.access(folder, os.W_OK) else "cannot be written (its permissions, or a read-only disk)"


def _temporary(folder: Path) -> Path:
    with suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        # Anybody can make something of that name there first; only our own folder is trusted with what we write.
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid():
            return folder
    return _made_once(folder.parent)


@cache
def _made_once(among: Path) -> Path:
    """A folder with a name that nobody knew, the same for as long as this process runs."""
    return Path(tempfile.mkdtemp(prefix="steelyard-", dir=among))
