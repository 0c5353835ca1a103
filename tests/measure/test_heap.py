"""The library that watches the heap, in real programs: exact counts, however they run and end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.measure import heap
from steelyard.measure.launch import Launcher
from steelyard.measure.native import HEAP
from steelyard.model.errors import MeasurementError
from steelyard.model.heap import HeapUse
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests import c_programs, heap_programs
from tests.c_programs import compiled, need_valgrind
from tests.heap_programs import compiled_cpp

# Memcheck would have the C library free its own memory at the end, which it does not do by itself.
MEMCHECK = ("--run-libc-freeres=no", "--run-cxx-freeres=no")
PLAIN_MALLOC = "-fno-builtin"


Watch = Callable[..., HeapUse]
Launch = Callable[..., tuple[Measured, HeapUse | None]]


@pytest.fixture
def launch(launcher: Launcher) -> Launch:
    def launch(*words: str | Path, env: dict[str, str] | None = None) -> tuple[Measured, HeapUse | None]:
        argv = tuple(os.fsencode(word) for word in words)
        variables = tuple(f"{name}={value}".encode() for name, value in (env or {}).items())
        with heap.HeapWatcher().attached(LaunchSpec(argv[0], argv, variables)) as attachment:
            measured = launcher.launch(attachment.spec)
            return measured, attachment.read(measured)

    return launch


@pytest.fixture
def watch(launch: Launch) -> Watch:
    def watch(*words: str | Path, **options: dict[str, str]) -> HeapUse:
        measured, use = launch(*words, **options)
        assert not measured.has_failed(), measured
        assert use is not None
        return use

    return watch


def totals(use: HeapUse) -> tuple[int, int, int]:
    return use.allocations, use.frees, use.bytes


def memcheck(*words: str | Path) -> tuple[int, ...]:
    """Return (allocations, frees, bytes) as Valgrind's Memcheck counts them."""
    command = [need_valgrind(), "--tool=memcheck", *MEMCHECK, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={})
    found = re.search(r"total heap usage: ([\d,]+) allocs, ([\d,]+) frees, ([\d,]+) bytes", done.stderr)
    assert found, done.stderr
    return tuple(int(number.replace(",", "")) for number in found.groups())


# --- exact, against Valgrind


def test_every_function_is_counted_as_valgrind_does(watch: Watch, tmp_path: Path) -> None:
    program = compiled(tmp_path, "every", heap_programs.EVERY, PLAIN_MALLOC)
    use = watch(program)
    assert totals(use) == memcheck(program)
    assert use.reallocations == 4
    assert (use.processes, use.forked) == (1, 0)
    assert use.allocator_ns is not None


def test_operator_new_is_counted_as_valgrind_does(watch: Watch, tmp_path: Path) -> None:
    program = compiled_cpp(tmp_path, "every_new", heap_programs.EVERY_NEW)
    use = watch(program)
    assert totals(use) == memcheck(program)
    assert use.allocations > 3000


def test_a_library_opened_later_is_counted_as_valgrind_does(watch: Watch, tmp_path: Path) -> None:
    library = compiled(tmp_path, "library.so", heap_programs.LIBRARY, "-shared", "-fPIC", PLAIN_MALLOC)
    program = compiled(tmp_path, "opens", heap_programs.OPENS, "-ldl")
    use = watch(program, library)
    assert totals(use) == memcheck(program, library)
    assert use.allocations >= 50


def test_a_program_that_allocates_nothing_has_zeros(watch: Watch, tmp_path: Path) -> None:
    use = watch(compiled(tmp_path, "nothing", c_programs.NOTHING))
    assert totals(use) == (0, 0, 0)
    assert (use.peak_bytes, use.allocator_ns) == (0, 0)


def test_of_large_blocks_alone_the_time_is_known_as_well(watch: Watch, tmp_path: Path) -> None:
    use = watch(compiled(tmp_path, "large", heap_programs.LARGE, PLAIN_MALLOC))
    assert totals(use) == (1, 1, 1 << 20)
    assert use.allocator_ns is not None
    assert use.allocator_ns > 0


