"""The harness protocol, version 1 (docs/protocol.md): our words on the command line, JSON lines on fd 3."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from steelyard.model.errors import LaunchError
from steelyard.model.launches import LaunchSpec, Measured, Sample
from steelyard.subjects.harness import Listed, Work

VERSION = 1
# The launch server puts a harness's results on this descriptor.
_FD = 3
# Ten thousand benchmarks with long names, or as many samples, fit in.
_MOST_BYTES = 4 << 20
_MOST_NAME_BYTES = 500
_MOST_NS = 2**63
_MOST_WORDS = 300
_MOST_SHOWN = 80
# Control characters and halves of pairs: what is no text, or could steer a terminal.
_NO_TEXT = ("Cc", "Cs")


class ProtocolHarness:
    """Drives whatever speaks the protocol: the SDKs, and what implements docs/protocol.md."""

    def listing(self, launch: LaunchSpec) -> LaunchSpec:
        """The launch that lists the benchmarks."""
        return _asked(launch, "--steelyard-list")

    def listed(self, measured: Measured) -> list[Listed]:
        """What it listed, in its order; raises LaunchError if that is no list."""
        found = [_listed(line) for line in _answer(measured) if "benchmark" in line]
        seen: set[str] = set()
        for benchmark in found:
            if benchmark.name in seen:
                raise LaunchError(f"lists {_shown(benchmark.name)} twice: each benchmark needs a name of its own")
            seen.add(benchmark.name)
        return found

    def complaint(self, measured: Measured) -> str | None:
        """What a launch that failed says of it by itself: its line with an error, or another version in its hello."""
        lines = [_object(line) for line in (measured.results or b"").splitlines()]
        said = next((line["error"] for line in lines if line.get("error")), None)
        if said is not None:
            return _says(said)
        version = lines[0].get("steelyard") if lines else None
        return _versions(version) if type(version) is int and version != VERSION else None

    def running(self, launch: LaunchSpec, work: Work) -> LaunchSpec:
        """The launch that does the work."""
        return _asked(
            launch,
            f"--steelyard-run={work.name}",
            f"--steelyard-loops={work.loops}",
            f"--steelyard-samples={work.samples}",
            f"--steelyard-seed={work.seed}",
        )

    def samples(self, measured: Measured, work: Work) -> tuple[Sample, ...]:
        """The samples that it took, all of them; raises LaunchError for anything else."""
        found = tuple(_sample(line, work) for line in _answer(measured) if "ns" in line or "loops" in line)
        if len(found) != work.samples:
            raise LaunchError(
                f"gave {len(found)} samples where {work.samples} were asked for: a harness takes as many as "
                "--steelyard-samples says"
            )
        return found


def _asked(launch: LaunchSpec, *words: str) -> LaunchSpec:
    ours = (f"--steelyard-protocol={VERSION}", f"--steelyard-fd={_FD}", *words)
    argv = (*launch.argv, *(word.encode(errors="surrogateescape") for word in ours))
    return replace(launch, argv=argv, results=_MOST_BYTES)


def _answer(measured: Measured) -> list[dict[str, Any]]:
    """The lines between the hello and the end; raises LaunchError if there is no whole answer, or it is an error."""
    written = measured.results or b""
    if (measured.results_bytes or 0) > _MOST_BYTES:
        raise LaunchError(
            f"wrote {measured.results_bytes:,} bytes of results, and up to {_MOST_BYTES:,} are read: it has to write "
            "no more than docs/protocol.md names"
        )
    lines = list(_objects(written))
    if complaint := next((line["error"] for line in lines if line.get("error")), None):
        raise LaunchError(_says(complaint))
    if not lines:
        raise LaunchError(
            "wrote no results: it does not speak the harness protocol (docs/protocol.md), or ended before it could; "
            "for a plain command leave --harness out"
        )
    _check_hello(lines[0])
    if len(lines) < 2 or lines[-1].get("end") is not True:
        raise LaunchError("cut its results off: the last line has to be the end, as docs/protocol.md says")
    return lines[1:-1]


def _object(line: bytes) -> dict[str, Any]:
    """The object in a line; an empty one where that is cut off, or no answer at all."""
    try:
        found = json.loads(line.decode())
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _says(error: Any) -> str:
    return f"says: {(error if isinstance(error, str) else json.dumps(error))[:_MOST_WORDS]}"


def _versions(theirs: int) -> str:
    return (
        f"speaks version {_shown(theirs)} of the harness protocol, and this steelyard version {VERSION}: upgrade "
        f"{'steelyard' if theirs > VERSION else 'its harness library'}"
    )


def _check_hello(line: dict[str, Any]) -> None:
    version = line.get("steelyard")
    if type(version) is not int:
        raise LaunchError(
            'began its results with something else than the hello: the first line has to be {"steelyard": 1, ...}'
        )
    if version != VERSION:
        raise LaunchError(_versions(version))


def _objects(written: bytes) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(written.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            found = json.loads(line.decode())
        except (ValueError, RecursionError) as error:
            raise LaunchError(f"wrote a result that is no JSON, in line {number}: {_quoted(line)}") from error
        if not isinstance(found, dict):
            raise LaunchError(f"wrote a result that is no JSON object, in line {number}: {_quoted(line)}")
        yield found


def _quoted(line: bytes) -> str:
    return repr(line[:_MOST_SHOWN].decode(errors="replace"))


def _shown(value: Any) -> str:
    """A value as the harness wrote it, in JSON, cut."""
    return json.dumps(value, ensure_ascii=False)[:_MOST_SHOWN]


def _listed(line: dict[str, Any]) -> Listed:
    name = line["benchmark"]
    if not isinstance(name, str) or not name or not _is_text(name) or len(name.encode()) > _MOST_NAME_BYTES:
        raise LaunchError(
            f"lists a benchmark called {_shown(name)}: a name is 1 to {_MOST_NAME_BYTES} bytes of text "
            "without control characters"
        )
    tags, params = line.get("tags") or [], line.get("params") or {}
    if not isinstance(tags, list) or not isinstance(params, dict):
        raise LaunchError(f"lists {_shown(name)} with tags that are no list, or params that are no object")
    return Listed(name, tuple(map(str, tags)), {str(key): str(value) for key, value in params.items()})


def _is_text(name: str) -> bool:
    return all(unicodedata.category(character) not in _NO_TEXT for character in name)


def _sample(line: dict[str, Any], work: Work) -> Sample:
    loops, ns = line.get("loops", work.loops), line.get("ns")
    if isinstance(ns, bool) or not isinstance(ns, int | float) or not 0 < ns < _MOST_NS:  # false for NaN, too
        raise LaunchError(
            f"gave a sample that took {_shown(ns)} ns: a time has to be a number above 0, and below 2^63 (was the body "
            "optimised away?)"
        )
    if type(loops) is not int or not 0 < loops < _MOST_NS:
        raise LaunchError(f"gave a sample with {_shown(loops)} loops: they have to be an integer above 0")
    return Sample(loops, max(1, round(ns)), _span(line, "cpu_ns"), _span(line, "delay_ns"))


def _span(line: dict[str, Any], name: str) -> int | None:
    value = line.get(name)
    if value is None:
        return None
    if type(value) is not int or not 0 <= value < _MOST_NS:
        raise LaunchError(f"gave a sample whose {name} is {_shown(value)}: it has to be an integer from 0")
    return value
