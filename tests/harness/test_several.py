"""Shared starts: several benchmarks, each in a process forked from one start, beside those of another launch."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest

from steelyard.model.numbers import ALWAYS_KNOWN, NUMBERS
from tests.harness.conftest import Write
from tests.harness.driving import HARNESS, Called, call, each_arguments, parts_of

pytestmark = pytest.mark.real

SUITE = """
    import os
    print("loaded", os.getpid())

    @bench
    def one(): print("one", os.getpid())
    @bench
    def two(): print("two", os.getpid())
"""
NAMES = ("bench_x.py::one", "bench_x.py::two")


def processes(said: str) -> list[tuple[str, ...]]:
    """Return the words of each printed line, each line once."""
    return [*dict.fromkeys(tuple(line.split()) for line in said.splitlines())]


def test_each_has_a_process_of_its_own_and_the_file_is_loaded_once(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # what benchmarks print must arrive without it, too
    called = call([*HARNESS, write(SUITE)], each_arguments(*reversed(NAMES)))
    said = processes(called.stdout)
    assert [word for word, _ in said] == ["loaded", "two", "one"]
    assert len({pid for _, pid in said}) == 3
    assert [[line["loops"] for line in part.body] for part in parts_of(called)] == [[3, 3], [3, 3]]


def test_each_runs_the_exit_handlers_that_it_set_and_leaves_the_others_to_the_start(write: Write) -> None:
    """pytest sets one where a test asks for `tmp_path`, without which the folder of every launch would stay."""
    path = write(
        """
        import atexit
        atexit.register(print, "start")
        @bench
        def sets():
            atexit.register(print, "own")
            yield lambda: None
        @bench
        def fails():
            atexit.register(print, "own of fails")
            1 / 0
        """
    )
    called = call([*HARNESS, path], each_arguments("bench_x.py::sets", "bench_x.py::fails"))
    assert called.stdout.splitlines() == ["own", "own of fails", "start"]


def test_a_pool_that_is_left_open_ends_with_its_benchmark(write: Write) -> None:
    path = write(
        """
        @bench
        def pooled():
            from concurrent.futures import ProcessPoolExecutor
            global pool
            pool = ProcessPoolExecutor(1)
            pool.submit(len, "").result()
            yield lambda: None
        """
    )
    (part,) = parts_of(call([*HARNESS, path], each_arguments("bench_x.py::pooled")))
    assert part.status == 0


def test_what_is_told_of_a_process(write: Write) -> None:
    (part,) = call([*HARNESS, write(SUITE)], each_arguments(NAMES[0])).body
    numbers = part["numbers"]
    assert set(numbers) <= set(NUMBERS)
    assert all(numbers[name] is not None for name in ALWAYS_KNOWN)
    assert 0 < numbers["cpu_ns"] <= numbers["wall_ns"]
    assert (numbers["exit_code"], numbers["signal"]) == (0, None)


def test_one_that_fails_leaves_the_others(write: Write) -> None:
    path = write("@bench\ndef bad(): 1 / 0\n@bench\ndef good(): ...")
    bad, good = parts_of(call([*HARNESS, path], each_arguments("bench_x.py::bad", "bench_x.py::good")))
    assert (bad.status, bad.error) == (1, "bench_x.py:3: ZeroDivisionError: division by zero")
    assert good.status == 0


def test_one_that_dies_leaves_the_others(write: Write) -> None:
    path = write("import os\n@bench\ndef dies(): os.kill(os.getpid(), 9)\n@bench\ndef good(): ...")
    called = call([*HARNESS, path], each_arguments("bench_x.py::dies", "bench_x.py::good"))
    dead, good = called.body
    assert (dead["numbers"]["signal"], dead["results"]) == (9, "")
    assert good["numbers"]["exit_code"] == 0


def test_one_that_is_not_there_is_no_launch(write: Write) -> None:
    called = call([*HARNESS, write(SUITE)], each_arguments(NAMES[0], "bench_x.py::three"))
    assert called.error == "no benchmark is called 'bench_x.py::three'"
    assert "one" not in called.stdout


def test_threads_are_in_no_other_process(write: Write) -> None:
    path = write(
        "import threading, time\nthreading.Thread(target=time.sleep, args=[0.2]).start()\n@bench\ndef one(): ..."
    )
    assert call([*HARNESS, path], each_arguments(NAMES[0])).error == "2 threads run when the benchmarks are loaded"


def test_threads_that_numpy_may_have_begun_are_told_a_way_out(write: Write) -> None:
    path = write(
        "import sys, threading, time\nsys.modules['numpy'] = sys\n"
        "threading.Thread(target=time.sleep, args=[0.2]).start()\n@bench\ndef one(): ..."
    )
    begun = "2 threads run when the benchmarks are loaded"
    way_out = "; if numpy's OpenBLAS began them, --env OPENBLAS_NUM_THREADS=1 has it begin none"
    begins_some = call(["env", "-u", "OPENBLAS_NUM_THREADS", *HARNESS, path], each_arguments(NAMES[0]))
    assert begins_some.error == begun + way_out
    begins_none = call(["env", "OPENBLAS_NUM_THREADS=1", *HARNESS, path], each_arguments(NAMES[0]))
    assert begins_none.error == begun


def test_threads_that_pyarrow_may_have_begun_are_told_a_way_out(write: Write) -> None:
    path = write(
        "import sys, threading, time\nsys.modules['pyarrow'] = sys\n"
        "threading.Thread(target=time.sleep, args=[9], daemon=True).start()\n@bench\ndef one(): ..."
    )
    setting = "JE_ARROW_MALLOC_CONF=background_thread:false"
    assert f"--env {setting} " in call([*HARNESS, path], each_arguments(NAMES[0])).error
    assert "--env" not in call(["env", setting, *HARNESS, path], each_arguments(NAMES[0])).error


def test_one_whose_threads_do_the_work_cannot_run_so(write: Write) -> None:
    """Here both sides share one processor."""
    path = write(
        """
        from threading import Thread
        @bench
        def threaded():
            thread = Thread(target=sum, args=[range(300_000)])
            thread.start()
            thread.join()
        """
    )
    (part,) = parts_of(call([*HARNESS, path], each_arguments("bench_x.py::threaded")))
    assert part.error == "others do some of its work"


def test_collecting_garbage_copies_nothing_that_the_processes_share(write: Write) -> None:
    """Unless garbage collection is part of what is measured."""
    path = write(
        """
        import gc
        @bench
        def off(): assert gc.get_freeze_count() > 1000
        @bench(gc=True)
        def on(): assert gc.get_freeze_count() == 0
        """
    )
    parts = parts_of(call([*HARNESS, path], each_arguments("bench_x.py::off", "bench_x.py::on")))
    assert [part.status for part in parts] == [0, 0]


def beside(command: list[str | Path], folder: Path, orders: str) -> list[list[int | None]]:
    """Run two launches of both benchmarks in lockstep, the first with these orders; return all samples' orders."""
    opposite = orders.translate(str.maketrans("01", "10"))
    ours, theirs = socket.socketpair()
    launches = []
    for end, own in ((ours, orders), (theirs, opposite)):
        answer = folder / f"answer-{own}"
        with end, answer.open("wb") as file:
            fds = [file.fileno(), end.fileno()]
            words = [*each_arguments(*NAMES, orders=own, fd=fds[1]), f"--steelyard-fd={fds[0]}"]
            launches.append((subprocess.Popen([*command, *words], pass_fds=fds, stdout=subprocess.DEVNULL), answer))
    found = []
    for process, answer in launches:
        assert process.wait(30) == 0
        called = Called(0, answer.read_bytes(), "", "")
        found += [[line.get("order") for line in part.body] for part in parts_of(called)]
    return found


