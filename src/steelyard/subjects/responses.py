"""What the answers of all harnesses have in common: where a launch writes them, and checks of numbers and names."""

from __future__ import annotations

import json
import mmap
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice, pairwise
from math import isfinite, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from steelyard.measure.scratch import opened
from steelyard.model.errors import LaunchError, SelectionError, VanishedError
from steelyard.model.numbers import LEAST_VALUE, MOST_COUNT, MOST_VALUE
from steelyard.model.rows import Sample
from steelyard.report.figures import count, first_few

if TYPE_CHECKING:
    from steelyard.model.launch_spec import LaunchSpec
    from steelyard.model.measured import Measured
    from steelyard.subjects.harness import Harness, Listed, Work

MOST_BYTES = 4 << 20
"""Enough for ten thousand benchmarks with long names, or as many samples."""

MOST_CHARACTERS = 300
"""How much of what a harness says about a failure is kept, in characters."""

RESULTS_FILE = "/dev/fd/3"
"""The file that harnesses are told to write their results to: the launch server keeps what arrives there."""

_PYTEST = ("pytest", "py.test")
_PYTEST_ERROR = re.compile(rb"^(?:.*?: )?error: (?!usage: )(.+)$", re.IGNORECASE | re.MULTILINE)
_MOST_NAME_BYTES = 500
_MOST_DIGITS = 20
_MOST_PROGRAM_BYTES = 1 << 30
_MOST_FOLDERS = 100_000
_BEGINNING_BYTES = 1 << 20
_MOST_SHOWN = 80
# How far a harness's clock and ours may differ, and what rounding and the kernel's ticks may add to that.
_CLOCKS_DIFFER, _ROUNDING_NS = 1.01, 1_000_000
# The relative error that the digits of a rate leave.
_RATE_TOLERANCE = 1e-6
# Control characters, which could steer a terminal, and lone surrogates, which are no text.
_CONTROL_CATEGORIES = ("Cc", "Cs")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def with_arguments(
    launch: LaunchSpec, *arguments: str, env: Mapping[str, str] | None = None, stdout: bool = False
) -> LaunchSpec:
    """Return the launch with our arguments after the user's and with `env` set; what it writes to fd 3 is kept.

    With `stdout`, what it prints is kept as well.
    """
    variables = env or {}
    names = tuple(f"{name}=".encode() for name in variables)
    inherited = tuple(variable for variable in launch.env if not variable.startswith(names))
    return replace(
        launch,
        argv=(*launch.argv, *(argument.encode(errors="surrogateescape") for argument in arguments)),
        env=(*inherited, *(f"{name}={value}".encode(errors="surrogateescape") for name, value in variables.items())),
        stdout=MOST_BYTES if stdout else launch.stdout,
        results=MOST_BYTES,
    )


def results_of(measured: Measured) -> bytes:
    """Return what a launch wrote to fd 3; raises LaunchError if that is more than is kept."""
    _check_size(measured.results_bytes, "of results")
    return measured.results or b""


def objects_in(measured: Measured) -> Iterator[dict[str, Any]]:
    """Yield the objects in the lines of JSON that a launch wrote; an empty one for a line that is cut, or has none."""
    for line in (measured.results or b"").splitlines():
        try:
            value = json.loads(line.decode())
        except (ValueError, RecursionError):
            value = None
        yield value if isinstance(value, dict) else {}


def is_skipped(measured: Measured) -> bool:
    """Return whether a line of JSON that tells an error says that the benchmark skips itself."""
    return any(told.get("error") and told.get("skipped") is True for told in objects_in(measured))


def printed_by(measured: Measured) -> str:
    """Return what a launch printed; raises LaunchError if that is more than is kept. Invalid UTF-8 is replaced."""
    _check_size(measured.stdout_bytes, "to its output")
    return end_of_stdout(measured)


def end_of_stdout(measured: Measured) -> str:
    """Return the end of what a launch printed, however much that is."""
    return (measured.stdout or b"").decode(errors="replace")


