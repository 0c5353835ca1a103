"""The harness protocol, version 1 (docs/protocol.md): our arguments on the command line, JSON lines on fd 3."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from steelyard.model.errors import LaunchError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import Sample
from steelyard.model.throughput import WORK_UNITS
from steelyard.subjects.fixtures import WEIGH, tests_take
from steelyard.subjects.forked import split_processes
from steelyard.subjects.harness import Harness, Listed, Work
from steelyard.subjects.responses import (
    MOST_CHARACTERS,
    amounts,
    arguments_of,
    check_count,
    check_name,
    check_waits,
    checked_list,
    file_holds,
    is_number,
    is_skipped,
    objects_in,
    quoted,
    refused_by_pytest,
    results_of,
    runs_pytest,
    sample_of,
    scripts_of,
    shown,
    with_arguments,
    with_order,
)

VERSION = 1
# The launch server puts a harness's results on this descriptor.
_FD = 3
# And on this one, if two launches run at the same time, a socket to the other one.
_PARTNER_FD = 4
# How a Python ends that does not have our harness; `-m steelyard.harness` says it in brackets.
_MODULE_MISSING = re.compile(rb"ModuleNotFoundError: No module named 'steelyard(?:\.[\w.]*)?'\)?\s*\Z")
_MODULE_MISSING_SENTENCE = (
    "says that its Python has no module steelyard: install steelyard for that Python, which has to be 3.11 or later"
)
_UNKNOWN_ARGUMENT, _PYTEST_ROOT = b"error: unrecognized arguments: --steelyard-", b"rootdir: "
_PLUGIN_MISSING_SENTENCE = (
    "says that its pytest does not know steelyard: install steelyard for that Python, 3.11 or later (under "
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD pytest needs -p steelyard besides)"
)
# How our pytest plugin refers to what pytest printed, which its user does not see; and what was printed.
_SEE_PRINTED = "see what it printed"
_IMPORTS = (b"import steelyard", b"from steelyard")


class ProtocolHarness(Harness):
    """Drives whatever speaks the protocol: the SDKs, and other implementations of docs/protocol.md."""

    keeps_step = True
    out_of_step = "its harness is too old for that, or does not do it"
    counts = True
    offers_lockstep = False
    """Whether the program whose list was read says that it can take samples in turn."""

    _unrun_script: str | None = None
    """A file of benchmarks that the command runs as a script, although it only declares them."""

    def recognises(self, launch: LaunchSpec) -> bool:
        """Return whether the program knows our arguments, is Python with our harness, or pytest on uses of `weigh`."""
        arguments = arguments_of(launch)
        if runs_pytest(arguments):
            return tests_take(launch, WEIGH)
        return (
            "steelyard.harness" in arguments
            or file_holds(launch.program, b"--steelyard-")
            or any(file_holds(script, text) for script in scripts_of(launch).values() for text in _IMPORTS)
        )

    def listing(self, launch: LaunchSpec) -> LaunchSpec:
        """Return the launch that lists the benchmarks."""
        scripts = {} if "steelyard.harness" in arguments_of(launch) else scripts_of(launch)
        self._unrun_script = next((word for word, path in scripts.items() if file_holds(path, b"@bench")), None)
        return _with_protocol_arguments(launch, "--steelyard-list")

    def listed(self, measured: Measured) -> list[Listed]:
        """Return the listed benchmarks, in their order; raises LaunchError for anything else than a list."""
        hello = next(objects_in(measured), {})
        self.runs_before, self.offers_lockstep, self.shares_starts = (
            hello.get(name) is True for name in ("before", "lockstep", "each")
        )
        if self._unrun_script is not None and not results_of(measured).strip():
            raise LaunchError(
                f"wrote no results: what @bench declares is run by python -m steelyard.harness {self._unrun_script}"
            )
        return checked_list(
            _parse_line(line, _parse_benchmark) for line in _answer(measured) if "benchmark" in line.fields
        )

    def complaint(self, measured: Measured) -> str | None:
        """Return what a failed launch says about its failure: its error line, or another version in its hello."""
        lines = [*objects_in(measured)]
        error = next((line["error"] for line in lines if line.get("error")), None)
        if error is not None:
            return _error_sentence(_with_printed_error(error, measured.stderr or b""))
        version = lines[0].get("steelyard") if lines else None
        if type(version) is int and version != VERSION:
            return _version_sentence(version)
        stderr = measured.stderr or b""
        if _UNKNOWN_ARGUMENT in stderr and _PYTEST_ROOT in stderr:
            return _PLUGIN_MISSING_SENTENCE
        return _MODULE_MISSING_SENTENCE if _MODULE_MISSING.search(stderr) else None

    def skips(self, measured: Measured) -> bool:
        """Return whether a launch failed because the benchmark skips itself, as its complaint says."""
        return is_skipped(measured)

    def running(self, launch: LaunchSpec, work: Work) -> LaunchSpec:
        """Return the launch that does the work."""
        return _with_protocol_arguments(
            replace(launch, lockstep=bool(work.orders)),
            f"--steelyard-run={work.name}",
            f"--steelyard-loops={work.loops}",
            f"--steelyard-samples={work.samples}",
            f"--steelyard-seed={work.seed}",
            *(f"--steelyard-before={loops}:{name}" for name, loops in work.before),
            *([f"--steelyard-lockstep={_PARTNER_FD}:{work.orders}"] if work.orders else ()),
        )

    def running_each(self, launch: LaunchSpec, works: Sequence[Work]) -> LaunchSpec:
        """Return the launch that loads all of the benchmarks, and runs each in a process forked from there."""
        in_lockstep = bool(works[0].orders)
        return _with_protocol_arguments(
            replace(launch, lockstep=in_lockstep),
            *(f"--steelyard-each={work.loops}:{work.samples}:{work.seed}:{work.orders}:{work.name}" for work in works),
            *([f"--steelyard-lockstep={_PARTNER_FD}"] if in_lockstep else ()),
        )

    def apart(self, measured: Measured, works: Sequence[Work]) -> list[Measured]:
        """Return what each of them measured and answered; raises LaunchError for anything else."""
        return split_processes(measured, [line.fields for line in _answer(measured)], len(works))

    def samples(self, measured: Measured, work: Work) -> tuple[Sample, ...]:
        """Return all samples that the launch took; raises LaunchError for anything else."""
        if not results_of(measured).strip():
            raise LaunchError("wrote no results, though it has answered before: does what it measures end the process?")
        lines = [line for line in _answer(measured) if "ns" in line.fields or "loops" in line.fields]
        samples = tuple(_parse_line(line, lambda fields: _parse_sample(fields, work)) for line in lines)
        check_waits((line.fields.get("delay_ns") for line in lines), measured)
        return _check_orders(check_count(samples, work.samples), work.orders)


def _with_protocol_arguments(launch: LaunchSpec, *arguments: str) -> LaunchSpec:
    return with_arguments(launch, f"--steelyard-protocol={VERSION}", f"--steelyard-fd={_FD}", *arguments)


_Parsed = TypeVar("_Parsed")


class _Line(NamedTuple):
    """A line of an answer: its number, from 1, what was written, and the object that it encodes."""

    number: int
    written: bytes
    fields: dict[str, Any]

    def shown(self) -> str:
        """Return the line as the last words of an error."""
        return f"line {self.number} reads {quoted(self.written)}"


def _parse_line(line: _Line, parse: Callable[[dict[str, Any]], _Parsed]) -> _Parsed:
    """Return what `parse` makes of a line; a LaunchError from it gets the line appended."""
    try:
        return parse(line.fields)
    except LaunchError as error:
        raise type(error)(f"{error}; {line.shown()}") from error


def _answer(measured: Measured) -> list[_Line]:
    """Return the lines between hello and end; raises LaunchError if the answer is incomplete, or is an error."""
    lines = list(_lines(results_of(measured)))
    for line in lines:
        # Some languages write None or False in the field if there is no error; an empty text is an error, though.
        if (error := line.fields.get("error")) is not None and error is not False:
            raise LaunchError(
                _error_sentence(error) if error else f"told of an error without a word of it; {line.shown()}"
            )
    if not lines:
        raise LaunchError(
            "wrote no results: it does not speak the harness protocol (steelyard docs protocol), or ended before it "
            "could; a plain command is measured without --harness"
        )
    _check_hello(lines[0])
    ends = [line.fields.get("end") is True for line in lines]
    if len(lines) < 2 or not any(ends):
        raise LaunchError(
            "cut its results off: the last line has to be the end, as steelyard docs protocol says; "
            f"{lines[-1].shown()}"
        )
    if (first := ends.index(True)) < len(lines) - 1:
        raise LaunchError(f"wrote more after its end, as if it had answered twice; {lines[first + 1].shown()}")
    return lines[1:-1]


def _with_printed_error(error: Any, stderr: bytes) -> Any:
    """Return an error with what pytest printed in place of its words "see what it printed", if it ends so."""
    printed = refused_by_pytest(stderr)
    if not printed or not isinstance(error, str) or not error.endswith(_SEE_PRINTED):
        return error
    return error.removesuffix(_SEE_PRINTED) + printed


def _error_sentence(error: Any) -> str:
    return f"says: {(error if isinstance(error, str) else json.dumps(error))[:MOST_CHARACTERS]}"


def _version_sentence(theirs: int) -> str:
    return (
        f"speaks version {shown(theirs)} of the harness protocol, and this steelyard version {VERSION}: upgrade "
        f"{'steelyard' if theirs > VERSION else 'its harness library'}"
    )


def _check_hello(line: _Line) -> None:
    version = line.fields.get("steelyard")
    if type(version) is not int:
        raise LaunchError(
            "began its results with something else than the hello: the first line has to be "
            f'{{"steelyard": 1, ...}}; {line.shown()}'
        )
    if version != VERSION:
        raise LaunchError(_version_sentence(version))


def _lines(written: bytes) -> Iterator[_Line]:
    for number, line in enumerate(written.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line.decode())
        except (ValueError, RecursionError) as error:
            raise LaunchError(f"wrote a result that is no JSON, in line {number}: {quoted(line)}") from error
        if not isinstance(value, dict):
            raise LaunchError(f"wrote a result that is no JSON object, in line {number}: {quoted(line)}")
        yield _Line(number, line, value)


def _parse_benchmark(line: dict[str, Any]) -> Listed:
    name = check_name(line["benchmark"])
    tags, params = line.get("tags") or [], line.get("params") or {}
    if not isinstance(tags, list) or not isinstance(params, dict):
        raise LaunchError(f"lists {shown(name)} with tags that are no list, or params that are no object")
    values = {unit: line[unit] for unit in WORK_UNITS if line.get(unit) is not None}
    processed = amounts(values)
    others = {unit: value for unit, value in values.items() if unit not in processed}
    no_amounts = {unit: shown(value) for unit, value in others.items() if not is_number(value) or value != 0}
    texts = {key: _as_text(value) for key, value in params.items()}
    return Listed(name, tuple(map(_as_text, tags)), texts, processed, no_amounts)


def _as_text(value: Any) -> str:
    """Return a text as it is, and anything else as JSON, which is the same for drivers in all languages."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _parse_sample(line: dict[str, Any], work: Work) -> Sample:
    loops = line.get("loops", work.loops)
    sample = sample_of(loops, line.get("ns"), cpu_ns=line.get("cpu_ns"), delay_ns=line.get("delay_ns"))
    return with_order(sample, line.get("order") if work.orders else None)


def _check_orders(samples: tuple[Sample, ...], asked_for: str) -> tuple[Sample, ...]:
    """Return the samples; raises LaunchError if one was taken in another turn than it was asked for."""
    for number, (sample, digit) in enumerate(zip(samples, asked_for, strict=False), start=1):
        if sample.order is not None and sample.order != int(digit):
            raise LaunchError(
                f"told the order {sample.order} of sample {number}, where {digit} was asked for: a sample in turn has "
                "its own digit of --steelyard-lockstep"
            )
    return samples
