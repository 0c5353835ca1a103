"""Machines on which something is missing, full or forbidden."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from steelyard.cli.app import run
from steelyard.design.world import World
from steelyard.measure.launch import Launcher
from steelyard.model.files import load
from tests.hostile.tool import Tool, python
from tests.tool import STEELYARD, sh, status_of

Mounting = Callable[..., list[str]]

needs_taskset = pytest.mark.skipif(shutil.which("taskset") is None, reason="not tested without taskset")


def codes(file: Path) -> set[str]:
    record = load(file)
    found = list(record.findings)
    if record.derived is not None:
        for verdict in record.derived.verdicts:
            found += verdict.findings
        for summary in record.derived.summaries:
            found += summary.findings
    return {finding.code for finding in found}


# --- disks


def test_a_disk_that_is_full_in_the_middle(tool: Tool, mounting: Mounting) -> None:
    # The mounted folder is visible only to the commands below the mount, so they copy what was kept.
    (tool.folder / "state").mkdir()
    within = mounting(
        "mount -t tmpfs -o size=32k none state",
        f'{STEELYARD} run true --launches 100000 && exit 99; echo "status $?" >&2',
        "cp -r state/steelyard copy; df --output=avail state | tail -1 >&2",
    )
    done = tool("show", within=within)  # shows the journal that was just left on the full disk
    assert done.status == 0
    assert "status 3" in done.err
    assert "cannot write the journal" in done.err
    assert "No space left on device" in done.err
    (journal,) = (tool.folder / "copy").iterdir()
    record = load(journal)
    assert journal.suffix == ".journal"
    assert len(record.launches) > 100
    assert "true" in done.out


def test_a_report_onto_a_full_disk_costs_neither_verdict_nor_record(tool: Tool, mounting: Mounting) -> None:
    (tool.folder / "full").mkdir()
    within = mounting("mount -t tmpfs -o size=64k none full", "dd if=/dev/zero of=full/file 2>/dev/null || :")
    done = tool.run("true", "--json", "full/record.json", within=within)
    assert done.status == 3
    assert "subject" in done.out
    assert "steelyard: cannot write full/record.json: No space left on device" in done.err
    assert len(load(tool.kept(".json.gz")[0]).launches) == 3


def test_a_store_that_cannot_be_written_is_replaced_and_that_is_said(tool: Tool, mounting: Mounting) -> None:
    for name in ("state", "home"):
        (tool.folder / name).mkdir()
    within = mounting("mount -t tmpfs -o ro none state", "mount -t tmpfs -o ro none home")
    env = {"HOME": str(tool.folder / "home")}
    done = tool("run", "true", "--launches", "2", within=within, env=env)
    (kept,) = tool.folder.glob(f"steelyard-{os.getuid()}/*.json.gz")
    assert (done.status, done.err) == (
        0,
        f"steelyard: {tool.folder}/state/steelyard cannot be written (Read-only file system) and "
        f"{tool.folder}/home/.local/state/steelyard cannot be written (Read-only file system), so the record is kept "
        f"in {kept}\n",
    )
    done = tool("show", within=within, env=env)
    assert (done.status, done.err) == (0, "")
    assert len(load(kept).launches) == 3


def test_nowhere_to_write_at_all(tool: Tool, mounting: Mounting) -> None:
    folders = [folder for folder in ("/tmp", "/var/tmp", "/usr/tmp") if Path(folder).is_dir()]
    if any(Path(sys.executable).is_relative_to(folder) for folder in folders):
        pytest.skip("not tested: steelyard itself lies in a folder for temporary files, which would be hidden")
    (tool.folder / "empty").mkdir()
    within = mounting(
        "mount -t tmpfs none empty", "cd empty", *(f"mount -t tmpfs -o ro none {folder}" for folder in folders),
        "mount -o remount,ro /tmp", f"mount -t tmpfs -o ro none {tool.folder}" if not tool.folder.exists() else ":",
        "cd /proc",
    )  # fmt: skip
    done = tool.run("true", within=within, env={"XDG_STATE_HOME": None, "HOME": "/proc", "TMPDIR": "/proc"})
    assert done.status == 2
    assert "set XDG_STATE_HOME" in done.sentence


def test_a_disk_on_which_nothing_may_be_executed(tool: Tool, mounting: Mounting) -> None:
    (tool.folder / "data").mkdir()
    done = tool.run("data/true", within=mounting("mount -t tmpfs -o noexec none data", "cp /bin/true data"))
    assert "'data/true' is not executable: its disk is mounted noexec" in done.sentence
    assert "chmod" not in done.sentence
    assert done.status == 2


def test_another_temporary_folder_where_the_given_one_is_gone(tool: Tool) -> None:
    done = tool.run("true", env={"TMPDIR": "/no/such/folder"})
    assert (done.status, done.err) == (0, "")
    assert len(tool.kept()) == 1


# --- what the kernel does not tell

HIDE_PROC = "mount -t tmpfs none /proc"


def test_without_proc(tool: Tool, mounting: Mounting) -> None:
    command = python("x = sum(range(100000))")
    within = mounting(HIDE_PROC)
    done = tool.run(command, "--json", "record.json", "--launches", "3", within=within)
    assert (done.status, done.err) == (0, "")
    assert "wall" in done.words
    assert "this machine does not tell how long a process waits for a processor" in done.words
    assert codes(tool.folder / "record.json") >= {"metric-fallback"}
    words = ("--pairs", "12", "--wait-quiet", "1", "--json", "weighing.json")
    done = tool("compare", command, command, *words, within=within)
    weighing = tool.json("weighing.json")
    assert (done.status, done.err) == (status_of(weighing), "")
    assert {verdict["metric"] for verdict in weighing["derived"]["verdicts"]} == {"wall"}


def test_left_behind_without_proc(tool: Tool, mounting: Mounting) -> None:
    leaving = sh("setsid sleep 600 & sleep 600 & sleep 0.03")  # long enough for no launch before it
    done = tool.run(leaving, "--launches", "1", "--warmup", "0", within=mounting(HIDE_PROC))
    assert done.status == 0
    assert "left 2 processes behind, which were killed unless they ended by themselves: ?" in done.words


def test_without_pressure(tool: Tool, mounting: Mounting) -> None:
    if not Path("/proc/pressure").is_dir():
        pytest.skip("nothing to hide: this machine has no /proc/pressure")
    within = mounting("mount -t tmpfs none /proc/pressure")
    done = tool.run("true", "--json", "record.json", within=within)
    assert (done.status, done.err) == (0, "")
    record = load(tool.folder / "record.json")
    assert record.machine.offers["pressure"] is False
    assert set(record.launches.pressure_ns) == {None}
    done = tool(
        "compare", "true", "true", "--pairs", "12", "--wait-quiet", "60", "--json", "weighing.json", within=within
    )
    assert (done.status, done.err) == (status_of(tool.json("weighing.json")), "")
    assert "no-pressure" in codes(tool.folder / "weighing.json")


# A server on a kernel that tells nothing: it speaks the protocol, but launches nothing and keeps no rows.
POOR_SERVER = """
import json, socket
line = socket.socket(fileno=0).makefile("rw")
poor = dict.fromkeys(["pidfd", "schedstat", "pressure", "steal", "switches"], False)
print(json.dumps({"hello": "steelyard-launch", "version": "0", **poor}), file=line, flush=True)
known = ["user_ns", "sys_ns", "max_rss_bytes", "minor_faults", "major_faults", "exit_code"]
unknown = ["cpu_ns", "delay_ns", "timeslices", "others_ns", "pressure_ns", "steal_ns", "lost_ns"]
unknown += ["written_blocks", "signal"]
counted = dict.fromkeys([*known, "voluntary_switches", "involuntary_switches"], 0)
for number, request in enumerate(map(json.loads, line)):
    if "journal" in request:
        continue
    times = {"start_ns": 10**9 * number, "wall_ns": 10**8 + number % 7 * 10**5, "spawn_ns": 1}
    reply = counted | dict.fromkeys(unknown) | times
    print(json.dumps([reply] if "then" in request else reply), file=line, flush=True)
