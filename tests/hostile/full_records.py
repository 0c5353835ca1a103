"""Records with a text in every field that may hold one."""

from __future__ import annotations

from base64 import b64encode
from struct import pack
from typing import Any

from steelyard.model.original import packed
from tests.foreign import fields_in_file, foreign_results, processes
from tests.report.records import MACHINE, run, weighing

BENCHMARKS = [
    {"name": name, "params": {"n": name}, "entry": name, "tags": ["quick"], "loops": 10, "samples": 2}
    for name in ("one", "two")
]
_SUBJECT = {
    "name": "sort",
    "command": "sort x",
    "argv": ["sort", "x"],
    "program": "/usr/bin/sort",
    "shell": False,
    "digest": "0" * 64,
    "directory": "/work/tree",
    "revision": {
        "name": "main",
        "commit": "1a2b3c4d5e",
        "tree": "5e4d3c2b1a",
        "build": "make",
        "layout": None,
        "libraries": "1" * 64,
        "accepted": [{"above": 0.12, "benchmark": "BM_sort*", "metric": "wall", "reason": "checks its input"}],
    },
}
_FINDING = {"code": "seen", "message": "what was seen", "remedy": "what to do"}
_MACHINE = {
    **MACHINE.model_dump(),
    "caches": {"L1d": "32K"},
    "microcode": "0x1",
    "kernel": "Linux 6.1",
    "libc": "glibc 2.36",
    "virtualization": "kvm",
    "governor": "powersave",
    "clock_source": "tsc",
    "offers": {"schedstat": True},
}
_SETTINGS = {
    "environment": ["LANG"],
    "variables": {"A": "b"},
    "directory": "/work",
    "stdin": "in.txt",
    "output": "out.txt",
    "prepare": ["make"],
    "setup": ["make"],
    "conclude": ["sync"],
    "cleanup": ["make clean"],
    "harness": "protocol",
    "margins": {"on*": 0.01},
    "cpu": 3,
    "cpu_choice": "it is idle",
    "isolate": True,
}
_ISOLATION = {"group": "/sys/fs/cgroup/ours", "processors": [3], "missing": "others may run there too"}
_HEAP_USE = {"allocations": 9, "frees": 9, "reallocations": 0, "bytes": 99, "peak_bytes": 99}
_CACHES = {"name": "mine", "i1": [32768, 8, 64], "d1": [32768, 8, 64], "ll": [8388608, 16, 64]}
_COUNT_SETTINGS = {
    "cache_simulation": True,
    "caches": _CACHES,
    "weights": {"name": "mine", "l1": 1, "ll": 5, "ram": 35},
}
_SIMULATED = dict.fromkeys(("I1mr", "ILmr", "Dr", "D1mr", "DLmr", "Dw", "D1mw", "DLmw"), 10)
_TOOL = {
    "tool": "cachegrind",
    "version": "3.19.0",
    "program": "valgrind",
    "flags": ["--cache-sim=yes"],
    "fingerprint": {"libc.so.6": "0" * 64},
    "not_pinned": ["aslr"],
}


def full_records() -> dict[str, dict[str, Any]]:
    """Return a record of each kind, and of each variant that is shown differently, by a name."""
    return {
        "weighing": _timed(weighing(pairs=12)),
        "suite": _merged(weighing(pairs=12, benchmarks=("one", "two"))),
        "shard": _shard(weighing(pairs=12)),
        "run": _timed(run()),
        "counted-weighing": _counted(weighing(pairs=1), sides=2),
        "counted-run": _counted(run(), sides=1),
        "import": _imported(),
    }


def _timed(record: Any) -> dict[str, Any]:
    fields: dict[str, Any] = record.model_dump(mode="json", exclude={"derived"})
    heap = [{"benchmark": 0, "side": 0, "use": _HEAP_USE, "wall_ns": 9, "cpu_ns": 9}]
    return {
        **fields,
        "machine": _MACHINE,
        "settings": {**fields["settings"], **_SETTINGS},
        "findings": [_FINDING],
        "heap": {"launches": heap},
        "files": {"sort.txt": "2" * 64},
        "isolation": _ISOLATION,
        "watch": {"stretches": [_stretch(fields["launches"]["start_ns"], fields["launches"]["wall_ns"])]},
        "subjects": [{**_SUBJECT, "name": f"sort {number}"} for number in range(len(fields["subjects"]))],
        "benchmarks": [
            {**one, "candidate": min(1, len(fields["subjects"]) - 1)} for one in BENCHMARKS[: len(fields["benchmarks"])]
        ],
    }


def _stretch(starts: list[int], walls: list[int]) -> dict[str, Any]:
    """Return a stretch of the watch in which another program ran beside all launches."""
    end = max(start + wall for start, wall in zip(starts, walls, strict=True))
    length = end - min(starts)
    return {
        "start_ns": min(starts),
        "end_ns": end,
        "beside": [{"name": "make", "processes": 1, "ran_ns": length}],
        "interrupting": [{"source": "the timer", "times": 5000}],
    }


def _merged(record: Any) -> dict[str, Any]:
    part = {"created": "2026-01-01T00:00:00+00:00", "tool": "0.1", "machine": _MACHINE, "seed": 1, "seconds": 1.0}
    return {**_timed(record), "parts": [{**part, "benchmarks": [place]} for place in (0, 1)]}


def _shard(record: Any) -> dict[str, Any]:
    fields = _timed(record)
    shard = {"number": 1, "of": 2, "suite": ["one", "two"]}
    return {**fields, "settings": {**fields["settings"], "shard": shard}}


def _counted(record: Any, *, sides: int) -> dict[str, Any]:
    timed = _timed(record)
    counts = [
        {"benchmark": 0, "side": side, "events": {"Ir": 1000 + side, **_SIMULATED}, "seconds": 1.0}
        for side in range(sides)
        for _ in range(5)
    ]
    counts[0]["processes"] = [{"command": word, "events": counts[0]["events"]} for word in ("sort x", "sh")]
    functions = [
        {
            "benchmark": 0,
            "side": side,
            "name": ["hot", "main", f"own {side}"],
            "file": ["a.c", "b.c", "c.c"],
            "object": ["/a", "/b", "/c"],
            "line": [1, 2, 3],
            "events": {"Ir": [900 + side, 100, 5], **{name: [10, 0, 0] for name in _SIMULATED}},
        }
        for side in range(sides)
    ]
    return {
        **timed,
        "settings": {**timed["settings"], "metrics": ["instructions", "cost"], "counting": _COUNT_SETTINGS},
        "counting": {"tool": _TOOL, "counts": counts, "functions": functions},
        "launches": {},
    }


def _imported() -> dict[str, Any]:
    record = foreign_results({"one": processes(3), "two": processes(3)}, machine={"processor": "Abacus", "cores": "2"})
    fields = fields_in_file(record)
    fields["provenance"] |= {"version": "1.2", "measured": ["yesterday"]}
    fields["benchmarks"][0] |= {"params": {"n": "1"}}
    fields["benchmarks"][1] |= {"values": {"lengths": [2, 1], "float64": b64encode(pack("<3d", 1, 2.5, 3)).decode()}}
    return {**fields, "findings": [_FINDING], "originals": [packed(b'{"metadata": {"host": "Abacus"}}')]}
