"""Files damaged at random, and read in every possible way: records, journals, imports, harnesses' answers.

A find is any outcome but an answer or a sentence: an exception other than Steelyard's own, an unprintable character on
the terminal, a reading that takes too long or too much memory. Each try is drawn from the seed and its number alone,
so that it can be repeated.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import resource
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Any

from steelyard.cli.app import run
from steelyard.model.errors import LaunchError, SteelyardError
from steelyard.model.measured import Measured
from steelyard.model.numbers import NUMBERS
from steelyard.subjects.formats.recognise import FORMATS
from steelyard.subjects.harness import Harness, Work, harness_named
from tests.hostile.full_records import full_records
from tests.hostile.json_places import Place, dropped, places, replaced

DATA = Path(__file__).resolve().parent.parent / "data"
ADAPTERS = DATA.parent / "adapters"
# Processor time of this process; a sound file takes half a second at most.
MOST_SECONDS = 10.0
MOST_MIB = 400

HOSTILE = "\x1b]0;x\x07\u202e\n=1+1\r\ud800\udc80\x9b2J"
NUMBERS_PUT = (0, -1, 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 10**30, 10**400, 1e308, -1e308, 5e-324, 1e-9, 0.5)
VALUES_PUT: tuple[Any, ...] = (None, True, "", "1", HOSTILE, [], {}, [[]], [{}], {"a": 1}, float("nan"), float("inf"))
BYTES_PUT = (b"\0", b"\xff", b"\x1b[2J", b'"', b"{", b"[", b",", b"\n", b"\r", b"1e999", b"NaN", b"-", b"\xe2\x80\xae")
# How to carry on what was interrupted is printed beside an answer, too.
WAY_ON = "steelyard: to carry on: "


@dataclass(frozen=True)
class Seed:
    """A sound file, and the command lines that read it: FILE stands for the damaged one, SOUND for the sound one."""

    name: str
    data: bytes
    commands: tuple[tuple[str, ...], ...] = ()
    harness: str | None = None


@dataclass(frozen=True)
class Find:
    """An outcome that should not have been."""

    again: str
    """The options that repeat it."""
    of: str
    what: str
    data: bytes

    def __str__(self) -> str:
        return f"python benchmarks/fuzz.py {self.again}   ({self.of})\n{self.what}"


SHOW = ("show", "FILE", "--markdown", "shown.md", "--csv", "shown.csv", "--json", "shown.json")
GATE = ("gate", "FILE", "--markdown", "gate.md", "--junit", "gate.xml", "--metrics", "gate.txt", "--json", "gate.json")
OTHER_VIEWS = (GATE, ("report", "FILE", "-o", "page.html"))
DIFFS = (("diff", "FILE", "SOUND", "--force"), ("diff", "SOUND", "FILE", "--force", "--markdown", "diff.md"))


def seeds() -> list[Seed]:
    """Return all that is damaged, with what reads it."""
    found = []
    for name, record in full_records().items():
        diffs = () if "weighing" in name or name == "suite" else DIFFS
        found.append(Seed(f"record {name}", json.dumps(record).encode(), (SHOW, *OTHER_VIEWS, *diffs)))
    for path in sorted((DATA / "records").iterdir()):
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        diffs = DIFFS if "run" in path.name else ()
        found.append(Seed(f"record {path.name}", data, (SHOW, *OTHER_VIEWS, *diffs)))
    texts = [
        path for path in sorted((DATA / "imports").iterdir()) if path.is_file() and path.suffix in (".json", ".txt")
    ]
    for path in [*texts, *sorted((ADAPTERS / "swift").glob("run-*.txt"))]:
        name = next((one for one in FORMATS if path.name.startswith(one)), "swift")
        imports = (("import", "FILE", "-o", "kept.json", "--csv", "kept.csv"), ("import", "FILE", "--format", name))
        found.append(Seed(f"import {path.name}", path.read_bytes(), imports))
    return found + answers()


def answers() -> list[Seed]:
    """Return what each harness writes."""
    recorded = DATA / "imports"
    kept = {
        "google-benchmark": (recorded / "google-benchmark-1.7.json").read_bytes(),
        "pyperf": (recorded / "pyperf-2.10.json").read_bytes(),
        "pytest-benchmark": (recorded / "pytest-benchmark-5.3.json").read_bytes(),
        "jmh": (recorded / "jmh-1.37.json").read_bytes(),
        "go": (recorded / "go-1.26.txt").read_bytes(),
        "swift": (ADAPTERS / "swift" / "run-3.txt").read_bytes(),
        "nanobench": (ADAPTERS / "nanobench" / "recorded-4.6.0.json").read_bytes(),
        "catch2": CATCH2,
        "divan": DIVAN.encode(),
        "criterion": b"a/b: bench\nc: bench\n",
        "protocol": PROTOCOL,
        "shell": b"some output\n12.5 ms\n",
    }
    lists = {
        "swift": (ADAPTERS / "swift" / "list-3.txt").read_bytes(),
        "jmh": b'Benchmarks: \nbench.Sums.sum\n  param "n" = {1000, 4000}\nbench.Sums.other\n',
        "go": b"\x16=== RUN   BenchmarkJoin\nBenchmarkJoin-2 \t 1\t 322.1 ns/op\n\x16PASS\n\x16=== END   .\n",
        "google-benchmark": b"sum/1000\nin ms\n",
        "divan": b"cases::plain: bench\ncases::other: bench\n",
        "pytest-benchmark": b'{"benchmarks": [{"name": "a", "tags": ["x"], "params": {"n": "1"}}]}',
        "protocol": b'{"steelyard": 1}\n{"benchmark": "a", "tags": ["x"], "params": {"n": 1}}\n{"end": true}\n',
    }
    return [Seed(f"answer of {name}", data, harness=name) for told in (kept, lists) for name, data in told.items()]


CATCH2 = b"""<?xml version="1.0" encoding="UTF-8"?>
<Catch2TestRun name="suite"><TestCase name="sums" tags="[!benchmark][fast]"><Section name="small">
<BenchmarkResults name="ten" samples="5" resamples="100000" iterations="303" clockResolution="20" estimatedDuration="1">
<mean value="63.9" lowerBound="63.9" upperBound="63.9" ci="0.95"/></BenchmarkResults><OverallResults successes="0"/>
</Section><OverallResult success="false"><Exception> oh </Exception></OverallResult></TestCase></Catch2TestRun>
"""
DIVAN = """\
cases                          fastest       │ slowest       │ median        │ mean          │ samples │ iters
├─ arg                                       │               │               │               │         │
│  ├─ 10                       5.728 ns      │ 42.82 ns      │ 6.728 ns      │ 18.42 ns      │ 3       │ 30
╰─ plain                       278.1 ns      │ 289.1 ns      │ 279.1 ns      │ 282.1 ns      │ 3       │ 30
"""
PROTOCOL = b"""{"steelyard": 1, "before": true}
{"loops": 10, "ns": 12345, "cpu_ns": 12000, "delay_ns": 5}
{"loops": 10, "ns": 12345.5, "cpu_ns": 12000, "delay_ns": 5}
{"end": true}
"""


# --- how they are damaged


def damaged(seed: Seed, chance: random.Random) -> bytes:
    """Return the content of a sound file, damaged at random."""
    data = seed.data
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        lines = data.splitlines()
        if chance.random() < 0.6 and len(lines) > 1:
            place = chance.randrange(len(lines))
            lines[place] = _damaged_json(lines[place], chance)
            data = b"\n".join(lines) + b"\n"
        elif chance.random() < 0.7:
            data = _damaged_json(data, chance)
        else:
            data = _damaged_bytes(data, chance)
    if chance.random() < 0.05:
        data = gzip.compress(data)
        data = data if chance.random() < 0.5 else _damaged_bytes(data, chance)
    return data


def _damaged_json(data: bytes, chance: random.Random) -> bytes:
    try:
        return _with_other_json(json.loads(data), chance)
    except (ValueError, RecursionError):
        return _damaged_bytes(data, chance)


def _with_other_json(value: Any, chance: random.Random) -> bytes:
    place = chance.choice(list(places(value))) if chance.random() < 0.3 else _some_place(value, chance)
    way = chance.random()
    if way < 0.15 and place.path:
        value = dropped(value, place)
    elif way < 0.25:
        value = replaced(value, place, json.loads("[" * 300 + "]" * 300)) if not place.is_name else value
    elif place.is_name:
        value = replaced(value, place, chance.choice(("", HOSTILE, "x" * 5000, "0", "Ir", "name")))
    else:
        value = replaced(value, place, chance.choice((chance.choice(NUMBERS_PUT), chance.choice(VALUES_PUT))))
    text = json.dumps(value)
    if chance.random() < 0.1 and "{" in text:  # a field that occurs twice
        at = chance.choice([place for place, character in enumerate(text) if character == "{"])
        again = chance.choice(("name", "launches", "version", "events", "benchmarks", "kind"))
        text = f'{text[: at + 1]}"{again}": {json.dumps(chance.choice(VALUES_PUT))}, {text[at + 1 :]}'.replace(
            ", }", "}"
        )
    return text.encode()


def _some_place(value: Any, chance: random.Random) -> Place:
    """Return a random place, which is as likely to be in a short list as in a long one."""
    path: tuple[str | int, ...] = ()
    while isinstance(value, dict | list) and value and (not path or chance.random() < 0.8):
        step = chance.choice(list(value)) if isinstance(value, dict) else chance.randrange(len(value))
        path, value, inside = (*path, step), value[step], isinstance(value, dict)
    return Place(path, is_name=bool(path) and inside and chance.random() < 0.15)


def _damaged_bytes(data: bytes, chance: random.Random) -> bytes:
    at, length = chance.randrange(len(data) + 1), chance.choice((1, 5, 50, 5000))
    return chance.choice(
        (
            lambda: data[:at],
            lambda: data[at:],
            lambda: data[:at] + data[at + length :],
            lambda: data[:at] + data[at : at + length] * chance.choice((2, 50)) + data[at + length :],
            lambda: data[:at] + chance.choice(BYTES_PUT) * chance.choice((1, 1, 20, 20_000)) + data[at:],
            lambda: data[:at] + bytes([(data[at : at + 1] or b"\0")[0] ^ (1 << chance.randrange(8))]) + data[at + 1 :],
            lambda: data[:at] + str(chance.choice(NUMBERS_PUT)).encode() + data[at + 1 :],
        )
    )()


# --- how they are read


def attempt(folder: Path, seed: int, number: int, all_seeds: list[Seed]) -> Find | None:
    """Damage a file and read it, as the seed and the number say; return what should not have been, if anything."""
    chance = random.Random(f"{seed} {number}")
    chosen = chance.choice(all_seeds)
    return tried(folder, chosen, damaged(chosen, chance), f"--seed {seed} --only {number}")


def tried(folder: Path, chosen: Seed, data: bytes, again: str) -> Find | None:
    """Read one damaged file; return what should not have been, if anything."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with limited(MOST_SECONDS):
            what = _answered(chosen, data) if chosen.harness else _read(folder, chosen, data)
    except BaseException:
        what = traceback.format_exc(limit=-6)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
    if not what and grown > MOST_MIB:
        what = f"it took {grown} MiB of memory"
    return Find(again, chosen.name, what, data) if what else None