def test_samples_are_taken_in_turn_with_those_of_the_other_launch(write: Write, tmp_path: Path) -> None:
    assert beside([*HARNESS, write(SUITE)], tmp_path, "01") == [[0, 1], [0, 1], [1, 0], [1, 0]]


def test_one_that_fails_is_not_waited_for_though_what_it_forked_goes_on(write: Write, tmp_path: Path) -> None:
    path = write(
        """
        import os, select
        reader, writer = os.pipe()
        @bench
        def one():
            if os.fork() == 0:
                os.close(writer)
                select.select([reader], [], [], 40)  # until the start has ended
                os._exit(0)
            def body():
                try:
                    os.mkdir(__file__ + ".first")
                except FileExistsError:
                    return
                raise ValueError
            yield body
        @bench
        def two(): ...
        """
    )
    first_one, first_two, second_one, second_two = beside([*HARNESS, path], tmp_path, "01")
    assert (first_two, second_two) == ([0, 1], [1, 0])
    assert [None] in (first_one, second_one)  # the error


def test_without_the_other_launch_they_are_taken_alone(write: Write) -> None:
    ours, theirs = socket.socketpair()
    theirs.close()
    reader, writer = os.pipe()
    words = [*each_arguments(*NAMES, orders="10", fd=ours.fileno()), f"--steelyard-fd={writer}"]
    with ours:
        process = subprocess.run(
            [*HARNESS, write(SUITE), *words],
            pass_fds=[writer, ours.fileno()],
            capture_output=True,
            timeout=30,
            check=False,
        )
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        assert b"order" not in pipe.read()
    assert process.returncode == 0


@pytest.mark.parametrize("words", [["1:1:0:2:a"], ["0:1:0::a"]])
def test_what_cannot_be_followed(write: Write, words: list[str]) -> None:
    arguments = ["--steelyard-protocol=1", *(f"--steelyard-each={word}" for word in words)]
    assert "--steelyard-" in call([*HARNESS, write(SUITE)], arguments).error
