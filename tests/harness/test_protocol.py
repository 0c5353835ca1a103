"""The protocol's two calls, as a driver makes them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import steelyard
from tests.harness.conftest import Write
from tests.harness.driving import (
    HARNESS,
    LIST,
    VERSION,
    call,
    each_arguments,
    listed,
    parts_of,
    ran,
    run_arguments,
)

SUITE = """
    import asyncio

    @bench(tags=["quick"])
    def plain(): ...

    @bench(n=[1, 20], kind=["a b", "it's \\"ü\\"", "--x=y"])
    def params(n, kind): ...

    @bench
    def generator():
        print("set up")
        yield lambda: print("body")
        print("torn down")

    @bench
    async def awaited():
        await asyncio.sleep(0)

    @bench(inputs=lambda random: random.getrandbits(64))
    def drawn(data):
        print(data)
"""


def test_the_list(write: Write) -> None:
    called = listed(write(SUITE))
    assert called.lines[0]["harness"] == f"steelyard.harness {steelyard.__version__}"
    assert called.names[:1] + called.names[7:] == [
        f"bench_x.py::{n}" for n in ("plain", "generator", "awaited", "drawn")
    ]
    assert called.body[0] == {"benchmark": "bench_x.py::plain", "tags": ["quick"], "source": "bench_x.py:5"}
    assert called.body[5] == {
        "benchmark": 'bench_x.py::params[n=20,kind=it\'s "ü"]',
        "params": {"n": "20", "kind": 'it\'s "ü"'},
        "source": "bench_x.py:8",
    }
    assert called.stdout == ""


def test_others_run_before_in_the_same_process(write: Write) -> None:
    path = write(SUITE)
    called = call([*HARNESS, path], [*run_arguments("bench_x.py::drawn"), "--steelyard-before=2:bench_x.py::generator"])
    assert called.lines[0]["before"] is True
    assert [line["loops"] for line in called.body] == [3, 3]
    assert called.stdout.split()[:6] == ["set", "up", "body", "body", "torn", "down"]
    absent = call([*HARNESS, path], [*run_arguments("bench_x.py::plain"), "--steelyard-before=2:absent"])
    assert "absent" in absent.error


def test_the_list_is_the_same_under_any_hash_seed(write: Write) -> None:
    path = write("@bench(n=[{'a', 'b'}, object(), 3], m=['x', 'y'])\ndef work(n, m): ...")
    one, other = (call([*HARNESS, path], LIST, env={"PYTHONHASHSEED": seed}) for seed in "12")
    assert one.written == other.written


def test_every_benchmark_of_the_list_runs(write: Write) -> None:
    path = write(SUITE)
    called = [ran(path, "bench_x.py::plain"), *parts_of(call([*HARNESS, path], each_arguments(*listed(path).names)))]
    assert len(called) == 1 + 10
    for one in called:
        assert one.status == 0, one.stderr
        assert [line["loops"] for line in one.body] == [3, 3]
        for line in one.body:
            assert set(line) == {"loops", "ns", "cpu_ns", "delay_ns"}
            assert all(type(value) is int for value in line.values())
            assert line["ns"] > 0


def test_what_the_program_prints_stays_its_own(write: Write) -> None:
    called = ran(write(SUITE), "bench_x.py::generator", loops=2, samples=1)
    assert called.stdout.split("\n") == ["set up", "body", "body", "torn down", ""]


def test_inputs_depend_on_the_seed_alone(write: Write) -> None:
    path = write(SUITE)
    one, again, other = (ran(path, "bench_x.py::drawn", 2, 3, seed).stdout.split() for seed in (5, 5, 6))
    assert one == again
    assert one[0] == one[1] != one[2] == one[3] != one[4]
    assert not set(one) & set(other)


def test_the_collector(write: Write) -> None:
    path = write(
        """
        import gc, weakref

        class Cycle: ...

        @bench(gc=True)
        def on(): print(gc.isenabled())

        @bench
        def off():
            cycle = Cycle()
            cycle.self = cycle
            alive = weakref.ref(cycle)
            del cycle
            yield lambda: print(gc.isenabled(), alive() is None)
            print(gc.isenabled())
        """
    )
    assert ran(path, "bench_x.py::on", 1, 1).stdout == "True\n"
    assert ran(path, "bench_x.py::off", 1, 1).stdout == "False True\nTrue\n"


@pytest.mark.parametrize(
    ("skip", "said"),
    [
        ("import unittest; raise unittest.SkipTest('no device')", "it skipped itself: no device"),
        ("import unittest; raise type('Own', (unittest.SkipTest,), {})", "it skipped itself"),
        ("import pytest; pytest.skip('no device')", "it skipped itself: no device"),
    ],
)
def test_a_benchmark_that_skips_itself(write: Write, skip: str, said: str) -> None:
    path = write(f"@bench\ndef work(): {skip}")
    forked = parts_of(call([*HARNESS, path], each_arguments("bench_x.py::work")))
    for called in (ran(path, "bench_x.py::work"), *forked):
        assert called.status == 1
        assert called.body == [{"error": said, "skipped": True}]
        assert "Traceback" not in called.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (run_arguments("bench_x.py::plain "), "no benchmark is called 'bench_x.py::plain '"),
        (run_arguments("nothing"), "no benchmark is called 'nothing'"),
        (run_arguments("bench_x.py::plain", loops=0), "--steelyard-loops=0"),
        (run_arguments("bench_x.py::plain", loops="abc"), "--steelyard-loops=abc"),
        (run_arguments("bench_x.py::plain", samples=10_001), "--steelyard-samples=10001"),
        (run_arguments("bench_x.py::plain", seed=-1), "--steelyard-seed=-1"),
        (["--steelyard-protocol=2", "--steelyard-list"], "this harness speaks version 1"),
        (["--steelyard-list"], "--steelyard-protocol is missing"),
        ([VERSION], "say one of"),
    ],
)
def test_bad_arguments(write: Write, arguments: list[str], said: str) -> None:
    called = call([*HARNESS, write(SUITE)], arguments)
    assert said in called.error
    assert said in called.stderr
    assert called.status == 2


def test_arguments_of_later_versions_are_ignored(write: Write) -> None:
    path = write(SUITE)
    later = ["--steelyard-of-a-later-version=1", "--steelyard-other"]
    assert call([*HARNESS, path], [*later, *LIST]).written == listed(path).written


@pytest.mark.parametrize("fd", ["--steelyard-fd=abc", "--steelyard-fd=987654", "--steelyard-other=1"])
def test_nowhere_to_respond(write: Write, fd: str) -> None:
    found = subprocess.run([*HARNESS, write(SUITE), *LIST, fd], capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert "--steelyard-fd=" in found.stderr
    assert "Traceback" not in found.stderr


def test_a_descriptor_that_cannot_be_written(write: Write) -> None:
    reader, writer = os.pipe()
    os.close(writer)
    arguments = [*LIST, f"--steelyard-fd={reader}"]
    found = subprocess.run(
        [*HARNESS, write(SUITE), *arguments], capture_output=True, text=True, check=False, pass_fds=[reader]
    )
    os.close(reader)
    assert found.returncode == 2
    assert f"cannot answer on --steelyard-fd={reader}" in found.stderr


def test_the_descriptor_stays_closed_in_what_the_body_executes(write: Write) -> None:
    path = write(
        """
        import os, subprocess, sys

        @bench
        def work():
            fd = int(os.environ["WHERE"])
            os.fstat(fd)
            program = f"import os\\ntry: os.fstat({fd})\\nexcept OSError: print('closed')"
            print(subprocess.run([sys.executable, "-c", program], close_fds=False, capture_output=True).stdout)
        """
    )
    reader, writer = os.pipe()
    arguments = [*run_arguments("bench_x.py::work", 1, 1), f"--steelyard-fd={writer}"]
    environment = {**os.environ, "WHERE": str(writer)}
    found = subprocess.run(
        [*HARNESS, path, *arguments], capture_output=True, text=True, check=True, pass_fds=[writer], env=environment
    )
    os.close(reader)
    os.close(writer)
    assert found.stdout == "b'closed\\n'\n"


def test_a_body_that_forks_responds_once(write: Write) -> None:
    path = write("import os\n@bench\ndef work(): os.fork()")
    called = ran(path, "bench_x.py::work", 1, 1)
    assert len(called.body) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("@bench\ndef work(): return {}['k']", "bench_x.py:3: KeyError: 'k'"),
        ("@bench\ndef work():\n  1 / 0\n  yield int", "bench_x.py:4: ZeroDivisionError: division by zero"),
        ("@bench\ndef work():\n  yield int\n  1 / 0", "bench_x.py:5: ZeroDivisionError"),
        ("@bench\nasync def work(): 1 / 0", "bench_x.py:3: ZeroDivisionError"),
        ("@bench(inputs=lambda r: 1 / 0)\ndef work(x): ...", "bench_x.py:2: ZeroDivisionError"),
        ("@bench\ndef work(): raise SystemExit(0)", "bench_x.py:3: SystemExit: 0"),
        ("@bench\ndef work(): yield 3", "work() yields 3"),
    ],
)
def test_what_raises(write: Write, text: str, said: str) -> None:
    called = ran(write(text), "bench_x.py::work")
    assert said in called.error
    assert called.status == 1
    assert not [line for line in called.body if "ns" in line]


def test_a_file_that_cannot_be_loaded(write: Write, tmp_path: Path) -> None:
    write("x = (", "bench_bad.py")
    for called in (listed(tmp_path), ran(tmp_path, "bench_bad.py::work")):
        assert called.error.startswith("bench_bad.py cannot be loaded: bench_bad.py:2: SyntaxError")
        assert called.status == 2


def test_another_file_that_cannot_be_loaded_is_not_asked(write: Write, tmp_path: Path) -> None:
    write("x = (", "bench_bad.py")
    write("bench(name='work')(int)", "bench_good.py")
    assert ran(tmp_path, "bench_good.py::work").status == 0


def test_two_of_one_name(write: Write) -> None:
    called = listed(write("bench(name='a')(int)\nbench(name='a')(int)"))
    assert "two benchmarks are called 'bench_x.py::a'" in called.error
    assert called.status == 2


def test_no_benchmarks_are_an_empty_list(write: Write) -> None:
    assert listed(write("")).names == []


def test_a_file_reads_the_user_s_arguments_only(write: Write) -> None:
    path = write("import sys\nprint(sys.argv[1:])")
    assert listed(path).stdout == f"[{str(path)!r}]\n"


def test_a_file_has_its_folder_on_the_path(write: Write) -> None:
    write("VALUE = 'found'", "beside.py")
    assert listed(write("import beside\nbench(name=beside.VALUE)(int)")).names == ["bench_x.py::found"]


def test_statements() -> None:
    command = [*HARNESS, "--timeit", "print(x)", "--setup", "x = 3"]
    assert call(command, LIST).names == ["timeit"]
    called = call(command, run_arguments("timeit", 2, 2))
    assert (called.stdout, len(called.body)) == ("3\n" * 4, 2)
    named = [sys.executable, "-m", "steelyard.harness", "--timeit=-1", "--name", 'ü "1"']
    assert call(named, LIST).names == ['ü "1"']
    assert call(named, run_arguments('ü "1"', 10, 1)).status == 0


@pytest.mark.parametrize("arguments", [LIST, run_arguments("timeit")])
def test_statements_that_are_no_python(arguments: list[str]) -> None:
    called = call([*HARNESS, "--timeit", "x ="], arguments)
    assert called.error == "the statement does not compile: <timeit>:1: SyntaxError: invalid syntax"
    assert called.status == 2


def test_a_statement_that_raises() -> None:
    called = call([*HARNESS, "--timeit", "a\nb", "--setup", "a = 1\n"], run_arguments("timeit"))
    assert called.error == "<timeit>:4: NameError: name 'b' is not defined (--setup CODE runs before it)"
    assert called.status == 1