def _read(folder: Path, seed: Seed, data: bytes) -> str:
    (folder / "damaged").write_bytes(data)
    (folder / "sound").write_bytes(seed.data)
    for command in seed.commands:
        words = [{"FILE": "damaged", "SOUND": "sound"}.get(word, word) for word in command]
        status, out, err = _run(folder, words)
        said = "".join(line for line in err.decode(errors="replace").splitlines(True) if not line.startswith(WAY_ON))
        if status not in (0, 1, 2, 3, 4, 130):
            return f"{words}: exit status {status}"
        for printed in (out, err, *(path.read_bytes() for path in folder.glob("*.md"))):
            text = printed.decode(errors="surrogateescape")
            if bad := next((line for line in text.split("\n") if not line.isprintable()), None):
                return f"{words}: printed {bad!r}"
        # A gate says on its page why there is no answer.
        is_said = bool(said) or (words[0] == GATE[0] and status == 3 and bool(out))
        if (status in (2, 3)) != is_said or said.count("\n") > 1:
            return f"{words}: exit status {status} and {said!r}"
    return ""


def _run(folder: Path, words: list[str]) -> tuple[int, bytes, bytes]:
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", errors=errors) for errors in ("strict", "backslashreplace")]
    here = Path.cwd()
    os.chdir(folder)
    try:
        with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
            status = run(words)
    finally:
        os.chdir(here)
    for stream in streams:
        stream.flush()
    out, err = (stream.buffer.getvalue() for stream in streams)
    return status, out, err