"""


def test_a_kernel_that_tells_nothing(
    tool: Tool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = tool.write("server", f"#!{sys.executable}{POOR_SERVER}")
    poor = World(launcher=partial(Launcher, tool.folder / server))
    monkeypatch.setenv("XDG_STATE_HOME", str(tool.folder / "state"))
    record = tool.folder / "record.json"
    words = ["compare", "true", "true", "--pairs", "12", "--wait-quiet", "1", "--json", str(record)]
    assert run(words, poor) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "this machine does not tell how long a process waits for a processor" in said
    assert codes(record) >= {"metric-fallback", "no-pressure"}
    assert load(record).launches.delay_ns[0] is None
    assert run([*words, "--metric", "delay"], poor) == 3
    told = capsys.readouterr().err
    assert "cannot measure delay" in told
    assert "--metric wall" in told
    assert run(["run", "true", "--launches", "3", "--metric", "timeslices"], poor) == 3
    assert "cannot measure timeslices" in capsys.readouterr().err
    # Beside a metric that can be measured, it is only a note, as in a weighing.
    assert run(["run", "true", "--launches", "3", "--metric", "active,timeslices"], poor) == 0
    assert "cannot measure timeslices" in capsys.readouterr().out


# --- processors and limits


@needs_taskset
def test_one_processor_only(tool: Tool) -> None:
    cpu = min(os.sched_getaffinity(0))
    words = ("--pairs", "12", "--json", "record.json")
    done = tool("compare", "true", "true", *words, within=["taskset", "-c", str(cpu)])
    assert (done.status, done.err) == (status_of(tool.json("record.json")), "")
    assert tool.run("true", "--cpu", str(cpu), within=["taskset", "-c", str(cpu)]).status == 0


@needs_taskset
def test_a_processor_that_may_not_be_used(tool: Tool) -> None:
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        pytest.skip("not tested with one processor only")
    sentence = tool.fails("true", "--cpu", str(allowed[1]), status=2, within=["taskset", "-c", str(allowed[0])])
    assert f"--cpu {allowed[1]}" in sentence
    assert f"choose from {allowed[0]}" in sentence


def limited(*limits: str) -> list[str]:
    return ["sh", "-ec", f'ulimit {" ".join(limits)}; exec "$@"', "sh"]


def test_few_descriptors(tool: Tool) -> None:
    done = tool.run("true", within=limited("-n", "32"))
    assert (done.status, done.err) == (0, "")
    assert len(load(tool.kept()[0]).launches) == 3


def test_too_few_descriptors_for_the_server(tool: Tool) -> None:
    done = tool.run("true", within=limited("-n", "8"))
    assert done.status == 3
    assert "Too many open files" in done.err
    assert "allow more open files (ulimit -n)" in done.err


@pytest.mark.parametrize("descriptors", [9, 6])
def test_too_few_descriptors(tool: Tool, descriptors: int) -> None:
    done = tool.run("true", within=limited("-n", str(descriptors)))
    assert "Too many open files" in done.sentence
    assert done.sentence.endswith("; allow more open files (ulimit -n)")
    assert done.status == 3
    assert not tool.kept()


def test_little_memory(tool: Tool) -> None:
    within = limited("-v", str(400 << 10))
    assert tool.run("true", within=within, env={"OPENBLAS_NUM_THREADS": "1"}).status == 0
    hungry = tool.fails(python("x = bytearray(1 << 30)"), within=within, env={"OPENBLAS_NUM_THREADS": "1"})
    assert "its last words: MemoryError" in hungry


def test_small_files_only(tool: Tool) -> None:
    env = {"PYTHONDONTWRITEBYTECODE": "1"}  # Python does not check that it wrote a whole .pyc file
    done = tool.run("true", "--launches", "1000", within=limited("-f", "8"), env=env)
    assert done.status == 3
    assert "interrupted: this is what was measured until then" in done.out
    assert "cannot write the journal" in done.err
    assert "File too large; allow larger files (ulimit -f)" in done.err
    (kept,) = tool.kept()
    assert str(kept) in done.err
    assert len(load(kept).launches) > 1


# --- environments


@pytest.mark.parametrize(
    "changed",
    [
        {"HOME": None},
        {"PATH": None, "COLUMNS": "1"},
        {"LANG": "C", "LC_ALL": "C", "COLUMNS": "x", "LINES": "-1"},
        {"LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TZ": "Nowhere/Nothing"},
        {"LANG": "xx_XX.nonsense", "PYTHONIOENCODING": "latin-1", "TERM": "dumb", "COLUMNS": "20"},
    ],
    ids=str,
)
def test_an_odd_environment(tool: Tool, changed: dict[str, str | None]) -> None:
    done = tool.run("/bin/echo caf\u00e9 \udcff", "--launches", "1", env=changed)
    assert done.status == 0
    assert "subject" in done.out


def test_no_environment_at_all(tool: Tool) -> None:
    nothing: dict[str, str | None] = dict.fromkeys(tool.environment)
    done = tool.run("/bin/true", env={**nothing, "TMPDIR": str(tool.folder), "XDG_STATE_HOME": str(tool.folder)})
    assert (done.status, done.err) == (0, "")


def test_an_empty_path_finds_nothing(tool: Tool) -> None:
    assert "not found on PATH" in tool.fails("true", status=2, env={"PATH": ""})
    assert tool.run("/bin/true", env={"PATH": ""}).status == 0


def test_a_directory_that_goes_away_while_it_measures(tool: Tool) -> None:
    (tool.folder / "gone").mkdir()
    within = ["sh", "-ec", 'cd gone; exec "$@"', "sh"]
    sentence = tool.fails("/bin/rmdir ../gone", within=within)
    assert "gone" in sentence
    assert "No such file or directory" in sentence
