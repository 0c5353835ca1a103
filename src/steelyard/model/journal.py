"""The journal: a record while it is being measured, one JSON line per launch, on disk before the next launch starts.

First line: the record without its launches. Then one array per launch, in LaunchRow's order of fields, and
{"discard": [benchmark, pair]} after a disturbed pair; {"aside": [benchmark, pair]} for a pair of a way of pairing that
was given up; {"failed": [benchmark, why]} where a harness's benchmark fails;
{"count": ..., "functions": ...} after a counted launch, and {"finding": ...} if it calls for one;
{"heap_launch": ...} after one whose heap was watched;
{"stretch": ...} after some launches, with what went on beside them;
{"files": ...} after the warm-up, with what is in the files that commands name.
Last line: how it ended.
If a kill or a full disk cuts off the end, at most the line that was being written is lost.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
from array import array
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self, cast

from steelyard.model.columns import INTEGERS, Packed, extended
from steelyard.model.counting import Count, Functions
from steelyard.model.errors import LineError, MeasurementError, UnwrittenError, UsageError
from steelyard.model.findings import Finding
from steelyard.model.heap import HeapLaunch
from steelyard.model.json_text import parse
from steelyard.model.records import Run, Weighing
from steelyard.model.rows import COLUMNS, DISTURBED, ROLES, TRIED, USED, Frame, LaunchRow, Place
from steelyard.model.watch import Stretch

_BLOCK_BYTES = 1 << 16
# The record of ten thousand benchmarks with long names, less its launches.
_LONGEST_HEADER_BYTES = 1 << 25

# Made once: json.dumps makes a new encoder at each call with other separators than its own.
_COMPACT_ENCODER = json.JSONEncoder(separators=(",", ":"))

# Consecutive lines of launches: numbers, the lists of a harness's samples, and the lists of counters. No group is
# possessive: Python before 3.11.5 takes a part of one that does not match as a whole, and so a part of a line.
_LAUNCH_LINES: Final = re.compile(rb"(?:\[N(?:\[N(?:\[N\]N)*\]N){0,2}\]\n)+".replace(b"N", rb'[^][{}"\r\n]*+'))
_BATCH_BYTES: Final = 4 << 20
_NO_VALUES: Final[list[Any]] = []
# Columns added in later versions, the latest one last: their position, and their value in journals without them.
_LATER_COLUMNS: Final = [
    (COLUMNS.index(name), unknown) for name, unknown in (("layout", 0), ("lost_ns", None), ("written_blocks", None))
]
# The possible lengths of a launch's line: it may lack these columns, and its lists of samples and of counters.
_LINE_LENGTHS: Final = {len(LaunchRow._fields) - lacking for lacking in range(len(_LATER_COLUMNS) + 3)}


class Journal:
    """Appends to one journal file. Every `append` has reached the operating system when it returns."""

    def __init__(self, path: Path, header: Weighing | Run, rows: Iterable[LaunchRow] = ()) -> None:
        """Create the file, with the `rows` of an earlier session; raises MeasurementError if it cannot be written."""
        self.path = path
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise MeasurementError(f"cannot write the journal {path}: {_reason(error)}") from error
        try:
            self._lock()
            # json.dumps, because pydantic's own writer refuses surrogates, which stand for bytes that are not UTF-8.
            self._write(json.dumps(header.model_dump(mode="json", exclude={"launches", "derived"})).encode())
            for row in rows:
                self.append(row)
        except BaseException:
            os.close(self._file)
            with suppress(OSError):
                path.unlink()  # without its first line it is useless; earlier rows are where they came from
            raise

    @classmethod
    def resumed(cls, path: Path) -> Self:
        """Open a journal that nobody writes to any more, to append to it; an incomplete last line is cut off.

        Raises UsageError if it is still being written, or cannot be opened.
        """
        journal = cls.__new__(cls)
        journal.path = path.resolve()  # valid whatever the working directory becomes
        try:
            journal._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            raise UsageError(f"cannot carry on {path}: {error.strerror}; check the path") from error
        try:
            journal._lock()
            journal._cut_torn_line()
        except BlockingIOError as error:
            os.close(journal._file)
            raise UsageError(f"{path} is still being measured: wait for its end, or interrupt it first") from error
        except OSError as error:
            os.close(journal._file)
            raise UsageError(f"cannot carry on {path}: {error.strerror}; check the path") from error
        return journal

    def _lock(self) -> None:
        """Keep others from carrying it on meanwhile; raises BlockingIOError if another process holds the lock."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        except OSError:
            pass  # some network file systems have no locks

    def _cut_torn_line(self) -> None:
        end = os.fstat(self._file).st_size
        while end:
            begin = max(0, end - _BLOCK_BYTES)
            end = begin + os.pread(self._file, end - begin, begin).rfind(b"\n") + 1
            if end > begin:
                break
        os.ftruncate(self._file, end)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        os.close(self._file)

    def append(self, row: LaunchRow) -> None:
        """Write one launch."""
        samples = [sample.kept() for sample in row.samples]
        counters = [row.counters] if row.counters else []
        self._write(_COMPACT_ENCODER.encode((*row[: len(COLUMNS)], samples, *counters)).encode())

    def fileno(self) -> int:
        """The descriptor that it writes to, for the launch server, which may write rows itself."""
        return self._file

    @staticmethod
    def frame(place: Place, overhead_ns: int) -> Frame:
        """The text of a row before and after the numbers of a launch that has no samples."""
        return Frame(f"[{','.join(map(str, place))},", f",{overhead_ns},[]]")

    def size(self) -> int:
        """How many bytes have been written."""
        return os.fstat(self._file).st_size

    def rows_after(self, size: int) -> list[LaunchRow]:
        """The launches written after the first `size` bytes, by any process."""
        with self.path.open("rb") as file:
            file.seek(size)
            entries = _whole_lines(file.read().splitlines())
            return [LaunchRow._make((*entry[: len(COLUMNS)], (), ())) for entry in entries]

    def discard(self, benchmark: int, pair: int) -> None:
        """Write that a pair was disturbed and will be repeated."""
        self._write(json.dumps({"discard": [benchmark, pair]}).encode())

    def set_aside(self, benchmark: int, pair: int) -> None:
        """Write that a pair was run in a way of pairing that was only tried."""
        self._write(json.dumps({"aside": [benchmark, pair]}).encode())

    def fail(self, benchmark: int, message: str) -> None:
        """Write that a benchmark failed, and the others go on."""
        self._write(json.dumps({"failed": [benchmark, message]}).encode())

    def count(self, count: Count, functions: Functions | None) -> None:
        """Write one counted launch, and its functions if it is the first of its side."""
        kept = None if functions is None else functions.model_dump(mode="json")
        self._write(json.dumps({"count": count.model_dump(mode="json"), "functions": kept}).encode())

    def note(self, finding: Finding) -> None:
        """Write what the user should know of a counted launch; a session that is killed cannot tell it at its end."""
        self._write(json.dumps({"finding": finding}, default=vars).encode())

    def heap(self, launch: HeapLaunch) -> None:
        """Write one launch whose heap was watched."""
        self._write(_COMPACT_ENCODER.encode({"heap_launch": launch.model_dump(mode="json")}).encode())

    def stretch(self, stretch: Stretch) -> None:
        """Write what went on beside launches."""
        # Not by pydantic's serializer: building it at its first use takes 2 ms, and this runs between launches.
        self._write(json.dumps({"stretch": stretch}, separators=(",", ":"), default=vars).encode())

    def name_files(self, contents: dict[str, str]) -> None:
        """Write what is in the files that commands name."""
        self._write(json.dumps({"files": contents}).encode())

    def end(self, outcome: dict[str, Any]) -> None:
        """Write how it ended: the record's fields that were not known at its start."""
        self._write(json.dumps(outcome).encode())

    def _write(self, line: bytes) -> None:
        line += b"\n"
        written = 0
        try:
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError as error:
            with suppress(OSError):  # half a line would spoil the lines that may yet follow
                os.ftruncate(self._file, os.fstat(self._file).st_size - written)
            raise UnwrittenError(f"cannot write the journal {self.path}: {_reason(error)}") from error