# --- exact, by construction


@pytest.mark.parametrize("threads", [1, 5, 600])
def test_threads_add_up(watch: Watch, tmp_path: Path, threads: int) -> None:
    program = compiled(tmp_path, "threads", heap_programs.THREADS, PLAIN_MALLOC)
    nothing, use = watch(program, "0"), watch(program, str(threads))
    beside = use.allocations - nothing.allocations - 1000 * threads
    assert 0 <= beside <= 2 * threads  # what the C library allocates for a thread
    assert use.frees - nothing.frees - 500 * threads <= beside
    asked = sum(range(1000)) * threads
    assert use.bytes >= asked
    not_told = 0 if threads == 1 else 65536 * threads
    assert asked - not_told <= use.peak_bytes < 1.05 * asked + not_told


def test_threads_one_after_the_other_add_up(watch: Watch, tmp_path: Path) -> None:
    program = compiled(tmp_path, "many_threads", heap_programs.MANY_THREADS, PLAIN_MALLOC)
    use = watch(program)
    assert use.frees == 1000
    assert 1000 < use.allocations < 1010
    assert use.peak_bytes < 10_000


def test_the_peak_is_exact(watch: Watch, tmp_path: Path) -> None:
    program = compiled(tmp_path, "peak", heap_programs.PEAK, PLAIN_MALLOC)
    use = watch(program)
    assert (use.allocations, use.frees, use.bytes) == (300, 300, 300_000)
    assert use.peak_bytes == 100 * 1008  # with the 8 bytes before each block, a multiple of 16


def test_forked_children_add_up(watch: Watch, tmp_path: Path) -> None:
    use = watch(compiled(tmp_path, "forks", heap_programs.FORKS, PLAIN_MALLOC))
    assert totals(use) == (18, 1, 18_000)
    assert (use.processes, use.forked) == (1, 3)
    assert use.peak_bytes == 10 * 1008


def test_executed_programs_add_up(watch: Watch, tmp_path: Path) -> None:
    peak = compiled(tmp_path, "peak", heap_programs.PEAK, PLAIN_MALLOC)
    child = watch(compiled(tmp_path, "forks", c_programs.FORKS_AND_EXECUTES), peak)
    again = watch(compiled(tmp_path, "again", c_programs.AGAIN))
    assert (child.allocations, child.processes, child.forked) == (300, 2, 1)
    assert (again.processes, again.forked) == (2, 0)


@pytest.mark.parametrize("how", ["return", "_exit", "abort", "crash", "kill"])
def test_the_numbers_are_there_however_it_ends(launch: Launch, tmp_path: Path, how: str) -> None:
    program = compiled(tmp_path, "ends", heap_programs.ENDS, PLAIN_MALLOC)
    measured, use = launch(program, how)
    killed_by = {"abort": signal.SIGABRT, "crash": signal.SIGSEGV, "kill": signal.SIGKILL}.get(how)
    assert measured.signal == killed_by
    assert use is not None
    assert (use.allocations, use.bytes) == (1234, 12340)


def test_a_signal_handler_may_allocate(watch: Watch, tmp_path: Path) -> None:
    use = watch(compiled(tmp_path, "signals", heap_programs.SIGNALS, PLAIN_MALLOC))
    assert totals(use) == (2000, 2000, 50_000)
    use = watch(compiled(tmp_path, "timer", heap_programs.TIMER, PLAIN_MALLOC))
    assert use.allocations == use.frees
    assert use.allocations >= 500


# --- other allocators, other languages


def test_an_allocator_in_a_library_is_watched_as_well(watch: Watch, tmp_path: Path) -> None:
    library = compiled(tmp_path, "other.so", heap_programs.OTHER, "-shared", "-fPIC", PLAIN_MALLOC)
    program = compiled(tmp_path, "peak", heap_programs.PEAK, PLAIN_MALLOC)
    use = watch(program, env={"LD_PRELOAD": str(library)})
    assert (use.allocations, use.frees, use.bytes, use.peak_bytes) == (300, 300, 300_000, 100_000)


