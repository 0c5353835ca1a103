"""The heap of a launch: a preloaded library (`native/heap`) counts its use, and leaves the numbers in files."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from steelyard.measure.elf import started_by
from steelyard.measure.instrument import Attachment, Timer
from steelyard.measure.native import HEAP, SCATTER
from steelyard.measure.preloading import preloaded
from steelyard.measure.scratch import opened, room_for, scratch_folder
from steelyard.model.errors import MeasurementError
from steelyard.model.heap import HeapUse
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured

FOLDER_NAME = b"STEELYARD_HEAP"
SEED_NAME = b"STEELYARD_HEAP_SEED"
# A file, as `native/heap/src/block.rs` lays it out: 64-bit numbers, a header and then one slot per thread.
_MAGIC = b"STEELYH1"
_HEADER = struct.Struct("=8s6q")
_SLOT = struct.Struct("=6q24x2q")
_SLOT_BYTES = 128
# The header and 255 slots.
_LONGEST_BYTES = 256 * _SLOT_BYTES
# Allocators that programs bring along, by a text that their code contains.
_ALLOCATORS = {b"<jemalloc>": "jemalloc", b"tcmalloc": "tcmalloc", b"mimalloc: ": "mimalloc", b"snmalloc": "snmalloc"}
_GO = b"\xff Go buildinf:"
_PYTHON = (b"PYTHONMALLOC", b"libpython3")


def own_allocator(program: Path) -> str | None:
    """Return the allocator built into a program, as far as its file tells: `jemalloc`, `Go`, `Python` and others."""
    started = started_by(program)
    if started is None:
        return None
    try:
        with started.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if any(data.find(word) >= 0 for word in _PYTHON):
                return "Python"
            if data.find(_GO) >= 0:
                return "Go"
            return next((name for word, name in _ALLOCATORS.items() if data.find(word) >= 0), None)
    except (OSError, ValueError):  # an empty file cannot be mapped
        return None


@dataclass(frozen=True, slots=True)
class _Watched:
    spec: LaunchSpec
    folder: Path

    def without_instrument(self, measured: Measured) -> Measured:
        return measured

    def read(self, measured: Measured) -> HeapUse | None:  # noqa: ARG002 - it is in the folder
        return read_use(self.folder)


class HeapWatcher:
    """Preloads a library, ahead of any other preload, that counts what the launch asks of its heap."""

    when_late = Timer.when_late

    @contextmanager
    def attached(self, spec: LaunchSpec) -> Iterator[Attachment[HeapUse | None]]:
        """Attach the library to the launch; it leaves its numbers in a folder of its own.

        Raises MeasurementError if the library is missing, if the loader cannot take its path, or if the folder cannot
        be used.
        """
        if not HEAP.exists():
            raise MeasurementError(f"{HEAP} is missing, which --heap preloads: reinstall steelyard")
        # The heap is not scattered: the library would count the allocations.
        env = tuple(entry for entry in spec.env if not entry.startswith(SEED_NAME + b"="))
        with room_for("--heap needs"), scratch_folder("heap") as folder:
            watched = preloaded(replace(spec, env=env), HEAP, {FOLDER_NAME: os.fsencode(folder)})
            yield _Watched(watched, folder)


def scattered(spec: LaunchSpec, seed: int) -> LaunchSpec:
    """Return the launch with its heap put into a state drawn from the seed before the program begins.

    No function of the allocator is replaced. Raises MeasurementError if the library is missing or the loader cannot
    take its path.
    """
    if not SCATTER.exists():
        raise MeasurementError(f"{SCATTER} is missing, which --heap-shuffle preloads: reinstall steelyard")
    return preloaded(spec, SCATTER, {SEED_NAME: b"%d" % seed})


@dataclass(frozen=True)
class _Process:
    forked: bool
    calls: tuple[int, int, int]
    bytes: int
    peak_bytes: int
    ns: int
    samples: int


def read_use(folder: Path) -> HeapUse | None:
    """Return the sum of what the processes of a launch left in the folder; None if there is nothing.

    The peak is the largest of any process. Raises MeasurementError for a file that is incomplete or not the library's.
    """
    processes = [_read(path) for path in sorted(folder.iterdir())]
    if not processes:
        return None
    allocated, freed, moved = (sum(counts) for counts in zip(*(process.calls for process in processes), strict=True))
    # Large blocks are no samples, as all of them are timed.
    timed = any(process.samples or process.ns for process in processes) or not allocated
    return HeapUse(
        allocations=allocated + moved,
        frees=freed + moved,
        reallocations=moved,
        bytes=sum(process.bytes for process in processes),
        peak_bytes=max(process.peak_bytes for process in processes),
        allocator_ns=max(0, sum(process.ns for process in processes)) if timed else None,
        processes=sum(not process.forked for process in processes),
        forked=sum(process.forked for process in processes),
    )


def _read(path: Path) -> _Process:
    try:
        with opened(path) as file:
            data = file.read(_LONGEST_BYTES)
    except OSError:  # the program has replaced it by something else
        data = b""
    if len(data) < 2 * _SLOT_BYTES or not data.startswith(_MAGIC):
        raise MeasurementError(
            f"the numbers of the heap are cut off ({path.name}): is there room left in the folder for temporary files, "
            "and can its files be mapped into memory? TMPDIR names another"
        )
    _, _, forked, _, _, live, peak = _HEADER.unpack_from(data)
    places = range(_SLOT_BYTES, len(data) - _SLOT_BYTES + 1, _SLOT_BYTES)
    slots = [_SLOT.unpack_from(data, place) for place in places]
    allocated, freed, moved, asked, pending, high, ns, samples = (sum(column) for column in zip(*slots, strict=True))
    # Adds what threads have not reported yet: exact for one thread, otherwise at most 64 KiB a thread too high.
    peak = max(peak, live + high, live + pending)
    return _Process(bool(forked), (allocated, freed, moved), asked, max(0, peak), ns, samples)
