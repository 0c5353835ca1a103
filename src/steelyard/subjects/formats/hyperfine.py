"""hyperfine's --export-json: a launch is a process with one value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from typing import Any

from steelyard.model.errors import LaunchError
from steelyard.model.findings import Finding
from steelyard.report.figures import count
from steelyard.subjects.formats.contents import Contents, Format, FoundBenchmark, Opened, entries, facts
from steelyard.subjects.responses import shown


def _recognises(opened: Opened) -> bool:
    results = entries(opened, "results")
    return bool(results) and "command" in results[0]


def _read(opened: Opened) -> Contents:
    results = entries(opened, "results")
    if not results or any("command" not in result for result in results):
        raise LaunchError('wrote JSON that is no export of hyperfine: it has no list of "results" with commands')
    times_named = Counter(str(result["command"]) for result in results)
    shared = {name for name, times in times_named.items() if times > 1}
    return Contents([_benchmark(result, shared) for result in results])


def _benchmark(result: dict[str, Any], shared: Set[str]) -> FoundBenchmark:
    command, times = str(result["command"]), result.get("times")
    params = facts(**(result.get("parameters") or {}))
    if not isinstance(times, list):
        raise LaunchError(f"wrote of {shown(command)} a mean, and not the times of its launches")
    error = "a launch was ended by a signal" if None in (result.get("exit_codes") or ()) else ""
    return FoundBenchmark(
        _name(command, params, shared),
        "s",
        [[time] for time in times],
        params=params,
        seconds=_sum(times),
        error=error,
        findings=list(_failures(result)),
    )


def _name(command: str, params: dict[str, str], shared: Set[str]) -> str:
    """Return the command, with the parameters appended if they are not all in it, as it was given a name.

    A name that several share does not tell them, though it may have their values in it by chance.
    """
    if not params or (command not in shared and all(value in command for value in params.values())):
        return command
    return f"{command}:{','.join(f'{name}={value}' for name, value in params.items())}"


def _sum(times: list[Any]) -> float | None:
    return sum(times) if all(isinstance(time, int | float) for time in times) else None


def _failures(result: dict[str, Any]) -> Iterator[Finding]:
    failed = sum(code not in (0, None) for code in result.get("exit_codes") or ())
    if failed:
        message = (
            f"{count(failed, 'launch')} of {shown(result['command'])} failed, and hyperfine was told to ignore that"
        )
        yield Finding(code="failed", message=message, remedy="look at what the command does before you trust its time")


HYPERFINE = Format("hyperfine", "hyperfine", _recognises, _read)
