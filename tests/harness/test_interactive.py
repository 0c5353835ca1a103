"""The harness called by a user, without the protocol's arguments."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.harness.interactive import readable
from tests.harness.conftest import Write
from tests.harness.driving import HARNESS


def shown(*arguments: str | Path, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*HARNESS, *arguments], capture_output=True, text=True, check=False, cwd=cwd, env={**os.environ, **env}
    )


def test_a_line_each_and_what_to_do_next(write: Write) -> None:
    path = write("@bench(n=[1, 10])\ndef work(n): sum(range(n))")
    found = shown(path, PATH=str(path.parent))
    one, ten = found.stdout.splitlines()
    assert one.startswith("bench_x.py::work[n=1] ")
    assert ten.startswith("bench_x.py::work[n=10] ")
    assert "an iteration" in one
    mine = f"--harness protocol '{sys.executable} -m steelyard.harness {path}'"
    assert f"  steelyard run {mine}\n" in found.stderr
    assert found.returncode == 0


def test_where_nobody_reads_no_more_are_run(write: Write) -> None:
    path = write("import sys\n@bench(n=[1, 2])\ndef work(n): print('ran', n, file=sys.stderr)")
    read, written = os.pipe()
    os.close(read)
    done = subprocess.run([*HARNESS, path], stdout=written, stderr=subprocess.PIPE, text=True, check=False)
    os.close(written)
    assert done.returncode == 1
    assert {*done.stderr.splitlines()} == {"ran 1", "steelyard.harness: cannot write what was found: Broken pipe"}


@pytest.mark.parametrize("is_repository", [True, False])
def test_what_to_do_next_runs_as_it_stands(write: Write, tmp_path: Path, is_repository: bool) -> None:
    path = write("@bench\ndef work(): ...")
    below = tmp_path / "a/b"
    below.mkdir(parents=True)
    if is_repository:
        (tmp_path / ".git").touch()
    on_path = shown(path, cwd=below, PATH=str(Path(sys.executable).parent), PYTHONPATH="")
    command = f"'python -m steelyard.harness {path}'"
    told = f"compare --base HEAD --harness protocol {command}" if is_repository else f"{command} COMMAND-OF-THE-OTHER"
    assert told in on_path.stderr


def test_what_to_do_next_finds_the_modules_that_were_found_here(write: Write, tmp_path: Path) -> None:
    path = write("import mine\n@bench\ndef work(): ...")
    (tmp_path / "my own").mkdir()
    (tmp_path / "my own/mine.py").touch()
    for given in ("my own", str(tmp_path / "my own")):  # printed relative: each of two revisions must find its own
        found = shown(path, cwd=tmp_path, PYTHONPATH=f"{given}:/elsewhere")
        assert found.stderr.count(f" {path}' --env 'PYTHONPATH=my own:/elsewhere'") == 2


def test_the_first_call_is_not_believed(write: Write) -> None:
    path = write(
        "import functools, time\n@functools.cache\ndef loads(): time.sleep(0.05)\n@bench\ndef work(): loads()\n"
        "@bench\ndef sleeps(): time.sleep(0.02)"
    )
    work, sleeps = shown(path).stdout.splitlines()
    assert re.search(r"\d [nµ]s an iteration \([\d,]+ loops\)", work)
    assert sleeps.endswith(" ms an iteration (1 loop)")


def test_one_that_fails_does_not_keep_others_back(write: Write) -> None:
    path = write("@bench\ndef bad(): 1 / 0\n@bench\ndef good(): ...")
    found = shown(path)
    bad, good = found.stdout.splitlines()
    assert "failed: bench_x.py:3: ZeroDivisionError" in bad
    assert "an iteration" in good
    assert found.returncode == 1


def test_what_fails_is_a_line_and_the_user_s_part_of_the_traceback(write: Write) -> None:
    path = write("import sys\n@bench\ndef bad(): raise ValueError('no\\nway')\n@bench\ndef leaves(): sys.exit(0)")
    found = shown(path)
    assert [line.split("failed: ")[1] for line in found.stdout.splitlines()] == [
        "bench_x.py:4: ValueError: no way",
        "bench_x.py:6: SystemExit: 0",
    ]
    frames = [line.split('"')[1] for line in found.stderr.splitlines() if line.startswith("  File ")]
    assert frames == [str(path)] * 2


def test_one_that_skips_itself_is_no_failure(write: Write) -> None:
    found = shown(write("import unittest\n@bench\ndef work(): raise unittest.SkipTest('no\\ndevice')"))
    assert found.stdout == "bench_x.py::work  it skipped itself: no device\n"
    assert "Traceback" not in found.stderr
    assert found.returncode == 0


def test_what_benchmarks_print_is_not_between_the_lines(write: Write) -> None:
    path = write(
        "import os\n@bench\ndef prints(): print('hello'); os.write(1, b'there')\n"
        "@bench\ndef fails(): print('hello'); 1 / 0"
    )
    found = shown(path)
    prints, fails = found.stdout.splitlines()
    assert prints.startswith("bench_x.py::prints ")
    assert fails.startswith("bench_x.py::fails ")
    assert "hello" not in found.stdout


def test_a_statement() -> None:
    found = shown("--timeit", "x + 1", "--setup", "x = 1")
    assert found.stdout.startswith("timeit ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name files or folders"),
        (["nothing.py"], "no file or folder"),
        (["--timeit"], "--timeit needs a value"),
        (["--timeit", "pass", "x.py"], "'x.py' stands beside it"),
        (["--timeit", "1", "--timeit", "2"], "--timeit is given twice"),
        (["--setup", "pass"], "--setup belongs to --timeit"),
        (["--timeti", "pass"], "no option '--timeti'"),
        (["--timeit", "x ="], "does not compile"),
        (["--timeit", "# nothing"], "the statement is empty"),
    ],
)
def test_wrong_usage(arguments: list[str], said: str) -> None:
    found = shown(*arguments)
    assert said in found.stderr
    assert "Traceback" not in found.stderr
    assert found.returncode == 2


def test_no_benchmarks(write: Write) -> None:
    found = shown(write(""))
    assert "no benchmarks" in found.stderr
    assert found.returncode == 0


def test_help() -> None:
    assert shown("--help").stdout.startswith("usage: python -m steelyard.harness")


@pytest.mark.parametrize(("ns", "text"), [(1.5, "1.5 ns"), (2_345, "2.35 µs"), (1e6, "1 ms"), (2.5e9, "2.5 s")])
def test_times(ns: float, text: str) -> None:
    assert readable(ns) == text
