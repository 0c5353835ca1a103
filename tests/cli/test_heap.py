"""`--heap`: run and compare, commands and harnesses, and what cannot be watched."""

from __future__ import annotations

import json
import signal
from importlib import resources
from typing import Any

import jsonschema
import pytest

from tests import c_programs, heap_programs
from tests.c_programs import compiled
from tests.in_process import InProcess, suite
from tests.tool import SOME_TIME, Tool, ended, wait_until

PLAIN_MALLOC = "-fno-builtin"
# Twice as many blocks of half the size.
SMALLER = heap_programs.PEAK.replace("kept[100]", "kept[200]").replace("< 100", "< 200").replace("1000", "500")


@pytest.fixture
def programs(here: InProcess) -> InProcess:
    """The command line beside two programs; `smaller` allocates twice as many blocks, and the same bytes in all."""
    compiled(here.folder, "peak", heap_programs.PEAK, PLAIN_MALLOC)
    compiled(here.folder, "smaller", SMALLER, PLAIN_MALLOC)
    return here


def uses(record: dict[str, Any], *names: str) -> dict[tuple[int, int], list[list[int]]]:
    """Return the named numbers of each watched launch, by (benchmark, side)."""
    found: dict[tuple[int, int], list[list[int]]] = {}
    for launch in record["heap"]["launches"]:
        place = launch["benchmark"], launch["side"]
        found.setdefault(place, []).append([launch["use"][name] for name in names])
    return found


def test_a_run_is_watched_and_shown_again(programs: InProcess) -> None:
    done = programs("run", "--heap", "./peak", "--launches", "3", "-o", "record.json", "--markdown", "table.md")
    assert done.status == 0
    assert done.err == b""
    record = programs.json()
    jsonschema.validate(record, json.loads((resources.files("steelyard.model") / "record.schema.json").read_text()))
    assert uses(record, "allocations", "frees", "bytes") == {(0, 0): [[300, 300, 300_000]] * 3}
    assert record["settings"]["heap"] == 3
    lines = done.text.splitlines()
    assert "allocations        300" in lines
    assert "bytes        293.0 KiB" in lines
    assert programs("show", "record.json").out == done.out
    table = (programs.folder / "table.md").read_text()
    assert "| <code>./peak</code> | allocations | 300 |" in table


def test_two_commands_are_compared(programs: InProcess) -> None:
    done = programs("compare", "--heap", "./peak", "./smaller", "--pairs", "10", *("-o", "record.json"))
    record = programs.json()
    assert uses(record, "allocations", "bytes") == {
        (0, 0): [[300, 300_000]] * 3,
        (0, 1): [[600, 300_000]] * 3,
    }
    assert len(record["launches"]["wall_ns"]) == 22  # the watched launches are not among them
    rows = {line.split()[0]: line.split() for line in done.text.splitlines() if line}
    assert rows["allocations"] == ["allocations", "300", "600", "+100", "%"]
    assert rows["bytes"][-1] == "none"


def test_several_are_a_line_each(programs: InProcess) -> None:
    done = programs("compare", "--heap", "./peak", "./smaller", "./peak", "--pairs", "10", "--names", "a,b,c")
    lines = [line.split() for line in done.text.splitlines()]
    assert ["change", "of", "allocations", "bytes", "peak", "time", "in", "it"] in lines
    assert any(line[:4] == ["b", "+100", "%", "none"] for line in lines)
    assert any(line[:4] == ["c", "none", "none", "none"] for line in lines)


def test_counted_programs_are_watched_as_well(programs: InProcess) -> None:
    c_programs.need_valgrind()
    words = ("--metric", "instructions", "--heap", "-o", "record.json")
    done = programs("compare", "./peak", "./smaller", *words)
    assert done.status == 1
    record = programs.json()
    assert uses(record, "allocations") == {(0, 0): [[300]] * 3, (0, 1): [[600]] * 3}
    assert record["counting"]["counts"]