def end_of_stderr(measured: Measured) -> str:
    """Return the end of what a launch wrote to stderr."""
    return (measured.stderr or b"").decode(errors="replace")


def _check_size(written: int | None, where: str) -> None:
    if (written or 0) > MOST_BYTES:
        raise LaunchError(
            f"wrote {written:,} bytes {where}, and up to {MOST_BYTES:,} are read: it has to write less there"
        )


def json_of(text: bytes | str, what: str, object_of: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Parse the JSON that a harness wrote; raises LaunchError, which names `what`, for anything else."""
    if not text.strip():
        raise LaunchError(f"wrote no {what}: is it a program of this harness, and did it run to its end?")
    try:
        # Not strict, as some write a user's control characters as they are.
        return json.loads(text, strict=False, parse_int=parse_integer, object_pairs_hook=object_of)
    except (ValueError, RecursionError) as error:
        raise LaunchError(f"wrote a {what} that is no JSON, or was cut: {quoted(text)}") from error


def parse_integer(digits: str) -> int | float:
    """Parse a whole number of JSON; one that is too large to count anything becomes the nearest float, or infinity."""
    return int(digits) if len(digits) < _MOST_DIGITS else float(digits)


def whole_loops(loops: Any) -> Any:
    """Return a number of loops as an int if the harness wrote it as, say, 100.0; anything else unchanged."""
    return int(loops) if isinstance(loops, float) and loops.is_integer() else loops


def sample_of(loops: Any, ns: Any, *, cpu_ns: Any = None, delay_ns: Any = None) -> Sample:
    """Return a sample with all numbers checked; `ns` is the time of all `loops`. Raises LaunchError."""
    if not is_number(ns) or not 0 < ns < MOST_COUNT:  # false for NaN, too
        kind = VanishedError if ns == 0 else LaunchError
        raise kind(
            f"gave a sample that took {shown(ns)} ns: a time has to be a number above 0, and below 2^63 (was the body "
            "optimised away?)"
        )
    if type(loops) is not int or not 0 < loops < MOST_COUNT:
        raise LaunchError(f"gave a sample with {shown(loops)} loops: they have to be an integer above 0")
    sample = Sample(loops, max(1, round(ns)), _checked_span("cpu_ns", cpu_ns), _checked_span("delay_ns", delay_ns))
    # The wait is read next to the clock: one as long as the sample, or longer, was not within it.
    return sample if sample.delay_ns is None or sample.delay_ns < sample.ns else sample._replace(delay_ns=0)


def with_order(sample: Sample, order: Any) -> Sample:
    """Return the sample with its order among those taken in turn, if told; raises LaunchError for an invalid order."""
    if order is None:
        return sample
    if type(order) is not int or order not in (0, 1):
        raise LaunchError(f"took a sample whose order is {shown(order)}: it has to be 0 or 1")
    return sample._replace(order=order)


def amounts(numbers: Mapping[str, Any]) -> dict[str, float]:
    """Return how much an iteration processes, by unit, from the told numbers that can be amounts.

    An amount next to a whole number becomes that number, as it may have been computed from a rate.
    """
    amounts_by_unit = {}
    for unit, amount in numbers.items():
        if not is_number(amount) or not LEAST_VALUE <= amount <= MOST_VALUE:
            continue
        nearest = round(amount)
        amounts_by_unit[unit] = (
            float(nearest) if nearest and abs(amount - nearest) <= _RATE_TOLERANCE * nearest else float(amount)
        )
    return amounts_by_unit


def nearest_whole(amount: float) -> float:
    """Round an amount that was computed from a rate of few digits to a whole number; NaN if it is not finite."""
    return float(round(amount)) if isfinite(amount) else nan


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a value is a number in JSON."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_count(value: Any) -> TypeGuard[int]:
    """Return whether a value is a whole number, from 0, that fits into a record."""
    return type(value) is int and 0 <= value < MOST_COUNT


def _checked_span(name: str, value: Any) -> int | None:
    if value is None:
        return None
    if not is_count(value):
        raise LaunchError(f"gave a sample whose {name} is {shown(value)}: it has to be an integer from 0")
    return value


def checked_list(found: Iterable[Listed]) -> list[Listed]:
    """Return the benchmarks as a list; raises LaunchError for a name that is no text or appears twice."""
    benchmarks = list(found)
    seen: set[str] = set()
    for benchmark in benchmarks:
        name = check_name(benchmark.name)
        if name in seen:
            raise LaunchError(f"lists {shown(name)} twice: each benchmark needs a name of its own")
        seen.add(name)
    return benchmarks


def check_name(name: Any) -> str:
    """Return the name of a benchmark; raises LaunchError if it is invalid."""
    if not isinstance(name, str) or not name or not _is_text(name) or len(name.encode()) > _MOST_NAME_BYTES:
        raise LaunchError(
            f"lists a benchmark called {shown(name)}: a name is 1 to {_MOST_NAME_BYTES} bytes of text "
            "without control characters"
        )
    return name


def check_only(names: Iterable[str], wanted: str) -> None:
    """Raise SelectionError unless exactly the requested benchmark has answered."""
    answering = list(dict.fromkeys(names))
    if not answering:
        raise SelectionError(
            f"ran no benchmark where {shown(wanted)} was asked for: its filter does not select that name"
        )
    if answering != [wanted]:
        others = first_few([*map(shown, answering)], 3)
        raise SelectionError(
            f"ran {others} where only {shown(wanted)} was asked for: its filter cannot tell them apart, so give the "
            "benchmark another name"
        )


def were_asked_for(number: int) -> str:
    """Write how many: `1 was asked for`, `1,200 were asked for`."""
    return f"{number:,} {'was' if number == 1 else 'were'} asked for"


def check_count(samples: tuple[Sample, ...], wanted: int) -> tuple[Sample, ...]:
    """Return the samples; raises LaunchError if there are more or fewer than were asked for."""
    if len(samples) != wanted:
        raise LaunchError(
            f"gave {count(len(samples), 'sample')} where {were_asked_for(wanted)}: a harness takes as many as it is "
            "told"
        )
    return samples


def check_within(samples: Iterable[Sample], measured: Measured, harness: Harness, work: Work) -> None:
    """Raise LaunchError for impossible times: longer than the launch itself, as measured from outside.

    With several threads, time on a processor may be longer than the elapsed time, up to what the kernel says of the
    launch. The kernel does not tell of work that the launch has others do, in a container for example.
    """
    told_samples = [
        sample if harness.tells_iterations else sample._replace(ns=round(sample.ns / sample.loops))
        for sample in samples
    ]
    wall_ns = measured.wall_ns * harness.threads(work)
    _check_sum(sum(sample.ns for sample in told_samples), wall_ns, "", measured)
    cpu_ns = max(wall_ns, measured.all_cpu_ns)
    _check_sum(sum(sample.cpu_ns or 0 for sample in told_samples), cpu_ns, " on a processor", measured)


def check_waits(told_ns: Iterable[int | None], measured: Measured) -> None:
    """Raise LaunchError for waits of samples that add up to more than the launch took.

    A single wait that is too long is no error, as a wait next to the sample may be read with it.
    """
    waited_ns = sum(one or 0 for one in told_ns)
    if _is_beyond(waited_ns, measured.wall_ns):
        raise LaunchError(
            f"told of {waited_ns / 1e9:.3g} s of waits in its samples (delay_ns), and its launch took "
            f"{measured.wall_ns / 1e9:.3g} s in all: a sample has what was waited in it, not since the start"
        )


def _check_sum(told_ns: int, most_ns: int, where: str, measured: Measured) -> None:
    if _is_beyond(told_ns, most_ns):
        raise LaunchError(
            f"told of {told_ns / 1e9:.3g} s{where} in its samples, and its launch took {measured.wall_ns / 1e9:.3g} s "
            "in all: does it tell in another unit, or add up what ran side by side?"
        )


def _is_beyond(told_ns: int, most_ns: int) -> bool:
    """Return whether a sum exceeds its limit by more than two clocks may differ."""
    return told_ns > most_ns * _CLOCKS_DIFFER + _ROUNDING_NS


def without_colours(text: str) -> str:
    """Return what a program printed without the marks by which it colours it."""
    return _COLOUR.sub("", text)


def escaped(text: str, special: re.Pattern[str]) -> str:
    """Return a text with a backslash before each special character, as in a harness's filter."""
    return special.sub(r"\\\g<0>", text)


def shown(value: Any) -> str:
    """Return a value as the harness wrote it in JSON, shortened."""
    return json.dumps(value, ensure_ascii=False)[:_MOST_SHOWN]


def quoted(text: bytes | str) -> str:
    """Return the beginning of what a harness wrote, for an error."""
    decoded = text if isinstance(text, str) else text.decode(errors="replace")
    return repr(decoded[:_MOST_SHOWN])


def _is_text(name: str) -> bool:
    return all(unicodedata.category(character) not in _CONTROL_CATEGORIES for character in name)


def arguments_of(launch: LaunchSpec) -> list[str]:
    """Return the arguments of a command, including its program."""
    return [argument.decode(errors="surrogateescape") for argument in launch.argv]


def folder_of(launch: LaunchSpec) -> Path:
    """Return the folder in which a command runs."""
    return Path(os.fsdecode(launch.cwd or b"."))


def scripts_of(launch: LaunchSpec) -> dict[str, Path]:
    """Return the words of a command that are Python scripts, and their paths."""
    return {argument: folder_of(launch) / argument for argument in arguments_of(launch) if argument.endswith(".py")}


def runs_pytest(arguments: Sequence[str]) -> bool:
    """Return whether a command runs pytest, as a program or as a Python module."""
    is_module = any(pair in (("-m", name) for name in _PYTEST) for pair in pairwise(arguments))
    return is_module or any(Path(argument).name in _PYTEST for argument in arguments[:1])


def refused_by_pytest(stderr: bytes) -> str:
    """Return what pytest says is wrong with its command line, before words on its files; empty if it says nothing."""
    error = _PYTEST_ERROR.search(stderr)
    return error[1].decode(errors="replace").strip() if error else ""


def file_holds(path: str | bytes | Path, *texts: bytes) -> bool:
    """Return whether a file contains all of these texts, which recognises a program without running it."""
    try:
        status = os.stat(path)  # noqa: PTH116 - a path of bytes may be no Unicode
    except OSError:
        return False
    version = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
    return all(_holds(os.fsdecode(path), version, text) for text in texts)


@lru_cache(maxsize=256)
def _holds(path: str, _version: tuple[int, ...], text: bytes) -> bool:
    try:
        with opened(path) as file:
            size = min(os.fstat(file.fileno()).st_size, _MOST_PROGRAM_BYTES)
            with mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as contents:
                return contents.find(text) >= 0
    except (OSError, ValueError):  # not there, not readable, no file, empty
        return False


def file_written(path: Path) -> bytes:
    """Return what a harness wrote to a file; raises LaunchError if there is none, or more in it than is read."""
    try:
        with opened(path) as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise LaunchError(f"did not write its {path.name} ({error.strerror or error})") from error
    _check_size(max(len(data), path.stat().st_size), f"to its {path.name}")
    return data


def beginning_of(path: Path, most: int = _BEGINNING_BYTES) -> bytes:
    """Return the first bytes of a file; none if it is not a regular file or cannot be read."""
    try:
        with opened(path) as file:
            return file.read(most)
    except (OSError, ValueError):  # not there, not readable, no path
        return b""


def files_below(folder: Path) -> Iterator[Path]:
    """Yield all files below a folder; raises OSError if it has too many folders."""
    walk = os.walk(folder)
    for path, _, names in islice(walk, _MOST_FOLDERS):
        yield from (Path(path, name) for name in names)
    if next(walk, None) is not None:
        raise OSError(f"there are more than {_MOST_FOLDERS:,} folders in {folder}")