def test_a_program_with_its_own_malloc_is_not_seen_to_allocate(watch: Watch, tmp_path: Path) -> None:
    use = watch(compiled(tmp_path, "own", heap_programs.OWN, PLAIN_MALLOC))
    assert use.allocations == 0


def test_python_repeats_and_is_recognised(watch: Watch) -> None:
    words = (sys.executable, "-ISc", "import json, threading; json.dumps([{'a': i} for i in range(1000)])")
    env = {"PYTHONHASHSEED": "1"}
    few = watch(*words, env=env)
    every = watch(sys.executable, "-Sc", words[-1], env={**env, "PYTHONMALLOC": "malloc"})
    assert few.allocations > 100
    assert every.allocations > 10 * few.allocations
    assert heap.own_allocator(Path(sys.executable)) == "Python"


@pytest.mark.real
@pytest.mark.parametrize(("text", "name"), [("<jemalloc>: ", "jemalloc"), ("mimalloc: ", "mimalloc")])
def test_an_allocator_inside_is_recognised(tmp_path: Path, text: str, name: str) -> None:
    source = f'#include <stdio.h>\nint main(void) {{ return puts("{text}") < 0; }}'
    assert heap.own_allocator(compiled(tmp_path, "inside", source)) == name


def test_a_program_of_go_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "go").write_bytes(b"\x7fELF\xff Go buildinf:")
    assert heap.own_allocator(tmp_path / "go") == "Go"


@pytest.mark.real
def test_nothing_is_found_where_there_is_nothing(tmp_path: Path) -> None:
    assert heap.own_allocator(compiled(tmp_path, "plain", c_programs.NOTHING)) is None
    (tmp_path / "empty").touch()
    assert heap.own_allocator(tmp_path / "empty") is None
    assert heap.own_allocator(tmp_path / "missing") is None


# --- what cannot be watched


def test_a_static_program_leaves_nothing(launch: Launch, tmp_path: Path) -> None:
    program = compiled(tmp_path, "static", c_programs.NOTHING, "-static")
    measured, use = launch(program)
    assert (measured.exit_code, use) == (0, None)


def test_a_library_that_is_missing_is_told_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HEAP", "SCATTER"):
        monkeypatch.setattr(heap, name, tmp_path / "missing.so")
    spec = LaunchSpec(b"/bin/true", (b"/bin/true",), ())
    with pytest.raises(MeasurementError, match="which --heap preloads: reinstall"), heap.HeapWatcher().attached(spec):
        pass
    with pytest.raises(MeasurementError, match="which --heap-shuffle preloads: reinstall"):
        heap.scattered(spec, 1)


# --- a heap in a drawn state


def addresses(launcher: Launcher, tmp_path: Path, program: Path, seed: int | None) -> list[int]:
    """Return the addresses of the program's first blocks; all other addresses are the same in each launch."""
    path, out = os.fsencode(program), tmp_path / "out"
    spec = LaunchSpec(path, (path,), (b"A=1",), stdout=os.fsencode(out), fixed_layout=True)
    measured = launcher.launch(spec if seed is None else heap.scattered(spec, seed))
    assert not measured.has_failed(), measured
    return [int(line, 16) for line in out.read_text().split()]


def test_the_state_of_the_heap_is_that_of_the_seed(launcher: Launcher, tmp_path: Path) -> None:
    program = compiled(tmp_path, "shows", heap_programs.SHOWS, PLAIN_MALLOC)
    plain = addresses(launcher, tmp_path, program, None)
    if plain != addresses(launcher, tmp_path, program, None):
        pytest.skip("addresses cannot be fixed here")
    seeds = range(1, 21)
    drawn = [addresses(launcher, tmp_path, program, seed) for seed in seeds]
    assert drawn == [addresses(launcher, tmp_path, program, seed) for seed in seeds]
    assert all(len({blocks[place] for blocks in drawn}) > 10 for place in range(len(plain)))
    # They also move within a page, and not all by the same step.
    assert len({blocks[0] % 4096 for blocks in drawn}) > 10
    assert len({blocks[1] - blocks[0] for blocks in drawn}) > 5