def _reason(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{error.strerror}; make room, or start again where XDG_STATE_HOME names a folder on another disk"
    if error.errno == errno.EFBIG:
        return f"{error.strerror}; allow larger files (ulimit -f)"
    return str(error.strerror)


def is_still_written(path: Path) -> bool:
    """Whether a process holds the journal's lock; always False where the file system has no locks."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            pass
    return False


def is_being_measured(path: Path) -> bool:
    """Whether a file is a journal that a process is writing: it holds what was measured so far."""
    try:
        return is_journal(path) and is_still_written(path)
    except OSError:  # its record has replaced it in between
        return False


def is_journal(path: Path) -> bool:
    """Whether a file that can be read as a weighing is a journal rather than a record."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        first = file.readline(_LONGEST_HEADER_BYTES)
    try:
        header = parse(first)
    except (ValueError, RecursionError):
        return False
    return first.endswith(b"\n") and isinstance(header, dict) and "launches" not in header


def assemble(data: bytes) -> dict[str, Any]:
    """Turn a journal into a record's fields; a torn last line is left out. Raises ValueError if it is no journal."""
    batches = _batches(data)
    (fields,) = next(batches)
    columns = _Columns()
    for batch in batches:
        for entry in columns.take_launches(batch):
            _add(fields, columns.unused, entry)
    fields["launches"] = columns.by_name()
    return cast("dict[str, Any]", fields)


def _add(fields: dict[str, Any], unused: dict[tuple[int, int], str], entry: Any) -> None:
    match entry:
        case {"discard": [int() as benchmark, int() as pair]}:
            unused[benchmark, pair] = DISTURBED
        case {"aside": [int() as benchmark, int() as pair]}:
            unused[benchmark, pair] = TRIED
        case {"failed": [int() as benchmark, str() as message]}:
            _add_failure(fields, benchmark, message)
        case {"count": dict() as count, "functions": functions}:
            _add_count(fields, count, functions)
        case {"finding": dict() as finding}:
            _add_finding(fields, finding)
        case {"heap_launch": dict() as launch}:
            _append_to_section(fields, "heap", "launches", launch)
        case {"stretch": dict() as stretch}:
            _append_to_section(fields, "watch", "stretches", stretch)
        case dict():
            fields.update(entry)
        case _:
            raise ValueError("a line is neither a launch nor an end")


def _add_failure(fields: dict[str, Any], benchmark: int, message: str) -> None:
    stop = fields.get("stop")
    if not isinstance(stop, list) or not 0 <= benchmark < len(stop):
        raise ValueError("a benchmark failed that is not among those of the first line")
    stop[benchmark] = "failed"
    _add_finding(fields, {"code": "failed", "message": message})


def _add_finding(fields: dict[str, Any], finding: dict[str, Any]) -> None:
    findings = fields.setdefault("findings", [])
    if not isinstance(findings, list):
        raise ValueError("`findings` is no list to add one to")
    findings.append(finding)


def _add_count(fields: dict[str, Any], count: dict[str, Any], functions: Any) -> None:
    counting = fields.get("counting")
    if not isinstance(counting, dict):
        raise ValueError("a count stands in a journal that says nothing of how it was counted")
    for name, part in (("counts", count), ("functions", functions)):
        parts = counting.setdefault(name, [])
        if not isinstance(parts, list):
            raise ValueError(f"`counting` has no {name} to add one to")
        if part is not None:
            parts.append(part)


def _append_to_section(fields: dict[str, Any], section_name: str, name: str, item: dict[str, Any]) -> None:
    """Add to a list in a part of the record that the first line may not have."""
    section = fields.get(section_name)
    if not isinstance(section, dict):
        section = fields[section_name] = {name: []}
    if not isinstance(section.get(name), list):
        raise ValueError(f"`{section_name}` has no {name} to add one to")
    section[name].append(item)


def _batches(data: bytes) -> Iterator[list[Any]]:
    """Yield the parsed lines: launches many at a time, all others one by one; a torn last line is left out."""
    offset = 0
    while offset < len(data):
        rows = _LAUNCH_LINES.match(data, offset, offset + _BATCH_BYTES)
        end = rows.end() if rows else data.find(b"\n", offset) + 1 or len(data)
        lines = data[offset:end]
        try:
            entries = parse(b"[%b]" % lines[:-1].replace(b"\n", b",")) if rows else None
        except ValueError:
            entries = None  # parsed one by one, to find the bad line and whether it is the last
        if entries is None:
            lines_before = data.count(b"\n", 0, offset)
            yield from ([entry] for entry in _whole_lines(lines.splitlines(), lines_before, is_end=end == len(data)))
        else:
            yield entries
        offset = end


def _whole_lines(lines: list[bytes], lines_before: int = 0, *, is_end: bool = True) -> Iterator[Any]:
    for number, line in enumerate(lines, start=1):
        try:
            yield parse(line)
        except ValueError as error:
            if number == len(lines) and is_end:
                return
            raise LineError(lines_before + number) from error


def _with_later_columns(entry: list[Any]) -> list[Any]:
    """Add what a launch's line lacks: counters, or columns of later versions, back to before there were harnesses."""
    lists = [part for part in entry[-2:] if isinstance(part, list)]
    numbers = entry[: len(entry) - len(lists)]
    lacking = len(COLUMNS) - len(numbers)
    for position, unknown in _LATER_COLUMNS[max(0, len(_LATER_COLUMNS) - lacking) :]:
        numbers.insert(position, unknown)
    return [*numbers, *lists, *(_NO_VALUES, _NO_VALUES)[len(lists) :]]


class _Columns:
    """The launches of a journal, in packed columns, as those of a long weighing would otherwise take gigabytes."""

    def __init__(self) -> None:
        self.unused: dict[tuple[int, int], str] = {}
        self._columns: list[Packed] = [array(INTEGERS) for _ in COLUMNS]
        self._samples: list[list[Any]] = []
        self._counters: list[list[Any]] = []

    def take_launches(self, entries: list[Any]) -> list[Any]:
        """Take the launches out of the entries, and return the rest."""
        if not all(isinstance(entry, list) for entry in entries):
            return entries
        lengths = set(map(len, entries))
        if not lengths <= _LINE_LENGTHS:
            return entries
        if len(lengths) > 1 or len(LaunchRow._fields) not in lengths:
            entries = list(map(_with_later_columns, entries))
        *columns, samples, counters = zip(*entries, strict=True)
        self._samples += samples if any(samples) else [_NO_VALUES] * len(entries)
        self._counters += counters if any(counters) else [_NO_VALUES] * len(entries)
        self._columns = list(map(extended, self._columns, columns))
        return []

    def by_name(self) -> dict[str, Packed]:
        """Each column by its name."""
        columns: dict[str, Packed] = dict(zip(COLUMNS, self._columns, strict=True))
        measured_roles = {ROLES.index(USED), ROLES.index(TRIED)}
        if self.unused:
            roles = {place: ROLES.index(role) for place, role in self.unused.items()}
            places = zip(columns["role"], columns["benchmark"], columns["pair"], strict=True)
            try:
                columns["role"] = [
                    roles.get((benchmark, pair), role) if role in measured_roles else role
                    for role, benchmark, pair in places
                ]
            except TypeError as error:
                raise ValueError("a launch stands where none can") from error
        lists_by_name = {"samples": self._samples, "counters": self._counters}
        return {**columns, **{name: lists for name, lists in lists_by_name.items() if any(lists)}}