def _answered(seed: Seed, data: bytes) -> str:
    harness = harness_named(seed.harness or "")
    plain: dict[str, Any] = {**dict.fromkeys(NUMBERS, 0), "wall_ns": 10**12}
    measured = Measured(**plain, stdout=data, stderr=data, results=data)
    for name in (b"sum", b"BenchmarkJoin", b"AngryPhonebook", b"sums / small / ten"):
        work = Work(name.decode(), 10, 2)
        for ask in (_listed, _samples, _complaint):
            try:
                ask(harness, measured, work)
            except LaunchError as error:
                if len(str(error)) > 5000:
                    return f"a sentence of {len(str(error))} characters"
            except SteelyardError as error:
                return f"not the launch's own error: {error}"
    return ""


def _listed(harness: Harness, measured: Measured, work: Work) -> object:
    del work
    return harness.listed(measured)


def _samples(harness: Harness, measured: Measured, work: Work) -> object:
    return harness.samples(measured, work)


def _complaint(harness: Harness, measured: Measured, work: Work) -> object:
    del work
    return harness.complaint(measured)


class TooLongError(BaseException):
    """Raised when reading takes too long; a BaseException, so that the code that is tried does not catch it."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TooLongError in the context once it has taken so much processor time, as soon as Python code runs."""

    def late(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise TooLongError(f"over {seconds} s of processor time")

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def sweep() -> Iterator[tuple[Seed, bytes]]:
    """Yield JSON files with one field replaced by each of the values to put there in turn, and without the field.

    Of a list only the first item is damaged, and of the records only those that have every field.
    """
    for seed in seeds():
        try:
            value = {} if seed.name.startswith("record version") else json.loads(seed.data)
        except ValueError:
            continue
        for place in places(value):
            if place.path and all(step == 0 for step in place.path if isinstance(step, int)):
                yield from ((seed, json.dumps(other).encode()) for other in _others(value, place))


def _others(value: Any, place: Place) -> Iterator[Any]:
    for put in ("", HOSTILE) if place.is_name else (*NUMBERS_PUT, *VALUES_PUT):
        yield replaced(value, place, put)
    if not place.is_name:
        yield dropped(value, place)


def swept(folder: Path) -> Iterator[Find | None]:
    """Yield what each try of the sweep found, or None."""
    for number, (seed, data) in enumerate(sweep()):
        yield tried(folder, seed, data, f"--sweep --only {number}")


def finds(folder: Path, seed: int, seconds: float, clock: Callable[[], float] = monotonic) -> Iterator[Find | None]:
    """Yield what each try found, or None, until the time is up."""
    all_seeds, until, number = seeds(), clock() + seconds, 0
    while clock() < until:
        yield attempt(folder, seed, number, all_seeds)
        number += 1