def test_a_heap_in_a_drawn_state_bears_what_any_heap_does(launcher: Launcher, tmp_path: Path) -> None:
    programs = [
        compiled(tmp_path, "every", heap_programs.EVERY, PLAIN_MALLOC),
        compiled(tmp_path, "forks", heap_programs.FORKS, PLAIN_MALLOC),
        compiled(tmp_path, "static", c_programs.NOTHING, "-static"),
    ]
    for program in programs:
        for seed in (0, 1, 2**32 - 1):
            path = os.fsencode(program)
            assert not launcher.launch(heap.scattered(LaunchSpec(path, (path,), ()), seed)).has_failed()


def test_what_is_scattered_is_not_counted(watch: Watch, tmp_path: Path) -> None:
    program = compiled(tmp_path, "peak", heap_programs.PEAK, PLAIN_MALLOC)
    env = dict(entry.decode().split("=", 1) for entry in heap.scattered(LaunchSpec(b"a", (b"a",), ()), 7).env)
    assert watch(program, env=env).allocations == 300


# --- how it is preloaded, and what is read


def test_what_is_preloaded_anyway_stays() -> None:
    spec = LaunchSpec(b"a", (b"a",), (b"A=1", b"LD_PRELOAD=/lib/other.so", b"B=x=y"))
    with heap.HeapWatcher().attached(spec) as attachment:
        *before, folder = attachment.spec.env
        assert Path(os.fsdecode(folder.removeprefix(b"STEELYARD_HEAP="))).is_dir()
    assert before == [b"A=1", b"LD_PRELOAD=%s:/lib/other.so" % os.fsencode(HEAP), b"B=x=y"]


@pytest.mark.parametrize("length", [8, 128, 255])
def test_numbers_that_are_cut_off_are_an_error(tmp_path: Path, length: int) -> None:
    (tmp_path / "1-0").write_bytes(b"STEELYH1".ljust(length, b"\0"))
    with pytest.raises(MeasurementError, match="cut off"):
        heap.read_use(tmp_path)


def test_a_pipe_in_their_place_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "1-0")
    with pytest.raises(MeasurementError, match="cut off"):
        heap.read_use(tmp_path)


def test_a_file_that_finds_room_for_its_beginning_alone_is_an_error_and_no_number(launch: Launch) -> None:
    with pytest.raises(MeasurementError, match=r"cut off .* is there room left"):
        launch("/bin/sh", "-c", "ulimit -f 8; exec /bin/true")


def test_a_file_that_cannot_be_mapped_is_an_error_and_no_number(launch: Launch, tmp_path: Path) -> None:
    library = compiled(tmp_path, "no_maps.so", heap_programs.NO_SHARED_MAPS, "-shared", "-fPIC")
    program = compiled(tmp_path, "peak", heap_programs.PEAK)
    with pytest.raises(MeasurementError, match=r"cut off .* mapped into memory\? TMPDIR"):
        launch(program, env={"LD_PRELOAD": str(library)})


def test_no_folder_for_temporary_files(watch: Watch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    with pytest.raises(MeasurementError, match=r"temporary files cannot be used \(No such file.*--heap.*TMPDIR"):
        watch("/bin/true")


def test_without_a_folder_the_program_runs_all_the_same(launcher: Launcher, tmp_path: Path) -> None:
    program = compiled(tmp_path, "peak", heap_programs.PEAK)
    for folder in ("/nowhere/at/all", "x" * 5000, ""):
        env = (b"LD_PRELOAD=%s" % os.fsencode(HEAP), b"STEELYARD_HEAP=%s" % folder.encode())
        path = os.fsencode(program)
        assert not launcher.launch(LaunchSpec(path, (path,), env)).has_failed()