def test_a_harness_is_watched_once_a_side(here: InProcess) -> None:
    done = here.weigh(suite("well", "a", "b"), suite("well", "a", "b"), "--heap", "-o", "record.json")
    assert done.status == 0
    record = here.json()
    assert {place: len(found) for place, found in uses(record, "bytes").items()} == {
        (benchmark, side): 1 for benchmark in (0, 1) for side in (0, 1)
    }
    assert sorted(finding["code"] for finding in record["findings"]) == ["heap-inside", "same-command"]
    assert "PYTHONMALLOC=malloc" in done.text


def test_the_heap_of_other_commands_is_not_watched(programs: InProcess) -> None:
    assert programs("run", "./peak", "--launches", "3", "-o", "record.json").status == 0
    record = programs.json()
    assert (record["heap"], record["settings"]["heap"]) == (None, None)


def test_preparation_comes_before_each_launch(programs: InProcess) -> None:
    words = ("--launches", "2", "--warmup", "0", "--prepare", "sh -c 'echo x >>log'")
    assert programs("run", "--heap", "./peak", *words).status == 0
    assert len(programs.lines()) == 5


def test_both_launches_of_a_pair_begin_with_the_same_heap(programs: InProcess) -> None:
    show = f"""sh -c '{SOME_TIME}; echo $STEELYARD_HEAP_SEED $LD_PRELOAD >>log'"""
    words = ("--heap-shuffle", "--pairs", "10", "--warmup", "0")
    record = programs.compared(show, show, *words)
    lines = [line.split() for line in programs.lines()]
    assert len(lines) == len(record["launches"]["pair"]) >= 20
    assert all("steelyard-scatter" in library for _, library in lines)
    seeds = [seed for seed, _ in lines]
    assert seeds[::2] == seeds[1::2]
    assert len(set(seeds)) > 8
    assert record["settings"]["heap_shuffle"] is True
    assert record["heap"] is None


# --- what cannot be watched


@pytest.mark.parametrize("order", [("./static", "./peak"), ("./peak", "./static")])
def test_a_static_program_is_refused_before_anything_is_measured(programs: InProcess, order: tuple[str, str]) -> None:
    compiled(programs.folder, "static", c_programs.NOTHING, "-static")
    said = programs.refuses("compare", "--heap", *order)
    assert said.startswith("--heap cannot watch ./static: it is linked statically")
    assert programs.refuses("compare", "--heap-shuffle", *order).startswith("--heap-shuffle cannot reach ./static")
    assert programs.kept() == []


def test_a_program_of_musl_is_refused(programs: InProcess) -> None:
    compiled(programs.folder, "musl", c_programs.NOTHING, "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1")
    assert "musl" in programs.refuses("run", "--heap", "./musl")


def test_a_program_with_its_own_malloc_is_said(programs: InProcess) -> None:
    compiled(programs.folder, "own", heap_programs.OWN, PLAIN_MALLOC)
    done = programs("run", "--heap", "./own", "--launches", "3")
    assert done.status == 0
    assert "asked malloc for nothing" in " ".join(done.text.split())


def test_a_program_that_fails_is_an_error(programs: InProcess) -> None:
    compiled(programs.folder, "ends", heap_programs.ENDS, PLAIN_MALLOC)
    assert "SIGABRT" in programs.refuses("run", "--heap", "./ends abort", status=3)


def test_an_interrupt_while_the_heap_is_watched_is_heard(tool: Tool) -> None:
    with tool.started("compare", "--heap", "sleep 60", "sleep 60") as process:
        wait_until(lambda: "sleep 60" in tool.processes(), "a program is watched")
        process.send_signal(signal.SIGINT)
        assert ended(process).status == 130


def test_what_was_watched_is_kept_when_it_is_carried_on(programs: InProcess) -> None:
    words = ("--pairs", "10", "--seed", "1")
    record = programs.compared("./peak", "./smaller", "--heap", *words)
    half = record | {"stop": ["interrupted"], "derived": None}
    half["heap"]["launches"] = half["heap"]["launches"][:3]
    (programs.folder / "half.json").write_text(json.dumps(half))
    programs("compare", "--resume", "half.json", "-o", "whole.json")
    whole = programs.json("whole.json")
    assert uses(whole, "allocations") == {(0, 0): [[300]] * 3, (0, 1): [[600]] * 3}
    assert whole["heap"]["launches"][:3] == half["heap"]["launches"]
