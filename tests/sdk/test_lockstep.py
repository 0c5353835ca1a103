"""Lockstep: these tests are the partner of each SDK, at the other end of the socket."""

from __future__ import annotations

import os
import select
import shutil
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from steelyard.model.rows import IN_TANDEM
from tests.in_process import InProcess
from tests.sdk.driving import FD, Response, drive
from tests.sdk.test_rust import suite_of_cases

PYTHON = [sys.executable, "-m", "steelyard.harness", "--timeit", "pass"]
ORDERS = "01101"
_SWAPPED = str.maketrans("01", "10")


@pytest.fixture(params=["C++", "C", "Rust", "Python"])
def command(request: pytest.FixtureRequest) -> list[str]:
    """A program of each SDK, and the option for the benchmark to run."""
    match request.param:
        case "C++":
            return [str(request.getfixturevalue("harness")), "--steelyard-run=nothing"]
        case "C":
            return [str(request.getfixturevalue("c_harness")), "--steelyard-run=nothing"]
        case "Rust":
            if shutil.which("cargo") is None:
                pytest.skip("there is no cargo (https://rustup.rs)")
            return [suite_of_cases(), "--steelyard-run=sum_of_ten"]
        case _:
            return [*PYTHON, "--steelyard-run=timeit"]


def run(command: list[str], theirs: socket.socket, orders: str, samples: int | None = None) -> Response:
    work = {"protocol": 1, "loops": 3, "seed": 1, "samples": samples or len(orders)}
    given = [f"--steelyard-{key}={value}" for key, value in work.items()]
    with theirs:
        return drive(
            command, [*given, FD, f"--steelyard-lockstep={theirs.fileno()}:{orders}"], pass_fds=[theirs.fileno()]
        )


def is_silent(ours: socket.socket) -> bool:
    return not select.select([ours], [], [], 0.02)[0]


def test_it_samples_in_its_turn_and_only_then(command: list[str]) -> None:
    ours, theirs = socket.socketpair()
    with ours, ThreadPoolExecutor() as pool:
        ours.settimeout(20)
        response = pool.submit(run, command, theirs, ORDERS)
        assert ours.recv(2) == b"\0", "it has to say that it is set up, and no more"
        assert is_silent(ours), "it has to wait until we are set up"
        ours.send(b"\0")
        # Our order is 1 where theirs is 0. If they end a round and begin the next one, they go on by themselves.
        for sample, order in enumerate(ORDERS):
            if order == "1":
                assert sample == 0 or ORDERS[sample - 1] == "1" or is_silent(ours)
                ours.send(b"\0")
            keeps = ORDERS[sample : sample + 2] == "10"
            if keeps:
                continue
            assert ours.recv(2) == b"\0"
            if order == "0" and ORDERS[sample + 1 : sample + 2] == "0":
                assert is_silent(ours)
                ours.send(b"\0")
        samples = response.result(timeout=20).samples
        assert ours.recv(1) == b""
    assert [sample["order"] for sample in samples] == [*map(int, ORDERS)]


def test_whoever_was_first_in_the_last_round_waits_for_the_end_of_it(command: list[str]) -> None:
    ours, theirs = socket.socketpair()
    with ours, ThreadPoolExecutor() as pool:
        ours.settimeout(20)
        response = pool.submit(run, command, theirs, "0")
        ours.send(b"\0")
        assert [ours.recv(1), ours.recv(1)] == [b"\0"] * 2
        assert is_silent(ours)
        assert not response.done()
        ours.send(b"\0")
        assert [sample["order"] for sample in response.result(timeout=20).samples] == [0]


@pytest.mark.parametrize("bytes_before", [0, 1, 2])
def test_without_its_partner_it_goes_on_alone_and_says_so(command: list[str], bytes_before: int) -> None:
    ours, theirs = socket.socketpair()
    ours.send(b"\0" * bytes_before)
    ours.close()
    samples = run(command, theirs, "1111").samples
    assert len(samples) == 4
    in_turn = max(0, bytes_before - 1)
    assert ["order" in sample for sample in samples[in_turn:]] == [False] * (4 - in_turn)


@pytest.mark.parametrize("value", ["", "x:11", "11", ":11", "FD:1", "FD:111", "FD:12", "FD:", "999:11"])
def test_what_is_no_partner_is_refused(command: list[str], value: str) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        given = value.replace("FD", str(theirs.fileno()))
        work = ["--steelyard-protocol=1", "--steelyard-loops=3", "--steelyard-seed=1", "--steelyard-samples=2"]
        response = drive(command, [*work, FD, f"--steelyard-lockstep={given}"], pass_fds=[theirs.fileno()])
    assert response.status == 2
    assert "lockstep" in response.error


def test_two_programs_of_different_sdks_keep_step(command: list[str]) -> None:
    other = [*PYTHON, "--steelyard-run=timeit"]
    ends = socket.socketpair()
    orders = "0110100110" * 10
    with ThreadPoolExecutor() as pool:
        both = [
            pool.submit(run, program, end, asked)
            for program, end, asked in zip((command, other), ends, (orders, orders.translate(_SWAPPED)), strict=True)
        ]
        found = ["".join(str(sample["order"]) for sample in one.result(timeout=60).samples) for one in both]
    assert found == [orders, orders.translate(_SWAPPED)]


@pytest.mark.skipif(not Path("/proc/thread-self/schedstat").exists(), reason="this kernel does not keep schedstat")
def test_waits_are_those_within_the_time_and_none_of_those_around_it(command: list[str]) -> None:
    processor = min(os.sched_getaffinity(0))
    loops = {"nothing": 3_000_000, "sum_of_ten": 500_000, "timeit": 3_000_000}[command[-1].partition("=")[2]]
    work = {"protocol": 1, "loops": loops, "seed": 1, "samples": 60}
    given = [f"--steelyard-{key}={value}" for key, value in work.items()]
    with subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) as hog:
        try:
            os.sched_setaffinity(hog.pid, {processor})
            pinned = ["taskset", "-c", str(processor), *command]
            samples = drive(pinned, [*given, FD]).samples
        finally:
            hog.kill()
    # A switch may still come between two readings; it used to come between readings of CPU clocks in most samples.
    assert sum(sample["delay_ns"] > sample["ns"] for sample in samples) <= 4


def test_a_weighing_in_tandem_has_its_samples_in_turn(harness: Path, here: InProcess) -> None:
    done = here.weigh(
        str(harness), str(harness), "-b", "nothing", "--pairing", "tandem", "--pairs", "8", "--json", "r.json"
    )
    assert done.status == 0, done.text
    launches = here.json("r.json")["launches"]
    assert len(launches["samples"]) >= 18
    warmed = 2  # the warm-up's launches run one after the other
    columns = (launches[name][warmed:] for name in ("side", "order", "samples"))
    for side, order, samples in zip(*columns, strict=True):
        assert order >= IN_TANDEM, side
        assert [sample[4] for sample in samples] == [order - IN_TANDEM] * len(samples)
